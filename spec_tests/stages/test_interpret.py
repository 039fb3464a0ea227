"""interpret: the rungs agree on good plans, and the point rung sees what no other can.

takes: good programs, and programs with a fault put in on purpose
gives: a failure when a fault passes, or is blamed on the wrong rung
holds: an illegal fusion and a lifetime one step short are caught by the shuffled, poisoned rung and
    nowhere earlier; conditionals, promises and undefined values in hand-written nests
not here: native code on the same programs (``native``)
"""

from dataclasses import replace

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.golden import programs
from spec_tests.stages.random_programs import random_program
from stax_native.backend import find
from stax_ref import compose, ladder, looptree, points
from stax_ref.calls import Call
from stax_ref.compile import Program
from stax_ref.dtypes import BOOL, F32
from stax_ref.errors import InvariantError
from stax_ref.evaluate import run_graph
from stax_ref.graph import literal
from stax_ref.index import Symbol, variable
from stax_ref.interpret import Recording, run_nests, run_nodes
from stax_ref.memory import check as check_slots
from stax_ref.nest import Assume, If, Let, Local, Loop, Store
from stax_ref.node import Access, computed
from stax_ref.ops import REDUCTIONS, planned_order, reduce_planned
from stax_ref.points import run_points

RNG = np.random.default_rng(5)


def compiled(function, *arguments, **options) -> Program:
    return stax.jit(function, **options).lower(*arguments).program


def rungs_that_differ(program: Program, arguments) -> list[str]:
    report = ladder.climb(program, arguments)
    return list(dict.fromkeys(c.rung for c in report.comparisons if not c.ok))


def only_points(failed: list[str]) -> bool:
    return bool(failed) and all(rung.startswith("points") for rung in failed)


# agreement ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "programs_tried"),
    [
        ({}, 200),
        ({"schedule": "seed"}, 40),
        ({"schedule": "seed", "device": "gpu"}, 40),
        ({"local_bytes": 0}, 40),
    ],
    ids=str,
)
def test_all_rungs_agree_on_random_programs(options, programs_tried):
    for number in range(programs_tried):
        function, arguments, source = random_program(number)
        report = ladder.climb(compiled(function, *arguments, **options), arguments)
        assert report.ok, f"{source}\n{report.first_failure}"
        assert "points (shuffle 2)" in report.rungs


def test_every_fusion_gives_the_same_bits():
    """A schedule never changes meaning: from no fusion at all to everything."""
    for number in range(15):
        function, arguments, source = random_program(number)
        results = [
            run_nests(compiled(function, *arguments, **options).plan, arguments, Recording())
            for options in ({}, {"max_nodes": 1}, {"max_rounds": 1}, {"schedule": "seed"})
        ]
        for other in results[1:]:
            for a, b in zip(results[0], other, strict=True):
                assert not np.any(ladder.different(a, b)), source


@pytest.mark.parametrize("count", range(1, compose.UNROLL + 1))
@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("axis", [-1, 0])
def test_unrolled_reductions_keep_the_planned_tree(count, kind, axis):
    x = RNG.standard_normal((40, count) if axis else (count, 40)).astype(np.float32)
    x[x > 1.5] = -0.0
    function = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[kind]
    program = compiled(lambda a: function(a, axis), x)
    assert not any(node.is_reduction for node in program.lowered.nodes)
    (got,) = run_nests(program.plan, [x], Recording())
    rows = x if axis else np.ascontiguousarray(x.T)
    expected = reduce_planned(kind, rows, planned_order(F32, axis == -1), F32)
    assert not np.any(ladder.different(got, expected))


# faults ------------------------------------------------------------------------------------------
def force_fusion(monkeypatch):
    """A legality test that finds every distance to be zero."""
    monkeypatch.setattr(looptree.Trees, "_outer_distance", lambda *_: None)


