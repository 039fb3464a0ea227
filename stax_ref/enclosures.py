"""enclosures: the rules of elementwise operations on intervals that contain the planned value.

Takes and gives :class:`Interval`; holds one rule per elementwise equation of a graph. Nothing of
the planned evaluation is called, so that a mistake in it cannot widen the bound that is meant to
find it. Not here: functions with a stated error (``functionbounds``), reductions (``rounding``).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import plain
from .dtypes import BOOL, F16, F32, F64, I32, I64, U64
from .errors import InvariantError
from .functionbounds import FUNCTIONS
from .interval import (
    EXACT_INTEGERS,
    Interval,
    any_of,
    corners,
    each,
    hull,
    known,
    size,
    unknown,
)


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
    if op in _PREDICATES:
        return _predicate(op, args[0])
    if op in _COMPARISONS:
        sure, possible = _COMPARISONS[op](*args)
        if all(a.low is a.high for a in args):
            return known(sure, BOOL)
        lost = any_of([unknown(a) for a in args])
        return Interval(np.asarray(sure & ~lost), np.asarray(possible | lost))
    if dtype == BOOL:
        return corners(plain.call(op), *args)
    if dtype.kind in "iu":
        return _integers(op, args, dtype)
    rule = _FLOATS.get(op) or FUNCTIONS.get(op)
    if rule is None:
        raise InvariantError(f"{op} has no rule for its rounding")
    return rule(*args)


def _integers(op: str, args: Sequence[Interval], dtype: np.dtype) -> Interval:
    """Known operands give NumPy's value, wrapped or not; others a range if nothing can wrap."""
    if op == "power":
        args = [args[0], each(lambda a: np.maximum(a, 0), args[1])]  # others raise
    exact = np.asarray(plain.call(op)(*(a.low for a in args)))
    if all(a.low is a.high for a in args):
        return Interval(exact, exact)
    sure = functools.reduce(operator.and_, [a.low == a.high for a in args])
    if np.all(sure):
        return Interval(exact, exact)
    info = np.iinfo(dtype)
    low, high = np.full(exact.shape, info.min, dtype), np.full(exact.shape, info.max, dtype)
    if op in _WHOLE:
        real = [each(lambda a: a.astype(F64), a) for a in args]
        guess = _WHOLE[op](*real)
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


def _is_point(x: Interval) -> Any:
    """Where both ends are one number, the sign of a zero included, or NaN."""
    same = (x.low == x.high) & (np.signbit(x.low) == np.signbit(x.high))
    return same | (np.isnan(x.low) & np.isnan(x.high))


def _are_known(*args: Interval) -> bool:
    return all(a.low is a.high for a in args)


def _nowhere(*args: Interval) -> Interval:
    """Nothing is known, but where every operand is (and then the caller has the value)."""
    shape = np.broadcast_shapes(*(a.low.shape for a in args))
    full = np.full(shape, np.inf, args[0].low.dtype)
    return Interval(-full, full)


def _at_points(name: str, other: Callable[..., Interval]) -> Callable[..., Interval]:
    """NumPy's own value where every operand is one number, another rule elsewhere."""
    function = plain.call(name)

    def rule(*args: Interval) -> Interval:
        exact = np.asarray(function(*(a.low for a in args)))
        if _are_known(*args):
            return Interval(exact, exact)
        sure = functools.reduce(operator.and_, [_is_point(a) for a in args])
        rest = other(*args)
        return Interval(np.where(sure, exact, rest.low), np.where(sure, exact, rest.high))

    return rule


def _floored(a: Interval, b: Interval) -> Interval:
    """The floor of a quotient; the snap to a whole number may move it by one."""
    quotient = _FLOATS["true_divide"](a, b)
    low, high = np.floor(quotient.low) - 1, np.floor(quotient.high) + 1
    lost = unknown(quotient) | ~np.isfinite(low) | ~np.isfinite(high)
    return hull([low, high], lost)


