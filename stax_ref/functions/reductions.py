"""Reductions as equations: kinds, dtypes, axes, masks and initial values.

Takes operands of a traced call; gives one equation with NumPy's shape and dtype, or NumPy's refusal
with the user's line. A mask becomes a ``where`` that puts the identity in the place of what is left
out. Not here: what NumPy builds of several reductions (``statistics``, ``norms``), the planned
order (``ops``), loops (``reducing``).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import DtypeError, ShapeError, UnsupportedOperation, user_frame
from ..graph import Literal, Value, literal
from ..ops import REDUCING, REDUCTIONS
from ..tracer import Trace, Tracer, as_operand
from .choices import where
from .elementwise import cast
from .operands import broadcasts_to, carried, demand_cast, no_options, normal_axes, traced

NO_VALUE = np._NoValue

_UFUNCS = {"max": "maximum", "min": "minimum", "fmax.reduce": "fmax", "fmin.reduce": "fmin"}
"""Reductions of nothing that NumPy refuses, and the ufunc it names."""

OF_UFUNC = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"} | {
    name.removesuffix(".reduce"): name for name in REDUCING if name.endswith(".reduce")
}
"""The equation of ``ufunc.reduce`` by the ufunc's name."""

_AVERAGES = ("mean", "var", "std")


def reduce(
    recording: Trace,
    op: str,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    mask: Any = True,
    **params: Any,
) -> Tracer:
    """One reduction equation.

    Args:
        recording: the trace.
        op: name of the equation: ``sum``, ``any``, ``var``, ``fmax.reduce``, …
        a: the operand, of any shape.
        axis: None for all axes, an integer, or a tuple of integers; ``()`` reduces nothing.
        dtype: dtype of accumulation and result; None for NumPy's choice.
        keepdims: leave reduced axes with length 1.
        initial: joined with the result; None takes the identity away, as in NumPy.
        mask: booleans that broadcast to the operand; elements at False are left out.
        **params: further parameters of the equation: ``ddof``; ``nonzero``, a sum of weights that
            must not be 0.

    Raises:
        ShapeError, DtypeError, UnsupportedOperation: NumPy's refusals and Stax's own.
    """
    what = f"np.{op}"
    value = traced(recording, a, what)
    target = _reduced_dtype(op, value.dtype, dtype)
    if op in ("max", "min") and value.dtype != target:  # ufunc.reduce has a dtype, np.max has none
        value = cast(recording, Tracer(recording, value), target)._value
    first = _initial(initial, target, what)
    ufunc = op not in _AVERAGES
    axes = reduced_axes(axis, len(value.shape)) if ufunc else normal_axes(axis, len(value.shape))
    if not everything(mask):
        if first is None and (op in _UFUNCS or initial is None):
            raise ShapeError(
                f"reduction operation {_ufunc(op)!r} does not have an identity, "
                "so to use a where mask one has to specify 'initial'",
                user_frame()[0],
                "initial=, a value that may win",
            )
        value = _masked(recording, op, value, target, mask)
    keep = is_set(keepdims)
    shape = reduced_shape(value.shape, axes, keep)
    nothing = math.prod(value.shape[k] for k in axes) == 0
    if nothing and first is None and (op in _UFUNCS or initial is None):
        raise ShapeError(
            f"zero-size array to reduction operation {_ufunc(op)} which has no identity",
            user_frame()[0],
            "an axis with at least one element, or initial=",
        )
    packed: dict[str, Any] = {"axis": None if axis is None else axes, "keepdims": keep}
    if value.dtype != target and op not in ("any", "all"):
        packed["dtype"] = target
    if first is not None:
        packed["initial"] = first
    return recording.record(op, (value,), shape, target, **packed, **params)


def everything(mask: Any) -> bool:
    """No mask at all: ``where=`` left out, or True."""
    return mask is True or mask is np.True_ or mask is NO_VALUE


