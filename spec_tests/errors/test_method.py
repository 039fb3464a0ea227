"""An array method or attribute that is not carried."""

import pytest

import stax_ref as stax

from .refusal import floats, refused


def sort(x):
    x.sort()  # refused
    return x


def flat(x):
    return x.flat[0]  # refused


def view(x):
    return x.view("i4")  # refused


@pytest.mark.parametrize("function", [sort, flat, view])
def test_refused(function):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says=f"the array method or attribute .{function.__name__} is not supported",
        instead="the supported ones are ",
    )


def test_what_numpy_lacks_too_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'smooth'"):
        stax.jit(lambda x: x.smooth(), backend="ref")(floats(3))
