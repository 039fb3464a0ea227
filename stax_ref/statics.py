"""statics: values known while tracing, and when two of them are the same.

Takes values; gives ``Static`` records that compare and hash. A value may be static when its hash
describes it: None, strings, enums, dtypes, functions, classes. Not here: where in the arguments it
stands (``tree``), values a function reads besides its arguments (``capture``).
"""

from __future__ import annotations

import functools
import types
from enum import Enum
from typing import Any

import numpy as np

from .capture import VALUES, key_of


class Static:
    """A value known while tracing.

    Args:
        key: two are equal when their keys are.
        value: the value.
    """

    __slots__ = ("key", "value")

    def __init__(self, key: Any, value: Any) -> None:
        self.key = key
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        if isinstance(self.value, np.ndarray):
            return f"array {self.value.dtype}{list(self.value.shape)}"
        return repr(self.value)


def static(value: Any) -> Static:
    """The record of a value; an array is known by its identity.

    Raises:
        TypeError: it has no hash.
    """
    if type(value) is str:
        return _text(value)
    if isinstance(value, np.ndarray):
        return Static(key_of(value), value)
    hash(value)
    plain = type(value) in _PLAIN or isinstance(value, (tuple, frozenset, np.generic))
    return Static(key_of(value) if plain else (type(value), value), value)


_PLAIN = frozenset(kind for kind in VALUES if kind is not np.generic)


@functools.lru_cache(maxsize=1024)
def _text(value: str) -> Static:
    return Static((str, value), value)


def is_function(value: Any) -> bool:
    """True for a function that may hold other values: in its closure, its owner, its arguments."""
    return isinstance(value, _FUNCTIONS) or (callable(value) and hasattr(value, "__wrapped__"))


_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)

_BY_IDENTITY = (types.BuiltinFunctionType, types.ModuleType, np.ufunc, type)


def is_static(value: Any) -> bool:
    """True for a value that its hash describes.

    An object that hashes by identity is none, unless it is a function, a class or a module: what it
    holds may change while its hash does not.
    """
    kind = type(value)
    if value is None or isinstance(value, (*_BY_IDENTITY, Enum)) or is_function(value):
        return True
    if any(getattr(kind, name) is getattr(object, name) for name in ("__hash__", "__eq__")):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True
