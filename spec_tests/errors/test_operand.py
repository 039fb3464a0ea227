"""Operands that are neither arrays nor numbers."""

import datetime

import pytest

import stax_ref as stax

from .refusal import floats, refused


def text(x):
    return x + "1"  # refused


def nothing(x):
    return x * None  # refused


def date(x):
    return x < datetime.date(2000, 1, 1)  # refused


@pytest.mark.parametrize(
    ("function", "name"), [(text, "str"), (nothing, "NoneType"), (date, "date")]
)
def test_refused(function, name):
    refused(
        stax.DtypeError,
        function,
        floats(3),
        says=f"an operand is a {name}",
        instead="arrays or numbers",
    )
