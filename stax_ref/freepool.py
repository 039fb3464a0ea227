"""freepool: storage that is used again by a buffer of the same size (seed §7.5).

Takes blocks in the order in which they are allocated; gives, per block, whose storage it takes
over. Allocation and release records are scanned in order and a pool of free storage is kept; what
was freed last is taken first. Reuse is between equal dtypes and sizes only, so the general problem
does not arise, and no reuse raises the peak: storage that waits for its next owner stays occupied,
which is checked against the peak at every step it waits. Not here: offsets (``pools``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from .pools import Block


@dataclass(frozen=True, slots=True)
class Reuse:
    """What a scan found.

    Args:
        taken: per block that takes over storage the block that had it before.
        before: peak without any reuse, in bytes.
        after: peak with it; never larger.
    """

    taken: dict[str, str]
    before: int
    after: int


def reuse(blocks: Sequence[Block], keys: Sequence[Hashable], steps: int) -> Reuse:
    """Scan allocations and releases.

    Args:
        blocks: in order of allocation; a block's storage is allocated before its first step and
            released after its last.
        keys: per block what a successor must agree in (device, dtype, size).
        steps: length of the program.

    Returns:
        who takes over from whom, and the peaks.
    """
    occupied = [0] * (steps + 1)
    for block in blocks:
        for step in range(block.first, block.last + 1):
            occupied[step] += block.nbytes
    peak = before = max(occupied, default=0)
    free: dict[Hashable, list[Block]] = {}
    releases: dict[int, list[int]] = {}
    for number, block in enumerate(blocks):
        releases.setdefault(block.last, []).append(number)
    taken: dict[str, str] = {}
    done = 0
    for number, block in enumerate(blocks):
        while done < block.first:
            for released in releases.get(done, []):
                free.setdefault(keys[released], []).append(blocks[released])
            done += 1
        waiting = free.get(keys[number], [])
        for place in range(len(waiting) - 1, -1, -1):
            old = waiting[place]
            gap = range(old.last + 1, block.first)
            if all(occupied[step] + old.nbytes <= peak for step in gap):
                for step in gap:
                    occupied[step] += old.nbytes
                taken[block.name] = old.name
                del waiting[place]
                break
    return Reuse(taken, before, max(occupied, default=0))
