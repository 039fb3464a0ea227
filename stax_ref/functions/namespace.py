"""Which NumPy function is which: ufuncs, functions and array methods of a traced array.

Takes the calls that NumPy hands to tracers; gives equations through ``elementwise`` and ``shapes``.
Holds the tables of what is supported; anything else is refused with the list of what is. Not here:
recording (``tracer``), loops (``lower``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..cells import link
from ..errors import UnsupportedOperation, user_frame
from ..tracer import Trace, Tracer
from . import (
    arithmetic,
    assign,
    blocks,
    choices,
    composites,
    contractions,
    creation,
    einsum,
    externs,
    indexing,
    joining,
    norms,
    padding,
    rearrange,
    reductions,
    statistics,
    types,
    ufuncs,
    windows,
)
from .choices import where
from .elementwise import cast
from .indexing import getitem, is_basic
from .known import evaluated
from .operands import no_options, traced
from .powers import power
from .reductions import OF_UFUNC, reduce_ufunc
from .refused import refusal
from .shapes import bit_view, broadcast_to, expand_dims, permute, ravel, reshape, squeeze, swapaxes
from .ufuncs import NATIVE, UFUNCS

__all__ = ["FUNCTIONS", "METHODS", "call_function", "call_ufunc", "item", "power"]


METHODS_OF_UFUNCS: dict[str, Callable[..., Any]] = {
    "reduce": externs.reduce,
    "accumulate": externs.accumulate,
    "reduceat": externs.reduceat,
    "outer": contractions.ufunc_outer,
}


def call_ufunc(
    recording: Trace,
    ufunc: Any,
    method: str,
    inputs: Sequence[Any],
    kwargs: dict[str, Any],
    by_operator: bool = False,
) -> Any:
    """One call through ``__array_ufunc__``, or of one of Python's operators."""
    if method == "at":
        return assign.ufunc_at(recording, ufunc, *inputs)
    if kwargs.get("out") is not None:
        return _into(recording, ufunc, method, inputs, kwargs)
    known = evaluated(recording, getattr(ufunc, method), inputs, kwargs)
    if known is not NotImplemented:
        return known
    name = ufunc.__name__
    if method == "reduce" and name in OF_UFUNC:
        return reduce_ufunc(recording, name, *inputs, **kwargs)
    if method in METHODS_OF_UFUNCS:
        return METHODS_OF_UFUNCS[method](recording, ufunc, *inputs, **kwargs)
    if ufunc in contractions.UFUNCS and method == "__call__":
        return contractions.UFUNCS[ufunc](recording, *inputs, **kwargs)
    if method != "__call__":
        raise UnsupportedOperation(
            f"np.{name}.{method} is not supported", user_frame()[0], "sum, max, min over an axis"
        )
    if name not in UFUNCS:
        raise _unsupported_function(f"np.{name}")
    return ufuncs.call(recording, ufunc, inputs, kwargs, by_operator)


