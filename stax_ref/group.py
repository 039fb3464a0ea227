"""group: nodes that share one kernel, and what was decided about every pair (seed §7.2).

Holds the records that ``fuse`` hands on: ``Group``, ``Decision``, ``Groups``. Not here: how the
partition is found (``greedy``), what may be fused (``legality``).
"""

from __future__ import annotations

from dataclasses import dataclass

from .depend import DataDep, Edges, Record
from .looptree import LoopTree
from .node import Node


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that share one kernel (or one external call).

    Args:
        records: members in dependence order.
        tree: their loops; None for an external call.
        iteration: (pointwise ranges, reduction ranges) that stand for the group.
        depth: outer loops shared by an outer-loop fusion, 0 for an ordinary one.
        rows: of a tile, where the first member is a product that is made tile by tile and the
            others are its epilogue; 0 for an ordinary group.
    """

    records: tuple[Record, ...]
    tree: LoopTree | None
    iteration: tuple[tuple[int, ...], tuple[int, ...]]
    depth: int = 0
    rows: int = 0

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
        """True for an external call and nothing else."""
        return self.records[0].node.is_extern and not self.rows

    @property
    def epilogue(self) -> Group:
        """The members with loops: all of them, but for the product of a template."""
        if not self.rows:
            return self
        return Group(self.records[1:], self.tree, self.iteration, self.depth)

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
        if self.rows:
            return f"{self.name}: TemplateSchedulerNode, {self.rows} rows a tile"
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
