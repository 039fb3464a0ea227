"""Choosing between values: where, clip, select, choose, nan_to_num.

Takes operands of a traced call; gives equations in NumPy's dtype. ``where`` evaluates both sides,
as NumPy does. Not here: arithmetic (``elementwise``), indexing with a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import DtypeError, ShapeError, UnsupportedOperation, ValueDependent, user_frame
from ..graph import Literal, Operand, Value, literal
from ..tracer import Trace, Tracer
from .elementwise import loop_dtypes, pointwise
from .operands import broadcast, carried, convert, describe, no_options, traced

_CLIP: Any = np._core.umath.clip  # type: ignore[attr-defined]  # the ufunc behind np.clip


def where(recording: Trace, condition: Any, *choices: Any) -> Tracer:
    """``np.where(condition, x, y)``; the one-argument form is refused."""
    if len(choices) != 2:
        raise ValueDependent(
            "np.where(condition) has a shape that depends on values",
            user_frame()[0],
            "np.where(condition, x, y)",
        )
    mask = _mask(recording, condition)
    described = [describe(recording, thing) for thing in choices]
    dtype = _common(described, choices, "np.where")
    operands = [
        _converted_anyhow(recording, thing, operand, dtype)
        for thing, (operand, _) in zip(choices, described, strict=True)
    ]
    shape = broadcast([mask, *operands], "np.where")
    return recording.record("where", (mask, *operands), shape, dtype)


def _mask(recording: Trace, condition: Any) -> Operand:
    """A condition as a boolean operand: what is not zero is true."""
    mask, _ = describe(recording, condition)
    if mask is None:
        return literal(bool(condition), dtypes.BOOL)
    if isinstance(mask, Literal):
        return literal(bool(mask.value), dtypes.BOOL)
    if mask.dtype == dtypes.BOOL:
        return mask
    zero = literal(0, mask.dtype)
    return recording.record("not_equal", (mask, zero), mask.shape, dtypes.BOOL)._value


def _common(
    described: Sequence[tuple[Operand | None, Any]], things: Sequence[Any], what: str
) -> np.dtype:
    """The dtype of ``np.result_type``, Python numbers being weak."""
    kinds = [kind(0) if isinstance(kind, type) else kind for _, kind in described]
    try:
        return carried(np.result_type(*kinds), what)
    except TypeError as error:
        raise DtypeError(f"{what}: {error}", user_frame()[0], "convert the operands") from None


def _converted_anyhow(
    recording: Trace, thing: Any, operand: Operand | None, dtype: np.dtype
) -> Operand:
    """A choice in the common dtype; Python integers wrap as in NumPy's unsafe cast."""
    if operand is None:
        if type(thing) is int and not -(2**63) <= thing < 2**64:
            raise OverflowError(f"Python integer {thing} out of bounds for {dtype}")
        with np.errstate(over="ignore"):
            return literal(np.asarray(thing).astype(dtype), dtype)
    if isinstance(operand, Value) and operand.weak and operand.dtype != dtype:
        return recording.record("cast", (operand,), operand.shape, dtype)._value
    return convert(recording, thing, operand, dtype)


def clip(
    recording: Trace,
    a: Any,
    a_min: Any = np._NoValue,
    a_max: Any = np._NoValue,
    out: Any = None,
    *,
    min: Any = np._NoValue,
    max: Any = np._NoValue,
    **options: Any,
) -> Tracer:
    """``np.clip`` in all its forms, as maximum then minimum; NaN stays."""
    no_options("clip", {"out": out, **options})
    if a_min is np._NoValue and a_max is np._NoValue:
        a_min, a_max = (None if end is np._NoValue else end for end in (min, max))
    elif min is not np._NoValue or max is not np._NoValue:
        raise ShapeError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is "
            "forbidden.",
            user_frame()[0],
        )
    low, high = (None if end is np._NoValue else end for end in (a_min, a_max))
    operand, kind = describe(recording, a)
    if operand is not None and dtypes.is_integer(operand.dtype):
        info = np.iinfo(operand.dtype)
        low = None if type(low) is int and low <= info.min else low
        high = None if type(high) is int and high >= info.max else high
        low = _within_dtype(recording, low, operand.dtype, np.maximum, info.min)
        high = _within_dtype(recording, high, operand.dtype, np.minimum, info.max)
    if low is None and high is None:
        return pointwise(recording, np.positive, (a,))
    if low is None or high is None:
        ufunc, end = (np.minimum, high) if low is None else (np.maximum, low)
        return pointwise(recording, ufunc, (a, end))
    described = [(operand, kind), describe(recording, low), describe(recording, high)]
    loop, _ = loop_dtypes(_CLIP, [kind for _, kind in described])
    x, first, last = (
        convert(recording, thing, operand, carried(loop[0], "np.clip"))
        for thing, (operand, _) in zip((a, low, high), described, strict=True)
    )
    raised = recording.record("maximum", (x, first), broadcast((x, first), "np.clip"), loop[0])
    shape = broadcast((raised._value, last), "np.clip")
    return recording.record("minimum", (raised._value, last), shape, loop[0])


