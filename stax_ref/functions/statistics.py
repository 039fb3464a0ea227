"""Means, variances, weighted averages and the reductions that leave NaN out.

Takes operands of a traced call; gives equations. Plain ``mean``, ``var`` and ``std`` are equations
of their own; with a mask, a given mean, weights or NaN to leave out they are what NumPy itself does
with several calls, recorded call by call in NumPy's dtypes. Not here: one reduction
(``reductions``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import DtypeError, ShapeError, user_frame
from ..graph import Value, literal
from ..tracer import Trace, Tracer, as_operand
from .choices import where
from .elementwise import cast, pointwise
from .operands import no_options, normal_axes, traced
from .reductions import METHODS_OF_FAMILY as PLAIN
from .reductions import NO_VALUE, everything, is_set, mask_operand, reduce
from .shapes import broadcast_to, permute, reshape


def mean(
    recording: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Tracer:
    """``np.mean``: the sum over the number of elements that the mask leaves."""
    no_options("np.mean", {"out": out})
    if everything(where):
        return reduce(recording, "mean", a, axis, dtype, keepdims)
    value = Tracer(recording, traced(recording, a, "np.mean"))
    target = _float(value.dtype, dtype)
    wide = np.dtype(np.float32) if target == np.float16 and not _given(dtype) else target
    total = reduce(recording, "sum", value, axis, wide, keepdims, mask=where)
    count = _count(recording, value, axis, keepdims, where)
    return cast(recording, _over_count(recording, total, count), target)


def _variance(
    recording: Trace,
    a: Any,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Any,
) -> Tracer:
    """The variance of what a mask leaves, or about a given mean."""
    value = Tracer(recording, traced(recording, a, "np.var"))
    asked = _float(value.dtype, dtype) if _given(dtype) or value.dtype.kind != "f" else None
    count = _count(recording, value, axis, True, where)
    if _given(mean):
        middle = mean
    else:
        total = reduce(recording, "sum", value, axis, asked, True, mask=where)
        middle = _over_count(recording, total, count)
    away = pointwise(recording, np.subtract, (value, middle))
    square = pointwise(recording, np.square, (away,))
    total = reduce(recording, "sum", square, axis, asked, keepdims, mask=where)
    count = _count(recording, value, axis, keepdims, where)
    return _over_count(recording, total, _degrees(recording, count, ddof))


def _spread(op: str) -> Callable[..., Tracer]:
    def handler(
        recording: Trace,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Tracer:
        no_options(f"np.{op}", {"out": out})
        ddof = _delta(ddof, correction)
        if everything(where) and not _given(mean):
            return reduce(recording, op, a, axis, dtype, keepdims, ddof=ddof)
        variance = _variance(recording, a, axis, dtype, ddof, keepdims, where, mean)
        return pointwise(recording, np.sqrt, (variance,)) if op == "std" else variance

    return handler


var, std = _spread("var"), _spread("std")


# helpers ------------------------------------------------------------------------------------------
def _given(option: Any) -> bool:
    return option is not None and option is not NO_VALUE


def _float(have: np.dtype, asked: Any) -> np.dtype:
    """The dtype of a mean."""
    if not _given(asked):
        return have if have.kind == "f" else dtypes.F64
    target: np.dtype = np.dtype(asked)
    if target.kind != "f":
        raise DtypeError(
            f"a mean with dtype={target}", user_frame()[0], "a float dtype, then .astype"
        )
    return target


def _delta(ddof: Any, correction: Any) -> Any:
    """Delta degrees of freedom, under either name."""
    ddof = ddof or 0
    if _given(correction):
        if ddof:
            raise ShapeError(
                "ddof and correction can't be provided simultaneously.",
                user_frame()[0],
                "one of them",
            )
        ddof = correction
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise DtypeError(f"ddof={ddof!r}", user_frame()[0], "a number")
    return ddof


def _count(recording: Trace, value: Tracer, axis: Any, keepdims: Any, mask: Any) -> Any:
    """How many elements a mask leaves: a number, or int64 counts."""
    if everything(mask):
        return np.int64(_extent(value.shape, axis))
    chosen = mask_operand(recording, mask, value.shape, "where=")
    if isinstance(chosen, bool):
        return np.int64(_extent(value.shape, axis) if chosen else 0)
    every = broadcast_to(recording, chosen, value.shape)
    return reduce(recording, "sum", every, axis, np.intp, keepdims)


def _extent(shape: tuple[int, ...], axis: Any) -> int:
    return int(np.prod([shape[k] for k in normal_axes(axis, len(shape))], dtype=np.int64))


def _degrees(recording: Trace, count: Any, ddof: Any) -> Any:
    """Degrees of freedom, never negative."""
    if not isinstance(count, Tracer):
        return np.maximum(np.subtract(count, ddof), 0)
    left = pointwise(recording, np.subtract, (count, ddof))
    return pointwise(recording, np.maximum, (left, 0))


def _over_count(recording: Trace, total: Tracer, count: Any) -> Tracer:
    """A sum over int64 counts: divided in float64, rounded to the dtype of the sum."""
    return cast(recording, pointwise(recording, np.true_divide, (total, count)), total.dtype)


# without NaN --------------------------------------------------------------------------------------
def _without_nan(recording: Trace, a: Any, filler: float, what: str) -> tuple[Tracer, Any]:
    """The operand with NaN replaced, and where they were; None for dtypes that have none."""
    value = Tracer(recording, traced(recording, a, what))
    if value.dtype.kind != "f":
        return value, None
    nan = pointwise(recording, np.isnan, (value,))
    return where(recording, nan, value.dtype.type(filler), value), nan


def _nan_arithmetic(op: str, filler: float) -> Callable[..., Tracer]:
    def handler(recording: Trace, a: Any, *args: Any, **kwargs: Any) -> Tracer:
        value, _ = _without_nan(recording, a, filler, f"np.nan{op}")
        result: Tracer = PLAIN[op](recording, value, *args, **kwargs)
        return result

    return handler


def _nan_extreme(op: str) -> Callable[..., Tracer]:
    def handler(
        recording: Trace,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Tracer:
        no_options(f"np.nan{op}", {"out": out})
        return reduce(recording, f"f{op}.reduce", a, axis, None, keepdims, initial, where)

    return handler


def nanmean(
    recording: Trace,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Tracer:
    """``np.nanmean``: the sum of what is not NaN over its count."""
    no_options("np.nanmean", {"out": out})
    value, nan = _without_nan(recording, a, 0, "np.nanmean")
    if nan is None:
        return mean(recording, value, axis, dtype, None, keepdims, where=where)
    asked = _float(value.dtype, dtype)
    total = reduce(recording, "sum", value, axis, asked, keepdims, mask=where)
    present = pointwise(recording, np.logical_not, (nan,))
    count = reduce(recording, "sum", present, axis, np.intp, keepdims, mask=where)
    return _over_count(recording, total, count)


def _nan_spread(op: str) -> Callable[..., Tracer]:
    def handler(
        recording: Trace,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Tracer:
        no_options(f"np.nan{op}", {"out": out})
        options = {"where": where, "mean": mean, "correction": correction}
        value, nan = _without_nan(recording, a, 0, f"np.nan{op}")
        if nan is None:
            plain = std if op == "std" else var
            return plain(recording, value, axis, dtype, None, ddof, keepdims, **options)
        degrees = _delta(ddof, correction)
        variance = _nan_variance(recording, value, nan, axis, dtype, degrees, keepdims, where, mean)
        return pointwise(recording, np.sqrt, (variance,)) if op == "std" else variance

    return handler


def _nan_variance(
    recording: Trace,
    value: Tracer,
    nan: Tracer,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    where_: Any,
    mean: Any,
) -> Tracer:
    """NaN also where there are no degrees of freedom left, as NumPy puts it."""
    asked = _float(value.dtype, dtype)
    present = pointwise(recording, np.logical_not, (nan,))
    middle = mean
    if not _given(mean):
        count = reduce(recording, "sum", present, axis, np.intp, True, mask=where_)
        total = reduce(recording, "sum", value, axis, asked, True, mask=where_)
        middle = _over_count(recording, total, count)
    away = cast(recording, pointwise(recording, np.subtract, (value, middle)), value.dtype)
    away = where(recording, nan, value.dtype.type(0), away)
    square = pointwise(recording, np.multiply, (away, away))
    total = reduce(recording, "sum", square, axis, asked, keepdims, mask=where_)
    count = reduce(recording, "sum", present, axis, np.intp, keepdims, mask=where_)
    degrees = pointwise(recording, np.subtract, (count, ddof))
    variance = _over_count(recording, total, degrees)
    bad = pointwise(recording, np.less_equal, (degrees, 0))
    return where(recording, bad, variance.dtype.type(np.nan), variance)


# weights ------------------------------------------------------------------------------------------
def average(
    recording: Trace,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = NO_VALUE,
) -> Any:
    """``np.average``; weights that sum to zero fail the call with NumPy's ZeroDivisionError."""
    value = _array(recording, a, "np.average")
    keep = is_set(keepdims)
    if weights is None:
        result = mean(recording, value, axis, keepdims=keep)
        if not returned:
            return result
        count = literal(_extent(value.shape, axis), result.dtype)
        return result, recording.record("broadcast_to", (count,), result.shape, result.dtype)
    weight = _weights(recording, value, weights, axis)
    dtype = np.result_type(value.dtype, weight.dtype)
    if value.dtype.kind != "f":
        dtype = np.result_type(dtype, np.float64)
    scale = reduce(recording, "sum", weight, axis, dtype, keep, nonzero=True)
    product = pointwise(
        recording, np.multiply, (cast(recording, value, dtype), cast(recording, weight, dtype))
    )
    total = reduce(recording, "sum", product, axis, None, keep)
    result = pointwise(recording, np.true_divide, (total, scale))
    if not returned:
        return result
    if scale.shape != result.shape:
        scale = broadcast_to(recording, scale, result.shape)
    return result, scale


