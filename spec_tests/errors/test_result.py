"""Results that are no traced arrays."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats


@pytest.mark.parametrize("value", [1, 2.5, True, np.float32(3), np.ones(3)], ids=repr)
def test_a_constant(value):
    def f(x):
        return x + 1, value

    with pytest.raises(stax.TraceError) as caught:
        stax.jit(f, backend="ref")(floats(3))
    assert "a result does not depend on the traced arguments" in str(caught.value)
    assert "return it from outside the jitted function" in str(caught.value)
    assert (caught.value.where.file, caught.value.where.function) == (__file__, "f")


@pytest.mark.parametrize("value", [None, {"a": 1}, "text"], ids=repr)
def test_something_else(value):
    def f(x):
        return value

    with pytest.raises(stax.TraceError) as caught:
        stax.jit(f, backend="ref")(floats(3))
    assert f"a result of the function is a {type(value).__name__}" in str(caught.value)
    assert "return an array, or one flat tuple or list of arrays" in str(caught.value)
    assert (caught.value.where.file, caught.value.where.function) == (__file__, "f")


def test_nested_structure():
    with pytest.raises(stax.TraceError, match="a result of the function is a tuple"):
        stax.jit(lambda x: (x, (x, x)), backend="ref")(floats(3))
