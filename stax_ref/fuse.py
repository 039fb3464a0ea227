"""fuse: which nodes share one kernel (seed §7.2, §7.3).

Takes the dependence records; gives ``Groups`` and one ``Decision`` for every pair looked at. Holds
Algorithm 7.1 (rounds of greedy merging by lexicographic score), Proposition 7.1 (no cycle), and the
readings of Definition 7.2: the default's, the seed's on a CPU (exact ranges, with named reasons and
outer-loop fusion) and the seed's on a GPU (element counts). The loops themselves are asked of
``looptree``. Not here: the order of kernels (``order``), statements (``nest``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .config import Config
from .depend import DataDep, Edges, Record
from .looptree import LoopTree, loop_tree
from .node import Buffer, Node

Pair = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that share one kernel (or one external call).

    Args:
        records: members in dependence order.
        tree: their loops; None for an external call.
        iteration: (pointwise ranges, reduction ranges) that stand for the group.
        depth: outer loops shared by an outer-loop fusion, 0 for an ordinary one.
    """

    records: tuple[Record, ...]
    tree: LoopTree | None
    iteration: tuple[tuple[int, ...], tuple[int, ...]]
    depth: int = 0

    @property
    def name(self) -> str:
        """The members' names joined."""
        return "_".join(record.node.name for record in self.records)

    @property
    def members(self) -> tuple[str, ...]:
        """The members' names, which identify the group."""
        return tuple(record.node.name for record in self.records)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The members."""
        return tuple(record.node for record in self.records)

    @property
    def has_reduction(self) -> bool:
        """True when a member is a reduction."""
        return any(node.is_reduction for node in self.nodes)

    @property
    def is_extern(self) -> bool:
        """True for an external call."""
        return self.records[0].node.is_extern

    @property
    def writes(self) -> frozenset[DataDep]:
        """Everything the members write."""
        return frozenset(dep for record in self.records for dep in record.writes)

    @property
    def touches(self) -> frozenset[DataDep]:
        """Everything the members read or write."""
        return self.writes | {dep for record in self.records for dep in record.reads}

    def __str__(self) -> str:
        if len(self.records) == 1:
            what = "ExternKernelSchedulerNode" if self.is_extern else "SchedulerNode"
            return f"{self.name}: {what}"
        kind = "OuterLoopFusedSchedulerNode" if self.depth else "FusedSchedulerNode"
        return f"{self.name}: {kind}({','.join(['SchedulerNode'] * len(self.records))})"


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one pair, and why.

    Args:
        pair: names of the two groups, producer first.
        verdict: True when they were fused.
        reason: one sentence, or a name of the seed (``SAME_VARS_REDUCE``).
        bytes_saved: main-memory traffic the fusion saves.
        tree: the loop structure a yes implies.
    """

    pair: tuple[str, str]
    verdict: bool
    reason: str
    bytes_saved: int
    tree: LoopTree | None = None

    def __str__(self) -> str:
        answer = "fuse" if self.verdict else "keep apart"
        return f"{' + '.join(self.pair)}: {answer}, {self.reason}, {self.bytes_saved} bytes shared"


@dataclass(frozen=True, slots=True)
class Groups:
    """The partition, every decision, and the log of the rounds."""

    groups: tuple[Group, ...]
    decisions: tuple[Decision, ...]
    log: tuple[str, ...]
    edges: Edges

    def __str__(self) -> str:
        trees = [f"{group.name}: {group.tree}" for group in self.groups if group.tree is not None]
        return "\n".join([*self.log, "", *map(str, self.decisions), "", *trees]).strip()


@dataclass(frozen=True, slots=True)
class Score:
    """(type, bytes saved, shared buffers, -distance), compared in this order (§7.3)."""

    kind: int
    bytes: int
    buffers: int
    nearness: int

    @property
    def key(self) -> tuple[int, int, int, int]:
        """The components in the order in which they are compared."""
        return (self.kind, self.bytes, self.buffers, self.nearness)

    def better(self, other: Score, ratio: int) -> bool:
        """True when this one is strictly better; byte counts far apart decide alone."""
        small, large = sorted((self.bytes, other.bytes))
        if large > ratio * small:
            return self.bytes > other.bytes
        return self.key > other.key


@dataclass(slots=True)
class _State:
    """One run of Algorithm 7.1: the partition so far and the ancestor sets as bit sets."""

    edges: Edges
    config: Config
    buffers: dict[str, Buffer]
    groups: list[Group]
    position: dict[str, int]
    ancestors: list[int]
    legal: dict[Pair, Decision] = field(default_factory=dict)
    decisions: dict[Pair, Decision] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)


