"""The loop tree a set of nodes would get, or the reason why there is none.

Takes nodes in dependence order and the extents of the outer loops they would share; gives a
``LoopTree``. This one pure function is asked by ``fuse`` before a fusion is declared and filled in
by ``nest`` afterwards: if the scheduler says one loop, the code has one loop. Holds Definition 7.2
as arithmetic on positions and Propositions 7.2 and 7.3(2) as equality of indices. Not here: which
pairs are worth fusing, statements.

A node's iterations are numbered in C order of its loops. Shared outer loops take the leading part
of that number, the loops of a segment the rest; nodes in one segment run in the same innermost
body, segments follow one another inside the shared loops.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .depend import accesses_of
from .index import Index, Symbol, c_strides, digits, flatten, variable
from .node import Access, Buffer, Node


@dataclass(frozen=True, slots=True)
class Segment:
    """Nodes that share every loop.

    Args:
        nodes: names, in the order they run.
        parallel: extents of the segment's own parallel loops, inside the shared ones.
        reduced: extent of the reduced loop, None for a pointwise segment.
        form: form of the reductions' planned order, which one loop can carry only once.
    """

    nodes: tuple[str, ...]
    parallel: tuple[int, ...]
    reduced: int | None
    form: str = ""

    @property
    def iterations(self) -> int:
        """Iterations per shared outer iteration."""
        return math.prod(self.parallel) * (1 if self.reduced is None else self.reduced)

    def __str__(self) -> str:
        loops = [str(extent) for extent in self.parallel]
        if self.reduced is not None:
            loops.append(f"{self.reduced}!")
        return f"[{' x '.join(loops)}] " * bool(loops) + ", ".join(self.nodes)


@dataclass(frozen=True, slots=True)
class LoopTree:
    """Shared outer loops around a sequence of segments."""

    outer: tuple[int, ...]
    segments: tuple[Segment, ...]

    def __str__(self) -> str:
        head = " x ".join(map(str, self.outer)) or "one iteration"
        return f"{head} {{ " + " ; ".join(map(str, self.segments)) + " }"


@dataclass(frozen=True, slots=True)
class Loops:
    """The loop symbols of one node's place in a tree and what they make of its own symbols."""

    outer: tuple[Symbol, ...]
    parallel: tuple[Symbol, ...]
    reduced: Symbol | None
    replacement: Mapping[Symbol, Index]

    @property
    def position(self) -> Index:
        """The number of the node's pointwise iteration."""
        symbols = (*self.outer, *self.parallel)
        return linear(symbols)


def linear(symbols: Sequence[Symbol]) -> Index:
    """The C-order number of an iteration of these loops."""
    extents = [symbol.extent for symbol in symbols]
    return flatten([variable(symbol) for symbol in symbols], c_strides(extents))


def place(node: Node, outer: Sequence[Symbol], segment: Segment) -> Loops:
    """The loops of ``node`` inside ``segment`` under the shared ``outer`` loops."""
    parallel = tuple(Symbol(f"j{k}", extent) for k, extent in enumerate(segment.parallel))
    reduced = None if segment.reduced is None else Symbol("r", segment.reduced)
    replacement: dict[Symbol, Index] = {}
    if node.is_reduction:
        assert reduced is not None
        own = (*outer, *parallel)
        inside = _numbered_loops((reduced,), node.inner_sizes)
        replacement.update(zip(node.inner, inside, strict=True))
    else:
        parallel = (*parallel, reduced) if reduced is not None else parallel
        own = (*outer, *parallel)
    replacement.update(zip(node.outer, _numbered_loops(own, node.outer_sizes), strict=True))
    return Loops(tuple(outer), parallel, reduced, replacement)


def _numbered_loops(loops: Sequence[Symbol], sizes: tuple[int, ...]) -> tuple[Index, ...]:
    """A node's own loop variables as digits of the iteration number of these loops."""
    if tuple(symbol.extent for symbol in loops) == sizes:
        return tuple(variable(symbol) for symbol in loops)
    return digits(linear(loops), sizes)


def loop_tree(
    nodes: Sequence[Node], buffers: Mapping[str, Buffer], outer: tuple[int, ...]
) -> LoopTree | str:
    """The tree of these nodes under shared loops of these extents, or why there is none.

    Args:
        nodes: pointwise and reduction nodes in dependence order.
        buffers: the program's buffers by name.
        outer: extents of the loops all nodes share; ``()`` for none.

    Returns:
        the tree, or one sentence.
    """
    symbols = tuple(Symbol(f"o{k}", extent) for k, extent in enumerate(outer))
    shared = math.prod(outer)
    placed: list[tuple[Node, int, Loops]] = []
    segments: list[Segment] = []
    for node in nodes:
        total = math.prod(node.outer_sizes)
        if node.is_extern:
            return f"{node.name} is an external call"
        if total % shared:
            return f"{node.name} has {total} iterations, not a multiple of {shared}"
        own = _own_segment(node, outer)
        chosen = _earliest(node, own, symbols, segments, placed, buffers)
        if isinstance(chosen, str):
            return chosen
        if chosen == len(segments):
            segments.append(own)
        else:
            segments[chosen] = _joined(segments[chosen], own)
        loops = place(node, symbols, segments[chosen])
        if _spoiled(node, loops, buffers):
            return f"the loops of {node.name} cannot be split at {shared}"
        placed.append((node, chosen, loops))
    looped = [segment for segment in segments if segment.iterations > 1]
    if not outer and len(looped) > 1:
        return "no outer loop is shared"
    if not outer and looped and looped[0].reduced is None and len(segments) > 1:
        return "a single value would be computed beside a parallel loop"
    return LoopTree(outer, tuple(segments))


