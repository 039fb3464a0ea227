"""What each NumPy function means to a trace: equations, with NumPy's own dtypes and shapes.

Takes the calls that NumPy hands to tracers; gives equations. Holds three tables: ufuncs, functions
and array methods. Promotion is asked of ``ufunc.resolve_dtypes``, so weak Python scalars and every
refusal are NumPy's own. Not here: recording (``trace``), loops (``lower``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import dtypes
from .errors import (
    DtypeError,
    IndexingError,
    ShapeError,
    UnsupportedOperation,
    ValueDependent,
    user_frame,
)
from .graph import Literal, Operand, Value, literal
from .trace import Trace, Tracer, as_operand

MAX_EXPONENT = 64

_POINTWISE = (
    "add subtract multiply true_divide floor_divide remainder negative positive absolute square "
    "sqrt reciprocal exp log tanh maximum minimum equal not_equal less less_equal greater "
    "greater_equal logical_and logical_or logical_xor logical_not"
).split()
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
_ON_BOOLS = {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
    "invert": "logical_not",
}
_REDUCE_METHODS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def call_ufunc(
    recording: Trace, ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """One call through ``__array_ufunc__``."""
    name = ufunc.__name__
    if method == "reduce" and name in _REDUCE_METHODS:
        axis = kwargs.pop("axis", 0)
        return reduce(recording, _REDUCE_METHODS[name], inputs[0], axis, **kwargs)
    if method != "__call__":
        raise UnsupportedOperation(
            f"np.{name}.{method} is not supported", user_frame()[0], "sum, max, min over an axis"
        )
    for option, value in kwargs.items():
        if value is not None and not (option == "where" and value is True):
            raise UnsupportedOperation(
                f"np.{name}(..., {option}=...) is not supported inside a jitted function",
                user_frame()[0],
                "use the returned array; np.where for a mask; .astype for a dtype",
            )
    if name in ("matmul", "vecdot"):
        if name == "vecdot":
            raise _unsupported_function("np.vecdot")
        return matmul(recording, *inputs)
    if name == "power":
        return power(recording, *inputs)
    if name in _ON_BOOLS:
        return _on_bools(recording, name, inputs)
    if name not in _POINTWISE and name != "divide":
        raise _unsupported_function(f"np.{name}")
    return pointwise(recording, ufunc, inputs)


def call_function(recording: Trace, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """One call through ``__array_function__``."""
    handler = FUNCTIONS.get(func)
    if handler is None:
        raise _unsupported_function(f"np.{func.__name__}")
    return handler(recording, *args, **kwargs)


def _unsupported_function(name: str) -> UnsupportedOperation:
    supported = sorted(_POINTWISE) + sorted(f.__name__ for f in FUNCTIONS)
    return UnsupportedOperation(
        f"{name} is not supported inside a jitted function",
        user_frame()[0],
        "call it outside, or build it from: " + ", ".join(dict.fromkeys(supported)),
    )


# promotion ---------------------------------------------------------------------------------------
def _describe(recording: Trace, thing: Any) -> tuple[Operand | None, Any]:
    """An operand (None for a Python scalar) and what ``resolve_dtypes`` wants to know of it."""
    if isinstance(thing, (bool, np.bool_)) and not isinstance(thing, np.generic):
        return literal(thing, dtypes.BOOL), dtypes.BOOL
    if type(thing) in (int, float):
        return None, type(thing)
    operand = as_operand(recording, thing)
    if operand is None:
        raise DtypeError(
            f"an operand is a {type(thing).__name__}", user_frame()[0], "arrays or numbers"
        )
    if isinstance(operand, Value) and operand.weak and operand.dtype != dtypes.BOOL:
        return operand, (int if operand.dtype == dtypes.I64 else float)
    return operand, operand.dtype


def _convert(recording: Trace, thing: Any, operand: Operand | None, dtype: np.dtype) -> Operand:
    """An operand in the dtype of the loop; Python integers out of range raise OverflowError."""
    if operand is None:
        return literal(thing, dtype)
    if isinstance(operand, Literal):
        return operand if operand.dtype == dtype else literal(operand.value, dtype)
    if operand.dtype == dtype:
        return operand
    if operand.weak and operand.dtype == dtypes.I64 and dtype.kind == "i":
        info = np.iinfo(dtype)
        recording.limit(operand, int(info.min), int(info.max))
    return recording.record("cast", (operand,), operand.shape, dtype)._value


def _carried(dtype: np.dtype, what: str) -> np.dtype:
    if not dtypes.is_supported(dtype):
        raise DtypeError(
            f"{what} would have dtype {dtype}",
            user_frame()[0],
            f"convert first; carried are {dtypes.supported_names()}",
        )
    return dtype


def _broadcast(operands: Sequence[Operand], what: str) -> tuple[int, ...]:
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


def _loop_dtypes(ufunc: Any, kinds: Sequence[Any]) -> tuple[tuple[np.dtype, ...], bool]:
    """NumPy's loop for these operands, and whether every operand is a weak Python scalar."""
    weak = all(kind is int or kind is float for kind in kinds)
    if weak:
        kinds = [dtypes.scalar_dtype(kind) for kind in kinds]
    try:
        resolved = ufunc.resolve_dtypes((*kinds, *([None] * ufunc.nout)))
    except TypeError as error:
        raise DtypeError(
            f"np.{ufunc.__name__}: {error}", user_frame()[0], "convert the operands first"
        ) from None
    return resolved, weak


