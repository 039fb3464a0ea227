"""Matrix products whose inner extents or batches do not fit."""

import numpy as np
import pytest

import stax_ref as stax

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

    refused(
        stax.UnsupportedOperation,
        f,
        floats(2, 3, 4),
        floats(4, 5),
        says="np.dot above two axes",
        instead="a @ b",
    )
