"""NumPy functions that are a few others: differences, traces, cross products, shifted spectra.

Takes operands of a traced call; gives the equations of the functions each is made of, so that they
fuse like anything else, with NumPy's refusals. Not here: those functions (``rearrange``,
``elementwise``, ``reductions``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError, user_frame
from ..tracer import Trace, Tracer
from .operands import no_options, normal_axes, traced


def diff(
    recording: Trace,
    a: Any,
    n: int = 1,
    axis: int = -1,
    prepend: Any = np._NoValue,
    append: Any = np._NoValue,
) -> Any:
    """``np.diff``: each element minus the one before it, ``n`` times; of bools, where they differ.

    Args:
        recording: of the traced function.
        a: array, at least one-dimensional.
        n: how often.
        axis: along which.
        prepend, append: an array or number put before or after ``a`` first.

    Raises:
        ShapeError: ``n`` is negative, or ``a`` has no axis.
    """
    if n < 0:
        raise ShapeError(
            f"order must be non-negative but got {n!r}", user_frame()[0], "n=0 or more"
        )
    if n == 0:
        return a
    value: Any = Tracer(recording, traced(recording, a, "diff"))
    if value.ndim == 0:
        raise ShapeError(
            "diff requires input that is at least one dimensional", user_frame()[0], "a vector"
        )
    (position,) = normal_axes(operator.index(axis), value.ndim)
    ends = [(prepend, 0), (append, 1)]
    parts = [value]
    for end, place in ends:
        if end is not np._NoValue:
            parts.insert(place * len(parts), _slab(end, value.shape, position))
    if len(parts) > 1:
        value = np.concatenate(parts, axis=position)
    before = (slice(None),) * position
    minus: Any = np.not_equal if value.dtype == np.bool_ else np.subtract
    for _ in range(n):
        value = minus(value[(*before, slice(1, None))], value[(*before, slice(None, -1))])
    return value


def _slab(end: Any, shape: tuple[int, ...], axis: int) -> Any:
    """What ``prepend`` and ``append`` stand for: a number is one slab of it."""
    array = end if isinstance(end, Tracer) else np.asanyarray(end)
    if array.ndim:
        return array
    return np.broadcast_to(array, (*shape[:axis], 1, *shape[axis + 1 :]))


def trace(
    recording: Trace,
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """``np.trace``: sums of diagonals, in the dtype of ``np.sum``."""
    no_options("trace", {"out": out})
    return np.sum(np.diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def matrix_trace(recording: Trace, x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """``np.linalg.trace``: sums of diagonals of the last two axes."""
    return trace(recording, x, offset, -2, -1, dtype)


def trapezoid(recording: Trace, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """``np.trapezoid``: the mean of neighbours times their distance, summed.

    Args:
        recording: of the traced function.
        y: array, at least one-dimensional.
        x: places of its elements: along the axis, or of the shape of ``y``.
        dx: their distance, without ``x``.
        axis: along which.
    """
    values: Any = y if isinstance(y, Tracer) else np.asarray(y)
    (axis,) = normal_axes(axis, values.ndim)
    distance: Any = dx
    if x is not None:
        distance = np.diff(x) if np.ndim(x) == 1 else np.diff(x, axis=axis)
        if np.ndim(x) == 1:
            shape = [1] * values.ndim
            shape[axis] = distance.shape[0]
            distance = distance.reshape(shape)
    before = (slice(None),) * axis
    second = values[(*before, slice(1, None))]
    first = values[(*before, slice(None, -1))]
    return (distance * (second + first) / 2.0).sum(axis)


def matrix_cross(recording: Trace, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """``np.linalg.cross``: cross products of vectors of three elements, which broadcast.

    Raises:
        ShapeError: the vectors have another length.
    """
    first, second = (Tracer(recording, traced(recording, x, "linalg.cross")) for x in (x1, x2))
    axes = [normal_axes(operator.index(axis), x.ndim)[0] for x in (first, second)]
    lengths = [x.shape[k] for x, k in zip((first, second), axes, strict=True)]
    if lengths != [3, 3]:
        raise ShapeError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{lengths[0]} and {lengths[1]} dimensional instead.",
            user_frame()[0],
            "vectors of three elements along the axis",
        )
    a = _unstacked(first, axes[0])
    b = _unstacked(second, axes[1])
    parts = [
        np.subtract(np.multiply(a[k], b[m]), np.multiply(a[m], b[k]))
        for k, m in ((1, 2), (2, 0), (0, 1))
    ]
    return np.stack(parts, axis=axis)


def _unstacked(x: Any, axis: int) -> list[Any]:
    before = (slice(None),) * axis
    return [x[(*before, k)] for k in range(x.shape[axis])]


def _shifted(back: bool) -> Callable[..., Any]:
    """``np.fft.fftshift``, or the shift back: frequency zero to the middle of the axes."""
    what = "fft.ifftshift" if back else "fft.fftshift"

    def handler(recording: Trace, x: Any, axes: Any = None) -> Any:
        value = traced(recording, x, what)
        chosen = range(len(value.shape)) if axes is None else axes
        chosen = (chosen,) if isinstance(chosen, int) else tuple(chosen)
        halves = [value.shape[k] // 2 for k in chosen]
        return np.roll(Tracer(recording, value), [-h if back else h for h in halves], chosen)

    return handler


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.trapezoid: trapezoid,
    np.diff: diff,
    np.trace: trace,
    np.linalg.trace: matrix_trace,
    np.linalg.cross: matrix_cross,
    np.fft.fftshift: _shifted(False),
    np.fft.ifftshift: _shifted(True),
}

METHODS_OF_FAMILY: dict[str, Callable[..., Any]] = {"trace": trace}
