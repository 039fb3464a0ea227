"""A Python integer that its partner's dtype cannot hold (NEP 50)."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy

INTS = np.ones(3, np.int32)


@pytest.mark.parametrize("backend", ["ref", "c"])
@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**70])
def test_an_argument(backend, value):
    def f(x, s):
        return x + s

    jitted = stax.jit(f, backend=backend)
    np.testing.assert_array_equal(jitted(INTS, 5), INTS + 5)
    for _ in range(2):
        with pytest.raises(OverflowError, match="out of bounds for int32") as caught:
            jitted(INTS, value)
        as_numpy(caught.value, f, INTS, value)
    np.testing.assert_array_equal(jitted(INTS, 2**31 - 1), INTS + (2**31 - 1))


def test_a_constant():
    def f(x):
        return x + 2**31

    with pytest.raises(OverflowError) as caught:
        stax.jit(f, backend="ref")(INTS)
    as_numpy(caught.value, f, INTS)


def test_a_comparison_takes_any_integer():
    def f(x):
        return x < 2**31, x > -(2**40)

    got, expected = stax.jit(f, backend="ref")(INTS), f(INTS)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b)


INTEGERS = [np.dtype(kind + size) for kind in "iu" for size in "1248"]


@pytest.mark.parametrize("backend", ["ref", "c"])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_every_integer_dtype(backend, dtype):
    def f(x, s):
        return x + s

    x, info = np.zeros(3, dtype), np.iinfo(dtype)
    jitted = stax.jit(f, backend=backend)
    inside = [info.min, info.max] if dtype != np.uint64 else [0, 2**63 - 1]
    for value in inside:
        got = jitted(x, value)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, f(x, value))
    for value in (info.min - 1, info.max + 1):
        with pytest.raises(OverflowError) as caught:
            jitted(x, value)
        as_numpy(caught.value, f, x, value)


def test_a_uint64_argument_has_63_bits():
    """A deviation: a Python integer that is an argument lives in int64."""
    x = np.zeros(2, np.uint64)
    with pytest.raises(OverflowError):
        stax.jit(lambda x, s: x + s, backend="ref")(x, 2**63)
    assert stax.jit(lambda x: x + 2**63, backend="ref")(x)[0] == 2**63
