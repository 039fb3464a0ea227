"""Matrix products whose inner extents or batches do not fit."""

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.errors import AxisError

from .refusal import as_numpy, floats, refused


def product(a, b):
    return a @ b  # refused


CASES = [
    ((3, 4), (3, 4), "the inner extents 4 and 3 differ"),
    ((3,), (4,), "the inner extents 3 and 4 differ"),
    ((2, 3, 4), (3, 4, 5), "batch axes"),
    ((), (3,), "a 0-d operand"),
]


@pytest.mark.parametrize(("left", "right", "says"), CASES)
def test_refused(left, right, says):
    error = refused(stax.ShapeError, product, floats(*left), floats(*right), says=says, instead="")
    as_numpy(error, product, floats(*left), floats(*right))
    assert error.instead, "there is a way out"


def test_dot_of_more_than_two_axes():
    def f(a, b):
        return np.dot(a, b)  # refused

    arguments = floats(2, 3, 4), floats(5, 6)
    error = refused(stax.ShapeError, f, *arguments, says="np.dot: shapes", instead="arguments")
    as_numpy(error, f, *arguments)


def paired(a, b):
    return np.tensordot(a, b, axes=([0], [1]))  # refused


def indexed(a, b):
    return np.einsum("ij,jk->ik", a, b)  # refused


def too_many(a, b):
    return np.tensordot(a, b, axes=([0, 7], [1, 0]))  # refused


@pytest.mark.parametrize(
    ("function", "kind", "says"),
    [
        (paired, stax.ShapeError, "shape-mismatch for sum"),
        (indexed, stax.ShapeError, "np.einsum: operands could not be broadcast"),
        (too_many, AxisError, "axis 7 is out of bounds"),
    ],
)
def test_contractions(function, kind, says):
    error = refused(kind, function, floats(3, 4), floats(3, 4), says=says, instead="a")
    as_numpy(error, function, floats(3, 4), floats(3, 4))
