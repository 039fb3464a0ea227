"""points: the highest rung of the interpreter, one iteration at a time, in any order.

Takes a plan and arrays; gives arrays. Every parallel loop runs in a shuffled order, in the planned
arena, with dead memory poisoned: the only rung that sees an illegal fusion or a lifetime that ends
a step early. About 10 µs a statement. Not here: whole arrays (``interpret``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InvariantError
from .graph import Literal
from .index import c_strides, flatten
from .interpret import POISON, Recording, extern_results, input_storage, run_extern
from .nest import (
    Accumulate,
    Argument,
    If,
    Let,
    Local,
    Loop,
    Nest,
    Statement,
    Store,
)
from .node import Access, Buffer
from .ops import apply, reduce_planned
from .plan import Extern, Plan, Template


def run_points(
    plan: Plan, arguments: Sequence[Any], recording: Recording, seed: int = 0
) -> tuple[np.ndarray, ...]:
    """The plan point by point: parallel loops shuffled, planned arena, dead memory poisoned.

    Args:
        plan: the plan.
        arguments: one array or Python scalar per input.
        recording: what earlier rungs learned; added to.
        seed: seed of the shuffles.

    Returns:
        one array per output.
    """
    memory = _PoisonedMemory(plan, arguments)
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    shuffle = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        for number, step in enumerate(plan.steps):
            memory.poison_dead(number)
            if isinstance(step, Template):
                _run_template(step, memory.storage, buffers, recording, shuffle)
            elif isinstance(step, Extern):
                run_extern(step, memory.storage, buffers, recording)
            else:
                _PointNest(step, memory.storage, shuffle).body(step.body)
    return tuple(memory.storage[n].reshape(buffers[n].shape).copy() for n in plan.outputs)


def _run_template(
    step: Template,
    storage: dict[str, np.ndarray],
    buffers: dict[str, Buffer],
    recording: Recording,
    shuffle: np.random.Generator,
) -> None:
    """Tiles in a shuffled order; of the product only the rows of this tile hold anything."""
    product = buffers[step.tile]
    views = step.product.operands
    operands = [view.of(storage[view.buffer], buffers[view.buffer].shape) for view in views]
    (whole,) = extern_results(step.product, operands, buffers, recording)
    for first, end in shuffle.permutation(list(step.tiles())):
        tile = np.full(product.nbytes, POISON, np.uint8).view(product.dtype)
        tile.reshape(product.shape)[first:end] = whole[first:end]
        inside = {**storage, step.tile: tile}
        _PointNest(step.nest, inside, shuffle, (step, int(first), int(end))).body(step.nest.body)


class _PoisonedMemory:
    """Storage as planned: one arena, in which every byte that is not live holds the poison."""

    def __init__(self, plan: Plan, arguments: Sequence[Any]) -> None:
        self.storage = input_storage(plan.inputs, plan.input_buffers, arguments)
        self.slots = plan.slots
        self.arena = np.full(max(plan.arena_bytes, 1), POISON, np.uint8)
        for buffer in plan.buffers:
            slot = plan.slot(buffer.name)
            if slot is not None and slot.kind == "tile":
                continue
            if slot is not None and slot.kind == "arena":
                part = self.arena[slot.offset : slot.offset + buffer.nbytes]
                self.storage[buffer.name] = part.view(buffer.dtype)
            elif slot is not None and slot.takes:
                self.storage[buffer.name] = self.storage[slot.takes]
            elif buffer.name not in self.storage:
                fresh = np.full(buffer.nbytes, POISON, np.uint8)
                self.storage[buffer.name] = fresh.view(buffer.dtype)

    def poison_dead(self, step: int) -> None:
        """Overwrite every arena byte that no buffer keeps through this step."""
        dead = np.ones(self.arena.size, bool)
        for slot in self.slots:
            if slot.kind == "arena" and slot.first < step <= slot.last:
                dead[slot.offset : slot.offset + slot.nbytes] = False
        self.arena[dead] = POISON


class _PointNest:
    """Runs a nest one iteration at a time, in a shuffled order of every loop."""

    def __init__(
        self,
        nest: Nest,
        storage: dict[str, np.ndarray],
        shuffle: np.random.Generator,
        rows: tuple[Template, int, int] | None = None,
    ) -> None:
        self.rows = rows
        self.storage = dict(storage)
        self.buffers = {buffer.name: buffer for buffer in nest.buffers}
        self.shuffle = shuffle
        self.symbols: dict[str, int] = {}
        self.values: dict[str, Any] = {}
        self.collected: dict[str, tuple[np.ndarray, str]] = {}

    def body(self, body: Sequence[Statement]) -> None:
        """One execution of a body at the current point."""
        for statement in body:
            if isinstance(statement, Loop):
                self._loop(statement)
            elif isinstance(statement, Let):
                self.values[statement.name] = self._let(statement)
            elif isinstance(statement, Store):
                value = self._value(statement.value)
                self.storage[statement.access.buffer][self._flat(statement.access)] = value
            elif isinstance(statement, Accumulate):
                values, symbol = self.collected[statement.accumulator]
                values[self.symbols[symbol]] = self._value(statement.value)
            elif isinstance(statement, Local):
                self._local(statement.buffer)
            elif isinstance(statement, If):
                if self._value(statement.condition):
                    self.body(statement.body)
            elif not self._value(statement.condition):
                raise InvariantError(f"the promise {statement} is broken")

    def _loop(self, loop: Loop) -> None:
        """Iterations in a shuffled order; a reduction collects its elements by their number."""
        for accumulator in loop.accumulators:
            values = np.zeros(loop.symbol.extent, accumulator.dtype)
            self.collected[accumulator.name] = (values, loop.symbol.name)
        begin, end = 0, loop.symbol.extent
        if self.rows is not None:  # the outermost loop of an epilogue: the rows of one tile
            template, first, last = self.rows
            begin, end = template.bounds(end, first, last)
            self.rows = None
        for value in begin + self.shuffle.permutation(end - begin):
            self.symbols[loop.symbol.name] = int(value)
            self.body(loop.body)
        for accumulator in loop.accumulators:
            values, _ = self.collected.pop(accumulator.name)
            self.values[accumulator.name] = reduce_planned(
                accumulator.kind, values, accumulator.order, accumulator.dtype
            )

    def _let(self, statement: Let) -> Any:
        args = tuple(self._value(argument) for argument in statement.args)
        if statement.op == "load":
            assert statement.access is not None
            if args and not args[0]:
                return statement.dtype.type(0)
            return self.storage[statement.access.buffer][self._flat(statement.access)]
        if statement.op == "undef":
            return np.frombuffer(bytes([POISON]) * 8, statement.dtype)[0]
        if statement.index is not None:
            return statement.dtype.type(statement.index.evaluate(self.symbols))
        if statement.symbol is not None:
            found = Recording().located(args[0], statement.symbol.extent, *args[1:])
            self.symbols[statement.name] = int(found)
            return found
        return apply(statement.op, args, statement.dtype)

    def _value(self, argument: Argument) -> Any:
        return argument.value if isinstance(argument, Literal) else self.values[argument]

    def _flat(self, access: Access) -> int:
        shape = self.buffers[access.buffer].shape
        return int(flatten(access.index, c_strides(shape)).evaluate(self.symbols))

    def _local(self, buffer: Buffer) -> None:
        self.buffers[buffer.name] = buffer
        poisoned = np.full(buffer.nbytes, POISON, np.uint8)
        self.storage[buffer.name] = poisoned.view(buffer.dtype)
