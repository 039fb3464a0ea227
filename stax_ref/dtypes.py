"""The dtypes Stax carries, their short names, and the dtypes of Python's own numbers.

Takes NumPy dtypes and Python scalar types; gives canonical ``numpy.dtype`` objects and short names
(``f32``) for printing and for C. Holds no promotion table: ``ufunc.resolve_dtypes`` *is* the rule,
weak Python scalars (NEP 50) included. Not here: values and casts (``meaning``).
"""

from __future__ import annotations

import numpy as np

BOOL = np.dtype(np.bool_)
I8, I16, I32, I64 = (np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64))
U8, U16, U32, U64 = (np.dtype(t) for t in (np.uint8, np.uint16, np.uint32, np.uint64))
F16, F32, F64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))

SHORT: dict[np.dtype, str] = {
    BOOL: "bool",
    I8: "i8",
    I16: "i16",
    I32: "i32",
    I64: "i64",
    U8: "u8",
    U16: "u16",
    U32: "u32",
    U64: "u64",
    F16: "f16",
    F32: "f32",
    F64: "f64",
}
"""Every carried dtype and its short name."""

_WEAK_DTYPE: dict[type, np.dtype] = {bool: BOOL, int: I64, float: F64}


def is_supported(dtype: np.dtype) -> bool:
    """True when Stax carries this dtype (native byte order)."""
    return dtype in SHORT and dtype.isnative


def is_integer(dtype: np.dtype) -> bool:
    """True for signed and unsigned integers, not for bool."""
    return dtype.kind in "iu"


def supported_names() -> str:
    """The names of the carried dtypes, for messages."""
    return ", ".join(str(dtype) for dtype in SHORT)


def short(dtype: np.dtype) -> str:
    """The short name of a dtype: ``f32``, ``i64``, ``bool``."""
    return SHORT.get(dtype, str(dtype))


def scalar_dtype(kind: type) -> np.dtype:
    """The dtype that holds a Python scalar of type ``bool``, ``int`` or ``float``."""
    return _WEAK_DTYPE[kind]


def way_out(dtype: np.dtype) -> str:
    """What to use in place of an array of a dtype that is not carried."""
    if dtype.names:
        return f"one array per field, x[{dtype.names[0]!r}], say"
    return _WAYS_OUT.get(dtype.kind, "x.astype(np.float64)")


_WAYS_OUT = {
    "c": "two arrays, x.real and x.imag",
    "O": "x.astype(np.float64), if its elements are numbers",
    "U": "numbers for the strings, np.unique(x, return_inverse=True)[1]",
    "S": "numbers for the strings, np.unique(x, return_inverse=True)[1]",
    "T": "numbers for the strings, np.unique(x, return_inverse=True)[1]",
    "M": "x.view(np.int64), which counts its unit",
    "m": "x.view(np.int64), which counts its unit",
    "V": "x.view of a dtype of numbers",
}
