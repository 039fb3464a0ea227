"""Augmented assignment that NumPy refuses too, or whose sharing of memory is not known."""

import numpy as np
import pytest

import stax_ref as stax
from stax_ref import errors

from .refusal import floats, refused


def narrowing(x):
    n = np.arange(3)
    n += x  # refused
    return n


def growing(x):
    x += np.ones((2, 3), np.float32)  # refused
    return x


def doubtful(x):
    y = x.T * 2
    flat = y.reshape(-1)
    y += 1  # refused
    return flat


@pytest.mark.parametrize(
    ("function", "kind", "says", "instead"),
    [
        (narrowing, errors.DtypeError, "with casting rule 'same_kind'", ".astype"),
        (growing, errors.ShapeError, "non-broadcastable output operand", "shape"),
    ],
)
def test_refused(function, kind, says, instead):
    x = floats(3)
    refused(kind, function, x, says=says, instead=instead)
    np.testing.assert_array_equal(x, 1)


def test_a_reshape_that_may_be_a_copy():
    refused(
        stax.UnsupportedOperation,
        doubtful,
        floats(2, 3),
        says="of which a reshape was taken that NumPy may have copied",
        instead=".copy()",
    )


def row(x, k):
    y = x[k % 2]  # k % 2 is a scalar in NumPy, and y a view; x[k] of an array k is a copy
    y += 1  # refused
    return y


def test_a_row_at_a_computed_index_that_may_be_a_view():
    refused(
        stax.UnsupportedOperation,
        row,
        floats(2, 3),
        np.array(1),
        says="of which a part at a computed index was taken that NumPy may have copied",
        instead=".copy()",
    )


def test_an_element_at_a_computed_index_is_no_view():
    def f(x, k):
        y = x[k % 3]
        x[0] = 5
        return y, x.take(k) + x[k % 3]

    x = floats(3)
    one, two = stax.jit(f, backend="ref")(x, np.array(1))
    assert (one, two, x.tolist()) == (1, 2, [5, 1, 1])


def test_a_python_number_may_change():
    def f(x):
        total = 0
        total += 2
        return x * total

    np.testing.assert_array_equal(stax.jit(f, backend="ref")(floats(3)), 2)
