"""nest: fill the loop tree of a group with statements.

Takes an ordered group with its tree and the slots of its buffers; gives a ``Nest``. Holds scoping:
a value is computed in the outermost loop that knows its operands, once; a value just stored is used
from its register; a buffer without readers outside is not stored. The structure itself was decided
in ``fuse`` and is never changed here. Not here: the records (``nest``), how loops are run
(``tiling``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .depend import accesses_of, indices_of, merge_axes
from .dtypes import I64
from .errors import InvariantError
from .graph import Literal, literal
from .group import Group
from .index import Index, Symbol, digits, flatten, variable
from .looptree import LoopTree, Segment, linear, place
from .memory import Slot
from .nest import (
    Accumulate,
    Accumulator,
    Argument,
    Let,
    Local,
    Loop,
    Nest,
    Statement,
    Store,
    walk,
)
from .node import Access, Buffer, Node, run


def nest(
    group: Group,
    name: str,
    buffers: Mapping[str, Buffer],
    slots: Mapping[str, Slot],
    keep_stores: bool,
) -> Nest:
    """A group and its loop tree → one kernel.

    Args:
        group: an ordered group that is not an external call.
        name: the kernel's name.
        buffers: every buffer by name.
        slots: storage of every computed buffer by name.
        keep_stores: the seed's form: intermediates are read back from their buffers.

    Raises:
        InvariantError: the tree cannot be filled, which ``fuse`` promised it can.
    """
    if group.tree is None:
        raise InvariantError(f"{group.name} is an external call and has no loops")
    filled = _Filling(group, group.tree, buffers, slots, keep_stores)
    body = filled.run()
    touched = {
        statement.access.buffer
        for statement in walk(body)
        if isinstance(statement, (Let, Store)) and statement.access is not None
    }
    rows = {statement.buffer.name for statement in walk(body) if isinstance(statement, Local)}
    used = [buffer for key, buffer in buffers.items() if key in touched - rows]
    nodes = tuple(node.name for node in group.nodes)
    places = tuple(node.where for node in group.nodes if node.where is not None)
    written = (slots[name] for node in group.nodes for name in node.buffers)
    taken = tuple((slot.buffer, slot.takes) for slot in written if slot.how == "in place")
    result = Nest(name, nodes, tuple(used), body, places, taken)
    result.check()
    return result


@dataclass(slots=True)
class _Scope:
    """One loop level under construction: its statements and the values known in it."""

    statements: list[Statement] = field(default_factory=list)
    values: dict[tuple[object, ...], str] = field(default_factory=dict)
    stored: dict[tuple[str, Index], Argument] = field(default_factory=dict)


class _Filling:
    """Fills one tree. ``scopes[k]`` is the body inside the first k of ``loops``."""

    def __init__(
        self,
        group: Group,
        tree: LoopTree,
        buffers: Mapping[str, Buffer],
        slots: Mapping[str, Slot],
        keep_stores: bool,
    ) -> None:
        self.group = group
        self.tree = tree
        self.buffers = buffers
        self.slots = slots
        self.keep_stores = keep_stores
        self.nodes = {node.name: node for node in group.nodes}
        self._addresses_known: dict[tuple[tuple[Index, ...], tuple[int, ...]], Index] = {}
        self._footprints: dict[str, tuple[list[Access], list[Access], list[Index]]] = {}
        self.shared = tuple(Symbol(f"o{k}", extent) for k, extent in enumerate(tree.outer))
        everything = [a for segment in tree.segments for a in self._addresses(segment, {})]
        everything = list(dict.fromkeys(everything))
        outer, self.renamed = _merged(self.shared, everything, "i")
        self.outer_number = linear(self.shared).subs(self.renamed)
        self.loops: list[tuple[Symbol, str]] = [(symbol, "parallel") for symbol in outer]
        self.shared_depth = len(outer)
        self.scopes = [_Scope() for _ in range(len(outer) + 1)]
        self.level: dict[str, int] = {}
        self._count = 0

    def run(self) -> tuple[Statement, ...]:
        """Every segment in order, inside the shared loops."""
        for segment in self.tree.segments:
            self._segment(segment)
        rows = [
            Local(self._row(self.buffers[node.buffer]))
            for node in self.group.nodes
            if self.kind(node.buffer) == "row"
        ]
        body: list[Statement] = [*rows, *self.scopes[-1].statements]
        for depth in range(len(self.loops), 0, -1):
            symbol, kind = self.loops[depth - 1]
            body = [*self.scopes[depth - 1].statements, Loop(symbol, kind, tuple(body))]
        return tuple(body)

    def kind(self, buffer: str) -> str:
        """Storage kind of a buffer: of its slot, or ``input``."""
        return self.slots[buffer].kind if buffer in self.slots else "input"

    def _row(self, buffer: Buffer) -> Buffer:
        extent = buffer.size // math.prod(self.tree.outer)
        return replace(buffer, shape=(extent,), strides=(1,))

    def _addresses(self, segment: Segment, renamed: Mapping[Symbol, Index]) -> list[Index]:
        """Every address of a segment over the tree's loops, each once."""
        addresses: dict[Index, None] = {}
        for name in segment.nodes:
            loops = place(self.nodes[name], self.shared, segment)
            reads, writes, indices = self._footprint(name)
            for access in (*reads, *writes):
                addresses[loops.address(access, self.buffers[access.buffer])] = None
            addresses |= dict.fromkeys(entry.subs(loops.replacement) for entry in indices)
        if not renamed:
            return list(addresses)
        return list(dict.fromkeys(entry.subs(renamed) for entry in addresses))

    def _footprint(self, name: str) -> tuple[list[Access], list[Access], list[Index]]:
        """Reads, writes and index values of a node."""
        if name not in self._footprints:
            body = self.nodes[name].body
            self._footprints[name] = (*accesses_of(body), indices_of(body))
        return self._footprints[name]

    def _segment(self, segment: Segment) -> None:
        """Open the segment's own loops, run its nodes, close the loops."""
        own = tuple(Symbol(f"j{k}", extent) for k, extent in enumerate(segment.parallel))
        inner, renamed = _merged(own, self._addresses(segment, self.renamed), "j")
        replacement = {**self.renamed, **renamed}
        opened: list[tuple[Symbol, str]] = [(symbol, "parallel") for symbol in inner]
        if segment.reduced is not None:
            opened.append((Symbol("r", segment.reduced), "reduced"))
        self.loops += opened
        self.scopes += [_Scope() for _ in opened]
        finished: list[tuple[Accumulator, Access]] = []
        moved: dict[int, _Moved] = {}
        for name in segment.nodes:
            node = self.nodes[name]
            loops = place(node, self.shared, segment)
            if id(loops) not in moved:  # nodes with the same loops share one object
                where = loops.replacement.items()
                moved[id(loops)] = _Moved({old: new.subs(replacement) for old, new in where})
            run(node.body, _Emitter(self, node, moved[id(loops)], finished))
        for _ in opened:
            self._close(finished)
        if self.keep_stores:
            self.scopes[-1].stored.clear()

    def _close(self, finished: Sequence[tuple[Accumulator, Access]]) -> None:
        """Wrap the innermost scope into its loop; store what a reduced loop finished."""
        symbol, kind = self.loops.pop()
        scope = self.scopes.pop()
        own = tuple(a for a, _ in finished) if kind == "reduced" else ()
        self.scopes[-1].statements.append(Loop(symbol, kind, tuple(scope.statements), own))
        if kind == "reduced":
            for accumulator, access in finished:
                self.level[accumulator.name] = len(self.scopes) - 1
                self.store(access, accumulator.name)

    # statements -----------------------------------------------------------------------------------
    def fresh(self, prefix: str = "t") -> str:
        """A new value name."""
        self._count += 1
        return f"{prefix}{self._count - 1}"

    def let(
        self,
        op: str,
        dtype: np.dtype,
        args: tuple[Argument, ...],
        access: Access | None = None,
        index: Index | None = None,
        extent: int | None = None,
    ) -> str:
        """Compute a value in the outermost scope that can, once."""
        depth = self._depth(args, access, index)
        key = (op, dtype, args, access, index, extent)
        for scope in self.scopes[: depth + 1]:
            if key in scope.values:
                return scope.values[key]
        name = self.fresh("t" if extent is None else "p")
        symbol = None if extent is None else Symbol(name, extent)
        self.level[name] = depth
        self.scopes[depth].values[key] = name
        self.scopes[depth].statements.append(Let(name, dtype, op, args, access, index, symbol))
        return name

    def _depth(self, args: tuple[Argument, ...], access: Access | None, index: Index | None) -> int:
        """Loops around the outermost scope that knows all operands and loop variables."""
        indices = (*(access.index if access is not None else ()), *((index,) if index else ()))
        names = {symbol.name for entry in indices for symbol in entry.symbols()}
        depth = max((self.level[a] for a in args if isinstance(a, str)), default=0)
        if access is not None and self.kind(access.buffer) == "row":
            depth = max(depth, self.shared_depth)  # each outer iteration has a row of its own
        for k, (symbol, _) in enumerate(self.loops):
            if symbol.name in names:
                depth = max(depth, k + 1)
        return max([depth, *(self.level[name] for name in names if name in self.level)])

    def load(self, access: Access, dtype: np.dtype, guard: tuple[Argument, ...]) -> Argument:
        """The element, from the register that was stored to it if one is in scope."""
        key = (access.buffer, self._flat(access))
        for scope in reversed(self.scopes):
            if key in scope.stored:
                return scope.stored[key]
        if self.kind(access.buffer) == "register":
            raise InvariantError(f"{access} is read outside the loops that compute it")
        return self.let("load", dtype, guard, self._stored_at(access))

    def store(self, access: Access, value: Argument) -> None:
        """Write to the buffer in the innermost scope, unless nobody reads it from memory."""
        scope = self.scopes[-1]
        scope.stored[(access.buffer, self._flat(access))] = value
        if self.kind(access.buffer) != "register":
            scope.statements.append(Store(self._stored_at(access), value))

    def _stored_at(self, access: Access) -> Access:
        """The access as it is made: inside the row for a row buffer."""
        if self.kind(access.buffer) != "row":
            return access
        buffer = self.buffers[access.buffer]
        block = buffer.size // math.prod(self.tree.outer)
        return Access(access.buffer, (self._flat(access) - self.outer_number * block,))

    def _flat(self, access: Access) -> Index:
        """The linear address of an access in its buffer."""
        key = (access.index, self.buffers[access.buffer].strides)
        found = self._addresses_known.get(key)
        if found is None:
            found = self._addresses_known[key] = flatten(*key)
        return found


