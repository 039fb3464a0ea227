"""rounding: how far the planned meaning may lie from plain NumPy, derived and never guessed.

Takes a graph and concrete arguments; gives one bound per output element. Holds an evaluator that
keeps, beside NumPy's own value, an interval that contains the planned value, and the rules of
reductions and of external calls. Not here: the rules of elementwise operations (``enclosures``);
comparing (``ladder``); the planned evaluation, of which nothing is called, so that a mistake in it
cannot widen the bound that is meant to find it (``interpret``).

A float sum in a tree of depth d lies within γ(d)·Σ|x| of the exact sum, γ(d) = du / (1 - du); a
product of n within γ(n) of its magnitude and what underflow on the way may cost (Higham, Accuracy
and Stability of Numerical Algorithms, 2nd edition, sections 3.1, 3.5 and 4.2). NumPy's order needs
no bound: its result is at hand.

An external call has no derived bound, except ``matmul``: from operands that may differ anything may
follow. The planned call and NumPy's give the same where they surely get the same operands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .assemble import ASSEMBLED
from .compose import VIEWS
from .dtypes import BOOL, F64
from .enclosures import cast, pointwise, power, where
from .evaluate import numpy_equation
from .graph import Eqn, Graph, Literal
from .index import c_strides
from .interval import (
    EXACT_INTEGERS,
    Interval,
    corners,
    each,
    hull,
    known,
    narrow,
    open_zero,
    size,
    tiniest,
    unit,
    unknown,
    wide,
)
from .ops import accumulator_dtype, planned_order, reduction_depth


def error_bounds(
    graph: Graph, arguments: Sequence[Any], strict: bool = False
) -> tuple[np.ndarray, ...]:
    """Per element, a bound of |result of plain NumPy - result of the planned meaning|.

    Args:
        graph: a traced graph.
        arguments: one array or Python scalar per input, captured arrays included.
        strict: reductions were planned in plain sequential order (``Config.strict``).

    Returns:
        one float64 array per output, of its shape and in its unit (1 for a boolean that may
        differ): 0 where both are identical (NaN is one class, the sign of a zero is exempt), inf
        where nothing can be promised.

    Raises:
        InvariantError: the graph has an operation without a rule here.
    """
    plain: dict[str, Any] = {}
    planned: dict[str, Interval] = {}
    with np.errstate(all="ignore"):
        for entry, argument in zip(graph.inputs, arguments, strict=True):
            plain[entry.value.name] = argument
            planned[entry.value.name] = known(argument, entry.value.dtype)
        for eqn in graph.eqns:
            values: list[Any] = []
            ranges: list[Interval] = []
            for arg in eqn.args:
                if isinstance(arg, Literal):
                    values.append(arg.value)
                    ranges.append(known(arg.value, arg.dtype))
                else:
                    values.append(plain[arg.name])
                    ranges.append(planned[arg.name])
            plain[eqn.out.name] = numpy_equation(eqn, values)
            planned[eqn.out.name] = _equation(eqn, ranges, values, strict)
        return tuple(
            _distance(np.asarray(plain[out.name], out.dtype), planned[out.name]).reshape(out.shape)
            for out in graph.outputs
        )


def _distance(value: np.ndarray, planned: Interval) -> np.ndarray:
    """The farthest the planned value may lie from NumPy's, as float64."""
    low, high = planned
    same = (value == low) & (value == high)
    if value.dtype.kind == "f":
        same |= np.isnan(value) & np.isnan(low) & np.isnan(high)
    ends = [np.abs(value.astype(F64) - end.astype(F64)) for end in planned]
    far = np.maximum(*ends)
    far = np.where(np.isnan(far), np.inf, far)
    if value.dtype.kind == "f":
        far = np.nextafter(far, np.inf)
    elif value.dtype.kind in "iu":
        info = np.iinfo(value.dtype)
        far = np.where((low == info.min) & (high == info.max), np.inf, far)
    return np.asarray(np.where(same, 0.0, far))


