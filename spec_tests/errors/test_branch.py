"""A branch on a value: a trace runs the function once, for all values."""

import pytest

import stax_ref as stax

from .refusal import floats, refused


def conditional(x):
    if x[0] > 0:  # refused
        return x
    return -x


def loop(x):
    while x[0] > 0:  # refused
        x = x - 1
    return x


def chained(x):
    return x if 0 < x[0] < 1 else -x  # refused


def assertion(x):
    assert x[0] > 0  # refused
    return x


def negation(x):
    return x + (not x[0])  # refused


@pytest.mark.parametrize("function", [conditional, loop, chained, assertion, negation])
def test_refused(function):
    refused(
        stax.ValueDependent,
        function,
        floats(3),
        says="a branch needs the value of a traced array",
        instead="np.where(condition, a, b)",
    )


def test_a_static_argument_may_decide():
    def f(x, up):
        return x + 1 if up else x - 1

    assert stax.jit(f, backend="ref", static_argnames="up")(floats(3), True)[0] == 2
