"""The standard's creation functions, on the one device there is.

Takes shapes, numbers, arrays to imitate; gives arrays. ``device`` is None or ``"cpu"``, as NumPy
takes it. Not here: which of them run as jitted programs (``table``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .program import Array, standard

Shape = int | Sequence[int]


@standard
def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """Evenly spaced values of the half-open interval from ``start`` to ``stop``."""
    if stop is None:
        start, stop = 0, start
    return np.arange(start, stop, step, dtype=dtype, device=device)


@standard
def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Array:
    """An array of ``obj``: an array, a number, nested sequences, or anything with a buffer."""
    return np.asarray(obj, dtype=dtype, device=device, copy=copy)


@standard
def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """An array whose elements are not set."""
    return np.empty(shape, dtype=dtype, device=device)


@standard
def empty_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of the shape of ``x`` whose elements are not set."""
    return np.empty_like(x, dtype=dtype, order="C", device=device)


@standard
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """Ones on the ``k``-th diagonal of a matrix, zeros elsewhere."""
    return np.eye(n_rows, n_cols, k=k, dtype=float if dtype is None else dtype, device=device)


@standard
def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """The array behind an object with the DLPack protocol."""
    return np.from_dlpack(x, device=device, copy=copy)


@standard
def full(shape: Shape, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value."""
    return np.full(shape, fill_value, dtype=dtype, device=device)


@standard
def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value, of the shape of ``x``."""
    _check_device(device)
    return np.full_like(x, fill_value, dtype=dtype)


@standard
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Array:
    """``num`` evenly spaced values from ``start`` to ``stop``."""
    return np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, device=device)


@standard
def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Coordinate matrices of one-dimensional arrays."""
    return list(np.meshgrid(*arrays, indexing=indexing))  # type: ignore[call-overload]


@standard
def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of ones."""
    return np.ones(shape, dtype=dtype, device=device)


@standard
def ones_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of ones, of the shape of ``x``."""
    _check_device(device)
    return np.ones_like(x, dtype=dtype)


@standard
def tril(x: Array, /, *, k: int = 0) -> Array:
    """The part of each matrix on and below its ``k``-th diagonal, zeros elsewhere."""
    return np.tril(x, k=k)


@standard
def triu(x: Array, /, *, k: int = 0) -> Array:
    """The part of each matrix on and above its ``k``-th diagonal, zeros elsewhere."""
    return np.triu(x, k=k)


@standard
def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros."""
    return np.zeros(shape, dtype=dtype, device=device)


@standard
def zeros_like(x: Array, /, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros, of the shape of ``x``."""
    _check_device(device)
    return np.zeros_like(x, dtype=dtype)


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"Device not understood. Only 'cpu' is allowed, but received: {device}")
