"""Operands of a traced call: what they are, NumPy's dtype for them, their shape together, options.

Takes what the user passed to a NumPy function; gives operands of equations or NumPy's refusal with
the user's line. Not here: which equation is recorded (the other files of this folder).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import AxisError, DtypeError, ShapeError, UnsupportedOperation, user_frame
from ..graph import Literal, Operand, Value, literal
from ..tracer import Trace, Tracer, as_operand

_WEAK_KIND = {dtypes.BOOL: bool, dtypes.I64: int, dtypes.F64: float}


def describe(recording: Trace, thing: Any) -> tuple[Operand | None, Any]:
    """An operand (None for a Python number), and its dtype or the type of a weak scalar."""
    if type(thing) in (bool, int, float):
        return None, type(thing)
    operand = as_operand(recording, thing)
    if operand is None:
        instead = "the real and the imaginary part, each an array of its own"
        raise DtypeError(
            f"an operand is a {type(thing).__name__}",
            user_frame()[0],
            instead if isinstance(thing, complex) else "arrays or numbers",
        )
    if isinstance(operand, Value) and operand.weak:
        return operand, _WEAK_KIND[operand.dtype]
    return operand, operand.dtype


def convert(recording: Trace, thing: Any, operand: Operand | None, dtype: np.dtype) -> Operand:
    """An operand in the dtype of the loop; Python integers out of range raise OverflowError."""
    if operand is None:
        if dtype == dtypes.BOOL and type(thing) is int and not -(2**63) <= thing < 2**63:
            raise OverflowError("Python int too large to convert to C long")  # as NumPy says
        return _rounded(thing, dtype)
    if isinstance(operand, Literal):
        return operand if operand.dtype == dtype else _rounded(operand.value, dtype)
    if operand.dtype == dtype:
        return operand
    if operand.weak and operand.dtype == dtypes.I64 and dtype.kind in "iu":
        info = np.iinfo(dtype)
        recording.limit(operand, int(info.min), int(info.max))
    return recording.record("cast", (operand,), operand.shape, dtype)._value


def _rounded(number: Any, dtype: np.dtype) -> Literal:
    """A constant in the dtype of the loop; a float beyond it is infinite, without a warning."""
    with np.errstate(over="ignore"):
        return literal(number, dtype)


def carried(dtype: np.dtype, what: str) -> np.dtype:
    """The dtype itself; ``DtypeError`` when Stax does not carry it."""
    if not dtypes.is_supported(dtype):
        raise DtypeError(
            f"{what} would have dtype {dtype}",
            user_frame()[0],
            f"{dtypes.way_out(dtype)}; carried are {dtypes.supported_names()}",
        )
    return dtype


def broadcast(operands: Sequence[Operand], what: str) -> tuple[int, ...]:
    """The shape of the operands together; ``ShapeError`` when NumPy has none."""
    shapes = [o.shape if isinstance(o, Value) else () for o in operands]
    try:
        return tuple(np.broadcast_shapes(*shapes))
    except ValueError:
        text = " ".join(str(shape).replace(" ", "") for shape in shapes)
        raise ShapeError(
            f"operands of {what} could not be broadcast together with shapes {text}",
            user_frame()[0],
            "reshape or add axes with [:, None] so that every axis is equal or 1",
        ) from None


def traced(recording: Trace, x: Any, what: str) -> Value:
    """The value of an operand that must be an array."""
    operand = as_operand(recording, x)
    if not isinstance(operand, Value):
        raise DtypeError(f"{what} of a constant", user_frame()[0], "compute it outside")
    return operand


def normal_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes as sorted, non-negative numbers; None means all of them."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for entry in given:
        index = operator.index(entry) + (ndim if entry < 0 else 0)
        if not 0 <= index < ndim:
            raise AxisError(
                f"axis {entry} is out of bounds for array of dimension {ndim}",
                user_frame()[0],
                f"an axis from {-ndim} to {ndim - 1}",
            )
        axes.append(index)
    if len(set(axes)) != len(axes):
        raise ShapeError("duplicate value in 'axis'", user_frame()[0], "each axis once")
    return tuple(sorted(axes))


def broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """True when an array of this shape can be stretched to the target."""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def demand_cast(have: np.dtype, want: np.dtype, rule: str, instead: str) -> None:
    """Refuse a cast that one of NumPy's casting rules does not allow.

    Raises:
        DtypeError: in NumPy's words.
    """
    if not np.can_cast(have, want, rule):  # type: ignore[arg-type]  # a rule's name
        raise DtypeError(
            f"Cannot cast array data from {have!r} to {want!r} according to the rule {rule!r}",
            user_frame()[0],
            instead,
        )


def no_options(what: str, kwargs: dict[str, Any]) -> None:
    """Refuse every option of a NumPy function that was given a value."""
    for option, given in kwargs.items():
        if (
            given is not None
            and given is not np._NoValue
            and not (option == "order" and given == "C")
        ):
            raise UnsupportedOperation(
                f"{what}(..., {option}=...) is not supported inside a jitted function",
                user_frame()[0],
                "the same without it",
            )


def known_integers(given: Any, what: str) -> np.ndarray:
    """Integers that must be known while tracing, because a shape depends on them."""
    if isinstance(given, Tracer):
        raise UnsupportedOperation(
            f"{what} decide a shape and are traced", user_frame()[0], "numbers, or static_argnames"
        )
    numbers = np.asarray(given)
    return numbers.astype(np.int64, casting="safe" if numbers.size else "unsafe")
