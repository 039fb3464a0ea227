"""Views as equations: an array at rewritten indices, never a copy.

Takes operands of a traced call; gives one equation with NumPy's shape, or NumPy's refusal with the
user's line. Not here: the rewriting itself (``compose``).
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..errors import (
    IndexingError,
    ShapeError,
    UnsupportedOperation,
    user_frame,
)
from ..tracer import Trace, Tracer
from .operands import broadcasts_to, carried, no_options, normal_axes, traced


def reshape(recording: Trace, a: Any, *shape: Any, **kwargs: Any) -> Tracer:
    """``reshape`` in C order; one extent may be -1."""
    if "shape" in kwargs:
        shape = (kwargs.pop("shape"),)
    no_options("reshape", kwargs)
    value = traced(recording, a, "reshape")
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    extents = [operator.index(extent) for extent in wanted]
    total = math.prod(value.shape)
    known = math.prod(extent for extent in extents if extent != -1)
    fits = extents.count(-1) <= 1 and all(extent >= -1 for extent in extents)
    if fits and -1 in extents:
        fits = known > 0 and total % known == 0
        extents = [total // known if extent == -1 and fits else extent for extent in extents]
    if not fits or math.prod(extents) != total:
        raise ShapeError(
            f"cannot reshape array of size {total} into shape {tuple(wanted)}",
            user_frame()[0],
            f"extents whose product is {total}",
        )
    if tuple(extents) == value.shape:
        return Tracer(recording, value)
    return recording.record("reshape", (value,), tuple(extents), value.dtype)


def permute(recording: Trace, a: Any, axes: Any = None, *rest: Any) -> Tracer:
    """``transpose`` with NumPy's forms of the axes argument."""
    value = traced(recording, a, "transpose")
    ndim = len(value.shape)
    if rest:
        axes = (axes, *rest)
    if isinstance(axes, int):
        axes = (axes,)
    order = tuple(reversed(range(ndim))) if axes is None else tuple(axes)
    normal = tuple(k + ndim if k < 0 else k for k in order)
    if sorted(normal) != list(range(ndim)):
        raise ShapeError("axes don't match array", user_frame()[0], f"a permutation of {ndim} axes")
    shape = tuple(value.shape[k] for k in normal)
    return recording.record("transpose", (value,), shape, value.dtype, axes=normal)


def swapaxes(recording: Trace, a: Any, axis1: int, axis2: int) -> Tracer:
    """``np.swapaxes``."""
    ndim = len(traced(recording, a, "swapaxes").shape)
    order = list(range(ndim))
    (first,), (second,) = normal_axes(axis1, ndim), normal_axes(axis2, ndim)
    order[first], order[second] = order[second], order[first]
    return permute(recording, a, tuple(order))


def expand_dims(recording: Trace, a: Any, axis: Any) -> Tracer:
    """``np.expand_dims``."""
    value = traced(recording, a, "expand_dims")
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = normal_axes(tuple(given), len(value.shape) + len(given))
    shape = list(value.shape)
    for place in places:
        shape.insert(place, 1)
    return reshape(recording, a, tuple(shape))


def squeeze(recording: Trace, a: Any, axis: Any = None) -> Tracer:
    """``np.squeeze``."""
    value = traced(recording, a, "squeeze")
    ones = tuple(k for k, extent in enumerate(value.shape) if extent == 1)
    axes = ones if axis is None else normal_axes(axis, len(value.shape))
    if not set(axes) <= set(ones):
        raise ShapeError(
            "cannot select an axis to squeeze out which has size not equal to one",
            user_frame()[0],
            f"one of the axes {ones}",
        )
    shape = tuple(extent for k, extent in enumerate(value.shape) if k not in axes)
    return reshape(recording, a, shape)


def ravel(recording: Trace, a: Any, order: str = "C", **kwargs: Any) -> Tracer:
    """``np.ravel`` in C order."""
    no_options("ravel", {"order": order, **kwargs})
    return reshape(recording, a, (-1,) if traced(recording, a, "ravel").shape else (1,))


def broadcast_to(recording: Trace, array: Any, shape: Any, **kwargs: Any) -> Tracer:
    """``np.broadcast_to``."""
    no_options("broadcast_to", kwargs)
    value = traced(recording, array, "broadcast_to")
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not broadcasts_to(value.shape, wanted):
        raise ShapeError(
            f"shape {value.shape} cannot be broadcast to {wanted}",
            user_frame()[0],
            "equal axes or 1",
        )
    return recording.record("broadcast_to", (value,), wanted, value.dtype)


def basic_item(x: Tracer, given: tuple[Any, ...]) -> Tracer:
    """Basic indexing: integers, slices with any step, newaxis and ellipsis."""
    try:
        shape = np.broadcast_to(np.empty((), np.bool_), x.shape)[given].shape
    except IndexError as error:
        raise IndexingError(str(error), user_frame()[0], f"the shape is {x.shape}") from None
    except ValueError as error:
        raise ShapeError(str(error), user_frame()[0], "a step other than 0") from None
    index = _normal_index(given, x.shape)
    return x._trace.record("getitem", (x._value,), shape, x.dtype, index=index)


def _normal_index(given: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Per entry: an integer, a (start, step, count) triple, or None for a new axis."""
    used = sum(entry is not None and entry is not Ellipsis for entry in given)
    filler = (slice(None),) * (len(shape) - used)
    if Ellipsis in given:
        place = given.index(Ellipsis)
        given = given[:place] + filler + given[place + 1 :]
    else:
        given = given + filler
    index: list[Any] = []
    axis = 0
    for entry in given:
        if entry is None:
            index.append(None)
            continue
        extent = shape[axis]
        axis += 1
        if isinstance(entry, slice):
            span = range(extent)[entry]
            index.append((span.start, span.step, len(span)))
        else:
            index.append(int(entry) + (extent if entry < 0 else 0))
    return tuple(index)


def bit_view(recording: Trace, a: Any, dtype: Any = None, type: Any = None) -> Tracer:
    """``a.view(dtype)``: the same bits in a dtype of the same size."""
    value = traced(recording, a, "view")
    target = np.dtype(dtype) if dtype is not None else value.dtype
    if (
        target.itemsize != value.dtype.itemsize
        or type is not None
        or "b" in (target.kind + value.dtype.kind)
    ):
        raise UnsupportedOperation(
            f"a view of {value.dtype} as {dtype}",
            user_frame()[0],
            "a numeric dtype of the same size; .astype converts values",
        )
    if target == value.dtype:
        return Tracer(recording, value)
    target = carried(target, "view")
    return recording.record("bitcast", (value,), value.shape, target)
