"""greedy: which pairs are fused, best first (seed §7.3, Algorithm 7.1).

Takes units (groups of nodes as the algorithm sees them), rules that say what may be fused, and the
limits of the configuration; gives the partition, every decision and the log. Holds the algorithm of
the seed, round by round. Not here: the default's algorithm (``bestfirst``), the rules of nodes
(``legality``) and of abstract graphs (``abstract``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from .acyclic import Ancestry
from .config import Config

Pair = tuple[int, int]
"""Two units, each as the bit set of its nodes."""


@dataclass(slots=True, eq=False)
class Unit:
    """A group of nodes as the algorithm sees it.

    Args:
        number: its number in the ``Ancestry``.
        group: what the rules know it by.
        name: printed in the log.
        touches: bytes of every dependence its nodes read or write (seed §7.1); equal dependences
            have equal numbers.
        buffers: names of the buffers among them.
        writes: names of the buffers its nodes write.
        first: place of its first node in the program.
        last: place of its last node.
        is_reduction: True when a node reduces.
    """

    number: int
    group: Any
    name: str
    touches: Mapping[int, int]
    buffers: frozenset[str]
    writes: frozenset[str]
    first: int
    last: int
    is_reduction: bool

    def joined(self, other: Unit, number: int, group: Any, name: str) -> Unit:
        """Both as one unit, with this number in the ``Ancestry``, this group and this name."""
        return Unit(
            number,
            group,
            name,
            {**self.touches, **other.touches},
            self.buffers | other.buffers,
            self.writes | other.writes,
            min(self.first, other.first),
            max(self.last, other.last),
            self.is_reduction or other.is_reduction,
        )


class Answer(Protocol):
    """What the rules say about a pair; a ``group.Decision`` of nodes, for example."""

    @property
    def verdict(self) -> bool:
        """True when the two may be fused."""


class Rules(Protocol):
    """What the algorithm asks about units. ``first`` is never below ``second``."""

    def can_fuse(self, first: Unit, second: Unit) -> Any:
        """An :class:`Answer`: may these two be one group, for all but cycles?"""

    def refused(self, answer: Any, reason: str) -> Any:
        """The same answer as a no, for a reason that is the algorithm's."""

    def fused(self, first: Unit, second: Unit, answer: Any) -> tuple[Any, str, tuple[str, ...]]:
        """The fused group, its name, and what the log says of it."""


@dataclass(frozen=True, slots=True)
class Score:
    """(type, bytes saved, shared buffers, -distance), compared in this order (§7.3)."""

    kind: int
    bytes: int
    buffers: int
    nearness: int

    @property
    def key(self) -> tuple[int, int, int, int]:
        """The components in the order in which they are compared."""
        return (self.kind, self.bytes, self.buffers, self.nearness)

    def better(self, other: Score, ratio: int) -> bool:
        """True when this one is strictly better; byte counts far apart decide alone."""
        small, large = sorted((self.bytes, other.bytes))
        if large > ratio * small:
            return self.bytes > other.bytes
        return self.key > other.key


def shared_bytes(first: Unit, second: Unit) -> int:
    """Bytes of the dependences both have with identical indices: traffic a fusion saves (§7.3)."""
    small, large = sorted((first.touches, second.touches), key=len)
    return sum(nbytes for dep, nbytes in small.items() if dep in large)


def score(first: Unit, second: Unit) -> Score:
    """The seed's score of a pair (§7.3)."""
    saved = shared_bytes(first, second)
    same_kind = first.is_reduction == second.is_reduction and saved > 0
    distance = max(abs(first.first - second.last), abs(second.first - first.last))
    return Score(int(same_kind), saved, len(first.buffers & second.buffers), -distance)


CYCLE = "a third kernel would have to run between them"