ILLEGAL = {
    "reversed": lambda a, x: a[::-1] * x,
    "reversed columns": lambda a, x: a[:, ::-1] * x,
    "transposed": lambda a, x: a.T * x,
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_fusion_is_caught_by_points_alone(name, monkeypatch):
    def f(x):
        a = np.exp(x)
        return a, ILLEGAL[name](a, x)

    x = RNG.standard_normal((5, 5)).astype(np.float32)
    honest = compiled(f, x)
    assert rungs_that_differ(honest, [x]) == []
    force_fusion(monkeypatch)
    forced = compiled(f, x)
    assert str(forced.groups.groups[0].tree) == "5 x 5 { a ; out }", "the illegal fusion was made"
    forced.graph.check()
    forced.plan.check()
    for step in forced.steps:
        step.check()
    assert only_points(rungs_that_differ(forced, [x]))


def test_an_illegal_fusion_of_rows_is_caught_by_points_alone(monkeypatch):
    def f(x):
        s = np.sum(x, -1, keepdims=True)
        return s, x - s[::-1]

    x = RNG.standard_normal((6, 20)).astype(np.float32)
    assert compiled(f, x).plan.kernels == 2
    force_fusion(monkeypatch)
    forced = compiled(f, x)
    assert forced.plan.kernels == 1
    assert only_points(rungs_that_differ(forced, [x]))


def chain(x):
    a = np.exp(x)
    b = np.tanh(a[::-1] + a)
    return np.tanh(b[::-1] + b + a[0])


def with_slots(program: Program, change) -> Program:
    slots = tuple(change(slot) for slot in program.plan.slots)
    return replace(program, plan=replace(program.plan, slots=slots))


def test_a_lifetime_one_step_short_is_caught_by_points():
    """No other rung sees it; the plan's check does, which compares lifetimes with the steps."""
    x = RNG.standard_normal(16).astype(np.float32)
    program = compiled(chain, x)
    assert rungs_that_differ(program, [x]) == []
    victims = [s for s in program.plan.slots if s.kind == "arena" and s.last > s.first]
    assert len(victims) >= 2
    for victim in victims:
        short = with_slots(
            program, lambda s, v=victim: replace(s, last=s.last - 1) if s == v else s
        )
        check_slots(short.plan.slots)
        assert only_points(rungs_that_differ(short, [x])), victim
        with pytest.raises(InvariantError, match=f"{victim.buffer} lives in steps"):
            short.plan.check()


def test_a_place_given_away_too_early_is_caught_by_points():
    """The short lifetime lets the next buffer move in: the slots alone show no overlap."""
    x = RNG.standard_normal(16).astype(np.float32)
    program = compiled(chain, x)
    a, b = (s for s in program.plan.slots if s.kind == "arena")
    assert (a.first, a.last, b.first) == (0, 2, 1)

    def move(slot):
        if slot == a:
            return replace(slot, last=0)
        return replace(slot, offset=a.offset) if slot == b else slot

    moved = with_slots(program, move)
    check_slots(moved.plan.slots)
    assert only_points(rungs_that_differ(moved, [x]))
    with pytest.raises(InvariantError, match=r"a lives in steps 0..0, but k1 is step 1"):
        moved.plan.check()


def test_a_row_is_poisoned_in_every_iteration():
    """A row that is read before this iteration writes it never holds the last one's values."""
    kernel = _kernel(
        [
            Local(computed("row", (1,), F32)),
            Let("t", F32, "load", (), Access("row", (variable(Symbol("one", 1)),))),
            Store(Access("row", (variable(Symbol("one", 1)),)), "v"),
            Store(Access("out", (variable(AXIS),)), "t"),
        ]
    )
    (got,) = run_points(kernel, [np.ones(8, np.float32)], Recording())
    assert np.all(np.isnan(got))


def test_shuffles_differ_by_seed(monkeypatch):
    orders = []

    class Watched(points._PointNest):
        def _let(self, statement):
            orders[-1].append(dict(self.symbols))
            return super()._let(statement)

    monkeypatch.setattr(points, "_PointNest", Watched)
    x = np.zeros((4, 12), np.float32)
    plan = compiled(lambda a: a + 1, x).plan
    for seed in (0, 1, 2, 0):
        orders.append([])
        run_points(plan, [x], Recording(), seed)
    assert orders[0] == orders[3], "a seed names its order"
    assert orders[0] != orders[1]
    assert orders[1] != orders[2]
    keys = [sorted(map(str, order)) for order in orders]
    assert keys[0] == keys[1] == keys[2], "every iteration once"


def test_dead_memory_is_poison():
    """NaN for floats, -1 for integers: before its first write a buffer holds nothing else."""
    x = RNG.standard_normal(16).astype(np.float32)
    program = compiled(chain, x)
    memory = points._PoisonedMemory(program.plan, [x])
    arena = [s.buffer for s in program.plan.slots if s.kind == "arena"]
    memory.poison_dead(0)
    for name in arena:
        assert np.all(np.isnan(memory.storage[name]))
    memory.storage[arena[0]][:] = 1
    memory.poison_dead(1)
    assert np.all(memory.storage[arena[0]] == 1), "alive until its last reader"
    memory.poison_dead(3)
    assert np.all(np.isnan(memory.storage[arena[0]]))


def test_an_external_call_is_recorded_once(monkeypatch):
    x = RNG.standard_normal((6, 6)).astype(np.float32)
    program = compiled(lambda a, b: (a @ b) * 2, x, x)
    recording = Recording()
    first = run_nodes(program.lowered, program.graph, [x, x], recording)

    def again(*_, **__):
        raise AssertionError("the external call is made once a ladder")

    monkeypatch.setattr(Call, "fill", again)
    for later in (run_nests, run_points):
        (got,) = later(program.plan, [x, x], recording)
        assert not np.any(ladder.different(got, first[0]))


def test_the_first_rung_is_numpy():
    x = RNG.standard_normal((6, 20)).astype(np.float32)
    for name in ("softmax", "rownorm"):
        function = programs.DEFAULT[name][0]
        graph = compiled(function, x).graph
        (got,) = run_graph(graph, [x])
        assert not np.any(ladder.different(got, function(x)))


@pytest.mark.parametrize("kind", REDUCTIONS)
def test_a_wrong_identity_is_caught_by_the_second_rung(kind, monkeypatch):
    x = -1 - RNG.random((6, 40)).astype(np.float32)
    x = -x if kind in ("min", "fmin") else x
    if kind in ("and", "or", "xor"):
        x = RNG.integers(1, 100, (6, 40)).astype(np.int32)
        function = getattr(np, f"bitwise_{kind}").reduce
    else:
        function = getattr(np, kind).reduce if kind.startswith("f") else getattr(np, kind)
    program = compiled(lambda a: function(a, -1), x)
    wrong = replace(REDUCTIONS["sum"])
    monkeypatch.setitem(REDUCTIONS, kind, replace(wrong, name="prod" if kind == "sum" else "sum"))
    monkeypatch.setitem(REDUCTIONS, kind, replace(REDUCTIONS[kind], combine="add", ordered=True))
    if kind == "sum":
        monkeypatch.setitem(REDUCTIONS, kind, replace(wrong, combine="multiply"))
    assert rungs_that_differ(program, [x]) == ["nodes"]


# statements only hand-written nests have ---------------------------------------------------------
AXIS = Symbol("i", 8)
VALUE = Let("v", F32, "load", (), Access("x", (variable(AXIS),)))
OUT = Access("out", (variable(AXIS),))
ZERO = literal(0, F32)
POSITIVE = Let("p", BOOL, "greater", ("v", ZERO))


def _kernel(statements):
    """The plan of ``x + 1`` on eight floats with another loop body: ``v`` is the element."""
    program = compiled(lambda x: x + 1, np.zeros(8, np.float32))
    (nest,) = program.steps
    body = (Loop(AXIS, "parallel", (VALUE, *statements)),)
    nest = replace(nest, body=body)
    nest.check()
    return replace(program.plan, steps=(nest,))


X = np.array([-2, -1, -0.0, 0, 1, 2, np.inf, -np.inf], np.float32)
RELU = [Store(OUT, ZERO), POSITIVE, If("p", (Store(OUT, "v"),))]


def test_a_conditional_runs_point_by_point():
    (got,) = run_points(_kernel(RELU), [X], Recording())
    np.testing.assert_array_equal(got, np.where(X > 0, X, 0))


def test_nothing_in_a_conditional_that_is_false_is_evaluated():
    inside = (Let("w", F32, "load", (), Access("x", (variable(AXIS) + 100,))), Store(OUT, "w"))
    never = Let("n", BOOL, "less", (literal(1, F32), ZERO))
    (got,) = run_points(_kernel([Store(OUT, "v"), never, If("n", inside)]), [X], Recording())
    np.testing.assert_array_equal(got, X)


def test_the_whole_array_rung_says_what_it_cannot_do():
    with pytest.raises(InvariantError, match="conditional"):
        run_nests(_kernel(RELU), [X], Recording())


@pytest.mark.parametrize("run", [run_points, run_nests])
def test_a_promise_is_checked(run):
    plan = _kernel([POSITIVE, Assume("p"), Store(OUT, "v")])
    (got,) = run(plan, [np.ones(8, np.float32)], Recording())
    np.testing.assert_array_equal(got, 1)
    with pytest.raises(InvariantError, match="promise"):
        run(plan, [X], Recording())


@pytest.mark.parametrize("run", [run_points, run_nests])
def test_an_undefined_value_is_poison(run):
    plan = _kernel([Let("u", F32, "undef"), Store(OUT, "u")])
    (got,) = run(plan, [X], Recording())
    assert np.all(np.isnan(got))


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (RELU, np.where(X > 0, X, 0)),
        ([Let("q", BOOL, "equal", ("v", "v")), Assume("q"), Store(OUT, "v")], X),
        ([Let("u", F32, "undef"), Store(OUT, "u"), Store(OUT, "v")], X),
    ],
    ids=["if", "assume", "undef"],
)
def test_the_c_printer_has_them(statements, expected):
    plan = _kernel(statements)
    backend = find("c")
    program = backend.load(backend.emit(plan), plan)
    np.testing.assert_array_equal(program(X)[0], expected)
