"""interpret: the oracle. Several evaluators of equal meaning; the first that differs is to blame.

Takes a graph, nodes or a plan, and arrays; gives arrays. The rungs, in order:

``graph``   each equation with plain NumPy: *is* NumPy (``evaluate``);
``nodes``   each node alone, whole arrays: the planned meaning (reduction order, sequences);
``nests``   each fused kernel, whole arrays, statement by statement;
``points``  each fused kernel point by point, every parallel loop shuffled, in the planned arena
            with dead memory poisoned: the only rung that sees an illegal fusion or a lifetime
            that ends too early (``points``).

An external call is made once per ladder and its array handed to every later rung (semantics §2).
Not here: comparing results (``ladder``), native code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import tree
from .errors import InvariantError, note
from .graph import Graph, Literal
from .index import Index, Symbol, c_strides, flatten
from .lower import Lowered
from .nest import (
    Accumulate,
    Accumulator,
    Argument,
    Assume,
    If,
    Let,
    Local,
    Loop,
    Nest,
    Statement,
    Store,
)
from .node import Access, Buffer, Node, run
from .ops import FLAGGED, apply, reduce_planned
from .plan import Extern, Plan, Template


@dataclass(slots=True)
class Recording:
    """What one ladder has learned on the way.

    Args:
        externs: results of external calls by buffer; made once, handed to every later rung.
        flags: 1, an integer division met a zero divisor; 2, it overflowed; 4, an index was
            out of range; 8, an integer was raised to a negative power (semantics 3).
    """

    externs: dict[str, np.ndarray] = field(default_factory=dict)
    flags: int = 0

    def located(self, value: Any, extent: int, guard: Any = True) -> Any:
        """Runtime values as positions on an axis: negative ones wrapped, bad ones 0 and noticed."""
        position = np.asarray(value).astype(np.int64)
        position = np.where(position < 0, position + extent, position)
        inside = (position >= 0) & (position < extent)
        if np.any(~inside & guard):
            self.flags |= 4
        return np.where(inside & guard, position, 0)

    def notice(self, op: str, args: Sequence[Any]) -> None:
        """Remember what integers cannot divide by, and powers they cannot have."""
        if op not in FLAGGED:
            return
        dtype = np.asarray(args[0]).dtype
        if dtype.kind == "f":
            return
        if op == "power":
            self.flags |= 8 * bool(np.any(np.less(args[1], 0)))
            return
        if not np.all(args[1]):
            self.flags |= 1
        if op == "floor_divide" and dtype.kind == "i":
            overflow = (args[0] == np.iinfo(dtype).min) & (args[1] == -1)
            self.flags |= 2 * bool(np.any(overflow))


POISON = 0xFF
"""Byte of dead memory: NaN in every float dtype, -1 in every integer dtype."""


# storage -----------------------------------------------------------------------------------------
def input_storage(
    plan_inputs: Sequence[Any], names: Sequence[str], arguments: Sequence[Any]
) -> dict[str, np.ndarray]:
    """Inputs as flat C-order arrays by buffer name; Python scalars as one element."""
    return {
        name: np.array(argument, dtype=entry.value.dtype, order="C").reshape(-1)
        for entry, name, argument in zip(plan_inputs, names, arguments, strict=True)
    }


def extern_results(
    step: Node | Extern,
    operands: Sequence[np.ndarray],
    buffers: Mapping[str, Buffer],
    recording: Recording,
) -> list[np.ndarray]:
    """The recorded results of an external call; recorded now if it is the first."""
    if not all(name in recording.externs for name in step.buffers):
        assert step.call is not None
        written = [buffers[name] for name in step.buffers]
        outs = [np.empty(buffer.shape, buffer.dtype) for buffer in written]
        try:
            step.call.fill(operands, outs, step.results)
        except Exception as error:
            place = step.line if isinstance(step, Extern) else ""
            note(error, place)
            raise
        recording.externs |= dict(zip(step.buffers, outs, strict=True))
    return [recording.externs[name] for name in step.buffers]


def run_extern(
    step: Node | Extern,
    storage: Mapping[str, np.ndarray],
    buffers: Mapping[str, Buffer],
    recording: Recording,
) -> None:
    """An external call on flat storage, made once per recording."""
    operands = [view.of(storage[view.buffer], buffers[view.buffer].shape) for view in step.operands]
    results = extern_results(step, operands, buffers, recording)
    for name, result in zip(step.buffers, results, strict=True):
        storage[name][:] = result.reshape(-1)


def guarded(storage: np.ndarray, flat: Any, guard: Any = None) -> Any:
    """Elements of flat storage; where a guard is false no address is evaluated and 0 stands."""
    if guard is None:
        return storage[flat]
    allowed, flat = np.broadcast_arrays(guard, flat)
    found = np.zeros(flat.shape, storage.dtype)
    found[allowed] = storage[flat[allowed]]
    return found


# rung 2: nodes -----------------------------------------------------------------------------------
def run_nodes(
    lowered: Lowered, graph: Graph, arguments: Sequence[Any], recording: Recording
) -> tuple[np.ndarray, ...]:
    """Each node alone on whole arrays: the planned meaning.

    Args:
        lowered: nodes before fusion.
        graph: for the inputs.
        arguments: one array or Python scalar per input.
        recording: what earlier rungs learned; added to.

    Returns:
        one array per output.
    """
    buffers = {buffer.name: buffer for buffer in lowered.buffers}
    names = [buffer.name for buffer in lowered.buffers if buffer.kind != "computed"]
    storage = input_storage(graph.inputs, names, arguments)
    for buffer in lowered.buffers:
        storage.setdefault(buffer.name, np.zeros(buffer.size, buffer.dtype))
    with np.errstate(all="ignore"):
        for node in lowered.nodes:
            if node.is_extern:
                run_extern(node, storage, buffers, recording)
            else:
                run(node.body, _WholeNode(node, buffers, storage, recording))
    return tuple(storage[n].reshape(buffers[n].shape).copy() for n in lowered.outputs)


class _WholeNode:
    """The handler that evaluates a node's body over its whole iteration space."""

    def __init__(
        self,
        node: Node,
        buffers: Mapping[str, Buffer],
        storage: Mapping[str, np.ndarray],
        recording: Recording,
    ) -> None:
        self.node = node
        self.recording = recording
        self.buffers = buffers
        self.storage = storage
        symbols = (*node.outer, *node.inner)
        self.symbols = {s.name: _axis(s, k, len(symbols)) for k, s in enumerate(symbols)}
        self.extents = tuple(s.extent for s in symbols)

    def _flat(self, access: Access) -> Any:
        shape = self.buffers[access.buffer].shape
        flat = flatten(access.index, c_strides(shape)).evaluate(self.symbols)
        return np.asarray(flat).reshape(np.shape(flat) or (1,) * len(self.extents))

    def load(self, access: Access, dtype: np.dtype, guard: Any = None) -> Any:
        return guarded(self.storage[access.buffer], self._flat(access), guard)

    def index(self, index: Index, dtype: np.dtype) -> Any:
        return np.asarray(index.evaluate(self.symbols)).astype(dtype)

    def position(self, symbol: Symbol, value: Any, guard: Any = True) -> None:
        self.symbols[symbol.name] = self.recording.located(value, symbol.extent, guard)

    def store(self, access: Access, value: Any) -> None:
        self.storage[access.buffer][self._flat(access)] = value

    def constant(self, value: Literal) -> Any:
        return value.value

    def apply(self, op: str, args: tuple[Any, ...], dtype: np.dtype) -> Any:
        return apply(op, args, dtype)

    def reduce(self, kind: str, value: Any, dtype: np.dtype) -> Any:
        assert self.node.order is not None
        outer = self.extents[: len(self.node.outer)]
        full = np.broadcast_to(value, self.extents).reshape(*outer, -1)
        total = reduce_planned(kind, full, self.node.order, dtype)
        return total.reshape(*outer, *(1 for _ in self.node.inner))


