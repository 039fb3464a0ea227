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

from .dtypes import BOOL, F16, F32, F64, U64

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


_DEG2RAD = _in_float32(_scaled(math.pi, 180))
_RAD2DEG = _in_float32(_scaled(180, math.pi))

COMPOSITES: dict[str, Composite] = {
    "square": _square,
    "reciprocal": _reciprocal,
    "deg2rad": _DEG2RAD,
    "radians": _DEG2RAD,
    "rad2deg": _RAD2DEG,
    "degrees": _RAD2DEG,
    "logaddexp": _in_float32(_log_of_sum("exp", math.log(2), 1)),
    "logaddexp2": _in_float32(_log_of_sum("exp2", 1, math.log2(math.e))),
}
