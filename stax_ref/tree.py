"""tree: containers of values, taken apart into leaves and put together again.

Takes nested tuples, lists, dicts, namedtuples, dataclasses and registered classes; gives their
leaves in order and a ``Tree``: what is left without the leaves, printable and hashable. Two trees
are equal only if a trace cannot tell the containers apart. Holds the table of container classes.
Not here: which values are leaves (``arguments`` for what is passed, ``trace`` for what is
returned).
"""

from __future__ import annotations

import functools
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from .capture import VALUES, key_of
from .errors import ConfigError


class Leaf(NamedTuple):
    """The place of one array or number."""

    def __str__(self) -> str:
        return text(self)


@dataclass(frozen=True, slots=True)
class Static:
    """A value known while tracing.

    Args:
        key: two are equal when their keys are.
        value: the value; an array is copied whenever the tree is put together.
    """

    key: Any
    value: Any = field(compare=False)

    def __str__(self) -> str:
        if isinstance(self.value, np.ndarray):
            return f"array {self.value.dtype}{list(self.value.shape)}"
        return repr(self.value)


class Branch(NamedTuple):
    """A container.

    Args:
        kind: its class.
        state: what it holds beside its children, hashable: the keys of a dict, say.
        children: one tree per entry.
    """

    kind: type
    state: Any
    children: tuple[Tree, ...]

    def __str__(self) -> str:
        return text(self)


Tree = Leaf | Static | Branch

LEAF = Leaf()


class Unfit(Exception):
    """A value that may not stand where it stands.

    Args:
        what: ``is a Foo``: what is wrong with it.
        instead: what to pass or return instead.

    Attributes:
        path: where it stands, ``["layers"][2].weight``; grows while containers are left.
    """

    def __init__(self, what: str, instead: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.instead = instead
        self.path = ""


Judge = Callable[[Any, list[Any]], Tree | None]
"""Decides what a value is: appends leaves, or returns None for a container to be taken apart."""


def take_apart(value: Any, judge: Judge, leaves: list[Any], _inside: tuple[int, ...] = ()) -> Tree:
    """The tree of a value; its leaves are appended to a list, in order.

    Args:
        value: anything.
        judge: decides what is a leaf.
        leaves: grows.

    Raises:
        Unfit: a container holds itself, or what the judge raises; with the path.
    """
    known = judge(value, leaves)
    if known is not None:
        return known
    kind = type(value)
    container = container_of(kind)
    assert container is not None
    if id(value) in _inside:
        raise Unfit(f"is a {kind.__name__} that contains itself", "containers without cycles")
    inside = (*_inside, id(value))
    state, entries = container.open(value)
    children: list[Tree] = []
    try:
        for entry in entries:
            children.append(take_apart(entry, judge, leaves, inside))  # noqa: PERF401  # counted
    except Unfit as error:
        error.path = container.step(kind, state, len(children)) + error.path
        raise
    return Branch(kind, state, tuple(children))


def put_together(tree: Tree, leaves: Iterator[Any]) -> Any:
    """The value of a tree, with new leaves.

    Args:
        tree: a tree.
        leaves: gives at least as many leaves as the tree has.
    """
    if isinstance(tree, Branch):
        entries = [put_together(child, leaves) for child in tree.children]
        return _known(tree.kind).close(tree.kind, tree.state, entries)
    if isinstance(tree, Leaf):
        return next(leaves)
    value = tree.value
    return np.array(value, order="C", subok=True) if isinstance(value, np.ndarray) else value


def leaves_of(tree: Tree, value: Any) -> list[Any]:
    """The leaves of a value that must have this tree.

    Raises:
        ValueError: it has another one.
    """
    if isinstance(tree, Leaf):
        return [value]
    if isinstance(tree, Static):
        if type(value) is not type(tree.value):
            raise ValueError(f"a {type(value).__name__} instead of {tree}")
        return []
    if type(value) is not tree.kind:
        raise ValueError(f"a {type(value).__name__} instead of a {tree.kind.__name__}")
    state, entries = _known(tree.kind).open(value)
    entries = list(entries)
    if state != tree.state or len(entries) != len(tree.children):
        raise ValueError(f"another {tree.kind.__name__} than {tree}")
    return [x for child, e in zip(tree.children, entries, strict=True) for x in leaves_of(child, e)]


def paths(tree: Tree, prefix: str = "") -> list[str]:
    """Where each leaf stands: ``["layers"][2].weight``."""
    if isinstance(tree, Leaf):
        return [prefix]
    if isinstance(tree, Static):
        return []
    step = _known(tree.kind).step
    return [
        path
        for k, child in enumerate(tree.children)
        for path in paths(child, prefix + step(tree.kind, tree.state, k))
    ]


def text(tree: Tree, names: Iterator[str] | None = None) -> str:
    """A tree as Python prints its value, leaves under these names or as stars."""
    if isinstance(tree, Leaf):
        return "*" if names is None else next(names)
    if isinstance(tree, Static):
        return str(tree)
    parts = [text(child, names) for child in tree.children]
    return _known(tree.kind).text(tree.kind, tree.state, parts)


def is_flat(tree: Tree) -> bool:
    """True for one leaf, and for a plain tuple of leaves."""
    return isinstance(tree, Leaf) or (
        isinstance(tree, Branch)
        and tree.kind is tuple
        and all(isinstance(child, Leaf) for child in tree.children)
    )


# values known while tracing ----------------------------------------------------------------------
def static(value: Any) -> Static:
    """A value that is part of the tree.

    Raises:
        TypeError: it has no hash.
    """
    if type(value) in _PLAIN or isinstance(value, (tuple, frozenset, np.ndarray, np.generic)):
        if not isinstance(value, np.ndarray):
            hash(value)
        return Static(key_of(value), value)
    hash(value)
    return Static((type(value), value), value)


_PLAIN = frozenset(kind for kind in VALUES if kind is not np.generic)

FUNCTIONS = (types.FunctionType, types.MethodType)

_BY_IDENTITY = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, type)


