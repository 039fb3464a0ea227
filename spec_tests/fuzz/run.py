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


def climb(seed: int, numbers: Sequence[int]) -> list[tuple[int, str]]:
    """The numbers of the programs that failed, with their messages."""
    cases = [generate(seed, number).case(str(number)) for number in numbers]
    return [(int(case.label), message) for case, message in harness.failures_of(cases)]


def failures(seed: int, numbers: Sequence[int], limit: int = 3) -> Iterator[Failure]:
    """Climb with these programs and shrink the first failures of each kind.

    Args:
        seed: of the run.
        numbers: of the programs.
        limit: how many kinds of failure are shrunk.
    """
    kinds: Counter[str] = Counter()
    for number, message in climb(seed, numbers):
        kind = kind_of(message)
        kinds[kind] += 1
        program = generate(seed, number)
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


def coverage(seed: int, numbers: Sequence[int]) -> Counter[str]:
    """How often each operation occurs in these programs."""
    return Counter(e.op for number in numbers for e in generate(seed, number).equations)
