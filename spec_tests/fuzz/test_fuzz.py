"""A fixed set of random programs, and that generator, shrinker and reproduction do what they say.

takes: seed 1
gives: a failure with a small program and the script that repeats it
holds: nothing
not here: other seeds: ``python -m spec_tests.fuzz``
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spec_tests import harness
from spec_tests.fuzz import run
from spec_tests.fuzz.forms import FORMS
from spec_tests.fuzz.generate import EXTENTS, generate
from spec_tests.fuzz.programs import Argument, Equation, Program, is_valid
from spec_tests.fuzz.shrink import shrink

SEED, COUNT, PARTS = 1, 300, 3
MINUS = re.compile(r"= (\w+) - (\w+);")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs_climb_the_whole_ladder(part):
    each = COUNT // PARTS
    found = list(run.failures(SEED, range(part * each, (part + 1) * each)))
    assert not found, "\n\n".join(map(str, found))


def test_the_generator_reaches_everything():
    programs = [generate(SEED, number) for number in range(COUNT)]
    counts = run.coverage(SEED, range(COUNT))
    assert [op for op in FORMS if not counts[op]] == []
    assert {e for p in programs for a in p.arguments for e in a.shape} >= set(EXTENTS)
    assert sum(len(p.outputs) > 1 for p in programs) > COUNT // 10
    assert sum(any(not a.dtype for a in p.arguments) for p in programs) > COUNT // 20
    assert sum(bool(p.options) for p in programs) > COUNT // 10
    shared = sum(
        sum(name in e.operands for e in p.equations) > 1
        for p in programs
        for name in {e.name for e in p.equations}
    )
    assert shared > COUNT // 10


def test_a_program_depends_on_seed_and_number_alone():
    texts = [generate(3, number).reproduction() for number in range(20)]
    assert texts == [generate(3, number).reproduction() for number in range(20)]
    assert texts != [generate(4, number).reproduction() for number in range(20)]
    code = "from spec_tests.fuzz.generate import generate\n"
    code += "print(*(generate(3, n).reproduction() for n in range(20)), sep='', end='')"
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert result.stdout == "".join(texts), result.stderr


def test_what_numpy_runs_is_valid_and_what_it_refuses_is_not():
    good = Program((Argument("a", "float32", (3,)),), (Equation("t0", "exp", ("a",)),), ("t0",))
    assert is_valid(good)
    sliced = Equation("t0", "reshape", ("a",), ((2, 2),))
    assert not is_valid(Program(good.arguments, (sliced,), ("t0",)))
    wide = Equation("t0", "add", ("a", "'text'"))
    assert not is_valid(Program(good.arguments, (wide,), ("t0",)))


@pytest.mark.parametrize("number", range(0, 60, 6))
def test_shrinking_ends_at_the_operation_to_blame(number):
    """The predicate stands in for a wrong kernel: a program fails when a sum is in it."""

    def fails(program):
        return any(equation.op == "sum" for equation in program.equations)

    program = next(
        p for n in range(number, 10_000) if fails(p := generate(SEED, n)) and len(p.equations) > 2
    )
    small = shrink(program, fails, attempts=400)
    assert [equation.op for equation in small.equations] == ["sum"]
    assert len(small.arguments) == 1
    assert small.arguments[0].layout == "contiguous"
    assert small.options == ()
    assert all(extent <= 1 for extent in small.arguments[0].shape)


def test_a_wrong_kernel_is_found_and_shrunk(monkeypatch):
    """A backend that adds where it should subtract: the ladder notices, the program gets small."""
    if harness.backend_name() != "c":
        pytest.skip("the wrong kernel is made for the C backend")
    loader = harness.load_plans

    def wrong(backend, plans):
        return loader(_Wrong(backend), plans)

    monkeypatch.setattr(harness, "load_plans", wrong)
    number = next(n for n in range(10_000) if _subtracts(generate(SEED, n)))
    monkeypatch.setattr("spec_tests.fuzz.shrink.ATTEMPTS", 60)
    (failure,) = run.failures(SEED, [number])
    assert "against nests" in failure.message
    assert "subtract" in {equation.op for equation in failure.small.equations}
    assert len(failure.small.equations) <= 2
    assert "check(" in failure.small.reproduction()


def _subtracts(program):
    """Floats are subtracted somewhere, and there are elements."""
    floats = {a.name for a in program.arguments if a.dtype in ("float32", "float64")}
    found = any(e.op == "subtract" and set(e.operands) <= floats for e in program.equations)
    return found and not any(0 in argument.shape for argument in program.arguments)


class _Wrong:
    """The C backend with a minus between two values turned into a plus; indices stay right."""

    def __init__(self, backend):
        self.backend = backend

    def emit(self, plan):
        import dataclasses

        source = self.backend.emit(plan)
        return dataclasses.replace(source, text=MINUS.sub(r"= \1 + \2;", source.text))

    def load(self, source, plan):
        return self.backend.load(source, plan)


def test_the_printed_reproduction_runs(tmp_path):
    script = tmp_path / "repro.py"
    script.write_text(generate(SEED, 5).reproduction())
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
