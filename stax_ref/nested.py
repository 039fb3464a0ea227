"""nested: plain tuples, lists and dicts of arguments, walked in one way.

Takes what a caller passed to a NumPy function; gives the same shape with every entry changed, or
the entries one after another. Subclasses, namedtuples among them, are entries. Not here: the
containers of a jitted function's own arguments (``tree``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def mapped(change: Callable[[Any], Any], thing: Any) -> Any:
    """The same tuples, lists and dicts with every entry changed."""
    if type(thing) in (tuple, list):
        return type(thing)(mapped(change, entry) for entry in thing)
    if type(thing) is dict:
        return {key: mapped(change, entry) for key, entry in thing.items()}
    return change(thing)


def entries(thing: Any) -> Iterator[Any]:
    """Everything in tuples, lists and dicts that is none itself; a thing alone is its own entry."""
    if isinstance(thing, (tuple, list, dict)):
        for entry in thing.values() if isinstance(thing, dict) else thing:
            yield from entries(entry)
    else:
        yield thing
