"""hazards: who holds each byte of the arena, recomputed from the steps alone (seed §7.5).

Takes a plan; raises ``InvariantError`` with the steps around the culprit. Every read must find its
own buffer's bytes: read-after-write, write-after-read and write-after-write are asked of byte
ranges, not of the lifetimes that ``memory`` states; those are compared with what the steps do. A
kernel may write over a buffer it reads only where each element is read before it is overwritten,
and by the same iteration. Holds the same walk for the wrapper's names. Not here: where a buffer is
put (``memory``).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from .errors import InvariantError, around
from .index import Index, Symbol, c_strides, flatten, variable
from .nest import If, Let, Loop, Nest, Statement, Store
from .node import Access, Buffer
from .steps import Extern, Step, Template

if TYPE_CHECKING:
    from .memory import Slot
    from .plan import Plan


@dataclass(frozen=True, slots=True)
class Touch:
    """One read or write of a buffer by a step.

    Args:
        buffer: its name.
        written: True for a write.
        loops: the loops around it, outermost first: a number that no other loop has, and a symbol.
        access: the element; None when the step touches all of them in any order.
        shape: of the buffer.
    """

    buffer: str
    written: bool
    loops: tuple[tuple[int, Symbol], ...] = ()
    access: Access | None = None
    shape: tuple[int, ...] = ()

    @property
    def index(self) -> Index | None:
        """The number of the element in C order."""
        return None if self.access is None else flatten(self.access.index, c_strides(self.shape))

    def follows_in_place(self, earlier: Touch) -> bool:
        """May this write replace what ``earlier``, before it in the text, read or wrote?

        In one innermost body both must mean the same element: an iteration reads it and then writes
        it, and no other iteration meets it, because a write meets each element once (Proposition
        7.2). Otherwise the loops they do not share follow each other inside one iteration of those
        they do, and it is enough that no two of these iterations meet in an element.
        """
        mine, theirs = self.index, earlier.index
        if mine is None or theirs is None:
            return False
        shared = [a for a, b in zip(self.loops, earlier.loops, strict=False) if a == b]
        if len(shared) == len(self.loops) == len(earlier.loops):
            return mine == theirs
        outer = [symbol for _, symbol in shared]
        here, there = _block(mine, outer, self.loops), _block(theirs, outer, earlier.loops)
        if here is None or there is None or here[0] != there[0]:
            return False
        room = max(here[1], there[1])
        for coefficient, symbol in sorted(zip(here[0], outer, strict=False), key=lambda e: e[0]):
            if symbol.extent > 1 and coefficient < room:
                return False
            room = max(room, coefficient * symbol.extent)
        return True

    def follows_in_block(self, earlier: Touch, size: int) -> bool:
        """May this write replace an argument's element although ``earlier`` read another one?

        Only if the two lie in different inner loops of one outer iteration, or one in none of them,
        which reads no element but those that it writes: ``size`` elements in equal blocks, one per
        outer iteration.
        """
        if self.index is None or earlier.index is None:
            return False
        pairs = zip(self.loops, earlier.loops, strict=False)
        outer = [a for a, b in pairs if a == b]
        inside = [loops[len(outer) :] for loops in (self.loops, earlier.loops)]
        if not outer or not any(inside):
            return False
        extents = [symbol.extent for _, symbol in outer]
        block = size // math.prod(extents)
        number = flatten([variable(symbol) for _, symbol in outer], c_strides(extents))
        for index in (self.index, earlier.index):
            low, high = (index - number * block).bounds()
            if low < 0 or high >= block:
                return False
        return True


def _block(
    index: Index, outer: Sequence[Symbol], loops: Sequence[tuple[int, Symbol]]
) -> tuple[list[int], int] | None:
    """What an iteration of the outer loops touches: one range of elements.

    Returns:
        the coefficients of the outer loops and the constant, which say where the range begins, and
        its length; None for an index that is no sum of loops that count upwards.
    """
    if not index.is_affine:
        return None
    begin = [index.coefficient(symbol) or 0 for symbol in outer]
    inner = [(index.coefficient(s) or 0, s.extent) for _, s in loops[len(outer) :]]
    if min([*begin, *(c for c, _ in inner)], default=0) < 0:
        return None
    if not index.symbols() <= {symbol for _, symbol in loops}:
        return None
    return [*begin, index.constant], 1 + sum(c * (extent - 1) for c, extent in inner)


class _Bytes:
    """Who wrote each byte last: a map from ranges of bytes to names of buffers."""

    def __init__(self, nbytes: int) -> None:
        self.starts, self.holders, self.end = [0], [""], nbytes

    def held(self, begin: int, end: int) -> list[str]:
        """The holders of a range in order of address; the empty name where nobody wrote."""
        return self.holders[bisect_right(self.starts, begin) - 1 : bisect_left(self.starts, end)]

    def hold(self, begin: int, end: int, name: str) -> None:
        """From now on the range belongs to ``name``."""
        low, high = bisect_left(self.starts, begin), bisect_left(self.starts, end)
        starts, holders = [begin], [name]
        if high == len(self.starts) or self.starts[high] != end:
            starts.append(end)
            holders.append(self.holders[high - 1])
        self.starts[low:high], self.holders[low:high] = starts, holders


def check_bytes(plan: Plan) -> None:
    """Run the steps on names instead of values.

    Raises:
        InvariantError: a step reads a buffer that was never written or whose bytes another buffer
            took; a kernel overwrites what another of its iterations still reads; a stated lifetime
            is shorter than the steps need; a buffer ends outside the arena.
    """
    _Walk(plan).run()


class _Walk:
    """One walk over the steps of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.buffers = {buffer.name: buffer for buffer in plan.buffers}
        self.slots = {slot.buffer: slot for slot in plan.slots if slot.in_arena}
        self.ranges = {
            name: (slot.offset, slot.offset + self._size(slot)) for name, slot in self.slots.items()
        }
        taken = [i.nbytes for i in plan.wrapper if i.op == "arena"]  # none for a free pool
        self.arena = _Bytes(min([plan.arena_bytes, *taken]))
        self.arguments = plan.overwritten
        self.gone: dict[str, tuple[str, int]] = {}
        self.written = {b.name: -1 for b in plan.buffers if b.kind != "computed" or 0 in b.shape}

    def run(self) -> None:
        """Every step in order, then the outputs."""
        for number, step in enumerate(self.plan.steps):
            earlier: list[Touch] = []
            for touch in touches(step, self.buffers):
                if not touch.written:
                    self._read(touch.buffer, number)
                elif touch.buffer in self.slots:
                    self._overwrite(touch, earlier, number)
                elif touch.buffer in self.arguments:
                    self._replace(touch, earlier, number)
                if touch.written:
                    self.written[touch.buffer] = number
                earlier.append(touch)
        last = len(self.plan.steps) - 1
        for name in self.plan.outputs:
            if name not in self.written:
                raise self._wrong(f"the output {name} is never written", last)

    def _size(self, slot: Slot) -> int:
        """Bytes that are written: all of the buffer, or what the slot says where it is a tile."""
        return slot.nbytes if slot.kind == "tile" else self.buffers[slot.buffer].nbytes

    def _read(self, name: str, number: int) -> None:
        """A read finds what its own buffer's writer left (read-after-write)."""
        step = self.plan.steps[number].name
        if name not in self.written:
            raise self._wrong(f"{name} is read by {step} before it is written", number)
        if name in self.gone:
            new, thief = self.gone[name]
            by = self.plan.steps[thief].name
            raise self._wrong(f"{step} reads {name} after {by} wrote {new} over it", thief, number)
        if name not in self.slots:
            return
        self._lives(name, number)
        for holder in self.arena.held(*self.ranges[name]):
            if holder != name:
                thief = self.written[holder]
                raise self._wrong(
                    f"{step} reads {name} after {self.plan.steps[thief].name} wrote {holder} "
                    "over its bytes",
                    *(self.written[name], thief, number),
                )

    def _overwrite(self, touch: Touch, earlier: Sequence[Touch], number: int) -> None:
        """A write leaves alone what its own step reads or writes (write-after-read and -write)."""
        name, step = touch.buffer, self.plan.steps[number].name
        begin, end = self.ranges[name]
        if end > self.arena.end:
            raise self._wrong(f"{name} ends outside the arena of {self.arena.end} bytes", number)
        self._lives(name, number)
        size = self.buffers[name].dtype.itemsize
        for other in earlier:
            if other.buffer == name or other.buffer not in self.slots:
                continue
            low, high = self.ranges[other.buffer]
            if low >= end or begin >= high:
                continue
            if _assigns_into(self.plan.steps[number], other.buffer):
                continue
            aligned = low == begin and self.buffers[other.buffer].dtype.itemsize == size
            if not (aligned and touch.follows_in_place(other)):
                did = "writes too" if other.written else "still reads"
                what = f"{step} writes {name} over the bytes of {other.buffer}, which it {did}"
                raise self._wrong(what, number)
        self.arena.hold(begin, end, name)

    def _replace(self, touch: Touch, earlier: Sequence[Touch], number: int) -> None:
        """A write into an argument's memory leaves alone what its own step still reads there."""
        old, size = self.arguments[touch.buffer], self.buffers[touch.buffer].size
        for other in earlier:
            same = touch.follows_in_place(other) or touch.follows_in_block(other, size)
            if other.buffer == old and not same:
                what = f"writes {touch.buffer} over {old}, which it still reads"
                raise self._wrong(f"{self.plan.steps[number].name} {what}", number)
        self.gone[old] = (touch.buffer, number)

    def _lives(self, name: str, number: int) -> None:
        slot = self.slots[name]
        if not slot.first <= number <= slot.last:
            stated = f"steps {slot.first}..{slot.last}"
            step = self.plan.steps[number].name
            raise self._wrong(f"{name} lives in {stated}, but {step} is step {number}", number)

    def _wrong(self, what: str, *culprits: int) -> InvariantError:
        steps = self.plan.steps
        found = [number for number in culprits if 0 <= number < len(steps)]
        lines = [self._line(step) for step in steps]
        places = next((s.places for k in found[::-1] if not isinstance(s := steps[k], Extern)), ())
        text = f"{what}, in\n{around(lines, found)}" if lines else what
        return InvariantError(text, places[0] if places else None)

    def _line(self, step: Step) -> str:
        """A step with its buffers, their bytes in the arena and the user's lines."""
        found = list(touches(step, self.buffers))
        read = ", ".join(dict.fromkeys(self._place(t.buffer) for t in found if not t.written))
        wrote = ", ".join(dict.fromkeys(self._place(t.buffer) for t in found if t.written))
        lines = (step.line,) if isinstance(step, Extern) else step.lines
        return f"{step.name}: {read} -> {wrote}  # {', '.join(filter(None, lines))}".rstrip(" #")

    def _place(self, name: str) -> str:
        return f"{name}@{'..'.join(map(str, self.ranges[name]))}" if name in self.slots else name