def call_function(recording: Trace, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """One call through ``__array_function__``."""
    if func in assign.FUNCTIONS:
        return assign.FUNCTIONS[func](recording, *args, **kwargs)
    out = kwargs.get("out")
    if out is not None:
        options = {
            **kwargs,
            "out": None,
            **reductions.through_out(func.__name__, args, kwargs, out),
        }
        result = call_function(recording, func, args, options)
        assign.store(out, result, "same_kind", f"np.{func.__name__}")
        return out
    if func not in VIEWS:
        known = evaluated(recording, func, args, kwargs)
        if known is not NotImplemented:
            return known
    result = _handled(recording, func, args, kwargs)
    if func in VIEWS:
        _linked(result, args, func is np.ravel)
    return result


def _into(
    recording: Trace, ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """A ufunc with ``out``: the result, written where the user wants it."""
    outs = kwargs.pop("out")
    outs = outs if isinstance(outs, tuple) else (outs,)
    mask = kwargs.pop("where", True) if method == "__call__" else True
    casting = kwargs.pop("casting", "same_kind")
    if method == "reduce":
        kwargs |= reductions.through_out(ufunc.__name__, inputs, kwargs, outs[0])
    result = call_ufunc(recording, ufunc, method, inputs, kwargs)
    results = result if isinstance(result, tuple) else (result,)
    for out, value in zip(outs, results, strict=False):
        if out is not None:
            whole = value if mask is True else where(recording, mask, value, out)
            assign.store(out, whole, casting, f"ufunc {ufunc.__name__!r}")
    given = tuple(o if o is not None else r for o, r in zip(outs, results, strict=False))
    return given[0] if len(results) == 1 else (*given, *results[len(given) :])


def _linked(result: Any, args: Sequence[Any], ravelled: bool) -> None:
    """Let the result of a view function share the storage of its operand."""
    source = args[0] if args else None
    if not isinstance(source, Tracer):
        return
    for part in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(part, Tracer):
            link(part, source, ravelled)


def item(x: Tracer, key: Any) -> Any:
    """``x[key]``; a known element is a NumPy scalar, a slice shares storage."""
    given = key if isinstance(key, tuple) else (key,)
    if x._known is not None:
        found = evaluated(x._trace, operator.getitem, (x, key), {})
        scalar = isinstance(found, np.generic)
        if scalar or (found is not NotImplemented and not is_basic(x._trace, given)):
            return found
    result = getitem(x, key)
    whole = any(entry is Ellipsis for entry in given)
    if result.ndim or whole:  # what NumPy gives as a scalar is a value of its own
        link(result, x)
    return result


def _handled(recording: Trace, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    handler = FUNCTIONS.get(func)
    if handler is None:
        module = str(func.__module__).replace("numpy", "np")
        name = f"{module}.{func.__name__}"
        raise refusal(name, func) or _unsupported_function(name)
    return handler(recording, *args, **kwargs)


def _unsupported_function(name: str) -> UnsupportedOperation:
    supported = sorted(NATIVE) + sorted(f.__name__ for f in FUNCTIONS)
    return UnsupportedOperation(
        f"{name} is not supported inside a jitted function",
        user_frame()[0],
        "call it outside, or build it from: " + ", ".join(dict.fromkeys(supported)),
    )


def _copier(default: str) -> Callable[..., Any]:
    """``np.copy`` and ``x.copy()``: the same value in a cell of its own."""

    def handler(recording: Trace, x: Any, order: str = default, subok: bool = False) -> Any:
        no_options("copy", {"order": None if order in ("C", "K", "A") else order})
        copied = Tracer(recording, traced(recording, x, "copy"))
        copied._cell.order = "C" if order == "C" else "K"
        return copied

    return handler


def flatten(recording: Trace, x: Any, order: str = "C") -> Any:
    """``x.flatten()``: always a copy."""
    flat = Tracer(recording, ravel(recording, x, order)._value)
    flat._cell.order = "C"
    return flat


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **reductions.FUNCTIONS,
    **statistics.FUNCTIONS,
    **norms.FUNCTIONS,
    np.reshape: reshape,
    np.transpose: permute,
    np.swapaxes: swapaxes,
    np.expand_dims: expand_dims,
    np.squeeze: squeeze,
    np.ravel: ravel,
    np.broadcast_to: broadcast_to,
    np.copy: _copier("K"),
    **creation.FUNCTIONS,
    np.shape: lambda recording, a: a.shape,
    np.ndim: lambda recording, a: a.ndim,
    np.size: lambda recording, a: a.size,
    np.astype: cast,
    **arithmetic.FUNCTIONS,
    **choices.FUNCTIONS,
    **contractions.FUNCTIONS,
    **einsum.FUNCTIONS,
    **types.FUNCTIONS,
    **externs.FUNCTIONS,
    **joining.FUNCTIONS,
    **rearrange.FUNCTIONS,
    **padding.FUNCTIONS,
    **indexing.FUNCTIONS,
    **blocks.FUNCTIONS,
    **composites.FUNCTIONS,
    **windows.FUNCTIONS,
}


def _method(name: str, handler: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        recording, out = self._trace, kwargs.pop("out", None)
        if out is not None:
            kwargs |= reductions.through_out(name, (self, *args), kwargs, out)
        result = NotImplemented
        if name not in _VIEW_METHODS and name not in assign.METHODS:
            result = evaluated(recording, _calling(name), (self, *args), kwargs)
        if result is NotImplemented:
            result = handler(recording, self, *args, **kwargs)
        if name in _VIEW_METHODS:
            _linked(result, (self,), name == "ravel")
        if out is None:
            return result
        assign.store(out, result, "same_kind", name)
        return out

    return method


def _calling(name: str) -> Callable[..., Any]:
    return lambda array, *args, **kwargs: getattr(array, name)(*args, **kwargs)


VIEWS: frozenset[Any] = frozenset(
    {
        np.reshape,
        np.transpose,
        np.permute_dims,
        np.matrix_transpose,
        np.linalg.matrix_transpose,
        np.swapaxes,
        np.moveaxis,
        np.rollaxis,
        np.expand_dims,
        np.squeeze,
        np.ravel,
        np.flip,
        np.fliplr,
        np.flipud,
        np.rot90,
        np.split,
        np.array_split,
        np.hsplit,
        np.vsplit,
        np.dsplit,
        np.unstack,
        np.diagonal,
        np.broadcast_to,
        np.atleast_1d,
        np.atleast_2d,
        np.atleast_3d,
    }
)
"""Functions whose results share memory with their first argument."""

_VIEW_METHODS = frozenset(
    {"reshape", "transpose", "swapaxes", "squeeze", "ravel", "diagonal", "view"}
)

_HANDLERS: dict[str, Callable[..., Any]] = {
    **reductions.METHODS_OF_FAMILY,
    **statistics.METHODS_OF_FAMILY,
    "reshape": reshape,
    "transpose": permute,
    "swapaxes": swapaxes,
    "squeeze": squeeze,
    "ravel": ravel,
    "flatten": flatten,
    "astype": cast,
    "copy": _copier("C"),
    **arithmetic.METHODS_OF_FAMILY,
    **choices.METHODS_OF_FAMILY,
    **contractions.METHODS_OF_FAMILY,
    **externs.METHODS_OF_FAMILY,
    **rearrange.METHODS,
    **indexing.METHODS,
    **composites.METHODS_OF_FAMILY,
    "view": bit_view,
    **assign.METHODS,
}

METHODS = {name: _method(name, handler) for name, handler in _HANDLERS.items()}
