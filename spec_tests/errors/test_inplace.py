"""Augmented assignment: the name would be another array afterwards, not the same one changed."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


def add(x):
    x += 1  # refused
    return x


def part(x):
    x[1:] *= 2  # refused
    return x


def power(x):
    y = x * 2
    y **= 2  # refused
    return y


@pytest.mark.parametrize(("function", "symbol"), [(add, "+="), (part, "*="), (power, "**=")])
def test_refused(function, symbol):
    x = floats(3)
    refused(
        stax.UnsupportedOperation,
        function,
        x,
        says=f"{symbol} writes into a traced array",
        instead=f"y = y {symbol[:-1]} value makes a new array",
    )
    np.testing.assert_array_equal(x, 1)


def test_a_python_number_may_change():
    def f(x):
        total = 0
        total += 2
        return x * total

    np.testing.assert_array_equal(stax.jit(f, backend="ref")(floats(3)), 2)