def fuse(edges: Edges, config: Config) -> Groups:
    """Dependences → groups (Algorithm 7.1).

    Args:
        edges: records in program order.
        config: the reading of Definition 7.2 and every limit of §7.3.

    Returns:
        groups in program order of their first member, decisions and the log.
    """
    buffers = {buffer.name: buffer for buffer in edges.buffers}
    state = _State(edges, config, buffers, [], {}, [])
    for number, record in enumerate(edges.records):
        state.position[record.node.name] = number
        tree = None if record.node.is_extern else _own_tree(record.node, buffers)
        state.groups.append(Group((record,), tree, record.iteration))
    state.ancestors = _ancestors(edges, state.position)
    for _ in range(config.max_rounds):
        before = len(state.groups)
        _round(state)
        if len(state.groups) in (1, before):
            break
    return Groups(tuple(state.groups), tuple(state.decisions.values()), tuple(state.log), edges)


def _own_tree(node: Node, buffers: Mapping[str, Buffer]) -> LoopTree:
    """A node alone: its pointwise loops are the shared ones."""
    tree = loop_tree([node], buffers, node.outer_sizes)
    assert isinstance(tree, LoopTree), tree
    return tree


def _ancestors(edges: Edges, position: Mapping[str, int]) -> list[int]:
    """Per node the bit set of the nodes that reach it (§7.2)."""
    predecessors = edges.predecessors()
    found: list[int] = []
    for record in edges.records:
        bits = 0
        for name in predecessors[record.node.name]:
            bits |= found[position[name]] | (1 << position[name])
        found.append(bits)
    return found


def _round(state: _State) -> None:
    """One round: candidates, legality, scores, then merges from the best down."""
    candidates: list[tuple[Score, int, int, Decision]] = []
    cap = len(state.groups) if state.config.seed else state.config.max_neighbours
    for first_place, second_place in _sharing_pairs(state.groups, cap):
        first, second = state.groups[first_place], state.groups[second_place]
        pair = (first.members, second.members)
        if pair not in state.legal:  # groups never change, so an answer stays good
            state.legal[pair] = can_fuse(first, second, state)
        decision = state.legal[pair]
        state.decisions[pair] = decision
        if decision.verdict:
            score = _score(first, second, decision.bytes_saved, state)
            ordered = decision.pair[0] == first.name
            places = (first_place, second_place) if ordered else (second_place, first_place)
            candidates.append((score, *places, decision))
    state.log.append(f"found {len(candidates)} possible fusions")
    taken: set[int] = set()
    merged: dict[int, Group] = {}
    for _, first_place, second_place, decision in _descending(candidates, state.config.score_ratio):
        if first_place in taken or second_place in taken:
            continue
        first, second = state.groups[first_place], state.groups[second_place]
        apart = [g for k, g in enumerate(state.groups) if k not in taken] + list(merged.values())
        if _makes_cycle(first, second, apart, state):
            reason = "a third kernel would have to run between them"
            no = Decision(decision.pair, False, reason, decision.bytes_saved)
            early, late = sorted((first_place, second_place))
            state.decisions[(state.groups[early].members, state.groups[late].members)] = no
            continue
        taken |= {first_place, second_place}
        joined = _merge(first, second, decision, state)
        merged[first_place] = joined
        state.log.append(f"fusing {first.name} with {second.name}")
        state.log.append(str(joined))
        state.log.append(f"score {decision.bytes_saved}")
        if joined.depth:
            state.log.append(f"outer-loop fusion depth {joined.depth}")
    kept = [group for k, group in enumerate(state.groups) if k not in taken]
    state.groups = sorted(
        [*kept, *merged.values()], key=lambda g: state.position[g.records[0].node.name]
    )


def _sharing_pairs(groups: Sequence[Group], cap: int) -> list[tuple[int, int]]:
    """Positions of groups that touch a common buffer, earlier first (Algorithm 7.1, line 2)."""
    by_buffer: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        for name in sorted({dep.buffer for dep in group.touches}):
            by_buffer.setdefault(name, []).append(number)
    pairs = {
        (members[a], members[b])
        for members in by_buffer.values()
        for a in range(len(members))
        for b in range(a + 1, min(len(members), a + 1 + cap))
    }
    return sorted(pairs)


