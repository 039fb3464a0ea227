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


@pytest.mark.parametrize(
    ("dtype", "instead"),
    [
        ("complex64", "two arrays, x.real and x.imag"),
        (">c16", "two arrays, x.real and x.imag"),
        ("longdouble", "x.astype(np.float64)"),
        ("object", "x.astype(np.float64), if its elements are numbers"),
        ("U3", "np.unique(x, return_inverse=True)[1]"),
        ("S2", "np.unique(x, return_inverse=True)[1]"),
        (np.dtypes.StringDType(), "np.unique(x, return_inverse=True)[1]"),
        (">M8[s]", "x.view(np.int64)"),
        ("m8[s]", "x.view(np.int64)"),
        ("V3", "x.view of a dtype of numbers"),
        ([("a", "f4"), ("b", ">i2")], "one array per field, x['a'], say"),
    ],
    ids=str,
)
def test_the_way_out_of_each_kind(dtype, instead):
    for value in (np.zeros(3, dtype), np.zeros((), dtype), np.zeros((2, 0), dtype)[:, ::-1]):
        refused(
            stax.DtypeError,
            lambda p: p["x"],
            {"x": value},
            says='the argument p["x"] has dtype ',
            instead=instead,
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
