"""An axis the array does not have, or twice the same."""

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.errors import AxisError

from .refusal import as_numpy, floats, refused


def beyond(x):
    return np.sum(x, axis=2)  # refused


def before(x):
    return x.max(axis=-3)  # refused


def in_a_tuple(x):
    return np.mean(x, axis=(0, 5))  # refused


def expanded(x):
    return np.expand_dims(x, 4)  # refused


def swapped(x):
    return x.swapaxes(0, 2)  # refused


@pytest.mark.parametrize(
    ("function", "axis"), [(beyond, 2), (before, -3), (in_a_tuple, 5), (expanded, 4), (swapped, 2)]
)
def test_out_of_bounds(function, axis):
    error = refused(
        AxisError,
        function,
        floats(3, 4),
        says=f"axis {axis} is out of bounds for array of dimension",
        instead="an axis from",
    )
    as_numpy(error, function, floats(3, 4))


def twice(x):
    return np.sum(x, axis=(0, -2))  # refused


def test_duplicate():
    error = refused(
        stax.ShapeError,
        twice,
        floats(3, 4),
        says="duplicate value in 'axis'",
        instead="each axis once",
    )
    as_numpy(error, twice, floats(3, 4))


def test_a_float_is_no_axis():
    def f(x):
        return np.sum(x, axis=1.5)

    with pytest.raises(TypeError, match="float") as caught:
        stax.jit(f, backend="ref")(floats(3, 4))
    as_numpy(caught.value, f, floats(3, 4))