def can_fuse(first: Group, second: Group, state: _State) -> Decision:
    """May these two share a kernel? Yes with its loop tree, no with a reason (§7.3, line 3)."""
    config = state.config
    if _reaches(second, first, state):
        first, second = second, first
    pair = (first.name, second.name)
    saved = shared_bytes(first, second, state.buffers)

    def no(reason: str) -> Decision:
        return Decision(pair, False, reason, saved)

    if first.is_extern or second.is_extern:
        return no("an external call keeps its own step")
    vertical = bool(
        {dep.buffer for dep in first.writes}
        & {dep.buffer for record in second.records for dep in record.reads}
    )
    if len(first.records) + len(second.records) > config.max_nodes:
        return no(f"more than {config.max_nodes} nodes")
    touched = {dep.buffer for dep in first.touches | second.touches}
    if len(touched) > config.max_buffers:
        return no(f"more than {config.max_buffers} buffers")
    if config.strict and first.has_reduction and second.has_reduction:
        return no("two reductions in strict order")
    if not vertical and saved < config.min_shared_bytes:
        return no(f"fewer than {config.min_shared_bytes} bytes shared")
    if config.seed and config.device == "gpu":
        answer = _by_counts(first, second, state)
    elif config.seed:
        answer = _by_ranges(first, second, vertical, state)
    else:
        answer = _by_positions(first, second, state)
    if isinstance(answer, str):
        return no(answer)
    reason, tree = answer
    return Decision(pair, True, reason, saved, tree)


def _reaches(first: Group, second: Group, state: _State) -> bool:
    """True when a member of ``first`` is an ancestor of a member of ``second``."""
    mine = sum(1 << state.position[node.name] for node in first.nodes)
    return any(state.ancestors[state.position[node.name]] & mine for node in second.nodes)


def _ordered(first: Group, second: Group, state: _State) -> list[Record]:
    return sorted(
        (*first.records, *second.records), key=lambda record: state.position[record.node.name]
    )


def _try_tree(first: Group, second: Group, outer: tuple[int, ...], state: _State) -> LoopTree | str:
    nodes = [record.node for record in _ordered(first, second, state)]
    return loop_tree(nodes, state.buffers, outer)


def _by_positions(first: Group, second: Group, state: _State) -> tuple[str, LoopTree] | str:
    """The default reading: the deepest shared loops under which every distance is zero."""
    nodes = (*first.nodes, *second.nodes)
    shortest = min((node.outer_sizes for node in nodes), key=math.prod)
    answer = "no outer loop is shared"
    for depth in range(len(shortest), 0 if shortest else -1, -1):
        attempt = _try_tree(first, second, shortest[:depth], state)
        if isinstance(attempt, LoopTree):
            count = len(attempt.segments)
            if count == 1:
                return "same loops", attempt
            loops = "loop" if depth == 1 else "loops"
            return f"{depth} shared outer {loops} around {count} segments", attempt
        if depth == len(shortest):
            answer = attempt
    return answer


def _by_ranges(
    first: Group, second: Group, vertical: bool, state: _State
) -> tuple[str, LoopTree] | str:
    """The seed on a CPU: ranges per dimension, compared as tuples (§7.1, Examples 7.1 and 7.2)."""
    (v1, r1), (v2, r2) = first.iteration, second.iteration
    if second.depth:
        v2, r2 = second.records[0].iteration
    reason = ""
    if first.depth == 0 and second.depth == 0:
        if v1 == v2 and r1 == r2:
            reason = "SAME_VARS_REDUCE"
        elif not r1 and v1 == v2 + r2:
            reason = "COMPATIBLE_REDUCTION"
        elif not r1 and not r2 and math.prod(v1) == math.prod(v2):
            reason = "COMPATIBLE_RANGES_NO_REDUCTION"
    if reason and (not vertical or not first.has_reduction):
        tree = _try_tree(first, second, max(v1, v2, key=len) if not r2 else v2, state)
        return tree if isinstance(tree, str) else (reason, tree)
    if not vertical:
        return f"iteration groupings {first.iteration} and {second.iteration} differ"
    depth = _outer_depth(v1, v2)
    if depth == 0:
        return "outer loop fusion depth is 0"
    if 0 < first.depth != depth or 0 < second.depth != depth:
        return "outer loop fusion depths differ"
    outer = _try_tree(first, second, v1[:depth], state)
    return outer if isinstance(outer, str) else ("OUTER_LOOP", outer)


def _outer_depth(v1: tuple[int, ...], v2: tuple[int, ...]) -> int:
    """Leading axes on which the pointwise ranges agree; all of the shorter one's must."""
    shorter = min(len(v1), len(v2))
    return shorter if v1[:shorter] == v2[:shorter] else 0


