"""Every reduction on every dtype: axes, kept axes, masks, initial values, layouts, sizes.

takes: arrays of every dtype, each program with the reduction along all axes, columns and rows
gives: a failure where a rung, a vector level or NumPy differs
holds: which sizes and layouts each pair of reduction and dtype meets: all, in turn
not here: the planned order itself (test_reduce), reductions in parts (test_partials)
"""

import itertools

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check, check_all
from stax_ref.dtypes import F16, SHORT

from .values import LAYOUTS, laid_out, mixed, ordinary

DTYPES = tuple(SHORT)
WIDTHS = (1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65)
PLACES = list(itertools.product(WIDTHS, LAYOUTS))

FUNCTIONS = {
    name: getattr(np, name)
    for name in (
        *("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin"),
        *("count_nonzero", "nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"),
        *("nanargmax", "nanargmin"),
    )
}
UFUNCS = {
    name: getattr(np, name)
    for name in (
        *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or"),
        *("logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
    )
}


def on(ufunc, dtypes):
    """The dtypes a ufunc reduces."""
    return [d for d in dtypes if d.kind != "f" or not ufunc.__name__.startswith("bitwise")]


def along_all(function):
    """A program with the results along every axis and with kept ones."""

    def program(a):
        return function(a), function(a, axis=0), function(a, axis=-1, keepdims=True)

    return program


def small(dtype, *shape):
    """Whole numbers of which no sum or product of a few is rounded in any dtype."""
    return np.random.default_rng([1, *shape]).integers(0, 3, shape).astype(dtype)


def places(dtype, number):
    """One size and layout in turn: over all pairs, each meets each."""
    width, layout = PLACES[(number * 7 + DTYPES.index(dtype) * 5) % len(PLACES)]
    return laid_out(layout, dtype.type, (3, width), seed=number)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_functions(dtype):
    check_all(
        [
            Case(along_all(function), (places(dtype, number),), name)
            for number, (name, function) in enumerate(FUNCTIONS.items())
        ],
        DTYPES.index(dtype),
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_ufuncs(dtype):
    def reduced(ufunc):
        return lambda a: (
            ufunc.reduce(a),
            ufunc.reduce(a, axis=None),
            ufunc.reduce(a, axis=(0, 1), keepdims=True),
            ufunc.reduce(a, -1, initial=1),
        )

    check_all(
        [
            Case(reduced(ufunc), (places(dtype, number),), f"{name}.reduce")
            for number, (name, ufunc) in enumerate(UFUNCS.items())
            if dtype in on(ufunc, [dtype])
        ],
        DTYPES.index(dtype),
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masks_and_initial_values(dtype):
    def masked(a, where):
        return (
            np.sum(a, axis=1, where=where),
            np.sum(a, where=where, initial=2),
            np.prod(a, axis=0, where=where, keepdims=True),
            np.max(a, axis=1, where=where, initial=1),
            np.min(a, axis=-1, where=where, initial=1),
            np.any(a, axis=1, where=where),
            np.all(a, axis=0, where=where),
            np.sum(a, axis=0, where=True, initial=None),
        )

    def averaged(a, where):
        return np.mean(a, axis=1, where=where), np.mean(a, where=where, keepdims=True)

    cases = []
    for width in (1, 8, 33):
        a, where = small(dtype, 3, width), ordinary(np.bool_, 3, width)
        where[0] = False
        cases += [Case(masked, (a, where)), Case(averaged, (a, where))]
        cases.append(Case(masked, (a, where[1:2]), "a mask that broadcasts"))
    check_all(cases, DTYPES.index(dtype))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != F16], ids=str)
def test_variances_of_a_part(dtype):
    def spread(a, where):
        middle = np.mean(a, axis=1, keepdims=True)
        return (
            np.var(a, axis=1, where=where),
            np.std(a, where=where, ddof=1),
            np.std(a, axis=0, correction=1, keepdims=True),
            np.var(a, axis=1, mean=middle),
            np.nanvar(a, axis=1, where=where),
        )

    check_all([Case(spread, (ordinary(dtype, 3, n), ordinary(np.bool_, 3, n))) for n in (2, 9, 33)])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind == "f"], ids=str)
