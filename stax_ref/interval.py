"""interval: the rules of elementwise operations on intervals that contain the planned value.

Takes and gives :class:`Interval`; holds one rule per operation of a graph that works element by
element. Not here: reductions, products of matrices and what the intervals are for (``rounding``).

* A correctly rounded operation is monotone in each operand, its rounding included. Evaluated at the
  ends of the operands' intervals it gives the ends of the result's: equal operands, equal result.
* An elementary function lies within its published ulp of the exact value, and NumPy's function,
  from which the exact value is bounded, within :data:`NUMPY_ULP`.
* An interval from minus to plus infinity says nothing: the value may be NaN too. An interval whose
  ends are NaN says: surely NaN.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .dtypes import BOOL, F32, F64
from .elementary import ULP
from .errors import InvariantError

NUMPY_ULP = 4.0
"""Largest error of NumPy's exp, log and tanh, in ulp. Measured on eight million float32 and two
million float64 arguments each: at most 2.88 (float32 log, NumPy 2.4); the rest is a margin for
other builds."""

EXACT_INTEGERS = 2.0**53
"""Up to it float64 holds every integer, so sums and products of integers are not rounded."""

_RANGE = {"exp": (0.0, math.inf), "log": (-math.inf, math.inf), "tanh": (-1.0, 1.0)}
"""Values a result cannot leave: a function within 1.25 ulp stays in a range with float ends."""


class Interval(NamedTuple):
    """The planned value lies between two arrays of its dtype and shape, ends included.

    Both are one object where the planned value is known everywhere.
    """

    low: np.ndarray
    high: np.ndarray


# intervals ----------------------------------------------------------------------------------------
def known(value: Any, dtype: np.dtype) -> Interval:
    """A value that is the same on both sides."""
    array = np.asarray(value, dtype=dtype)
    return Interval(array, array)


def each(function: Callable[[np.ndarray], Any], x: Interval) -> Interval:
    """A function that keeps the order, on both ends."""
    low = np.asarray(function(x.low))
    return Interval(low, low if x.low is x.high else np.asarray(function(x.high)))


def unknown(x: Interval) -> Any:
    """Where the interval says nothing."""
    if x.low is x.high or x.low.dtype.kind != "f":
        return np.False_
    return np.isneginf(x.low) & np.isposinf(x.high)


def hull(candidates: Sequence[np.ndarray], lost: Any = np.False_) -> Interval:
    """The interval over some values of one dtype; it says nothing where ``lost``.

    It says nothing either where some candidates are NaN and some are not. -0.0 lies below +0.0.
    """
    low = np.asarray(functools.reduce(np.minimum, candidates))
    high = np.asarray(functools.reduce(np.maximum, candidates))
    if low.dtype.kind != "f":
        return Interval(low, high)
    nans = [np.isnan(c) for c in candidates]
    lost = lost | (_any(nans) & ~functools.reduce(operator.and_, nans))
    below = _any([(c == 0) & np.signbit(c) for c in candidates])
    above = _any([(c == 0) & ~np.signbit(c) for c in candidates])
    low = np.where((low == 0) & below, -0.0, low)
    high = np.where((high == 0) & above, 0.0, high)
    return Interval(np.where(lost, -np.inf, low), np.where(lost, np.inf, high))


def _any(masks: Sequence[Any]) -> Any:
    return functools.reduce(operator.or_, masks)


def corners(function: Callable[..., Any], *args: Interval, lost: Any = np.False_) -> Interval:
    """A function that is monotone in each operand: its values at all ends span the result."""
    ends = [(a.low,) if a.low is a.high else (a.low, a.high) for a in args]
    candidates = [np.asarray(function(*choice)) for choice in itertools.product(*ends)]
    if len(candidates) == 1:
        return Interval(candidates[0], candidates[0])
    return hull(candidates, lost | _any([unknown(a) for a in args]))


def size(x: Interval) -> np.ndarray:
    """The largest magnitude inside."""
    return np.asarray(np.maximum(np.abs(x.low), np.abs(x.high)))


def narrow(low: np.ndarray, high: np.ndarray, dtype: np.dtype) -> list[np.ndarray]:
    """Ends computed in a wider dtype, rounded outwards to ``dtype``."""
    down, up = low.astype(dtype), high.astype(dtype)
    return [
        np.where(down > low, np.nextafter(down, dtype.type(-np.inf)), down),
        np.where(up < high, np.nextafter(up, dtype.type(np.inf)), up),
    ]


def wide(dtype: np.dtype) -> np.dtype:
    """Where ends that take several roundings are computed; no safety rests on its width."""
    return F64 if dtype == F32 else np.dtype(np.longdouble)


def unit(dtype: np.dtype) -> float:
    """Largest relative error of one rounding to nearest."""
    return float(np.finfo(dtype).eps) / 2


def tiniest(dtype: np.dtype) -> float:
    """The smallest positive number; an underflow costs half of it."""
    return float(np.finfo(dtype).smallest_subnormal)


def open_zero(x: Interval) -> Interval:
    """The same with the sign of a zero left open."""
    if x.low.dtype.kind != "f" or not np.any((x.low == 0) | (x.high == 0)):
        return x
    return Interval(np.where(x.low == 0, -0.0, x.low), np.where(x.high == 0, 0.0, x.high))


# elementwise --------------------------------------------------------------------------------------
def pointwise(op: str, args: Sequence[Interval], dtype: np.dtype) -> Interval:
    """The result of one elementwise operation.

    Args:
        op: name of a ufunc that a graph may hold; ``power``, ``cast`` and ``where`` are functions.
        args: operands of the dtype of NumPy's loop, broadcast against each other.
        dtype: dtype of the result.

    Raises:
        InvariantError: there is no rule for ``op``.
    """
    if op.startswith("logical"):
        args = [_truth(a) for a in args]
    if op in _COMPARISONS:
        sure, possible = _COMPARISONS[op](*args)
        if all(a.low is a.high for a in args):
            return known(sure, BOOL)
        lost = _any([unknown(a) for a in args])
        return Interval(np.asarray(sure & ~lost), np.asarray(possible | lost))
    if dtype == BOOL:
        return corners(getattr(np, op), *args)
    if dtype.kind in "iu":
        return _integers(op, args, dtype)
    if op not in _FLOATS:
        raise InvariantError(f"{op} has no rule for its rounding")
    return _FLOATS[op](*args)


def _integers(op: str, args: Sequence[Interval], dtype: np.dtype) -> Interval:
    """Known operands give NumPy's value, wrapped or not; others a range if nothing can wrap."""
    exact = np.asarray(getattr(np, op)(*(a.low for a in args)))
    sure = functools.reduce(operator.and_, [a.low == a.high for a in args])
    if np.all(sure):
        return Interval(exact, exact)
    info = np.iinfo(dtype)
    low, high = np.full(exact.shape, info.min, dtype), np.full(exact.shape, info.max, dtype)
    if op in _FLOATS and op != "reciprocal":
        real = [each(lambda a: a.astype(F64), a) for a in args]
        guess = _FLOATS[op](*real)
        largest = functools.reduce(np.maximum, [size(a) for a in (*real, guess)])
        fits = (largest <= EXACT_INTEGERS) & (guess.low >= info.min) & (guess.high <= info.max)
        low = np.where(fits, np.where(fits, guess.low, 0).astype(dtype), low)
        high = np.where(fits, np.where(fits, guess.high, 0).astype(dtype), high)
    return Interval(np.where(sure, exact, low), np.where(sure, exact, high))


