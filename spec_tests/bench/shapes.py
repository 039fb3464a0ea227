"""shapes: programs of any number of nodes, made directly, to see how the scheduler's time grows.

takes: a shape's name and a number of nodes
gives: what ``lower`` would hand on, so that nothing is traced or inlined away
holds: chain, one input read by all, ladder of row reductions, random graph
not here: the stages, the clock (``curve``)
"""

import random
from collections.abc import Sequence

import numpy as np

from stax_ref.graph import Graph, Input, Value
from stax_ref.index import Symbol, variable
from stax_ref.lower import Lowered
from stax_ref.node import Access, Body, Buffer, Instr, Node, computed
from stax_ref.ops import Order
from stax_ref.tree import LEAF, Branch

F32 = np.dtype(np.float32)
ROWS, COLUMNS = 64, 128
KINDS = ("chain", "one input", "ladder", "random")


class Shape:
    """A program under construction: one float32 input ``x`` and nodes of 64 × 128 elements."""

    def __init__(self) -> None:
        self.buffers = [Buffer("x", (ROWS, COLUMNS), F32, (COLUMNS, 1), "input")]
        self.nodes: list[Node] = []

    def pointwise(self, *reads: str) -> str:
        """A node that adds up what it reads; row values are repeated along the row."""
        symbols = (Symbol("i0", ROWS), Symbol("i1", COLUMNS))
        return self._node("pointwise", (ROWS, COLUMNS), symbols, (), reads)

    def row_sum(self, *reads: str) -> str:
        """A node that sums each row of the sum of what it reads."""
        return self._node(
            "reduction", (ROWS,), (Symbol("i0", ROWS),), (Symbol("r0", COLUMNS),), reads
        )

    def _node(
        self,
        kind: str,
        shape: tuple[int, ...],
        outer: tuple[Symbol, ...],
        inner: tuple[Symbol, ...],
        reads: Sequence[str],
    ) -> str:
        name = f"t{len(self.nodes)}"
        known = {buffer.name: buffer for buffer in self.buffers}
        indices = tuple(map(variable, (*outer, *inner)))
        instrs = [
            Instr("load", (), F32, Access(read, indices[: len(known[read].shape)]))
            for read in reads
        ]
        for k in range(1, len(reads)):
            left = 0 if k == 1 else len(instrs) - 1
            instrs.append(Instr("add", (left, k), F32))
        order = None
        if inner:
            instrs.append(Instr("reduce", (len(instrs) - 1,), F32, kind="sum"))
            order = Order("lanes", 32, 4096)
        place = Access(name, indices[: len(outer)])
        instrs.append(Instr("store", (len(instrs) - 1,), F32, place))
        self.buffers.append(computed(name, shape, F32))
        self.nodes.append(Node(name, kind, name, outer, inner, Body(tuple(instrs)), order))
        return name

    def finished(self) -> Lowered:
        """The program; what nobody reads is an output."""
        read = {
            instr.access.buffer
            for node in self.nodes
            for instr in node.body.instrs
            if instr.op == "load" and instr.access is not None
        }
        outputs = tuple(node.buffer for node in self.nodes if node.buffer not in read)
        return Lowered(tuple(self.buffers), tuple(self.nodes), outputs)


def shape(kind: str, count: int) -> Lowered:
    """A program of ``count`` nodes.

    Args:
        kind: of :data:`KINDS`: ``chain`` (each node reads the one before), ``one input`` (all read
            the same input), ``ladder`` (row sums and pointwise nodes in turn, each of which reads
            the two before), ``random`` (one to three of the last 20; one in four sums rows).
        count: number of nodes.
    """
    made = Shape()
    if kind == "chain":
        last = "x"
        for _ in range(count):
            last = made.pointwise(last)
    elif kind == "one input":
        for _ in range(count):
            made.pointwise("x")
    elif kind == "ladder":
        last = rows = "x"
        for k in range(count):
            if k % 2 == 0:
                rows = made.row_sum(last)
            else:
                last = made.pointwise(last, rows)
    else:
        rng = random.Random(f"random graph of {count}")
        full, rows_of = ["x"], []
        for _ in range(count):
            reads = rng.sample(full[-20:], min(len(full), rng.randint(1, 3)))
            if rng.random() < 0.25:
                rows_of.append(made.row_sum(*reads))
            else:
                full.append(made.pointwise(*reads, *rng.sample(rows_of[-3:], min(len(rows_of), 1))))
    return made.finished()


def graph_of(lowered: Lowered) -> Graph:
    """The graph that the plan of such a program belongs to: its inputs and outputs."""
    known = {buffer.name: buffer for buffer in lowered.buffers}
    inputs = tuple(
        Input(Value(buffer.name, buffer.shape, buffer.dtype), "array")
        for buffer in lowered.buffers
        if buffer.kind == "input"
    )
    outputs = tuple(Value(n, known[n].shape, known[n].dtype) for n in lowered.outputs)
    return Graph("shape", inputs, (), outputs, Branch(tuple, None, (LEAF,) * len(outputs)))
