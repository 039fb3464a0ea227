"""Assignment whose meaning depends on values, or that NumPy refuses too."""

import numpy as np
import pytest

from stax_ref import errors

from .refusal import floats, refused


def by_mask(x):
    y = x * 2
    y[y > 1] = np.ones(2)  # refused
    return y


def too_long(x):
    x[1:] = np.ones(5)  # refused
    return x


def read_only(x):
    y = np.broadcast_to(x, (2, 3))
    y[0] = 1
    return y


CAPTURED = np.zeros(3, np.float32)


def captured(x):
    np.add.at(CAPTURED, [0], x[:1])  # refused
    return x


@pytest.mark.parametrize(
    ("function", "kind", "says", "instead"),
    [
        (by_mask, errors.ValueDependent, "depends on the mask", "np.where(mask, new, x)"),
        (too_long, errors.ShapeError, "could not broadcast input array", "shape"),
        (captured, errors.UnsupportedOperation, "neither an argument nor made inside", "copy"),
    ],
)
def test_refused(function, kind, says, instead):
    refused(kind, function, floats(3), says=says, instead=instead)
    assert np.all(CAPTURED == 0)


def test_a_read_only_view():
    import stax_ref as stax

    with pytest.raises(ValueError, match="assignment destination is read-only"):
        stax.jit(read_only, backend="ref")(floats(3))
