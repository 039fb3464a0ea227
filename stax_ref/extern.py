"""extern: a Python function of the user's own, called from inside a compiled program.

Takes a function of NumPy arrays and the types of its results; gives a callable that records one
external call while a function is traced, and is the function itself anywhere else. Holds how result
types are written. Not here: the call in the plan (``calls``), NumPy's own functions that stay calls
(``functions.externs``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .errors import ConfigError, DtypeError
from .made import tracers
from .nested import entries
from .tracer import Tracer


class Spec(NamedTuple):
    """The type of an array: its shape and its dtype."""

    shape: tuple[int, ...]
    dtype: np.dtype


class Extern:
    """A function that a compiled program calls at run time; made by :func:`extern`."""

    runs_outside_traces = True

    def __init__(self, called: Callable[..., Any], result_type: Any) -> None:
        self.called = called
        self.result_type = result_type

    @property
    def name(self) -> str:
        """Its name in texts and messages."""
        return str(getattr(self.called, "__name__", type(self.called).__name__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, or record a call of it when an argument is traced."""
        args, kwargs = tracers(args), tracers(kwargs)
        found = traced_in([args, kwargs])
        if found is None:
            return self.called(*args, **kwargs)
        from .functions import externs

        return externs.own(found._trace, self, args, kwargs)

    def specs(self, args: Any, kwargs: Any) -> tuple[type | None, tuple[Spec, ...]]:
        """The types of its results for these arguments, and the type of their tuple, if any."""
        declared = self.result_type
        if callable(declared):
            typed = {name: _typed(value) for name, value in kwargs.items()}
            declared = declared(*map(_typed, args), **typed)
        one = self._spec(declared)
        if one is not None:
            return None, (one,)
        if isinstance(declared, (tuple, list)):
            several = [self._spec(entry) for entry in declared]
            if several and all(spec is not None for spec in several):
                return type(declared), tuple(spec for spec in several if spec is not None)
        raise ConfigError(
            f"the result type of stax.extern({self.name}) is {declared!r}",
            instead="stax.Spec(shape, dtype), an example array, a tuple of these, or a function "
            "that takes the types of the operands and returns one of these",
        )

    def _spec(self, thing: Any) -> Spec | None:
        """One declared result; None for something else."""
        if isinstance(thing, tuple) and len(thing) == 2 and isinstance(thing[0], (tuple, list)):
            shape, dtype = thing
        elif hasattr(thing, "shape") and hasattr(thing, "dtype"):
            shape, dtype = thing.shape, thing.dtype
        else:
            return None
        if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
            return None
        try:
            return Spec(tuple(map(int, shape)), np.dtype(dtype))
        except TypeError:
            raise DtypeError(
                f"the result type of stax.extern({self.name}) has dtype {dtype!r}",
                instead="a NumPy dtype",
            ) from None


def traced_in(thing: Any) -> Tracer | None:
    """A traced array in nested tuples, lists and dicts; None when there is none."""
    return next((entry for entry in entries(thing) if isinstance(entry, Tracer)), None)


def _typed(value: Any) -> Any:
    """What a result type function is told of an argument: the type of an array, else the value."""
    if isinstance(value, (Tracer, np.ndarray)):
        return Spec(tuple(value.shape), value.dtype)
    if isinstance(value, (tuple, list)):
        return type(value)(map(_typed, value)) if type(value) in (tuple, list) else value
    return value


def extern(function: Callable[..., Any], result_type: Any) -> Extern:
    """Make a Python function callable from inside jitted functions.

    The compiled program calls it each time it runs, between its kernels, with the interpreter lock
    held; ``explain`` shows the call. Inside a jitted function every array comes as a read-only
    NumPy array (0-d ones too, which NumPy would hand over as scalars), a traced Python scalar as a
    Python scalar, anything else as it is. The function should depend on its arguments alone: calls
    with the same arguments are joined, and a call whose result nobody uses is left out. It must not
    keep its arguments. Whatever it raises reaches the caller. Outside a jitted function the result
    of ``extern`` simply calls it.

    Args:
        function: takes arrays and other arguments, returns an array or a tuple of arrays.
        result_type: what it returns: a :class:`Spec` (or a pair ``(shape, dtype)``), an example
            array, a tuple of these for a tuple of arrays, or a function that is given the
            arguments, each array as its ``Spec``, and returns one of these.

    Returns:
        a callable with the signature of ``function``.

    Raises:
        ConfigError: ``function`` is not callable or not hashable.

    A call raises ``ShapeError`` or ``DtypeError``, naming the function, when what it returns is not
    of the declared shape or dtype; and ``DtypeError``, while tracing, for a dtype Stax lacks.

    Example::

        spectrum = stax.extern(
            lambda x: np.abs(np.fft.rfft(x)),
            lambda x: stax.Spec((x.shape[0] // 2 + 1,), x.dtype),
        )
    """
    if not callable(function) or isinstance(function, Extern):
        raise ConfigError(
            f"stax.extern was given a {type(function).__name__}", instead="a Python function"
        )
    try:
        hash(function)
    except TypeError:
        raise ConfigError(
            "the function given to stax.extern is not hashable", instead="a plain function"
        ) from None
    return Extern(function, result_type)
