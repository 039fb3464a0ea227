"""fuse: Algorithm 7.1, its cycle test, its limits, and the kernels of the workloads.

takes: all small graphs, programs at both sides of every limit, random programs
gives: a failure for a partition with a cycle, a missing reason, or an accepted pair without a nest
holds: Proposition 7.1 against a direct search of the quotient graph; every number of ``Config``
not here: legality of single trees (``test_looptree``), the seed's examples (``test_seed``)
"""

import dataclasses
import itertools
from collections import Counter

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import counting
from spec_tests.golden import programs
from spec_tests.stages.random_programs import random_program
from spec_tests.theorems import plain
from stax_c.emit import emit
from stax_ref import greedy
from stax_ref.acyclic import Ancestry
from stax_ref.bestfirst import AVOIDED
from stax_ref.compile import Program
from stax_ref.config import Config
from stax_ref.depend import Edges, Record, WeakDep, WholeDep, depend
from stax_ref.fuse import fuse
from stax_ref.greedy import Score, descending
from stax_ref.legality import NodeRules
from stax_ref.memory import Slot
from stax_ref.nesting import nest
from stax_ref.node import Node

ROWS = np.zeros((64, 128), np.float32)


def compiled(function, *arguments, **options) -> Program:
    return stax.jit(function, **options).lower(*arguments).program


def kernels(function, *arguments, **options) -> int:
    return compiled(function, *arguments, **options).plan.kernels


def decision(program: Program, *pair: str):
    found = [d for d in program.groups.decisions if d.pair == pair]
    assert found, [d.pair for d in program.groups.decisions]
    return found[0]


# Proposition 7.1 ---------------------------------------------------------------------------------
def has_cycle(blocks, edges) -> bool:
    """True when no order of the blocks has every edge between two of them going forwards."""
    owner = {node: k for k, block in enumerate(blocks) for node in block}
    arrows = {(owner[a], owner[b]) for a, b in edges if owner[a] != owner[b]}
    return plain.has_cycle(range(len(blocks)), arrows)


def ancestry_of(count: int, edges, blocks, weak: bool) -> tuple[Ancestry, list[int]]:
    """The bit sets after these blocks have been fused node by node, and the blocks' numbers."""
    records = []
    for k in range(count):
        name = f"n{k}"
        before = [f"n{a}" for a, b in edges if b == k]
        node = Node(name, "pointwise", name, ())
        reads = () if weak else tuple(WholeDep(p, 1) for p in before)
        order = tuple(WeakDep(f"old{p}", p) for p in before) if weak else ()
        records.append(Record(node, (WholeDep(name, 1),), reads, order, ((), ()), ()))
    predecessors = Edges(tuple(records), (), ()).predecessors()
    ancestry = Ancestry([[int(p[1:]) for p in predecessors[f"n{k}"]] for k in range(count)])
    numbers = []
    for first, *rest in blocks:
        for other in rest:
            first = ancestry.merge(first, other)
        numbers.append(first)
    return ancestry, numbers


