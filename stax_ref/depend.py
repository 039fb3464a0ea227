"""depend: what each node reads and writes, in a normal form that compares (seed §7.1).

Takes the nodes of ``lower``; gives one ``Record`` per node: memory, whole and weak dependences and
the iteration grouping. A recording handler runs each body; that is the whole analysis. Holds the
normal form (per dependence: adjacent axes merged, unused trailing variables dropped, variables
renamed) and the merging of a node's own loops. Not here: what may be fused (``looptree``,
``fuse``).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .graph import Literal
from .index import Index, Symbol, flatten, variable
from .lower import Lowered
from .node import Access, Body, Buffer, Node, run


@dataclass(frozen=True, slots=True)
class MemoryDep:
    """A buffer accessed at a known index: the index in ``c0, c1, ...`` and their ranges.

    Two dependences on the same buffer touch the same elements in the same order when they are
    equal.
    """

    buffer: str
    index: Index
    sizes: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Elements touched: the ranges of the variables that occur (a broadcast reads once)."""
        return math.prod(symbol.extent for symbol in self.index.symbols())

    def __str__(self) -> str:
        ranges = ", ".join(f"c{k}: {size}" for k, size in enumerate(self.sizes))
        return f"MemoryDep({self.buffer!r}, {self.index}, {{{ranges}}})"


@dataclass(frozen=True, slots=True)
class WholeDep:
    """A buffer accessed as a whole: by an external call, or at runtime positions."""

    buffer: str
    elements: int

    def __str__(self) -> str:
        return f"WholeDep({self.buffer!r})"


@dataclass(frozen=True, slots=True)
class WeakDep:
    """Order only: the readers of ``buffer`` run before the node that overwrites its storage."""

    buffer: str
    reader: str

    def __str__(self) -> str:
        return f"WeakDep({self.buffer!r} read by {self.reader})"


DataDep = MemoryDep | WholeDep


