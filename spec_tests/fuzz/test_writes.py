"""A fixed set of random programs that change arrays climbs the ladder; so do their true calls.

takes: seed 1
gives: a failure with a small program and the script that repeats it
holds: nothing
not here: other seeds: ``python -m spec_tests.fuzz --writes``; the machinery (``test_fuzz``)
"""

import pytest

from spec_tests.fuzz import run
from spec_tests.fuzz.forms import ALL, WRITING
from spec_tests.fuzz.generate import generate
from spec_tests.fuzz.programs import Argument, Equation, Program, trimmed
from spec_tests.harness import quiet

SEED, COUNT, PARTS = 1, 300, 3


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_that_write_climb_the_ladder(part):
    """Each part at one vector level; ``test_fuzz`` and the matrix see all."""
    each = COUNT // PARTS
    numbers = range(part * each, (part + 1) * each)
    found = list(run.failures(SEED, numbers, writes=True, turn=part))
    assert not found, "\n\n".join(map(str, found))
    assert len(run.refused) <= COUNT // 30, run.refused


def test_the_generator_writes_everywhere():
    programs = [generate(SEED, number, writes=True) for number in range(COUNT)]
    counts = run.coverage(SEED, range(COUNT), writes=True)
    assert [op for op in WRITING if not counts[op]] == []
    writing = [p for p in programs if any(ALL[e.op].writes for e in p.equations)]
    assert len(writing) > COUNT * 2 // 3
    arguments = sum(bool(_written(p)) for p in programs)
    assert arguments > COUNT // 4, "programs that leave an argument changed"
    twice = sum(sum(ALL[e.op].writes for e in p.equations) > 1 for p in programs)
    assert twice > COUNT // 4, "programs that write more than once"


def _written(program):
    """Names of the arguments that a call leaves changed."""
    before = [argument.make() for argument in program.arguments]
    after = [argument.make() for argument in program.arguments]
    with quiet():
        program.function()(*after)
    return [
        argument.name
        for argument, a, b in zip(program.arguments, before, after, strict=True)
        if repr(a) != repr(b)
    ]


def test_a_write_stays_when_nothing_uses_its_name():
    """What changes an argument matters although no output is made of it; a plain value does not."""
    arguments = (Argument("a", "float32", (3,)), Argument("b", "float32", (3,)))
    write = Equation("t0", "whole", ("a",), ("@ += 1",))
    unused = Equation("t1", "add", ("a", "b"))
    used = Equation("t2", "multiply", ("b", "b"))
    program = Program(arguments, (write, unused, used), ("t2",))
    assert trimmed(program).equations == (write, used)
    assert _written(program) == ["a"]
