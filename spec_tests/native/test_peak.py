"""The planned peak is what a call really takes, to the byte.

takes: plans, and what the runtime asked for when they ran
gives: a failure for a byte that was planned and not taken, or taken and not planned
holds: arena, outputs and scratch memory of parallel reductions
not here: the size classes in which the pool hands memory out (``test_memory``); what an external
call takes for itself
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.golden import programs
from spec_tests.stages.random_programs import random_program


def built(function, *arguments, **options):
    executable = stax.jit(function, **options).lower(*arguments).compile("c")
    executable(*arguments)
    return executable.loaded


def add_into(x, y):
    """Every element of x is read and written once: it is overwritten."""
    x += y
    return x * 2


def put_into(x, y):
    """The call may fail, and a failed call changes no argument: a copy is made."""
    x += y[y.astype(np.int32)]
    return x * 2


def chain(x):
    a = np.exp(x)
    b = np.tanh(a[::-1] + a)
    c = np.exp(b[::-1] + b)
    return np.tanh(c[::-1] + c), c.sum(0)


@pytest.mark.parametrize("options", [{}, {"schedule": "seed"}, {"max_nodes": 1}], ids=str)
@pytest.mark.parametrize("name", ["rownorm", "softmax", "variance", "views", "dense"])
def test_kept_programs(name, options):
    function, arguments, _ = programs.DEFAULT[name]
    loaded = built(function, *arguments, **options)
    assert loaded.program.taken_bytes == loaded.peak_bytes


def test_an_arena_and_two_outputs():
    loaded = built(chain, np.zeros((50, 33), np.float32))
    plan = loaded.plan
    assert plan.arena_bytes > 0
    assert plan.peak_bytes == plan.arena_bytes + 50 * 33 * 4 + 33 * 4
    assert loaded.program.taken_bytes == loaded.peak_bytes == plan.peak_bytes


def test_scratch_memory_of_a_parallel_reduction():
    loaded = built(programs.variance, np.zeros((700, 1000), np.float32))
    assert loaded.source.scratch
    assert loaded.peak_bytes > loaded.plan.peak_bytes
    assert loaded.program.taken_bytes == loaded.peak_bytes


def test_a_template_takes_a_tile():
    def dense(x, w):
        return np.maximum(x @ w, 0)

    x, w = np.zeros((40, 4), np.float32), np.zeros((4, 3), np.float32)
    loaded = built(dense, x, w, template_rows=16)
    assert loaded.plan.peak_bytes == 16 * 3 * 4 + 40 * 3 * 4
    assert loaded.program.taken_bytes == loaded.peak_bytes


@pytest.mark.parametrize("function", [add_into, put_into])
def test_a_written_argument_costs_a_copy_or_nothing(function):
    x, y = np.zeros((40, 9), np.float32), np.ones(9, np.float32)
    loaded = built(function, x, y)
    whole = 2 if function is put_into else 1
    assert loaded.plan.peak_bytes == whole * x.nbytes
    assert loaded.program.taken_bytes == loaded.peak_bytes


def test_the_same_value_twice_and_an_empty_one():
    loaded = built(lambda x: (y := np.exp(x), y, x[:0]), np.zeros((5, 3), np.float32))
    assert loaded.program.taken_bytes == loaded.peak_bytes


@pytest.mark.parametrize("options", [{}, {"schedule": "seed", "max_nodes": 1}], ids=str)
def test_random_programs(options):
    arenas = 0
    for number in range(6):
        function, arguments, source = random_program(number)
        loaded = built(function, *arguments, **options)
        assert loaded.program.taken_bytes == loaded.peak_bytes, source
        arenas += loaded.plan.arena_bytes > 0
    assert arenas or not options