def is_set(flag: Any) -> bool:
    """A flag of NumPy's that may be left out."""
    return flag is not NO_VALUE and bool(flag)


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes to reduce; an array without axes takes 0 and -1 for none, as NumPy's ufuncs do."""
    if isinstance(axis, list):
        raise DtypeError(
            "'list' object cannot be interpreted as an integer",
            user_frame()[0],
            f"axis={tuple(axis)}",
        )
    if ndim == 0 and axis is not None and not isinstance(axis, tuple) and axis in (0, -1):
        return ()
    return normal_axes(axis, ndim)


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keep: bool) -> tuple[int, ...]:
    """A shape without these axes, or with length 1 along them."""
    return tuple(1 if k in axes else n for k, n in enumerate(shape) if keep or k not in axes)


def _ufunc(op: str) -> str:
    return {"sum": "add", "prod": "multiply"}.get(op, _UFUNCS.get(op, op.removesuffix(".reduce")))


def _reduced_dtype(op: str, have: np.dtype, asked: Any) -> np.dtype:
    if op in ("any", "all") or op.startswith("logical"):
        if asked not in (None, NO_VALUE) and np.dtype(asked) != dtypes.BOOL:
            raise DtypeError(
                f"np.{op} with dtype={asked}", user_frame()[0], ".astype of the result"
            )
        return dtypes.BOOL
    if asked is not None and asked is not NO_VALUE:
        target = carried(np.dtype(asked), f"np.{op}")
        if op in _AVERAGES and target.kind != "f":
            raise DtypeError(
                f"np.{op} with dtype={target}", user_frame()[0], "a float dtype, then .astype"
            )
    elif op in _AVERAGES:
        target = have if have.kind == "f" else dtypes.F64
    elif op in ("sum", "prod") and have.kind in "biu":
        target = np.dtype(np.uint64 if have.kind == "u" else np.int64)
    else:
        target = have
    if op.startswith("bitwise") and target.kind == "f":
        raise DtypeError(
            f"ufunc {_ufunc(op)!r} not supported for {target}", user_frame()[0], "integers or bools"
        )
    return carried(target, f"np.{op}")


def _initial(initial: Any, dtype: np.dtype, what: str) -> Literal | None:
    """The initial value in the dtype of the result; None where there is none."""
    if initial is NO_VALUE or initial is None:
        return None
    shape = initial.shape if isinstance(initial, Tracer) else np.shape(initial)
    if shape:
        raise ShapeError(f"{what}: initial has shape {shape}", user_frame()[0], "a single number")
    if isinstance(initial, Tracer) and initial._known is not None:
        initial = initial._known
    if isinstance(initial, Tracer):
        raise UnsupportedOperation(
            f"{what}(..., initial=...) takes a number, not a traced array",
            user_frame()[0],
            "the operation on the initial value and the result",
        )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return literal(initial, dtype)


def mask_operand(recording: Trace, mask: Any, shape: tuple[int, ...], what: str) -> Tracer | bool:
    """The ``where=`` of a reduction: booleans that broadcast to the shape of the operand."""
    if type(mask) in (bool, np.bool_):
        return bool(mask)
    operand = as_operand(recording, mask)
    if not isinstance(operand, Value):
        raise DtypeError(f"{what}: where={mask!r}", user_frame()[0], "an array of booleans")
    demand_cast(operand.dtype, dtypes.BOOL, "safe", "where=(mask != 0)")
    if not broadcasts_to(operand.shape, shape):
        raise ShapeError(
            f"{what}: where= of shape {operand.shape} does not broadcast to {shape}",
            user_frame()[0],
            "a mask with the operand's shape",
        )
    return Tracer(recording, operand)


def _masked(recording: Trace, op: str, value: Value, target: np.dtype, mask: Any) -> Value:
    """The operand in the dtype of the result, the identity where the mask is False."""
    chosen = mask_operand(recording, mask, value.shape, f"np.{op}")
    operand = Tracer(recording, value)
    if value.dtype != target:
        operand = cast(recording, operand, target)
    neutral = REDUCTIONS[REDUCING[op]].identity(target)
    return where(
        recording, np.bool_(chosen) if isinstance(chosen, bool) else chosen, operand, neutral
    )._value


