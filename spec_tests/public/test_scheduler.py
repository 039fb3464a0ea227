"""What public reports say about schedulers: scores, cycle tests, ranges of members, rewrites.

takes: small programs that show the property
gives: pass or fail
holds: nothing
not here: values alone (the other files of this folder)
"""

import itertools
import math
import random

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.public.cases import holds, wave
from stax_ref.acyclic import Ancestry
from stax_ref.greedy import shared_bytes
from stax_ref.legality import NodeRules

F32, F64, I64 = np.float32, np.float64, np.int64


def program_of(function, *args, **options):
    return stax.jit(function, backend="ref", **options).lower(*args).program


def test_two_columns_and_a_row_sum_share_a_kernel():
    """#153346: the loads of one are unrolled, those of the other are a loop"""

    def program(x):
        return x[:, 0] + x[:, 1], x.sum(1)

    x = wave(33, 64)
    holds(program, lambda: (x,), x[:, 0] + x[:, 1], x.astype(F64).sum(1), rtol=1e-6, atol=1e-5)


def layered(count, seed=0):
    """A program of about ``count`` stored values, each made from values of the last layers."""

    rng = random.Random(seed)
    choices = [(rng.sample(range(1, 13), 2), rng.random() < 0.5) for _ in range(count - 12)]

    def program(x):
        values = [x * float(k + 1) for k in range(12)]
        for (first, second), reduces in choices:
            a, b = values[-first], values[-second]
            values.append(a.sum(0, keepdims=True) + b if reduces else np.exp(a) * b)
        return values[-1]

    return program


def test_shared_bytes_do_not_depend_on_who_comes_first():
    """#165724"""
    program = program_of(layered(60), wave(5, 7), max_nodes=1)
    rules = NodeRules(program.edges, program.config)
    units = [rules.unit(number, record) for number, record in enumerate(program.edges.records)]
    pairs = list(itertools.combinations(units, 2))
    found = [(shared_bytes(a, b), shared_bytes(b, a)) for a, b in pairs]
    assert any(first for first, _ in found)
    assert all(first == second for first, second in found)


@pytest.mark.parametrize("count", [60, 240])
def test_cycle_tests_of_a_large_graph_end(count, monkeypatch):
    """#102622, #98467: a few tests per stored value, however large the graph is, in each run"""
    asked = []
    original = Ancestry.makes_cycle
    monkeypatch.setattr(Ancestry, "makes_cycle", lambda *a: asked.append(a) or original(*a))
    program = program_of(layered(count), wave(5, 7))
    nodes = len(program.lowered.nodes)
    assert nodes > count // 6
    runs = program.config.max_tries if nodes <= program.config.max_searched else 1
    assert 0 < len(asked) < 4 * nodes * runs


@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 1, 4), (6, 4), (24,)])
def test_every_member_of_a_group_runs_through_its_own_ranges(shape):
    """#183370, #181266, #181624: after each decision, not at the end only"""

    def program(x):
        flat = x.reshape(-1)
        rows = x.reshape(-1, shape[-1])
        y = np.exp(x) + x.max(-1, keepdims=True)
        return flat * 2, rows.sum(1), y, y.reshape(flat.shape) - flat

    made = program_of(program, wave(*shape))
    accepted = [d.tree for d in made.groups.decisions if d.verdict and d.tree is not None]
    own = {node.name: node for node in made.lowered.nodes}
    for tree in [*accepted, *(g.tree for g in made.sequence if g.tree is not None)]:
        for segment in tree.segments:
            for name in segment.nodes:
                ranges = (*own[name].outer_sizes, *own[name].inner_sizes)
                assert math.prod(tree.outer) * segment.iterations == math.prod(ranges), str(tree)


def test_a_row_of_a_merged_loop_holds_all_of_it():
    """#159154: scratch laid out from the last two extents although their loop is one of 1024"""

    def program(x):
        e = np.exp(x - x.max((1, 2), keepdims=True))
        return e / e.sum((1, 2), keepdims=True)

    x = wave(3, 32, 32).astype(F64)
    e = np.exp(x - x.max((1, 2), keepdims=True))
    right = e / e.sum((1, 2), keepdims=True)
    holds(program, lambda: (wave(3, 32, 32),), right, rtol=1e-5)


def test_scatter_add_to_one_place_along_the_vector():
    """#160391: the position does not change along the axis that is vectorised"""

    def program(o, i, s):
        np.add.at(o, (i[:, None], np.zeros(33, np.int64)), s)
        return o

    def make():
        return np.zeros((4, 2), F32), np.array([2, 0, 2], I64), np.ones((3, 33), F32)

    holds(program, make, [[33.0, 0], [0, 0], [66, 0], [0, 0]])


def test_a_function_of_a_function_keeps_nan():
    """#143978: sin(arctan(x)) rewritten algebraically lost the NaN"""

    def program(x):
        return np.sin(np.arctan(x)), np.cos(np.arctan(x))

    values = np.array([np.nan, 0.0, 1.0, -np.inf, np.inf] * 7, F32)
    exact = values.astype(F64)
    right = np.sin(np.arctan(exact)), np.cos(np.arctan(exact))
    holds(program, lambda: (values,), *right, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_softmax_keeps_the_axis_it_was_given(axis):
    """#196468: over the first axis, and then a product, it is not attention"""

    def program(q, k, v):
        scores = q @ np.swapaxes(k, -1, -2)
        e = np.exp(scores - scores.max(axis, keepdims=True))
        return (e / e.sum(axis, keepdims=True)) @ v

    def make():
        return wave(2, 5, 4), wave(2, 5, 4)[::-1], wave(2, 5, 4)[:, ::-1]

    right = program(*(x.astype(F64) for x in make()))
    holds(program, make, right, rtol=1e-5, atol=1e-5)


def test_a_flattened_normalisation_and_its_running_product():
    """#181638: simplification of the flattened indices never ended"""

    def program(x):
        d = x - x.mean(-1, keepdims=True)
        y = d / np.sqrt((d * d).mean(-1, keepdims=True) + np.float32(1e-5))
        return np.cumprod((y * np.float32(0.1) + 1).reshape(-1))

    right = program(wave(3, 4, 5).astype(F64))
    holds(program, lambda: (wave(3, 4, 5),), right, rtol=1e-4)


def test_unrolled_reductions_do_not_repeat_work_without_end():
    """#140457: reductions over 8 elements, each unrolled into the next, would cost 8**n"""

    def program(x):
        for _ in range(6):
            x = (x[:, None, :] * x[:, :, None]).sum(2) * np.float32(1e-2) + x
        return x

    made = program_of(program, wave(40, 8))
    assert max(len(node.body.instrs) for node in made.lowered.nodes) < 400
    right = program(wave(40, 8).astype(F64))
    holds(program, lambda: (wave(40, 8),), right, rtol=1e-5, atol=1e-6)