def pointwise(recording: Trace, ufunc: Any, inputs: Sequence[Any]) -> Tracer:
    """An elementwise ufunc: operands cast to NumPy's loop, then one equation."""
    name = "true_divide" if ufunc.__name__ == "divide" else ufunc.__name__
    described = [_describe(recording, thing) for thing in inputs]
    loop, weak = _loop_dtypes(ufunc, [kind for _, kind in described])
    operands: list[Operand] = []
    for thing, (operand, _), dtype in zip(inputs, described, loop, strict=False):
        _carried(dtype, f"np.{name}")
        try:
            operands.append(_convert(recording, thing, operand, dtype))
        except OverflowError:
            if name not in _COMPARISONS or not -(2**63) <= thing < 2**63:
                raise
            wide = [x.astype(np.int64) if isinstance(x, Tracer) else np.int64(x) for x in inputs]
            return pointwise(recording, ufunc, wide)
    out = _carried(loop[ufunc.nin], f"np.{name}")
    if name in ("floor_divide", "remainder") and out.kind == "f":
        raise UnsupportedOperation(
            f"np.{name} of floats is not supported inside a jitted function",
            user_frame()[0],
            "integer operands, or compute it outside",
        )
    shape = _broadcast(operands, f"np.{name}")
    return recording.record(name, operands, shape, out, weak and name not in _COMPARISONS)


def _on_bools(recording: Trace, name: str, inputs: Sequence[Any]) -> Tracer:
    for thing in inputs:
        _, kind = _describe(recording, thing)
        if kind != dtypes.BOOL:
            raise UnsupportedOperation(
                f"np.{name} of integers is not supported inside a jitted function",
                user_frame()[0],
                "arithmetic, or boolean operands",
            )
    return pointwise(recording, getattr(np, _ON_BOOLS[name]), inputs)


def power(recording: Trace, base: Any, exponent: Any, operator: bool = False) -> Any:
    """``base ** exponent`` for small constant integer exponents (and 0.5 by the operator)."""
    number = exponent.item() if isinstance(exponent, np.generic) else exponent
    if operator and number == 0.5 and isinstance(base, Tracer):
        return pointwise(recording, np.sqrt, (base,))
    whole = type(number) in (int, float) and number == int(number) if _finite(number) else False
    if not whole or abs(number) > MAX_EXPONENT or not isinstance(base, Tracer):
        raise UnsupportedOperation(
            "power with this exponent is not supported",
            user_frame()[0],
            f"a constant integer exponent up to {MAX_EXPONENT}, np.sqrt, or np.exp(y * np.log(x))",
        )
    _, kind = _describe(recording, exponent)
    operand, base_kind = _describe(recording, base)
    loop, weak = _loop_dtypes(np.power, [base_kind, kind])
    dtype = _carried(loop[2], "np.power")
    if dtype.kind == "i" and number < 0:
        raise ShapeError(
            "Integers to negative integer powers are not allowed.", user_frame()[0], "float base"
        )
    converted = _convert(recording, base, operand, dtype)
    assert isinstance(converted, Value)
    return recording.record(
        "power", (converted,), converted.shape, dtype, weak, exponent=int(number)
    )


def _finite(number: Any) -> bool:
    return isinstance(number, (int, float)) and math.isfinite(number)


