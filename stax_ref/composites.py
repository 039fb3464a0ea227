"""NumPy's elementwise functions that are several scalar operations, as NumPy itself computes them.

Takes a ``Builder`` and operands; gives the position of the result. Holds one function per name in
:data:`COMPOSITES`. What NumPy computes for float16 in float32 is computed in float32 here, and
rounded once at the end. Not here: single operations (``ops``), functions that NumPy itself writes
in Python: those are several equations (``functions``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .dtypes import BOOL, F16, F32, F64, I32, I64, U64

if TYPE_CHECKING:
    from .compose import Builder

Composite = Callable[["Builder", Sequence[int], np.dtype], int]


def _square(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
    return builder.apply("multiply", [args[0], args[0]], dtype)


def _reciprocal(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
    """1 / x; of integers NumPy divides as doubles and converts, which makes 0 of a uint64 0."""
    (x,) = args
    if dtype == U64:
        return builder.apply(
            "cast", [builder.apply("equal", [x, builder.constant(1, U64)], BOOL)], U64
        )
    if dtype.kind == "f":
        return builder.apply("divide", [builder.constant(1, dtype), x], dtype)
    real = builder.apply("cast", [x], F64)
    quotient = builder.apply("divide", [builder.constant(1, F64), real], F64)
    return builder.apply("cast", [quotient], dtype)


def _in_float32(composite: Composite) -> Composite:
    """The same for float16 through float32, rounded once."""

    def emit(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
        if dtype != F16:
            return composite(builder, args, dtype)
        wide = [builder.apply("cast", [a], F32) for a in args]
        return builder.apply("cast", [composite(builder, wide, F32)], F16)

    return emit


def _scaled(up: float, down: float) -> Composite:
    """x times a quotient of two constants, computed in the dtype as C does."""

    def emit(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
        factor = dtype.type(up) / dtype.type(down)
        return builder.apply("multiply", [args[0], builder.constant(factor, dtype)], dtype)

    return emit


def _log_of_sum(exponential: str, at_equal: float, scale: float) -> Composite:
    """The larger operand plus ``scale * log1p(e(-distance))``; infinities of one sign are equal."""

    def emit(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
        x, y = args
        distance = builder.apply("absolute", [builder.apply("subtract", [x, y], dtype)], dtype)
        apart = builder.apply("negative", [distance], dtype)
        grown = builder.apply("log1p", [builder.apply(exponential, [apart], dtype)], dtype)
        if scale != 1:
            grown = builder.apply("multiply", [builder.constant(scale, dtype), grown], dtype)
        larger = builder.apply("maximum", [x, y], dtype)
        apart_sum = builder.apply("add", [larger, grown], dtype)
        twice = builder.apply("add", [x, builder.constant(at_equal, dtype)], dtype)
        equal = builder.apply("equal", [x, y], BOOL)
        return builder.apply("where", [equal, twice, apart_sum], dtype)

    return emit


def _sigmoid(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
    """1 / (1 + e) or e / (1 + e), with e = exp(-|x|)."""
    (x,) = args
    zero, one = builder.constant(0, dtype), builder.constant(1, dtype)
    size = builder.apply("negative", [builder.apply("absolute", [x], dtype)], dtype)
    e = builder.apply("exp", [size], dtype)
    below = builder.apply("less", [x, zero], BOOL)
    above = builder.apply("where", [below, e, one], dtype)
    return builder.apply("divide", [above, builder.apply("add", [one, e], dtype)], dtype)


def _modf_whole(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
    return builder.apply("trunc", [args[0]], dtype)


def _modf_fraction(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
    """x - trunc(x), which is exact, with the sign of x; 0 for an infinity."""
    (x,) = args
    rest = builder.apply("subtract", [x, builder.apply("trunc", [x], dtype)], dtype)
    infinite = builder.apply("isinf", [x], BOOL)
    size = builder.apply("where", [infinite, builder.constant(0, dtype), rest], dtype)
    return builder.apply("copysign", [size, x], dtype)


def _frexp(builder: Builder, x: int, dtype: np.dtype) -> tuple[int, int]:
    """Mantissa and exponent: the logarithm guesses the exponent, a comparison corrects it by one.

    Zero, infinity and NaN are their own mantissa, with exponent 0.
    """
    zero = builder.constant(0, dtype)
    finite = builder.apply("isfinite", [x], BOOL)
    usual = builder.apply(
        "logical_and", [finite, builder.apply("not_equal", [x, zero], BOOL)], BOOL
    )
    size = builder.apply("absolute", [x], dtype)
    tame = builder.apply("where", [usual, size, builder.constant(1, dtype)], dtype)
    guess = builder.apply("floor", [builder.apply("log2", [tame], dtype)], dtype)
    exponent = builder.apply("cast", [guess], I32)
    one = builder.constant(1, I32)
    for test, limit, step in (("greater_equal", 1.0, "add"), ("less", 0.5, "subtract")):
        back = builder.apply("negative", [exponent], I32)
        scaled = builder.apply("ldexp", [tame, back], dtype)
        off = builder.apply(test, [scaled, builder.constant(limit, dtype)], BOOL)
        moved = builder.apply(step, [exponent, one], I32)
        exponent = builder.apply("where", [off, moved, exponent], I32)
    scaled = builder.apply("ldexp", [x, builder.apply("negative", [exponent], I32)], dtype)
    mantissa = builder.apply("where", [usual, scaled, x], dtype)
    return mantissa, builder.apply("where", [usual, exponent, builder.constant(0, I32)], I32)


def _frexp_mantissa(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
    return _frexp(builder, args[0], dtype)[0]


def _frexp_exponent(builder: Builder, args: Sequence[int], dtype: np.dtype) -> int:
    return _frexp(builder, args[0], builder.instrs[args[0]].dtype)[1]


COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


def mixed_comparison(
    builder: Builder, op: str, args: Sequence[int], have: Sequence[np.dtype]
) -> int:
    """int64 against uint64 by value: a negative number is below every unsigned one."""
    signed = [dtype == I64 for dtype in have].index(True)
    x = args[signed]
    operands = list(args)
    operands[signed] = builder.apply("cast", [x], U64)
    usual = builder.apply(op, operands, BOOL)
    negative = builder.apply("less", [x, builder.constant(0, I64)], BOOL)
    ends = (-1, 0) if signed == 0 else (0, -1)
    answer = builder.constant(bool(getattr(np, op)(*ends)), BOOL)
    return builder.apply("where", [negative, answer, usual], BOOL)


_DEG2RAD = _in_float32(_scaled(math.pi, 180))
_RAD2DEG = _in_float32(_scaled(180, math.pi))

COMPOSITES: dict[str, Composite] = {
    "square": _square,
    "reciprocal": _reciprocal,
    "deg2rad": _DEG2RAD,
    "radians": _DEG2RAD,
    "rad2deg": _RAD2DEG,
    "degrees": _RAD2DEG,
    "sigmoid": _in_float32(_sigmoid),
    "modf_fraction": _modf_fraction,
    "modf_whole": _modf_whole,
    "frexp_mantissa": _frexp_mantissa,
    "frexp_exponent": _frexp_exponent,
    "logaddexp": _in_float32(_log_of_sum("exp", math.log(2), 1)),
    "logaddexp2": _in_float32(_log_of_sum("exp2", 1, math.log2(math.e))),
}
"""Per equation: what it becomes."""

HEAVY = frozenset({"sigmoid", "frexp_mantissa", "frexp_exponent", "logaddexp", "logaddexp2"})
"""Those with a function in them that is too dear to compute twice."""

MOST_OPERATIONS = {"power": 16, **dict.fromkeys(COMPOSITES, 6), **dict.fromkeys(HEAVY, 48)}
"""An upper bound of the operations of an equation that has more than one."""
