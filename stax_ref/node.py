"""``Node``: one materialised buffer with its loops, and the ``Body`` it computes.

Takes what ``lower`` composes; gives frozen records and ``run``. Holds the idea the whole compiler
rests on (seed §6.7, §7.1): a body is data, and every consumer is a handler. Recording reads and
writes *is* dependence analysis, counting operations is the cost model, evaluating with NumPy is the
oracle. Not here: which loops are shared (``looptree``), statements (``nest``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .calls import Call
from .dtypes import short
from .errors import Where
from .graph import Literal
from .index import ZERO, Index, Symbol, c_strides, flatten, variable
from .ops import Order


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage of one array.

    Args:
        name: unique in the program.
        shape: logical shape.
        dtype: NumPy dtype.
        strides: per axis, in elements; 0 repeats.
        kind: ``"input"``, ``"captured"``, ``"scalar"`` or ``"computed"``.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    strides: tuple[int, ...]
    kind: str = "computed"

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all elements once."""
        return self.size * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """True when the storage is exactly the array in C order."""
        return all(
            extent == 1 or stride == wanted
            for extent, stride, wanted in zip(
                self.shape, self.strides, c_strides(self.shape), strict=True
            )
        )

    def __str__(self) -> str:
        return f"{self.name}: {short(self.dtype)}[{','.join(map(str, self.shape))}]"


def computed(name: str, shape: Sequence[int], dtype: np.dtype) -> Buffer:
    """A fresh C-order buffer."""
    return Buffer(name, tuple(shape), dtype, c_strides(shape))


@dataclass(frozen=True, slots=True)
class Access:
    """One element of a buffer: its name and one index expression per axis."""

    buffer: str
    index: tuple[Index, ...]

    def subs(self, replacement: Mapping[Symbol, Index]) -> Access:
        """The access with loop symbols replaced."""
        return Access(self.buffer, tuple(entry.subs(replacement) for entry in self.index))

    def runtime_symbols(self, loops: Sequence[Symbol]) -> frozenset[Symbol]:
        """Symbols that stand for runtime positions: those that are no loop's."""
        used = frozenset(symbol for entry in self.index for symbol in entry.symbols())
        return used - set(loops)

    def flat(self, buffer: Buffer) -> Index:
        """The linear address in the buffer's storage, in elements."""
        return flatten(self.index, buffer.strides)

    def __str__(self) -> str:
        return f"{self.buffer}[{', '.join(map(str, self.index))}]"


