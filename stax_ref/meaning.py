"""What a scalar operation means on whole arrays, where NumPy's function alone does not say it.

Takes arrays or NumPy scalars of one dtype; gives an array or scalar of the result's dtype, without
warning or error: what NumPy would complain about raises a flag elsewhere (``interpret``). Holds the
one table of conversions from float to integer (:func:`cast`). Not here: the list of operations
(``ops``), the sequences of exp, log and tanh (``elementary``), the C library (``libm``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import elementary, libm
from .dtypes import F16, F32, I32, I64, U64


def maximum(a: Any, b: Any) -> Any:
    """np.maximum with +0.0 > -0.0; a NaN operand gives NaN (semantics 2)."""
    return _zeros_ordered(np.maximum(a, b), a, b, larger=True)


def minimum(a: Any, b: Any) -> Any:
    """np.minimum with -0.0 < +0.0; a NaN operand gives NaN (semantics 2)."""
    return _zeros_ordered(np.minimum(a, b), a, b, larger=False)


def fmax(a: Any, b: Any) -> Any:
    """np.fmax with +0.0 > -0.0; the other operand where one is NaN."""
    return _zeros_ordered(np.fmax(a, b), a, b, larger=True)


def fmin(a: Any, b: Any) -> Any:
    """np.fmin with -0.0 < +0.0; the other operand where one is NaN."""
    return _zeros_ordered(np.fmin(a, b), a, b, larger=False)


def _zeros_ordered(result: Any, a: Any, b: Any, larger: bool) -> Any:
    if result.dtype.kind != "f":
        return result
    both_zero = (a == 0) & (b == 0)
    first, second = (b, a) if larger else (a, b)
    return np.where(both_zero, np.where(np.signbit(a), first, second), result)


def sequence(name: str) -> Any:
    """exp, log or tanh; float16 runs the float32 sequence and rounds its result."""

    def meaning(x: Any) -> Any:
        array = np.asarray(x)
        if array.dtype == F16:
            return elementary.evaluate(name, array.astype(F32)).astype(F16)
        return elementary.evaluate(name, array)

    return meaning


def from_libm(name: str) -> Any:
    """A function of the C library (``libm``)."""
    return lambda *args: libm.call(name, *args)


def power(a: Any, b: Any) -> Any:
    """a to the b: floats by the C library, integers wrap; a negative integer exponent gives 0.

    NumPy refuses that exponent; so does the call, through a flag.
    """
    dtype = np.asarray(a).dtype
    if dtype.kind == "f":
        return libm.call("power", a, b)
    if dtype.kind == "u":
        return np.power(a, b)
    negative = np.less(b, 0)
    return np.where(negative, dtype.type(0), np.power(a, np.where(negative, dtype.type(0), b)))


def cast(value: Any, dtype: np.dtype) -> Any:
    """``value.astype(dtype)``, with one rule for NaN and floats that the integer cannot hold.

    * int32, int64: the smallest integer, as x86 conversions give.
    * int8, int16, uint8, uint16, uint32: the low bits of the conversion to int64, so -1.0 is 255
      as a uint8, and NaN is 0.
    * uint64: exact from 2**63 to 2**64, otherwise the conversion to int64 reread as unsigned.

    NumPy's own results there vary with dtype, position and vector path.
    """
    array = np.asarray(value)
    if array.dtype.kind != "f" or dtype.kind not in "iu":
        return array.astype(dtype)
    if dtype in (I32, I64):
        return _to_signed(array, dtype)
    if dtype != U64:
        return _to_signed(array, I64).astype(dtype)
    two63 = 2.0**63
    wide = array.astype(np.float64)
    large = (wide >= two63) & (wide < 2 * two63)
    upper = np.where(large, wide - two63, 0).astype(U64) + U64.type(2**63)
    return np.where(large, upper, _to_signed(wide, I64).astype(U64))


def _to_signed(array: np.ndarray, dtype: np.dtype) -> Any:
    """To int32 or int64; NaN and what lies outside gives the smallest integer."""
    lowest = np.iinfo(dtype).min
    if array.dtype == F16:
        array = array.astype(F32)  # whose range holds the ends
    inside = (array >= float(lowest)) & (array < -float(lowest))
    return np.where(inside, np.where(inside, array, 0).astype(dtype), dtype.type(lowest))
