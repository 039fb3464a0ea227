"""``Nest``: one kernel as a tree of loops and statements; what interpreters and backends read.

Gives the records and their text. Holds multi-dimensional buffers with layouts (strides), loops with
accumulators, lets, stores, conditionals, ``Assume`` and ``undef``: the level on which backends
print and on which layout transformations work. A schedule (threads, lanes, unrolling) never stands
here. Not here: how a group becomes a nest (``nesting``), tiling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .dtypes import short
from .errors import InvariantError, Where
from .graph import Literal
from .index import Index, Symbol, c_strides, flatten
from .node import Access, Buffer
from .ops import Order

Name = str
Argument = Name | Literal


@dataclass(frozen=True, slots=True)
class Let:
    """``name = op(args)``; ``op`` is of ``ops.OPS``, or one of ``node.Instr``'s, or ``undef``.

    ``load`` has an ``access`` and perhaps a guard, ``index`` an ``index``, ``position`` a
    ``symbol`` of its own name and perhaps a guard after the value.
    """

    name: Name
    dtype: np.dtype
    op: str
    args: tuple[Argument, ...] = ()
    access: Access | None = None
    index: Index | None = None
    symbol: Symbol | None = None

    @property
    def guard(self) -> Argument | None:
        """The condition under which a load or a position is evaluated."""
        first = {"load": 0, "position": 1}.get(self.op)
        return None if first is None or len(self.args) <= first else self.args[first]

    def indices(self) -> tuple[Index, ...]:
        """Every index expression in it."""
        of_access = self.access.index if self.access is not None else ()
        return of_access if self.index is None else (*of_access, self.index)

    def __str__(self) -> str:
        what = ", ".join(map(str, self.args))
        under = f" if {self.guard}" if self.guard is not None else ""
        if self.op == "load":
            what = f"{self.access}{under}"
        elif self.op == "index":
            what = str(self.index)
        elif self.symbol is not None:
            what = f"in {self.symbol.extent}: {self.args[0]}{under}"
        return f"{self.name}: {short(self.dtype)} = {self.op} {what}".rstrip()


@dataclass(frozen=True, slots=True)
class Store:
    """Write a value to one element."""

    access: Access
    value: Argument

    def __str__(self) -> str:
        return f"{self.access} = {self.value}"


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A reduction a loop carries out; after the loop its name is the finished value."""

    name: Name
    kind: str
    dtype: np.dtype
    order: Order

    def __str__(self) -> str:
        return f"{self.name}: {short(self.dtype)} = {self.kind}, {self.order}"


@dataclass(frozen=True, slots=True)
class Accumulate:
    """Hand this iteration's element to an accumulator of the enclosing loop."""

    accumulator: Name
    value: Argument

    def __str__(self) -> str:
        return f"{self.accumulator} <- {self.value}"


@dataclass(frozen=True, slots=True)
class Local:
    """Storage private to one iteration of the enclosing loop."""

    buffer: Buffer

    def __str__(self) -> str:
        return f"local {self.buffer}"


