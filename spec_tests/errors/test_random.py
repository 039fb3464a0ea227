"""Random numbers drawn inside: they would be drawn once, while tracing."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats

generator = np.random.default_rng(0)


def legacy(x):
    return x + np.random.rand(3)  # noqa: NPY002 (what users still write)


def outside(x):
    return x + generator.random(3)


def inside(x):
    return x + np.random.default_rng(1).random(3)


def noise():
    return generator.random(3)


def followed(x):
    return x + noise()


draw = generator.random


def method(x):
    return x + draw(3)


@pytest.mark.parametrize("function", [legacy, outside, inside, followed, method])
def test_refused(function):
    with pytest.raises(stax.TraceError) as caught:
        stax.jit(function, backend="ref")(floats(3))
    assert "would be drawn once, while tracing" in str(caught.value)
    assert f"def {function.__name__}(x):" in str(caught.value)
    assert "draw outside and pass the array" in caught.value.instead


def test_a_generator_that_is_not_drawn_from():
    def f(x):
        return x + (generator is not None)

    np.testing.assert_array_equal(stax.jit(f, backend="ref")(floats(3)), 2)
