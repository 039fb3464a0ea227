"""Operands whose shapes do not broadcast."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, floats, refused


def operator(x, y):
    return x + y  # refused


def select(x, y):
    return np.where(x > 0, x, y)  # refused


@pytest.mark.parametrize("function", [operator, select])
def test_refused(function):
    error = refused(
        stax.ShapeError,
        function,
        floats(3, 4),
        floats(3),
        says="could not be broadcast together with shapes",
        instead="[:, None]",
    )
    as_numpy(error, function, floats(3, 4), floats(3))
    assert "(3,4)" in str(error)
    assert "(3,)" in str(error)


def spread(x, y):
    return np.broadcast_to(x, (3, 3)) + y  # refused


def test_broadcast_to():
    error = refused(
        stax.ShapeError,
        spread,
        floats(3, 4),
        floats(3),
        says="shape (3, 4) cannot be broadcast to (3, 3)",
        instead="equal axes or 1",
    )
    as_numpy(error, spread, floats(3, 4), floats(3))