@dataclass(frozen=True, slots=True)
class Loop:
    """``for symbol in range(extent)``.

    ``kind`` is ``"parallel"`` (any order, any thread) or ``"reduced"`` (the accumulators' order).
    """

    symbol: Symbol
    kind: str
    body: tuple[Statement, ...]
    accumulators: tuple[Accumulator, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """Run the body when a bool value is true; nothing in it is evaluated otherwise."""

    condition: Argument
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Assume:
    """A bool value that is promised to be true here; the interpreter checks the promise."""

    condition: Argument

    def __str__(self) -> str:
        return f"assume {self.condition}"


Statement = Let | Store | Accumulate | Local | Loop | If | Assume


@dataclass(frozen=True, slots=True)
class Nest:
    """One kernel: one outermost loop nest.

    Args:
        name: the kernel's name, unique in the plan.
        nodes: names of the nodes it computes.
        buffers: every buffer it touches outside its locals, inputs first.
        body: statements.
        places: the user's lines it comes from.
        in_place: buffers it writes into the storage of one it reads, each with that one: an element
            is read, for the last time, before the same iteration overwrites it.
    """

    name: str
    nodes: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    body: tuple[Statement, ...]
    places: tuple[Where, ...] = ()
    in_place: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        heads = [f"kernel {self.name}  ({', '.join(self.nodes)})"]
        taken = {new: f" in place of {old}" for new, old in self.in_place}
        heads += [f"  {b}{_layout(b)}{taken.get(b.name, '')}" for b in self.buffers]
        known = {buffer.name: buffer for buffer in self.buffers}
        return "\n".join(heads + list(_lines(self.body, 1, known)))

    @property
    def lines(self) -> tuple[str, ...]:
        """The user's lines, ``file:line``, each once."""
        return tuple(dict.fromkeys(place.short for place in self.places))

    def check(self) -> None:
        """Names are defined before use, once, and visible where they are used.

        Raises:
            InvariantError: with the kernel's text.
        """
        _check(self, self.body, set(), {buffer.name for buffer in self.buffers}, set())


def _layout(buffer: Buffer) -> str:
    return "" if buffer.is_contiguous else f" strides {buffer.strides}"


def access_text(access: Access, buffer: Buffer) -> str:
    """``x[i0, r]``; merged loops print as one linear position, ``x.flat[i0]``."""
    if all(entry.is_affine for entry in access.index):
        return str(access)
    flat = flatten(access.index, c_strides(buffer.shape))
    return f"{access.buffer}.flat[{flat}]" if flat.is_affine else str(access)


def _lines(body: tuple[Statement, ...], depth: int, known: dict[str, Buffer]) -> Iterator[str]:
    pad = "  " * depth
    for statement in body:
        if isinstance(statement, Loop):
            yield f"{pad}for {statement.symbol} in {statement.symbol.extent} {statement.kind}"
            for accumulator in statement.accumulators:
                yield f"{pad}    {accumulator}"
            yield from _lines(statement.body, depth + 1, known)
        elif isinstance(statement, If):
            yield f"{pad}if {statement.condition}"
            yield from _lines(statement.body, depth + 1, known)
        else:
            if isinstance(statement, Local):
                known[statement.buffer.name] = statement.buffer
            access = getattr(statement, "access", None)
            text = str(statement)
            if access is not None and access.buffer in known:
                text = text.replace(str(access), access_text(access, known[access.buffer]))
            yield pad + text


def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement of a body, outer before inner."""
    for statement in body:
        yield statement
        if isinstance(statement, (Loop, If)):
            yield from walk(statement.body)


def rewrite(
    body: tuple[Statement, ...], change: Callable[[Statement], Statement | None]
) -> tuple[Statement, ...]:
    """A body with every leaf replaced by ``change(leaf)``; None drops it."""
    out: list[Statement] = []
    for statement in body:
        if isinstance(statement, Loop):
            inner = rewrite(statement.body, change)
            out.append(Loop(statement.symbol, statement.kind, inner, statement.accumulators))
        elif isinstance(statement, If):
            out.append(If(statement.condition, rewrite(statement.body, change)))
        else:
            changed = change(statement)
            if changed is not None:
                out.append(changed)
    return tuple(out)


def arguments(statement: Statement) -> tuple[Argument, ...]:
    """The values a statement uses."""
    if isinstance(statement, Let):
        return statement.args
    if isinstance(statement, (Store, Accumulate)):
        return (statement.value,)
    if isinstance(statement, (If, Assume)):
        return (statement.condition,)
    return ()


def _check(
    nest: Nest,
    body: tuple[Statement, ...],
    known: set[str],
    buffers: set[str],
    symbols: set[str],
) -> None:
    """Walk in order; ``known`` are the names visible here (inner names do not leave a body)."""
    for statement in body:
        for argument in arguments(statement):
            if isinstance(argument, str) and argument not in known:
                raise InvariantError(f"{argument} is used before it is defined in\n{nest}")
        access = getattr(statement, "access", None)
        if access is not None and access.buffer not in buffers:
            raise InvariantError(f"{access} has no storage here in\n{nest}")
        if not _used_symbols(statement) <= symbols:
            raise InvariantError(f"{statement} uses a loop variable out of scope in\n{nest}")
        if isinstance(statement, Let):
            if statement.name in known:
                raise InvariantError(f"{statement.name} is defined twice in\n{nest}")
            known.add(statement.name)
            if statement.symbol is not None:
                symbols = symbols | {statement.symbol.name}
        elif isinstance(statement, Loop):
            inside = known | {a.name for a in statement.accumulators}
            deeper = symbols | {statement.symbol.name}
            _check(nest, statement.body, inside, set(buffers), deeper)
            known |= {a.name for a in statement.accumulators}
        elif isinstance(statement, If):
            _check(nest, statement.body, set(known), set(buffers), symbols)
        elif isinstance(statement, Local):
            buffers.add(statement.buffer.name)


def _used_symbols(statement: Statement) -> set[str]:
    """Names of the loop variables and positions that a statement's indices use."""
    if isinstance(statement, Let):
        indices = statement.indices()
    else:
        indices = statement.access.index if isinstance(statement, Store) else ()
    return {symbol.name for entry in indices for symbol in entry.symbols()}
