"""Arrays built of parts whose places are known while tracing: blocks, open meshes, what stays.

Takes operands of a traced call; gives concatenations and views. Not here: joining and slicing
themselves (``rearrange``, ``shapes``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError, user_frame
from ..graph import literal
from ..tracer import Trace, Tracer
from .joining import as_part, concatenate
from .operands import known_integers, normal_axes, traced
from .padding import piece, runs
from .rearrange import tile
from .shapes import basic_item, reshape


def ix_(recording: Trace, *args: Any) -> tuple[Any, ...]:
    """``np.ix_``: an open mesh of index arrays."""
    parts = [as_part(recording, entry) for entry in args]
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in parts):
        raise ShapeError(
            "Cross index must be 1 dimensional", user_frame()[0], "vectors of integers"
        )
    ndim = len(parts)
    return tuple(
        reshape(recording, part, tuple(part.size if j == k else 1 for j in range(ndim)))
        for k, part in enumerate(parts)
    )


def resize(recording: Trace, a: Any, new_shape: Any) -> Tracer:
    """``np.resize``: the elements over and over until the shape is full."""
    value = traced(recording, a, "resize")
    shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    shape = tuple(operator.index(extent) for extent in shape)
    if any(extent < 0 for extent in shape):
        raise ShapeError("all elements of `new_shape` must be non-negative", user_frame()[0])
    total = int(np.prod(shape, dtype=np.int64))
    flat = reshape(recording, Tracer(recording, value), (-1,))
    if flat.size == 0 or total == 0:
        zero = literal(0, value.dtype)
        return recording.record("broadcast_to", (zero,), shape, value.dtype)
    repeated = tile(recording, flat, -(-total // flat.size))
    return reshape(recording, basic_item(repeated, (slice(total),)), shape)


def delete(recording: Trace, arr: Any, obj: Any, axis: Any = None) -> Tracer:
    """``np.delete`` of places known while tracing: the parts that stay, joined."""
    x = Tracer(recording, traced(recording, arr, "delete"))
    if axis is None:
        x, axis = reshape(recording, x, (-1,)), 0
    (place,) = normal_axes(axis, x.ndim)
    where = obj if isinstance(obj, slice) else known_integers(obj, "the places of np.delete")
    try:
        kept = np.delete(np.arange(x.shape[place]), where).tolist()
    except IndexError as error:
        raise ShapeError(str(error), user_frame()[0], f"the shape is {x.shape}") from None
    if not kept:
        return basic_item(x, (*(slice(None),) * place, slice(0)))
    parts = [piece(recording, x, place, run) for run in runs(kept)]
    return concatenate(recording, parts, place) if len(parts) > 1 else parts[0]


def block(recording: Trace, arrays: Any) -> Tracer:
    """``np.block``: nested lists of blocks, innermost along the last axis."""
    depth = _depth(arrays)
    parts = _blocks(recording, arrays)
    ndim = max(depth, _most_axes(parts))
    return _joined(recording, parts, 1, depth, ndim)


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ShapeError("List at arrays cannot be empty", user_frame()[0], "a list of blocks")
    depths = {_depth(entry) for entry in arrays}
    if len(depths) > 1:
        raise ShapeError("List depths are mismatched.", user_frame()[0], "lists of equal depth")
    return 1 + depths.pop()


def _blocks(recording: Trace, arrays: Any) -> Any:
    if isinstance(arrays, list):
        return [_blocks(recording, entry) for entry in arrays]
    return as_part(recording, arrays)


def _most_axes(parts: Any) -> int:
    if isinstance(parts, list):
        return max(map(_most_axes, parts))
    return int(parts.ndim)


def _joined(recording: Trace, parts: Any, level: int, depth: int, ndim: int) -> Tracer:
    if not isinstance(parts, list):
        return reshape(recording, parts, (1,) * (ndim - parts.ndim) + parts.shape)
    inner = [_joined(recording, part, level + 1, depth, ndim) for part in parts]
    return concatenate(recording, inner, -(depth - level + 1))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.ix_: ix_,
    np.resize: resize,
    np.delete: delete,
    np.block: block,
}
