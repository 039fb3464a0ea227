"""Arithmetic of two Python integers that are arguments: Python has no width, a kernel has one."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


def product(x, n, m):
    return x * (n * m)  # refused


def total(x, n, m):
    return x + (n + m)  # refused


@pytest.mark.parametrize(("function", "op"), [(product, "multiply"), (total, "add")])
def test_refused(function, op):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        2**40,
        2**40,
        says=f"{op} of Python integers that are arguments",
        instead="make them static (static_argnames)",
    )


def test_the_ways_out_work():
    static = stax.jit(product, backend="ref", static_argnames=("n", "m"))
    np.testing.assert_array_equal(static(floats(3), 2**40, 2**40), np.float32(2.0**80))
    wide = stax.jit(product, backend="ref")(floats(3), np.int64(6), np.int64(7))
    np.testing.assert_array_equal(wide, 42)
