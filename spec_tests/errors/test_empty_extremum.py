"""The largest or smallest of nothing."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, floats, refused


def largest(x):
    return np.max(x, axis=1)  # refused


def smallest(x):
    return x[:, :0].min()  # refused


@pytest.mark.parametrize(("function", "kind"), [(largest, "maximum"), (smallest, "minimum")])
def test_refused(function, kind):
    error = refused(
        stax.ShapeError,
        function,
        floats(3, 0),
        says=f"zero-size array to reduction operation {kind} which has no identity",
        instead="an axis with at least one element",
    )
    as_numpy(error, function, floats(3, 0))


def test_no_rows_of_something_are_no_extremum_of_nothing():
    got = stax.jit(lambda x: np.max(x, axis=1), backend="ref")(floats(0, 3))
    assert got.shape == (0,)
