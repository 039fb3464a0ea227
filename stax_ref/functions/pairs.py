"""Ufuncs with two results, and ``ldexp`` with an exponent of its own dtype.

Takes operands of a traced call; gives a tuple of two arrays: ``divmod``, ``modf``, ``frexp``. Not
here: ufuncs with one result (``elementwise``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import Value
from ..tracer import Trace, Tracer
from .elementwise import loop_dtypes, pointwise
from .operands import carried, convert, describe

_RESULTS = {
    "modf": ("modf_fraction", "modf_whole"),
    "frexp": ("frexp_mantissa", "frexp_exponent"),
}


def pair(
    recording: Trace, ufunc: Any, inputs: Sequence[Any], operator: bool = False, **options: Any
) -> tuple[Tracer, Tracer]:
    """Both results of ``np.divmod``, ``np.modf`` or ``np.frexp``."""
    if ufunc is np.divmod:
        return (
            pointwise(recording, np.floor_divide, inputs, operator, **options),
            pointwise(recording, np.remainder, inputs, operator, **options),
        )
    (thing,) = inputs
    operand, kind = describe(recording, thing)
    loop, _ = loop_dtypes(ufunc, [kind], **options)
    value = convert(recording, thing, operand, carried(loop[0], f"np.{ufunc.__name__}"))
    shape = value.shape if isinstance(value, Value) else ()
    first, second = (
        recording.record(name, (value,), shape, dtype)
        for name, dtype in zip(_RESULTS[ufunc.__name__], loop[1:], strict=True)
    )
    return first, second


def ldexp(recording: Trace, x: Any, exponent: Any, **options: Any) -> Tracer:
    """``np.ldexp``; an int64 exponent is cut to int32, where every float has left its range."""
    described = [describe(recording, thing) for thing in (x, exponent)]
    loop, _ = loop_dtypes(np.ldexp, [kind for _, kind in described], **options)
    if loop[1] == dtypes.I64:
        info = np.iinfo(np.int32)
        wide = pointwise(recording, np.maximum, (exponent, np.int64(info.min)))
        exponent = pointwise(recording, np.minimum, (wide, np.int64(info.max))).astype(np.int32)
    return pointwise(recording, np.ldexp, (x, exponent), **options)
