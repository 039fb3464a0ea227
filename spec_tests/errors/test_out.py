"""out=, where=, dtype= of a ufunc or reduction: the result of a trace is a new array."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused

OUT = np.ones(3, np.float32)


def ufunc_out(x):
    return np.add(x, 1, out=OUT)  # refused


def ufunc_where(x):
    return np.add(x, 1, where=x > 0)  # refused


def ufunc_dtype(x):
    return np.add(x, 1, dtype=np.float64)  # refused


def sum_out(x):
    return np.sum(x, axis=0, out=OUT)  # refused


def sum_where(x):
    return np.sum(x, where=x > 0)  # refused


def sum_initial(x):
    return np.sum(x, initial=3)  # refused


@pytest.mark.parametrize(
    ("function", "option"),
    [
        (ufunc_out, "out"),
        (ufunc_where, "where"),
        (ufunc_dtype, "dtype"),
        (sum_out, "out"),
        (sum_where, "where"),
        (sum_initial, "initial"),
    ],
)
def test_refused(function, option):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says=f"(..., {option}=...) is not supported inside a jitted function",
        instead="the",
    )
    assert np.all(OUT == 1)