def cast(recording: Trace, x: Any, dtype: Any, **kwargs: Any) -> Tracer:
    """``astype``."""
    kwargs.pop("copy", None)
    _no_options("astype", kwargs)
    target = _carried(np.dtype(dtype), "astype")
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
    mask, _ = _describe(recording, condition)
    if mask is None:
        mask = literal(bool(condition), dtypes.BOOL)
    if mask.dtype != dtypes.BOOL:
        zero = literal(0, mask.dtype)
        shape = mask.shape if isinstance(mask, Value) else ()
        mask = recording.record("not_equal", (mask, zero), shape, dtypes.BOOL)._value
    described = [_describe(recording, thing) for thing in choices]
    kinds = [kind(0) if kind is int or kind is float else kind for _, kind in described]
    dtype = _carried(np.result_type(*kinds), "np.where")
    operands = [
        _convert(recording, thing, operand, dtype)
        for thing, (operand, _) in zip(choices, described, strict=True)
    ]
    shape = _broadcast([mask, *operands], "np.where")
    return recording.record("where", (mask, *operands), shape, dtype)


def clip(
    recording: Trace, x: Any, a_min: Any = None, a_max: Any = None, **kwargs: Any
) -> Any:
    """``np.clip`` as maximum then minimum."""
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    _no_options("clip", kwargs)
    if low is not None:
        x = pointwise(recording, np.maximum, (x, low))
    return x if high is None else pointwise(recording, np.minimum, (x, high))


# reductions --------------------------------------------------------------------------------------
def _value(recording: Trace, x: Any, what: str) -> Value:
    operand = as_operand(recording, x)
    if not isinstance(operand, Value):
        raise DtypeError(f"{what} of a constant", user_frame()[0], "compute it outside")
    return operand


def _no_options(what: str, kwargs: dict[str, Any]) -> None:
    for option, given in kwargs.items():
        if given is not None and given is not np._NoValue and not (option == "order" and given == "C"):
            raise UnsupportedOperation(
                f"{what}(..., {option}=...) is not supported inside a jitted function",
                user_frame()[0],
                "the same without it",
            )


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for entry in given:
        index = int(entry) + (ndim if entry < 0 else 0)
        if not 0 <= index < ndim:
            raise ShapeError(
                f"axis {entry} is out of bounds for array of dimension {ndim}",
                user_frame()[0],
                f"an axis from {-ndim} to {ndim - 1}",
            )
        axes.append(index)
    if len(set(axes)) != len(axes):
        raise ShapeError("duplicate value in 'axis'", user_frame()[0], "each axis once")
    return tuple(sorted(axes))


def reduce(
    recording: Trace,
    kind: str,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    **kwargs: Any,
) -> Tracer:
    """sum, prod, max, min, mean, var and std over an axis, a tuple of axes or all."""
    ddof = kwargs.pop("ddof", 0) or 0
    correction = kwargs.pop("correction", ddof)
    ddof = ddof if correction is np._NoValue else correction
    _no_options(f"np.{kind}", {"out": out, **kwargs})
    keep = bool(keepdims) and keepdims is not np._NoValue
    value = _value(recording, a, f"np.{kind}")
    axes = _axes(axis, len(value.shape))
    target = _reduced_dtype(kind, value.dtype, dtype)
    if value.dtype != target:
        value = recording.record("cast", (value,), value.shape, target)._value
    count = math.prod(value.shape[k] for k in axes)
    if kind in ("max", "min") and count == 0:
        raise ShapeError(
            f"zero-size array to reduction operation {kind}imum which has no identity",
            user_frame()[0],
            "an axis with at least one element",
        )
    shape = tuple(
        1 if k in axes else extent
        for k, extent in enumerate(value.shape)
        if keep or k not in axes
    )
    params: dict[str, Any] = {"axis": None if axis is None else axes, "keepdims": keep}
    if kind in ("var", "std"):
        params["ddof"] = ddof
    return recording.record(kind, (value,), shape, target, **params)


def _reduced_dtype(kind: str, have: np.dtype, asked: Any) -> np.dtype:
    if asked is not None and asked is not np._NoValue:
        return _carried(np.dtype(asked), f"np.{kind}")
    if kind in ("mean", "var", "std"):
        return have if have.kind == "f" else dtypes.F64
    if kind in ("sum", "prod") and have.kind in "bi":
        return dtypes.I64
    return have