@pytest.mark.parametrize("weak", [False, True], ids=["data", "order only"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_proposition_7_1_on_every_small_graph(count, weak):
    """All graphs, all legal partitions so far, all pairs of blocks: merge makes a cycle or not."""
    compared = Counter()
    for before in plain.dags(count):
        edges = [(a, b) for b in range(count) for a in before[b]]
        for blocks in plain.partitions(range(count)):
            if has_cycle(blocks, edges):
                continue
            ancestry, numbers = ancestry_of(count, edges, blocks, weak)
            for a, b in itertools.combinations(range(len(blocks)), 2):
                others = [block for k, block in enumerate(blocks) if k not in (a, b)]
                expected = has_cycle([*others, blocks[a] + blocks[b]], edges)
                for pair in ((a, b), (b, a)):
                    assert ancestry.makes_cycle(*(numbers[k] for k in pair)) == expected
                compared[expected] += 1
    assert compared[False] > 0
    assert count == 2 or compared[True] > 0


def test_a_third_kernel_between_keeps_two_apart():
    def f(x, w):
        e = np.exp(x)
        return e, e + (e @ w)

    program = compiled(f, np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32))
    apart = [d for d in program.groups.decisions if "third kernel" in d.reason]
    assert [d.pair for d in apart] == [("e", "out")]
    assert program.plan.kernels == 2


# Definition 7.2 ----------------------------------------------------------------------------------
def test_both_reductions_need_equal_counts():
    def same(x):
        return np.sum(x, -1), np.max(x, -1)

    def other(x):
        return np.sum(x, -1), np.max(x)

    assert kernels(same, ROWS) == 1
    assert kernels(other, ROWS) == 2
    for device, reason in (("cpu", "iteration groupings"), ("gpu", "iteration counts")):
        program = compiled(other, ROWS, schedule="seed", device=device)
        assert program.plan.kernels == 2
        assert reason in decision(program, "op0", "op1").reason


def test_square_reductions_of_different_axes_do_not_share_a_loop():
    """Equal counts, but each reads the shared input at other elements."""

    def f(x):
        return np.sum(x, -1), np.max(x, 0)

    square = np.zeros((32, 32), np.float32)
    program = compiled(f, square)
    assert stax.jit(f, backend="ref").check(square).ok
    assert all(group.tree.segments for group in program.sequence)


def test_a_pointwise_node_fits_a_reduction_from_both_sides():
    """Condition 3: N = n (the reciprocal of row sums), N = n r (the division of each element)."""

    def per_row(x):
        s = np.sum(x, -1)
        return s, 1 / s

    def per_element(x):
        return x / np.sum(x, -1, keepdims=True)

    for f in (per_row, per_element):
        for options in ({}, {"schedule": "seed"}, {"schedule": "seed", "device": "gpu"}):
            assert kernels(f, ROWS, **options) == 1, (f, options)


def test_counts_that_do_not_divide_keep_apart():
    def f(x):
        s = np.sum(x, -1)
        return s, s[:32] * 2

    program = compiled(f, ROWS, schedule="seed", device="gpu")
    expected = "iteration counts (64, 128) and (32, 1) are not compatible"
    assert decision(program, "op0", "op1").reason == expected


def test_the_cpu_compares_ranges_and_the_gpu_products():
    """Example 7.2: ((8192,), ()) against ((64,), (128,)) is not compatible by ranges on a CPU."""

    def m(x):
        e = np.exp(x)
        return e, e.sum(-1)

    cpu = compiled(m, ROWS, schedule="seed")
    gpu = compiled(m, ROWS, schedule="seed", device="gpu")
    assert cpu.plan.kernels == 2
    assert decision(cpu, "op0", "op1").reason == "outer loop fusion depth is 0"
    assert gpu.plan.kernels == 1
    assert decision(gpu, "op0", "op1").reason == "compatible counts"


# limits of Config, both sides --------------------------------------------------------------------
def three_rows(x):
    return np.sum(x, -1), np.max(x, -1), np.min(x, -1)


def test_max_nodes():
    program = compiled(three_rows, ROWS, max_nodes=3)
    assert program.plan.kernels == 1
    program = compiled(three_rows, ROWS, max_nodes=2)
    assert program.plan.kernels == 2
    assert [d.reason for d in program.groups.decisions if not d.verdict] == ["more than 2 nodes"]


def test_max_buffers():
    """The seed counts x, its sums and the result; the default what stays in memory once fused."""
    for options, least in (({"schedule": "seed"}, 3), ({}, 2)):
        assert kernels(programs.rownorm, ROWS, max_buffers=least, **options) == 1
        program = compiled(programs.rownorm, ROWS, max_buffers=least - 1, **options)
        assert program.plan.kernels == 2
        reasons = [d.reason for d in program.groups.decisions]
        assert reasons == [f"more than {least - 1} buffers"]


def test_min_shared_bytes_of_a_horizontal_fusion():
    def f(x):
        return np.sum(x), np.max(x)

    nine = np.zeros(9, np.float64)
    assert kernels(f, nine, min_shared_bytes=72) == 1
    program = compiled(f, nine, min_shared_bytes=73)
    assert program.plan.kernels == 2
    assert program.groups.decisions[0].reason == "fewer than 73 bytes shared"
    assert program.groups.decisions[0].bytes_saved == 72


def test_min_shared_bytes_leaves_vertical_fusion_alone():
    assert kernels(programs.rownorm, ROWS, min_shared_bytes=10**9) == 1


def test_strict_reductions_stay_apart():
    def f(x):
        return np.sum(x, -1), np.prod(x, -1)

    assert kernels(f, ROWS) == 1
    program = compiled(f, ROWS, strict=True)
    assert program.plan.kernels == 2
    assert program.groups.decisions[0].reason == "two reductions in strict order"
    assert kernels(programs.rownorm, ROWS, strict=True) == 1, "one reduction is no pair"


def test_max_rounds():
    seed = {"schedule": "seed"}
    assert kernels(programs.softmax, ROWS, max_rounds=3, **seed) == 1
    program = compiled(programs.softmax, ROWS, max_rounds=1, **seed)
    assert program.plan.kernels == 2
    assert sum(line.startswith("found") for line in program.groups.log) == 1
    assert kernels(programs.softmax, ROWS, max_rounds=0, **seed) == 4


def test_max_neighbours():
    """Groups near by that a group is paired with per shared buffer; the seed pairs all of them."""

    def f(x):
        return np.sum(x, -1), np.max(x), np.min(x, -1)

    assert kernels(f, ROWS, max_neighbours=2) == 2
    assert kernels(f, ROWS, max_neighbours=1) == 3
    assert kernels(f, ROWS, max_neighbours=1, schedule="seed") == 2


def holding(s, a, b):
    """Two kernels that share the row values ``s`` and each keep an intermediate of their own."""
    return np.sum(np.sort(a, -1) * s, -1), np.sum(np.sort(b, -1) * s, -1)


def test_max_lifetime():
    """The two sorted arrays could follow each other in one storage; fused, both live at once."""
    arguments = (np.ones((64, 1), np.float32), ROWS, ROWS)
    # each holds 32768 bytes, the fusion saves the 256 bytes of s: a factor of 128
    assert kernels(holding, *arguments, max_lifetime=128) == 1
    program = compiled(holding, *arguments, max_lifetime=127)
    assert program.plan.kernels == 2
    reasons = [d.reason for d in program.groups.decisions if not d.verdict and d.bytes_saved]
    assert "32768 bytes of inputs would live longer to save 256" in reasons
    assert Config().max_lifetime == 32
    assert kernels(holding, *arguments) == 2


@pytest.mark.parametrize("schedule", ["default", "seed"])
def test_streams(schedule):
    """Nodes of different streams never share a kernel (§7.3)."""
    lowered = compiled(programs.rownorm, ROWS).lowered
    config = Config(schedule=schedule)
    for stream, groups in ((0, 1), (1, 2)):
        nodes = (lowered.nodes[0], dataclasses.replace(lowered.nodes[1], stream=stream))
        moved = dataclasses.replace(lowered, nodes=nodes)
        found = fuse(depend(moved, config.seed), config)
        assert len(found.groups) == groups
    assert [d.reason for d in found.decisions] == ["streams 0 and 1 differ"]


def two_maxima(w):
    """The first pair that saves most, the maximum and the mean, is not in the best partition."""
    top = np.max(np.abs(w), axis=1, keepdims=True)
    spread = np.var(w, axis=1, keepdims=True)
    return spread - top, spread


@pytest.mark.parametrize(
    ("limits", "bytes_moved"),
    [
        ({"max_tries": 1}, 288),
        ({"max_tries": 2}, 280),
        ({"max_searched": 4}, 288),
        ({"max_searched": 5}, 280),
        ({}, 280),
    ],
)
def test_a_search_around_the_best_first_partition(limits, bytes_moved):
    """max_tries and max_searched, both sides: five nodes, the second run is better."""
    program = compiled(two_maxima, np.ones((1, 33), np.float32), **limits)
    assert len(program.lowered.nodes) == 5
    assert program.plan.bytes_moved == bytes_moved
    reasons = [d.reason for d in program.groups.decisions]
    assert (AVOIDED in reasons) == (bytes_moved == 280)


def test_names_that_join_alike_are_kept_apart():
    """Groups {a, b_c} and {a_b, c} print alike; what was decided about one is not the other's."""

    def f(x, y):
        a = np.sum(x, -1, keepdims=True)
        b_c = x / a
        a_b = np.max(y, -1, keepdims=True)
        c = np.exp(y - a_b)
        return b_c, c, np.sum(b_c[:, :20] * c, -1)

    x = np.ones((16, 40), np.float32)
    for options in ({"max_nodes": 3}, {}):
        program = compiled(f, x, x[:, :20].copy(), **options)
        for group in program.sequence:
            inside = {name for segment in group.tree.segments for name in segment.nodes}
            assert inside == {node.name for node in group.nodes}


def test_score_ratio():
    """Byte counts more than the factor apart decide alone; otherwise the type comes first."""
    alike, larger = Score(1, 100, 1, -1), Score(0, 1600, 1, -1)
    assert alike.better(larger, 16)
    assert not larger.better(alike, 16)
    much_larger = Score(0, 1601, 1, -1)
    assert much_larger.better(alike, 16)
    assert not alike.better(much_larger, 16)
    assert larger.better(alike, 15)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Score(1, 50, 1, -9), Score(0, 60, 9, -1)),
        (Score(0, 61, 1, -9), Score(0, 60, 9, -1)),
        (Score(0, 60, 2, -9), Score(0, 60, 1, -1)),
        (Score(0, 60, 1, -1), Score(0, 60, 1, -2)),
    ],
)
def test_scores_compare_in_the_order_of_the_text(better, worse):
    assert better.better(worse, 16)
    assert not worse.better(better, 16)
    assert not worse.better(worse, 16)


