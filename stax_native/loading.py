"""From a compiled library to something that runs a plan.

Takes the path of a library, its ``Source`` and the ``Plan``; gives a ``NativeProgram``. Holds the
translation of the plan's wrapper (``plan.Instruction``) into the compact program of the runtime:
buffers become numbers, slots byte offsets, launches addresses, external calls Python callables on
views. Not here: compiling (``cache``), executing (``runtime``), printing (backends).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from stax_ref.errors import BackendError, note
from stax_ref.hazards import RUNS
from stax_ref.interpret import wrap
from stax_ref.node import View
from stax_ref.plan import Extern, Plan, Template, writes
from stax_ref.pools import aligned
from stax_ref.staged import report_flags
from stax_ref.tree import LEAF, is_flat

from .backend import Source, Tile
from .runtime import Library, Program, threads


class _Recorded(threading.local):
    """The recordings in force, per thread."""

    def __init__(self) -> None:
        self.stack: list[dict[str, np.ndarray]] = []


_recorded = _Recorded()
_forked: list[int] = []
"""The child of a fork notes itself: its OpenMP has no threads left to share an epilogue among."""
os.register_at_fork(after_in_child=lambda: _forked.append(os.getpid()))


@contextlib.contextmanager
def recorded_externs(results: dict[str, np.ndarray]) -> Iterator[None]:
    """Feed external calls from recorded results (semantics §2) while a program is checked."""
    _recorded.stack.append(results)
    try:
        yield
    finally:
        _recorded.stack.pop()


class NativeProgram:
    """A plan, loaded.

    Attributes:
        plan: the plan.
        source: the source it was built from.
        program: the runtime's program; its outputs are one array, or a tuple of arrays.
        is_direct: True when the runtime's own result is what the user's function returns.
    """

    def __init__(self, plan: Plan, source: Source, program: Program) -> None:
        self.plan = plan
        self.source = source
        self.program = program
        self._overwritten = plan.overwritten
        self._inputs = {name: number for number, name in enumerate(plan.input_buffers)}
        self.is_direct = is_flat(plan.structure) and not any(plan.weak) and not plan.written

    def __call__(self, *arguments: Any) -> tuple[np.ndarray, ...]:
        """Run on positional arguments that match the plan's inputs; every output as an array.

        Raises:
            BackendError: they do not match.
        """
        extra = [arguments[self._inputs[old]] for old in self._overwritten.values()]
        arguments = (*arguments, *extra)
        if not self.program.matches(arguments):
            raise BackendError("the arguments are not what this program was compiled for")
        found = self.program.run(arguments)
        return self._arrays(found if isinstance(found, tuple) else (found,), arguments)

    def consume(self, arguments: list[Any]) -> tuple[np.ndarray, ...]:
        """Run on a list of arguments and empty it: each is released after its last use.

        Raises:
            BackendError: they do not match; the list still has them.
        """
        if not self.program.matches(tuple(arguments)):
            raise BackendError("the arguments are not what this program was compiled for")
        found = self.program.consume(arguments)
        return self._arrays(found if isinstance(found, tuple) else (found,), ())

    def _arrays(self, results: Sequence[Any], arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """Every output as an array: the runtime's own ones, and arguments that it overwrote."""
        fresh = iter(results)
        return tuple(
            arguments[self._inputs[self._overwritten[name]]]
            if name in self._overwritten
            else np.asarray(next(fresh), dtype=self.plan.buffer(name).dtype)
            for name in self.plan.outputs
        )

    @property
    def peak_bytes(self) -> int:
        """Bytes a call takes beside its inputs: the plan's, and the backend's scratch memory."""
        return self.plan.peak_bytes + sum(map(aligned, self.source.scratch))

    def finish(self, result: Any) -> Any:
        """What the user's function returns, from what the runtime's program returned."""
        return wrap(self.plan, (result,) if self.plan.structure == LEAF else result)


