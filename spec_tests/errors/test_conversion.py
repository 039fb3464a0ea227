"""float(), int(), complex(), range(): a Python number needs a value that is not known."""

import math

import pytest

import stax_ref as stax

from .refusal import floats, refused


def to_float(x):
    return x * float(x[0])  # refused


def to_int(x):
    return x * int(x[0])  # refused


def to_complex(x):
    return x * complex(x[0])  # refused


def to_index(x):
    for _ in range(x[0]):  # refused
        x = x + 1
    return x


def in_math(x):
    return x * math.sqrt(x[0])  # refused


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (to_float, "float()"),
        (to_int, "int()"),
        (to_complex, "complex()"),
        (to_index, "an index"),
        (in_math, "float()"),
    ],
)
def test_refused(function, call):
    refused(
        stax.ValueDependent,
        function,
        floats(3),
        says=f"{call} needs the value of a traced array",
        instead="convert after the call",
    )
