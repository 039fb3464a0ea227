"""``out=`` into an array that the function finds outside, and ``where=`` without ``out``."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused

OUT = np.ones(3, np.float32)


def ufunc_out(x):
    return np.add(x, 1, out=OUT)  # refused


def sum_out(x):
    return np.sum(x, axis=0, out=OUT)  # refused


def method_out(x):
    return x.sum(out=OUT)  # refused


@pytest.mark.parametrize("function", [ufunc_out, sum_out, method_out])
def test_refused(function):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says="into an array that is neither an argument nor made inside the function",
        instead="use the returned array",
    )
    assert np.all(OUT == 1)


def ufunc_where(x):
    return np.add(x, 1, where=x > 0)  # refused


def test_where_without_out():
    refused(
        stax.UnsupportedOperation,
        ufunc_where,
        floats(3),
        says="where=",
        instead="np.where",
    )
