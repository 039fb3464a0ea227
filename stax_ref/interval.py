"""interval: pairs of arrays that contain the planned value, and the arithmetic of such pairs.

Takes and gives :class:`Interval`. Not here: the rules of operations (``enclosures``), of functions
with a stated error (``functionbounds``), of reductions and products (``rounding``).

* A correctly rounded operation is monotone in each operand, its rounding included. Evaluated at the
  ends of the operands' intervals it gives the ends of the result's: equal operands, equal result.
* An interval from minus to plus infinity says nothing: the value may be NaN too. An interval whose
  ends are NaN says: surely NaN.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .dtypes import F32, F64

EXACT_INTEGERS = 2.0**53
"""Up to it float64 holds every integer, so sums and products of integers are not rounded."""


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
    lost = lost | (any_of(nans) & ~functools.reduce(operator.and_, nans))
    below = any_of([(c == 0) & np.signbit(c) for c in candidates])
    above = any_of([(c == 0) & ~np.signbit(c) for c in candidates])
    low = np.where((low == 0) & below, -0.0, low)
    high = np.where((high == 0) & above, 0.0, high)
    return Interval(np.where(lost, -np.inf, low), np.where(lost, np.inf, high))


def any_of(masks: Sequence[Any]) -> Any:
    """Where at least one of some masks is true."""
    return functools.reduce(operator.or_, masks)


def corners(function: Callable[..., Any], *args: Interval, lost: Any = np.False_) -> Interval:
    """A function that is monotone in each operand: its values at all ends span the result."""
    ends = [(a.low,) if a.low is a.high else (a.low, a.high) for a in args]
    candidates = [np.asarray(function(*choice)) for choice in itertools.product(*ends)]
    if len(candidates) == 1:
        return Interval(candidates[0], candidates[0])
    return hull(candidates, lost | any_of([unknown(a) for a in args]))


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
