"""An integer index out of range, and more indices than axes."""

import pytest

import stax_ref as stax
from stax_ref.errors import IndexingError

from .refusal import as_numpy, floats, refused


def beyond(x):
    return x[3]  # refused


def before(x):
    return x[:, -5]  # refused


def too_many(x):
    return x[0, 0, 0]  # refused


def two_ellipses(x):
    return x[..., 0, ...]  # refused


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (beyond, "index 3 is out of bounds"),
        (before, "index -5 is out of bounds"),
        (too_many, "too many indices"),
        (two_ellipses, "single ellipsis"),
    ],
)
def test_refused(function, says):
    error = refused(IndexingError, function, floats(3, 4), says=says, instead="the shape is (3, 4)")
    as_numpy(error, function, floats(3, 4))
    assert isinstance(error, stax.StaxError)