def _truth(x: Interval) -> Interval:
    """``x != 0`` as a boolean; NaN is true."""
    if x.low.dtype == BOOL:
        return x
    return pointwise("not_equal", [x, known(0, x.low.dtype)], BOOL)


def _equal(a: Interval, b: Interval) -> tuple[Any, Any]:
    sure = (a.low == b.high) & (a.high == b.low)
    return sure, (a.low <= b.high) & (b.low <= a.high)


def _not_equal(a: Interval, b: Interval) -> tuple[Any, Any]:
    sure, possible = _equal(a, b)
    return ~possible, ~sure


_COMPARISONS: dict[str, Callable[[Interval, Interval], tuple[Any, Any]]] = {
    "less": lambda a, b: (a.high < b.low, a.low < b.high),
    "less_equal": lambda a, b: (a.high <= b.low, a.low <= b.high),
    "greater": lambda a, b: (b.high < a.low, b.low < a.high),
    "greater_equal": lambda a, b: (b.high <= a.low, b.low <= a.high),
    "equal": _equal,
    "not_equal": _not_equal,
    "logical_xor": _not_equal,
}
"""Whether a comparison is surely true, and whether it may be; both false for NaN."""


def _larger(a: Any, b: Any) -> Any:
    return np.where(a == b, np.where(np.signbit(a), b, a), np.maximum(a, b))


def _smaller(a: Any, b: Any) -> Any:
    return np.where(a == b, np.where(np.signbit(a), a, b), np.minimum(a, b))


def _divided(function: Any) -> Callable[[Interval, Interval], Interval]:
    """A quotient; nothing is known where the divisor may be zero and may be something else."""

    def rule(a: Interval, b: Interval) -> Interval:
        through = (b.low <= 0) & (b.high >= 0) & (b.low != b.high)
        return corners(function, a, b, lost=through)

    return rule


def _remainder(a: Interval, b: Interval) -> Interval:
    """Integers held as floats, not all known: between 0 and the divisor, and 0 for a divisor 0."""
    low, high = np.minimum(b.low + 1, 0), np.maximum(b.high - 1, 0)
    shape = np.broadcast_shapes(a.low.shape, b.low.shape)
    return Interval(np.broadcast_to(low, shape), np.broadcast_to(high, shape))


