"""Assignment into a traced array."""

import pytest

import stax_ref as stax

from .refusal import floats, refused


def element(x):
    x[0] = 1  # refused
    return x


def part(x):
    x[1:] = x[:-1]  # refused
    return x


def masked(x):
    y = x * 2
    y[y > 1] = 0  # refused
    return y


@pytest.mark.parametrize("function", [element, part, masked])
def test_refused(function):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says="assignment into a traced array",
        instead="np.where(mask, new, old)",
    )
