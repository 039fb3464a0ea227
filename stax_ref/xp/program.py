"""How a function of the standard runs: as a jitted program, or as NumPy's own call.

Takes a Python function whose body is a NumPy expression and whose signature is the standard's;
gives the function users call. If ``table`` says native, that is ``stax.jit`` of the expression,
with every parameter that is no array static; otherwise the expression itself. Holds the rule for
single calls: an argument Stax does not carry (complex, say) means NumPy for that call, and inside
another trace the expression becomes part of it. Not here: the expressions (``elementwise`` and the
other files of this folder).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from .. import dtypes
from ..jit import jit
from ..nested import entries, mapped
from ..tracer import Tracer
from .table import NATIVE

Function = TypeVar("Function", bound=Callable[..., Any])
Array = Any
"""An ndarray (or, inside a trace, what stands for one)."""

ARRAYS = frozenset(
    {
        *("x", "x1", "x2", "condition", "indices", "sorter", "arrays", "fill_value"),
        *("min", "max", "prepend", "append"),
    }
)
"""Parameters of the standard that take arrays or numbers; every other one is static."""


def standard(
    function: Function, prefix: str = "", unless: Callable[..., bool] | None = None
) -> Function:
    """The function users call for an expression with the standard's signature.

    Args:
        function: takes arrays (``ARRAYS``) and options, returns an array or a sequence of arrays.
        prefix: ``"linalg."`` or ``"fft."`` for a function of an extension.
        unless: called with the same arguments; True sends a native function's call to NumPy
            (``table.LIMITS`` says when).

    Returns:
        a function of the same signature whose results are ndarrays, 0-d ones included.
    """
    if f"{prefix}{function.__name__}" not in NATIVE:

        def delegated(*args: Any, **kwargs: Any) -> Any:
            return _as_arrays(function(*args, **kwargs))

        return cast(Function, functools.update_wrapper(delegated, function))

    signature = inspect.signature(function)
    static = [name for name in signature.parameters if name not in ARRAYS]
    program = jit(function, static_argnames=static)

    def native(*args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        if not _carried(values) or (unless is not None and unless(*args, **kwargs)):
            result = function(*args, **kwargs)
            return result if _traced(values) else _as_arrays(result)
        if any(value is None or type(value) is list for value in values):
            args, kwargs = plain_call(signature, args, kwargs)
        return _as_arrays(program(*args, **kwargs))

    native.program = program  # type: ignore[attr-defined]  # for `explain` and tests
    return cast(Function, functools.update_wrapper(native, function))


def _traced(values: Any) -> bool:
    return any(isinstance(value, Tracer) for value in entries(values))


def _carried(values: Any) -> bool:
    """At least one array, and nothing that a program cannot take: see the module's rule."""
    some = False
    for value in entries(values):
        if isinstance(value, (np.ndarray, np.generic)):
            plain = isinstance(value, np.generic) or type(value) in (np.ndarray, np.memmap)
            if not plain or not dtypes.is_supported(value.dtype):
                return False
            some = True
        elif isinstance(value, np.dtype):
            if not dtypes.is_supported(value):
                return False
        elif isinstance(value, (complex, Tracer)):
            return False
    return some


def plain_call(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same call without arrays that are None, and with tuples for lists in static options."""
    bound = signature.bind(*args, **kwargs)
    for name, value in list(bound.arguments.items()):
        if value is None and name in ARRAYS:
            del bound.arguments[name]
        elif type(value) is list and name not in ARRAYS:
            bound.arguments[name] = tuple(value)
    return bound.args, bound.kwargs


def _as_arrays(result: Any) -> Any:
    """NumPy scalars as 0-d arrays: the standard knows only arrays."""
    if isinstance(result, tuple) and type(result) is not tuple:  # a named tuple of numpy.linalg
        return type(result)(*map(_as_arrays, result))
    return mapped(lambda e: np.asarray(e) if isinstance(e, np.generic) else e, result)