def _rest(a: Interval, b: Interval) -> Interval:
    """A remainder with the sign of ``b``: no larger than ``b`` in magnitude."""
    low, high = np.minimum(b.low, 0.0), np.maximum(b.high, 0.0)
    lost = any_of([unknown(a), unknown(b), ~np.isfinite(size(a)), ~np.isfinite(size(b))])
    lost = lost | ((b.low <= 0) & (b.high >= 0))
    shape = np.broadcast_shapes(a.low.shape, b.low.shape)
    return hull([np.broadcast_to(low, shape), np.broadcast_to(high, shape)], lost)


def _signed_rest(a: Interval, b: Interval) -> Interval:
    """A remainder with the sign of ``a``."""
    far = np.minimum(size(b), size(a))
    lost = any_of([unknown(a), unknown(b), ~np.isfinite(size(a)), ~np.isfinite(size(b))])
    lost = lost | ((b.low <= 0) & (b.high >= 0))
    return hull([-far, far], lost)


def _with_sign(a: Interval, b: Interval) -> Interval:
    """|a| with the sign of ``b``, which a NaN does not have for sure."""
    sizes = _FLOATS["absolute"](a)
    sure = (np.signbit(b.low) == np.signbit(b.high)) & ~np.isnan(b.low) & ~np.isnan(b.high)
    below = sure & np.signbit(b.low)
    low = np.where(below | ~sure, -sizes.high, sizes.low)
    high = np.where(below, -sizes.low, sizes.high)
    nan = np.isnan(sizes.low) & np.isnan(sizes.high)
    lost = any_of([unknown(a), np.isnan(sizes.low) != np.isnan(sizes.high)])
    low, high = np.where(nan, np.nan, low), np.where(nan, np.nan, high)
    low, high = (end.astype(a.low.dtype) for end in (low, high))
    return hull([low, high], lost)


def _step(a: Interval, b: Interval) -> Interval:
    """heaviside: 0, ``b`` or 1."""
    ends = [np.heaviside(x, y) for x in a for y in b]
    zero = (a.low <= 0) & (a.high >= 0)
    ends += [np.where(zero, y, ends[0]).astype(ends[0].dtype) for y in b]
    return hull(ends, any_of([unknown(a), unknown(b)]))


def _neighbour(a: Interval, b: Interval) -> Interval:
    """nextafter: one step to either side."""
    down, up = np.nextafter(a.low, -np.inf), np.nextafter(a.high, np.inf)
    nan = np.isnan(b.low) | np.isnan(b.high)
    ends = [np.broadcast_arrays(end, b.low)[0] for end in (down, up)]
    return hull(ends, any_of([unknown(a), unknown(b), nan]))


def _predicate(op: str, x: Interval) -> Interval:
    """Tests of one float; the sign of a NaN is free."""
    low, high = x
    if low.dtype.kind != "f":
        return known(plain.call(op)(low), BOOL)
    test = plain.call(op)
    sure, possible = test(low) & test(high), test(low) | test(high)
    nan = np.isnan(low) & np.isnan(high)
    if op == "signbit":
        sure, possible = sure & ~nan, possible | nan
    lost = unknown(x)
    if op == "isinf":
        sure = sure & (low == high)
    if op == "isfinite":
        possible = possible | ((low != high) & ~nan)
    return Interval(np.asarray(sure & ~lost), np.asarray(possible | lost))


_PREDICATES = frozenset({"isnan", "isinf", "isfinite", "signbit"})


