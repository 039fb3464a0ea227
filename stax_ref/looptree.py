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

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    """The loop symbols of one node's place in a tree and what they make of its own symbols.

    Nodes with the same loops share one object, so what is asked of it is remembered in it.
    ``is_plain``: no symbol of the node becomes more than one symbol of the tree.
    """

    outer: tuple[Symbol, ...]
    parallel: tuple[Symbol, ...]
    reduced: Symbol | None
    replacement: Mapping[Symbol, Index]
    is_plain: bool = False
    known: dict[object, Index] = field(default_factory=dict, compare=False, repr=False)

    def address(self, access: Access, buffer: Buffer) -> Index:
        """The linear address of an access, over the loops of the tree."""
        key = (access.index, buffer.strides)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = access.subs(self.replacement).flat(buffer)
        return found

    def inside(self, access: Access, buffer: Buffer, block: int) -> Index:
        """The same, counted from the first element of the outer iteration's own block."""
        key = (access.index, buffer.strides, block)
        found = self.known.get(key)
        if found is None:
            rest = self.address(access, buffer) - linear(self.outer) * block
            found = self.known[key] = rest
        return found

    @property
    def position(self) -> Index:
        """The number of the node's pointwise iteration."""
        return linear((*self.outer, *self.parallel))


@functools.lru_cache(maxsize=4096)
def linear(symbols: tuple[Symbol, ...]) -> Index:
    """The C-order number of an iteration of these loops."""
    extents = [symbol.extent for symbol in symbols]
    return flatten([variable(symbol) for symbol in symbols], c_strides(extents))


def place(node: Node, outer: tuple[Symbol, ...], segment: Segment) -> Loops:
    """The loops of ``node`` inside ``segment`` under the shared ``outer`` loops."""
    return _placed(node.outer, node.inner, outer, segment.parallel, segment.reduced)


@functools.lru_cache(maxsize=4096)
def _placed(
    own_outer: tuple[Symbol, ...],
    own_inner: tuple[Symbol, ...],
    outer: tuple[Symbol, ...],
    extents: tuple[int, ...],
    reduced_extent: int | None,
) -> Loops:
    """:func:`place` of any node with these loops; a node that reduces has inner ones."""
    parallel = tuple(Symbol(f"j{k}", extent) for k, extent in enumerate(extents))
    reduced = None if reduced_extent is None else Symbol("r", reduced_extent)
    replacement: dict[Symbol, Index] = {}
    if own_inner:
        assert reduced is not None
        own = (*outer, *parallel)
        inside = _numbered_loops((reduced,), tuple(symbol.extent for symbol in own_inner))
        replacement.update(zip(own_inner, inside, strict=True))
    else:
        parallel = (*parallel, reduced) if reduced is not None else parallel
        own = (*outer, *parallel)
    sizes = tuple(symbol.extent for symbol in own_outer)
    replacement.update(zip(own_outer, _numbered_loops(own, sizes), strict=True))
    plain = all(len(index.terms) <= 1 and index.is_affine for index in replacement.values())
    return Loops(outer, parallel, reduced, replacement, plain)