def _axis(symbol: Symbol, axis: int, ndim: int) -> np.ndarray:
    """The values of a loop symbol, along its own axis."""
    shape = [1] * ndim
    shape[axis] = symbol.extent
    return np.arange(symbol.extent).reshape(shape)


# rung 3: nests, whole arrays ---------------------------------------------------------------------
def run_nests(plan: Plan, arguments: Sequence[Any], recording: Recording) -> tuple[np.ndarray, ...]:
    """The plan's kernels on whole arrays, every buffer with storage of its own.

    Args:
        plan: the plan.
        arguments: one array or Python scalar per input.
        recording: what earlier rungs learned; added to.

    Returns:
        one array per output.
    """
    storage = input_storage(plan.inputs, plan.input_buffers, arguments)
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    for buffer in plan.buffers:
        storage.setdefault(buffer.name, np.zeros(buffer.size, buffer.dtype))
    with np.errstate(all="ignore"):
        for step in plan.steps:
            if isinstance(step, Template):
                run_extern(step.product, storage, buffers, recording)
                run_nest(step.nest, storage, recording)
            elif isinstance(step, Extern):
                run_extern(step, storage, buffers, recording)
            else:
                run_nest(step, storage, recording)
    return tuple(storage[n].reshape(buffers[n].shape).copy() for n in plan.outputs)


def run_nest(nest: Nest, storage: Mapping[str, np.ndarray], recording: Recording) -> None:
    """One kernel on whole arrays.

    Args:
        nest: the kernel.
        storage: a flat array per buffer it touches; written in place.
        recording: what earlier rungs learned; added to.
    """
    with np.errstate(all="ignore"):
        _WholeNest(nest, storage, recording).body(nest.body, 0)


