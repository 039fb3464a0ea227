"""A boolean mask as an index: the shape of its result depends on values."""

import pytest

import stax_ref as stax

from .refusal import floats, refused


def mask(x):
    return x[x > 0]  # refused


def plain_bool(x):
    return x[True]  # refused


def list_of_bools(x):
    return x[[True, False, True]]  # refused


@pytest.mark.parametrize("function", [mask, plain_bool, list_of_bools])
def test_refused(function):
    refused(
        stax.ValueDependent,
        function,
        floats(3),
        says="indexing with a boolean mask",
        instead="np.where(mask, x, 0) keeps the shape",
    )
