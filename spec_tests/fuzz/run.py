"""Many programs up the ladder; the failing ones shrunk and written out.

takes: a seed and a number of programs
gives: failures, each with a small program and the script that repeats it
holds: when two failures are the same
not here: the ladder (``spec_tests.harness``)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spec_tests import harness

from .generate import generate
from .programs import Program
from .shrink import shrink

BATCH = harness.UNIT

HONEST = (
    "a reshape was taken that NumPy may have copied",
    "in which several elements share memory",
)
"""Refusals: the meaning hangs on NumPy's layout of an intermediate array, or on an argument's."""

refused: dict[int, str] = {}
"""Programs of this process that were refused so, by number."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A program that failed, by its number; what went wrong; the small program that fails alike."""

    number: int
    message: str
    small: Program

    def __str__(self) -> str:
        return (
            f"program {self.number}: {self.message}\n"
            f"# repro.py -------------------------------------------------\n"
            f"{self.small.reproduction()}"
        )


def climb(
    seed: int, numbers: Sequence[int], writes: bool = False, turn: int | None = None
) -> list[tuple[int, str]]:
    """The numbers of the programs that failed, with their messages."""
    cases = [generate(seed, number, writes).case(str(number)) for number in numbers]
    return [(int(case.label), message) for case, message in harness.failures_of(cases, turn)]


def failures(
    seed: int,
    numbers: Sequence[int],
    limit: int = 3,
    writes: bool = False,
    turn: int | None = None,
) -> Iterator[Failure]:
    """Climb with these programs and shrink the first failures of each kind.

    Args:
        seed: of the run.
        numbers: of the programs.
        limit: how many kinds of failure are shrunk.
        turn: climb at one vector level, this one in turn, instead of all.
        writes: programs that change arrays; what is refused as ``HONEST`` says is counted only.
    """
    kinds: Counter[str] = Counter()
    for number, message in climb(seed, numbers, writes, turn):
        if writes and any(text in message for text in HONEST):
            refused[number] = message
            continue
        kind = kind_of(message)
        kinds[kind] += 1
        program = generate(seed, number, writes)
        if kinds[kind] == 1 and len(kinds) <= limit:
            program = shrink(program, lambda p, kind=kind: fails_like(p, kind))  # type: ignore[misc]
        yield Failure(number, message, program)


def fails_like(program: Program, kind: str) -> bool:
    """The program fails on the same rung, or with the same exception."""
    return any(kind_of(message) == kind for _, message in harness.failures_of([program.case()]))


def kind_of(message: str) -> str:
    """What makes two failures the same: the rung or the exception, without names and numbers."""
    rung = re.match(r"FAIL .*?: (\S+?),? .*?against (\w+)", message)
    if rung:
        return f"{rung[1]} against {rung[2]}"
    return " ".join(message.split()[:2])


def coverage(seed: int, numbers: Sequence[int], writes: bool = False) -> Counter[str]:
    """How often each operation occurs in these programs."""
    return Counter(e.op for number in numbers for e in generate(seed, number, writes).equations)
