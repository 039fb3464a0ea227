"""A NumPy function that is not carried: named, with those that are."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


def sort(x):
    return np.sort(x)  # refused


def nonzero(x):
    return np.nonzero(x)  # refused


def unique(x):
    return np.unique(x)  # refused


def inverse(x):
    return np.linalg.inv(x)  # refused


def einsum(x):
    return np.einsum("ij->i", x)  # refused


@pytest.mark.parametrize("function", [sort, nonzero, unique, inverse, einsum])
def test_refused(function):
    name = {"inverse": "linalg.inv"}.get(function.__name__, function.__name__)
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3, 3),
        says=f"np.{name} is not supported inside a jitted function",
        instead="call it outside, or build it from: ",
    )
