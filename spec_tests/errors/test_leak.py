"""A traced array that outlives its trace."""

import pytest

import stax_ref as stax

from .refusal import floats

kept = []


def keep(x):
    kept.append(x)
    return x + 1


def use(x):
    return x + kept[0]  # refused


def give(x):
    return kept[0]


@pytest.mark.parametrize(
    ("function", "says"),
    [(use, "a traced array of another call is used here"), (give, "belongs to another trace")],
)
def test_refused(function, says):
    kept.clear()
    stax.jit(keep, backend="ref")(floats(3))
    with pytest.raises(stax.TraceError) as caught:
        stax.jit(function, backend="ref")(floats(3))
    assert says in str(caught.value)
    assert caught.value.instead
    if function is use:
        assert "return x + kept[0]  # refused" in str(caught.value)
