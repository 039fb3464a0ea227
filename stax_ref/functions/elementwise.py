"""Elementwise NumPy functions as equations: promotion, casts, ``where``, ``clip``, ``power``.

Takes operands of a traced call; gives one equation in the dtypes of NumPy's own loop. Promotion is
asked of ``ufunc.resolve_dtypes``, so weak Python scalars (NEP 50) and every refusal are NumPy's
own. Not here: which function is which (``namespace``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import DtypeError, ShapeError, UnsupportedOperation, ValueDependent, user_frame
from ..graph import Literal, Operand, Value, literal
from ..tracer import Trace, Tracer, as_operand
from .operands import broadcast, carried, convert, describe, no_options

MAX_EXPONENT = 64


COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


_PYTHON_ARITHMETIC = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "divide",
        "floor_divide",
        "remainder",
        "negative",
        "positive",
        "absolute",
        "power",
    }
)
"""Operators for which Python takes True as 1."""


def loop_dtypes(ufunc: Any, kinds: Sequence[Any]) -> tuple[tuple[np.dtype, ...], bool]:
    """NumPy's loop for these operands, and whether every operand is a weak Python scalar."""
    weak = all(isinstance(kind, type) for kind in kinds)
    if weak and ufunc.__name__ in _PYTHON_ARITHMETIC:
        kinds = [int if kind is bool else kind for kind in kinds]
    # NumPy itself knows weak integers and floats; a Python bool is its bool
    kinds = [dtypes.scalar_dtype(k) if k is bool or weak else k for k in kinds]
    try:
        resolved = ufunc.resolve_dtypes((*kinds, *([None] * ufunc.nout)))
    except TypeError as error:
        raise DtypeError(
            f"np.{ufunc.__name__}: {error}", user_frame()[0], "convert the operands first"
        ) from None
    return resolved, weak


def pointwise(
    recording: Trace, ufunc: Any, inputs: Sequence[Any], operator: bool = False
) -> Tracer:
    """An elementwise ufunc: operands cast to NumPy's loop, then one equation.

    Python's own operators keep Python scalars weak; a NumPy call makes NumPy scalars of them.
    """
    name = "true_divide" if ufunc.__name__ == "divide" else ufunc.__name__
    described = [describe(recording, thing) for thing in inputs]
    loop, weak = loop_dtypes(ufunc, [kind for _, kind in described])
    if name in COMPARISONS and loop[0] == dtypes.I32 and _may_exceed(inputs, described):
        loop = (dtypes.I64, dtypes.I64, dtypes.BOOL)
    operands: list[Operand] = []
    for thing, (operand, _), dtype in zip(inputs, described, loop, strict=False):
        carried(dtype, f"np.{name}")
        try:
            operands.append(convert(recording, thing, operand, dtype))
        except OverflowError:
            if name not in COMPARISONS:
                raise
            return _beyond_every_integer(recording, ufunc, inputs)
    out = carried(loop[ufunc.nin], f"np.{name}")
    shape = broadcast(operands, f"np.{name}")
    same = name in ("positive", "conjugate") or (
        name in ("floor", "ceil", "trunc") and out.kind != "f"
    )
    if same and isinstance(operands[0], Value) and not operands[0].weak:
        return Tracer(recording, operands[0])
    result = recording.record(name, operands, shape, out, weak and operator)
    if weak and out == dtypes.I64:
        _follow_integers(recording, name, operands, result._value)
    return result


def _may_exceed(inputs: Sequence[Any], described: Sequence[tuple[Operand | None, Any]]) -> bool:
    """True when a Python integer compared with int32 may not be one, or is not."""
    for thing, (operand, kind) in zip(inputs, described, strict=True):
        if kind is int and (operand is not None or not -(2**31) <= thing < 2**31):
            return True
    return False


def _beyond_every_integer(recording: Trace, ufunc: Any, inputs: Sequence[Any]) -> Tracer:
    """An integer array compared with a Python integer beyond int64: NumPy knows the answer."""
    array = next(x for x in inputs if isinstance(x, Tracer))
    zero = np.zeros(1, np.int64)
    answer = bool(ufunc(*(zero if isinstance(x, Tracer) else x for x in inputs))[0])
    return pointwise(recording, np.equal if answer else np.not_equal, (array, array))