class _WholeNest:
    """Evaluates a nest with one array axis per loop level; siblings reuse the level's axis."""

    def __init__(self, nest: Nest, storage: Mapping[str, np.ndarray], recording: Recording) -> None:
        self.storage = dict(storage)
        self.recording = recording
        self.buffers = {buffer.name: buffer for buffer in nest.buffers}
        self.ndim = _depth(nest.body)
        self.symbols: dict[str, np.ndarray] = {}
        self.extents: list[int] = []
        self.values: dict[str, Any] = {}
        self.rows: dict[str, int] = {}
        self.pending: dict[str, Any] = {}

    def body(self, body: Sequence[Statement], level: int) -> None:
        """Every statement in order, each over the whole space of its loops."""
        for statement in body:
            if isinstance(statement, Loop):
                self._loop(statement, level)
            elif isinstance(statement, Let):
                self.values[statement.name] = self._let(statement)
            elif isinstance(statement, Store):
                flat = self._flat(statement.access)
                self.storage[statement.access.buffer][flat] = self._value(statement.value)
            elif isinstance(statement, Accumulate):
                self.pending[statement.accumulator] = self._value(statement.value)
            elif isinstance(statement, Local):
                self._local(statement)
            elif isinstance(statement, Assume):
                if not np.all(self._value(statement.condition)):
                    raise InvariantError(f"the promise {statement} is broken")
            else:
                raise InvariantError("a conditional has no whole-array evaluation; use points")

    def _loop(self, loop: Loop, level: int) -> None:
        self.symbols[loop.symbol.name] = _axis(loop.symbol, level, self.ndim)
        self.extents.append(loop.symbol.extent)
        self.body(loop.body, level + 1)
        self.extents.pop()
        for accumulator in loop.accumulators:
            self.values[accumulator.name] = self._finish(accumulator, loop.symbol.extent, level)

    def _finish(self, accumulator: Accumulator, extent: int, level: int) -> Any:
        value = np.asarray(self.pending.pop(accumulator.name))
        value = value.reshape((1,) * (self.ndim - value.ndim) + value.shape)
        shape = list(value.shape)
        shape[level] = extent
        full = np.moveaxis(np.broadcast_to(value, shape), level, -1)
        total = reduce_planned(accumulator.kind, full, accumulator.order, accumulator.dtype)
        return np.expand_dims(total, level)

    def _let(self, statement: Let) -> Any:
        args = tuple(self._value(argument) for argument in statement.args)
        if statement.op == "load":
            assert statement.access is not None
            storage = self.storage[statement.access.buffer]
            return guarded(storage, self._flat(statement.access), *args)
        if statement.op == "undef":
            return np.full((), np.frombuffer(bytes([POISON]) * 8, statement.dtype)[0])
        if statement.index is not None:
            return np.asarray(statement.index.evaluate(self.symbols)).astype(statement.dtype)
        if statement.symbol is not None:
            found = self.recording.located(args[0], statement.symbol.extent, *args[1:])
            self.symbols[statement.name] = found
            return found
        self.recording.notice(statement.op, args)
        return apply(statement.op, args, statement.dtype)

    def _value(self, argument: Argument) -> Any:
        return argument.value if isinstance(argument, Literal) else self.values[argument]

    def _flat(self, access: Access) -> Any:
        buffer = self.buffers[access.buffer]
        flat = flatten(access.index, c_strides(buffer.shape)).evaluate(self.symbols)
        if access.buffer in self.rows:
            flat = flat + self._outer_number(self.rows[access.buffer]) * buffer.size
        return np.asarray(flat).reshape(np.shape(flat) or (1,) * self.ndim)

    def _local(self, statement: Local) -> None:
        """A row per iteration of the enclosing loops."""
        name, depth = statement.buffer.name, len(self.extents)
        self.buffers[name] = statement.buffer
        self.rows[name] = depth
        count = math.prod(self.extents) * statement.buffer.size
        self.storage[name] = np.zeros(count, statement.buffer.dtype)

    def _outer_number(self, depth: int) -> Any:
        number: Any = 0
        for level in range(depth):
            axis = np.arange(self.extents[level])
            shape = [1] * self.ndim
            shape[level] = self.extents[level]
            number = number * self.extents[level] + axis.reshape(shape)
        return number


def _depth(body: Sequence[Statement]) -> int:
    """The deepest loop nesting of a body."""
    inner = [_depth(s.body) + isinstance(s, Loop) for s in body if isinstance(s, (Loop, If))]
    return max(inner, default=0)


def wrap(plan: Plan, outputs: Sequence[np.ndarray]) -> Any:
    """Outputs as the user's function returned them; 0-d arrays as NumPy scalars."""
    outputs = outputs[: len(outputs) - len(plan.written)]
    values: list[Any] = [out[()] if out.ndim == 0 else out for out in outputs]
    values = [v.item() if weak else v for v, weak in zip(values, plan.weak, strict=False)]
    return tree.put_together(plan.structure, iter(values))