def test_score_ratio_reaches_the_rounds(monkeypatch):
    ratios = []
    original = greedy.descending

    def watched(candidates, ratio):
        ratios.append(ratio)
        return original(candidates, ratio)

    monkeypatch.setattr(greedy, "descending", watched)
    compiled(programs.rownorm, ROWS, score_ratio=7, schedule="seed")
    assert set(ratios) == {7}


def test_candidates_far_apart_are_taken_by_a_stated_scan():
    """a over b and b over c by type, c over a by bytes: the scan decides, from the first one on."""
    a, b, c = Score(1, 10, 1, 0), Score(1, 9, 9, 0), Score(0, 161, 1, 0)
    assert a.better(b, 16)
    assert b.better(c, 18)
    assert c.better(a, 16)
    order = [[entry[1] for entry in descending(rows, 16)] for rows in rotations([a, b, c])]
    assert order == [[2, 0, 1], [2, 0, 1], [2, 0, 1]]


def rotations(scores):
    """Candidates with these scores, numbered, discovered in three orders."""
    rows = [(score, number, 0, None) for number, score in enumerate(scores)]
    return [rows[k:] + rows[:k] for k in range(len(rows))]


# default mode ------------------------------------------------------------------------------------
KERNELS = {"rownorm": 1, "softmax": 1, "layernorm": 1, "variance": 2}