def build(path: str, source: Source, plan: Plan) -> NativeProgram:
    """Load a library and make the plan's program.

    Args:
        path: of a verified shared library.
        source: what it was compiled from.
        plan: the plan the source prints.
    """
    library = Library(path)
    numbers = {buffer.name: k for k, buffer in enumerate(plan.buffers)}
    arena = [(numbers[slot.buffer], slot.offset) for slot in plan.slots if slot.in_arena]
    end = plan.arena_bytes
    for k, nbytes in enumerate(source.scratch):
        arena.append((len(plan.buffers) + k, end))
        end += aligned(nbytes)
    outputs = tuple(
        (numbers[name], plan.buffer(name).dtype, plan.buffer(name).shape)
        for name in plan.outputs
        if name not in plan.overwritten
    )
    program = Program(
        tuple(_inputs(plan, numbers)),
        len(plan.buffers) + len(source.scratch),
        outputs,
        tuple(arena),
        end,
        tuple(_steps(plan, source, library, numbers)),
        plan.structure == LEAF and not plan.written,
    )
    program.on_flag = report_flags
    return NativeProgram(plan, source, program)


def _inputs(plan: Plan, numbers: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    again = _overwritten(plan, numbers)
    for entry, name in zip(plan.inputs, plan.input_buffers, strict=True):
        if entry.kind == "captured":
            yield from again
        dtype, number = entry.value.dtype, numbers[name]
        strides = None
        if entry.strides is not None:
            strides = tuple(stride * dtype.itemsize for stride in entry.strides)
        described = (dtype.num, dtype.itemsize, entry.value.shape, strides, number)
        if entry.kind == "array":
            yield ("array", *described)
        elif entry.kind == "captured":
            yield ("object_array", entry.array, *described)
        elif dtype.kind == "f":
            yield ("float", number)
        elif dtype.kind == "b":
            yield ("bool", number)
        else:
            low, high = entry.bounds or (-(2**63), 2**63 - 1)
            yield ("int", number, low, high)
    yield from again


def _overwritten(plan: Plan, numbers: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    """Outputs in the memory of an argument: the argument a second time, under their number."""
    for new in plan.overwritten:
        buffer = plan.buffer(new)
        strides = tuple(stride * buffer.dtype.itemsize for stride in buffer.strides)
        described = (buffer.dtype.num, buffer.dtype.itemsize, buffer.shape, strides)
        yield ("array", *described, numbers[new])


def _steps(
    plan: Plan, source: Source, library: Library, numbers: dict[str, int]
) -> Iterator[tuple[Any, ...]]:
    launches = iter(source.launches)
    arrays = {n: k for k, n in enumerate(plan.input_buffers) if plan.inputs[k].kind == "array"}
    last = max((k for k, i in enumerate(plan.wrapper) if i.op in RUNS), default=0)
    externs = {step.name: step for step in plan.steps if isinstance(step, Extern)}
    for number, instruction in enumerate(plan.wrapper):
        if instruction.op == "launch":
            launch = next(launches)
            serial = library.symbol(launch.serial)
            if not serial:
                raise BackendError(f"the library lacks {launch.serial}")
            parallel = library.symbol(launch.parallel) if launch.parallel else 0
            yield ("launch", serial, parallel, launch.work)
        elif instruction.op == "template":
            step = next(s for s in plan.steps if s.name == instruction.names[0])
            assert isinstance(step, Template)
            entry = next(tile for tile in source.tiles if tile.step == step.name)
            yield _template(plan, step, entry, library, numbers)
        elif instruction.op == "call":
            step = externs[instruction.names[0]]
            ins = tuple(_operand(plan, view, numbers) for view in step.operands)
            outs = tuple(_whole(plan, name, numbers) for name in step.buffers)
            yield ("call", _callable(step), ins, outs)
        elif instruction.op == "free" and number < last:
            dead = tuple(arrays[name] for name in instruction.names if name in arrays)
            if dead:
                yield ("release", dead)


def _template(
    plan: Plan, step: Template, entry: Tile, library: Library, numbers: dict[str, int]
) -> tuple[Any, ...]:
    """A template as a call back into Python, which makes its tiles one after another.

    The epilogue's addresses are those of the whole product: its pointer is set back by the rows
    that lie before the tile.
    """
    serial = _function(library, entry.serial, 2)
    parallel = _function(library, entry.parallel, 3) if entry.parallel else None
    inputs = [b for b in step.nest.buffers if b.name != step.tile and b.name not in writes(step)]
    outputs = [b for b in step.nest.buffers if b.name in writes(step)]
    size = len(plan.buffers)
    row = plan.buffer(step.tile).nbytes // step.count
    multiply = step.product.call.direct
    assert multiply is not None

    def call(*views: Any) -> None:
        first, second, *rest = views
        tile, arrays = rest[len(inputs)], rest[: len(inputs)] + rest[len(inputs) + 1 :]
        table = (ctypes.c_void_p * size)()
        for buffer, array in zip((*inputs, *outputs), arrays, strict=True):
            table[numbers[buffer.name]] = _first_byte(array)
        known = (_recorded.stack[-1] if _recorded.stack else {}).get(step.tile)
        count = threads() if parallel is not None and not _forked else 1
        for begin, end in step.tiles():
            part = tile[: end - begin]
            if known is not None:
                part[...] = known[begin:end]
            else:
                with np.errstate(all="ignore"):
                    multiply(first[begin:end], second, out=part)
            table[numbers[step.tile]] = _first_byte(tile) - begin * row
            low, high = step.bounds(entry.total, begin, end)
            if parallel is not None and count > 1:
                parallel(table, low, high, count)
            else:
                serial(table, low, high)

    ins = [_operand(plan, view, numbers) for view in step.product.operands]
    ins += [_whole(plan, buffer.name, numbers) for buffer in inputs]
    outs = [_whole(plan, name, numbers) for name in (step.tile, *(b.name for b in outputs))]
    return ("call", call, tuple(ins), tuple(outs))


def _function(library: Library, symbol: str, numbers: int) -> Callable[..., int]:
    """An entry of a library that takes the table of buffers and some numbers; frees the GIL."""
    address = library.symbol(symbol)
    if not address:
        raise BackendError(f"the library lacks {symbol}")
    wide = [ctypes.c_int64] * 2 + [ctypes.c_int] * (numbers - 2)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), *wide)
    function = kind(address)
    function.library = library  # type: ignore[attr-defined]  # keeps it loaded
    return function