def _even(function: Any) -> Callable[[Interval], Interval]:
    """A function that falls to 0 at 0 and rises again."""

    def rule(x: Interval) -> Interval:
        ends = corners(function, x)
        inside = (x.low < 0) & (x.high > 0) & ~unknown(x)
        return ends if ends.low is ends.high else Interval(np.where(inside, 0, ends.low), ends.high)

    return rule


def _elementary(name: str) -> Callable[[Interval], Interval]:
    """exp, log or tanh: monotone, with NumPy's error and Stax's on both sides."""

    def rule(x: Interval) -> Interval:
        dtype = x.low.dtype
        ulps = NUMPY_ULP + ULP[name, str(dtype)]
        # A unit in the last place is at most 2u of the value; one more u for this computation.
        relative = (2 * ulps + 1) * unit(dtype)
        values = [np.asarray(getattr(np, name)(end)) for end in x]
        inexact = [
            np.isfinite(end) & np.isfinite(value) & ((end != 0) | (value != 0))
            for end, value in zip(x, values, strict=True)
        ]
        wider = [value.astype(wide(dtype)) for value in values]
        low, high = (
            np.where(mark, end + sign * (relative * np.abs(end) + ulps * tiniest(dtype)), end)
            for mark, end, sign in zip(inexact, wider, (-1, 1), strict=True)
        )
        if name == "exp":
            # Just above the logarithm of the largest number the planned value may be finite yet.
            largest = float(np.finfo(dtype).max)
            close = np.isposinf(wider[0]) & (x.low <= math.log(largest) + 1)
            low = np.where(close, largest * (1 - relative), low)
        ends = [np.clip(end, *_RANGE[name]) for end in narrow(low, high, dtype)]
        return hull(ends, unknown(x))

    return rule


_FLOATS: dict[str, Callable[..., Interval]] = {
    "add": functools.partial(corners, np.add),
    "subtract": functools.partial(corners, np.subtract),
    "multiply": functools.partial(corners, np.multiply),
    "negative": functools.partial(corners, np.negative),
    "positive": functools.partial(corners, np.positive),
    "sqrt": functools.partial(corners, np.sqrt),
    "maximum": functools.partial(corners, _larger),
    "minimum": functools.partial(corners, _smaller),
    "absolute": _even(np.absolute),
    "square": _even(np.square),
    "true_divide": _divided(np.true_divide),
    "floor_divide": _divided(np.floor_divide),
    "remainder": _remainder,
    "reciprocal": lambda x: _FLOATS["true_divide"](known(1, x.low.dtype), x),
    "exp": _elementary("exp"),
    "log": _elementary("log"),
    "tanh": _elementary("tanh"),
}
"""The rules on floats; the arithmetic ones also serve integers, as long as float64 holds them."""


def power(base: Interval, exponent: int) -> Interval:
    """Repeated squaring, low bit first; a negative exponent divides 1 by the power."""
    dtype = base.low.dtype
    one = known(np.ones(base.low.shape), dtype)
    result, remaining = one, abs(exponent)
    while remaining:
        if remaining & 1:
            result = pointwise("multiply", [result, base], dtype)
        remaining >>= 1
        if remaining:
            base = pointwise("square", [base], dtype)
    return result if exponent >= 0 else _FLOATS["true_divide"](one, result)


def where(mask: Interval, a: Interval, b: Interval) -> Interval:
    """One of two values, or both where the condition is not sure."""
    if mask.low is mask.high:
        low = np.where(mask.low, a.low, b.low)
        both_known = a.low is a.high and b.low is b.high
        return Interval(low, low if both_known else np.where(mask.low, a.high, b.high))
    both = hull([a.low, a.high, b.low, b.high])
    return Interval(
        np.where(mask.low, a.low, np.where(mask.high, both.low, b.low)),
        np.where(mask.low, a.high, np.where(mask.high, both.high, b.high)),
    )


def cast(x: Interval, dtype: np.dtype) -> Interval:
    """Rounded, monotone; floats outside an integer dtype give its smallest value (``ops.cast``)."""
    have = x.low.dtype
    if dtype == BOOL:
        return _truth(x)
    if dtype.kind == "f" or have in (BOOL, dtype):
        return corners(lambda a: a.astype(dtype), x)
    info = np.iinfo(dtype)

    def fits(end: np.ndarray) -> Any:
        return (end >= info.min) & (end < -float(info.min))

    def convert(end: np.ndarray) -> np.ndarray:
        inside = fits(end)
        outside = np.full(end.shape, info.min) if have.kind == "f" else end
        return np.where(inside, np.where(inside, end, 0), outside).astype(dtype)

    result = each(convert, x)
    if x.low is x.high:
        return result
    sure = (x.low == x.high) | (np.isnan(x.low) & np.isnan(x.high)) | (fits(x.low) & fits(x.high))
    return Interval(
        np.where(sure, result.low, info.min).astype(dtype),
        np.where(sure, result.high, info.max).astype(dtype),
    )
