"""Powers that NumPy refuses: integers to a negative power, exponents beyond every float."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, floats, refused


def negative(x):
    return x**-2  # refused


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_a_negative_constant(dtype):
    ints = np.ones(3, dtype)
    error = refused(
        stax.ShapeError,
        negative,
        ints,
        says="Integers to negative integer powers are not allowed",
        instead="float base",
    )
    as_numpy(error, negative, ints)


def power(x, y):
    return x**y


@pytest.mark.parametrize("backend", ["ref", "c"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_a_negative_exponent_met_at_run_time(dtype, backend):
    base, exponents = np.arange(5).astype(dtype), np.array([0, 1, 2, 3, 2], dtype)
    jitted = stax.jit(power, backend=backend)
    np.testing.assert_array_equal(jitted(base, exponents), base**exponents)
    exponents[3] = -1
    with pytest.raises(ValueError, match="Integers to negative integer powers") as caught:
        jitted(base, exponents)
    as_numpy(caught.value, power, base, exponents)


def test_no_elements_have_no_negative_power():
    empty = np.ones((0, 3), np.int64)
    got = stax.jit(negative, backend="ref")(empty)
    assert (got.shape, got.dtype) == ((0, 3), np.int64)


def beyond_floats(x):
    return x**10**400


def test_an_exponent_beyond_every_float():
    with pytest.raises(OverflowError) as caught:
        stax.jit(beyond_floats, backend="ref")(floats(3))
    as_numpy(caught.value, beyond_floats, floats(3))
