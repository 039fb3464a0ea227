"""A backend nobody installed."""

import pytest

import stax_ref as stax

from .refusal import floats


@pytest.mark.parametrize("where", ["decorator", "environment", "compile"])
def test_refused(where, monkeypatch):
    def attempt():
        if where == "compile":
            return stax.jit(lambda x: x + 1).lower(floats(3)).compile("vulkan")
        if where == "environment":
            monkeypatch.setenv("STAX_BACKEND", "vulkan")
            return stax.jit(lambda x: x + 1)(floats(3))
        return stax.jit(lambda x: x + 1, backend="vulkan")(floats(3))

    with pytest.raises(stax.ConfigError) as caught:
        attempt()
    assert "there is no backend 'vulkan'" in str(caught.value)
    assert "instead: one of c, " in str(caught.value)
    assert "ref" in caught.value.instead


@pytest.mark.parametrize("name", [3, "", "not a name"])
def test_what_cannot_be_a_name(name):
    with pytest.raises(stax.ConfigError, match=r"backend=.* is not a choice"):
        stax.jit(lambda x: x, backend=name)
