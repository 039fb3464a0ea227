"""``Plan``: the whole program after all decisions, and its wrapper (seed §8.5, Listing 8.1).

Takes ordered groups, slots and nests; gives the ``Plan`` every executor runs. Holds the wrapper:
one tuple of instructions (check the inputs, allocate, launch, call, free, return) that prints as
runnable Python, that the interpreter executes and that the native runtime executes as a compact
program. Not here: running it (``interpret``, the native runtime), code (backends).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .graph import Graph, Input
from .hazards import check_bytes, check_names
from .lower import Lowered
from .memory import Memory, Slot, arena_bytes
from .memory import check as check_slots
from .nest import Let, Nest, walk
from .node import Buffer, View
from .steps import Extern, Step, Template, build_steps, touched, writes
from .tree import Tree

__all__ = [
    "Extern",
    "Instruction",
    "Plan",
    "Step",
    "Template",
    "build_steps",
    "plan",
    "touched",
    "writes",
]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of the wrapper.

    ``op`` is ``guard`` (shapes, dtypes and strides of inputs), ``arena`` (with ``nbytes``),
    ``slot`` (a buffer inside the arena), ``allocate`` (memory of a buffer's own), ``reuse`` and
    ``in place`` (the first buffer takes over the storage of the second), ``launch`` (kernels of one
    launch), ``call`` (an external call), ``free``, ``commit`` (what an argument holds at the end is
    copied into it, after all flags were read), ``template`` (a product and its epilogue) or
    ``return``.
    """

    op: str
    names: tuple[str, ...] = ()
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole program.

    Args:
        name: of the user's function.
        inputs: what the caller passes, in order, captured arrays last.
        input_buffers: the buffer of each input.
        buffers: every buffer.
        outputs: names of the buffers the caller gets.
        structure: the tree of the result, with the outputs as leaves.
        written: numbers of the inputs that the caller gets back changed: the last outputs are
            copied into them after the flags of all kernels were read.
        weak: per output, True when NumPy would return a Python scalar.
        steps: kernels and external calls in order.
        slots: storage of every computed buffer.
        wrapper: the instructions.
    """

    name: str
    inputs: tuple[Input, ...]
    input_buffers: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    outputs: tuple[str, ...]
    structure: Tree
    written: tuple[int, ...]
    weak: tuple[bool, ...]
    steps: tuple[Step, ...]
    slots: tuple[Slot, ...]
    wrapper: tuple[Instruction, ...]

    @property
    def kernels(self) -> int:
        """Number of kernels: outermost loop nests."""
        return sum(isinstance(step, (Nest, Template)) for step in self.steps)

    @property
    def arena_bytes(self) -> int:
        """Bytes of intermediate storage taken at once."""
        return arena_bytes(self.slots)

    @property
    def peak_bytes(self) -> int:
        """Bytes a call takes beside its inputs: the arena and the outputs."""
        own = {slot.buffer for slot in self.slots if slot.kind == "output" and not slot.takes}
        return self.arena_bytes + sum(self.buffer(name).nbytes for name in own)

    @property
    def overwritten(self) -> dict[str, str]:
        """Outputs that are written in an argument's memory, each with the argument's buffer."""
        return {s.buffer: s.takes for s in self.slots if s.kind == "output" and s.takes}

    @property
    def may_fail(self) -> bool:
        """True when a kernel may raise a flag after which the call is repeated with NumPy.

        A template has no such operation.
        """
        lets = (s for step in self.steps if isinstance(step, Nest) for s in walk(step.body))
        return any(
            isinstance(s, Let)
            and (s.symbol is not None or (s.op == "power" and s.dtype.kind in "iu"))
            for s in lets
        )

    @property
    def bytes_moved(self) -> int:
        """Main-memory traffic of the seed's model: each buffer once per step that touches it."""
        return sum(map(self.moved_by, self.steps))

    def moved_by(self, step: Step) -> int:
        """The traffic of one step: every buffer it touches in memory, once."""
        return sum(self.buffer(name).nbytes for name in touched(step))

    @property
    def least_bytes(self) -> int:
        """The bound: every input and every output moved once."""
        outputs = sum(self.buffer(name).nbytes for name in self.outputs)
        read = {name for step in self.steps for name in touched(step)} & set(self.input_buffers)
        return outputs + sum(self.buffer(name).nbytes for name in read)

    def buffer(self, name: str) -> Buffer:
        """The buffer of this name."""
        return next(buffer for buffer in self.buffers if buffer.name == name)

    def stored(self, name: str) -> Buffer:
        """The buffer as far as it has storage: of a product made in tiles, one tile."""
        buffer, slot = self.buffer(name), self.slot(name)
        if slot is None or slot.kind != "tile":
            return buffer
        rows = slot.nbytes * buffer.shape[0] // buffer.nbytes
        return replace(buffer, shape=(rows, buffer.shape[1]))

    def slot(self, name: str) -> Slot | None:
        """The slot of a computed buffer, None for inputs and empty buffers."""
        return next((slot for slot in self.slots if slot.buffer == name), None)

    @property
    def launches(self) -> tuple[tuple[Nest, ...], ...]:
        """Kernels by launch: neighbours without an external call between them."""
        names = [i.names for i in self.wrapper if i.op == "launch"]
        nests = {step.name: step for step in self.steps if isinstance(step, Nest)}
        return tuple(tuple(nests[name] for name in launch) for launch in names)

    def check(self) -> None:
        """Recompute what the stages promised, from the steps and the wrapper alone.

        Raises:
            InvariantError: two uses of the same bytes of the arena are in the wrong order, a step
                reads what was never written, an output is never written, or the wrapper differs
                from the steps; with the lines around the culprit.
        """
        check_bytes(self)
        check_names(self)
        check_slots(self.slots)

    def __str__(self) -> str:
        head = (
            f"plan {self.name}: {self.kernels} kernels, {self.bytes_moved} bytes moved "
            f"(at least {self.least_bytes}), arena {self.arena_bytes} bytes"
        )
        return "\n".join([head, *map(str, self.slots), "", self.wrapper_text()])

    def wrapper_text(self) -> str:
        """The wrapper as Python; runnable where ``launch``, ``call`` and memory are supplied."""
        lines = ["def wrapper(args):"]
        for instruction in self.wrapper:
            lines += ["    " + line for line in self.instruction_lines(instruction)]
        return "\n".join(lines)

    def instruction_lines(self, instruction: Instruction) -> list[str]:
        """One instruction of the wrapper as lines of Python."""
        op, names = instruction.op, instruction.names
        if op == "guard":
            listed = "".join(f"{name}, " for name in names)
            buffers = [self.buffer(name) for name in names]
            shapes = tuple(buffer.shape for buffer in buffers)
            strides = tuple(buffer.strides for buffer in buffers)
            return [
                f"{listed.rstrip()} = args" if names else "() = args",
                "args.clear()",
                f"assert_size_stride_grouped(({listed.rstrip()}), {shapes}, {strides}, 'input')",
            ]
        if op == "arena":
            return [f"arena = empty_bytes({instruction.nbytes})"]
        if op == "slot":
            slot, buffer = self.slot(names[0]), self.stored(names[0])
            assert slot is not None
            layout = f"{slot.offset}, {buffer.shape}, {buffer.dtype.str!r}"
            return [f"{names[0]} = view(arena, {layout})"]
        if op == "allocate":
            buffer = self.stored(names[0])
            layout = f"{buffer.shape}, {buffer.strides}, {buffer.dtype.str!r}"
            return [f"{names[0]} = empty_strided({layout})"]
        if op in ("reuse", "in place"):
            new, old = (self.buffer(name) for name in names)
            taken = old.name
            if (new.shape, new.strides) != (old.shape, old.strides):
                taken = f"reinterpret_tensor({old.name}, {new.shape}, {new.strides})"
            gone = f"; del {old.name}" if op == "reuse" else ""
            return [f"{new.name} = {taken}{gone}  # {op}"]
        if op == "launch":
            nests = {step.name: step for step in self.steps if isinstance(step, Nest)}
            return [
                f"launch({name!r}, {', '.join(b.name for b in nests[name].buffers)})"
                for name in names
            ]
        if op == "call":
            step = next(s for s in self.steps if isinstance(s, Extern) and s.name == names[0])
            arrays = ", ".join((*map(self._operand_text, step.operands), *step.buffers))
            return [f"call({step.name!r}, {arrays})  # {step.text}"]
        if op == "template":
            tiled = next(s for s in self.steps if s.name == names[0])
            assert isinstance(tiled, Template)
            inside = (*map(self._operand_text, tiled.product.operands), *touched(tiled.nest))
            of = f"{tiled.product.text}, {tiled.rows} rows at a time"
            return [f"template({tiled.name!r}, {', '.join(inside)})  # {of}"]
        if op == "commit":
            return [f"{names[0]}[...] = {names[1]}"]
        if op == "free":
            return [f"del {', '.join(names)}"]
        return [f"return ({''.join(f'{name}, ' for name in names).rstrip()})"]

    def _operand_text(self, view: View) -> str:
        """An operand of an external call: the buffer, or a strided view of it."""
        buffer = self.buffer(view.buffer)
        if view.is_whole(buffer.shape):
            return view.buffer
        steps, offset = view.layout(buffer.strides)
        return f"as_strided({view.buffer}, {view.shape}, {steps}, {offset})"


