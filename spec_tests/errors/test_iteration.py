"""Iteration over a traced array, in every spelling."""

import pytest

import stax_ref as stax

from .refusal import floats, refused


def loop(x):
    total = 0
    for row in x:  # refused
        total = total + row
    return total


def unpack(x):
    a, b, c = x  # refused
    return a + b + c


def to_list(x):
    return sum(list(x))  # refused


def built_in(x):
    return max(x)  # refused


def zipped(x):
    return [a * b for a, b in zip(x, x, strict=True)]  # refused


@pytest.mark.parametrize("function", [loop, unpack, to_list, built_in, zipped])
def test_refused(function):
    refused(
        stax.ValueDependent,
        function,
        floats(3),
        says="iteration over a traced array",
        instead="for i in range(x.shape[0]): x[i]",
    )


def test_the_way_out_works():
    def f(x):
        total = 0
        for i in range(x.shape[0]):
            total = total + x[i]
        return total

    assert stax.jit(f, backend="ref")(floats(3)) == 3
