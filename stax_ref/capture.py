"""What a traced function reads besides its arguments: globals and closure cells.

Takes a Python function; gives the places it reads plain values from and what they held. A number or
string found there is guarded by value, an array by identity (its elements are read at each call),
so that rebinding a global never gives a stale result. Functions it calls by such a name are
followed. Not here: recording arrays that turn up during a trace (``trace``).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_VALUES = (bool, int, float, complex, str, bytes, type(None), np.generic)


@dataclass(frozen=True, slots=True)
class Place:
    """One global name or closure cell: ``holder[key]``, or ``holder.cell_contents``."""

    holder: Any
    key: str

    def read(self) -> Any:
        """What the place holds now; a marker when it holds nothing."""
        if isinstance(self.holder, dict):
            return self.holder.get(self.key, _MISSING)
        try:
            return self.holder.cell_contents
        except ValueError:
            return _MISSING


_MISSING = object()


def places(function: Callable[..., Any]) -> tuple[Place, ...]:
    """Every guarded place the function can read, directly or through functions it names.

    Modules and builtins are not guarded; tuples are, by value.
    """
    found: dict[tuple[int, str], Place] = {}
    seen: set[int] = set()
    pending = [function]
    while pending:
        current = pending.pop()
        code = getattr(current, "__code__", None)
        if code is None or id(current) in seen:
            continue
        seen.add(id(current))
        candidates = [Place(current.__globals__, name) for name in _names(code)]
        cells = zip(code.co_freevars, current.__closure__ or (), strict=False)
        candidates += [Place(cell, name) for name, cell in cells]
        for place in candidates:
            held = place.read()
            if isinstance(held, types.FunctionType):
                pending.append(held)
            if isinstance(held, (*_VALUES, np.ndarray, tuple, types.FunctionType)):
                found[(id(place.holder), place.key)] = place
    return tuple(found.values())


def randomness(guarded: Sequence[Any], function: Callable[..., Any]) -> tuple[Any, ...]:
    """The states of NumPy's random generators a function can reach; equal when none was used.

    Args:
        guarded: what the function reads besides its arguments.
        function: the function itself; a generator made inside it is seen by its name.
    """
    module = sys.modules.get("numpy.random")
    if module is None:
        return ()
    states: list[Any] = [
        repr(held.bit_generator.state) for held in guarded if _is_generator(held, module)
    ]
    code = getattr(function, "__code__", None)
    if code is not None and "default_rng" in _names(code):
        states.append(object())
    legacy = module.get_state()
    return (*states, legacy[1].tobytes(), legacy[2])


def _is_generator(held: Any, module: Any) -> bool:
    return isinstance(held, module.Generator)


def readable(function: Callable[..., Any]) -> list[Any]:
    """What the function's own globals and cells hold, of any type."""
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    cells = [Place(cell, "").read() for cell in function.__closure__ or ()]
    return cells + [function.__globals__.get(name) for name in _names(code)]


def _names(code: types.CodeType) -> list[str]:
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _names(constant)
    return names


def snapshot(guarded: tuple[Place, ...]) -> tuple[Any, ...]:
    """What the places hold now, as a hashable key: values by value, the rest by identity."""
    return tuple(_key(place.read()) for place in guarded)


def _key(held: Any) -> Any:
    if isinstance(held, float):
        return ("float", held.hex())
    if isinstance(held, _VALUES):
        return (type(held).__name__, held)
    if isinstance(held, tuple):
        return ("tuple", *map(_key, held))
    return ("object", id(held))
