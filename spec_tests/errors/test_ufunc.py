"""Ufuncs that are not carried: a user's own, one for dates, and options that leave garbage."""

import numpy as np

import stax_ref as stax

from .refusal import as_numpy, floats, refused

OWN = np.frompyfunc(lambda a: a + 1, 1, 1)


def own(x):
    return OWN(x)  # refused


def test_a_ufunc_of_the_user():
    refused(
        stax.UnsupportedOperation,
        own,
        floats(3),
        says="(vectorized) is not supported inside a jitted function",
        instead="sqrt",
    )


def date(x):
    return np.isnat(x)  # refused


def test_dates():
    error = refused(stax.DtypeError, date, floats(3), says="np.isnat", instead="convert")
    as_numpy(error, date, floats(3))


def masked(x):
    return np.sqrt(x, where=x > 0)  # refused


def test_where_without_out():
    refused(
        stax.UnsupportedOperation,
        masked,
        floats(3),
        says="np.sqrt(..., where=...) is not supported",
        instead="np.where(mask, result, other)",
    )


def narrowed(x):
    return np.add(x, x, dtype=np.int32)  # refused


def test_a_dtype_that_numpy_refuses():
    error = refused(stax.DtypeError, narrowed, floats(3), says="Cannot cast", instead="convert")
    as_numpy(error, narrowed, floats(3))
