"""containers: the classes whose values are taken apart, and how each of them is.

Takes a class; gives its ``Container``: how to open a value, close one again, name a child and print
the whole. Tuples, lists, dicts, ``OrderedDict``, ``defaultdict``, namedtuples and dataclasses are
known; users register others. Not here: nesting (``tree``).
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from .errors import ConfigError
from .statics import Static, static


class Container(NamedTuple):
    """How values of one class are taken apart and put together.

    Args:
        open: value → what it holds beside its children (hashable), and its children.
        close: class, the former and new children → value.
        step: class, the former and the number of a child → how Python reaches it.
        text: class, the former and the texts of children → text.
    """

    open: Callable[[Any], tuple[Any, Iterable[Any]]]
    close: Callable[[type, Any, list[Any]], Any]
    step: Callable[[type, Any, int], str]
    text: Callable[[type, Any, list[str]], str]


def container_of(kind: type) -> Container | None:
    """How values of this class are taken apart, None for a class that is no container."""
    return _TABLE.get(kind) or _recognised(kind)


def register_container(
    cls: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, list[Any]], Any],
) -> None:
    """Let values of a class be passed to jitted functions and returned from them.

    Tuples, lists, dicts, namedtuples and dataclasses need no registration; a dataclass may have
    one, to keep some of its fields static.

    Args:
        cls: the class; its subclasses are not meant.
        flatten: value → its children (arrays, numbers or containers) and a hashable value that
            holds everything else.
        unflatten: what everything else was, and a list of new children → value. The children are
            traced arrays while the function is traced.

    Raises:
        ConfigError: ``cls`` is no class, or is known already.
    """
    if not isinstance(cls, type):
        raise ConfigError(f"{cls!r} is no class", instead="the class of your containers")
    if cls in _TABLE:
        raise ConfigError(f"{cls.__name__} is a container already", instead="register it once")

    def open(value: Any) -> tuple[Any, Iterable[Any]]:
        children, rest = flatten(value)
        try:
            return static(rest), children
        except TypeError:
            raise ConfigError(
                f"what a {cls.__name__} holds beside its children is not hashable",
                instead="a tuple, say, as the second value of its flatten",
            ) from None

    def close(kind: type, state: Static, entries: list[Any]) -> Any:
        return unflatten(state.value, entries)

    _TABLE[cls] = Container(open, close, _position, _calls(_position))


# sequences ---------------------------------------------------------------------------------------
def _position(kind: type, state: Any, k: int) -> str:
    return f"[{k}]"


def _calls(step: Callable[[type, Any, int], str]) -> Callable[[type, Any, list[str]], str]:
    """``Layer(weight=*, bias=*)``, or ``Foo(*, *)`` where children have no names."""

    def shown(kind: type, state: Any, parts: list[str]) -> str:
        steps = [step(kind, state, k) for k in range(len(parts))]
        named = [
            f"{s[1:]}={part}" if s[0] == "." else part for s, part in zip(steps, parts, strict=True)
        ]
        return f"{kind.__name__}({', '.join(named)})"

    return shown


# dicts -------------------------------------------------------------------------------------------
def _keys(value: Any) -> tuple[Any, ...]:
    """Keys of a dict; ``1``, ``True`` and ``1.0`` are different ones."""
    keys = tuple(value)
    if set(map(type, keys)) <= {str}:
        return keys
    return tuple(key if type(key) is str else static(key) for key in keys)


def _key(key: Any) -> Any:
    return key.value if isinstance(key, Static) else key


def _shown(key: Any) -> str:
    quoted = type(key) is str and '"' not in key and key.isprintable()
    return f'"{key}"' if quoted else repr(key)


def _items(keys: Sequence[Any], entries: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(map(_key, keys), entries, strict=True)


def _dict_text(kind: type, state: Any, parts: list[str]) -> str:
    keys = state[1] if kind is defaultdict else state
    inside = ", ".join(f"{_shown(k)}: {part}" for k, part in zip(keys, parts, strict=True))
    return f"{{{inside}}}" if kind is dict else f"{kind.__name__}({{{inside}}})"


_TABLE: dict[type, Container] = {
    tuple: Container(
        lambda value: (None, value),
        lambda kind, state, entries: tuple(entries),
        _position,
        lambda kind, state, parts: f"({', '.join(parts)}{',' * (len(parts) == 1)})",
    ),
    list: Container(
        lambda value: (None, value),
        lambda kind, state, entries: entries,
        _position,
        lambda kind, state, parts: f"[{', '.join(parts)}]",
    ),
    dict: Container(
        lambda value: (_keys(value), value.values()),
        lambda kind, state, entries: dict(_items(state, entries)),
        lambda kind, state, k: f"[{_shown(state[k])}]",
        _dict_text,
    ),
    OrderedDict: Container(
        lambda value: (_keys(value), value.values()),
        lambda kind, state, entries: OrderedDict(_items(state, entries)),
        lambda kind, state, k: f"[{_shown(state[k])}]",
        _dict_text,
    ),
    defaultdict: Container(
        lambda value: ((static(value.default_factory), _keys(value)), value.values()),
        lambda kind, state, entries: defaultdict(state[0].value, _items(state[1], entries)),
        lambda kind, state, k: f"[{_shown(state[1][k])}]",
        _dict_text,
    ),
}


# classes of the user's ---------------------------------------------------------------------------
@functools.lru_cache(maxsize=256)
def _recognised(kind: type) -> Container | None:
    """Namedtuples and dataclasses."""
    if issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple):
        return _NAMED
    if is_dataclass(kind) and not issubclass(kind, (tuple, list, dict, np.ndarray)):
        return _dataclass(kind)
    return None


def _attribute(kind: type, state: Any, k: int) -> str:
    names: Any = kind._fields if state is None else state  # type: ignore[attr-defined]  # a namedtuple
    return f".{names[k]}"


_NAMED = Container(
    lambda value: (None, value),
    lambda kind, state, entries: tuple.__new__(kind, entries),
    _attribute,
    _calls(_attribute),
)


def _is_cached(kind: type, name: str) -> bool:
    """True for a cached property, which is computed again instead."""
    return isinstance(getattr(kind, name, None), functools.cached_property)


def _dataclass(kind: type) -> Container:
    """Fields, and whatever else an instance holds; put together without running ``__init__``."""
    declared = tuple(entry.name for entry in fields(kind))

    def open(value: Any) -> tuple[Any, list[Any]]:
        held = getattr(value, "__dict__", {})
        names = declared
        if len(held) != len(declared) or not all(name in held for name in declared):
            names = tuple(name for name in declared if hasattr(value, name))
            names += tuple(n for n in held if n not in declared and not _is_cached(kind, n))
        return names, [getattr(value, name) for name in names]

    def close(kind: type, state: Any, entries: list[Any]) -> Any:
        made: Any = kind.__new__(kind)  # type: ignore[call-overload]  # of a class, not of type
        for name, entry in zip(state, entries, strict=True):
            object.__setattr__(made, name, entry)  # a frozen one has no other way
        return made

    return Container(open, close, _attribute, _calls(_attribute))
