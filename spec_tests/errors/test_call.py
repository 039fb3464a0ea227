"""Calls that do not fit the signature."""

import pytest

import stax_ref as stax

from .refusal import as_numpy, floats


def two(x, y):
    return x + y


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((1.0,), {}),
        ((1.0, 2.0, 3.0), {}),
        ((1.0, 2.0), {"z": 3.0}),
        ((1.0, 2.0), {"y": 3.0}),
        ((), {"x": 1.0}),
    ],
)
def test_arity(args, kwargs):
    jitted = stax.jit(two, backend="ref")
    with pytest.raises(TypeError) as caught:
        jitted(*args, **kwargs)
    as_numpy(caught.value, lambda: two(*args, **kwargs))
    assert jitted(1.0, 2.0) == 3


def test_an_exception_of_the_user_comes_through():
    def f(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        stax.jit(f, backend="ref")(floats(3))
