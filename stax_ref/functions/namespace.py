"""Which NumPy function is which: ufuncs, functions and array methods of a traced array.

Takes the calls that NumPy hands to tracers; gives equations through ``elementwise`` and ``shapes``.
Holds the tables of what is supported; anything else is refused with the list of what is. Not here:
recording (``tracer``), loops (``lower``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedOperation, user_frame
from ..tracer import Trace
from . import (
    arithmetic,
    choices,
    contractions,
    differences,
    einsum,
    externs,
    indexing,
    norms,
    padding,
    rearrange,
    reductions,
    statistics,
    ufuncs,
    windows,
)
from .creation import full_like, like
from .elementwise import cast
from .indexing import getitem
from .operands import no_options
from .powers import power
from .reductions import OF_UFUNC, reduce_ufunc
from .refused import refusal
from .shapes import broadcast_to, expand_dims, permute, ravel, reshape, squeeze, swapaxes
from .ufuncs import NATIVE, UFUNCS

__all__ = ["FUNCTIONS", "METHODS", "call_function", "call_ufunc", "getitem", "permute", "power"]


METHODS_OF_UFUNCS: dict[str, Callable[..., Any]] = {
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
    operator: bool = False,
) -> Any:
    """One call through ``__array_ufunc__``, or of one of Python's operators."""
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
    return ufuncs.call(recording, ufunc, inputs, kwargs, operator)


def call_function(recording: Trace, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """One call through ``__array_function__``."""
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


def _copy(recording: Trace, x: Any, order: str = "C") -> Any:
    """``x.copy()``: values never change, so it is the value itself."""
    no_options("copy", {"order": order})
    return x


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
    np.copy: _copy,
    np.zeros_like: like(0),
    np.ones_like: like(1),
    np.full_like: full_like,
    np.shape: lambda recording, a: a.shape,
    np.ndim: lambda recording, a: a.ndim,
    np.size: lambda recording, a: a.size,
    np.astype: cast,
    **arithmetic.FUNCTIONS,
    **choices.FUNCTIONS,
    **contractions.FUNCTIONS,
    **einsum.FUNCTIONS,
    **externs.FUNCTIONS,
    **rearrange.FUNCTIONS,
    **padding.FUNCTIONS,
    **indexing.FUNCTIONS,
    **differences.FUNCTIONS,
    **windows.FUNCTIONS,
}


def _method(handler: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: handler(self._trace, self, *args, **kwargs)


_HANDLERS: dict[str, Callable[..., Any]] = {
    **reductions.METHODS_OF_FAMILY,
    **statistics.METHODS_OF_FAMILY,
    "reshape": reshape,
    "transpose": permute,
    "swapaxes": swapaxes,
    "squeeze": squeeze,
    "ravel": ravel,
    "flatten": ravel,
    "astype": cast,
    "copy": _copy,
    **arithmetic.METHODS_OF_FAMILY,
    **choices.METHODS_OF_FAMILY,
    **contractions.METHODS_OF_FAMILY,
    **externs.METHODS_OF_FAMILY,
    **rearrange.METHODS,
    **indexing.METHODS,
    **differences.METHODS_OF_FAMILY,
}

METHODS = {name: _method(handler) for name, handler in _HANDLERS.items()}
