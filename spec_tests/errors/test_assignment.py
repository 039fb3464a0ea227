"""Assignment into a traced array."""

import pytest

import stax_ref as stax

from .refusal import floats, refused


def element(x):
    x[0] = 1  # refused
    return x


def part(x):
    x[1:] += 1  # refused
    return x


def masked(x):
    y = x * 2
    y[y > 1] = 0  # refused
    return y


@pytest.mark.parametrize("function", [element, part])
def test_refused(function):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        says="assignment into a traced array",
        instead="np.where(mask, new, old)",
    )


def test_a_mask_on_the_left():
    refused(
        stax.UnsupportedOperation,
        masked,
        floats(3),
        says="assignment into a traced array",
        instead="np.where(mask, new, old)",
    )


def test_an_augmented_name_is_a_new_array():
    def f(x):
        x += 1
        return x

    x = floats(3)
    assert stax.jit(f, backend="ref")(x)[0] == 2
    assert x[0] == 1, "the caller's array is not written"
