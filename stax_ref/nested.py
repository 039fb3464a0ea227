"""nested: plain tuples, lists and dicts of arguments, walked in one way.

Takes what a caller passed to a NumPy function; gives the same shape with every entry changed, or
the entries one after another. Subclasses, namedtuples among them, are entries. Not here: the
containers of a jitted function's own arguments (``tree``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def mapped(change: Callable[[Any], Any], thing: Any, within: tuple[int, ...] = ()) -> Any:
    """The same tuples, lists and dicts with every entry changed.

    A container that contains itself stays as it is there; the reader of arguments refuses it.
    """
    if id(thing) in within:
        return thing
    if type(thing) in (tuple, list):
        return type(thing)(mapped(change, entry, (*within, id(thing))) for entry in thing)
    if type(thing) is dict:
        return {k: mapped(change, entry, (*within, id(thing))) for k, entry in thing.items()}
    return change(thing)


def entries(thing: Any, within: tuple[int, ...] = ()) -> Iterator[Any]:
    """Everything in tuples, lists and dicts that is none itself; a thing alone is its own entry."""
    if isinstance(thing, (tuple, list, dict)):
        if id(thing) not in within:
            for entry in thing.values() if isinstance(thing, dict) else thing:
                yield from entries(entry, (*within, id(thing)))
    else:
        yield thing
