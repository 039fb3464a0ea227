"""tree: nested containers, taken apart into leaves and put together again.

Takes nested values; gives their leaves in order and a ``Tree``: what is left without the leaves,
printable and hashable. Two trees are equal only if a trace cannot tell the values apart, leaves
aside. Not here: which values are leaves (``arguments`` for what is passed, ``trace`` for what is
returned), which classes are containers (``containers``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .containers import Container, container_of
from .statics import Static, static


class Leaf(NamedTuple):
    """The place of one array or number."""

    def __str__(self) -> str:
        return text(self)


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
    found = judge(value, leaves)
    if found is not None:
        return found
    kind = type(value)
    container = _known(kind)
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
    """The value of a tree, with new leaves; arrays that are part of the tree are copied.

    Args:
        tree: a tree.
        leaves: gives at least as many leaves as the tree has.
    """
    if isinstance(tree, Branch):
        entries = [
            next(leaves) if child is LEAF else put_together(child, leaves)
            for child in tree.children
        ]
        return _known(tree.kind).close(tree.kind, tree.state, entries)
    if isinstance(tree, Leaf):
        return next(leaves)
    value = tree.value
    return np.array(value, order="C", subok=True) if isinstance(value, np.ndarray) else value


def leaves_of(tree: Tree, value: Any) -> list[Any]:
    """The leaves of a value that must have this tree; arrays in the tree match any array.

    Raises:
        ValueError: it has another one; says where.
    """
    found: list[Any] = []
    _collect(tree, value, "", found)
    return found


def _collect(tree: Tree, value: Any, path: str, found: list[Any]) -> None:
    if isinstance(tree, Leaf):
        found.append(value)
        return
    kind = type(tree.value) if isinstance(tree, Static) else tree.kind
    if type(value) is not kind:
        raise ValueError(f"{path} is a {type(value).__name__} instead of a {kind.__name__}")
    if isinstance(tree, Static):
        if not isinstance(value, np.ndarray) and static(value) != tree:
            raise ValueError(f"{path} is {value!r} instead of {tree}")
        return
    container = _known(kind)
    state, entries = container.open(value)
    entries = list(entries)
    if state != tree.state or len(entries) != len(tree.children):
        raise ValueError(f"{path} is another {kind.__name__} than {tree}")
    for k, (child, entry) in enumerate(zip(tree.children, entries, strict=True)):
        _collect(child, entry, path + container.step(kind, state, k), found)


def statics(tree: Tree) -> Iterator[Any]:
    """The values that are part of a tree."""
    if isinstance(tree, Static):
        yield tree.value
    elif isinstance(tree, Branch):
        for child in tree.children:
            yield from statics(child)


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
        return repr(tree)
    parts = [text(child, names) for child in tree.children]
    return _known(tree.kind).text(tree.kind, tree.state, parts)


def is_flat(tree: Tree) -> bool:
    """True for one leaf, and for a plain tuple of leaves."""
    return isinstance(tree, Leaf) or (
        isinstance(tree, Branch)
        and tree.kind is tuple
        and all(isinstance(child, Leaf) for child in tree.children)
    )


def _known(kind: type) -> Container:
    """How a container that was recognised before is taken apart."""
    container = container_of(kind)
    assert container is not None, kind
    return container