def _equation(eqn: Eqn, args: list[Interval], plain: list[Any], strict: bool) -> Interval:
    """The planned result of one equation; ``plain`` are NumPy's operands."""
    op, dtype = eqn.op, eqn.out.dtype
    if op == "gather" and any(index.low is not index.high for index in args[1:]):
        return _anything(eqn)
    if op == "bitcast" and args[0].low is not args[0].high:
        return _anything(eqn)
    if op in _MOVES:
        return _moved(eqn, args)
    if op in _REDUCTIONS or op in _ON_BOOLS or op in ("var", "std"):
        return _reduction(eqn, args[0], strict)
    if op == "extern":
        return _extern(eqn, args, plain)
    if op == "where":
        return where(*args)
    if op == "cast":
        return cast(args[0], dtype)
    if op == "power" and len(args) == 1:
        return power(args[0], eqn.param("exponent"))
    return pointwise(op, args, dtype)


_MOVES = (*VIEWS, *ASSEMBLED, "bitcast")
"""Equations that only move values: every result is an operand's element."""


def _moved(eqn: Eqn, args: list[Interval]) -> Interval:
    """Both ends moved as the values are; what is known exactly stays so."""
    low = np.asarray(numpy_equation(eqn, [a.low for a in args]))
    if all(a.low is a.high for a in args):
        return Interval(low, low)
    return Interval(low, np.asarray(numpy_equation(eqn, [a.high for a in args])))