@dataclass(slots=True)
class _Moved:
    """What the loop symbols of a node become in the nest, and indices already rewritten."""

    symbols: dict[Symbol, Index]
    known: dict[tuple[Index, ...], tuple[Index, ...]] = field(default_factory=dict)

    def access(self, access: Access) -> Access:
        """An access over the loops of the nest."""
        found = self.known.get(access.index)
        if found is None:
            found = self.known[access.index] = access.subs(self.symbols).index
        return Access(access.buffer, found)


class _Emitter:
    """The handler that turns one node's body into statements."""

    def __init__(
        self,
        filling: _Filling,
        node: Node,
        moved: _Moved,
        finished: list[tuple[Accumulator, Access]],
    ) -> None:
        self.filling = filling
        self.node = node
        self.moved = moved
        self.finished = finished
        self.pending: Accumulator | None = None

    def load(self, access: Access, dtype: np.dtype, guard: Argument | None = None) -> Argument:
        under = () if guard is None else (guard,)
        return self.filling.load(self.moved.access(access), dtype, under)

    def index(self, index: Index, dtype: np.dtype) -> Argument:
        moved = index.subs(self.moved.symbols)
        if not moved.terms:
            return literal(moved.constant, dtype)
        return self.filling.let("index", dtype, (), index=moved)

    def position(self, symbol: Symbol, value: Argument, guard: Argument | None = None) -> None:
        args = (value,) if guard is None else (value, guard)
        name = self.filling.let("position", I64, args, extent=symbol.extent)
        here = {symbol: variable(Symbol(name, symbol.extent))}
        self.moved = _Moved({**self.moved.symbols, **here})

    def store(self, access: Access, value: Argument) -> None:
        moved = self.moved.access(access)
        if self.pending is None:
            self.filling.store(moved, value)
        else:
            self.finished.append((self.pending, moved))

    def constant(self, value: Literal) -> Argument:
        return value

    def apply(self, op: str, args: tuple[Argument, ...], dtype: np.dtype) -> Argument:
        return self.filling.let(op, dtype, args)

    def reduce(self, kind: str, value: Argument, dtype: np.dtype) -> Argument:
        assert self.node.order is not None
        name = self.filling.fresh("a")
        self.pending = Accumulator(name, kind, dtype, self.node.order)
        self.filling.scopes[-1].statements.append(Accumulate(name, value))
        return name


def _merged(
    loops: Sequence[Symbol], addresses: Sequence[Index], prefix: str
) -> tuple[tuple[Symbol, ...], dict[Symbol, Index]]:
    """Merge a chain of loops where every address stays affine; new names, old ones as digits."""
    merged, _ = merge_axes(loops, addresses)
    final = tuple(Symbol(f"{prefix}{k}", symbol.extent) for k, symbol in enumerate(merged))
    replacement: dict[Symbol, Index] = {}
    position = 0
    for new in final:
        chain: list[Symbol] = []
        while not chain or math.prod(symbol.extent for symbol in chain) < new.extent:
            chain.append(loops[position])
            position += 1
        parts = digits(variable(new), [symbol.extent for symbol in chain])
        replacement.update(zip(chain, parts, strict=True))
    return final, replacement