def _by_counts(first: Group, second: Group, state: _State) -> tuple[str, LoopTree] | str:
    """The seed on a GPU: Definition 7.2 on element counts."""
    counts = [_counts(group) for group in (first, second)]
    (n1, r1), (n2, r2) = counts
    both = first.has_reduction and second.has_reduction
    neither = not first.has_reduction and not second.has_reduction
    if both:
        fits = n1 == n2 and r1 == r2
    elif neither:
        fits = n1 == n2
    else:
        (n, r), (points, _) = counts if first.has_reduction else counts[::-1]
        fits = points in (n, n * r)
    if not fits:
        return f"iteration counts {counts[0]} and {counts[1]} are not compatible"
    nodes = (*first.nodes, *second.nodes)
    shortest = min((node.outer_sizes for node in nodes), key=math.prod)
    tree = _try_tree(first, second, shortest, state)
    return tree if isinstance(tree, str) else ("compatible counts", tree)


def _counts(group: Group) -> tuple[int, int]:
    """(n, r) of Definition 7.2."""
    for node in group.nodes:
        if node.is_reduction:
            return math.prod(node.outer_sizes), math.prod(node.inner_sizes)
    return math.prod(group.nodes[0].outer_sizes), 1


def shared_bytes(first: Group, second: Group, buffers: Mapping[str, Buffer]) -> int:
    """Bytes of the dependences both have with identical indices: traffic a fusion saves (§7.3)."""
    common = first.touches & second.touches
    return sum(dep.elements * buffers[dep.buffer].dtype.itemsize for dep in common)


def _score(first: Group, second: Group, saved: int, state: _State) -> Score:
    same_kind = first.has_reduction == second.has_reduction and saved > 0
    buffers = len({dep.buffer for dep in first.touches} & {dep.buffer for dep in second.touches})
    spots = [[state.position[node.name] for node in group.nodes] for group in (first, second)]
    distance = max(abs(min(spots[0]) - max(spots[1])), abs(min(spots[1]) - max(spots[0])))
    return Score(int(same_kind), saved, buffers, -distance)


def _descending(
    candidates: Sequence[tuple[Score, int, int, Decision]], ratio: int
) -> list[tuple[Score, int, int, Decision]]:
    """Candidates from the best down, by repeated selection of the maximum.

    The rule that byte counts far apart decide alone is not transitive, so the procedure is part of
    the definition: scan the remaining candidates in discovery order and keep the current best
    unless the next one is strictly better. Where no two counts are far apart the plain order is
    total and a stable sort gives the same sequence.
    """
    counts = [candidate[0].bytes for candidate in candidates]
    if counts and max(counts) <= ratio * min(counts):
        return sorted(candidates, key=lambda candidate: candidate[0].key, reverse=True)
    remaining = list(candidates)
    ordered = []
    while remaining:
        best = 0
        for k in range(1, len(remaining)):
            if remaining[k][0].better(remaining[best][0], ratio):
                best = k
        ordered.append(remaining.pop(best))
    return ordered


def _makes_cycle(first: Group, second: Group, groups: Sequence[Group], state: _State) -> bool:
    """Proposition 7.1: is there a path from one to the other through a third group?

    Ancestor sets are of the original graph; a fused group adds paths through its members, so the
    search closes the set upwards over fused groups only.
    """
    own = sum(1 << state.position[node.name] for node in (*first.nodes, *second.nodes))
    masks = [
        (
            sum(1 << state.position[node.name] for node in group.nodes),
            _closure(group, state),
        )
        for group in groups
        if len(group.nodes) > 1 and group is not first and group is not second
    ]
    above = (_closure(first, state) | _closure(second, state)) & ~own
    changed = True
    while changed:
        changed = False
        for members, higher in masks:
            if above & members and (above | members | higher) != above:
                above |= members | higher
                changed = True
    third = above & ~own
    while third:
        low = third & -third
        if state.ancestors[low.bit_length() - 1] & own:
            return True
        third ^= low
    return bool(above & own)


def _closure(group: Group, state: _State) -> int:
    bits = 0
    for node in group.nodes:
        bits |= state.ancestors[state.position[node.name]]
    return bits


def _merge(first: Group, second: Group, decision: Decision, state: _State) -> Group:
    """The fused group with the tree its decision carries."""
    assert decision.tree is not None
    records = tuple(_ordered(first, second, state))
    depth = len(decision.tree.outer) if len(decision.tree.segments) > 1 else 0
    reducing = [group for group in (first, second) if group.has_reduction]
    iteration = second.iteration if depth or not reducing else reducing[-1].iteration
    return Group(records, decision.tree, iteration, depth)
