"""static_argnames: a value that has no hash, a name that is no parameter."""

import pytest

import stax_ref as stax

from .refusal import floats


def axis_sum(x, axes):
    return x.sum(axis=axes)


def test_a_value_without_a_hash():
    f = stax.jit(axis_sum, backend="ref", static_argnames="axes")
    with pytest.raises(stax.ConfigError) as caught:
        f(floats(3, 4), [0, 1])
    assert "the static argument axes is not hashable" in str(caught.value)
    assert "instead: a tuple" in str(caught.value)
    assert f(floats(3, 4), (0, 1)) == 12


@pytest.mark.parametrize("names", ["axis", ("axes", "axis"), ["axis"]])
def test_an_unknown_name(names):
    f = stax.jit(axis_sum, backend="ref", static_argnames=names)
    with pytest.raises(stax.ConfigError) as caught:
        f(floats(3, 4), 0)
    assert "static_argnames has 'axis', which is no parameter" in str(caught.value)
    assert "instead: one of x, axes" in str(caught.value)
