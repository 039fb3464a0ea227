"""Scalar operations as C expressions over the vocabulary of ``stax_simd.h`` and its companions.

Takes an operation, its operands as text and a number of lanes; gives an expression, and the headers
that a dtype or an operation needs. One table per kind of operation. Lanes have 32 or 64 bits: a
bool lives in registers as a mask, 0 or -1; an integer of 8 or 16 bits as the int32 of the same
value, wrapped after every operation; a float16 as a float32, rounded after every operation. Not
here: loops, addresses (``loops``), the operations themselves (the headers).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stax_ref.dtypes import BOOL, F16, F32, F64, I32, SHORT
from stax_ref.errors import Unsupported
from stax_ref.graph import Literal
from stax_ref.libm import SYMBOLS
from stax_ref.ops import FLAGGED

from .functions import float_literal

_INFIX = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
_PREFIX = {"negative": "-", "invert": "~"}
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
_CALLS = {
    *("absolute", "sqrt", "maximum", "minimum", "exp", "log", "tanh"),
    *("left_shift", "right_shift", "sign", "bitwise_count", "fmax", "fmin", "heaviside"),
    *("copysign", "floor", "ceil", "trunc", "rint", "nextafter", "spacing"),
}
_PREDICATES = {"isnan", "isinf", "isfinite", "signbit"}
_DIVISIONS = FLAGGED - {"power"}
_LANEWISE = {"gcd", "lcm", "ldexp", *FLAGGED, *SYMBOLS}
_INTEGER_OPS = {
    *("left_shift", "right_shift", "sign", "bitwise_count", "gcd", "lcm", "power"),
}
_FLOAT_OPS = {
    *("floor", "ceil", "trunc", "rint", "sign", "copysign", "fmax", "fmin", "heaviside", "fmod"),
    *("nextafter", "spacing", "ldexp", "floor_divide", "remainder"),
}
_ROUNDED = {
    *("add", "subtract", "multiply", "divide", "sqrt", "exp", "log", "tanh", "floor_divide"),
    *("remainder", "ldexp", *SYMBOLS),
}
"""Operations of float16 whose float32 value may lie between two float16."""

_WRAPPED = {
    *("add", "subtract", "multiply", "negative", "invert", "absolute", "left_shift", "lcm", "gcd"),
    "power",
}
"""Operations of 8- and 16-bit integers whose int32 value may need more bits."""

HEADERS = (
    *("stax_simd.h", "stax_unsigned.h", "stax_bytes.h", "stax_narrow.h", "stax_float16.h"),
    *("stax_division.h", "stax_integer.h", "stax_float.h", "stax_reductions.h"),
)
"""In the order in which a source includes them; every source needs the first."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A value in C: its text, its dtype and how many lanes it has (1 for a scalar)."""

    text: str
    dtype: np.dtype
    lanes: int = 1


def memory_type(dtype: np.dtype) -> str:
    """The C type of an element in memory."""
    return {BOOL: "u8", F16: "u16"}.get(dtype) or SHORT[dtype]