@dataclass(slots=True)
class Run:
    """One run of the algorithm: the partition so far and what was decided.

    Args:
        units: in program order of their first nodes.
        ancestry: for Proposition 7.1.
        rules: what may be fused.
        config: rounds, candidates per buffer, and the factor of the score's exception.
        known: the rules' answers, by the nodes of both units; runs on one program share them.
        avoided: pairs this run does not fuse.
        answers: what was decided in this run, in order.
        fusions: the pairs it fused, in order.
        log: the seed's lines.
    """

    units: list[Unit]
    ancestry: Ancestry
    rules: Rules
    config: Config
    known: dict[Pair, Any] = field(default_factory=dict)
    avoided: frozenset[Pair] = frozenset()
    answers: dict[Pair, Any] = field(default_factory=dict)
    fusions: list[Pair] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    def again(self, avoided: frozenset[Pair]) -> Run:
        """A run from the same start that avoids these pairs; only before this one has begun."""
        return replace(
            self,
            units=list(self.units),
            ancestry=self.ancestry.copy(),
            avoided=avoided,
            answers={},
            fusions=[],
            log=[],
        )

    def pair(self, first: Unit, second: Unit) -> Pair:
        """What identifies two units whatever their numbers: the nodes of both."""
        members = self.ancestry.members
        return (members[first.number], members[second.number])

    def ask(self, first: Unit, second: Unit) -> Any:
        """The rules' answer, asked once per pair: units never change."""
        pair = self.pair(first, second)
        if pair not in self.answers:
            if pair not in self.known:
                self.known[pair] = self.rules.can_fuse(*self.oriented(first, second))
            self.answers[pair] = self.known[pair]
        return self.answers[pair]

    def refuse(self, first: Unit, second: Unit, reason: str) -> None:
        """Turn a yes into a no."""
        pair = self.pair(first, second)
        self.answers[pair] = self.rules.refused(self.answers[pair], reason)

    def oriented(self, first: Unit, second: Unit) -> tuple[Unit, Unit]:
        """The two, producer first; program order where neither needs the other."""
        swapped = self.ancestry.reaches(second.number, first.number)
        return (second, first) if swapped else (first, second)

    def merge(self, first: Unit, second: Unit, answer: Any) -> Unit:
        """The fused unit."""
        ordered = self.oriented(first, second)
        self.fusions.append(self.pair(first, second))
        number = self.ancestry.merge(first.number, second.number)
        group, name, said = self.rules.fused(*ordered, answer)
        self.log += [f"fusing {ordered[0].name} with {ordered[1].name}", *said]
        return first.joined(second, number, group, name)


# The seed's algorithm -----------------------------------------------------------------------------
def in_rounds(run: Run) -> None:
    """Algorithm 7.1: at most ``max_rounds`` rounds, a unit at most once a round."""
    for _ in range(run.config.max_rounds):
        before = len(run.units)
        _round(run)
        if len(run.units) in (1, before):
            break


def _round(run: Run) -> None:
    """One round: candidates, legality, scores, then merges from the best down."""
    candidates: list[tuple[Score, int, int, Any]] = []
    for a, b in sharing_pairs(run.units):
        answer = run.ask(run.units[a], run.units[b])
        if answer.verdict:
            candidates.append((score(run.units[a], run.units[b]), a, b, answer))
    run.log.append(f"found {len(candidates)} possible fusions")
    taken: set[int] = set()
    merged: list[Unit] = []
    for _, a, b, answer in descending(candidates, run.config.score_ratio):
        if a in taken or b in taken:
            continue
        first, second = run.units[a], run.units[b]
        if run.ancestry.makes_cycle(first.number, second.number):
            run.refuse(first, second, CYCLE)
            continue
        taken |= {a, b}
        merged.append(run.merge(first, second, answer))
    kept = [unit for k, unit in enumerate(run.units) if k not in taken]
    run.units = sorted([*kept, *merged], key=lambda unit: unit.first)


def sharing_pairs(units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Positions of units that touch a common buffer, earlier first (Algorithm 7.1, line 2)."""
    by_buffer: dict[str, list[int]] = {}
    for number, unit in enumerate(units):
        for name in sorted(unit.buffers):
            by_buffer.setdefault(name, []).append(number)
    return sorted(
        {
            (a, b)
            for members in by_buffer.values()
            for k, a in enumerate(members)
            for b in members[k + 1 :]
        }
    )


def descending(
    candidates: Sequence[tuple[Score, int, int, Any]], ratio: int
) -> list[tuple[Score, int, int, Any]]:
    """Candidates from the best down, by repeated selection of the maximum.

    The rule that byte counts far apart decide alone is not transitive, so the procedure is part of
    the definition: scan the remaining candidates in discovery order and keep the current best
    unless the next one is strictly better. Where no two counts are far apart the plain order is
    total and a stable sort gives the same sequence.
    """
    counts = [candidate[0].bytes for candidate in candidates]
    if counts and max(counts) <= ratio * min(counts):
        return sorted(candidates, key=lambda candidate: candidate[0].key, reverse=True)
    remaining = list(candidates)
    ordered = []
    while remaining:
        best = 0
        for k in range(1, len(remaining)):
            if remaining[k][0].better(remaining[best][0], ratio):
                best = k
        ordered.append(remaining.pop(best))
    return ordered