@dataclass(frozen=True, slots=True)
class View:
    """A buffer as an external call reads it: a shape, and where each of its elements lies.

    Args:
        buffer: name of the buffer.
        shape: shape of the view.
        axes: the loop symbol that numbers each axis, None for an axis of length 1.
        index: the element of the buffer at these symbols; affine.
    """

    buffer: str
    shape: tuple[int, ...]
    axes: tuple[Symbol | None, ...]
    index: tuple[Index, ...]

    def layout(self, strides: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Strides and offset of the view, in elements, over a buffer with these strides."""
        flat = flatten(self.index, strides)
        steps = [0 if axis is None else flat.coefficient(axis) or 0 for axis in self.axes]
        return tuple(steps), flat.constant

    def of(self, storage: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """The view as a NumPy array over flat C-order storage of a buffer of this shape."""
        steps, offset = self.layout(c_strides(shape))
        size = storage.itemsize
        return np.lib.stride_tricks.as_strided(
            storage[offset:], self.shape, [step * size for step in steps]
        )

    def is_whole(self, shape: tuple[int, ...]) -> bool:
        """True when the view is a buffer of this shape itself, axis by axis."""
        plain = tuple(ZERO if axis is None else variable(axis) for axis in self.axes)
        return self.shape == shape and self.index == plain

    def __str__(self) -> str:
        plain = all(
            axis is not None and entry == variable(axis)
            for axis, entry in zip(self.axes, self.index, strict=False)
        )
        if plain and len(self.axes) == len(self.index):
            return self.buffer
        return f"{self.buffer}[{', '.join(map(str, self.index))}]"


@dataclass(frozen=True, slots=True)
class Instr:
    """One scalar instruction; ``args`` are positions of earlier instructions.

    ``op`` is a name of ``ops.OPS``, or one of:

    ``load``      the element at ``access``; its one operand, if any, is a guard: where it is false
                  no address is evaluated and nothing may depend on the value;
    ``store``     write the operand to ``access``;
    ``constant``  ``value``;
    ``index``     the value of ``index``, an expression over the loop symbols;
    ``position``  the operand as an index: from now on ``symbol`` stands for it in accesses. It is
                  wrapped once when negative; out of range it is 0 and raises a flag. A second
                  operand is a guard: where it is false the position is 0 and raises nothing;
    ``reduce``    the finished reduction (``kind``) of the operand.
    """

    op: str
    args: tuple[int, ...]
    dtype: np.dtype
    access: Access | None = None
    value: Literal | None = None
    kind: str = ""
    index: Index | None = None
    symbol: Symbol | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """A short SSA list of scalar instructions, executed once per iteration of its node."""

    instrs: tuple[Instr, ...]

    def __str__(self) -> str:
        return "\n".join(_BodyText().lines(self))


class Handler(Protocol):
    """What a consumer of bodies implements; values are whatever the handler makes them."""

    def load(self, access: Access, dtype: np.dtype, guard: Any = None) -> Any:
        """The element at ``access``; where a guard is false, no address is evaluated."""

    def index(self, index: Index, dtype: np.dtype) -> Any:
        """The value of an index expression."""

    def position(self, symbol: Symbol, value: Any, guard: Any = None) -> None:
        """From now on ``symbol`` stands for a runtime value, wrapped and checked."""

    def store(self, access: Access, value: Any) -> None:
        """Write ``value`` to ``access``."""

    def constant(self, value: Literal) -> Any:
        """A constant."""

    def apply(self, op: str, args: tuple[Any, ...], dtype: np.dtype) -> Any:
        """One operation of ``ops.OPS``."""

    def reduce(self, kind: str, value: Any, dtype: np.dtype) -> Any:
        """The finished reduction of ``value`` over the reduced loops."""


def run(body: Body, handler: Handler) -> list[Any]:
    """Execute a body under a handler; returns the handler's value of every instruction."""
    values: list[Any] = []
    for instr in body.instrs:
        args = tuple(values[k] for k in instr.args)
        if instr.op == "load":
            assert instr.access is not None
            values.append(handler.load(instr.access, instr.dtype, *args))
        elif instr.op == "index":
            assert instr.index is not None
            values.append(handler.index(instr.index, instr.dtype))
        elif instr.op == "position":
            assert instr.symbol is not None
            handler.position(instr.symbol, *args)
            values.append(None)
        elif instr.op == "store":
            assert instr.access is not None
            handler.store(instr.access, args[0])
            values.append(None)
        elif instr.op == "constant":
            assert instr.value is not None
            values.append(handler.constant(instr.value))
        elif instr.op == "reduce":
            values.append(handler.reduce(instr.kind, args[0], instr.dtype))
        else:
            values.append(handler.apply(instr.op, args, instr.dtype))
    return values


@dataclass(frozen=True, slots=True)
class Node:
    """One materialised buffer with its loops.

    Args:
        name: the node's name; in seed mode ``opN``, otherwise the buffer's.
        kind: ``"pointwise"``, ``"reduction"`` or ``"extern"``.
        buffer: the buffer it writes.
        outer: loop symbols of the pointwise iteration, outermost first.
        inner: loop symbols of the reduced iteration.
        body: what one iteration computes; empty for extern nodes.
        order: the planned order of a reduction.
        call: what an extern node calls.
        operands: what an extern node reads, each a view of a buffer.
        results: which results of the call an extern node keeps.
        others: the buffers of the second kept result and the following ones.
        mutates: the buffer whose storage this node overwrites in place, if any.
        stream: the execution stream; nodes of different streams are never fused (seed §7.3).
        where: the user's line.
    """

    name: str
    kind: str
    buffer: str
    outer: tuple[Symbol, ...]
    inner: tuple[Symbol, ...] = ()
    body: Body = Body(())
    order: Order | None = None
    call: Call | None = None
    operands: tuple[View, ...] = ()
    results: tuple[int, ...] = (0,)
    others: tuple[str, ...] = ()
    mutates: str | None = None
    stream: int = 0
    where: Where | None = field(default=None, compare=False)

    @property
    def is_reduction(self) -> bool:
        """True for a reduction."""
        return self.kind == "reduction"

    @property
    def is_extern(self) -> bool:
        """True for an external call."""
        return self.kind == "extern"

    @property
    def buffers(self) -> tuple[str, ...]:
        """Every buffer it writes."""
        return (self.buffer, *self.others)

    @property
    def outer_sizes(self) -> tuple[int, ...]:
        """Extents of the pointwise iteration: ``n`` of Definition 7.2, per axis."""
        return tuple(symbol.extent for symbol in self.outer)

    @property
    def inner_sizes(self) -> tuple[int, ...]:
        """Extents of the reduced iteration: ``r`` of Definition 7.2, per axis."""
        return tuple(symbol.extent for symbol in self.inner)

    def __str__(self) -> str:
        place = "" if self.mutates is None else f", in place of {self.mutates}"
        place += f"  # {self.where.short}" if self.where is not None else ""
        if self.is_extern:
            assert self.call is not None
            text = self.call.text(list(map(str, self.operands)))
            return f"{self.name}: extern {', '.join(self.buffers)} = {text}{place}"
        loops = ", ".join(f"{s.name}:{s.extent}" for s in self.outer)
        if self.inner:
            loops += " | " + ", ".join(f"{s.name}:{s.extent}" for s in self.inner)
        head = f"{self.name}: {self.kind} for {loops or 'one iteration'}{place}"
        if self.order is not None:
            head += f"\n  order {self.order}"
        return "\n".join([head, *("  " + line for line in _BodyText().lines(self.body))])


class _BodyText:
    """The handler that prints: one line per instruction that has a result or an effect."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def lines(self, body: Body) -> list[str]:
        """The text of a body."""
        run(body, self)
        return self._lines

    def _name(self, text: str, dtype: np.dtype) -> str:
        name = f"t{self._count}"
        self._count += 1
        self._lines.append(f"{name}: {short(dtype)} = {text}")
        return name

    def load(self, access: Access, dtype: np.dtype, guard: str | None = None) -> str:
        return self._name(f"load {access}{_under(guard)}", dtype)

    def index(self, index: Index, dtype: np.dtype) -> str:
        return self._name(f"index {index}", dtype)

    def position(self, symbol: Symbol, value: str, guard: str | None = None) -> None:
        self._lines.append(f"{symbol} = position in {symbol.extent}: {value}{_under(guard)}")

    def store(self, access: Access, value: str) -> None:
        self._lines.append(f"store {access} = {value}")

    def constant(self, value: Literal) -> str:
        return f"{value}"

    def apply(self, op: str, args: tuple[str, ...], dtype: np.dtype) -> str:
        return self._name(f"{op} {', '.join(args)}", dtype)

    def reduce(self, kind: str, value: str, dtype: np.dtype) -> str:
        return self._name(f"reduce {kind} {value}", dtype)


def _under(guard: str | None) -> str:
    return "" if guard is None else f" if {guard}"
