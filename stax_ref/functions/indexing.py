"""Indexing with arrays of integers: gathering, with NumPy's rule for where the new axes stand.

Takes keys and index arrays of a traced call; gives ``gather`` equations and the views around them,
or NumPy's refusal with the user's line. Not here: basic indexing (``shapes``), assignment
(``assign``), positions at run time (``node.Instr``: ``position``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import (
    IndexingError,
    ShapeError,
    UnsupportedOperation,
    ValueDependent,
    user_frame,
)
from ..graph import Operand, Value, literal
from ..tracer import Trace, Tracer, as_operand
from .choices import choose_within
from .elementwise import pointwise
from .joining import broadcast_arrays, stack
from .operands import broadcast, no_options, normal_axes, traced
from .shapes import basic_item, broadcast_to, reshape


def getitem(x: Tracer, key: Any) -> Tracer:
    """``x[key]``: basic indexing is a view, arrays of integers gather."""
    given = key if isinstance(key, tuple) else (key,)
    given = tuple(_entry(x._trace, entry) for entry in given)
    if not any(isinstance(entry, Value) for entry in given):
        return basic_item(x, given)
    rest, arrays, place = _separated(x, given)
    found = gathered(basic_item(x, rest), arrays, place)
    shapes = {getattr(index, "shape", ()) for index in arrays.values()}
    if found.ndim and shapes == {()}:
        # a view where the indices are NumPy scalars, a copy where they are arrays without axes
        x._cell.doubtful = found._cell.doubtful = "part at a computed index"
    return found


def is_basic(recording: Trace, given: tuple[Any, ...]) -> bool:
    """True when a key makes a view; refuses what is no index at all."""
    return not any(isinstance(_entry(recording, entry), Value) for entry in given)


def _entry(recording: Trace, entry: Any) -> Any:
    """One entry of a key: basic ones as they are, index arrays as values."""
    basic = entry is None or entry is Ellipsis or isinstance(entry, slice)
    if basic or (isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)):
        return entry
    if isinstance(entry, (list, tuple)) and not any(isinstance(e, Tracer) for e in entry):
        array = np.asarray(entry)
        entry = array.astype(np.int64) if array.size == 0 else array
    if isinstance(entry, (bool, np.bool_)) or getattr(entry, "dtype", None) == dtypes.BOOL:
        raise ValueDependent(
            "indexing with a boolean mask has a shape that depends on values",
            user_frame()[0],
            "np.where(mask, x, 0) keeps the shape; x[np.nonzero(mask)] outside the function",
        )
    operand = as_operand(recording, entry)
    if not isinstance(operand, Value) or operand.dtype.kind not in "iu":
        what = f"an array of {operand.dtype}" if operand is not None else type(entry).__name__
        raise IndexingError(
            f"only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer "
            f"or boolean arrays are valid indices, not {what}",
            user_frame()[0],
            ".astype(np.int64)",
        )
    return operand


def _separated(
    x: Tracer, given: tuple[Any, ...]
) -> tuple[tuple[Any, ...], dict[int, Operand], int]:
    """The basic part of a key, its index arrays by axis of what that part gives, and their place.

    Beside an array, an integer is an array too; the arrays' own axes stand where the arrays stood,
    or first when something stands between them (NumPy's rule).
    """
    used = sum(entry is not None and entry is not Ellipsis for entry in given)
    if used > x.ndim:
        raise IndexingError(
            f"too many indices for array: array is {x.ndim}-dimensional, but {used} were indexed",
            user_frame()[0],
            f"the shape is {x.shape}",
        )
    filler = (slice(None),) * (x.ndim - used)
    if Ellipsis in given:
        at = next(k for k, entry in enumerate(given) if entry is Ellipsis)
        given = given[:at] + filler + given[at + 1 :]
    else:
        given = given + filler
    rest: list[Any] = []
    arrays: dict[int, Operand] = {}
    spots: list[int] = []
    axis = 0
    for spot, entry in enumerate(given):
        if isinstance(entry, (Value, int, np.integer)):
            arrays[len(rest)] = _within(entry, x.shape[axis], axis)
            spots.append(spot)
            rest.append(slice(None))
        else:
            rest.append(entry)
        axis += entry is not None
    together = spots == list(range(spots[0], spots[-1] + 1))
    return tuple(rest), arrays, min(arrays) if together else 0


def _within(entry: Any, extent: int, axis: int) -> Operand:
    """An integer of a key as a constant, checked now."""
    if isinstance(entry, Value):
        return entry
    if not -extent <= entry < extent:
        raise IndexingError(
            f"index {entry} is out of bounds for axis {axis} with size {extent}",
            user_frame()[0],
            f"an index from {-extent} to {extent - 1}",
        )
    return literal(int(entry), dtypes.I64)


def gathered(x: Tracer, arrays: dict[int, Operand], place: int) -> Tracer:
    """Elements of ``x`` at index arrays by axis; their shape stands at ``place`` in the result."""
    recording = x._trace
    shared = broadcast(list(arrays.values()), "indexing")
    kept = [extent for k, extent in enumerate(x.shape) if k not in arrays]
    at = place - sum(k < place for k in arrays)
    shape = (*kept[:at], *shared, *kept[at:])
    for axis in arrays:
        if x.shape[axis] == 0 and 0 not in shared:
            raise IndexingError(
                f"index is out of bounds for axis {axis} with size 0",
                user_frame()[0],
                "an axis with elements",
            )
    operands = [x._value, *arrays.values()]
    return recording.record("gather", operands, shape, x.dtype, axes=tuple(arrays), place=at)


def index_array(recording: Trace, given: Any, what: str) -> Value:
    """An operand that must be an array of integers."""
    operand = as_operand(recording, given)
    if operand is None and isinstance(given, (int, np.integer)):
        operand = as_operand(recording, np.asarray(given, dtype=np.int64))
    if not isinstance(operand, Value):
        operand = as_operand(recording, np.asarray(given))
    if not isinstance(operand, Value) or operand.dtype.kind not in "iub":
        raise IndexingError(
            f"{what}: arrays used as indices must be of integer type",
            user_frame()[0],
            ".astype(np.int64)",
        )
    return operand


def take(
    recording: Trace, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise"
) -> Tracer:
    """``np.take`` in the modes raise, wrap and clip."""
    if out is not None:
        raise UnsupportedOperation("take(..., out=...)", user_frame()[0], "the same without it")
    x = Tracer(recording, traced(recording, a, "take"))
    if axis is None:
        return take(recording, reshape(recording, x, (-1,)), indices, 0, None, mode)
    (place,) = normal_axes(axis, x.ndim)
    found = Tracer(recording, index_array(recording, indices, "take"))
    extent = x.shape[place]
    if mode == "wrap" and extent:
        found = pointwise(recording, np.remainder, (found, extent))
    elif mode == "clip" and extent:
        found = pointwise(recording, np.minimum, (found, extent - 1))
        found = pointwise(recording, np.maximum, (found, 0))
    elif mode not in ("raise", "wrap", "clip"):
        raise ShapeError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return gathered(x, {place: found._value}, place)


def take_along_axis(recording: Trace, arr: Any, indices: Any, axis: Any = -1) -> Tracer:
    """``np.take_along_axis``: one index array for one axis, positions of their own elsewhere."""
    x = Tracer(recording, traced(recording, arr, "take_along_axis"))
    found = Tracer(recording, index_array(recording, indices, "take_along_axis"))
    if axis is None:
        if found.ndim != 1:
            raise ShapeError(
                "when axis=None, `indices` must have a single dimension.", user_frame()[0]
            )
        x, axis = reshape(recording, x, (-1,)), 0
    (place,) = normal_axes(axis, x.ndim)
    if found.ndim != x.ndim:
        raise ShapeError(
            "`indices` and `arr` must have the same number of dimensions",
            user_frame()[0],
            "np.expand_dims",
        )
    arrays: dict[int, Operand] = {}
    for k, extent in enumerate(x.shape):
        if k == place:
            arrays[k] = found._value
            continue
        count = recording.record("iota", (), (extent,), dtypes.I64, start=0, step=1)
        own = [1] * x.ndim
        own[k] = extent
        arrays[k] = reshape(recording, count, tuple(own))._value
    return gathered(x, arrays, 0)


def choose(recording: Trace, a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Tracer:
    """``np.choose`` with a list of choices."""
    no_options("choose", {"out": out})
    if mode != "raise":
        return choose_within(recording, a, choices, mode)
    found = Tracer(recording, index_array(recording, a, "choose"))
    _, *layers = broadcast_arrays(recording, found, *choices)
    stacked = stack(recording, layers)
    index = broadcast_to(recording, found, stacked.shape[1:])
    raised = reshape(recording, index, (1, *index.shape))
    return reshape(recording, take_along_axis(recording, stacked, raised, 0), index.shape)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.take: take,
    np.take_along_axis: take_along_axis,
    np.choose: choose,
}

METHODS: dict[str, Callable[..., Any]] = {"take": take, "choose": choose}
