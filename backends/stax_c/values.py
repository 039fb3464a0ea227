"""Scalar operations as C expressions over the vocabulary of ``stax_simd.h``.

Takes an operation, its operands as text and a number of lanes; gives an expression. One table per
kind of operation. A bool lives in registers as a mask, 0 or -1 in a 32-bit lane. Not here: loops,
addresses (``loops``), the operations themselves (``stax_simd.h``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stax_ref.dtypes import BOOL, SHORT
from stax_ref.errors import Unsupported
from stax_ref.graph import Literal

from .functions import float_literal

_INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_LOGIC = {"logical_and": "&", "logical_or": "|", "logical_xor": "^"}
_COMPARE = {
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
}
_MIRROR = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_CALLS = {"absolute", "sqrt", "maximum", "minimum", "exp", "log", "tanh"}
_DIVISIONS = {"floor_divide", "remainder"}


@dataclass(frozen=True, slots=True)
class Operand:
    """A value in C: its text, its dtype and how many lanes it has (1 for a scalar)."""

    text: str
    dtype: np.dtype
    lanes: int = 1


def memory_type(dtype: np.dtype) -> str:
    """The C type of an element in memory."""
    return "u8" if dtype == BOOL else SHORT[dtype]


def register_type(dtype: np.dtype, lanes: int) -> str:
    """The C type of a value: ``f32`` or ``f32x16``; a bool is a 32-bit mask."""
    name = "i32" if dtype == BOOL else SHORT[dtype]
    return name if lanes == 1 else f"{name}x{lanes}"


def constant(value: Literal) -> str:
    """A C literal with exactly this value."""
    number = value.value
    if value.dtype == BOOL:
        return "-1" if number else "0"
    if value.dtype.kind == "f":
        return float_literal(float(number), value.dtype.itemsize == 4)
    whole = int(number)
    if whole == np.iinfo(value.dtype).min:
        return f"(({SHORT[value.dtype]})({whole + 1}LL - 1))"
    return f"(({SHORT[value.dtype]}){whole}LL)"


def widen(operand: Operand, lanes: int) -> str:
    """An operand in every lane."""
    if operand.lanes == lanes:
        return operand.text
    return f"splat_{register_type(operand.dtype, lanes)}({operand.text})"


def _mask_of(text: str, dtype: np.dtype, lanes: int) -> str:
    """A comparison's mask, as wide as its operands, in 32-bit lanes."""
    if dtype.itemsize != 8:
        return text
    wide, narrow = register_type(np.dtype(np.int64), lanes), register_type(BOOL, lanes)
    return f"cast_{narrow}_{wide}({text})"


def _mask_for(text: str, dtype: np.dtype, lanes: int) -> str:
    """A 32-bit mask as wide as the values it selects."""
    if dtype.itemsize != 8:
        return text
    wide, narrow = register_type(np.dtype(np.int64), lanes), register_type(BOOL, lanes)
    return f"cast_{wide}_{narrow}({text})"


def expression(op: str, args: list[Operand], dtype: np.dtype, lanes: int, active: str) -> str:
    """One operation.

    Args:
        op: a name of ``stax_ref.ops.OPS``.
        args: operands of 1 or ``lanes`` lanes.
        dtype: dtype of the result.
        lanes: lanes of the result.
        active: C text of the number of lanes that count (others must not raise flags).

    Raises:
        Unsupported: the operation has no C form.
    """
    source = args[0].dtype if op != "where" else dtype
    words = [widen(a, lanes) for a in args]
    vtype = register_type(source, lanes)
    if op in _INFIX:
        return f"{words[0]} {_INFIX[op]} {words[1]}"
    if op == "negative":
        return f"-{words[0]}"
    if op in _CALLS:
        return f"{op}_{vtype}({', '.join(words)})"
    if op in _DIVISIONS:
        count = "" if lanes == 1 else f", {active}"
        return f"{op}_{vtype}({', '.join(words)}{count}, flags)"
    if op in _COMPARE:
        name = _COMPARE[op]
        if source == BOOL:
            name = _MIRROR[name]
        return _mask_of(f"{name}_{vtype}({', '.join(words)})", source, lanes)
    if op in _LOGIC:
        truths = [_truth(w, a.dtype, lanes) for w, a in zip(words, args, strict=True)]
        return f"{truths[0]} {_LOGIC[op]} {truths[1]}"
    if op == "logical_not":
        return f"~({_truth(words[0], source, lanes)})"
    if op == "where":
        mask = _mask_for(words[0], dtype, lanes)
        return f"select_{vtype}({mask}, {words[1]}, {words[2]})"
    if op == "cast":
        return _cast(words[0], source, dtype, lanes)
    raise Unsupported(f"the C backend has no {op}", None, 'backend="ref"')


def _truth(text: str, dtype: np.dtype, lanes: int) -> str:
    """A value as a mask: not equal to zero."""
    if dtype == BOOL:
        return text
    vtype = register_type(dtype, lanes)
    zero = f"splat_{vtype}(0)"
    return _mask_of(f"ne_{vtype}({text}, {zero})", dtype, lanes)


def _cast(text: str, source: np.dtype, target: np.dtype, lanes: int) -> str:
    if source == target:
        return text
    if target == BOOL:
        return _truth(text, source, lanes)
    if source == BOOL:
        text, source = f"({text} & 1)", np.dtype(np.int32)
        if target == source:
            return text
    return f"cast_{register_type(target, lanes)}_{register_type(source, lanes)}({text})"
