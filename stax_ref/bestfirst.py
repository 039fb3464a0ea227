"""bestfirst: the default's fusion: what saves most bytes first, and a search around it.

Takes a ``greedy.Run`` that has not begun and the traffic of the program; gives it finished. Holds
the bytes a partition moves (seed Definition 7.3), fusion of the best pair with a look at the
result's new neighbours at once, and, in small programs, what happens without one of its fusions.
Not here: the seed's rounds (``greedy``), what may be fused (``legality``).
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .greedy import CYCLE, Pair, Run, Unit, score, shared_bytes

AVOIDED = "without this fusion others save more"


@dataclass(frozen=True, slots=True)
class Traffic:
    """Who reads what: which buffers a fusion spares main memory altogether (Definition 7.3).

    Args:
        readers: per buffer the bit set of the nodes that read it.
        sizes: bytes of every computed buffer.
        kept: buffers that are stored in any case, as the caller gets them.
        names: per dependence its buffer.
        alone: nodes that are never fused.
    """

    readers: Mapping[str, int]
    sizes: Mapping[str, int]
    kept: frozenset[str]
    names: Mapping[int, str]
    alone: frozenset[int] = frozenset()

    def is_private(self, buffer: str, members: int) -> bool:
        """True when only these nodes read the buffer."""
        return buffer not in self.kept and not self.readers.get(buffer, 0) & ~members

    def saved(self, first: Unit, second: Unit, members: int) -> int:
        """Bytes that fusing these two units spares: shared reads, and writes nobody else reads."""
        private = (
            self.sizes[name]
            for name in (first.writes | second.writes) & first.buffers & second.buffers
            if self.is_private(name, members)
        )
        return shared_bytes(first, second) + sum(private)

    def cost(self, units: Sequence[Unit], members: Mapping[int, int]) -> int:
        """Transfer volume of a partition (Definition 7.3): what each unit moves but does not own.

        Args:
            units: the partition.
            members: per unit number the bit set of its nodes.
        """
        return sum(
            nbytes
            for unit in units
            for dep, nbytes in unit.touches.items()
            if self.names[dep] not in unit.writes
            or not self.is_private(self.names[dep], members[unit.number])
        )

    def least(self, units: Sequence[Unit]) -> int:
        """A bound no partition goes below: each buffer once for every unit that stays alone, and
        once for all others together where it has to be in memory at all."""
        total = 0
        touching: dict[int, list[Unit]] = {}
        for unit in units:
            for dep in unit.touches:
                touching.setdefault(dep, []).append(unit)
        for dep, near in touching.items():
            name = self.names[dep]
            single = sum(unit.first in self.alone for unit in near)
            stored = single or name in self.kept or name not in self.sizes
            others = single < len(near) and stored
            total += near[0].touches[dep] * (single + bool(others))
        return total


def fewest_bytes(run: Run, traffic: Traffic) -> Run:
    """The default's partition: best first, and in small programs a search around it.

    The search repeats the run without one of its fusions, keeps what moves fewer bytes and starts
    again from there (limited discrepancy search, Harvey and Ginsberg 1995). It ends at
    ``max_tries`` runs, or where every buffer that must be in memory is moved once.

    Args:
        run: not begun; returned finished, or another one in its place.
        traffic: for the bytes a partition moves.
    """
    least = traffic.least(run.units)
    tries = run.config.max_tries if len(run.units) <= run.config.max_searched else 1

    def tried(avoided: frozenset[Pair]) -> tuple[int, Run]:
        attempt = run.again(avoided)
        best_first(attempt, traffic)
        return traffic.cost(attempt.units, attempt.ancestry.members), attempt

    cost, best = tried(frozenset())
    count, waiting = 1, list(best.fusions)
    while waiting and count < tries and cost > least:
        count += 1
        other_cost, other = tried(best.avoided | {waiting.pop(0)})
        if other_cost < cost:
            cost, best, waiting = other_cost, other, list(other.fusions)
    return best


def best_first(run: Run, traffic: Traffic) -> None:
    """Fuse the best pair, look at the result's neighbours, go on until no pair may be fused.

    The bytes really saved come first, then the seed's other criteria.

    Rules are asked only when a pair's turn comes. Of equal pairs the one seen first is taken, so a
    chain is fused like a balanced tree.

    Args:
        run: units, rules and limits; changed in place.
        traffic: for the bytes a fusion really saves.
    """
    alive = {unit.number: unit for unit in run.units}
    members = run.ancestry.members
    shelves: dict[str, list[tuple[int, int]]] = {}
    heap: list[tuple[tuple[int, ...], int, int, int]] = []
    seen = 0

    def offer(first: Unit, second: Unit) -> None:
        nonlocal seen
        plain = score(first, second)
        together = members[first.number] | members[second.number]
        saved = traffic.saved(first, second, together)
        vertical = (first.writes & second.buffers) or (second.writes & first.buffers)
        if saved or vertical:
            worth = (-saved, -plain.kind, -plain.buffers, -plain.nearness)
            heapq.heappush(heap, (worth, seen, first.number, second.number))
            seen += 1

    for unit in run.units:
        near = _neighbours(unit, shelves, run.config.max_neighbours)
        for number in sorted(near, key=lambda n: alive[n].first):
            offer(alive[number], unit)
        _shelve(unit, shelves)
    while heap:
        _, _, a, b = heapq.heappop(heap)
        if a not in alive or b not in alive:
            continue
        first, second = alive[a], alive[b]
        answer = run.ask(first, second)
        if not answer.verdict:
            continue
        if run.ancestry.makes_cycle(a, b):
            run.refuse(first, second, CYCLE)
            continue
        if run.pair(first, second) in run.avoided:
            run.refuse(first, second, AVOIDED)
            continue
        for unit in (first, second):
            del alive[unit.number]
            for name in unit.buffers:
                shelf = shelves[name]
                del shelf[bisect.bisect_left(shelf, (unit.first, unit.number))]
        made = run.merge(first, second, answer)
        near = _neighbours(made, shelves, run.config.max_neighbours)
        alive[made.number] = made
        _shelve(made, shelves)
        for number in sorted(near, key=lambda n: alive[n].first):
            other = alive[number]
            offer(*((made, other) if made.first < other.first else (other, made)))
    run.units = sorted(alive.values(), key=lambda unit: unit.first)


def _neighbours(unit: Unit, shelves: Mapping[str, list[tuple[int, int]]], cap: int) -> set[int]:
    """Units near by that touch a common buffer, at most ``cap`` before and after per buffer."""
    found: set[int] = set()
    for name in unit.buffers:
        shelf = shelves.get(name, [])
        place = bisect.bisect_left(shelf, (unit.first, unit.number))
        found.update(number for _, number in shelf[max(0, place - cap) : place + cap])
    return found


def _shelve(unit: Unit, shelves: dict[str, list[tuple[int, int]]]) -> None:
    for name in unit.buffers:
        bisect.insort(shelves.setdefault(name, []), (unit.first, unit.number))
