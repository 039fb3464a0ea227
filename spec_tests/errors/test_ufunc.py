"""A ufunc that is not carried: named, with those that are."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


def outer(x):
    return np.add.outer(x, x)  # refused


def accumulate(x):
    return np.add.accumulate(x)  # refused


def both(x):
    return np.divmod(x, 2)  # refused


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (outer, "np.add.outer"),
        (accumulate, "np.add.accumulate"),
        (both, "np.divmod"),
    ],
)
def test_refused(function, name):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says=f"{name} is not supported",
        instead="sum",
    )