@pytest.mark.parametrize("isa", ["avx512", "avx2", "scalar"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_the_workloads(name, isa):
    function, arguments, options = programs.DEFAULT[name]
    plan = compiled(function, *arguments, **options).plan
    assert plan.kernels <= KERNELS[name]
    loops = counting.outermost_loops(emit(plan, isa).text)
    assert sum(loops.values()) == plan.kernels == len(loops)


def test_the_counter_of_loops_counts():
    text = """
static void k0(void *const *b, i64 begin, i64 end, int *flags) {
    for (i64 i = begin; i < end; i++) {
        for (i64 j = 0; j < 4; j++) { x[j] = 0; }
    }
    /* for (;;) { */  // for (i64 i = 0; i < 2; i++) {
    i64 r = 0;
    for (; r + 8 <= 16; r += 8) {
    }
    if (r < 16) { y[r] = 1; }
}
static void k1(void *const *b, int *flags) {
    for (i64 u = 0; u < 2; u++) v[u] = 0;
}
static void k1_finish(void *const *b, int *flags) {
    for (i64 u = 0; u < 2; u++) v[u] = 0;
}
"""
    assert counting.outermost_loops(text) == {"k0": 2, "k1": 1}
    assert counting.loop_depths(text, "k0") == [0, 1, 0]


# every accepted pair can be filled ---------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [{}, {"schedule": "seed"}, {"schedule": "seed", "device": "gpu"}, {"device": "gpu"}],
    ids=["default", "seed cpu", "seed gpu", "gpu"],
)
def test_every_accepted_pair_has_a_nest(options, monkeypatch):
    """Random programs: every pair said to be fusable is filled, even if never merged."""
    accepted = []

    def watched(self, first, second):
        answer = original(self, first, second)
        if answer.verdict:
            accepted.append((self, first, second, answer))
        return answer

    original = NodeRules.can_fuse
    monkeypatch.setattr(NodeRules, "can_fuse", watched)
    for number in range(120):
        function, arguments, _ = random_program(number)
        program = compiled(function, *arguments, backend="ref", **options)
        for step in program.steps:
            if hasattr(step, "check"):
                step.check()
    assert len(accepted) > 100
    for rules, first, second, answer in accepted:
        joined = rules.fused(first, second, answer)[0]
        slots = {
            name: Slot(name, "arena", rules.buffers[name].nbytes, 0, 1)
            for name in {node.buffer for node in joined.nodes}
        }
        for keep in (False, True):
            kernel = nest(joined, "k", rules.buffers, slots, keep)
            kernel.check()
            assert set(kernel.nodes) == {node.name for node in joined.nodes}


def test_partitions_of_random_programs_are_legal():
    """Definition 7.3: every node in one group, and the quotient graph has no cycle."""
    for number in range(120):
        function, arguments, _ = random_program(number)
        program = compiled(function, *arguments, backend="ref")
        members = [n.name for g in program.groups.groups for n in g.nodes]
        assert sorted(members) == sorted(r.node.name for r in program.edges.records)
        edges = [(a, b) for b, before in program.edges.predecessors().items() for a in before]
        assert not has_cycle([[n.name for n in g.nodes] for g in program.groups.groups], edges)


def test_decisions_are_data():
    """Every pair that shares a buffer is answered, with a reason; a yes carries its loop tree."""
    program = compiled(programs.layernorm, *programs.DEFAULT["layernorm"][1])
    assert program.groups.decisions
    for answer in program.groups.decisions:
        assert answer.reason
        assert answer.bytes_saved >= 0
        assert (answer.tree is not None) == answer.verdict