# what a step touches -----------------------------------------------------------------------------
def touches(step: Step, buffers: dict[str, Buffer]) -> Iterator[Touch]:
    """Reads and writes of buffers in memory, in the order of the step's text."""
    if isinstance(step, Nest):
        outside = {buffer.name: buffer for buffer in step.buffers}
        yield from _Touches(outside).of(step.body, ())
    elif isinstance(step, Template):
        yield from (Touch(view.buffer, False) for view in step.product.operands)
        yield Touch(step.tile, True)
        yield from touches(step.nest, buffers)
    else:
        yield from _extern_touches(step)


def _assigns_into(step: Step, buffer: str) -> bool:
    """True when a call assigns into this operand: it reads nothing of it but what it leaves."""
    if not isinstance(step, Extern) or step.call.overwrites is None:
        return False
    return step.operands[step.call.overwrites].buffer == buffer


def _extern_touches(step: Extern) -> Iterator[Touch]:
    yield from (Touch(view.buffer, False) for view in step.operands)
    yield from (Touch(name, True) for name in step.buffers)


class _Touches:
    """Numbers the loops of one kernel while it walks them."""

    def __init__(self, buffers: dict[str, Buffer]) -> None:
        self.buffers = buffers
        self.count = 0

    def of(
        self, body: Sequence[Statement], loops: tuple[tuple[int, Symbol], ...]
    ) -> Iterator[Touch]:
        """The touches of a body inside these loops."""
        for statement in body:
            if isinstance(statement, Loop):
                self.count += 1
                yield from self.of(statement.body, (*loops, (self.count, statement.symbol)))
            elif isinstance(statement, If):
                yield from self.of(statement.body, loops)
            elif isinstance(statement, (Let, Store)) and statement.access is not None:
                buffer = self.buffers.get(statement.access.buffer)
                if buffer is not None:
                    written = isinstance(statement, Store)
                    yield Touch(buffer.name, written, loops, statement.access, buffer.shape)