def _first_byte(array: np.ndarray) -> int:
    """The address of an array's first element."""
    address: int = array.__array_interface__["data"][0]
    return address


def _operand(plan: Plan, view: View, numbers: dict[str, int]) -> tuple[Any, ...]:
    """A view of a buffer as the runtime describes it, in bytes."""
    buffer = plan.buffer(view.buffer)
    size = buffer.dtype.itemsize
    steps, offset = view.layout(buffer.strides)
    strides = tuple(step * size for step in steps)
    return (numbers[view.buffer], buffer.dtype, view.shape, strides, offset * size)


def _whole(plan: Plan, name: str, numbers: dict[str, int]) -> tuple[Any, ...]:
    buffer = plan.stored(name)
    strides = tuple(stride * buffer.dtype.itemsize for stride in buffer.strides)
    return (numbers[name], buffer.dtype, buffer.shape, strides, 0)


def _callable(step: Extern) -> Callable[..., None]:
    """The external call on views: operands, then the results that it fills."""
    count = len(step.operands)
    direct = step.call.direct

    def call(*views: Any) -> None:
        operands, outs = views[:count], views[count:]
        known = _recorded.stack[-1] if _recorded.stack else {}
        if all(name in known for name in step.buffers):
            for name, out in zip(step.buffers, outs, strict=True):
                out[...] = known[name]
        elif direct is not None:
            with np.errstate(all="ignore"):
                direct(*operands, out=outs[0])
        else:
            try:
                step.call.fill(operands, outs, step.results)
            except Exception as error:
                note(error, step.line)
                raise

    return call