def through_out(name: str, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> dict[str, Any]:
    """The dtype in which a sum, product or mean accumulates when ``out`` is given and no dtype.

    It is NumPy's loop for the operand and ``out`` together.

    Args:
        name: of the function, ufunc or method.
        args: its positional arguments, the operand first.
        kwargs: its options.
        out: where the result goes.

    Returns:
        the option ``dtype``, or no option.
    """
    if not isinstance(out, Tracer) or not isinstance(args[0] if args else None, Tracer):
        return {}
    have = args[0].dtype
    averaged = name == "mean" and have.kind == out.dtype.kind == "f"
    if not averaged and name not in ("sum", "prod", "add", "multiply"):
        return {}
    if kwargs.get("dtype") is not None or len(args) > 2:
        return {}
    return {"dtype": np.promote_types(have, out.dtype)}


def reduce_ufunc(recording: Trace, name: str, a: Any, axis: Any = 0, **kwargs: Any) -> Tracer:
    """``ufunc.reduce``, by default over the first axis."""
    mask = kwargs.pop("where", True)
    no_options(f"np.{name}.reduce", {"out": kwargs.pop("out", None)})
    return reduce(recording, OF_UFUNC[name], a, axis, mask=mask, **kwargs)


def _arithmetic(op: str) -> Callable[..., Tracer]:
    def handler(
        recording: Trace,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Tracer:
        no_options(f"np.{op}", {"out": out})
        return reduce(recording, op, a, axis, dtype, keepdims, initial, where)

    return handler


def _extreme(op: str) -> Callable[..., Tracer]:
    def handler(
        recording: Trace,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Tracer:
        no_options(f"np.{op}", {"out": out})
        return reduce(recording, op, a, axis, None, keepdims, initial, where)

    return handler


def _truth(op: str) -> Callable[..., Tracer]:
    def handler(
        recording: Trace,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        *,
        where: Any = True,
    ) -> Tracer:
        no_options(f"np.{op}", {"out": out})
        return reduce(recording, op, a, axis, None, keepdims, NO_VALUE, where)

    return handler


def _position(op: str) -> Callable[..., Tracer]:
    def handler(
        recording: Trace, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False
    ) -> Tracer:
        no_options(f"np.{op}", {"out": out})
        value = traced(recording, a, f"np.{op}")
        name = op if value.dtype.kind == "f" else op.removeprefix("nan")
        if isinstance(axis, tuple):
            raise DtypeError(
                "'tuple' object cannot be interpreted as an integer",
                user_frame()[0],
                "one axis; or move the axes together and reshape",
            )
        axes = reduced_axes(axis, len(value.shape))
        shape = reduced_shape(value.shape, axes, is_set(keepdims))
        if math.prod(value.shape[k] for k in axes) == 0:
            raise ShapeError(
                f"attempt to get {op.removeprefix('nan')} of an empty sequence",
                user_frame()[0],
                "an axis with at least one element",
            )
        one = axes[0] if axis is not None and axes else None
        return recording.record(
            name, (value,), shape, dtypes.I64, axis=one, keepdims=is_set(keepdims)
        )

    return handler


def count_nonzero(recording: Trace, a: Any, axis: Any = None, *, keepdims: Any = False) -> Tracer:
    """How many elements are not zero: an int64 sum of booleans."""
    truth = cast(recording, Tracer(recording, traced(recording, a, "np.count_nonzero")), np.bool_)
    return reduce(recording, "sum", truth, axis, np.intp, keepdims)


def ptp(recording: Trace, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The largest minus the smallest."""
    no_options("np.ptp", {"out": out})
    highest = reduce(recording, "max", a, axis, None, keepdims)
    return np.subtract(highest, reduce(recording, "min", a, axis, None, keepdims))


METHODS_OF_FAMILY: dict[str, Callable[..., Any]] = {
    **{op: _arithmetic(op) for op in ("sum", "prod")},
    **{op: _extreme(op) for op in ("max", "min")},
    **{op: _truth(op) for op in ("any", "all")},
    **{op: _position(op) for op in ("argmax", "argmin")},
}

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): handler for name, handler in METHODS_OF_FAMILY.items()},
    np.amax: METHODS_OF_FAMILY["max"],
    np.amin: METHODS_OF_FAMILY["min"],
    np.nanargmax: _position("nanargmax"),
    np.nanargmin: _position("nanargmin"),
    np.count_nonzero: count_nonzero,
    np.ptp: ptp,
}