def _numbered_loops(loops: tuple[Symbol, ...], sizes: tuple[int, ...]) -> tuple[Index, ...]:
    """A node's own loop variables as digits of the iteration number of these loops."""
    if tuple(symbol.extent for symbol in loops) == sizes:
        return tuple(variable(symbol) for symbol in loops)
    return digits(linear(loops), sizes)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is asked of one node again and again.

    ``numbered``: it writes element number k of a C-order buffer in iteration number k.
    """

    node: Node
    reads: tuple[Access, ...]
    accesses: tuple[Access, ...]
    numbered: bool
    iterations: int
    places: dict[tuple[object, ...], Loops] = field(default_factory=dict)

    def place(self, outer: tuple[Symbol, ...], segment: Segment) -> Loops:
        """:func:`place` of this node, remembered."""
        key = (segment.parallel, segment.reduced, *[symbol.extent for symbol in outer])
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = place(self.node, outer, segment)
        return found


@dataclass(slots=True)
class _Growth:
    """A tree while nodes are added to it.

    Segments and their nodes, the segment of every buffer's writer, and by whom a buffer's old
    content was overwritten.
    """

    outer: tuple[Symbol, ...]
    segments: list[Segment]
    members: list[list[_Facts]]
    writers: dict[str, tuple[_Facts, int]]
    overwritten: dict[str, str]

    def copy(self) -> _Growth:
        """One that grows on its own."""
        members = [list(nodes) for nodes in self.members]
        kept, gone = dict(self.writers), dict(self.overwritten)
        return _Growth(self.outer, list(self.segments), members, kept, gone)


class Trees:
    """Loop trees over the buffers of one program; a tree once asked for is grown, not made again.

    Args:
        buffers: the program's buffers by name.
    """

    def __init__(self, buffers: Mapping[str, Buffer]) -> None:
        self.buffers = buffers
        self._facts: dict[str, _Facts] = {}
        self._grown: dict[tuple[frozenset[str], tuple[int, ...]], _Growth | str] = {}
        self._distances: dict[tuple[str, int, tuple[Symbol, ...]], str | None] = {}

    def tree(
        self, first: Sequence[Node], second: Sequence[Node], outer: tuple[int, ...]
    ) -> LoopTree | str:
        """The tree of these nodes under shared loops of these extents, or why there is none.

        Args:
            first: pointwise and reduction nodes in dependence order.
            second: nodes that may read what the first ones write, but not the other way round.
            outer: extents of the loops all nodes share; ``()`` for none.

        Returns:
            the tree, or one sentence.
        """
        grown = self._growth(tuple(first), tuple(second), outer)
        if isinstance(grown, str):
            return grown
        looped = [segment for segment in grown.segments if segment.iterations > 1]
        if not outer and len(looped) > 1:
            return "no outer loop is shared"
        if not outer and looped and looped[0].reduced is None and len(grown.segments) > 1:
            return "a single value would be computed beside a parallel loop"
        return LoopTree(outer, tuple(grown.segments))

    def _growth(
        self, first: tuple[Node, ...], second: tuple[Node, ...], outer: tuple[int, ...]
    ) -> _Growth | str:
        # the same nodes in another dependence order: the tree that is there is as good
        names = frozenset(node.name for node in (*first, *second))
        known = self._grown.get((names, outer))
        if known is None:
            known = self._grown[names, outer] = self._grow(first, second, outer)
        return known

    def _grow(
        self, first: tuple[Node, ...], second: tuple[Node, ...], outer: tuple[int, ...]
    ) -> _Growth | str:
        if first:
            base = self._growth((), first, outer)
            if isinstance(base, str):
                return base
            growth = base.copy()
        else:
            symbols = tuple(Symbol(f"o{k}", extent) for k, extent in enumerate(outer))
            growth = _Growth(symbols, [], [], {}, {})
        for node in second:
            reason = self._add(node, outer, growth)
            if reason:
                return reason
        return growth

    def _add(self, node: Node, outer: tuple[int, ...], growth: _Growth) -> str:
        """Put one more node into the tree; a sentence when it has no place."""
        if node.is_extern:
            return f"{node.name} is an external call"
        facts, shared = self._known(node), math.prod(outer)
        if facts.iterations % shared:
            return f"{node.name} has {facts.iterations} iterations, not a multiple of {shared}"
        own = _own_segment(node, outer)
        chosen = self._earliest(facts, own, growth)
        if isinstance(chosen, str):
            return chosen
        if chosen == len(growth.segments):
            growth.segments.append(own)
            growth.members.append([facts])
        else:
            growth.segments[chosen] = _joined(growth.segments[chosen], own)
            growth.members[chosen].append(facts)
        if self._spoiled(facts, facts.place(growth.outer, growth.segments[chosen])):
            return f"the loops of {node.name} cannot be split at {shared}"
        growth.writers[node.buffer] = (facts, chosen)
        if node.mutates is not None:
            growth.overwritten[node.mutates] = node.name
        return ""

    def _known(self, node: Node) -> _Facts:
        found = self._facts.get(node.name)
        if found is None:
            reads, writes = accesses_of(node.body)
            found = self._facts[node.name] = _Facts(
                node,
                tuple(reads),
                (*reads, *writes),
                _numbered(node, writes, self.buffers[node.buffer]),
                math.prod(node.outer_sizes),
            )
        return found

    def _earliest(self, facts: _Facts, own: Segment, growth: _Growth) -> int | str:
        """The first segment the node may join (or the number of a new one), or why it may not."""
        first, outer, segments = 0, growth.outer, growth.segments
        for count, access in enumerate(facts.reads):
            if access.buffer not in growth.writers:
                continue
            producer, number = growth.writers[access.buffer]
            key = (facts.node.name, count, outer)
            if key not in self._distances:
                distance = self._outer_distance(facts.node, access, own, outer, producer)
                self._distances[key] = distance
            reason = self._distances[key]
            if reason is not None:
                return reason
            same = not producer.node.is_reduction and _compatible(segments[number], own)
            if same:
                joined = _standing(segments[number], own)
                reader, writer = facts.place(outer, joined), producer.place(outer, joined)
                read = reader.address(access, self.buffers[access.buffer])
                same = read == writer.position
            first = max(first, number + (not same))
        overwriting = self._after_readers(facts, own, growth)
        if isinstance(overwriting, str):
            return overwriting
        first = max(first, overwriting)
        for number in range(first, len(segments)):
            if _compatible(segments[number], own) and self._keeps_places(number, own, growth):
                return number
        return len(segments)

    def _after_readers(self, facts: _Facts, own: Segment, growth: _Growth) -> int | str:
        """The first segment in which the node may overwrite what members read, or why it may not.

        An anti-dependence, so Propositions 7.2 and 7.3 with the roles exchanged: the reader of an
        element must lie in the outer iteration that overwrites it, and in one segment in the very
        iteration. Members run in order, so readers come first.
        """
        first, old = 0, facts.node.mutates
        for access in facts.reads:
            if access.buffer in growth.overwritten:
                culprit = growth.overwritten[access.buffer]
                return f"{facts.node.name} would read what {culprit} has overwritten"
        if old is None:
            return 0
        extents = tuple(symbol.extent for symbol in growth.outer)
        for number, members in enumerate(growth.members):
            for member in members:
                for access in member.reads:
                    if access.buffer != old:
                        continue
                    reading = _own_segment(member.node, extents)
                    reason = self._outer_distance(member.node, access, reading, growth.outer, facts)
                    if reason is not None:
                        return reason
                    joined = _standing(growth.segments[number], own)
                    same = not member.node.is_reduction and _compatible(
                        growth.segments[number], own
                    )
                    if same:
                        reader = place(member.node, growth.outer, joined)
                        writer = place(facts.node, growth.outer, joined)
                        read = reader.address(access, self.buffers[access.buffer])
                        same = read == writer.position
                    first = max(first, number + (not same))
        return first

    def _keeps_places(self, number: int, own: Segment, growth: _Growth) -> bool:
        """Joining may hand a reduction's loops to pointwise nodes: their indices must stay good."""
        joined = _standing(growth.segments[number], own)
        if joined is not own:
            return True
        members = growth.members[number]
        return not any(self._spoiled(m, m.place(growth.outer, joined)) for m in members)

    def _outer_distance(
        self,
        node: Node,
        access: Access,
        own: Segment,
        outer: tuple[Symbol, ...],
        producer: _Facts,
    ) -> str | None:
        """None when every element read was written in the same outer iteration (Prop. 7.3(2)).

        The producer numbers its writes, so outer iteration ``o`` writes exactly the elements
        ``[block*o, block*(o+1))``: the write is injective by construction, which ``_numbered``
        checks.
        """
        buffer = self.buffers[access.buffer]
        if not producer.numbered:
            return f"{producer.node.name} does not write {buffer.name} in order"
        shared = math.prod(symbol.extent for symbol in outer)
        block = buffer.size // shared
        rest = place(node, outer, own).inside(access, buffer, block)
        low, high = rest.bounds()
        if rest.symbols() & set(outer) or low < 0 or high >= block:
            return f"{node.name} reads {buffer.name} of another iteration than writes it: {access}"
        return None

    def _spoiled(self, facts: _Facts, loops: Loops) -> bool:
        """True when the tree's loops put more divisions into an address than the node needs."""
        if loops.is_plain:
            return False
        alone = facts.place((), _own_segment(facts.node, ()))
        return any(
            _digit_count(loops.address(access, self.buffers[access.buffer]))
            > _digit_count(alone.address(access, self.buffers[access.buffer]))
            for access in facts.accesses
        )


