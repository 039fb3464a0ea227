"""Comparisons: what NumPy answers where no common integer dtype holds both operands.

Takes operands of a traced call; gives one equation. A Python integer that the partner's dtype
cannot hold, and int64 beside uint64, compare by value. Not here: other ufuncs (``elementwise``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..graph import Operand
from ..tracer import Trace, Tracer
from .operands import broadcast, convert

NAMES = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


def compare(
    recording: Trace,
    ufunc: Any,
    inputs: Sequence[Any],
    described: Sequence[tuple[Operand | None, Any]],
    loop: Sequence[np.dtype],
    weak: bool,
) -> Tracer:
    """One comparison; ``loop`` is NumPy's, ``described`` what the operands are.

    ``weak`` marks Python's own operator on Python numbers, which gives a Python bool.
    """
    name = ufunc.__name__
    loop = _wide_enough(described, loop)
    try:
        operands = [
            convert(recording, thing, operand, dtype)
            for thing, (operand, _), dtype in zip(inputs, described, loop, strict=False)
        ]
    except OverflowError:
        if not dtypes.is_integer(loop[0]) or any(kind == dtypes.BOOL for _, kind in described):
            raise  # as NumPy does beside bools
        return _same_everywhere(recording, ufunc, inputs)
    shape = broadcast(operands, f"np.{name}")
    return recording.record(name, operands, shape, dtypes.BOOL, weak)


def _wide_enough(
    described: Sequence[tuple[Operand | None, Any]], loop: Sequence[np.dtype]
) -> Sequence[np.dtype]:
    """A Python integer that is an argument has 64 bits, whatever it is compared with."""
    argument = [kind is int and operand is not None for operand, kind in described]
    partner = loop[0]
    if not any(argument) or not dtypes.is_integer(partner):
        return loop
    if partner != dtypes.U64:
        return (dtypes.I64, dtypes.I64)
    return tuple(dtypes.I64 if mine else dtypes.U64 for mine in argument)


def _same_everywhere(recording: Trace, ufunc: Any, inputs: Sequence[Any]) -> Tracer:
    """An integer array against a Python integer beyond its dtype: NumPy knows the answer."""
    from .elementwise import pointwise

    array = next(x for x in inputs if not isinstance(x, int))
    zero = np.zeros(1, np.int64)
    answer = bool(ufunc(*(x if isinstance(x, int) else zero for x in inputs))[0])
    return pointwise(recording, np.equal if answer else np.not_equal, (array, array))
