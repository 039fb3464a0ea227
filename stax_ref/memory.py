"""memory: where every computed buffer is stored (seed §7.5).

Takes ordered groups; gives ``Memory``: a ``Slot`` per computed buffer, and how the arena was laid
out. Lifetimes are closed intervals of steps (Definition 7.5). A buffer used only inside its group
becomes a register or a row on the stack (``private``); the others share one arena by temporal and
spatial splits (``pools``), after storage has been taken over in place (``inplace``) and, in the
seed's schedule, from the free pool (``freepool``). Outputs get memory of their own. Not here:
statements (``nest``), the runtime's pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from . import freepool
from .config import Config
from .errors import InvariantError
from .group import Group
from .inplace import in_place
from .node import Buffer
from .pools import Block, Pool, aligned, least_bytes, pooled
from .private import private_storage


@dataclass(frozen=True, slots=True)
class Slot:
    """Storage of one computed buffer.

    Args:
        buffer: its name.
        kind: ``"output"``, ``"arena"``, ``"tile"`` (in the arena, of a product that is made in
            tiles), ``"row"`` (inside the kernel, one row per outer iteration) or ``"register"``
            (never stored).
        nbytes: bytes of the storage; of one row for ``"row"``.
        first: step that defines it.
        last: last step that reads it; a closed interval.
        offset: byte offset in the arena, 0 elsewhere.
        takes: the buffer whose storage it takes over, empty for none; an output takes that of an
            argument.
        how: ``"in place"`` (its kernel still reads the old contents) or ``"reuse"`` (they are dead
            before); empty where it takes nothing over.
    """

    buffer: str
    kind: str
    nbytes: int
    first: int
    last: int
    offset: int = 0
    takes: str = ""
    how: str = ""

    @property
    def in_arena(self) -> bool:
        """True when its storage is a part of the arena."""
        return self.kind in ("arena", "tile")

    def __str__(self) -> str:
        text = f"{self.buffer}  {self.kind}  {self.nbytes} bytes  steps {self.first}..{self.last}"
        if self.in_arena:
            text += f" bytes {self.offset}..{self.offset + self.nbytes}"
        return f"{text}  {self.how} of {self.takes}" if self.takes else text


@dataclass(frozen=True, slots=True)
class Memory:
    """Storage of all computed buffers.

    Args:
        slots: in order of definition.
        pool: how the arena is laid out.
        least: M* of Definition 7.5 for what is in the arena: no layout needs less, except in place.
        reuse: what the free pool found; None in the default schedule, which has none.
    """

    slots: tuple[Slot, ...]
    pool: Pool
    least: int
    reuse: freepool.Reuse | None = None

    def live(self, step: int) -> tuple[Slot, ...]:
        """Slots that hold something at this step: L(τ) of Definition 7.5."""
        return tuple(slot for slot in self.slots if slot.first <= step <= slot.last)

    def __str__(self) -> str:
        lines = [*map(str, self.slots)]
        if self.pool.size:
            lines += ["", str(self.pool), f"at least {self.least} bytes live at one step"]
        if self.reuse is not None and self.reuse.taken:
            peaks = f"{self.reuse.before} bytes without reuse, {self.reuse.after} with it"
            lines.append(f"free pool: peak {peaks}")
        return "\n".join(lines)


def memory(
    sequence: Sequence[Group],
    buffers: Mapping[str, Buffer],
    outputs: Sequence[str],
    config: Config,
) -> Memory:
    """Ordered groups → storage.

    Args:
        sequence: groups in the order they run.
        buffers: every buffer by name.
        outputs: names of the buffers the caller gets.
        config: ``local_bytes`` and ``in_place_percent``; the seed keeps every intermediate in a
            buffer and reuses storage by a free pool.
    """
    slots = _slots(sequence, buffers, outputs, config)
    stored = {slot.buffer: slot for slot in slots if slot.in_arena}
    whole = {name for name, slot in stored.items() if slot.kind == "arena"}
    last = {slot.buffer: slot.last for slot in slots}
    takes = in_place(sequence, buffers, whole, last, config)
    takes |= {
        new: old
        for new, old in _overwritten(sequence)
        if old in whole and new in whole and last[old] == stored[new].first
    }
    how = dict.fromkeys(takes, "in place")
    blocks = _blocks(stored.values(), takes)
    least = least_bytes([Block(s.buffer, s.nbytes, s.first, s.last) for s in stored.values()])
    found = None
    if config.seed:
        keys = [(buffers[block.name].dtype.str, block.nbytes) for block in blocks]
        found = freepool.reuse(blocks, keys, len(sequence))
        last_of = {first: new for new, first in _roots(takes).items()}
        how |= dict.fromkeys(found.taken, "reuse")
        takes |= {new: last_of.get(old, old) for new, old in found.taken.items()}
        blocks = _blocks(stored.values(), takes)
    pool = pooled(blocks)
    root = _roots(takes)
    placed = [
        replace(
            slot,
            offset=pool.offsets[root.get(slot.buffer, slot.buffer)],
            takes=takes.get(slot.buffer, ""),
            how=how.get(slot.buffer, ""),
        )
        if slot.in_arena
        else slot
        for slot in slots
    ]
    return Memory(tuple(placed), pool, least, found)


def _slots(
    sequence: Sequence[Group],
    buffers: Mapping[str, Buffer],
    outputs: Sequence[str],
    config: Config,
) -> list[Slot]:
    """Kinds and lifetimes, in order of definition; no offsets yet."""
    last = {dep.buffer: k for k, g in enumerate(sequence) for r in g.records for dep in r.reads}
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
    arguments = {
        new: old
        for new, old in _overwritten(sequence)
        if new in outputs and buffers[old].kind == "input"
    }
    return [
        replace(slot, takes=arguments[slot.buffer], how="in place")
        if slot.buffer in arguments
        else slot
        for slot in slots
    ]


def _overwritten(sequence: Sequence[Group]) -> Iterator[tuple[str, str]]:
    """Buffers that are written in the storage of another, each with that one (``Node.mutates``)."""
    for group in sequence:
        for node in group.nodes:
            if node.mutates is not None:
                yield node.buffer, node.mutates


def _roots(takes: Mapping[str, str]) -> dict[str, str]:
    """Per buffer that takes storage over the buffer that had it first."""
    found: dict[str, str] = {}
    for new, old in takes.items():
        first = old
        while first in takes:
            first = takes[first]
        found[new] = first
    return found


def _blocks(stored: Iterable[Slot], takes: Mapping[str, str]) -> list[Block]:
    """One block per storage, from its first owner's first step to its last owner's last one."""
    root = _roots(takes)
    found: dict[str, Block] = {}
    for slot in stored:
        name = root.get(slot.buffer, slot.buffer)
        if name not in found:
            found[name] = Block(name, slot.nbytes, slot.first, slot.last)
        else:
            block = found[name]
            found[name] = replace(block, last=max(block.last, slot.last))
    return list(found.values())


def arena_bytes(slots: Sequence[Slot]) -> int:
    """Bytes of the arena: the end of its highest slot, aligned."""
    return max((aligned(s.offset + s.nbytes) for s in slots if s.in_arena), default=0)


def check(slots: Sequence[Slot]) -> None:
    """No two arena slots that live at the same time share a byte, but for storage taken in place.

    Raises:
        InvariantError: with the two slots.
    """
    arena = sorted((slot for slot in slots if slot.in_arena), key=lambda s: s.first)
    live: list[Slot] = []
    for slot in arena:
        live = [other for other in live if other.last >= slot.first]
        for other in live:
            taken = slot.how == "in place" and slot.takes == other.buffer
            apart = slot.offset >= other.offset + other.nbytes
            if not apart and other.offset < slot.offset + slot.nbytes:
                if taken and other.last == slot.first:
                    continue
                raise InvariantError(f"two live buffers overlap in the arena:\n  {other}\n  {slot}")
        live.append(slot)
