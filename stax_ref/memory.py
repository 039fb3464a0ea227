"""memory: where each buffer lives, and from when to when (seed §7.5, Definition 7.5).

Takes the ordered groups; gives one ``Slot`` per computed buffer. A buffer that only its own kernel
uses becomes a register or a row inside the kernel where the loop tree allows it; the others get a
byte range of one arena, first fit in order of definition, 64-byte aligned; outputs get memory of
their own. Not here: statements (``nest``), the runtime's pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .config import Config
from .errors import InvariantError
from .group import Group
from .node import Buffer
from .private import private_storage

ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Slot:
    """Storage of one computed buffer.

    Args:
        buffer: its name.
        kind: ``"output"``, ``"arena"``, ``"row"`` (inside the kernel, one row per outer iteration)
            or ``"register"`` (never stored).
        nbytes: bytes of the storage; of one row for ``"row"``.
        first: step that defines it.
        last: last step that reads it; a closed interval.
        offset: byte offset in the arena, 0 elsewhere.
    """

    buffer: str
    kind: str
    nbytes: int
    first: int
    last: int
    offset: int = 0

    def __str__(self) -> str:
        text = f"{self.buffer}  {self.kind}  {self.nbytes} bytes  steps {self.first}..{self.last}"
        end = self.offset + self.nbytes
        return f"{text} bytes {self.offset}..{end}" if self.kind == "arena" else text


def memory(
    sequence: Sequence[Group],
    buffers: Mapping[str, Buffer],
    outputs: Sequence[str],
    config: Config,
) -> tuple[Slot, ...]:
    """Ordered groups → slots, in order of definition.

    Args:
        sequence: groups in the order they run.
        buffers: every buffer by name.
        outputs: names of the buffers the caller gets.
        config: ``local_bytes``; the seed keeps every intermediate in a buffer.
    """
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for step, group in enumerate(sequence):
        for record in group.records:
            first |= dict.fromkeys(record.node.buffers, step)
            for dep in record.reads:
                last[dep.buffer] = step
    slots: list[Slot] = []
    for step, group in enumerate(sequence):
        names = [name for record in group.records for name in record.node.buffers]
        inside = [n for n in names if n not in outputs and last.get(n, step) == step]
        private = private_storage(group, inside, buffers, config)
        for name in names:
            if name in private:
                slots.append(Slot(name, *private[name], step, step))
                continue
            kind = "output" if name in outputs else "arena"
            end = len(sequence) if name in outputs else last[name]
            slots.append(Slot(name, kind, buffers[name].nbytes, step, end))
    return _placed(slots)


def _placed(slots: Sequence[Slot]) -> tuple[Slot, ...]:
    """Offsets by first fit among the slots whose lifetimes intersect."""
    placed: list[Slot] = []
    for slot in slots:
        if slot.kind != "arena":
            placed.append(slot)
            continue
        taken = sorted(
            (other.offset, _aligned(other.offset + other.nbytes))
            for other in placed
            if other.kind == "arena" and other.first <= slot.last and slot.first <= other.last
        )
        offset = 0
        for begin, end in taken:
            if offset + slot.nbytes <= begin:
                break
            offset = max(offset, end)
        placed.append(Slot(slot.buffer, slot.kind, slot.nbytes, slot.first, slot.last, offset))
    return tuple(placed)


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def arena_bytes(slots: Sequence[Slot]) -> int:
    """Bytes of the arena: the end of its highest slot, aligned."""
    return max((_aligned(s.offset + s.nbytes) for s in slots if s.kind == "arena"), default=0)


def check(slots: Sequence[Slot]) -> None:
    """No two arena slots that live at the same time share a byte.

    Raises:
        InvariantError: with the two slots.
    """
    arena = [slot for slot in slots if slot.kind == "arena"]
    for k, a in enumerate(arena):
        for b in arena[:k]:
            together = a.first <= b.last and b.first <= a.last
            if together and a.offset < b.offset + b.nbytes and b.offset < a.offset + a.nbytes:
                raise InvariantError(f"two live buffers overlap in the arena:\n  {a}\n  {b}")