def plan(graph: Graph, lowered: Lowered, steps: Sequence[Step], memory: Memory) -> Plan:
    """plan: everything decided → the ``Plan`` with its wrapper.

    A schedule with a free pool allocates buffer by buffer, and each kernel is a launch; one without
    takes its arena at once, and neighbouring kernels are one launch.
    """
    inputs = tuple(buffer.name for buffer in lowered.buffers if buffer.kind != "computed")
    return Plan(
        graph.name,
        graph.inputs,
        inputs,
        lowered.buffers,
        lowered.outputs,
        graph.structure,
        graph.written,
        tuple(out.weak for out in graph.outputs),
        tuple(steps),
        memory.slots,
        _wrapper(inputs, lowered.buffers, lowered.outputs, steps, memory, graph.written),
    )


def _wrapper(
    input_buffers: Sequence[str],
    buffers: Sequence[Buffer],
    outputs: Sequence[str],
    steps: Sequence[Step],
    memory: Memory,
    written: Sequence[int],
) -> tuple[Instruction, ...]:
    """Buffers appear before the launch that writes them and go after their last use."""
    instructions = [Instruction("guard", tuple(input_buffers))]
    pooled = memory.reuse is not None
    total = arena_bytes(memory.slots)
    if total and not pooled:
        instructions.append(Instruction("arena", (), total))
    by_name = {buffer.name: buffer for buffer in buffers}
    empty = [name for name in dict.fromkeys(outputs) if by_name[name].size == 0]
    instructions += [Instruction("allocate", (name,)) for name in empty]
    slots = {slot.buffer: slot for slot in memory.slots}
    kept = {*outputs, *(input_buffers[k] for k in written)}
    kept |= {slot.takes for slot in memory.slots if slot.how == "reuse"}
    runs = [[step] for step in steps] if pooled else _runs(steps)
    last = {name: number for number, run in enumerate(runs) for s in run for name in touched(s)}
    defined = set(input_buffers)
    for number, run in enumerate(runs):
        names = dict.fromkeys(name for step in run for name in touched(step))
        tiles = [step.tile for step in run if isinstance(step, Template)]
        for name in (*names, *tiles):
            if name not in defined:
                instructions.append(_storage(slots[name], pooled))
        defined |= set(names)
        op = {Nest: "launch", Extern: "call", Template: "template"}[type(run[0])]
        instructions.append(Instruction(op, tuple(step.name for step in run)))
        gone = tuple(name for name in names if last[name] == number and name not in kept)
        gone += tuple(tiles)
        if gone:
            instructions.append(Instruction("free", gone))
    returned = len(outputs) - len(written)
    for number, name in zip(written, outputs[returned:], strict=True):
        if name in slots and slots[name].takes:
            continue
        instructions.append(Instruction("commit", (input_buffers[number], name)))
    instructions.append(Instruction("return", tuple(outputs[:returned])))
    return tuple(instructions)


def _storage(slot: Slot, pooled: bool) -> Instruction:
    """How a buffer gets its storage."""
    if slot.kind == "output" and slot.takes:
        return Instruction(slot.how, (slot.buffer, slot.takes))
    if not slot.in_arena:
        return Instruction("allocate", (slot.buffer,))
    if not pooled:
        return Instruction("slot", (slot.buffer,))
    if slot.takes:
        return Instruction(slot.how, (slot.buffer, slot.takes))
    return Instruction("allocate", (slot.buffer,))


def _runs(steps: Sequence[Step]) -> list[list[Step]]:
    """Maximal runs of kernels; an external call is a run of its own."""
    runs: list[list[Step]] = []
    for step in steps:
        if runs and isinstance(step, Nest) and isinstance(runs[-1][0], Nest):
            runs[-1].append(step)
        else:
            runs.append([step])
    return runs
