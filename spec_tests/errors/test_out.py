"""out=, where= of a ufunc or reduction: the result of a trace is a new array."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused

OUT = np.ones(3, np.float32)


def ufunc_out(x):
    return np.add(x, 1, out=OUT)  # refused


def ufunc_where(x):
    return np.add(x, 1, where=x > 0)  # refused


def sum_out(x):
    return np.sum(x, axis=0, out=OUT)  # refused


@pytest.mark.parametrize(
    ("function", "option"),
    [
        (ufunc_out, "out"),
        (ufunc_where, "where"),
        (sum_out, "out"),
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
