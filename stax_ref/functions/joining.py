"""Arrays joined and split: concatenation, stacks, sections, grids.

Takes operands of a traced call; gives ``concatenate`` equations, in which each array is read only
in its own place (``assemble``), and slices. Not here: one array rearranged (``rearrange``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError, UnsupportedOperation, user_frame
from ..graph import Value, literal
from ..tracer import Trace, Tracer
from .operands import carried, convert, describe, known_integers, no_options, normal_axes, traced
from .shapes import basic_item, expand_dims, reshape


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


FUNCTIONS: dict[Any, Callable[..., Any]] = {
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
    np.atleast_1d: atleast(1),
    np.atleast_2d: atleast(2),
    np.atleast_3d: atleast(3),
}
