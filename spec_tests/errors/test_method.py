"""An array method or attribute that is not carried."""

import pytest

import stax_ref as stax
from stax_ref.functions.refused import METHODS

from .refusal import floats, refused


def compress(x):
    return x.compress([True, False, True])  # refused


def flat(x):
    return x.flat[0]  # refused


def byteswap(x):
    return x.byteswap()  # refused


@pytest.mark.parametrize("function", [compress, flat, byteswap])
def test_refused(function):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says=f".{function.__name__} is refused: ",
        instead="",
    )


@pytest.mark.parametrize("name", METHODS)
def test_refused_by_name(name):
    with pytest.raises(stax.UnsupportedOperation) as caught:
        stax.jit(lambda x: getattr(x, name), backend="ref")(floats(3))
    reason, way_out = METHODS[name]
    assert caught.value.what == f".{name} is refused: {reason}"
    assert caught.value.instead == way_out


def test_what_numpy_lacks_too_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'smooth'"):
        stax.jit(lambda x: x.smooth(), backend="ref")(floats(3))
