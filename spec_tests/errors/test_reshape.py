"""A reshape to another number of elements."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, floats, refused


def wrong(x):
    return x.reshape(5, 2)  # refused


def not_a_divisor(x):
    return np.reshape(x, (5, -1))  # refused


def two_unknown(x):
    return x.reshape(-1, -1)  # refused


@pytest.mark.parametrize("function", [wrong, not_a_divisor, two_unknown])
def test_refused(function):
    error = refused(
        stax.ShapeError,
        function,
        floats(3, 4),
        says="cannot reshape array of size 12 into shape",
        instead="extents whose product is 12",
    )
    as_numpy(error, function, floats(3, 4))
