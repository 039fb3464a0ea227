"""``Made``: an array that the function made itself while it is traced.

It is a true ``numpy.ndarray``, because compiled code may ask NumPy for one and look into its memory
without asking (NumPy's own random generators do); everything that goes through Python is handed to
the tracer of the same cell, whose known content is this very memory. Takes arrays; gives ``Made``
ones and finds their tracers. Not here: which functions of NumPy make them (``intercept``), what a
cell is (``cells``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .nested import entries, mapped
from .tracer import Trace, Tracer


class Made(np.ndarray):
    """An array with a tracer. What NumPy derives from it has none and is a plain view."""

    _tracer: Tracer | None

    def __array_finalize__(self, source: Any) -> None:
        self._tracer = None

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .functions import namespace

        recording = _recording((inputs, kwargs))
        if recording is None:
            return getattr(ufunc, method)(*plain(inputs), **plain(kwargs))
        return shown(
            namespace.call_ufunc(recording, ufunc, method, tracers(inputs), tracers(kwargs))
        )

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .functions import namespace

        recording = _recording((args, kwargs))
        if recording is None:
            return func(*plain(args), **plain(kwargs))
        return shown(namespace.call_function(recording, func, tracers(args), tracers(kwargs)))


def made(recording: Trace, thing: Any) -> Any:
    """Arrays that NumPy made, as arrays of this trace; anything else as it is."""

    def of_trace(array: Any) -> Any:
        if type(array) is not np.ndarray or not dtypes.is_supported(array.dtype):
            return array
        return _seen_as(array, Tracer(recording, None, array))

    return mapped(of_trace, thing)


def _seen_as(array: np.ndarray, tracer: Tracer) -> Made:
    """The memory of an array as a ``Made`` one."""
    found = array.view(Made)
    found._tracer = tracer
    return found


def tracers(thing: Any) -> Any:
    """Arguments with the tracers of ``Made`` arrays in their places."""

    def tracer_of(entry: Any) -> Any:
        if not isinstance(entry, Made):
            return entry
        return plain(entry) if entry._tracer is None else entry._tracer

    return mapped(tracer_of, thing) if any(isinstance(e, Made) for e in entries(thing)) else thing


def shown(result: Any) -> Any:
    """A result with what is known in it as ``Made`` arrays: whoever asked had one in hand."""

    def known_as_made(entry: Any) -> Any:
        known = entry._known if isinstance(entry, Tracer) else None
        return entry if known is None else _seen_as(known, entry)

    return mapped(known_as_made, result)


def plain(thing: Any) -> Any:
    """Arguments with ``Made`` arrays as NumPy's own."""
    return mapped(lambda e: e.view(np.ndarray) if isinstance(e, Made) else e, thing)


def _recording(thing: Any) -> Trace | None:
    """The trace that an argument belongs to."""
    found = (e._tracer if isinstance(e, Made) else e for e in entries(thing))
    return next((e._trace for e in found if isinstance(e, Tracer)), None)


def _routed(name: str) -> Callable[..., Any]:
    """A method that the tracer answers; a derived array answers itself."""

    def method(self: Made, *args: Any, **kwargs: Any) -> Any:
        if self._tracer is None:
            return getattr(np.ndarray, name)(self, *args, **kwargs)
        return shown(getattr(self._tracer, name)(*tracers(args), **tracers(kwargs)))

    return method


def _read(name: str) -> property:
    """An attribute that the tracer answers."""

    def attribute(self: Made) -> Any:
        source = self.view(np.ndarray) if self._tracer is None else self._tracer
        return shown(getattr(source, name))

    return property(attribute)


_DUNDERS = (
    "__getitem__ __setitem__ __iter__ __contains__ __bool__ __int__ __float__ __complex__ "
    "__index__ __repr__ __str__ __format__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ "
    "__imod__ __ipow__ __imatmul__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__"
).split()
_OWN = ("view", "shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "flags", "base")
"""Answered by the array: its memory has the same layout, and ``view`` must stay NumPy's here."""

for _name in (*_DUNDERS, *(n for n in dir(np.ndarray) if not n.startswith("_") and n not in _OWN)):
    _is_method = callable(getattr(np.ndarray, _name))
    setattr(Made, _name, _routed(_name) if _is_method else _read(_name))
