"""np.where with one argument: the shape of its result depends on values."""

import numpy as np

import stax_ref as stax

from .refusal import floats, refused


def positions(x):
    return np.where(x > 0)  # refused


def test_refused():
    refused(
        stax.ValueDependent,
        positions,
        floats(3),
        says="np.where(condition) has a shape that depends on values",
        instead="np.where(condition, x, y)",
    )
