"""What a traced function reads besides its arguments: globals and closure cells.

Takes a Python function; gives the places it reads plain values from and what they held. A number or
string found there is guarded by value, an array by identity (its elements are read at each call),
so that rebinding a global never gives a stale result. Functions it calls by such a name are
followed. Not here: recording arrays that turn up during a trace (``trace``).
"""

from __future__ import annotations

import builtins
import dis
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import Where

VALUES = (bool, int, float, complex, str, bytes, type(None), np.generic)


@dataclass(frozen=True, slots=True)
class Place:
    """One global name or closure cell: ``holder[key]``, or ``holder.cell_contents``."""

    holder: Any
    key: str

    def read(self) -> Any:
        """What the place holds now; a marker when it holds nothing."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.key, NOTHING)
        try:
            return self.holder.cell_contents
        except ValueError:
            return NOTHING


NOTHING = object()
"""What a place holds that holds nothing."""


def all_present(guards: tuple[tuple[Any, str, Any], ...]) -> bool:
    """False when a guarded place held nothing, which no identity can express."""
    return all(held is not NOTHING for _, _, held in guards)


def places(*functions: Callable[..., Any]) -> tuple[Place, ...]:
    """Every guarded place the functions can read, directly or through functions they name.

    A global that does not exist yet is guarded too. Modules, classes and builtins are not.
    """
    found: dict[tuple[int, str], Place] = {}
    for current in _followed(*functions):
        for place in _read_by(current):
            held = place.read()
            missing = held is NOTHING and not hasattr(builtins, place.key)
            called = callable(held) and not isinstance(held, type)
            if missing or called or isinstance(held, (*VALUES, np.ndarray, tuple)):
                found[(id(place.holder), place.key)] = place
    return tuple(found.values())


def _followed(*functions: Callable[..., Any]) -> list[types.FunctionType]:
    """The functions and every Python function they reach through globals and cells."""
    seen: dict[int, types.FunctionType] = {}
    pending = [underlying(function) for function in reversed(functions)]
    while pending:
        current = pending.pop()
        if not isinstance(current, types.FunctionType) or id(current) in seen:
            continue
        seen[id(current)] = current
        for place in _read_by(current):
            held = place.read()
            if callable(held):
                pending.append(underlying(held))
    return list(seen.values())


def _read_by(function: types.FunctionType) -> list[Place]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    own = [Place(function.__globals__, name) for name in _globals(function.__code__)]
    return own + [Place(cell, name) for name, cell in cells]


def underlying(function: Any) -> Any:
    """The Python function inside a partial, a method, a callable object or a wrapper."""
    for _ in range(16):
        called_later = getattr(type(function), "runs_outside_traces", False)  # never traced
        if isinstance(function, types.FunctionType) or called_later:
            break
        for name in ("func", "__wrapped__", "__func__", "_function"):
            inner = getattr(function, name, None)
            if callable(inner):
                function = inner
                break
        else:
            call = getattr(type(function), "__call__", None)  # noqa: B004  # the method is wanted
            if not isinstance(call, types.FunctionType):
                break
            function = call
    return function


def place_of(function: Callable[..., Any]) -> Where | None:
    """Where the function is defined, None for one without Python code."""
    code = getattr(underlying(function), "__code__", None)
    if code is None:
        return None
    return Where(code.co_filename, code.co_firstlineno, code.co_name)


def _globals(code: types.CodeType) -> list[str]:
    """Names the code loads as globals, nested functions included."""
    loads = [i.argval for i in dis.get_instructions(code) if i.opname in _LOADS]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            loads += _globals(constant)
    return list(dict.fromkeys(loads))


_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


def draws(*functions: Callable[..., Any]) -> bool:
    """True when a function, or one it names, draws NumPy's random numbers.

    Told from the names in its code: ``np.random``, ``default_rng``, functions of ``numpy.random``,
    a generator beside one of its methods. Known before the function runs.
    """
    module = sys.modules.get("numpy.random")
    state = getattr(module, "RandomState", None)
    kind = getattr(module, "Generator", None)
    for current in _followed(*functions):
        names, held = _names(current.__code__), readable(current)
        if "default_rng" in names or ("random" in names and any(value is np for value in held)):
            return True
        if module is None or state is None or kind is None:
            continue
        owners = [getattr(value, "__self__", None) for value in held]
        if any(value is module for value in held) or any(
            isinstance(o, (state, kind)) for o in owners
        ):
            return True
        methods = {name for name in names if callable(getattr(kind, name, None))}
        if methods and any(isinstance(value, (state, kind)) for value in held):
            return True
    return False


def generators(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """The states of the random generators the functions, or ones they name, read.

    Equal before and after a call when none was drawn from.
    """
    kind = getattr(sys.modules.get("numpy.random"), "Generator", None)
    if kind is None:
        return ()
    held = [value for current in _followed(*functions) for value in readable(current)]
    owners = [getattr(value, "__self__", value) for value in held]  # a method held by itself
    return tuple(repr(o.bit_generator.state) for o in owners if isinstance(o, kind))


def readable(function: Callable[..., Any]) -> list[Any]:
    """What the function's own globals and cells hold, of any type."""
    plain = underlying(function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return []
    cells = [Place(cell, "").read() for cell in plain.__closure__ or ()]
    return cells + [plain.__globals__.get(name) for name in _names(code)]


def _names(code: types.CodeType) -> list[str]:
    """Every name the code mentions, attributes and nested functions included."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _names(constant)
    return names


def snapshot(guarded: tuple[Place, ...]) -> tuple[Any, ...]:
    """What the places hold now, as a hashable key: values by value, the rest by identity."""
    return tuple(key_of(place.read()) for place in guarded)


def key_of(held: Any) -> Any:
    """A hashable key under which two values are equal only if a trace cannot tell them apart."""
    if isinstance(held, np.generic):
        return ("scalar", held.dtype.str, held.tobytes())
    if isinstance(held, (float, complex)):
        return (type(held), repr(held))
    if isinstance(held, VALUES):
        return (type(held), held)
    if isinstance(held, (tuple, frozenset)):
        return (type(held), *map(key_of, held))
    if isinstance(held, np.ndarray):
        return ("array", id(held), held.shape, held.dtype.str, held.strides)
    return ("object", id(held))
