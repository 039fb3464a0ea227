"""lower: compose pointwise functions and decide which values become buffers.

Takes a ``Graph``; gives ``Lowered``: buffers, one ``Node`` per materialised buffer, outputs. A
value is a function of an index until it is materialised (seed §6.3); views are index rewrites,
never copies. Holds the materialisation rules and the cost model per device (seed §6.6, §7.4). Not
here: reductions (``reducing``), external calls (``calling``); which nodes share loops (``fuse``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import calling, reducing
from .assemble import ASSEMBLED
from .compose import (
    VIEWS,
    Builder,
    Expression,
    loading,
    loop_symbols,
    pointwise,
    view,
)
from .composites import HEAVY, MOST_OPERATIONS
from .config import Config
from .errors import Where
from .graph import Eqn, Graph, Value
from .index import Symbol, c_strides
from .lowering import Known
from .node import Access, Body, Buffer, Instr, Node, computed
from .ops import OPS


@dataclass(frozen=True, slots=True)
class Lowered:
    """What ``lower`` hands on: buffers, nodes in program order, and the buffer of each output."""

    buffers: tuple[Buffer, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        heads = [f"{buffer}  {buffer.kind}" for buffer in self.buffers]
        return "\n".join([*heads, *map(str, self.nodes), "outputs " + ", ".join(self.outputs)])


@dataclass(frozen=True, slots=True)
class Cost:
    """What one element of a value costs: operations, loads, and whether a heavy one is in it."""

    operations: int
    reads: int
    heavy: bool
    depth: int = 0


_LOAD = Cost(0, 1, False)

MAX_DEPTH = 64
"""Values composed into one another before one is materialised; bounds the recursion."""


def _is_heavy(eqn: Eqn) -> bool:
    """True for an equation with a function of the library or of ``elementary`` in it."""
    if eqn.op == "power" and "exponent" in dict(eqn.params):
        return False
    return eqn.op in HEAVY or (eqn.op in OPS and OPS[eqn.op].heavy)


def lower(graph: Graph, config: Config) -> Lowered:
    """Graph → nodes.

    Args:
        graph: the traced function.
        config: its device chooses the cost model; ``strict`` the order of sums.

    Returns:
        buffers, nodes in program order and outputs.
    """
    return _Lowering(graph, config).run()


class _Lowering:
    """The state of one lowering: expressions by name, buffers and nodes so far."""

    def __init__(self, graph: Graph, config: Config) -> None:
        self.graph = graph
        self.config = config
        self.values: dict[str, Expression] = {}
        self.buffers: dict[str, Buffer] = {}
        self.nodes: list[Node] = []
        self.users: dict[str, int] = {}
        self.bounds: dict[str, Cost] = {}
        self.widest: dict[str, int] = {}
        self.reductions: Known = {}
        self.calls = calling.sharing(graph)
        self._node_count = 0
        for eqn in graph.eqns:
            passes = reducing.passes(eqn.op)
            for name in {a.name for a in eqn.args if isinstance(a, Value)}:
                self.users[name] = self.users.get(name, 0) + passes
                if eqn.op not in reducing.EQUATIONS and eqn.op != "getitem":
                    size = math.prod(eqn.out.shape)
                    self.widest[name] = max(size, self.widest.get(name, 0))

    def run(self) -> Lowered:
        """Lower every equation in order, then materialise the outputs."""
        for position, entry in enumerate(self.graph.inputs):
            value = entry.value
            name = f"primals_{position + 1}" if self.config.seed else value.name
            kind = "input" if entry.kind == "array" else entry.kind
            strides = c_strides(value.shape) if entry.strides is None else entry.strides
            self.buffers[name] = Buffer(name, value.shape, value.dtype, strides, kind)
            self.values[value.name] = loading(self.buffers[name])
        outputs = {out.name for out in self.graph.outputs}
        for eqn in self.graph.eqns:
            self._equation(eqn)
            users = self.users.get(eqn.out.name, 0) + (eqn.out.name in outputs)
            if self._must_materialise(eqn, users, eqn.out.name in outputs):
                self.materialise(eqn.out.name)
        return self._finish()

    def _finish(self) -> Lowered:
        names: list[str] = []
        for out in self.graph.outputs:
            self.materialise(out.name)
            buffer = self.values[out.name].buffer
            assert buffer is not None
            if buffer in names or self.buffers[buffer].kind != "computed":
                buffer = self._copy(out.name, buffer)
            names.append(buffer)
        return Lowered(tuple(self.buffers.values()), tuple(self.nodes), tuple(names))

    def _copy(self, name: str, buffer: str) -> str:
        """An output that is an input, or the same buffer twice, is written to a fresh buffer."""
        expression = self.values[name]
        self.values[f"{name}.copy"] = Expression(
            expression.shape, expression.dtype, expression.emit, None, expression.where
        )
        self.materialise(f"{name}.copy", f"{buffer}_copy")
        copied = self.values[f"{name}.copy"].buffer
        assert copied is not None
        return copied

    # materialisation (seed §6.6) ------------------------------------------------------------------
    def _must_materialise(self, eqn: Eqn, users: int, is_output: bool) -> bool:
        name = eqn.out.name
        bound = self.bounds[name] = self._bound(eqn)
        if self.values[name].buffer is not None or users == 0:
            return False
        if bound.depth > MAX_DEPTH:
            return True
        if eqn.op in VIEWS:
            return False
        if not self._too_dear(bound, name, users, is_output):
            return False
        exact = self.cost(self.values[name])
        self.bounds[name] = replace(exact, depth=bound.depth)
        return self._too_dear(exact, name, users, is_output)

    def _too_dear(self, cost: Cost, name: str, users: int, is_output: bool) -> bool:
        """The rules, on a cost or on an upper bound of it."""
        gpu = self.config.device == "gpu"
        if cost.operations > self.config.max_ops:
            return True
        if cost.reads > (8 if gpu else self.config.max_reads):
            return True
        spread = self.widest.get(name, 0) > math.prod(self.values[name].shape)
        if cost.heavy and not gpu and (users > 1 or spread):
            return True
        if users < 2:
            return False
        if is_output and cost.reads > 0:
            return True
        most = 30 if gpu else self.config.max_ops_reused
        return cost.operations > most or cost.reads > self.config.max_reads_reused

    def _bound(self, eqn: Eqn) -> Cost:
        """An upper bound of a value's cost from those of its operands, without emitting it."""
        if self.values[eqn.out.name].buffer is not None:
            return _LOAD
        parts = [self.bounds.get(a.name, _LOAD) for a in eqn.args if isinstance(a, Value)]
        depth = 1 + max((part.depth for part in parts), default=0)
        if eqn.op in reducing.EQUATIONS or eqn.op == "extern":
            return replace(self.cost(self.values[eqn.out.name]), depth=depth)
        own = 0 if eqn.op in VIEWS else MOST_OPERATIONS.get(eqn.op, 1)
        operations = own + sum(part.operations for part in parts)
        heavy = any(part.heavy for part in parts) or _is_heavy(eqn)
        return Cost(operations, sum(part.reads for part in parts), heavy, depth)

    def cost(self, expression: Expression) -> Cost:
        """Operations and loads of one element (equal instructions counted once)."""
        builder = Builder(self.values)
        expression.emit(builder, loop_symbols("i", expression.shape)[1])
        operations = [instr.op for instr in builder.instrs if instr.op in OPS]
        reads = sum(instr.op == "load" for instr in builder.instrs)
        return Cost(len(operations), reads, any(OPS[op].heavy for op in operations))

    def materialise(self, name: str, wanted: str = "") -> None:
        """Give a value a buffer and a pointwise node that writes it; nothing if it has one."""
        expression = self.values[name]
        if expression.buffer is not None:
            return
        buffer = self.new_buffer(wanted or name, expression.shape, expression.dtype)
        symbols, index = loop_symbols("i", expression.shape)
        builder = Builder(self.values)
        result = expression.emit(builder, index)
        store = Instr("store", (result,), expression.dtype, Access(buffer.name, index))
        builder.emit(store)
        self.add_node(
            buffer, "pointwise", symbols, [], Body(tuple(builder.instrs)), expression.where
        )
        self.values[name] = loading(buffer)
        self.bounds[name] = _LOAD

    def new_buffer(self, wanted: str, shape: Sequence[int], dtype: np.dtype) -> Buffer:
        """A computed buffer with this name, or the next free one like it."""
        if self.config.seed:
            wanted = f"buf{len(self.graph.inputs) + self._node_count}"
        wanted = wanted.replace(".", "_")
        name, count = wanted, 1
        while name in self.buffers:
            name = f"{wanted}_{count}"
            count += 1
        self.buffers[name] = computed(name, shape, dtype)
        return self.buffers[name]

    def add_node(
        self,
        buffer: Buffer,
        kind: str,
        outer: Sequence[Symbol],
        inner: Sequence[Symbol],
        body: Body,
        where: Where | None,
        **extra: object,
    ) -> None:
        """Append a node, unless its buffer has no elements."""
        name = f"op{self._node_count}" if self.config.seed else buffer.name
        self._node_count += 1
        if buffer.size == 0:
            return
        node = Node(
            name,
            kind,
            buffer.name,
            tuple(outer),
            tuple(inner),
            body,
            where=where,
            **extra,  # type: ignore[arg-type]  # keywords of Node
        )
        self.nodes.append(node)

    # equations ------------------------------------------------------------------------------------
    def _equation(self, eqn: Eqn) -> None:
        if eqn.out.name in self.values:  # an external call has stored it already
            return
        if eqn.op in VIEWS:
            self.values[eqn.out.name] = view(eqn)
        elif eqn.op in ASSEMBLED:
            self.values[eqn.out.name] = ASSEMBLED[eqn.op](eqn)
        elif eqn.op in reducing.EQUATIONS:
            reducing.reduction(self, eqn)
        elif eqn.op == "extern":
            calling.external(self, eqn)
        else:
            self.values[eqn.out.name] = pointwise(eqn)
