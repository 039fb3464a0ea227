"""Reductions, views and contractions as equations.

Takes operands of a traced call; gives one equation with NumPy's shape and dtype, or NumPy's refusal
with the user's line. Not here: which function is which (``namespace``), indices (``lower``).
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from . import dtypes
from .elementwise import carried, convert, loop_dtypes, no_options, pointwise
from .errors import (
    AxisError,
    DtypeError,
    IndexingError,
    ShapeError,
    UnsupportedOperation,
    user_frame,
)
from .graph import Value, literal
from .tracer import Trace, Tracer, as_operand


def traced(recording: Trace, x: Any, what: str) -> Value:
    """The value of an operand that must be an array."""
    operand = as_operand(recording, x)
    if not isinstance(operand, Value):
        raise DtypeError(f"{what} of a constant", user_frame()[0], "compute it outside")
    return operand


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for entry in given:
        index = operator.index(entry) + (ndim if entry < 0 else 0)
        if not 0 <= index < ndim:
            raise AxisError(
                f"axis {entry} is out of bounds for array of dimension {ndim}",
                user_frame()[0],
                f"an axis from {-ndim} to {ndim - 1}",
            )
        axes.append(index)
    if len(set(axes)) != len(axes):
        raise ShapeError("duplicate value in 'axis'", user_frame()[0], "each axis once")
    return tuple(sorted(axes))


def reduce(
    recording: Trace,
    kind: str,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    **kwargs: Any,
) -> Tracer:
    """sum, prod, max, min, mean, var and std over an axis, a tuple of axes or all."""
    ddof = kwargs.pop("ddof", 0) or 0
    correction = kwargs.pop("correction", ddof)
    if ddof and correction not in (np._NoValue, ddof):
        raise ShapeError("ddof and correction can't be provided simultaneously.", user_frame()[0])
    ddof = ddof if correction is np._NoValue else correction
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise DtypeError(f"ddof={ddof!r}", user_frame()[0], "a number")
    no_options(f"np.{kind}", {"out": out, **kwargs})
    keep = bool(keepdims) and keepdims is not np._NoValue
    value = traced(recording, a, f"np.{kind}")
    axes = _axes(axis, len(value.shape))
    target = _reduced_dtype(kind, value.dtype, dtype)
    count = math.prod(value.shape[k] for k in axes)
    if kind in ("max", "min") and count == 0:
        raise ShapeError(
            f"zero-size array to reduction operation {kind}imum which has no identity",
            user_frame()[0],
            "an axis with at least one element",
        )
    shape = tuple(
        1 if k in axes else extent for k, extent in enumerate(value.shape) if keep or k not in axes
    )
    params: dict[str, Any] = {"axis": None if axis is None else axes, "keepdims": keep}
    if value.dtype != target:
        params["dtype"] = target
    if kind in ("var", "std"):
        params["ddof"] = ddof
    return recording.record(kind, (value,), shape, target, **params)


def _reduced_dtype(kind: str, have: np.dtype, asked: Any) -> np.dtype:
    if asked is not None and asked is not np._NoValue:
        target = carried(np.dtype(asked), f"np.{kind}")
        if kind in ("mean", "var", "std") and target.kind != "f":
            raise DtypeError(
                f"np.{kind} with dtype={target}", user_frame()[0], "a float dtype, then .astype"
            )
        return target
    if kind in ("mean", "var", "std"):
        return have if have.kind == "f" else dtypes.F64
    if kind in ("sum", "prod") and have.kind in "bi":
        return dtypes.I64
    return have


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
    (first,), (second,) = _axes(axis1, ndim), _axes(axis2, ndim)
    order[first], order[second] = order[second], order[first]
    return permute(recording, a, tuple(order))


def expand_dims(recording: Trace, a: Any, axis: Any) -> Tracer:
    """``np.expand_dims``."""
    value = traced(recording, a, "expand_dims")
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = _axes(tuple(given), len(value.shape) + len(given))
    shape = list(value.shape)
    for place in places:
        shape.insert(place, 1)
    return reshape(recording, a, tuple(shape))


def squeeze(recording: Trace, a: Any, axis: Any = None) -> Tracer:
    """``np.squeeze``."""
    value = traced(recording, a, "squeeze")
    ones = tuple(k for k, extent in enumerate(value.shape) if extent == 1)
    axes = ones if axis is None else _axes(axis, len(value.shape))
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
    try:
        fits = np.broadcast_shapes(value.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"shape {value.shape} cannot be broadcast to {wanted}",
            user_frame()[0],
            "equal axes or 1",
        )
    return recording.record("broadcast_to", (value,), wanted, value.dtype)


def getitem(x: Tracer, key: Any) -> Tracer:
    """Basic indexing: integers, slices with any step, newaxis and ellipsis."""
    given = key if isinstance(key, tuple) else (key,)
    for entry in given:
        basic = entry is None or entry is Ellipsis or isinstance(entry, slice)
        whole = isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)
        if not basic and not whole:
            raise UnsupportedOperation(
                f"indexing with a {_called(entry)} is not supported",
                user_frame()[0],
                "integers, slices, None and ...; np.where(mask, x, 0) for a boolean mask",
            )
    try:
        shape = np.broadcast_to(np.empty((), np.bool_), x.shape)[key].shape
    except IndexError as error:
        raise IndexingError(str(error), user_frame()[0], f"the shape is {x.shape}") from None
    except ValueError as error:
        raise ShapeError(str(error), user_frame()[0], "a step other than 0") from None
    index = _normal_index(given, x.shape)
    return x._trace.record("getitem", (x._value,), shape, x.dtype, index=index)


def _called(entry: Any) -> str:
    if isinstance(entry, Tracer):
        return "boolean mask" if entry.dtype == dtypes.BOOL else "traced array"
    return type(entry).__name__


def like(value: float) -> Any:
    """``zeros_like`` and ``ones_like``."""

    def handler(recording: Trace, a: Any, dtype: Any = None, **kwargs: Any) -> Tracer:
        return full_like(recording, a, value, dtype, **kwargs)

    return handler


def full_like(
    recording: Trace, a: Any, fill_value: Any, dtype: Any = None, **kwargs: Any
) -> Tracer:
    """``np.full_like`` with a number."""
    no_options("full_like", kwargs)
    value = traced(recording, a, "full_like")
    if isinstance(fill_value, (Tracer, np.ndarray)):
        raise UnsupportedOperation("full_like of an array", user_frame()[0], "np.broadcast_to")
    target = carried(value.dtype if dtype is None else np.dtype(dtype), "full_like")
    constant = literal(fill_value, target)
    return recording.record("broadcast_to", (constant,), value.shape, target)


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


def matmul(recording: Trace, a: Any, b: Any) -> Tracer:
    """``a @ b`` for vectors, matrices and batches, through BLAS (an extern node)."""
    left, right = traced(recording, a, "matmul"), traced(recording, b, "matmul")
    loop, _ = loop_dtypes(np.matmul, [left.dtype, right.dtype])
    dtype = carried(loop[2], "np.matmul")
    if not left.shape or not right.shape:
        raise ShapeError("matmul: a 0-d operand", user_frame()[0], "a * b for scalars")
    rows = left.shape if len(left.shape) > 1 else (1, *left.shape)
    columns = right.shape if len(right.shape) > 1 else (*right.shape, 1)
    if rows[-1] != columns[-2]:
        raise ShapeError(
            f"matmul: the inner extents {rows[-1]} and {columns[-2]} differ "
            f"in shapes {left.shape} and {right.shape}",
            user_frame()[0],
            "a.T or b.T",
        )
    try:
        batch = np.broadcast_shapes(rows[:-2], columns[:-2])
    except ValueError:
        raise ShapeError(
            f"matmul: batch axes of {left.shape} and {right.shape} do not broadcast",
            user_frame()[0],
            "reshape so that every batch axis is equal or 1",
        ) from None
    shape = (*batch, *rows[-2:-1], *columns[-1:])
    if len(left.shape) == 1:
        shape = (*shape[:-2], shape[-1])
    if len(right.shape) == 1:
        shape = shape[:-1]
    operands = [convert(recording, None, operand, dtype) for operand in (left, right)]
    return recording.record("matmul", operands, shape, dtype)


def dot(recording: Trace, a: Any, b: Any) -> Tracer:
    """``np.dot`` of vectors and matrices; scalars multiply."""
    if isinstance(a, (int, float)) or isinstance(b, (int, float)):
        return pointwise(recording, np.multiply, (a, b))
    left, right = traced(recording, a, "dot"), traced(recording, b, "dot")
    if not left.shape or not right.shape:
        return pointwise(recording, np.multiply, (a, b))
    if len(left.shape) > 2 or len(right.shape) > 2:
        raise UnsupportedOperation("np.dot above two axes", user_frame()[0], "a @ b")
    return matmul(recording, a, b)
