"""inplace: outputs of nodes that are written into the storage of an input (seed §7.5).

Takes groups in order and the lifetimes of their buffers; gives, per buffer that is written in
place, the buffer whose storage it takes. The inverse of functionalisation: every element is read
before it is overwritten, for the reason of Proposition 7.2. Not here: storage that is free before
the kernel starts (``freepool``, ``pools``).

All of this must hold for an input A and an output B of a group:

* A is an intermediate that no later group reads, and B one that needs storage beyond its group;
* both have one dtype, and B is as large as A or a little smaller;
* B's node writes once, and reads A at exactly the index it writes;
* every other read of A in the group has that index too, and none comes after B's node: iteration
  for iteration the same element is read, and only then overwritten.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .config import Config
from .depend import MemoryDep, Record
from .group import Group
from .looptree import LoopTree
from .node import Buffer


def in_place(
    sequence: Sequence[Group],
    buffers: Mapping[str, Buffer],
    stored: Collection[str],
    last: Mapping[str, int],
    config: Config,
) -> dict[str, str]:
    """Which buffers take over the storage of one their kernel reads.

    Args:
        sequence: groups in order.
        buffers: every buffer by name.
        stored: intermediates that have storage in the arena.
        last: last step that reads a buffer.
        config: ``in_place_percent``.

    Returns:
        buffer → the buffer whose storage it takes; no storage is taken twice.
    """
    found: dict[str, str] = {}
    for step, group in enumerate(sequence):
        if group.tree is None or group.rows:  # of a template the product is read tile by tile
            continue
        written = {record.node.buffer for record in group.records}
        free = {name for name in stored if last.get(name) == step} - written
        if not free:
            continue
        place = _places(group.tree)
        for record in group.records:
            if record.node.buffer not in stored or len(record.writes) != 1:
                continue
            old = _source(record, group, place, free, buffers, config)
            if old:
                found[record.node.buffer] = old
                free.discard(old)
    return found


def _places(tree: LoopTree) -> dict[str, tuple[int, int]]:
    """Per node its segment and its place in it: the order in which one iteration runs them."""
    return {
        name: (number, k)
        for number, segment in enumerate(tree.segments)
        for k, name in enumerate(segment.nodes)
    }


def _source(
    record: Record,
    group: Group,
    place: Mapping[str, tuple[int, int]],
    free: Collection[str],
    buffers: Mapping[str, Buffer],
    config: Config,
) -> str:
    """The buffer this node may overwrite, empty for none."""
    (write,) = record.writes
    if not isinstance(write, MemoryDep):
        return ""
    new = buffers[write.buffer]
    for read in record.reads:
        if not isinstance(read, MemoryDep) or read.buffer not in free:
            continue
        if (read.index, read.sizes) != (write.index, write.sizes):
            continue
        old = buffers[read.buffer]
        fits = config.in_place_percent * old.nbytes <= 100 * new.nbytes <= 100 * old.nbytes
        if old.dtype == new.dtype and fits and _read_before(read, record, group, place):
            return old.name
    return ""


def _read_before(
    read: MemoryDep, record: Record, group: Group, place: Mapping[str, tuple[int, int]]
) -> bool:
    """True when the whole group reads the buffer at this index only, up to this node."""
    for other in group.records:
        deps = [dep for dep in other.reads if dep.buffer == read.buffer]
        if any(dep != read for dep in deps):
            return False
        if deps and place[other.node.name] > place[record.node.name]:
            return False
    return True