RUNS = ("launch", "call", "template")
"""Instructions that run steps."""


# names -------------------------------------------------------------------------------------------
def check_names(plan: Plan) -> None:
    """The wrapper runs every step once and in order, on names that are bound, and frees no other.

    Raises:
        InvariantError: with the wrapper's lines around the culprit.
    """
    run = [name for i in plan.wrapper if i.op in RUNS for name in i.names]
    if run != [step.name for step in plan.steps]:
        ours = ", ".join(step.name for step in plan.steps)
        raise InvariantError(f"the wrapper runs {', '.join(run)}, but the steps are {ours}")
    steps = {step.name: step for step in plan.steps}
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    bound: set[str] = set()
    for number, instruction in enumerate(plan.wrapper):
        op, needed = instruction.op, instruction.names
        if op in RUNS:
            needed = tuple(t.buffer for n in needed for t in touches(steps[n], buffers))
        if op in ("guard", "allocate", "slot"):
            bound |= set(needed)
        elif op in ("reuse", "in place"):
            needed = needed[1:]
        missing = [name for name in needed if name not in bound]
        if missing:
            lines = [line for entry in plan.wrapper for line in plan.instruction_lines(entry)]
            ends = [0]
            for entry in plan.wrapper:
                ends.append(ends[-1] + len(plan.instruction_lines(entry)))
            begin, end = list(pairwise(ends))[number]
            text = around(lines, range(begin, end))
            raise InvariantError(f"{missing[0]} is not bound where {op} needs it, in\n{text}")
        if op in ("free", "reuse"):
            bound -= set(needed)
        if op in ("reuse", "in place"):
            bound.add(instruction.names[0])