def _even(function: Any) -> Callable[[Interval], Interval]:
    """A function that falls to 0 at 0 and rises again."""

    def rule(x: Interval) -> Interval:
        ends = corners(function, x)
        inside = (x.low < 0) & (x.high > 0) & ~unknown(x)
        return ends if ends.low is ends.high else Interval(np.where(inside, 0, ends.low), ends.high)

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
    "reciprocal": lambda x: _FLOATS["true_divide"](known(1, x.low.dtype), x),
    "conjugate": functools.partial(corners, np.positive),
    "fabs": _even(np.absolute),
    "sign": functools.partial(corners, np.sign),
    "fmax": _at_points("fmax", functools.partial(corners, np.fmax)),
    "fmin": _at_points("fmin", functools.partial(corners, np.fmin)),
    "deg2rad": functools.partial(corners, np.deg2rad),
    "radians": functools.partial(corners, np.radians),
    "rad2deg": functools.partial(corners, np.rad2deg),
    "degrees": functools.partial(corners, np.degrees),
    **{
        name: functools.partial(corners, plain.call(name))
        for name in ("floor", "ceil", "trunc", "rint", "modf_whole", "ldexp")
    },
    "floor_divide": _at_points("floor_divide", _floored),
    "remainder": _at_points("remainder", _rest),
    "fmod": _at_points("fmod", _signed_rest),
    "copysign": _with_sign,
    "heaviside": _at_points("heaviside", _step),
    "nextafter": _at_points("nextafter", _neighbour),
    "spacing": _at_points("spacing", _nowhere),
    "modf_fraction": _at_points("modf_fraction", _nowhere),
    "frexp_mantissa": _at_points("frexp_mantissa", _nowhere),
}
"""The rules on floats that round once or not at all."""

_WHOLE: dict[str, Callable[..., Interval]] = {
    **{
        name: _FLOATS[name]
        for name in (
            "add subtract multiply negative positive maximum minimum absolute square sign fmax fmin"
        ).split()
    },
    "floor_divide": _divided(np.floor_divide),
    "remainder": _remainder,
}
"""The rules that also serve integers, as long as float64 holds them."""


def power(base: Interval, exponent: int) -> Interval:
    """Repeated squaring, low bit first; a negative exponent divides 1 by the power.

    float16 is multiplied in float32 and rounded once.
    """
    dtype = base.low.dtype
    if dtype == F16:
        return cast(power(cast(base, F32), exponent), F16)
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
    """Rounded, monotone; what an integer dtype cannot hold follows the one table of casts."""
    have = x.low.dtype
    if dtype == BOOL:
        return _truth(x)
    if dtype.kind == "f" or have in (BOOL, dtype):
        return corners(lambda a: a.astype(dtype), x)
    if have == F16:
        return cast(cast(x, F32), dtype)
    info = np.iinfo(dtype)
    if x.low is x.high:
        return each(lambda end: _to_integer(end, dtype), x)

    def fits(end: np.ndarray) -> Any:
        if have.kind != "f":
            return np.asarray((end >= info.min) & (end <= info.max))
        above = (end > float(info.min) - 1) & (end >= -(2.0**63))
        return np.asarray(above & (end < 2.0 ** (info.bits - (dtype.kind == "i"))))

    result = each(lambda end: _to_integer(end, dtype), x)
    sure = (x.low == x.high) | (np.isnan(x.low) & np.isnan(x.high)) | (fits(x.low) & fits(x.high))
    return Interval(
        np.where(sure, result.low, info.min).astype(dtype),
        np.where(sure, result.high, info.max).astype(dtype),
    )


def _to_integer(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The table of casts, written once more: what is no int64 is its smallest value."""
    if value.dtype.kind != "f":
        return value.astype(dtype)
    if dtype == I32:
        small = (value >= -(2.0**31)) & (value < 2.0**31)
        return np.where(small, np.where(small, value, 0).astype(I32), np.int32(-(2**31)))
    fits = (value >= -(2.0**63)) & (value < 2.0**63)
    signed = np.where(fits, np.where(fits, value, 0).astype(I64), np.iinfo(np.int64).min)
    if dtype != U64:
        return signed.astype(dtype)
    upper = (value >= 2.0**63) & (value < 2.0**64)
    rest = np.where(upper, value - 2.0**63, 0).astype(U64) + U64.type(2**63)
    return np.where(upper, rest, signed.astype(U64))