def loop_tree(
    nodes: Sequence[Node], buffers: Mapping[str, Buffer], outer: tuple[int, ...]
) -> LoopTree | str:
    """The tree of these nodes; see :meth:`Trees.tree`."""
    return Trees(buffers).tree((), nodes, outer)


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


def _standing(segment: Segment, own: Segment) -> Segment:
    """Whose loops stand for both: a reduction's, or else those that are there."""
    return own if segment.reduced is None and own.reduced is not None else segment


def _joined(segment: Segment, own: Segment) -> Segment:
    """A segment with one more node; the loops of a reduction stand for a pointwise node's too."""
    loops = _standing(segment, own)
    return Segment((*segment.nodes, *own.nodes), loops.parallel, loops.reduced, loops.form)


def _compatible(segment: Segment, own: Segment) -> bool:
    """Definition 7.2: equal (n, r), or pointwise iterations that number n times r."""
    if segment.reduced is not None and own.reduced is not None:
        same = math.prod(segment.parallel) == math.prod(own.parallel)
        return same and segment.reduced == own.reduced and segment.form == own.form
    return segment.iterations == own.iterations


def _numbered(node: Node, writes: Sequence[Access], buffer: Buffer) -> bool:
    """True when the node writes element number k of a C-order buffer in iteration number k."""
    return buffer.is_contiguous and all(
        access.flat(buffer) == linear(node.outer) for access in writes
    )


def _digit_count(index: Index) -> int:
    return sum(not isinstance(atom, Symbol) for atom, _ in index.terms)
