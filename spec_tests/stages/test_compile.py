"""compile: a short list of stages, pure, that print alike in every process.

takes: kept programs and random ones
gives: a failure when a stage hides state, prints otherwise in another process, or changes its input
holds: two processes with different hash seeds; the length of the file that is the list
not here: each stage's own promises (the other files of this folder)
"""

import dataclasses
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.golden import programs
from spec_tests.stages.random_programs import random_program
from stax_ref import compile as compile_module
from stax_ref import config
from stax_ref.compile import STAGES, TEXTS, compile_graph
from stax_ref.graph import Graph
from stax_ref.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
ROWS = np.zeros((64, 128), np.float32)

PRINT_ALL = """
import stax_ref as stax
from spec_tests.golden import programs
from stax_c.emit import emit
from stax_ref.compile import TEXTS
for name, (f, arguments, options) in {**programs.DEFAULT, **programs.SEED}.items():
    staged = stax.jit(f, **options).lower(*arguments)
    for stage in TEXTS:
        print(name, stage, staged.text(stage), sep="\\n")
    print(emit(staged.plan, "avx2").text)
"""


def test_the_words_in_their_order():
    words = ["trace", "lower", "depend", "fuse", "order", "memory", "nest", "plan"]
    assert list(TEXTS) == words
    assert [word for word, _ in STAGES] == words[1:]


def test_the_list_is_short():
    assert len(inspect.getsource(compile_module).splitlines()) <= 100


def test_two_processes_print_every_stage_alike():
    outputs = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", PRINT_ALL],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(done.stdout)
    assert len(outputs[0]) > 10_000
    assert outputs[0] == outputs[1]


def test_stages_are_pure():
    """Run twice on one graph, every stage makes equal results."""
    for number in range(20):
        function, arguments, _ = random_program(number)
        graph = stax.jit(function).trace(*arguments).graph
        first, second = (compile_graph(graph, config.Config()) for _ in range(2))
        for entry in dataclasses.fields(first):
            if entry.name != "seconds":
                assert getattr(first, entry.name) == getattr(second, entry.name), entry.name


def test_results_are_frozen():
    program = stax.jit(programs.softmax).lower(ROWS).program
    objects = [program, program.graph, program.lowered, program.edges, program.groups]
    objects += [program.plan, *program.plan.slots, *program.steps, *program.sequence]
    for thing in objects:
        name = dataclasses.fields(thing)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)
        assert not hasattr(thing, "__dict__"), type(thing)


def test_an_unknown_stage_lists_the_words():
    staged = stax.jit(programs.softmax).lower(ROWS)
    with pytest.raises(KeyError, match="'fused' is not a stage; the stages are trace, lower"):
        staged.text("fused")


def test_times_are_kept_for_every_stage():
    program = stax.jit(programs.softmax).lower(ROWS).program
    assert [word for word, _ in program.seconds] == [word for word, _ in STAGES]
    assert all(seconds > 0 for _, seconds in program.seconds)


@pytest.mark.parametrize(("level", "checks"), [(0, 0), (1, 1), (2, 1)])
def test_the_check_level_decides_whether_representations_are_checked(level, checks, monkeypatch):
    seen = []
    for kind in (Graph, Plan):
        monkeypatch.setattr(kind, "check", lambda self, kind=kind: seen.append(kind))
    stax.jit(programs.softmax, check=level).lower(ROWS)
    assert min(seen.count(Graph), 1) == checks
    assert min(seen.count(Plan), 1) == checks


def test_compiling_does_not_touch_the_arguments():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    before = x.copy()
    stax.jit(programs.softmax).lower(x)
    np.testing.assert_array_equal(x, before)
