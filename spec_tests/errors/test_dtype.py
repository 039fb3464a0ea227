"""Dtypes that are not carried: as an argument, captured, as a result, as a target."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused

CARRIED = (
    "carried are bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, "
    "float64"
)


def identity(x):
    return x + x


@pytest.mark.parametrize(
    "dtype", ["complex64", "complex128", "longdouble", "object", "U3", "S2", "M8[s]", "m8[s]", "V3"]
)
def test_an_argument(dtype):
    array = np.zeros(3, dtype)
    refused(
        stax.DtypeError,
        identity,
        array,
        says=f"the argument x has dtype {array.dtype}",
        instead=CARRIED,
    )


LONG = np.ones(3, np.longdouble)


def captured(x):
    return x + LONG  # refused


def test_a_captured_array():
    refused(
        stax.DtypeError,
        captured,
        floats(3),
        says=f"a captured array has dtype {LONG.dtype}",
        instead=CARRIED,
    )


def target(x):
    return x.astype(np.complex64)  # refused


def test_a_target():
    refused(
        stax.DtypeError,
        target,
        floats(3),
        says="astype would have dtype complex64",
        instead=CARRIED,
    )


def scalar(x):
    return x * np.complex64(2)  # refused


def number(x):
    return x * 2j  # refused


@pytest.mark.parametrize("function", [scalar, number])
def test_a_complex_operand(function):
    refused(
        stax.DtypeError,
        function,
        floats(3),
        says="complex",
        instead="",
    )


def test_other_byte_order_is_carried():
    swapped = np.arange(3, dtype=np.dtype(np.float32).newbyteorder())
    np.testing.assert_array_equal(stax.jit(identity, backend="ref")(swapped), [0, 2, 4])
