"""Captured arrays that no kernel can read in place, or that change while the function is traced."""

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.errors import StaxError

from .refusal import floats, refused

SWAPPED = np.arange(3, dtype=np.dtype(np.float32).newbyteorder())
MASKED = np.ma.masked_array(np.ones(3, np.float32), [True, False, False])


def swapped(x):
    return x + SWAPPED  # refused


def masked(x):
    return x + MASKED  # refused


@pytest.mark.parametrize("function", [swapped, masked])
def test_cannot_be_read_in_place(function):
    refused(
        stax.DtypeError,
        function,
        floats(3),
        says="a captured ",
        instead="plain ndarray in native byte order",
    )


def test_changes_inside():
    w = np.zeros(3, np.float32)

    def f(x):
        a = x + w
        np.add(w, 1, out=w)
        return a + w

    with pytest.raises(StaxError, match="an array that is no argument changes inside") as caught:
        stax.jit(f, backend="ref")(floats(3))
    assert __file__ in str(caught.value)
    assert "compute a new array instead" in caught.value.instead


def test_one_that_stays_is_carried():
    def f(x):
        return x + np.arange(3, dtype=np.float32)

    np.testing.assert_array_equal(stax.jit(f, backend="ref")(floats(3)), [1, 2, 3])
