"""functionbounds: functions with a stated error, as rules on intervals.

Takes and gives :class:`Interval`; holds one rule per elementary function and per function of the C
library. A planned value lies within a stated ulp of the exact one (:func:`planned_ulp`), and
NumPy's value, from which the exact one is bounded, within :data:`NUMPY_ULP`. Where the operands are
not known exactly, monotony or a bound of the slope does the rest. Not here: operations that round
once (``enclosures``).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import elementary, libm, plain
from .dtypes import F16, F32, F64
from .interval import Interval, any_of, hull, narrow, size, tiniest, unit, unknown, wide

NUMPY_ULP = 4.0
"""Largest error of NumPy's functions, in ulp: what its documentation states for its vector
libraries, and the C library's for cbrt. Measured with its own validation data: docs/accuracy.md."""


def planned_ulp(name: str, dtype: np.dtype) -> float:
    """Largest error of the planned function in units in the last place of the result.

    Args:
        name: a function of ``ops.OPS`` of kind ``elementary`` or ``libm``.
        dtype: dtype of the result.
    """
    if (name, str(dtype)) in elementary.ULP:
        return elementary.ULP[name, str(dtype)]
    if dtype == F64:
        return libm.ULP[name]
    # One rounding, of a value whose own error is below; float16 is rounded twice.
    inner = elementary.ULP.get((name, "float32"), libm.ULP.get(name, 4.0) * 2.0**-29 + 0.5)
    return inner if dtype == F32 else 0.5 + inner * 2.0**-13


def _widened(name: str, values: list[np.ndarray], exact: list[Any], unknown_at: Any) -> Interval:
    """NumPy's values at two ends, moved apart by both errors, but where they are ``exact``."""
    dtype = values[0].dtype
    ulps = NUMPY_ULP + planned_ulp(_COUNTED_AS.get(name, name), dtype)
    # A unit in the last place is at most 2u of the value; one more u for this computation.
    relative = (2 * ulps + 1) * unit(dtype)
    wider = [value.astype(wide(dtype)) for value in values]
    errors = [relative * np.abs(end) + ulps * tiniest(dtype) for end in wider]
    low, high = (
        np.where(sure | ~np.isfinite(end), end, end + sign * error)
        for sure, end, error, sign in zip(exact, wider, errors, (-1, 1), strict=True)
    )
    # Where NumPy's value has just left the range the planned one may still be in it.
    largest = float(np.finfo(dtype).max) * (1 - relative)
    if name in _OVERFLOWING:
        low = np.where(np.isposinf(wider[0]) & ~exact[0], largest, low)
        high = np.where(np.isneginf(wider[1]) & ~exact[1], -largest, high)
    ends = narrow(low, high, dtype)
    if name in _RANGE:
        ends = [np.clip(end, *_RANGE[name]) for end in ends]
    return hull(ends, unknown_at)


def _increasing(name: str, sign: int = 1) -> Callable[[Interval], Interval]:
    """A function that never falls (or, with -1, never rises): both ends, widened."""
    function = plain.call(name)

    def rule(x: Interval) -> Interval:
        ends = (x.low, x.high)[::sign]
        values = [np.asarray(function(end)) for end in ends]
        # 0 at 0, infinite at an infinity or a pole: the same on both sides.
        exact = [
            ~np.isfinite(end)
            | ((end == 0) & (value == 0))
            | _pole(name, end)
            | (np.isinf(value) & np.isinf(function(end - end / 256)))  # far beyond the range
            for end, value in zip(ends, values, strict=True)
        ]
        first, last = _DOMAIN.get(name, (-math.inf, math.inf))
        outside = (x.high < first) | (x.low > last)
        leaves = ((x.low < first) | (x.high > last)) & ~outside
        return _widened(name, values, exact, unknown(x) | leaves)

    return rule


def _pole(name: str, end: np.ndarray) -> Any:
    """Where a function is infinite at a finite argument."""
    place = {"log": 0, "log2": 0, "log10": 0, "log1p": -1, "arctanh": 1}.get(name)
    return np.zeros(end.shape, bool) if place is None else np.abs(end) == abs(place)


def _nearest_to_zero(x: Interval) -> np.ndarray:
    """The smallest magnitude inside."""
    around = (x.low <= 0) & (x.high >= 0)
    nearest = np.where(around, 0, np.minimum(np.abs(x.low), np.abs(x.high)))
    return nearest.astype(x.low.dtype)


def _cosh(x: Interval) -> Interval:
    """Even, rising from 0."""
    result = _increasing("cosh")(Interval(_nearest_to_zero(x), size(x)))
    return hull([result.low, result.high], unknown(x))


def _width(x: Interval) -> tuple[np.ndarray, Any]:
    """How wide an interval is, rounded up, and where it is a point."""
    same = (x.low == x.high) & (np.signbit(x.low) == np.signbit(x.high))
    point = same | (np.isnan(x.low) & np.isnan(x.high))
    width = x.high.astype(F64) - x.low.astype(F64)
    return np.where(point, 0.0, np.nextafter(width, np.inf)), point


def _by_slope(name: str, slope: Callable[..., Any]) -> Callable[..., Interval]:
    """NumPy's value at one end, widened by its error and by slope times width."""
    function = plain.call(name)

    def rule(*args: Interval) -> Interval:
        value = np.asarray(function(*(a.low for a in args)))
        dtype = value.dtype
        widths, points = zip(*(_width(a) for a in args), strict=True)
        moved = slope(*args) * sum(widths)
        result = _widened(name, [value, value], [~np.isfinite(value)] * 2, np.False_)
        sure = functools.reduce(np.logical_and, points)
        wider = [end.astype(wide(dtype)) for end in result]
        low, high = narrow(wider[0] - moved, wider[1] + moved, dtype)
        ends = [np.where(sure, a, b) for a, b in zip(result, (low, high), strict=True)]
        if name in _RANGE:
            ends = [np.clip(end, *_RANGE[name]) for end in ends]
        endless = any_of([~np.isfinite(size(a)) for a in args])
        lost = ~sure & (endless | ~np.isfinite(moved) | any_of([unknown(a) for a in args]))
        return hull([end.astype(dtype) for end in ends], lost)

    return rule


