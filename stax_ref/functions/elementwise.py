"""Elementwise ufuncs and casts as equations: promotion, weak Python scalars.

Takes operands of a traced call; gives one equation in the dtypes of NumPy's own loop. Promotion is
asked of ``ufunc.resolve_dtypes``, so weak Python scalars (NEP 50) and every refusal are NumPy's
own. Not here: which function is which (``namespace``), ``comparisons``, ``powers``, ``choices``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import DtypeError, UnsupportedOperation, user_frame
from ..graph import Literal, Operand, Value
from ..tracer import Trace, Tracer, as_operand
from . import comparisons
from .operands import broadcast, carried, convert, demand_cast, describe, no_options

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
        "invert",
        "left_shift",
        "right_shift",
    }
)
"""Operators for which Python takes True as 1."""


def loop_dtypes(
    ufunc: Any,
    kinds: Sequence[Any],
    operator: bool = False,
    dtype: Any = None,
    casting: str = "same_kind",
) -> tuple[tuple[np.dtype, ...], bool]:
    """NumPy's loop for these operands, and whether every operand is a weak Python scalar.

    ``dtype`` and ``casting`` are the options of the same name of every ufunc.
    """
    weak = all(isinstance(kind, type) for kind in kinds)
    if weak and operator and ufunc.__name__ in _PYTHON_ARITHMETIC:
        kinds = [int if kind is bool else kind for kind in kinds]
    # NumPy itself knows weak integers and floats; a Python bool is its bool
    kinds = [dtypes.scalar_dtype(k) if k is bool or weak else k for k in kinds]
    asked: dict[str, Any] = {}
    if dtype is not None:
        wanted = (None,) * (ufunc.nin + ufunc.nout - 1) + (np.dtype(dtype),)
        asked = {"signature": wanted, "casting": casting}
    try:
        resolved = ufunc.resolve_dtypes((*kinds, *([None] * ufunc.nout)), **asked)
    except TypeError as error:
        raise DtypeError(
            f"np.{ufunc.__name__}: {error}", user_frame()[0], "convert the operands first"
        ) from None
    return resolved, weak and dtype is None


def pointwise(
    recording: Trace, ufunc: Any, inputs: Sequence[Any], operator: bool = False, **options: Any
) -> Tracer:
    """An elementwise ufunc: operands cast to NumPy's loop, then one equation.

    Python's own operators keep Python scalars weak; a NumPy call makes NumPy scalars of them.

    Args:
        recording: the trace.
        ufunc: a NumPy ufunc with one result.
        inputs: traced arrays, arrays and numbers.
        operator: True for Python's operator.
        **options: ``dtype`` and ``casting`` as for the ufunc.
    """
    name = "true_divide" if ufunc.__name__ == "divide" else ufunc.__name__
    described = [describe(recording, thing) for thing in inputs]
    loop, weak = loop_dtypes(ufunc, [kind for _, kind in described], operator, **options)
    for dtype in loop:
        carried(dtype, f"np.{name}")
    if name in comparisons.NAMES:
        return comparisons.compare(recording, ufunc, inputs, described, loop, weak and operator)
    operands = [
        convert(recording, thing, operand, dtype)
        for thing, (operand, _), dtype in zip(inputs, described, loop, strict=False)
    ]
    out = loop[ufunc.nin]
    shape = broadcast(operands, f"np.{name}")
    if _is_identity(name, out) and isinstance(operands[0], Value) and not operands[0].weak:
        return Tracer(recording, operands[0])
    result = recording.record(name, operands, shape, out, weak and operator)
    if weak and out == dtypes.I64:
        follow_integers(recording, name, operands, result._value)
    return result


def _is_identity(name: str, dtype: np.dtype) -> bool:
    """True for what gives its operand back: integers are whole and real numbers real."""
    whole = name in ("floor", "ceil", "trunc") and dtype.kind != "f"
    return whole or name in ("positive", "conjugate")


def follow_integers(
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


def cast(recording: Trace, x: Any, dtype: Any, **kwargs: Any) -> Tracer:
    """``astype`` with NumPy's casting rules; the result is an array of its own either way."""
    casting = kwargs.pop("casting", "unsafe")
    for option in ("copy", "subok", "order"):
        kwargs.pop(option, None)
    no_options("astype", kwargs)
    target = carried(np.dtype(dtype), "astype")
    operand = as_operand(recording, x)
    if not isinstance(operand, Value):
        raise DtypeError("astype of a constant", user_frame()[0], "the constant in that dtype")
    demand_cast(operand.dtype, target, casting, "casting='unsafe', the default of astype")
    if operand.dtype == target and not operand.weak:
        return Tracer(recording, operand)
    return recording.record("cast", (operand,), operand.shape, target)