def test_nan_among_the_elements(dtype):
    for name in ("nansum", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "max", "argmin"):
        function = getattr(np, name)
        x = mixed(dtype, 4 * 33).reshape(4, 33)
        x[2] = np.nan
        x = np.where(np.isinf(x) | (np.abs(x) > 1000), dtype.type(2), x)
        check_all(
            [
                Case(along_all(function), (x,), name),
                Case(along_all(function), (np.full((2, 3), np.nan, dtype),), f"{name} of NaN"),
            ]
        )


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax", "nanargmin"])
def test_places(name):
    """Ties across lanes and tails, NaN, infinities, the logical order of turned views."""
    function, cases = getattr(np, name), []
    for dtype in (np.float32, np.float64, np.int32, np.uint8, np.bool_):
        ties = np.zeros((3, 37), dtype)
        ties[0, [5, 20, 36]] = ties[1, 36] = 1
        x = mixed(dtype, 35).reshape(5, 7)
        if np.dtype(dtype).kind == "f":
            x[0, :] = -np.inf
            x[1, :3], x[1, 3:] = np.nan, [-np.inf, np.inf, -np.inf, np.inf]
        cases += [
            Case(along_all(function), (ties,), "ties"),
            Case(along_all(function), (x,), "specials"),
            Case(lambda a: (function(a.T), function(a.T, axis=0), function(a[::-1])), (x,)),
            Case(lambda a: function(a.reshape(5, 7, 1), axis=1, keepdims=True), (x,)),
        ]
    check_all(cases)


def test_a_place_in_a_turned_array_counts_in_its_own_order():
    x = np.array([[3.0, 1.0, 2.0], [0.5, 0.5, 9.0]])
    jitted = stax.jit(lambda a: (np.argmin(a.T), np.argmin(a), a.T.argmax(0)))
    first, second, third = jitted(x)
    assert (first, second) == (1, 3)
    assert third.tolist() == [0, 2]
    assert third.dtype == np.int64


def test_places_of_a_row_share_its_kernel():
    def program(x):
        return np.argmax(np.exp(x), axis=1)

    plan = stax.jit(program).lower(ordinary(np.float32, 64, 100)).plan
    assert plan.kernels == 1


def test_variables_named_like_what_is_in_between():
    """A mean is a sum first; a variable of the user may be called as that sum might be."""

    def before(x):
        m_sum = np.sum(x * 2, axis=1, keepdims=True)
        m = np.mean(x, axis=1, keepdims=True)
        return m * 1, m_sum + 0

    def after(x):
        m = np.mean(x, axis=1)
        m_sum = np.sum(x * 2, axis=1)
        v = np.std(x, axis=1)
        v_mean, v_square = x + 1, x * 3
        return m * 1, m_sum + 0, v * 1, v_mean, v_square

    def of_places(x):
        i = np.argmax(x, axis=1)
        i_first, i_max, i_place = x[:, 0].astype(np.int64), x[:, 1], x + 1
        total = np.sum(x, axis=1, dtype=np.float64)
        x_as_float64 = x.astype(np.int32)
        return i * 1, i_first + 0, i_max, i_place, total, x_as_float64

    x = ordinary(np.float32, 3, 40)
    check_all([Case(program, (x,)) for program in (before, after, of_places)])


def test_no_axis_reduces_nothing():
    functions = (np.sum, np.max, np.any, np.mean, np.count_nonzero)
    check_all(
        [
            Case(lambda a: tuple(f(a, axis=()) for f in functions), (ordinary(dtype, 2, 9),))
            for dtype in (np.float32, np.int8, np.bool_)
        ]
    )


def test_arrays_without_axes():
    def program(a):
        return np.sum(a, axis=0), np.max(a, axis=-1), np.argmax(a, axis=0), a.any(), a.std()

    check_all([Case(program, (np.array(3, dtype),)) for dtype in (np.float32, np.int16, np.bool_)])


def test_dtypes_of_accumulation():
    big = np.full(300, 100, np.int8)
    check_all(
        [
            Case(
                lambda a: (np.sum(a), np.sum(a, dtype=np.int8), np.sum(a, dtype=np.uint16)), (big,)
            ),
            Case(lambda a: (np.prod(a), np.prod(a, dtype=np.int8), np.sum(a, dtype=bool)), (big,)),
            Case(lambda a: np.mean(a, dtype=np.float16), (big,)),
            Case(lambda a: (np.sum(a), np.prod(a)), (big.astype(np.uint8),)),
            Case(lambda a: np.maximum.reduce(a, dtype=np.int16), (big,)),
            Case(lambda a: np.sum(a, dtype=np.int64), (ordinary(np.float32, 33) * 9,)),
        ]
    )


