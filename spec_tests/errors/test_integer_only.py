"""Bit operations of integers, and floor division of floats: not carried yet."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


def both(x):
    return x & 3  # refused


def inverted(x):
    return ~x  # refused


@pytest.mark.parametrize("function", [both, inverted])
def test_bits_of_integers(function):
    refused(
        stax.UnsupportedOperation,
        function,
        np.ones(3, np.int32),
        says="of integers is not supported inside a jitted function",
        instead="boolean operands",
    )


def shifted(x):
    return x << 2  # refused


def test_shifts():
    refused(
        stax.UnsupportedOperation,
        shifted,
        np.ones(3, np.int32),
        says="np.left_shift is not supported",
        instead="multiply",
    )


def floored(x):
    return x // 2  # refused


def rest(x):
    return x % 2  # refused


@pytest.mark.parametrize(("function", "name"), [(floored, "floor_divide"), (rest, "remainder")])
def test_floor_division_of_floats(function, name):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says=f"np.{name} of floats is not supported",
        instead="integer operands",
    )
