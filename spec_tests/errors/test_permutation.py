"""A transpose by something that is no permutation, a squeeze of an axis that is longer than one."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, floats, refused


def short(x):
    return np.transpose(x, (0,))  # refused


def repeated(x):
    return x.transpose(0, 0)  # refused


@pytest.mark.parametrize("function", [short, repeated])
def test_transpose(function):
    error = refused(
        stax.ShapeError,
        function,
        floats(3, 4),
        says="axes don't match array" if function is short else "axes",
        instead="a permutation of 2 axes",
    )
    as_numpy(error, function, floats(3, 4))


def squeezed(x):
    return np.squeeze(x, 1)  # refused


def test_squeeze():
    error = refused(
        stax.ShapeError,
        squeezed,
        floats(1, 4),
        says="cannot select an axis to squeeze out which has size not equal to one",
        instead="one of the axes (0,)",
    )
    as_numpy(error, squeezed, floats(1, 4))
