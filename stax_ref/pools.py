"""pools: offsets in one arena, as a tree of temporal and spatial splits (seed §7.5).

Takes blocks with lifetimes; gives the offset of each. In a temporal split the children's lifetimes
are disjoint and they share one range of addresses; in a spatial split the children lie side by
side. Blocks are placed in decreasing order of size, longer-lived ones first, where an existing
temporal split has room, and in new space only when nothing has. This is a greedy answer to dynamic
storage allocation, which is NP-hard; first fit is another one, and the smaller arena is taken. Not
here: which buffers need storage at all (``memory``), reuse by equal sizes (``freepool``).
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


def aligned(nbytes: int) -> int:
    """The next multiple of the alignment."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True, slots=True)
class Block:
    """Storage that is needed from step ``first`` to step ``last``, both included.

    Args:
        name: of the buffer that is stored first in it.
        nbytes: its bytes.
        first: step that writes it.
        last: last step that reads it.
    """

    name: str
    nbytes: int
    first: int
    last: int

    @property
    def size(self) -> int:
        """Bytes it takes among others."""
        return aligned(self.nbytes)


@dataclass(slots=True)
class Node:
    """A range of addresses.

    Args:
        size: its bytes.
        kind: ``"gap"``, ``"block"``, ``"temporal"`` or ``"spatial"``.
        first: first step at which something in it lives; past ``last`` for a gap.
        last: last such step.
        block: what a block node holds.
        children: of a temporal split in order of their lifetimes, of a spatial one left and right.
    """

    size: int
    kind: str
    first: int
    last: int
    block: Block | None = None
    children: list[Node] = field(default_factory=list)

    def place(self, block: Block) -> bool:
        """Find room for a block that is no larger than any in here; False where there is none."""
        if block.size > self.size:
            return False
        if self.kind == "spatial":
            placed = any(child.place(block) for child in self.children)
        elif self.kind == "temporal":
            placed = self._insert(block)
        elif self.kind == "block":
            placed = block.last < self.first or self.last < block.first
            if placed:
                own = Node(self.size, "block", self.first, self.last, self.block)
                self.kind, self.block, self.children = "temporal", None, [own]
                self._insert(block)
        else:
            placed = True
            self._take(filled(block, self.size))
        if placed:
            self.first, self.last = min(self.first, block.first), max(self.last, block.last)
        return placed

    def _insert(self, block: Block) -> bool:
        """Into a temporal split: between its children, or into the only one it meets."""
        at = bisect.bisect_left(self.children, block.first, key=lambda child: child.last)
        after = bisect.bisect_right(self.children, block.last, key=lambda child: child.first)
        if at >= after:
            self.children.insert(at, filled(block, self.size))
            return True
        return after == at + 1 and self.children[at].place(block)

    def _take(self, other: Node) -> None:
        self.kind, self.block, self.children = other.kind, other.block, other.children
        self.first, self.last = other.first, other.last

    def offsets(self, start: int, found: dict[str, int]) -> None:
        """Note where every block lies when this range begins at ``start``."""
        if self.block is not None:
            found[self.block.name] = start
        for child in self.children:
            child.offsets(start, found)
            start += child.size if self.kind == "spatial" else 0

    def lines(self, depth: int = 0) -> list[str]:
        """The tree as text, one range a line."""
        pad = "  " * depth
        if self.kind == "gap":
            return [f"{pad}gap of {self.size} bytes"]
        if self.block is not None:
            life = f"steps {self.first}..{self.last}"
            return [f"{pad}{self.block.name}: {self.block.nbytes} bytes, {life}"]
        head = f"{pad}{self.kind} split of {self.size} bytes"
        return [head, *(line for child in self.children for line in child.lines(depth + 1))]


def filled(block: Block, size: int) -> Node:
    """A range with this block at its beginning; the rest stays free beside it."""
    own = Node(block.size, "block", block.first, block.last, block)
    if size == block.size:
        return own
    gap = Node(size - block.size, "gap", block.last + 1, block.last)
    return Node(size, "spatial", block.first, block.last, None, [own, gap])


@dataclass(frozen=True, slots=True)
class Pool:
    """Where every block lies.

    Args:
        offsets: byte offset of each block by name.
        size: bytes of the arena.
        by: ``"splits"`` or ``"first fit"``, whichever needed less.
        roots: the ranges side by side, for ``"splits"``.
    """

    offsets: dict[str, int]
    size: int
    by: str
    roots: tuple[Node, ...] = ()

    def __str__(self) -> str:
        head = f"arena of {self.size} bytes by {self.by}"
        return "\n".join([head, *(line for root in self.roots for line in root.lines(1))])


def least_bytes(blocks: Sequence[Block]) -> int:
    """M* of Definition 7.5 for these blocks: the most that lives at one step, in aligned bytes."""
    change: dict[int, int] = {}
    for block in blocks:
        change[block.first] = change.get(block.first, 0) + block.size
        change[block.last + 1] = change.get(block.last + 1, 0) - block.size
    live = largest = 0
    for step in sorted(change):
        live += change[step]
        largest = max(largest, live)
    return largest


def pooled(blocks: Sequence[Block]) -> Pool:
    """Offsets for these blocks; those that live together never share a byte.

    Args:
        blocks: with different names, in order of definition.
    """
    splits = _by_splits(blocks)
    if splits.size == least_bytes(blocks):
        return splits
    fitted = first_fit(blocks)
    return fitted if fitted.size < splits.size else splits


def _by_splits(blocks: Sequence[Block]) -> Pool:
    """Largest first, longer-lived first among equals, in order of definition among those."""
    roots: list[Node] = []
    order = sorted(
        range(len(blocks)), key=lambda k: (-blocks[k].size, blocks[k].first - blocks[k].last, k)
    )
    for number in order:
        block = blocks[number]
        if not any(root.place(block) for root in roots):
            roots.append(filled(block, block.size))
    offsets: dict[str, int] = {}
    start = 0
    for root in roots:
        root.offsets(start, offsets)
        start += root.size
    return Pool(offsets, start, "splits", tuple(roots))


def first_fit(blocks: Sequence[Block]) -> Pool:
    """Each block, in order of definition, at the lowest offset where nothing that lives lies.

    Optimal where all blocks have one size: this is the colouring of an interval graph by left
    endpoints (seed §7.5).
    """
    offsets: dict[str, int] = {}
    live: list[tuple[int, int, int]] = []
    size = 0
    for block in sorted(blocks, key=lambda b: b.first):
        live = [entry for entry in live if entry[2] >= block.first]
        offset = 0
        for begin, end, _ in live:
            if offset + block.size <= begin:
                break
            offset = max(offset, end)
        offsets[block.name] = offset
        bisect.insort(live, (offset, offset + block.size, block.last))
        size = max(size, offset + block.size)
    return Pool(offsets, size, "first fit")