def _anything(eqn: Eqn) -> Interval:
    """Where elements are taken at positions that are not sure, nothing is."""
    dtype = eqn.out.dtype
    if dtype.kind == "f":
        ends = -np.inf, np.inf
    else:
        ends = (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low, high = (np.full(eqn.out.shape, end, dtype) for end in ends)
    return Interval(low, high)


# reductions ---------------------------------------------------------------------------------------
def _reduction(eqn: Eqn, x: Interval, strict: bool) -> Interval:
    ndim, dtype = x.low.ndim, eqn.out.dtype
    wide_dtype = accumulator_dtype(eqn.op, dtype)
    if eqn.op not in _POSITIONS:
        for target in (dtype, wide_dtype):
            x = x if x.low.dtype == target else cast(x, target)
    axis = eqn.param("axis")
    axes = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    kept = [k for k in range(ndim) if k not in axes]
    count = math.prod(x.low.shape[k] for k in axes)
    depth = reduction_depth(planned_order(x.low.dtype, ndim - 1 in axes, strict), count)

    def flatten(a: np.ndarray) -> np.ndarray:
        return a.transpose(*kept, *axes).reshape(*(a.shape[k] for k in kept), count)

    rows = each(flatten, x)
    initial = dict(eqn.params).get("initial")
    if count == 0 and initial is not None:
        result = known(np.full(rows.low.shape[:-1], initial.value), dtype)
    elif eqn.op in ("var", "std"):
        result = _variance(rows, depth, count - eqn.param("ddof"))
        if eqn.op == "std":
            result = pointwise("sqrt", [result], wide_dtype)
    else:
        result = (_ON_BOOLS if wide_dtype == BOOL else _REDUCTIONS)[eqn.op](rows, depth)
    if count and initial is not None:
        first = known(initial.value, wide_dtype)
        result = pointwise(_COMBINED[eqn.op], [first, result], wide_dtype)
    if result.low.dtype != dtype:
        result = cast(result, dtype)
    return each(lambda a: a.reshape(eqn.out.shape), result)


def _gamma(depth: int, dtype: np.dtype) -> float:
    """Relative error of ``depth`` roundings in a row."""
    share = depth * unit(dtype)
    return share / (1 - share) if share < 1 else math.inf


def _lost_rows(x: Interval) -> Any:
    """Rows with an element of which nothing is known."""
    return np.any(np.broadcast_to(unknown(x), x.low.shape), axis=-1)


def _extreme(function: Any) -> Callable[[Interval, int], Interval]:
    """The largest or the smallest of each row; NumPy's may be a zero of the other sign."""

    def rule(x: Interval, depth: int) -> Interval:
        ends = each(lambda a: function(a, axis=-1), x)
        return open_zero(ends if ends.low is ends.high else hull(ends, _lost_rows(x)))

    return rule


def _take(x: Interval, part: Any) -> Interval:
    return each(lambda a: a[..., part], x)


def _few(combine: Any, x: Interval) -> Interval:
    """A row of one or two elements: no order to choose, no or one rounding."""
    first = _take(x, 0)
    return first if x.low.shape[-1] == 1 else corners(combine, first, _take(x, 1))


def _sum(x: Interval, depth: int) -> Interval:
    """Sums of rows; exact for one element, for two, and for integers that the dtype can hold."""
    dtype, count = x.low.dtype, x.low.shape[-1]
    if dtype.kind in "iu":
        return _integer_sum(x)
    if count in (1, 2):
        return _few(np.add, x)
    wider = wide(dtype)
    low, high = (np.sum(end, axis=-1, dtype=wider) for end in x)
    sure = (np.isinf(x.low) & (x.low == x.high)) | np.isnan(x.low)  # on both sides, no rounding
    total = np.sum(np.where(sure, 0, size(x)), axis=-1, dtype=wider)
    slack = 2 * _gamma(count + 4, wider)  # of the three sums above and the two lines below
    radius = (_gamma(depth, dtype) + slack) * total * (1 + slack)
    whole = np.all((x.low == x.high) & (x.low == np.rint(x.low)), axis=-1)
    radius = np.where(whole & (total <= 1 / unit(dtype)), 0, radius)
    low, high = narrow(low - radius, high + radius, dtype)
    # A rounded sum of numbers of one sign has that sign.
    low = np.where(np.all(x.low >= 0, axis=-1), np.maximum(low, 0), low)
    high = np.where(np.all(x.high <= 0, axis=-1), np.minimum(high, 0), high)
    lost = ~(total + radius <= float(np.finfo(dtype).max)) | _lost_rows(x)
    return open_zero(hull([low, high], lost))


def _integer_sum(x: Interval) -> Interval:
    """Known elements wrap as NumPy's do; others must stay where nothing can wrap."""
    low, high = each(lambda a: np.sum(a, axis=-1, dtype=a.dtype), x)
    if low is high:
        return Interval(low, high)
    info = np.iinfo(low.dtype)
    total = np.sum(size(each(lambda a: a.astype(F64), x)), axis=-1)
    sure = np.all(x.low == x.high, axis=-1) | (total <= min(EXACT_INTEGERS, info.max))
    return Interval(np.where(sure, low, info.min), np.where(sure, high, info.max))


def _product(x: Interval, depth: int) -> Interval:
    """Products of rows, by halves in a wider dtype."""
    dtype, count = x.low.dtype, x.low.shape[-1]
    if dtype.kind in "iu":
        return _integer_product(x)
    if count == 0:
        return known(np.ones(x.low.shape[:-1]), dtype)
    if count in (1, 2):
        return _few(np.multiply, x)
    wider = np.dtype(np.longdouble)
    rows = each(lambda a: a.astype(wider), x)
    # No product of some of the elements, in whatever order, is larger in magnitude.
    largest = np.prod(np.maximum(size(rows), 1), axis=-1)
    while rows.low.shape[-1] > 1:
        half = rows.low.shape[-1] // 2
        first, second = _take(rows, slice(half)), _take(rows, slice(half, 2 * half))
        joined, rest = corners(np.multiply, first, second), _take(rows, slice(2 * half, None))
        rows = Interval(*(np.concatenate(p, axis=-1) for p in zip(joined, rest, strict=True)))
    low, high = (end[..., 0] for end in rows)
    # Unlike a sum, a product passes on the roundings of every operation, not those of one path.
    relative = _gamma(count, dtype) + 2 * _gamma(count, wider)
    underflow = 2 * count * tiniest(dtype) * largest * (1 + relative)
    low = low - relative * np.abs(low) - underflow
    high = high + relative * np.abs(high) + underflow
    lost = ~(largest * (1 + relative) <= float(np.finfo(dtype).max))
    nan = np.any(np.isnan(x.low) & np.isnan(x.high), axis=-1)
    ends = [np.where(nan, np.nan, end) for end in narrow(low, high, dtype)]
    return open_zero(hull([end.astype(dtype) for end in ends], lost & ~nan))


def _integer_product(x: Interval) -> Interval:
    low = np.prod(x.low, axis=-1, dtype=x.low.dtype)
    info = np.iinfo(low.dtype)
    sure = np.all(x.low == x.high, axis=-1)
    return Interval(np.where(sure, low, info.min), np.where(sure, low, info.max))


def _mean(x: Interval, depth: int) -> Interval:
    dtype = x.low.dtype
    count = known(x.low.shape[-1], dtype)
    return pointwise("true_divide", [_sum(x, depth), count], dtype)


def _variance(x: Interval, depth: int, divisor: float) -> Interval:
    """Two passes: the mean, then the sum of squared deviations over ``divisor``."""
    dtype = x.low.dtype
    mean = each(lambda a: a[..., None], _mean(x, depth))
    away = pointwise("subtract", [x, mean], dtype)
    total = _sum(pointwise("square", [away], dtype), depth)
    return pointwise("true_divide", [total, known(max(divisor, 0), dtype)], dtype)


def _bits(function: Any) -> Callable[[Interval, int], Interval]:
    """Bits joined: NumPy's where every element is known, anything elsewhere."""

    def rule(x: Interval, depth: int) -> Interval:
        value = np.asarray(function(x.low, axis=-1))
        if x.low is x.high:
            return Interval(value, value)
        sure = np.all(x.low == x.high, axis=-1)
        ends: Any = np.iinfo(value.dtype) if value.dtype != BOOL else None
        least, most = (False, True) if ends is None else (ends.min, ends.max)
        return Interval(*(np.where(sure, value, end).astype(value.dtype) for end in (least, most)))

    return rule


def _place(function: Any) -> Callable[[Interval, int], Interval]:
    """The first place of an extreme: NumPy's where every element is known, any place elsewhere."""

    def rule(x: Interval, depth: int) -> Interval:
        value = np.asarray(function(x.low, axis=-1))
        if x.low is x.high:
            return Interval(value, value)
        same = (x.low == x.high) | ((x.low != x.low) & (x.high != x.high))
        sure, last = np.all(same, axis=-1), x.low.shape[-1] - 1
        return Interval(np.where(sure, value, 0), np.where(sure, value, last))

    return rule


_ON_BOOLS: dict[str, Callable[[Interval, int], Interval]] = {
    **dict.fromkeys(("sum", "max", "any"), _extreme(np.any)),
    **dict.fromkeys(("prod", "min", "all"), _extreme(np.all)),
    **{
        f"{name}.reduce": _bits(getattr(np, name).reduce)
        for name in (
            *("logical_or", "logical_and", "logical_xor", "fmax", "fmin"),
            *("bitwise_or", "bitwise_and", "bitwise_xor"),
        )
    },
}

_POSITIONS = {
    "argmax": _place(np.argmax),
    "argmin": _place(np.argmin),
    "nanargmax": _place(np.nanargmax),
    "nanargmin": _place(np.nanargmin),
}

_REDUCTIONS: dict[str, Callable[[Interval, int], Interval]] = {
    "sum": _sum,
    "prod": _product,
    "mean": _mean,
    "max": _extreme(np.max),
    "min": _extreme(np.min),
    "fmax.reduce": _extreme(np.fmax.reduce),
    "fmin.reduce": _extreme(np.fmin.reduce),
    **{name: rule for name, rule in _ON_BOOLS.items() if name.startswith("bitwise")},
    **_POSITIONS,
}

_COMBINED = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"} | {
    name: name.removesuffix(".reduce") for name in _ON_BOOLS if name.endswith(".reduce")
}
"""The operation that joins an initial value."""


