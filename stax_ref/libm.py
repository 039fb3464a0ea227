"""libm: the C library's own functions of doubles, applied to arrays.

Takes a NumPy name (``arcsin``) and arrays of one float dtype; gives the value the C function
(``asin``) has in double precision, rounded once to the dtype (float16: to float32, then to
float16). Kernels call the very same functions lane by lane, so oracle and C agree by construction.
The library is loaded at the first call. Holds which functions there are and the largest error each
may have (:data:`ULP`). Not here: functions with a sequence of their own (``elementary``).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .dtypes import F16, F32, F64

SYMBOLS: dict[str, tuple[str, int]] = {
    "sin": ("sin", 1),
    "cos": ("cos", 1),
    "tan": ("tan", 1),
    "arcsin": ("asin", 1),
    "arccos": ("acos", 1),
    "arctan": ("atan", 1),
    "arctan2": ("atan2", 2),
    "sinh": ("sinh", 1),
    "cosh": ("cosh", 1),
    "arcsinh": ("asinh", 1),
    "arccosh": ("acosh", 1),
    "arctanh": ("atanh", 1),
    "exp2": ("exp2", 1),
    "expm1": ("expm1", 1),
    "log2": ("log2", 1),
    "log10": ("log10", 1),
    "log1p": ("log1p", 1),
    "cbrt": ("cbrt", 1),
    "hypot": ("hypot", 2),
    "erf": ("erf", 1),
    "power": ("pow", 2),
}
"""Per operation of ``ops.OPS``: the C function of doubles and its number of arguments."""

ULP: dict[str, float] = {
    **dict.fromkeys("sin cos tan arcsin arccos arctan arctan2 exp2 expm1 log2 log1p".split(), 1.0),
    **dict.fromkeys("hypot erf power".split(), 1.0),
    **dict.fromkeys("sinh cosh arcsinh arccosh arctanh log10".split(), 2.0),
    "cbrt": 4.0,
    "sigmoid": 4.0,
}
"""Largest error of a function of doubles in ulp, as the manual of the GNU C library states it for
x86-64 (Errors in Math Functions). ``sigmoid`` is counted here too: exp, a sum and a quotient."""

_LIBRARIES = (None, "libm.so.6", "libm.so", "libm.dylib")
"""Where the functions are looked for: in this process first, as a kernel's linker does."""


@functools.cache
def function(name: str) -> Callable[..., float]:
    """The C function behind an operation, on Python floats.

    Raises:
        OSError: this system has no such function.
    """
    symbol, arity = SYMBOLS[name]
    for library in _LIBRARIES:
        try:
            found = getattr(ctypes.CDLL(library), symbol)
        except (OSError, AttributeError):
            continue
        found.restype = ctypes.c_double
        found.argtypes = [ctypes.c_double] * arity
        return found  # type: ignore[no-any-return]  # a ctypes function with these types
    raise OSError(f"no C library with the function {symbol}")


def call(name: str, *args: Any) -> Any:
    """The function of every element.

    Args:
        name: a name of :data:`SYMBOLS`.
        *args: arrays or NumPy scalars of one float dtype, broadcast against each other.

    Returns:
        an array of that dtype, or a NumPy scalar when every argument is 0-d.
    """
    arrays = np.broadcast_arrays(*args)
    dtype, shape = arrays[0].dtype, arrays[0].shape
    lists = [array.astype(F64).ravel().tolist() for array in arrays]
    values = np.fromiter(map(function(name), *lists), F64, arrays[0].size).reshape(shape)
    if dtype == F16:
        values = values.astype(F32)
    return values.astype(dtype)[()]
