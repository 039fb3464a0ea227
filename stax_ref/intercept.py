"""NumPy functions that take no array, while a function is traced: they make known arrays.

``np.zeros``, ``np.arange`` and the like never ask ``__array_function__``, so a trace would get
plain arrays that it cannot see written. While a trace runs, these names of the ``numpy`` module are
wrapped; a wrapper looks whether *its thread* is tracing and otherwise calls NumPy's function, so
other threads never notice. Takes a recording; holds the wrapped names. Not here: what a known array
is (``cells``), what happens when it meets a traced one.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from . import dtypes
from .tracer import Trace, Tracer

MAKERS = (
    "arange",
    "empty",
    "eye",
    "full",
    "geomspace",
    "identity",
    "indices",
    "linspace",
    "logspace",
    "ones",
    "tri",
    "zeros",
)
CONVERTERS = ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray")


class _Tracing(threading.local):
    def __init__(self) -> None:
        self.recordings: list[Trace] = []


_tracing = _Tracing()
_lock = threading.Lock()
_originals: dict[str, Callable[..., Any]] = {}
_running = 0


@contextmanager
def creating(recording: Trace) -> Iterator[None]:
    """While the body runs in this thread, arrays that NumPy makes belong to a recording."""
    _tracing.recordings.append(recording)
    _install(1)
    try:
        yield
    finally:
        _install(-1)
        _tracing.recordings.pop()


def _install(change: int) -> None:
    """Wrap NumPy's names for the first running trace, restore them after the last."""
    global _running
    with _lock:
        if _running == 0:
            _originals.update({name: getattr(np, name) for name in (*MAKERS, *CONVERTERS)})
            for name, original in _originals.items():
                wrap = _converter if name in CONVERTERS else _maker
                setattr(np, name, wrap(name, original))
        _running += change
        if _running == 0:
            for name, original in _originals.items():
                setattr(np, name, original)


def _called_inside(name: str) -> bool:
    """True when NumPy, Stax or compiled code made the call, not the user's function.

    Compiled code (NumPy's own random numbers, any extension module) has no frame: the innermost one
    is the user's then, but its code does not name the function. It must get a plain array, since
    it may write to its memory.
    """
    frame = sys._getframe(2)
    module = frame.f_globals.get("__name__", "")
    code = frame.f_code
    named = name in code.co_names or name in code.co_consts
    return not named or module.partition(".")[0] in ("numpy", "stax_ref")


def _maker(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def made(*args: Any, **kwargs: Any) -> Any:
        if not _tracing.recordings or _called_inside(name):
            return original(*args, **kwargs)
        recording = _tracing.recordings[-1]
        if any(_is_unknown(thing) for thing in (*args, *kwargs.values())):
            from .functions import creation

            return creation.made_of_traced(recording, name, original, args, kwargs)
        return _as_known(recording, original(*args, **kwargs))

    return made


def _converter(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def converted(thing: Any, *args: Any, **kwargs: Any) -> Any:
        if not _tracing.recordings or isinstance(thing, np.ndarray) or _called_inside(name):
            return original(thing, *args, **kwargs)
        recording = _tracing.recordings[-1]
        if isinstance(thing, Tracer) or _is_unknown(thing):
            from .functions import creation

            return creation.converted(recording, name, thing, *args, **kwargs)
        return _as_known(recording, original(thing, *args, **kwargs))

    return converted


def _is_unknown(thing: Any) -> bool:
    """A traced array, or a list or tuple that holds one."""
    if isinstance(thing, (list, tuple)):
        return any(_is_unknown(entry) for entry in thing)
    return isinstance(thing, Tracer) and thing._known is None


def _as_known(recording: Trace, made: Any) -> Any:
    if type(made) is np.ndarray and dtypes.is_supported(made.dtype):
        return Tracer(recording, None, made)
    if isinstance(made, tuple):
        return tuple(_as_known(recording, entry) for entry in made)
    return made
