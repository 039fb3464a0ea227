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

from .made import Made, made, tracers
from .nested import entries
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


def _called_inside() -> bool:
    """True when NumPy's or Stax's own Python code made the call, not the user's function.

    Compiled code has no frame and looks like the user's; it gets a ``Made`` array, whose memory it
    may read and write.
    """
    module = sys._getframe(2).f_globals.get("__name__", "")
    return module.partition(".")[0] in ("numpy", "stax_ref")


def _maker(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def maker(*args: Any, **kwargs: Any) -> Any:
        if not _tracing.recordings or _called_inside():
            return original(*args, **kwargs)
        recording = _tracing.recordings[-1]
        args, kwargs = tracers(args), tracers(kwargs)
        if _is_unknown((args, kwargs)):
            from .functions import creation

            return creation.made_of_traced(recording, name, args, kwargs)
        return made(recording, original(*args, **kwargs))

    return maker


def _converter(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def converted(thing: Any, *args: Any, **kwargs: Any) -> Any:
        is_made = isinstance(thing, Made) and thing._tracer is not None
        if not _tracing.recordings or _called_inside():
            return original(thing, *args, **kwargs)
        if isinstance(thing, np.ndarray) and not is_made:
            return original(thing, *args, **kwargs)
        recording = _tracing.recordings[-1]
        thing = tracers(thing)
        if isinstance(thing, Tracer) or _is_unknown(thing):
            from .functions import creation

            return creation.converted(recording, name, thing, *args, **kwargs)
        return made(recording, original(thing, *args, **kwargs))

    return converted


def _is_unknown(thing: Any) -> bool:
    """A traced array, or a list or tuple that holds one."""
    return any(isinstance(entry, Tracer) and entry._known is None for entry in entries(thing))