def _within_dtype(recording: Trace, end: Any, dtype: np.dtype, nearer: Any, limit: int) -> Any:
    """A Python integer that is an argument, as an end of a clip of integers.

    Beyond the dtype on the side where it clips nothing it is the end of the dtype; on the other
    side NumPy refuses it.
    """
    if not isinstance(end, Tracer) or describe(recording, end)[1] is not int:
        return end
    info = np.iinfo(dtype)
    lowest, highest = -(2**63), 2**63 - 1
    allowed = (lowest, int(info.max)) if nearer is np.maximum else (int(info.min), highest)
    recording.limit(end._value, *allowed)
    wide = end.astype(np.int64)
    if limit <= highest:
        wide = pointwise(recording, nearer, (wide, np.int64(limit)))
    return wide.astype(dtype)


def select(recording: Trace, condlist: Any, choicelist: Any, default: Any = 0) -> Tracer:
    """``np.select``: the first choice whose condition holds, as a chain of ``where``."""
    if len(condlist) != len(choicelist):
        raise ShapeError("list of cases must be same length as list of conditions", user_frame()[0])
    if not len(condlist):
        raise ShapeError("select with an empty condition list is not possible", user_frame()[0])
    for position, condition in enumerate(condlist):
        _, kind = describe(recording, condition)
        if kind is not bool and kind != dtypes.BOOL:
            raise DtypeError(
                f"invalid entry {position} in condlist: should be boolean ndarray",
                user_frame()[0],
                "a comparison, or condition != 0",
            )
    things = [*choicelist, default]
    described = [describe(recording, thing) for thing in things]
    dtype = _common(described, things, "np.select")
    converted = [
        _converted_anyhow(recording, thing, operand, dtype)
        for thing, (operand, _) in zip(things, described, strict=True)
    ]
    masks = [_mask(recording, condition) for condition in condlist]
    shape = broadcast([*masks, *converted], "np.select")
    result = converted[-1]
    for mask, choice in zip(masks[::-1], converted[-2::-1], strict=True):
        here = broadcast([mask, choice, result], "np.select")
        result = recording.record("where", (mask, choice, result), here, dtype)._value
    assert isinstance(result, Value)
    if result.shape != shape:
        return recording.record("broadcast_to", (result,), shape, dtype)
    return Tracer(recording, result)


def choose_within(recording: Trace, a: Any, choices: Any, mode: str) -> Tracer:
    """``np.choose`` with ``mode="clip"`` or ``"wrap"``, as a chain of ``where``."""
    if isinstance(choices, Tracer):
        choices = [choices[k] for k in range(len(choices))]
    choices = list(choices)
    index = Tracer(recording, traced(recording, a, "choose"))
    if not dtypes.is_integer(index.dtype) and index.dtype != dtypes.BOOL:
        raise DtypeError("np.choose by floats", user_frame()[0], "integers")
    count = len(choices)
    number = pointwise(recording, np.remainder, (index.astype(np.int64), count))
    if mode == "clip":
        number = clip(recording, index.astype(np.int64), 0, count - 1)
    conditions = [pointwise(recording, np.equal, (number, k)) for k in range(count - 1)]
    if not conditions:
        return select(recording, [pointwise(recording, np.equal, (number, 0))], choices, choices[0])
    return select(recording, conditions, choices[:-1], choices[-1])


def nan_to_num(
    recording: Trace,
    x: Any,
    copy: bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Tracer:
    """``np.nan_to_num`` of real numbers; the operand is never changed."""
    if not copy:
        raise UnsupportedOperation(
            "np.nan_to_num(..., copy=False) writes into a traced array",
            user_frame()[0],
            "y = np.nan_to_num(x)",
        )
    value = Tracer(recording, traced(recording, x, "nan_to_num"))
    if value.dtype.kind != "f":
        return pointwise(recording, np.positive, (value,)) if value.dtype.kind != "b" else value
    info = np.finfo(value.dtype)
    posinf = info.max if posinf is None else posinf
    neginf = info.min if neginf is None else neginf
    infinite: Any = pointwise(recording, np.isinf, (value,))
    below: Any = pointwise(recording, np.signbit, (value,))
    for mask, choice in (
        (pointwise(recording, np.isnan, (value,)), nan),
        (infinite & ~below, posinf),
        (infinite & below, neginf),
    ):
        value = where(recording, mask, _cast_like(recording, choice, value.dtype), value)
    return value


def _cast_like(recording: Trace, choice: Any, dtype: np.dtype) -> Any:
    """A replacement in the dtype of what it replaces, as ``np.copyto`` casts it."""
    if isinstance(choice, Tracer):
        return choice.astype(dtype)
    with np.errstate(over="ignore"):
        array = np.asarray(choice).astype(dtype)
    return array[()] if array.ndim == 0 else array


FUNCTIONS: dict[Any, Any] = {
    np.where: where,
    np.clip: clip,
    np.select: select,
    np.nan_to_num: nan_to_num,
}

METHODS_OF_FAMILY: dict[str, Any] = {"clip": clip}
