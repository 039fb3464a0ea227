"""legality: may two groups of nodes share a kernel? Yes with its loops, or no with a reason (§7.3).

Takes two groups, producer first, and the dependence records; gives a ``Decision``. Holds the limits
of §7.3 and the readings of Definition 7.2: the default's, the seed's on a CPU (exact ranges, with
named reasons and outer-loop fusion) and the seed's on a GPU (element counts). The loops themselves
are asked of ``looptree``. Not here: cycles (``acyclic``), which pairs are asked about (``greedy``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from .bestfirst import Traffic
from .config import Config
from .depend import DataDep, Edges, Record, normal_form
from .greedy import Unit, shared_bytes
from .group import Decision, Group
from .index import Symbol, variable
from .looptree import LoopTree, Trees
from .node import Access, Buffer


class NodeRules:
    """The rules of ``greedy`` for the nodes of one program."""

    def __init__(self, edges: Edges, config: Config) -> None:
        self.config = config
        self.buffers: Mapping[str, Buffer] = {buffer.name: buffer for buffer in edges.buffers}
        self.trees = Trees(self.buffers)
        self.position = {record.node.name: k for k, record in enumerate(edges.records)}
        readers: dict[str, int] = {}
        for number, record in enumerate(edges.records):
            for dep in record.reads:
                readers[dep.buffer] = readers.get(dep.buffer, 0) | 1 << number
        computed = [name for record in edges.records for name in record.node.buffers]
        self.numbers: dict[DataDep, int] = {}
        self.names: dict[int, str] = {}
        self.traffic = Traffic(
            readers,
            {name: self.buffers[name].nbytes for name in computed},
            frozenset(edges.outputs),
            self.names,
            frozenset(k for k, r in enumerate(edges.records) if r.node.is_extern),
        )

    def whole(self, name: str) -> DataDep:
        """The dependence on every element of a buffer, in order."""
        loops = tuple(Symbol(f"i{k}", n) for k, n in enumerate(self.buffers[name].shape))
        everything = Access(name, tuple(map(variable, loops)))
        return normal_form(everything, dict(self.buffers), loops, name)

    def unit(self, number: int, record: Record) -> Unit:
        """A node alone: its pointwise loops are the shared ones."""
        node = record.node
        tree = None
        if not node.is_extern:
            alone = self.trees.tree((), (node,), node.outer_sizes)
            assert isinstance(alone, LoopTree), alone
            tree = alone
        group = Group((record,), tree, record.iteration)
        touches = {
            self._number(dep): dep.elements * self.buffers[dep.buffer].dtype.itemsize
            for dep in (*record.reads, *record.writes)
        }
        return Unit(
            number,
            group,
            group.name,
            touches,
            frozenset(dep.buffer for dep in (*record.reads, *record.writes)),
            frozenset(node.buffers),
            number,
            number,
            node.is_reduction,
        )

    def _number(self, dep: DataDep) -> int:
        """The number of a dependence; equal ones have the same."""
        number = self.numbers.setdefault(dep, len(self.numbers))
        self.names[number] = dep.buffer
        return number

    # the interface of ``greedy`` ------------------------------------------------------------------
    def can_fuse(self, first: Unit, second: Unit) -> Decision:
        """May these two share a kernel? Yes with its loop tree, no with a reason (§7.3, line 3)."""
        one, two = first.group, second.group
        saved = shared_bytes(first, second)
        vertical = bool(first.writes & second.buffers)
        answer: tuple[str, LoopTree] | str = self._limits(first, second, vertical, saved)
        if not answer:
            answer = self._loops(one, two, vertical)
        pair = (first.name, second.name)
        if isinstance(answer, str):
            return Decision(pair, False, answer, saved)
        reason, tree = answer
        return Decision(pair, True, reason, saved, tree)

    def refused(self, answer: Decision, reason: str) -> Decision:
        """No, for a reason of the algorithm's."""
        return replace(answer, verdict=False, reason=reason, tree=None)

    def fused(
        self, first: Unit, second: Unit, answer: Decision
    ) -> tuple[Group, str, tuple[str, ...]]:
        """The fused group with the tree its decision carries, and the seed's lines about it."""
        one, two = first.group, second.group
        tree = answer.tree
        assert tree is not None
        records = sorted((*one.records, *two.records), key=lambda r: self.position[r.node.name])
        depth = len(tree.outer) if len(tree.segments) > 1 else 0
        reducing = [group for group in (one, two) if group.has_reduction]
        iteration = two.iteration if depth or not reducing else reducing[-1].iteration
        group = Group(tuple(records), tree, iteration, depth)
        said = [str(group), f"score {answer.bytes_saved}"]
        if depth:
            said.append(f"outer-loop fusion depth {depth}")
        return group, group.name, tuple(said)

    # the conditions of §7.3 -----------------------------------------------------------------------
    def _limits(self, first: Unit, second: Unit, vertical: bool, saved: int) -> str:
        """Why these two stay apart whatever their loops are; empty for no reason."""
        config, one, two = self.config, first.group, second.group
        if one.is_extern or two.is_extern:
            return "an external call keeps its own step"
        if one.nodes[0].stream != two.nodes[0].stream:
            return f"streams {one.nodes[0].stream} and {two.nodes[0].stream} differ"
        if len(one.records) + len(two.records) > config.max_nodes:
            return f"more than {config.max_nodes} nodes"
        if self._stored(first, second) > config.max_buffers:
            return f"more than {config.max_buffers} buffers"
        if config.strict and one.has_reduction and two.has_reduction:
            return "two reductions in strict order"
        if not vertical and saved < config.min_shared_bytes:
            return f"fewer than {config.min_shared_bytes} bytes shared"
        held = self._freeable(one, two)
        if held > config.max_lifetime * saved:
            return f"{held} bytes of inputs would live longer to save {saved}"
        return ""

    def _stored(self, first: Unit, second: Unit) -> int:
        """Distinct buffers of the two; the default leaves out those that only they use."""
        touched = first.buffers | second.buffers
        if self.config.seed:
            return len(touched)
        members = self._members(first.group) | self._members(second.group)
        written = first.writes | second.writes
        private = {n for n in written if self.traffic.is_private(n, members)}
        return len(touched - private)

    def _members(self, group: Group) -> int:
        return sum(1 << self.position[node.name] for node in group.nodes)

    def _freeable(self, one: Group, two: Group) -> int:
        """Bytes of inputs of both that could be freed one after the other, but not if fused.

        Each is an intermediate that nobody else reads, and the other group has one of its dtype and
        size, so that apart the second could take the first one's storage.
        """
        held = [self._single_use(group) for group in (one, two)]
        common = {key for key in held[0] if key in held[1]}
        return sum(nbytes for _, nbytes in common)

    def _single_use(self, group: Group) -> set[tuple[str, int]]:
        """dtype and bytes of the intermediates that this group alone reads and does not write."""
        members = self._members(group)
        own = {name for node in group.nodes for name in node.buffers}
        read = {dep.buffer for record in group.records for dep in record.reads} - own
        return {
            (self.buffers[name].dtype.str, self.buffers[name].nbytes)
            for name in read
            if name in self.traffic.sizes and self.traffic.is_private(name, members)
        }

    # readings of Definition 7.2 -------------------------------------------------------------------
    def _loops(self, one: Group, two: Group, vertical: bool) -> tuple[str, LoopTree] | str:
        """The reading the configuration asks for: a reason and the loops, or only a reason."""
        if not self.config.seed:
            return self._by_positions(one, two)
        if self.config.device == "gpu":
            return self._by_counts(one, two)
        return self._by_ranges(one, two, vertical)

    def _by_positions(self, one: Group, two: Group) -> tuple[str, LoopTree] | str:
        """The default reading: the deepest shared loops under which every distance is zero."""
        nodes = (*one.nodes, *two.nodes)
        shortest = min((node.outer_sizes for node in nodes), key=math.prod)
        answer = "no outer loop is shared"
        for depth in range(len(shortest), 0 if shortest else -1, -1):
            attempt = self._try_tree(one, two, shortest[:depth])
            if isinstance(attempt, LoopTree):
                count = len(attempt.segments)
                if count == 1:
                    return "same loops", attempt
                loops = "loop" if depth == 1 else "loops"
                return f"{depth} shared outer {loops} around {count} segments", attempt
            if depth == len(shortest):
                answer = attempt
        return answer

    def _try_tree(self, one: Group, two: Group, outer: tuple[int, ...]) -> LoopTree | str:
        return self.trees.tree(one.nodes, two.nodes, outer)

    def _by_ranges(self, one: Group, two: Group, vertical: bool) -> tuple[str, LoopTree] | str:
        """The seed on a CPU: ranges per dimension, compared as tuples (Examples 7.1 and 7.2)."""
        (v1, r1), (v2, r2) = one.iteration, two.iteration
        if two.depth:
            v2, r2 = two.records[0].iteration
        reason = ""
        if one.depth == 0 and two.depth == 0:
            if v1 == v2 and r1 == r2:
                reason = "SAME_VARS_REDUCE"
            elif not r1 and v1 == v2 + r2:
                reason = "COMPATIBLE_REDUCTION"
            elif not r1 and not r2 and math.prod(v1) == math.prod(v2):
                reason = "COMPATIBLE_RANGES_NO_REDUCTION"
        if reason and (not vertical or not one.has_reduction):
            tree = self._try_tree(one, two, max(v1, v2, key=len) if not r2 else v2)
            return tree if isinstance(tree, str) else (reason, tree)
        if not vertical:
            return f"iteration groupings {one.iteration} and {two.iteration} differ"
        depth = _outer_depth(v1, v2)
        if depth == 0:
            return "outer loop fusion depth is 0"
        if 0 < one.depth != depth or 0 < two.depth != depth:
            return "outer loop fusion depths differ"
        outer = self._try_tree(one, two, v1[:depth])
        return outer if isinstance(outer, str) else ("OUTER_LOOP", outer)

    def _by_counts(self, one: Group, two: Group) -> tuple[str, LoopTree] | str:
        """The seed on a GPU: Definition 7.2 on element counts."""
        counts = [_counts(group) for group in (one, two)]
        (n1, r1), (n2, r2) = counts
        both = one.has_reduction and two.has_reduction
        neither = not one.has_reduction and not two.has_reduction
        if both:
            fits = n1 == n2 and r1 == r2
        elif neither:
            fits = n1 == n2
        else:
            (n, r), (points, _) = counts if one.has_reduction else counts[::-1]
            fits = points in (n, n * r)
        if not fits:
            return f"iteration counts {counts[0]} and {counts[1]} are not compatible"
        nodes = (*one.nodes, *two.nodes)
        shortest = min((node.outer_sizes for node in nodes), key=math.prod)
        tree = self._try_tree(one, two, shortest)
        return tree if isinstance(tree, str) else ("compatible counts", tree)


def _outer_depth(v1: tuple[int, ...], v2: tuple[int, ...]) -> int:
    """Leading axes on which the pointwise ranges agree; all of the shorter one's must."""
    shorter = min(len(v1), len(v2))
    return shorter if v1[:shorter] == v2[:shorter] else 0


def _counts(group: Group) -> tuple[int, int]:
    """(n, r) of Definition 7.2."""
    for node in group.nodes:
        if node.is_reduction:
            return math.prod(node.outer_sizes), math.prod(node.inner_sizes)
    return math.prod(group.nodes[0].outer_sizes), 1