# views and contractions --------------------------------------------------------------------------
def reshape(recording: Trace, a: Any, *shape: Any, **kwargs: Any) -> Tracer:
    """``reshape`` in C order; one extent may be -1."""
    if "shape" in kwargs:
        shape = (kwargs.pop("shape"),)
    _no_options("reshape", kwargs)
    value = _value(recording, a, "reshape")
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    extents = [int(extent) for extent in wanted]
    total = math.prod(value.shape)
    known = math.prod(extent for extent in extents if extent != -1)
    fits = extents.count(-1) <= 1 and all(extent >= -1 for extent in extents)
    if fits and -1 in extents:
        fits = known > 0 and total % known == 0
        extents = [total // known if extent == -1 and fits else extent for extent in extents]
    if not fits or math.prod(extents) != total:
        raise ShapeError(
            f"cannot reshape array of size {total} into shape {tuple(wanted)}",
            user_frame()[0],
            f"extents whose product is {total}",
        )
    if tuple(extents) == value.shape:
        return Tracer(recording, value)
    return recording.record("reshape", (value,), tuple(extents), value.dtype)


def permute(recording: Trace, a: Any, axes: Any = None, *rest: Any) -> Tracer:
    """``transpose`` with NumPy's forms of the axes argument."""
    value = _value(recording, a, "transpose")
    ndim = len(value.shape)
    if rest:
        axes = (axes, *rest)
    order = tuple(reversed(range(ndim))) if axes is None else tuple(axes)
    normal = tuple(k + ndim if k < 0 else k for k in order)
    if sorted(normal) != list(range(ndim)):
        raise ShapeError("axes don't match array", user_frame()[0], f"a permutation of {ndim} axes")
    shape = tuple(value.shape[k] for k in normal)
    return recording.record("transpose", (value,), shape, value.dtype, axes=normal)


def transpose(x: Tracer) -> Tracer:
    """``x.T``."""
    return permute(x._trace, x)


def swapaxes(recording: Trace, a: Any, axis1: int, axis2: int) -> Tracer:
    """``np.swapaxes``."""
    ndim = len(_value(recording, a, "swapaxes").shape)
    order = list(range(ndim))
    (first,), (second,) = _axes(axis1, ndim), _axes(axis2, ndim)
    order[first], order[second] = order[second], order[first]
    return permute(recording, a, tuple(order))


def expand_dims(recording: Trace, a: Any, axis: Any) -> Tracer:
    """``np.expand_dims``."""
    value = _value(recording, a, "expand_dims")
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = _axes(tuple(given), len(value.shape) + len(given))
    shape = list(value.shape)
    for place in places:
        shape.insert(place, 1)
    return reshape(recording, a, tuple(shape))


def squeeze(recording: Trace, a: Any, axis: Any = None) -> Tracer:
    """``np.squeeze``."""
    value = _value(recording, a, "squeeze")
    ones = tuple(k for k, extent in enumerate(value.shape) if extent == 1)
    axes = ones if axis is None else _axes(axis, len(value.shape))
    if not set(axes) <= set(ones):
        raise ShapeError(
            "cannot select an axis to squeeze out which has size not equal to one",
            user_frame()[0],
            f"one of the axes {ones}",
        )
    shape = tuple(extent for k, extent in enumerate(value.shape) if k not in axes)
    return reshape(recording, a, shape)


def ravel(recording: Trace, a: Any, **kwargs: Any) -> Tracer:
    """``np.ravel`` in C order."""
    _no_options("ravel", kwargs)
    return reshape(recording, a, (-1,) if _value(recording, a, "ravel").shape else (1,))


def broadcast_to(recording: Trace, array: Any, shape: Any, **kwargs: Any) -> Tracer:
    """``np.broadcast_to``."""
    _no_options("broadcast_to", kwargs)
    value = _value(recording, array, "broadcast_to")
    wanted = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        fits = np.broadcast_shapes(value.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"shape {value.shape} cannot be broadcast to {wanted}", user_frame()[0], "equal axes or 1"
        )
    return recording.record("broadcast_to", (value,), wanted, value.dtype)


def getitem(x: Tracer, key: Any) -> Tracer:
    """Basic indexing: integers, slices with any step, newaxis and ellipsis."""
    given = key if isinstance(key, tuple) else (key,)
    for entry in given:
        basic = entry is None or entry is Ellipsis or isinstance(entry, slice)
        whole = isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)
        if not basic and not whole:
            raise UnsupportedOperation(
                f"indexing with a {type(entry).__name__} is not supported",
                user_frame()[0],
                "integers, slices, None and ...; np.where(mask, x, 0) for a boolean mask",
            )
    try:
        shape = np.broadcast_to(np.empty((), np.bool_), x.shape)[key].shape
    except IndexError as error:
        raise IndexingError(str(error), user_frame()[0], f"the shape is {x.shape}") from None
    index = _normal_index(given, x.shape)
    return x._trace.record("getitem", (x._value,), shape, x.dtype, index=index)


