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