# external calls -----------------------------------------------------------------------------------
def _extern(eqn: Eqn, args: Sequence[Interval], plain: Sequence[Any]) -> Interval:
    """An external call: what is known when the planned one may get other operands than NumPy's.

    Nothing is derived for most functions, so nothing is promised once an operand may differ. The
    same operands give the same result if values decide it, or if they lie in memory alike; a
    function that no operand lowers gives ends for ends.
    """
    call, dtype = eqn.param("call"), eqn.out.dtype
    if call.name == "matmul":
        return _matmul(args[0], args[1], plain, dtype)
    pairs = list(zip(plain, args, strict=True))
    alike = call.law or all(_in_c_order(value) for value in plain)
    if alike and all(_same_array(value, x) for value, x in pairs):
        return known(numpy_equation(eqn, list(plain)), dtype)
    ends_for_ends = call.law == "monotone" and dtype.kind == "f" and len(args) == 1
    if ends_for_ends and not np.any(unknown(args[0])):
        return open_zero(hull([numpy_equation(eqn, [end]) for end in args[0]]))
    return _nothing(eqn.out.shape, dtype)


def _nothing(shape: tuple[int, ...], dtype: np.dtype) -> Interval:
    """Every value of the dtype."""
    if dtype == BOOL:
        return Interval(np.zeros(shape, BOOL), np.ones(shape, BOOL))
    if dtype.kind == "f":
        return Interval(np.full(shape, -np.inf, dtype), np.full(shape, np.inf, dtype))
    info = np.iinfo(dtype)
    return Interval(np.full(shape, info.min, dtype), np.full(shape, info.max, dtype))