def _tan_slope(x: Interval) -> Any:
    """Slope of the tangent where no pole is near, infinite where one may be."""
    far = np.maximum(np.abs(np.tan(x.low.astype(F64))), np.abs(np.tan(x.high.astype(F64))))
    width = x.high.astype(F64) - x.low.astype(F64)
    pole = (width >= 3) | (np.tan(x.low.astype(F64)) > np.tan(x.high.astype(F64)))
    return np.where(pole, np.inf, 1.001 * (1 + far * far))


def _angle_slope(y: Interval, x: Interval) -> Any:
    """One over the distance from the origin; infinite where the box touches the cut."""
    nearest = [_nearest_to_zero(a).astype(F64) for a in (y, x)]
    cut = (y.low <= 0) & (y.high >= 0) & (x.low <= 0)
    return np.where(cut, np.inf, 1.001 / np.hypot(*nearest))


def _power(base: Interval, exponent: Interval) -> Interval:
    """Monotone in each operand for a base that is not negative; nothing is known elsewhere."""
    pairs = [(b, e) for b in base for e in exponent]
    values = [np.asarray(np.power(b, e)) for b, e in pairs]
    points = _width(base)[1] & _width(exponent)[1]
    low, high = (functools.reduce(f, values) for f in (np.minimum, np.maximum))
    exact = ~np.isfinite(base.low) | ~np.isfinite(exponent.low) | (base.low == 0)
    exact = points & (exact | (exponent.low == 0) | (base.low == 1))
    result = _widened("power", [low, high], [exact, exact], np.False_)
    unsure = np.signbit(base.low) | any_of([np.isnan(end) for x in (base, exponent) for end in x])
    both_nan = np.isnan(base.low) & np.isnan(exponent.low)
    lost = ~points & ~both_nan & (unsure | any_of([unknown(base), unknown(exponent)]))
    return hull(list(result), lost)


def _log_of_sum(name: str) -> Callable[[Interval, Interval], Interval]:
    """Rising in both; errors of the part that is added, of the distance and of the sum.

    With e the exponential of minus the distance and L its log1p, e and L carry at most ulp_e and
    ulp_L; the distance is rounded once, and d exp(-d) < 1. The sum is rounded once.
    """
    function = plain.call(name)
    parts = ("exp", "log1p") if name == "logaddexp" else ("exp2", "log1p")

    def rule(x: Interval, y: Interval) -> Interval:
        values = [np.asarray(function(x.low, y.low)), np.asarray(function(x.high, y.high))]
        dtype = values[0].dtype
        inner = F32 if dtype == F16 else dtype
        ulps = sum(2 * NUMPY_ULP + 2 * planned_ulp(part, inner) for part in parts)
        wider = [value.astype(wide(dtype)) for value in values]
        top = np.maximum(size(x), size(y)).astype(wide(dtype))
        # The added part is at most 1.45, on both sides; then the distance, and the rounded sum.
        slack = unit(inner) * (2.9 * ulps + 6 + 2 * top)
        slack = slack + 4 * unit(dtype) * np.maximum(*(np.abs(end) for end in wider))
        low, high = (
            np.where(np.isfinite(end), end + sign * slack, end)
            for end, sign in zip(wider, (-1, 1), strict=True)
        )
        return hull(narrow(low, high, dtype), any_of([unknown(x), unknown(y)]))

    return rule


_RANGE = {
    "exp": (0.0, math.inf),
    "exp2": (0.0, math.inf),
    "expm1": (-1.0, math.inf),
    "tanh": (-1.0, 1.0),
    "erf": (-1.0, 1.0),
    "sigmoid": (0.0, 1.0),
    "sin": (-1.0, 1.0),
    "cos": (-1.0, 1.0),
    "cosh": (1.0, math.inf),
}
"""Values a result cannot leave: a function within 2 ulp stays in a range with such ends."""

_DOMAIN = {"arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-1, 1)}
"""Where a function is no NaN; others have one end at most, where a NaN shows by itself."""

_OVERFLOWING = frozenset({"exp", "exp2", "expm1", "sinh", "cosh", "power", "float_power", "hypot"})
_COUNTED_AS = {"float_power": "power"}

FUNCTIONS: dict[str, Callable[..., Interval]] = {
    **{
        name: _increasing(name)
        for name in (
            "exp log tanh exp2 expm1 log2 log10 log1p cbrt arcsin arctan sinh arcsinh arccosh "
            "arctanh erf sigmoid"
        ).split()
    },
    "arccos": _increasing("arccos", -1),
    "cosh": _cosh,
    "sin": _by_slope("sin", lambda x: 1.0),
    "cos": _by_slope("cos", lambda x: 1.0),
    "tan": _by_slope("tan", _tan_slope),
    "arctan2": _by_slope("arctan2", _angle_slope),
    "hypot": _by_slope("hypot", lambda x, y: 1.0),
    "power": _power,
    "float_power": _power,
    "logaddexp": _log_of_sum("logaddexp"),
    "logaddexp2": _log_of_sum("logaddexp2"),
}
"""One rule per function with a stated error."""
