"""Arrays rearranged: flipped, rolled, repeated, cut along diagonals, without a copy.

Takes operands of a traced call; gives equations that only rewrite or guard indices
(``compose.VIEWS``, ``assemble``), with NumPy's shape and dtype or NumPy's refusal with the user's
line. Not here: plain views and indexing (``shapes``, ``indexing``), joining (``joining``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError, user_frame
from ..graph import Value, literal
from ..tracer import Trace, Tracer
from .elementwise import pointwise
from .joining import concatenate
from .operands import known_integers, normal_axes, traced
from .shapes import basic_item, permute, reshape, swapaxes


def flip(recording: Trace, m: Any, axis: Any = None) -> Tracer:
    """``np.flip``: the axes given, or all, backwards."""
    value = traced(recording, m, "flip")
    axes = normal_axes(axis, len(value.shape))
    key = tuple(
        slice(None, None, -1) if k in axes else slice(None) for k in range(len(value.shape))
    )
    return basic_item(Tracer(recording, value), key)


def fliplr(recording: Trace, m: Any) -> Tracer:
    """``np.fliplr``."""
    _at_least(traced(recording, m, "fliplr"), 2, "fliplr")
    return flip(recording, m, 1)


def flipud(recording: Trace, m: Any) -> Tracer:
    """``np.flipud``."""
    _at_least(traced(recording, m, "flipud"), 1, "flipud")
    return flip(recording, m, 0)


def _at_least(value: Value, ndim: int, what: str) -> None:
    if len(value.shape) < ndim:
        raise ShapeError(f"Input must be >= {ndim}-d.", user_frame()[0], f"np.{what} of a matrix")


def rot90(recording: Trace, m: Any, k: int = 1, axes: Any = (0, 1)) -> Tracer:
    """``np.rot90``: quarter turns from the first axis towards the second."""
    value = traced(recording, m, "rot90")
    ndim = len(value.shape)
    first, second = (normal_axes(axis, ndim)[0] for axis in axes)
    if len(axes) != 2 or first == second:
        raise ShapeError("Axes must be different.", user_frame()[0], "two axes")
    order = list(range(ndim))
    order[first], order[second] = order[second], order[first]
    turns = operator.index(k) % 4
    x = Tracer(recording, value)
    if turns == 0:
        return x
    if turns == 2:
        return flip(recording, x, (first, second))
    if turns == 1:
        return permute(recording, flip(recording, x, second), tuple(order))
    return flip(recording, permute(recording, x, tuple(order)), second)


def roll(recording: Trace, a: Any, shift: Any, axis: Any = None) -> Tracer:
    """``np.roll``: elements that leave at one end come in at the other."""
    value = traced(recording, a, "roll")
    if axis is None:
        total = sum(int(s) for s in np.atleast_1d(shift))
        flat = reshape(recording, Tracer(recording, value), (-1,))
        return reshape(recording, roll(recording, flat, total, 0), value.shape)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = [0] * len(value.shape)
    for s, k in np.broadcast(np.atleast_1d(shift), np.atleast_1d(given)):
        (place,) = normal_axes(int(k), len(value.shape))
        shifts[place] += int(s)
    shifts = [s % extent if extent else 0 for s, extent in zip(shifts, value.shape, strict=True)]
    return recording.record("roll", (value,), value.shape, value.dtype, shifts=tuple(shifts))


def repeat(recording: Trace, a: Any, repeats: Any, axis: Any = None) -> Tracer:
    """``np.repeat`` with a number, or a known number for each element."""
    value = traced(recording, a, "repeat")
    x = Tracer(recording, value)
    if axis is None:
        return repeat(recording, reshape(recording, x, (-1,)), repeats, 0)
    (place,) = normal_axes(axis, len(value.shape))
    counts = np.atleast_1d(known_integers(repeats, "the repeats of np.repeat"))
    if np.any(counts < 0):
        raise ShapeError("repeats may not contain negative values.", user_frame()[0])
    extent = value.shape[place]
    if counts.size == 1:
        number = int(counts[0])
        shape = (*value.shape[:place], extent * number, *value.shape[place + 1 :])
        if number == 0:
            return _empty(recording, shape, value.dtype)
        return recording.record("repeat", (value,), shape, value.dtype, repeats=number, axis=place)
    if counts.shape != (extent,):
        raise ShapeError(
            f"operands could not be broadcast together with shape ({extent},) {counts.shape}",
            user_frame()[0],
            "one number of repeats, or one for each element along the axis",
        )
    parts = [
        repeat(recording, basic_item(x, (*(slice(None),) * place, slice(k, k + 1))), int(n), place)
        for k, n in enumerate(counts)
    ]
    return concatenate(recording, parts, place) if parts else x


def _empty(recording: Trace, shape: tuple[int, ...], dtype: np.dtype) -> Tracer:
    return recording.record("broadcast_to", (literal(0, dtype),), shape, dtype)


def tile(recording: Trace, A: Any, reps: Any) -> Tracer:  # noqa: N803  NumPy's own name
    """``np.tile``."""
    value = traced(recording, A, "tile")
    counts = [int(n) for n in np.atleast_1d(known_integers(reps, "the reps of np.tile"))]
    ndim = max(len(counts), len(value.shape))
    counts = [1] * (ndim - len(counts)) + counts
    padded = (1,) * (ndim - len(value.shape)) + value.shape
    shape = tuple(extent * n for extent, n in zip(padded, counts, strict=True))
    if 0 in shape:
        return _empty(recording, shape, value.dtype)
    x = reshape(recording, Tracer(recording, value), padded)
    return recording.record("tile", (x._value,), shape, value.dtype)


def triangle(lower: bool) -> Callable[..., Any]:
    """``np.tril`` and ``np.triu``: 0 beyond a diagonal."""

    def handler(recording: Trace, m: Any, k: int = 0) -> Tracer:
        value = traced(recording, m, "tril" if lower else "triu")
        _at_least(value, 1, "atleast_2d")
        x = Tracer(recording, value)
        if len(value.shape) == 1:
            x = recording.record("broadcast_to", (value,), value.shape * 2, value.dtype)
        rows, columns = x.shape[-2:]
        number = np.dtype(np.int64)
        i = recording.record("iota", (), (rows,), number, start=int(k), step=1)
        j = recording.record("iota", (), (columns,), number, start=0, step=1)
        i = reshape(recording, i, (rows, 1))
        keep = pointwise(recording, np.greater_equal if lower else np.less_equal, (i, j))
        shape = (keep._value, x._value, literal(0, value.dtype))
        return recording.record("where", shape, x.shape, value.dtype)

    return handler


def diagonal(recording: Trace, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tracer:
    """``np.diagonal``: one view of two axes together, last in the result."""
    value = traced(recording, a, "diagonal")
    ndim = len(value.shape)
    if ndim < 2:
        raise ShapeError(
            "diag requires an array of at least two dimensions", user_frame()[0], "a matrix"
        )
    (row,), (column,) = normal_axes(axis1, ndim), normal_axes(axis2, ndim)
    if row == column:
        raise ShapeError("axis1 and axis2 cannot be the same", user_frame()[0], "two axes")
    offset = operator.index(offset)
    length = min(value.shape[row] + min(offset, 0), value.shape[column] - max(offset, 0))
    kept = tuple(extent for k, extent in enumerate(value.shape) if k not in (row, column))
    shape = (*kept, max(length, 0))
    return recording.record("diagonal", (value,), shape, value.dtype, axes=(row, column, offset))


def diag(recording: Trace, v: Any, k: int = 0) -> Tracer:
    """``np.diag``: the diagonal of a matrix, or the matrix of a diagonal."""
    value = traced(recording, v, "diag")
    if len(value.shape) == 2:
        return diagonal(recording, v, k)
    if len(value.shape) != 1:
        raise ShapeError("Input must be 1- or 2-d.", user_frame()[0], "a vector or a matrix")
    extent = value.shape[0] + abs(operator.index(k))
    whole = _empty(recording, (extent, extent), value.dtype)
    return recording.record(
        "put",
        (whole._value, value),
        whole.shape,
        value.dtype,
        view="diagonal",
        axes=(0, 1, int(k)),
        part=value.shape,
    )


def diagflat(recording: Trace, v: Any, k: int = 0) -> Tracer:
    """``np.diagflat``."""
    return diag(recording, reshape(recording, v, (-1,)), k)


def _shifted(axes: Sequence[int], ndim: int, count: int) -> tuple[int, ...]:
    if len(axes) != count:
        raise ShapeError(
            "`source` and `destination` arguments must have the same number of elements",
            user_frame()[0],
        )
    normal = tuple(normal_axes(axis, ndim)[0] for axis in axes)
    if len(set(normal)) != len(normal):
        raise ShapeError("repeated axis in `source` or `destination` argument", user_frame()[0])
    return normal


def moveaxis(recording: Trace, a: Any, source: Any, destination: Any) -> Tracer:
    """``np.moveaxis``."""
    value = traced(recording, a, "moveaxis")
    ndim = len(value.shape)
    froms = source if isinstance(source, (tuple, list)) else (source,)
    tos = destination if isinstance(destination, (tuple, list)) else (destination,)
    taken, given = _shifted(froms, ndim, len(tos)), _shifted(tos, ndim, len(froms))
    order = [k for k in range(ndim) if k not in taken]
    for to, axis in sorted(zip(given, taken, strict=True)):
        order.insert(to, axis)
    return permute(recording, Tracer(recording, value), tuple(order))


def rollaxis(recording: Trace, a: Any, axis: int, start: int = 0) -> Tracer:
    """``np.rollaxis``."""
    ndim = len(traced(recording, a, "rollaxis").shape)
    (place,) = normal_axes(axis, ndim)
    to = start + ndim if start < 0 else start
    return moveaxis(recording, a, place, to - 1 if place < to else to)


def matrix_transpose(recording: Trace, x: Any) -> Tracer:
    """``np.matrix_transpose``: the last two axes exchanged."""
    value = traced(recording, x, "matrix_transpose")
    _at_least(value, 2, "matrix_transpose")
    return swapaxes(recording, Tracer(recording, value), -1, -2)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.flip: flip,
    np.fliplr: fliplr,
    np.flipud: flipud,
    np.rot90: rot90,
    np.roll: roll,
    np.repeat: repeat,
    np.tile: tile,
    np.tril: triangle(True),
    np.triu: triangle(False),
    np.diagonal: diagonal,
    np.diag: diag,
    np.diagflat: diagflat,
    np.moveaxis: moveaxis,
    np.rollaxis: rollaxis,
    np.matrix_transpose: matrix_transpose,
    np.linalg.diagonal: lambda recording, x, /, *, offset=0: diagonal(recording, x, offset, -2, -1),
    np.linalg.matrix_transpose: matrix_transpose,
}

METHODS: dict[str, Callable[..., Any]] = {"repeat": repeat, "diagonal": diagonal}