def is_static(value: Any) -> bool:
    """True for what its hash describes: None, strings, enums, dtypes, functions, classes.

    An object that hashes by identity is not: what it holds may change while its hash does not.
    """
    kind = type(value)
    if value is None or isinstance(value, (*_BY_IDENTITY, Enum)):
        return True
    inherited = [getattr(kind, name) is getattr(object, name) for name in ("__hash__", "__eq__")]
    if any(inherited):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


# containers --------------------------------------------------------------------------------------
class Container(NamedTuple):
    """How values of one class are taken apart and put together.

    Args:
        open: value → state and children.
        close: class, state and children → value.
        step: class, state and number of a child → how Python reaches it.
        text: class, state and the texts of children → text.
    """

    open: Callable[[Any], tuple[Any, Iterable[Any]]]
    close: Callable[[type, Any, list[Any]], Any]
    step: Callable[[type, Any, int], str]
    text: Callable[[type, Any, list[str]], str]


def _keys(value: Any) -> tuple[Any, ...]:
    """Keys of a dict; ``1``, ``True`` and ``1.0`` are different ones."""
    return tuple(key if type(key) is str else static(key) for key in value)


def _key(key: Any) -> Any:
    return key.value if isinstance(key, Static) else key


def _shown(key: Any) -> str:
    quoted = type(key) is str and '"' not in key and key.isprintable()
    return f'"{key}"' if quoted else repr(_key(key))