def _normal_index(given: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Per entry: an integer, a (start, step, count) triple, or None for a new axis."""
    used = sum(entry is not None and entry is not Ellipsis for entry in given)
    filler = (slice(None),) * (len(shape) - used)
    if Ellipsis in given:
        place = given.index(Ellipsis)
        given = given[:place] + filler + given[place + 1 :]
    else:
        given = given + filler
    index: list[Any] = []
    axis = 0
    for entry in given:
        if entry is None:
            index.append(None)
            continue
        extent = shape[axis]
        axis += 1
        if isinstance(entry, slice):
            span = range(extent)[entry]
            index.append((span.start, span.step, len(span)))
        else:
            index.append(int(entry) + (extent if entry < 0 else 0))
    return tuple(index)


def matmul(recording: Trace, a: Any, b: Any) -> Tracer:
    """``a @ b`` for vectors, matrices and batches, through BLAS (an extern node)."""
    left, right = _value(recording, a, "matmul"), _value(recording, b, "matmul")
    loop, _ = _loop_dtypes(np.matmul, [left.dtype, right.dtype])
    dtype = _carried(loop[2], "np.matmul")
    if not left.shape or not right.shape:
        raise ShapeError("matmul: a 0-d operand", user_frame()[0], "a * b for scalars")
    rows = left.shape if len(left.shape) > 1 else (1, *left.shape)
    columns = right.shape if len(right.shape) > 1 else (*right.shape, 1)
    if rows[-1] != columns[-2]:
        raise ShapeError(
            f"matmul: the inner extents {rows[-1]} and {columns[-2]} differ "
            f"in shapes {left.shape} and {right.shape}",
            user_frame()[0],
            "a.T or b.T",
        )
    try:
        batch = np.broadcast_shapes(rows[:-2], columns[:-2])
    except ValueError:
        raise ShapeError(
            f"matmul: batch axes of {left.shape} and {right.shape} do not broadcast", user_frame()[0]
        ) from None
    shape = (*batch, *rows[-2:-1], *columns[-1:])
    if len(left.shape) == 1:
        shape = (*shape[:-2], shape[-1])
    if len(right.shape) == 1:
        shape = shape[:-1]
    operands = [_convert(recording, None, operand, dtype) for operand in (left, right)]
    return recording.record("matmul", operands, shape, dtype)


def dot(recording: Trace, a: Any, b: Any) -> Tracer:
    """``np.dot`` of vectors and matrices; scalars multiply."""
    left, right = _value(recording, a, "dot"), _value(recording, b, "dot")
    if not left.shape or not right.shape:
        return pointwise(recording, np.multiply, (a, b))
    if len(left.shape) > 2 or len(right.shape) > 2:
        raise UnsupportedOperation("np.dot above two axes", user_frame()[0], "a @ b")
    return matmul(recording, a, b)


def _reducer(kind: str) -> Callable[..., Any]:
    def handler(recording: Trace, a: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        if kind in ("max", "min"):
            names = ("out", "keepdims")
        else:
            names = ("dtype", "out", "keepdims")
        kwargs.update(zip(names, args, strict=False))
        return reduce(recording, kind, a, axis, **kwargs)

    return handler


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{getattr(np, kind): _reducer(kind) for kind in ("sum", "prod", "max", "min", "mean", "var", "std")},
    np.amax: _reducer("max"),
    np.amin: _reducer("min"),
    np.where: where,
    np.clip: clip,
    np.reshape: reshape,
    np.transpose: permute,
    np.swapaxes: swapaxes,
    np.expand_dims: expand_dims,
    np.squeeze: squeeze,
    np.ravel: ravel,
    np.broadcast_to: broadcast_to,
    np.dot: dot,
    np.astype: cast,
}


def _method(handler: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: handler(self._trace, self, *args, **kwargs)


METHODS: dict[str, Callable[..., Any]] = {
    name: _method(handler)
    for name, handler in {
        **{kind: _reducer(kind) for kind in ("sum", "prod", "max", "min", "mean", "var", "std")},
        "reshape": reshape,
        "transpose": permute,
        "swapaxes": swapaxes,
        "squeeze": squeeze,
        "ravel": ravel,
        "flatten": ravel,
        "clip": clip,
        "dot": dot,
        "astype": cast,
        "copy": lambda recording, x: x,
    }.items()
}