def _array(recording: Trace, a: Any, what: str) -> Tracer:
    operand = as_operand(recording, a)
    if not isinstance(operand, Value):
        raise DtypeError(f"{what} of a {type(a).__name__}", user_frame()[0], "an array")
    return Tracer(recording, operand)


def _weights(recording: Trace, value: Tracer, weights: Any, axis: Any) -> Tracer:
    """Weights along the reduced axes, with the other axes of length 1."""
    weight = _array(recording, weights, "np.average with weights")
    if weight.shape == value.shape:
        return weight
    if axis is None:
        raise DtypeError(
            "Axis must be specified when shapes of a and weights differ.",
            user_frame()[0],
            "axis=, the axes that the weights lie along",
        )
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = [k + value.ndim if k < 0 else k for k in given]
    normal_axes(axis, value.ndim)
    if weight.shape != tuple(value.shape[k] for k in axes):
        raise ShapeError(
            "Shape of weights must be consistent with shape of a along specified axis.",
            user_frame()[0],
            "weights with the shape of a, or of its reduced axes",
        )
    turned = permute(recording, weight, tuple(int(k) for k in np.argsort(axes)))
    shape = tuple(n if k in axes else 1 for k, n in enumerate(value.shape))
    return reshape(recording, turned, shape)


METHODS_OF_FAMILY: dict[str, Callable[..., Any]] = {"mean": mean, "var": var, "std": std}

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.mean: mean,
    np.var: var,
    np.std: std,
    np.average: average,
    np.nansum: _nan_arithmetic("sum", 0),
    np.nanprod: _nan_arithmetic("prod", 1),
    np.nanmax: _nan_extreme("max"),
    np.nanmin: _nan_extreme("min"),
    np.nanmean: nanmean,
    np.nanvar: _nan_spread("var"),
    np.nanstd: _nan_spread("std"),
}
