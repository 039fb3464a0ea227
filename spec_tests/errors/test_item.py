"""item(), tolist(), np.asarray(): the array behind a tracer does not exist yet."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


def item(x):
    return x * x[0].item()  # refused


def item_at(x):
    return x * x.item(0)  # refused


def tolist(x):
    return x * x.tolist()[0]  # refused


def to_float(x):
    return x * float(x[0])  # refused


def inside_numpy(x):
    return np.polynomial.Polynomial(x)(1.0)  # refused


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (item, "item()"),
        (item_at, "item()"),
        (tolist, "tolist()"),
        (to_float, "float()"),
        (inside_numpy, "np.asarray()"),
    ],
)
def test_refused(function, call):
    refused(
        stax.ValueDependent,
        function,
        floats(3),
        says=f"{call} needs the value of a traced array",
        instead="keep it an array",
    )