def register_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of 32 or 64 bits whose type holds values of this dtype in registers."""
    if dtype.itemsize >= 4:
        return dtype
    return F32 if dtype.kind == "f" else I32


def register_type(dtype: np.dtype, lanes: int) -> str:
    """The C type of a value: ``f32`` or ``f32x16``; a bool is a 32-bit mask."""
    name = SHORT[register_dtype(dtype)]
    return name if lanes == 1 else f"{name}x{lanes}"


def own_type(dtype: np.dtype, lanes: int) -> str:
    """What names of functions on memory and on wrapped values end in: ``f32x16``, ``u8_i32x16``."""
    if dtype.itemsize >= 4:
        return register_type(dtype, lanes)
    return SHORT[dtype] if lanes == 1 else f"{SHORT[dtype]}_{register_type(dtype, lanes)}"


def reduction_type(kind: str, dtype: np.dtype, lanes: int) -> str:
    """What names of folds and of pairwise totals end in: ``sum_f32x16``."""
    rounded = "_f16" if kind == "prod" and dtype == F16 else ""
    return f"{kind}{rounded}_{register_type(dtype, lanes)}"


def fold(kind: str, text: str, dtype: np.dtype, lanes: int) -> str:
    """The lanes of a vector folded by halves."""
    if dtype == BOOL:  # true is the mask -1, the smaller integer
        kind = {"max": "min", "min": "max"}.get(kind, kind)
    elif dtype.kind != "f":
        kind = {"fmax": "max", "fmin": "min"}.get(kind, kind)
    folded = f"fold_{reduction_type(kind, dtype, lanes)}({text})"
    if kind in ("sum", "prod") and _is_narrow(dtype):
        return f"wrap_{own_type(dtype, 1)}({folded})"
    return folded


def headers(op: str, dtype: np.dtype) -> set[str]:
    """The headers that an operation (or none, ``""``) with a result of this dtype needs."""
    found = set()
    if dtype.kind == "u" and dtype.itemsize >= 4:
        found.add("stax_unsigned.h")
    if dtype.kind in "iu" and dtype.itemsize < 4:
        found |= {"stax_bytes.h", "stax_narrow.h"}
    if dtype == BOOL:
        found.add("stax_bytes.h")
    if dtype == F16:
        found.add("stax_float16.h")
    if op in _DIVISIONS and dtype.kind != "f":
        found.add("stax_division.h")
    if op in _INTEGER_OPS and dtype.kind != "f":
        found.add("stax_integer.h")
    if op in _PREDICATES or (op in _FLOAT_OPS and dtype.kind == "f"):
        found.add("stax_float.h")
    return found


def load_element(name: str, index: str, dtype: np.dtype) -> str:
    """One element in memory as a value."""
    if dtype in (BOOL, F16):
        return f"load_{own_type(dtype, 1)}({name} + {parenthesised(index)})"
    return f"{name}[{index}]"


def store_element(name: str, index: str, text: str, dtype: np.dtype) -> str:
    """The statement that writes a value to one element in memory."""
    if dtype in (BOOL, F16):
        return f"store_{own_type(dtype, 1)}({name} + {parenthesised(index)}, {text});"
    return f"{name}[{index}] = {text};"


def parenthesised(index: str) -> str:
    """An index as an operand of an operator."""
    return index if index.isalnum() else f"({index})"


def constant(value: Literal) -> str:
    """A C literal with exactly this value."""
    number = value.value
    if value.dtype == BOOL:
        return "-1" if number else "0"
    if value.dtype.kind == "f":
        return float_literal(float(number), value.dtype.itemsize <= 4)
    whole, ctype = int(number), register_type(value.dtype, 1)
    if whole == np.iinfo(value.dtype).min and whole:
        return f"(({ctype})({whole + 1}LL - 1))"
    suffix = "ULL" if value.dtype.kind == "u" and value.dtype.itemsize == 8 else "LL"
    return f"(({ctype}){whole}{suffix})"


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
    if op in _COMPARE:
        name = _COMPARE[op]
        if source == BOOL:
            name = _MIRROR[name]
        return _mask_of(f"{name}_{vtype}({', '.join(words)})", source, lanes)
    if op in _PREDICATES:
        return _mask_of(f"{op}_{vtype}({words[0]})", source, lanes)
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
    if op == "bitcast":
        return _bitcast(words[0], source, dtype, lanes)
    text = _arithmetic(op, words, source, lanes, active)
    if op in _ROUNDED and source == F16:
        return f"round_{own_type(F16, lanes)}({text})"
    if op in _WRAPPED and _is_narrow(source):
        return f"wrap_{own_type(source, lanes)}({text})"
    return text


def _is_narrow(dtype: np.dtype) -> bool:
    """An integer of 8 or 16 bits: lanes hold more than it has."""
    return dtype.kind in "iu" and dtype.itemsize < 4


def _arithmetic(op: str, words: list[str], dtype: np.dtype, lanes: int, active: str) -> str:
    """An operation whose result has the type of its operands, before rounding and wrapping."""
    vtype = register_type(dtype, lanes)
    if op in _INFIX:
        return f"{words[0]} {_INFIX[op]} {words[1]}"
    if op in _PREFIX:
        word = f"({words[0]})" if words[0].startswith("-") else words[0]  # a negative constant
        return f"{_PREFIX[op]}{word}"
    if dtype.kind != "f":
        op = {"fmax": "maximum", "fmin": "minimum"}.get(op, op)
    if op in ("nextafter", "spacing") and dtype == F16:
        vtype = own_type(F16, lanes)
    if op in _CALLS:
        return f"{op}_{vtype}({', '.join(words)})"
    if op in _LANEWISE:
        arguments = [*words, *([active] if lanes > 1 else [])]
        if op in FLAGGED and dtype.kind != "f":
            arguments.append("flags")
        if op in _DIVISIONS and _is_narrow(dtype):
            vtype = own_type(dtype, lanes)
        return f"{op}_{vtype}({', '.join(arguments)})"
    raise Unsupported(f"the C backend has no {op}", None, 'backend="ref"')


def _truth(text: str, dtype: np.dtype, lanes: int) -> str:
    """A value as a mask: not equal to zero."""
    if dtype == BOOL:
        return text
    vtype = register_type(dtype, lanes)
    zero = f"splat_{vtype}(0)"
    return _mask_of(f"ne_{vtype}({text}, {zero})", dtype, lanes)


def _bitcast(text: str, source: np.dtype, target: np.dtype, lanes: int) -> str:
    """The same bits in a dtype of the same size, through the integer of that size."""
    half = "f16" if lanes == 1 else f"f16_{register_type(F16, lanes)}"
    if source == F16:
        text, source = f"pattern_{half}({text})", np.dtype(np.uint16)
    elif source.kind == "f":
        text = f"bits_{register_type(source, lanes)}({text})"
        source = np.dtype(f"i{source.itemsize}")
    if target == F16:
        return f"value_{half}({_cast(text, source, np.dtype(np.uint16), lanes)})"
    if target.kind == "f":
        whole = _cast(text, source, np.dtype(f"i{target.itemsize}"), lanes)
        return f"float_{register_type(target, lanes)}({whole})"
    return _cast(text, source, target, lanes)


def _cast(text: str, source: np.dtype, target: np.dtype, lanes: int) -> str:
    """A conversion; the table of floats out of range stands in ``stax_ref.meaning``."""
    if source == target:
        return text
    if target == BOOL:
        return _truth(text, source, lanes)
    if source == BOOL:
        text = f"({text} & 1)"
    have, want = register_type(source, lanes), register_type(target, lanes)
    fits = np.can_cast(source, target)
    if target == F16:
        if source == F64:
            text = f"odd_{want}_{have}({text})"
        elif have != want:
            text = f"cast_{want}_{have}({text})"
        return text if fits else f"round_{own_type(F16, lanes)}({text})"
    if _is_narrow(target):
        if source.kind == "f":
            text = f"low_{want}_{have}({text})"
        elif have != want:
            text = f"cast_{want}_{have}({text})"
        return text if fits else f"wrap_{own_type(target, lanes)}({text})"
    return text if have == want else f"cast_{want}_{have}({text})"
