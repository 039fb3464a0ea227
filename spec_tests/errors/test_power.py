"""Exponents that are not small constant integers."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, floats, refused


def fraction(x):
    return x**2.5  # refused


def traced(x):
    return x**x  # refused


def large(x):
    return np.power(x, 1000)  # refused


def beyond_floats(x):
    return x**10**400  # refused


def infinite(x):
    return x**np.inf  # refused


def undefined(x):
    return x**np.nan  # refused


def truth(x):
    return x**True  # refused


def many(x):
    return x ** np.array([1, 2, 3])  # refused


def base(x):
    return 2**x  # refused


FUNCTIONS = [fraction, traced, large, beyond_floats, infinite, undefined, truth, many, base]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_refused(function):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says="power with this exponent is not supported",
        instead="np.exp(y * np.log(x))",
    )


def negative(x):
    return x**-2  # refused


def test_integers_to_a_negative_power():
    ints = np.ones(3, np.int64)
    error = refused(
        stax.ShapeError,
        negative,
        ints,
        says="Integers to negative integer powers are not allowed",
        instead="float base",
    )
    as_numpy(error, negative, ints)
