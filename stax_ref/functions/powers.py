"""Powers: repeated squaring for small constant exponents, the C library's ``pow`` for the others.

Takes operands of ``**`` and ``np.power``; gives one equation. Not here: the squarings themselves
(``compose``), the loop of integers (``meaning.power``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError, user_frame
from ..graph import Value
from ..tracer import Trace, Tracer
from .elementwise import follow_integers, loop_dtypes, pointwise
from .operands import carried, convert, describe

MAX_EXPONENT = 64
"""Up to it a constant whole exponent becomes multiplications."""


def power(
    recording: Trace, base: Any, exponent: Any, operator: bool = False, **options: Any
) -> Tracer:
    """``base ** exponent``; the exponent 0.5 is a square root, as it is in NumPy."""
    known = isinstance(base, Tracer) and isinstance(exponent, (int, float, np.number))
    if known and exponent == 0.5:
        kinds = [describe(recording, x)[1] for x in (base, exponent)]
        loop, _ = loop_dtypes(np.power, kinds, operator, **options)
        return pointwise(recording, np.sqrt, (_converted(recording, base, loop[0]),), operator)
    if known and operator and type(exponent) is int and exponent == 2 and base.dtype.kind == "b":
        return pointwise(recording, np.square, (base,), operator)
    if not isinstance(base, Tracer) or not _is_small(exponent):
        return pointwise(recording, np.power, (base, exponent), operator, **options)
    kinds = [describe(recording, x)[1] for x in (base, exponent)]
    loop, weak = loop_dtypes(np.power, kinds, operator, **options)
    dtype = carried(loop[2], "np.power")
    if dtype.kind == "u" and exponent < 0:  # no exponent of this dtype
        return pointwise(recording, np.power, (base, exponent), operator, **options)
    if dtype.kind != "f" and exponent < 0 and base.size:
        raise ShapeError(
            "Integers to negative integer powers are not allowed.", user_frame()[0], "float base"
        )
    if weak and dtype.kind != "f" and exponent not in (0, 1):
        follow_integers(recording, "power", [base._value], base._value)
    value = _converted(recording, base, dtype)._value
    return recording.record(
        "power", (value,), value.shape, dtype, weak and operator, exponent=int(exponent)
    )


def _is_small(exponent: Any) -> bool:
    """True for a number that is whole and small."""
    number = exponent.item() if isinstance(exponent, np.generic) else exponent
    if type(number) not in (int, float):
        return False
    return bool(abs(number) <= MAX_EXPONENT and int(number) == number)


def _converted(recording: Trace, base: Tracer, dtype: np.dtype) -> Tracer:
    value = convert(recording, base, base._value, dtype)
    assert isinstance(value, Value)
    return Tracer(recording, value)