def _pairs(keys: Sequence[Any], entries: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(map(_key, keys), entries, strict=True)


def _dict_text(kind: type, state: Any, parts: list[str]) -> str:
    keys = state[1] if kind is defaultdict else state
    inside = ", ".join(f"{_shown(k)}: {part}" for k, part in zip(keys, parts, strict=True))
    return f"{{{inside}}}" if kind is dict else f"{kind.__name__}({{{inside}}})"


def _calls(step: Callable[[type, Any, int], str]) -> Callable[[type, Any, list[str]], str]:
    """``Layer(weight=*, bias=*)``, or ``Foo(*, *)`` where children have no names."""

    def shown(kind: type, state: Any, parts: list[str]) -> str:
        steps = [step(kind, state, k) for k in range(len(parts))]
        named = [
            f"{s[1:]}={part}" if s[0] == "." else part for s, part in zip(steps, parts, strict=True)
        ]
        return f"{kind.__name__}({', '.join(named)})"

    return shown


def _position(kind: type, state: Any, k: int) -> str:
    return f"[{k}]"


_CONTAINERS: dict[type, Container] = {
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
        lambda kind, state, entries: dict(_pairs(state, entries)),
        lambda kind, state, k: f"[{_shown(state[k])}]",
        _dict_text,
    ),
    OrderedDict: Container(
        lambda value: (_keys(value), value.values()),
        lambda kind, state, entries: OrderedDict(_pairs(state, entries)),
        lambda kind, state, k: f"[{_shown(state[k])}]",
        _dict_text,
    ),
    defaultdict: Container(
        lambda value: ((static(value.default_factory), _keys(value)), value.values()),
        lambda kind, state, entries: defaultdict(state[0].value, _pairs(state[1], entries)),
        lambda kind, state, k: f"[{_shown(state[1][k])}]",
        _dict_text,
    ),
}


def container_of(kind: type) -> Container | None:
    """How values of this class are taken apart, None for a class that is no container."""
    return _CONTAINERS.get(kind) or _recognised(kind)


def _known(kind: type) -> Container:
    container = container_of(kind)
    assert container is not None, kind
    return container


@functools.lru_cache(maxsize=256)
def _recognised(kind: type) -> Container | None:
    """Namedtuples and dataclasses."""
    if issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple):
        return _NAMED
    if is_dataclass(kind) and not issubclass(kind, (tuple, list, dict, np.ndarray)):
        return _dataclass(kind)
    return None


def _field_step(kind: type, state: Any, k: int) -> str:
    names: Any = kind._fields if state is None else state  # type: ignore[attr-defined]  # a namedtuple
    return f".{names[k]}"


_NAMED = Container(
    lambda value: (None, value),
    lambda kind, state, entries: tuple.__new__(kind, entries),
    _field_step,
    _calls(_field_step),
)


def _dataclass(kind: type) -> Container:
    """Fields, and whatever else an instance holds; put together without running ``__init__``."""
    declared = tuple(entry.name for entry in fields(kind))

    def open(value: Any) -> tuple[Any, list[Any]]:
        held = getattr(value, "__dict__", {})
        names = tuple(name for name in declared if name in held or hasattr(value, name))
        if len(held) > len(names) or any(name not in declared for name in held):
            names += tuple(name for name in held if name not in declared)
        return names, [getattr(value, name) for name in names]

    def close(kind: type, state: Any, entries: list[Any]) -> Any:
        made: Any = kind.__new__(kind)  # type: ignore[call-overload]  # of a class, not of type
        for name, entry in zip(state, entries, strict=True):
            object.__setattr__(made, name, entry)  # a frozen one has no other way
        return made

    return Container(open, close, _field_step, _calls(_field_step))


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
    if cls in _CONTAINERS:
        raise ConfigError(f"{cls.__name__} is a container already", instead="register it once")

    def open(value: Any) -> tuple[Any, Iterable[Any]]:
        children, rest = flatten(value)
        return static(rest), children

    def close(kind: type, state: Static, entries: list[Any]) -> Any:
        return unflatten(state.value, entries)

    _CONTAINERS[cls] = Container(open, close, _position, _calls(_position))