def _matmul(a: Interval, b: Interval, plain: Sequence[Any], dtype: np.dtype) -> Interval:
    """The same call on the same arrays gives the same result; otherwise any order of the sums.

    ``plain`` are NumPy's operands. The planned call gets C-contiguous copies, and BLAS may take
    another path for them.
    """
    if dtype == BOOL:
        return corners(np.matmul, a, b)
    pairs = list(zip(plain, (a, b), strict=True))
    same = all(_same_array(value, x) for value, x in pairs)
    if same and (dtype.kind in "iu" or all(_in_c_order(value) for value, _ in pairs)):
        return known(np.matmul(*plain), dtype)
    if dtype.kind in "iu":
        return _nothing(np.shape(np.matmul(*plain)), dtype)
    depth = a.low.shape[-1]
    (middle_a, width_a), (middle_b, width_b) = _ball(a), _ball(b)
    middle = np.asarray(np.matmul(middle_a, middle_b))
    size_a, size_b = np.abs(middle_a), np.abs(middle_b) + width_b
    spread = np.matmul(size_a, width_b) + np.matmul(width_a, size_b)
    total = np.matmul(size_a + width_a, size_b)
    slack = 2 * _gamma(2 * depth + 8, F64)  # of these products and of the lines below
    radius = (spread + (_gamma(depth, dtype) + slack) * total) * (1 + slack)
    radius = radius + 2 * depth * tiniest(dtype)
    lost = ~(total + radius <= float(np.finfo(dtype).max))
    low, high = narrow(middle - radius, middle + radius, dtype)
    return open_zero(hull([low, high], lost))


def _ball(x: Interval) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half width as float64."""
    low, high = (end.astype(F64) for end in x)
    middle = low / 2 + high / 2
    width = np.maximum(middle - low, high - middle)
    return middle, np.where(width == 0, 0, np.nextafter(width, np.inf))


def _same_array(value: Any, planned: Interval) -> bool:
    """NumPy's array is the planned one, signs of zeros included."""
    same = (value == planned.low) & (value == planned.high)
    if planned.low.dtype.kind == "f":
        signs = [np.signbit(end) for end in planned]
        same &= (np.signbit(value) == signs[0]) & (signs[0] == signs[1])
        same |= np.isnan(value) & np.isnan(planned.low) & np.isnan(planned.high)
    return bool(np.all(same))


def _in_c_order(value: Any) -> bool:
    array = np.asarray(value)
    return array.strides == tuple(step * array.itemsize for step in c_strides(array.shape))