def _own_segment(node: Node, outer: tuple[int, ...]) -> Segment:
    """The segment a node would have alone: its loops without the shared ones."""
    shared = math.prod(outer)
    sizes, count, product = node.outer_sizes, 0, 1
    while product < shared and count < len(sizes):
        product *= sizes[count]
        count += 1
    rest = math.prod(node.outer_sizes) // shared
    parallel = sizes[count:] if product == shared else ((rest,) if rest > 1 else ())
    reduced = math.prod(node.inner_sizes) if node.is_reduction else None
    form = node.order.form if node.order is not None else ""
    return Segment((node.name,), parallel, reduced, form)


def _joined(segment: Segment, own: Segment) -> Segment:
    """A segment with one more node; the loops of a reduction stand for a pointwise node's too."""
    loops = own if segment.reduced is None and own.reduced is not None else segment
    return Segment((*segment.nodes, *own.nodes), loops.parallel, loops.reduced, loops.form)


def _compatible(segment: Segment, own: Segment) -> bool:
    """Definition 7.2: equal (n, r), or pointwise iterations that number n times r."""
    if segment.reduced is not None and own.reduced is not None:
        same = math.prod(segment.parallel) == math.prod(own.parallel)
        return same and segment.reduced == own.reduced and segment.form == own.form
    return segment.iterations == own.iterations


def _earliest(
    node: Node,
    own: Segment,
    outer: tuple[Symbol, ...],
    segments: Sequence[Segment],
    placed: Sequence[tuple[Node, int, Loops]],
    buffers: Mapping[str, Buffer],
) -> int | str:
    """The first segment the node may join (or the number of a new one), or why it may not."""
    reads = accesses_of(node.body)[0]
    first = 0
    joinable = {k for k, segment in enumerate(segments) if _compatible(segment, own)}
    for producer, segment_number, _ in placed:
        for access in reads:
            if access.buffer != producer.buffer:
                continue
            reason = _outer_distance(node, access, own, outer, producer, buffers)
            if reason is not None:
                return reason
            same = not producer.is_reduction and segment_number in joinable
            if same:
                joined = _joined(segments[segment_number], own)
                reader = place(node, outer, joined)
                writer = place(producer, outer, joined)
                read = access.subs(reader.replacement).flat(buffers[access.buffer])
                same = read == writer.position
            first = max(first, segment_number + (not same))
    for number in sorted(joinable):
        if number >= first and _keeps_places(number, own, outer, segments, placed, buffers):
            return number
    return max(first, len(segments))


def _keeps_places(
    number: int,
    own: Segment,
    outer: tuple[Symbol, ...],
    segments: Sequence[Segment],
    placed: Sequence[tuple[Node, int, Loops]],
    buffers: Mapping[str, Buffer],
) -> bool:
    """Joining may hand a reduction's loops to pointwise nodes: their indices must stay good."""
    joined = _joined(segments[number], own)
    if (joined.parallel, joined.reduced) == (segments[number].parallel, segments[number].reduced):
        return True
    members = [node for node, segment, _ in placed if segment == number]
    return not any(_spoiled(node, place(node, outer, joined), buffers) for node in members)


def _outer_distance(
    node: Node,
    access: Access,
    own: Segment,
    outer: tuple[Symbol, ...],
    producer: Node,
    buffers: Mapping[str, Buffer],
) -> str | None:
    """None when every element read was written in the same outer iteration (δ = 0, Prop. 7.3(2)).

    The producer numbers its writes, so outer iteration ``o`` writes exactly the elements
    ``[block*o, block*(o+1))``: the write is injective by construction, which ``_numbered`` checks.
    """
    buffer = buffers[access.buffer]
    if not _numbered(producer, buffer):
        return f"{producer.name} does not write {buffer.name} in order"
    shared = math.prod(symbol.extent for symbol in outer)
    block = buffer.size // shared
    loops = place(node, outer, own)
    read = access.subs(loops.replacement).flat(buffer)
    rest = read - linear(outer) * block
    low, high = rest.bounds()
    if rest.symbols() & set(outer) or low < 0 or high >= block:
        return f"{node.name} reads {buffer.name} of another iteration than writes it: {access}"
    return None


def _numbered(node: Node, buffer: Buffer) -> bool:
    """True when the node writes element number k of a C-order buffer in iteration number k."""
    writes = accesses_of(node.body)[1]
    return buffer.is_contiguous and all(
        access.flat(buffer) == linear(node.outer) for access in writes
    )


def _spoiled(node: Node, loops: Loops, buffers: Mapping[str, Buffer]) -> bool:
    """True when the tree's loops would put more divisions into an address than the node needs."""
    if all(len(index.terms) <= 1 and index.is_affine for index in loops.replacement.values()):
        return False
    reads, writes = accesses_of(node.body)
    alone = place(node, (), _own_segment(node, ()))
    return any(
        _digit_count(access.subs(loops.replacement).flat(buffers[access.buffer]))
        > _digit_count(access.subs(alone.replacement).flat(buffers[access.buffer]))
        for access in (*reads, *writes)
    )


def _digit_count(index: Index) -> int:
    return sum(not isinstance(atom, Symbol) for atom, _ in index.terms)
