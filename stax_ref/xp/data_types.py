"""The standard's dtypes, its functions about dtypes, and what the namespace says of itself.

Takes dtypes and arrays; gives dtypes, Python booleans and numbers. ``complex64`` and ``complex128``
are names of the standard; on such arrays every function is NumPy's own. Not here: arithmetic.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from .program import Array, standard

bool = np.dtype(np.bool_)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)
complex64 = np.dtype(np.complex64)
complex128 = np.dtype(np.complex128)


def _same_dtype(x: Array, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    return not copy and x.dtype == dtype


@functools.partial(standard, unless=_same_dtype)
def astype(x: Array, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Array:
    """The array in another dtype; ``copy=False`` gives the array itself if it has that dtype."""
    if device not in (None, "cpu"):
        raise ValueError(f"Device not understood. Only 'cpu' is allowed, but received: {device}")
    return np.astype(x, dtype, copy=copy)


@standard
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together."""
    return np.broadcast_shapes(*shapes)


@standard
def can_cast(from_: Any, to: Any, /) -> Any:
    """True when every value of one dtype is one of the other, by NumPy's rules."""
    return np.can_cast(from_.dtype if isinstance(from_, np.ndarray) else from_, to)


@dataclass(frozen=True)
class FloatInfo:
    """What ``finfo`` says, in Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


@dataclass(frozen=True)
class IntegerInfo:
    """What ``iinfo`` says."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


@standard
def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating-point dtype (of its parts, if it is complex), or of an array's."""
    info = np.finfo(getattr(type, "dtype", type))
    return FloatInfo(
        info.bits,
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
        np.dtype(info.dtype),
    )


@standard
def iinfo(type: Any, /) -> IntegerInfo:
    """Limits of an integer dtype, or of an array's."""
    info = np.iinfo(getattr(type, "dtype", type))
    return IntegerInfo(info.bits, int(info.max), int(info.min), np.dtype(info.dtype))


@standard
def isdtype(dtype: Any, kind: Any) -> Any:
    """True when a dtype is this one, or of this kind, or of one of these."""
    return np.isdtype(dtype, kind)


@standard
def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that these arrays, dtypes and Python numbers give together."""
    return np.result_type(*arrays_and_dtypes)


@standard
def __array_namespace_info__() -> Any:  # noqa: N807  # the name is the standard's
    """Capabilities, devices and dtypes, in NumPy's object for them: the arrays are NumPy's."""
    return np.__array_namespace_info__()