def _follow_integers(
    recording: Trace, name: str, operands: Sequence[Operand], result: Value
) -> None:
    """Python integers have no width: allow what stays affine in one argument, and limit that.

    Raises:
        UnsupportedOperation: anything else, which could leave 64 bits unnoticed.
    """
    values = [o for o in operands if isinstance(o, Value)]
    numbers = [int(o.value) for o in operands if isinstance(o, Literal)]
    if len(values) == 1:
        argument = values[0].name
        source, factor, offset = recording.affine.get(argument, (argument, 1, 0))
        number = numbers[0] if numbers else 0
        first = isinstance(operands[0], Literal)
        maps = {
            "add": (factor, offset + number),
            "subtract": (-factor, number - offset) if first else (factor, offset - number),
            "multiply": (factor * number, offset * number),
            "negative": (-factor, -offset),
            "positive": (factor, offset),
        }
        if name in maps:
            recording.affine[result.name] = (source, *maps[name])
            recording.limit(result, -(2**63), 2**63 - 1)
            return
    raise UnsupportedOperation(
        f"{name} of Python integers that are arguments",
        user_frame()[0],
        "make them static (static_argnames), or pass np.int64(n)",
    )


def power(recording: Trace, base: Any, exponent: Any, operator: bool = False) -> Any:
    """``base ** exponent`` for small constant integer exponents (and 0.5 by the operator)."""
    if isinstance(exponent, Tracer):
        raise _no_power()
    number = exponent.item() if isinstance(exponent, np.generic) else exponent
    if type(number) not in (int, float):
        raise _no_power()
    if operator and number == 0.5 and isinstance(base, Tracer):
        return pointwise(recording, np.sqrt, (base,), operator)
    small = abs(number) <= MAX_EXPONENT  # false for NaN
    if not small or number != int(number) or not isinstance(base, Tracer):
        raise _no_power()
    _, kind = describe(recording, exponent)
    operand, base_kind = describe(recording, base)
    loop, weak = loop_dtypes(np.power, [base_kind, kind])
    dtype = carried(loop[2], "np.power")
    if dtype.kind in "iu" and number < 0:
        raise ShapeError(
            "Integers to negative integer powers are not allowed.", user_frame()[0], "float base"
        )
    converted = convert(recording, base, operand, dtype)
    assert isinstance(converted, Value)
    return recording.record(
        "power", (converted,), converted.shape, dtype, weak and operator, exponent=int(number)
    )


def _no_power() -> UnsupportedOperation:
    return UnsupportedOperation(
        "power with this exponent is not supported",
        user_frame()[0],
        f"a constant integer exponent up to {MAX_EXPONENT}, np.sqrt, or np.exp(y * np.log(x))",
    )


def cast(recording: Trace, x: Any, dtype: Any, **kwargs: Any) -> Tracer:
    """``astype``."""
    kwargs.pop("copy", None)
    no_options("astype", kwargs)
    target = carried(np.dtype(dtype), "astype")
    operand = as_operand(recording, x)
    if not isinstance(operand, Value):
        raise DtypeError("astype of a constant", user_frame()[0], "the constant in that dtype")
    if operand.dtype == target and not operand.weak:
        return Tracer(recording, operand)
    return recording.record("cast", (operand,), operand.shape, target)


def where(recording: Trace, condition: Any, *choices: Any) -> Tracer:
    """``np.where(condition, x, y)``; the one-argument form is refused."""
    if len(choices) != 2:
        raise ValueDependent(
            "np.where(condition) has a shape that depends on values",
            user_frame()[0],
            "np.where(condition, x, y)",
        )
    mask, _ = describe(recording, condition)
    if mask is None:
        mask = literal(bool(condition), dtypes.BOOL)
    if mask.dtype != dtypes.BOOL:
        zero = literal(0, mask.dtype)
        shape = mask.shape if isinstance(mask, Value) else ()
        mask = recording.record("not_equal", (mask, zero), shape, dtypes.BOOL)._value
    described = [describe(recording, thing) for thing in choices]
    kinds = [kind(0) if isinstance(kind, type) else kind for _, kind in described]
    dtype = carried(np.result_type(*kinds), "np.where")
    operands = [
        convert(recording, thing, operand, dtype)
        for thing, (operand, _) in zip(choices, described, strict=True)
    ]
    shape = broadcast([mask, *operands], "np.where")
    return recording.record("where", (mask, *operands), shape, dtype)


def clip(recording: Trace, x: Any, a_min: Any = None, a_max: Any = None, **kwargs: Any) -> Any:
    """``np.clip`` as maximum then minimum."""
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    no_options("clip", kwargs)
    if isinstance(x, Tracer) and x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        low = None if type(low) is int and low < info.min else low
        high = None if type(high) is int and high > info.max else high
    if low is not None:
        x = pointwise(recording, np.maximum, (x, low))
    return x if high is None else pointwise(recording, np.minimum, (x, high))