def test_out_decides_the_dtype_of_accumulation():
    def wider(x):
        a, b, c, d = (np.zeros(3) for _ in range(4))
        np.sum(x, axis=1, out=a)
        np.add.reduce(x, axis=1, out=b)
        np.mean(x, axis=1, out=c)
        x.sum(1, out=d)
        return a, b, c, d

    def integers(x):
        a, b, c = np.zeros(40, np.int16), np.zeros(40, np.int64), np.zeros(40, bool)
        np.sum(x, axis=0, out=a)
        np.prod(x, axis=0, out=b)
        np.any(x, axis=0, out=c)
        return a, b, c

    tenths = np.full((3, 40), 0.1, np.float32)
    check_all([Case(wider, (tenths,)), Case(integers, (np.full((3, 40), 100, np.int8),))])
    got, expected = stax.jit(wider)(tenths)[0], np.sum(tenths, axis=1, dtype=np.float64)
    np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_float16_accumulates_in_float32_and_rounds_once():
    ones = np.ones((2, 4096), np.float16)
    total = stax.jit(lambda x: np.sum(x, axis=1))(ones)
    assert total.dtype == np.float16
    assert total.tolist() == [4096, 4096]
    spread = np.array([0, 1000], np.float16)
    assert stax.jit(np.std)(spread) == 500  # NumPy's own squares overflow
    check(lambda x: (np.sum(x), np.mean(x), np.prod(x)), ordinary(np.float16, 300))


def test_reductions_in_which_the_order_of_elements_matters():
    """They are external calls of NumPy."""

    def program(a):
        return np.subtract.reduce(a), np.logaddexp.reduce(a, axis=1), np.hypot.reduce(a, axis=0)

    check(program, ordinary(np.float32, 3, 9))
    check(lambda a: np.gcd.reduce(a, axis=1), ordinary(np.int32, 3, 9))


def test_a_mask_is_part_of_the_kernel():
    def program(a):
        return np.sum(a, axis=1, where=a > 0), np.mean(a, axis=1, where=a > 0)

    assert stax.jit(program).lower(ordinary(np.float32, 64, 100)).plan.kernels == 1


# what NumPy makes of several ----------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_norms(dtype):
    def vectors(a):
        orders = (None, 1, 2, 0, np.inf, -np.inf)
        return tuple(np.linalg.norm(a, order, axis=-1) for order in orders)

    def matrices(a):
        orders = (None, "fro", 1, -1, np.inf, -np.inf)
        return tuple(np.linalg.norm(a, order, axis=(1, 0), keepdims=True) for order in orders)

    def others(a):
        return (
            np.linalg.norm(a),
            np.linalg.norm(a[0]),
            np.linalg.norm(a, keepdims=True),
            np.linalg.vector_norm(a, axis=(1, 0), ord=1),
            np.linalg.vector_norm(a, keepdims=True),
            np.linalg.matrix_norm(a, ord=1),
        )

    def singular(a):
        return tuple(np.linalg.norm(a, order, axis=(2, 0)) for order in (2, -2, "nuc"))

    def powers(a):
        return np.linalg.norm(a, 3, axis=0), np.linalg.norm(a, 0.5, axis=1, keepdims=True)

    x = ordinary(dtype, 3, 9)
    check_all([Case(program, (x,)) for program in (vectors, matrices, others, powers)])
    check(singular, ordinary(dtype, 3, 2, 4))


def test_averages():
    def program(a, w):
        return (
            *np.average(a, axis=0, weights=w, returned=True),
            *np.average(a, axis=1, returned=True),
            *np.average(a, returned=True),
            np.average(a, weights=w, keepdims=True),
            np.average(a, axis=1, weights=w[0]),
            np.average(a, axis=(1, 0), weights=w.T),
        )

    for dtype in (np.float32, np.float64, np.int16):
        check(program, ordinary(dtype, 3, 9), np.abs(ordinary(dtype, 3, 9)) + dtype(1))


def test_logsumexp_of_special_values():
    """The values scipy.special.logsumexp gives."""
    x = np.array([[1000, 1000], [-np.inf, -np.inf], [np.inf, 3], [np.nan, 1], [-1e30, -np.inf]])
    expected = [1000 + np.log(2), -np.inf, np.inf, np.nan, -1e30]
    for function in (stax.logsumexp, stax.jit(lambda x: stax.logsumexp(x, axis=1))):
        got = function(x) if function is not stax.logsumexp else function(x, axis=1)
        np.testing.assert_allclose(got, expected, rtol=1e-15)
    assert np.isnan(stax.logsumexp(np.array([0.0, 1.0]), b=np.array([1, -1])))
    assert stax.logsumexp(np.array([0.0, np.inf]), b=np.array([1, 0])) == 0.0
    check_all(
        [
            Case(lambda a: (stax.logsumexp(a, axis=1), stax.logsumexp(a)), (x,)),
            Case(lambda a: stax.logsumexp(a, axis=0, keepdims=True), (ordinary(np.float32, 5, 9),)),
            Case(lambda a: stax.logsumexp(a, axis=1, b=a > 0), (ordinary(np.float32, 5, 9),)),
        ],
    )
