"""Options that do not exist, and values that are no choice."""

import numpy as np
import pytest

import stax_ref as stax


def identity(x):
    return x


def test_an_unknown_option_of_jit():
    with pytest.raises(stax.ConfigError) as caught:
        stax.jit(identity, fuze=True)
    assert "jit has no option 'fuze'" in str(caught.value)
    assert "instead: one of backend, check," in str(caught.value)


def test_an_unknown_option_of_configured():
    with pytest.raises(stax.ConfigError) as caught, stax.configured(fuze=True):
        raise AssertionError("the block is not entered")
    assert "'fuze' is not an option" in str(caught.value)
    assert "max_nodes" in caught.value.instead


@pytest.mark.parametrize(
    ("option", "value"), [("schedule", "greedy"), ("device", "tpu"), ("check", 4), ("check", "1")]
)
def test_a_value_that_is_no_choice(option, value):
    for attempt in (
        lambda: stax.jit(identity, **{option: value}),
        lambda: stax.Config(**{option: value}),
        lambda: stax.configured(**{option: value}).__enter__(),
    ):
        with pytest.raises(stax.ConfigError) as caught:
            attempt()
        assert f"{option}={value!r} is not a choice" in str(caught.value)
        assert "instead: " in str(caught.value)
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("thing", [3, "f", np.exp, int])
def test_jit_of_what_is_no_python_function(thing):
    with pytest.raises(stax.ConfigError, match="jit was given a") as caught:
        stax.jit(thing)
    assert "lambda x: np.exp(x) for a NumPy function" in caught.value.instead