@dataclass(frozen=True, slots=True)
class Record:
    """A node with its dependences.

    Args:
        node: the node.
        writes: what it writes.
        reads: what it reads; several reads of one buffer are several entries.
        weak: order-only dependences.
        iteration: (pointwise ranges, reduction ranges), Definition 7.2.
        accesses: every access of the body, reads then writes, for loop legality.
    """

    node: Node
    writes: tuple[DataDep, ...]
    reads: tuple[DataDep, ...]
    weak: tuple[WeakDep, ...]
    iteration: tuple[tuple[int, ...], tuple[int, ...]]
    accesses: tuple[Access, ...]

    def text(self, produced: frozenset[str]) -> str:
        """The seed's listing of one node; ``produced`` are the buffers that nodes write."""
        name = self.node.name
        kind = "ExternKernelSchedulerNode" if self.node.is_extern else "SchedulerNode"
        what = "ExternKernel" if self.node.is_extern else "ComputedBuffer"
        unmet = [*(dep for dep in self.reads if dep.buffer in produced), *self.weak]
        met = [dep for dep in self.reads if dep.buffer not in produced]
        lines = [f"{name}: {kind}({what})", f"{name}.writes = [{_join(self.writes)}]"]
        if unmet:
            lines.append(f"{name}.unmet_dependencies = [{_join(unmet)}]")
        if met:
            lines.append(f"{name}.met_dependencies = [{_join(met)}]")
        if not self.node.is_extern:
            lines.append(f"{name}.group.iteration = {self.iteration}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Edges:
    """The dependence graph: records in program order, buffers, and who writes what."""

    records: tuple[Record, ...]
    buffers: tuple[Buffer, ...]
    outputs: tuple[str, ...]

    @property
    def named(self) -> dict[str, Buffer]:
        """Every buffer by name."""
        return {buffer.name: buffer for buffer in self.buffers}

    @property
    def writer(self) -> dict[str, str]:
        """Buffer name to the name of the node that writes it."""
        return {name: record.node.name for record in self.records for name in record.node.buffers}

    def predecessors(self) -> dict[str, tuple[str, ...]]:
        """Per node the nodes that must run before it, weak dependences included."""
        writer = self.writer
        found: dict[str, tuple[str, ...]] = {}
        for record in self.records:
            names = [writer[dep.buffer] for dep in record.reads if dep.buffer in writer]
            names += [dep.reader for dep in record.weak]
            found[record.node.name] = tuple(
                dict.fromkeys(n for n in names if n != record.node.name)
            )
        return found

    @property
    def fallbacks(self) -> int:
        """Dependences of loops that no index expression holds: reads at runtime positions.

        Every view has a canonical index, so there is no other kind. Such a read stands as a
        ``WholeDep``, which equals no ``MemoryDep``.
        """
        loops = [record for record in self.records if not record.node.is_extern]
        return sum(isinstance(dep, WholeDep) for record in loops for dep in record.reads)

    def __str__(self) -> str:
        produced = frozenset(self.writer)
        parts = [record.text(produced) for record in self.records]
        if self.fallbacks:
            parts.append(f"fall-back indices: {self.fallbacks} at runtime positions")
        return "\n\n".join(parts)


def depend(lowered: Lowered, merge_loops: bool) -> Edges:
    """Nodes → dependences.

    Args:
        lowered: buffers, nodes and outputs.
        merge_loops: merge a node's own loops where every access allows it (the CPU reading of
            Example 7.2 in the seed).

    Returns:
        one record per node that an output needs, in program order.
    """
    buffers = {buffer.name: buffer for buffer in lowered.buffers}
    renamed: dict[str, str] = {}
    readers: dict[str, list[str]] = {}
    records: list[Record] = []
    for node in lowered.nodes:
        record = _record(node, buffers, renamed, readers, merge_loops)
        for dep in record.reads:
            readers.setdefault(dep.buffer, []).append(node.name)
        if node.mutates is not None:
            renamed[node.mutates] = node.buffer
        records.append(record)
    return Edges(_live(records, lowered.outputs), lowered.buffers, lowered.outputs)


def _record(
    node: Node,
    buffers: dict[str, Buffer],
    renamed: dict[str, str],
    readers: dict[str, list[str]],
    merge_loops: bool,
) -> Record:
    if node.is_extern:
        reads: list[DataDep] = [
            WholeDep(_current(view.buffer, renamed), buffers[view.buffer].size)
            for view in node.operands
        ]
        writes: list[DataDep] = [WholeDep(name, buffers[name].size) for name in node.buffers]
        weak = _weak(node, renamed, readers)
        return Record(node, tuple(writes), tuple(dict.fromkeys(reads)), weak, ((), ()), ())
    recorder = _Recorder()
    run(node.body, recorder)
    symbols = (*node.outer, *node.inner)
    reads = [
        normal_form(access, buffers, symbols, _current(access.buffer, renamed))
        for access in recorder.reads
    ]
    writes = [normal_form(access, buffers, symbols, access.buffer) for access in recorder.writes]
    weak = _weak(node, renamed, readers)
    accesses = (*recorder.reads, *recorder.writes)
    iteration = (node.outer_sizes, node.inner_sizes)
    if merge_loops:
        flat = [access.flat(buffers[access.buffer]) for access in accesses] + recorder.indices
        iteration = (merged_sizes(node.outer, flat), merged_sizes(node.inner, flat))
    return Record(node, tuple(writes), tuple(dict.fromkeys(reads)), weak, iteration, accesses)


def _weak(
    node: Node, renamed: dict[str, str], readers: dict[str, list[str]]
) -> tuple[WeakDep, ...]:
    """Every earlier reader of the contents that a node overwrites.

    A buffer stands for its storage under its newest name, so a reader of contents that an earlier
    overwriting made is found too.
    """
    if node.mutates is None:
        return ()
    old = _current(node.mutates, renamed)
    return tuple(WeakDep(old, reader) for reader in dict.fromkeys(readers.get(old, [])))


def _current(name: str, renamed: dict[str, str]) -> str:
    """The newest name of a buffer: renaming as in the construction of SSA (§7.1)."""
    while name in renamed:
        name = renamed[name]
    return name


class _Recorder:
    """The handler that records reads and writes (§7.1, §6.7)."""

    def __init__(self) -> None:
        self.reads: list[Access] = []
        self.writes: list[Access] = []
        self.indices: list[Index] = []

    def load(self, access: Access, dtype: np.dtype, guard: None = None) -> None:
        self.reads.append(access)

    def index(self, index: Index, dtype: np.dtype) -> None:
        self.indices.append(index)

    def position(self, symbol: Symbol, value: None, guard: None = None) -> None:
        return None

    def store(self, access: Access, value: Any) -> None:
        self.writes.append(access)

    def constant(self, value: Literal) -> None:
        return None

    def apply(self, op: str, args: tuple[Any, ...], dtype: np.dtype) -> None:
        return None

    def reduce(self, kind: str, value: Any, dtype: np.dtype) -> None:
        return None


def accesses_of(body: Body) -> tuple[list[Access], list[Access]]:
    """Reads and writes of a body, by running it under the recording handler."""
    recorder = _Recorder()
    run(body, recorder)
    return recorder.reads, recorder.writes


def indices_of(body: Body) -> list[Index]:
    """Index expressions whose values a body uses, which are not addresses."""
    recorder = _Recorder()
    run(body, recorder)
    return recorder.indices


def normal_form(
    access: Access, buffers: dict[str, Buffer], symbols: Sequence[Symbol], name: str
) -> DataDep:
    """The dependence of one access: merged axes, no unused trailing variables, ``c0, c1, ...``.

    An access at a runtime position may touch any element: it depends on the whole buffer.
    """
    if access.runtime_symbols(symbols):
        return WholeDep(name, buffers[access.buffer].size)
    index, sizes = _normalised(access.index, buffers[access.buffer].strides, tuple(symbols))
    return MemoryDep(name, index, sizes)


@functools.lru_cache(maxsize=8192)
def _normalised(
    indices: tuple[Index, ...], strides: tuple[int, ...], symbols: tuple[Symbol, ...]
) -> tuple[Index, tuple[int, ...]]:
    """The address in ``c0, c1, ...`` and their ranges; many nodes share their accesses."""
    merged, (index,) = merge_axes(symbols, [flatten(indices, strides)])
    kept = list(merged)
    while kept and kept[-1] not in index.symbols():
        kept.pop()
    renamed = {old: variable(Symbol(f"c{k}", old.extent)) for k, old in enumerate(kept)}
    return index.subs(renamed), tuple(symbol.extent for symbol in kept)


def merge_axes(
    symbols: Sequence[Symbol], indices: Sequence[Index]
) -> tuple[tuple[Symbol, ...], list[Index]]:
    """Merge adjacent loops, inside out, where every index stays affine in the merged variable.

    Args:
        symbols: loops, outermost first.
        indices: linear addresses over them.

    Returns:
        the merged loops and the addresses over them. Adjacent loops only, so the order in which
        elements are touched is kept.
    """
    loops = list(symbols)
    addresses = list(indices)
    position = len(loops) - 2
    while position >= 0:
        outer, inner = loops[position], loops[position + 1]
        joined = Symbol(f"{outer.name}{inner.name}", outer.extent * inner.extent)
        linear = variable(joined)
        digits = {outer: linear // inner.extent, inner: linear % inner.extent}
        attempt = [address.subs(digits) for address in addresses]
        if all(address.coefficient(joined) is not None for address in attempt):
            loops[position : position + 2] = [joined]
            addresses = attempt
        position -= 1
    return tuple(loops), addresses


def merged_sizes(symbols: Sequence[Symbol], addresses: Sequence[Index]) -> tuple[int, ...]:
    """The extents of a group of loops after merging what every address allows."""
    return tuple(symbol.extent for symbol in merge_axes(symbols, addresses)[0])


def _live(records: Sequence[Record], outputs: Sequence[str]) -> tuple[Record, ...]:
    """Nodes whose result an output needs, or that overwrite storage (§7.6 step 2)."""
    needed = set(outputs)
    kept: list[Record] = []
    for record in reversed(records):
        if needed & set(record.node.buffers) or record.node.mutates is not None:
            kept.append(record)
            needed |= {dep.buffer for dep in record.reads}
    names = {record.node.name for record in kept}
    return tuple(
        record
        if all(dep.reader in names for dep in record.weak)
        else Record(
            record.node,
            record.writes,
            record.reads,
            tuple(dep for dep in record.weak if dep.reader in names),
            record.iteration,
            record.accesses,
        )
        for record in reversed(kept)
    )


def _join(deps: Iterable[object]) -> str:
    return ", ".join(map(str, deps))
