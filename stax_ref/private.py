"""private: storage of buffers that only their own kernel uses.

Takes a group with its loop tree; gives, per buffer that no other group touches, whether it is a
register (never stored), a row (on the kernel's stack, one per outer iteration) or memory after all.
``order`` asks, as such a buffer takes memory at no step or at one; ``memory`` makes it so. Not
here: buffers that several groups use (``memory``).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from .config import Config
from .group import Group
from .node import Buffer


def private_storage(
    group: Group, names: Collection[str], buffers: Mapping[str, Buffer], config: Config
) -> dict[str, tuple[str, int]]:
    """Kind (``register``, ``row``, ``tile``, ``arena``) and bytes of a group's private buffers.

    Args:
        group: its members and loops.
        names: buffers that its members write and only they read; no outputs.
        buffers: every buffer by name.
        config: ``local_bytes`` for all rows of a kernel together; the seed keeps every intermediate
            in a buffer.
    """
    found: dict[str, tuple[str, int]] = {}
    if group.rows:
        product = buffers[group.nodes[0].buffer]
        found[product.name] = ("tile", product.nbytes // product.shape[0] * group.rows)
        group = group.epilogue
    tree = group.tree
    names = [name for name in names if name not in found]
    if tree is None or config.seed or not names:
        return found | {name: ("arena", buffers[name].nbytes) for name in names}
    place = {node: k for k, segment in enumerate(tree.segments) for node in segment.nodes}
    writer: dict[str, int] = {}
    readers: dict[str, set[int]] = {}
    for record in group.records:
        segment = place[record.node.name]
        writer[record.node.buffer] = segment
        for dep in record.reads:
            readers.setdefault(dep.buffer, set()).add(segment)
    shared, room = math.prod(tree.outer), config.local_bytes
    for name in names:
        row = buffers[name].nbytes // shared
        if readers.get(name) == {writer[name]} or buffers[name].size == shared:
            found[name] = ("register", 0)
        elif tree.outer and row <= room:
            found[name] = ("row", row)
            room -= row
        else:
            found[name] = ("arena", buffers[name].nbytes)
    return found
