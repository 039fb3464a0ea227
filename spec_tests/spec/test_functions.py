"""Functions made of several operations: choices, rounding, closeness, powers, Stax's own two.

takes: special values of every carried dtype
gives: a failure where a rung, a vector level, or the plain call differs
holds: one program per family and dtype, with several results
not here: ufuncs (test_ufuncs), refusals (errors)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check_all
from stax_ref import dtypes

from .values import mixed, specials

EVERY = list(dtypes.SHORT)
FLOATS = [d for d in EVERY if d.kind == "f"]
INTEGERS = [d for d in EVERY if d.kind in "iu"]
NUMBERS = [*FLOATS, *INTEGERS]


def clipped(x):
    return (
        np.clip(x, 1, 5),
        np.clip(x, None, 3),
        x.clip(min=1),
        np.clip(x, x[0], x[-1]),
        np.clip(x, None, None),
        np.clip(x, 0.5, 2.5),
    )


def clipped_beyond(x):
    return np.clip(x, -1000, 100000), np.clip(x, -(2**40), None)


def chosen(x):
    return (
        np.where(x > 1, x, 3),
        np.where(x, x, 1.5),
        np.select([x > 2, x == 0], [x, x + x], 5),
        np.select([x > 2], [1.5], x),
    )


def numbered(x):
    return tuple(
        np.choose((x != 0) * 3 + (x > 1), [x, x + x, 1], mode=mode) for mode in ("clip", "wrap")
    )


def made_finite(x):
    return np.nan_to_num(x), np.nan_to_num(x, nan=3, posinf=7.5, neginf=-9)


def rounded(x):
    return np.round(x), x.round(1), np.around(x, -1), np.fix(x), np.trunc(x)


def close(x):
    return (
        np.isclose(x, x * 1.00001),
        np.isclose(x, 1, equal_nan=True),
        np.isclose(2.5, x),
        np.allclose(x, x),
        np.array_equal(x, x),
        np.array_equal(x, x[1:]),
        np.array_equiv(x, x[:1]),
    )


def special_tests(x):
    return np.isposinf(x), np.isneginf(x), np.isreal(x), np.iscomplex(x)


def real_parts(x):
    return np.real(x) + x.imag, x.conj(), np.angle(x), np.angle(x, deg=True), np.real_if_close(x)


def raised(x):
    return x**2.5, 2.0**x, x**3, x**-1.0, x**0.5, np.power(x, 2), np.float_power(x, 2), x**True


def raised_wide(x):
    return x**100, x**17, x**0


def both_parts(x):
    return *divmod(x, 3), *np.divmod(x, 2.5), *divmod(7, x)


def compared(x):
    return x < 300, x > -1, x == 70000, 2**70 != x, np.uint64(5) > x, x >= np.int64(-3)


def shifted(x):
    return x << 2, x >> 1, x & 1, x | 2, x ^ x, ~x


def of_floats(x):
    return np.sinc(x), stax.erf(x), stax.sigmoid(x)


FAMILIES = {
    clipped: NUMBERS,
    clipped_beyond: INTEGERS,
    chosen: NUMBERS,
    numbered: NUMBERS,
    made_finite: EVERY,
    rounded: NUMBERS,
    close: NUMBERS,
    special_tests: NUMBERS,
    real_parts: NUMBERS,
    raised: NUMBERS,
    raised_wide: INTEGERS,
    both_parts: NUMBERS,
    compared: NUMBERS,
    shifted: INTEGERS,
    of_floats: EVERY,
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_family(family):
    cases = []
    for dtype in FAMILIES[family]:
        x = np.concatenate([specials(dtype), mixed(dtype, 20)])
        if family is close:
            x = np.minimum(np.abs(x.astype(np.float64)), 100).astype(dtype)
        cases.append(Case(family, (x,), f"{family.__name__} {dtype}"))
    check_all(cases)


def test_mixed_choices_promote_as_numpy_does():
    x, y, z = np.int8([1, -2, 100]), np.uint16([3, 40000, 7]), np.float16([0.5, -1, np.nan])
    check_all(
        [
            Case(lambda x, y: np.clip(x, -1, y), (x, y)),
            Case(lambda x, y, z: np.clip(x, z, y), (x, y, z)),
            Case(lambda x, y, z: np.select([x > 0, z > 0], [x, y], z), (x, y, z)),
            Case(lambda x, z: np.where(z, x, z), (x, z)),
            Case(lambda x, y: np.where(x > 0, 300, y), (x, y)),
            Case(lambda x: np.where(x > 0, x, 300), (x,), "an integer wraps, as in NumPy"),
        ]
    )


@pytest.mark.parametrize("name", ["erf", "sigmoid"])
def test_own_functions_have_the_same_bits_outside_a_trace(name):
    function = getattr(stax, name)
    for dtype in EVERY:
        x = np.concatenate([specials(dtype), mixed(dtype, 40)])
        plain, jitted = function(x), stax.jit(lambda x: function(x), backend=backend_name())(x)
        assert plain.dtype == jitted.dtype == np.tanh(x[:1]).dtype
        nan = np.isnan(plain)
        np.testing.assert_array_equal(np.isnan(jitted), nan)
        assert plain[~nan].tobytes() == jitted[~nan].tobytes()
    assert function(0.0) == (0.0 if name == "erf" else 0.5)
    assert type(function(1.0)) is np.float64


def test_sigmoid_is_accurate_at_both_ends():
    x = np.array([-745.0, -700, -40, -1, 0, 1, 40, 700, np.inf, -np.inf])
    exact = [5e-324, 9.859676543759770e-305, 4.248354255291589e-18, 0.2689414213699951]
    exact += [0.5, 0.7310585786300049, 1.0, 1.0, 1.0, 0.0]
    np.testing.assert_allclose(stax.sigmoid(x), exact, rtol=1e-15)
    assert np.all(stax.sigmoid(x.astype(np.float16)) == np.float16(exact))


def test_erf_of_known_values():
    x = np.array([-np.inf, -1, 0, 0.5, 2, np.inf])
    exact = [-1, -0.8427007929497149, 0, 0.5204998778130465, 0.9953222650189527, 1]
    np.testing.assert_allclose(stax.erf(x), exact, rtol=4e-16)


@pytest.mark.parametrize("name", ["erf", "sigmoid"])
def test_own_functions_refuse_complex(name):
    with pytest.raises(stax.DtypeError, match=f"stax.{name}"):
        getattr(stax, name)(np.ones(2, np.complex64))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_clip_at_an_argument(dtype):
    def f(x, low, high):
        return np.clip(x, low, high), np.clip(x, low, None), np.clip(x, None, high)

    x, info = specials(dtype), np.iinfo(dtype)
    check_all([Case(f, (x, low, high)) for low, high in ((1, 7), (-(2**40), 2**40), (0, 2**62))])
    jitted = stax.jit(f, backend=backend_name())
    for low, high in ((int(info.max) + 1, 3), (3, int(info.min) - 1)):
        for function in (jitted, f):
            with pytest.raises(OverflowError):
                function(x, low, high)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_pythons_round_of_one_number_to_digits(dtype):
    x = mixed(dtype, 9)
    check_all([Case(lambda x, k=k: (round(x[k], 1), round(x[k], -1)), (x,)) for k in range(3)])
