"""Arrays rearranged: flipped, rolled, repeated, joined, split and padded, without a copy.

Takes operands of a traced call; gives equations that only rewrite or guard indices
(``compose.VIEWS``, ``assemble``), with NumPy's shape and dtype or NumPy's refusal with the user's
line. Not here: plain views and indexing (``shapes``, ``indexing``).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ShapeError, UnsupportedOperation, user_frame
from ..graph import Value, literal
from ..tracer import Trace, Tracer
from .elementwise import pointwise
from .operands import carried, convert, describe, no_options, normal_axes, traced
from .shapes import basic_item, expand_dims, permute, reshape, swapaxes


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


def known_integers(given: Any, what: str) -> np.ndarray:
    """Integers that must be known while tracing, because a shape depends on them."""
    if isinstance(given, Tracer):
        raise UnsupportedOperation(
            f"{what} decide a shape and are traced", user_frame()[0], "numbers, or static_argnames"
        )
    numbers = np.asarray(given)
    return numbers.astype(np.int64, casting="safe" if numbers.size else "unsafe")


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


def concatenate(
    recording: Trace, arrays: Any, axis: Any = 0, out: Any = None, **kwargs: Any
) -> Tracer:
    """``np.concatenate``: arrays one after another, each read only in its own place."""
    dtype, casting = kwargs.pop("dtype", None), kwargs.pop("casting", "same_kind")
    no_options("concatenate", {"out": out, **kwargs})
    parts = [as_part(recording, entry) for entry in _sequence(arrays, "concatenate")]
    if axis is None:
        flat = [reshape(recording, part, (-1,)) for part in parts]
        return concatenate(recording, flat, 0, dtype=dtype, casting=casting)
    first = parts[0]
    if first.ndim == 0:
        raise ShapeError(
            "zero-dimensional arrays cannot be concatenated", user_frame()[0], "np.stack"
        )
    (place,) = normal_axes(axis, first.ndim)
    for number, part in enumerate(parts):
        _agree(first, part, place, number)
    target = np.result_type(*(part.dtype for part in parts)) if dtype is None else np.dtype(dtype)
    carried(target, "np.concatenate")
    for part in parts:
        if not np.can_cast(part.dtype, target, casting):
            raise UnsupportedOperation(
                f"Cannot cast array data from {part.dtype!r} to {target!r} "
                f"according to the rule {casting!r}",
                user_frame()[0],
                ".astype first",
            )
    operands = [convert(recording, None, part._value, target) for part in parts]
    total = sum(part.shape[place] for part in parts)
    shape = (*first.shape[:place], total, *first.shape[place + 1 :])
    return recording.record("concatenate", operands, shape, target, axis=place)


def _sequence(arrays: Any, what: str) -> list[Any]:
    if isinstance(arrays, (Tracer, np.ndarray)) and arrays.ndim:
        arrays = [arrays[k] for k in range(arrays.shape[0])]
    if not isinstance(arrays, (list, tuple)) or not arrays:
        raise ShapeError(
            f"need at least one array to {what}", user_frame()[0], "a list or tuple of arrays"
        )
    return list(arrays)


def as_part(recording: Trace, entry: Any) -> Tracer:
    """An operand as a traced array, numbers and lists included."""
    operand, _ = describe(recording, entry)
    if isinstance(operand, Value) and not operand.weak:
        return Tracer(recording, operand)
    if isinstance(operand, Value):
        return recording.record("broadcast_to", (operand,), (), operand.dtype)
    constant = literal(entry, np.asarray(entry).dtype)
    return recording.record("broadcast_to", (constant,), (), constant.dtype)


def _agree(first: Tracer, part: Tracer, place: int, number: int) -> None:
    if part.ndim != first.ndim:
        raise ShapeError(
            "all the input array dimensions must match, but the array at index 0 has "
            f"{first.ndim} and the array at index {number} has {part.ndim}",
            user_frame()[0],
            "[None] adds an axis",
        )
    for k in range(first.ndim):
        if k != place and part.shape[k] != first.shape[k]:
            raise ShapeError(
                f"all the input array dimensions except for the concatenation axis must match "
                f"exactly, but along dimension {k}, the array at index 0 has size "
                f"{first.shape[k]} and the array at index {number} has size {part.shape[k]}",
                user_frame()[0],
                "equal shapes beside the axis",
            )


def stack(recording: Trace, arrays: Any, axis: Any = 0, out: Any = None, **kwargs: Any) -> Tracer:
    """``np.stack``: arrays of one shape along a new axis."""
    parts = [as_part(recording, entry) for entry in _sequence(arrays, "stack")]
    if any(part.shape != parts[0].shape for part in parts):
        raise ShapeError(
            "all input arrays must have the same shape", user_frame()[0], "np.broadcast_arrays"
        )
    raised = [expand_dims(recording, part, axis) for part in parts]
    (place,) = normal_axes(axis, raised[0].ndim)
    return concatenate(recording, raised, place, out, **kwargs)


def atleast(ndim: int) -> Callable[..., Any]:
    """``np.atleast_1d``, ``2d`` and ``3d``."""

    def raised(recording: Trace, entry: Any) -> Tracer:
        x = as_part(recording, entry)
        have = x.shape
        if len(have) >= ndim:
            return x
        if ndim == 3:
            shape = {0: (1, 1, 1), 1: (1, *have, 1), 2: (*have, 1)}[len(have)]
        else:
            shape = (1,) * (ndim - len(have)) + have
        return reshape(recording, x, shape)

    def handler(recording: Trace, *arrays: Any) -> Any:
        found = tuple(raised(recording, entry) for entry in arrays)
        return found[0] if len(found) == 1 else found

    return handler


def _stacker(ndim: int, axis: int) -> Callable[..., Any]:
    """``vstack``, ``dstack``: operands raised, then joined."""

    def handler(recording: Trace, tup: Any, **kwargs: Any) -> Tracer:
        parts = [atleast(ndim)(recording, entry) for entry in _sequence(tup, "concatenate")]
        return concatenate(recording, parts, axis, **kwargs)

    return handler


def hstack(recording: Trace, tup: Any, **kwargs: Any) -> Tracer:
    """``np.hstack``: along the second axis, or the first of vectors."""
    parts = [atleast(1)(recording, entry) for entry in _sequence(tup, "concatenate")]
    return concatenate(recording, parts, 0 if parts[0].ndim == 1 else 1, **kwargs)


def column_stack(recording: Trace, tup: Any) -> Tracer:
    """``np.column_stack``: vectors as columns."""
    parts = [as_part(recording, entry) for entry in _sequence(tup, "concatenate")]
    raised = [reshape(recording, p, (p.size, 1)) if p.ndim < 2 else p for p in parts]
    return concatenate(recording, raised, 1)


def append(recording: Trace, arr: Any, values: Any, axis: Any = None) -> Tracer:
    """``np.append``."""
    return concatenate(recording, [arr, values], axis)


def array_split(recording: Trace, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """``np.array_split``: slices; sections may differ by one in length."""
    x = Tracer(recording, traced(recording, ary, "array_split"))
    (place,) = normal_axes(axis, x.ndim)
    extent = x.shape[place]
    if isinstance(indices_or_sections, (int, np.integer)):
        count = int(indices_or_sections)
        if count <= 0:
            raise ShapeError("number sections must be larger than 0.", user_frame()[0])
        each, more = divmod(extent, count)
        sizes = [each + 1] * more + [each] * (count - more)
        ends = np.cumsum([0, *sizes]).tolist()
    else:
        ends = [0, *known_integers(indices_or_sections, "the indices of a split").tolist(), extent]
    whole = (slice(None),) * place
    return [basic_item(x, (*whole, slice(a, b))) for a, b in itertools.pairwise(ends)]


def split(recording: Trace, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """``np.split``: equal sections, or between the indices given."""
    x = Tracer(recording, traced(recording, ary, "split"))
    (place,) = normal_axes(axis, x.ndim)
    whole = isinstance(indices_or_sections, (int, np.integer))
    if whole and x.shape[place] % indices_or_sections:
        raise ShapeError(
            "array split does not result in an equal division",
            user_frame()[0],
            "np.array_split, or a divisor of the extent",
        )
    return array_split(recording, x, indices_or_sections, place)


def _splitter(axis: int) -> Callable[..., Any]:
    def handler(recording: Trace, ary: Any, indices_or_sections: Any) -> list[Any]:
        ndim = len(traced(recording, ary, "split").shape)
        return split(recording, ary, indices_or_sections, 0 if axis == 1 and ndim == 1 else axis)

    return handler


def unstack(recording: Trace, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """``np.unstack``: the parts along an axis."""
    array = Tracer(recording, traced(recording, x, "unstack"))
    (place,) = normal_axes(axis, array.ndim)
    whole = (slice(None),) * place
    return tuple(basic_item(array, (*whole, k)) for k in range(array.shape[place]))


def broadcast_arrays(recording: Trace, *args: Any, subok: bool = False) -> tuple[Any, ...]:
    """``np.broadcast_arrays``."""
    parts = [as_part(recording, entry) for entry in args]
    try:
        shape = np.broadcast_shapes(*(part.shape for part in parts))
    except ValueError as error:
        raise ShapeError(str(error), user_frame()[0], "axes that are equal or 1") from None
    return tuple(
        recording.record("broadcast_to", (part._value,), shape, part.dtype) for part in parts
    )


def meshgrid(
    recording: Trace, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Any, ...]:
    """``np.meshgrid`` in both conventions, sparse or full."""
    if indexing not in ("xy", "ij"):
        raise ShapeError("Valid values for `indexing` are 'xy' and 'ij'.", user_frame()[0])
    parts = [as_part(recording, entry) for entry in xi]
    ndim = len(parts)
    grids = []
    for k, part in enumerate(parts):
        axis = 1 - k if indexing == "xy" and ndim > 1 and k < 2 else k
        shape = tuple(part.size if j == axis else 1 for j in range(ndim))
        grids.append(reshape(recording, part, shape))
    return tuple(grids) if sparse or not grids else broadcast_arrays(recording, *grids)


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
    np.concatenate: concatenate,
    np.concat: concatenate,
    np.stack: stack,
    np.vstack: _stacker(2, 0),
    np.hstack: hstack,
    np.dstack: _stacker(3, 2),
    np.column_stack: column_stack,
    np.append: append,
    np.array_split: array_split,
    np.split: split,
    np.vsplit: _splitter(0),
    np.hsplit: _splitter(1),
    np.dsplit: _splitter(2),
    np.unstack: unstack,
    np.broadcast_arrays: broadcast_arrays,
    np.meshgrid: meshgrid,
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
    np.atleast_1d: atleast(1),
    np.atleast_2d: atleast(2),
    np.atleast_3d: atleast(3),
}

METHODS: dict[str, Callable[..., Any]] = {"repeat": repeat, "diagonal": diagonal}
