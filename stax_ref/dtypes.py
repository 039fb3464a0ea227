"""The dtypes Stax carries, their short names, and NumPy's promotion asked of NumPy itself.

Takes NumPy dtypes and Python scalar types; gives canonical ``numpy.dtype`` objects and short names
(``f32``) for printing and for C. Holds no promotion table: ``ufunc.resolve_dtypes`` *is* the rule,
weak Python scalars (NEP 50) included. Not here: values and casts (``ops``).
"""

from __future__ import annotations

import numpy as np

F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
I32 = np.dtype(np.int32)
I64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)

SHORT: dict[np.dtype, str] = {F32: "f32", F64: "f64", I32: "i32", I64: "i64", BOOL: "bool"}

_WEAK_DTYPE: dict[type, np.dtype] = {bool: BOOL, int: I64, float: F64}


def is_supported(dtype: np.dtype) -> bool:
    """True when Stax carries this dtype (native byte order)."""
    return dtype in SHORT and dtype.isnative


def supported_names() -> str:
    """The names of the carried dtypes, for messages."""
    return ", ".join(str(dtype) for dtype in SHORT)


def short(dtype: np.dtype) -> str:
    """The short name of a dtype: ``f32``, ``i64``, ``bool``."""
    return SHORT.get(dtype, str(dtype))


def scalar_dtype(kind: type) -> np.dtype:
    """The dtype that holds a Python scalar of type ``bool``, ``int`` or ``float``."""
    return _WEAK_DTYPE[kind]
