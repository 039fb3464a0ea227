"""plan: its figures are what a run really does, and its wrapper is a program.

takes: traced programs
gives: a failure when bytes moved, kernels, memory or the wrapper differ from what running shows
holds: traffic recomputed from every load and store of the interpreter; the wrapper's text executed
not here: the native form of the wrapper (``native``)
"""

import weakref
from dataclasses import replace

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import counting
from spec_tests.golden import programs
from spec_tests.stages.random_programs import random_program
from stax_ref import interpret, ladder, wrapper
from stax_ref.errors import InvariantError
from stax_ref.nest import Nest
from stax_ref.plan import Extern, Plan

RNG = np.random.default_rng(0)


def small(name: str):
    """A program of the golden folder on small arrays with values."""
    shapes = {
        "rownorm": [(6, 20)],
        "softmax": [(6, 20)],
        "layernorm": [(6, 20), (20,), (20,)],
        "variance": [(20, 21)],
        "views": [(2, 3, 4), (4,)],
        "dense": [(4, 8), (8, 16), (16,)],
    }[name]
    return programs.DEFAULT[name][0], [counting.float_array(RNG, *s) for s in shapes]


def planned(function, *arguments, **options) -> Plan:
    return stax.jit(function, **options).lower(*arguments).plan


@pytest.mark.parametrize("options", [{}, {"schedule": "seed"}], ids=["default", "seed"])
@pytest.mark.parametrize("name", ["rownorm", "softmax", "layernorm", "variance", "dense"])
def test_bytes_moved_are_those_of_a_run(name, options):
    function, arguments = small(name)
    plan = planned(function, *arguments, **options)
    assert counting.moved_bytes(plan, arguments) == plan.bytes_moved
    assert plan.bytes_moved >= plan.least_bytes


def test_bytes_moved_count_a_buffer_once_a_kernel():
    x = np.zeros((64, 128), np.float32)
    assert planned(programs.rownorm, x).bytes_moved == 2 * x.nbytes
    assert planned(programs.rownorm, x, schedule="seed").bytes_moved == 2 * x.nbytes + 256
    assert planned(programs.rownorm, x, max_nodes=1).bytes_moved == 3 * x.nbytes + 2 * 256


def test_fusion_saves_what_its_decision_says():
    """The shared buffer is read once instead of twice."""
    x = np.zeros((64, 128), np.float32)
    apart = planned(programs.example_2, x, max_nodes=1)
    together = planned(programs.example_2, x, max_nodes=2)
    assert apart.kernels == together.kernels + 1
    assert apart.bytes_moved - together.bytes_moved == x.nbytes


def test_a_slice_moves_no_more_than_planned():
    function, arguments = small("views")
    plan = planned(function, *arguments)
    assert counting.moved_bytes(plan, arguments) <= plan.bytes_moved


def test_figures_of_random_programs():
    for number in range(40):
        function, arguments, _ = random_program(number)
        plan = planned(function, *arguments)
        plan.check()
        assert plan.kernels == sum(isinstance(step, Nest) for step in plan.steps)
        assert counting.moved_bytes(plan, arguments) <= plan.bytes_moved
        ends = [s.offset + s.nbytes for s in plan.slots if s.kind == "arena"]
        assert max(ends, default=0) <= plan.arena_bytes < max(ends, default=0) + 64


# the wrapper -------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"schedule": "seed"}], ids=["default", "seed"])
@pytest.mark.parametrize("name", ["rownorm", "softmax", "layernorm", "variance", "views", "dense"])
def test_the_wrapper_is_a_python_program(name, options, monkeypatch):
    function, arguments = small(name)
    plan = planned(function, *arguments, **options)
    launched = []
    original = wrapper.run_nest

    def watched(nest, storage, recording):
        launched.append(nest.name)
        original(nest, storage, recording)

    monkeypatch.setattr(wrapper, "run_nest", watched)
    recording = interpret.Recording()
    results = wrapper.run_wrapper(plan, arguments, recording)
    expected = interpret.run_nests(plan, arguments, recording)
    for result, right in zip(results, expected, strict=True):
        assert not np.any(ladder.different(result, right))
    assert launched == [step.name for step in plan.steps if isinstance(step, Nest)]


def test_the_wrapper_refuses_other_shapes():
    plan = planned(programs.rownorm, np.zeros((6, 20), np.float32))
    with pytest.raises((InvariantError, ValueError)):
        wrapper.run_wrapper(plan, [np.zeros((6, 21), np.float32)], interpret.Recording())


def test_the_wrapper_of_listing_8_1():
    """(a*b).sum(-1): the grouped assertion first, one allocation, frees after the last use."""
    a = np.zeros((64, 128), np.float32)
    plan = planned(lambda a, b: (a * b).sum(-1), a, a + 1, schedule="seed")
    sizes = "((64, 128), (64, 128)), ((128, 1), (128, 1))"
    assert plan.wrapper_text().splitlines() == [
        "def wrapper(args):",
        "    primals_1, primals_2, = args",
        "    args.clear()",
        f"    assert_size_stride_grouped((primals_1, primals_2,), {sizes}, 'input')",
        "    buf2 = empty_strided((64,), (1,), '<f4')",
        "    launch('k0', primals_1, primals_2, buf2)",
        "    del primals_1, primals_2",
        "    return (buf2,)",
    ]


def test_the_wrapper_of_example_7_1():
    """The grouped assertion, the buffers, one launch; row sums go when the kernel has returned."""
    plan = planned(programs.example_1, np.zeros((64, 128), np.float32), schedule="seed")
    assert plan.wrapper_text().splitlines()[1:] == [
        "    primals_1, = args",
        "    args.clear()",
        "    assert_size_stride_grouped((primals_1,), ((64, 128),), ((128, 1),), 'input')",
        "    buf1 = empty_strided((64, 1), (1, 1), '<f4')",
        "    buf2 = empty_strided((64, 128), (128, 1), '<f4')",
        "    launch('k0', primals_1, buf1, buf2)",
        "    del primals_1, buf1",
        "    return (buf2,)",
    ]


def test_neighbouring_kernels_are_one_launch():
    def f(x, w):
        a = np.exp(x)
        b = np.tanh(a[::-1] + a)
        return b, (b @ w)[::-1] * 2

    plan = planned(f, np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32))
    ops = [i.op for i in plan.wrapper if i.op in ("launch", "call")]
    assert ops == ["launch", "call", "launch"]
    assert [len(launch) for launch in plan.launches] == [2, 1]


def test_memory_appears_before_its_use_and_goes_after_it():
    for number in range(40):
        function, arguments, _ = random_program(number)
        plan = planned(function, *arguments)
        alive: set[str] = set()
        for instruction in plan.wrapper:
            if instruction.op in ("guard", "allocate", "slot"):
                alive |= set(instruction.names)
            elif instruction.op in ("launch", "call"):
                for name in instruction.names:
                    step = next(s for s in plan.steps if s.name == name)
                    touched = (
                        {*(view.buffer for view in step.operands), *step.buffers}
                        if isinstance(step, Extern)
                        else {b.name for b in step.buffers}
                    )
                    assert touched <= alive
            elif instruction.op == "free":
                assert set(instruction.names) <= alive
                alive -= set(instruction.names)
            elif instruction.op == "return":
                assert set(instruction.names) <= alive


# peak --------------------------------------------------------------------------------------------
class Meter:
    """Bytes of the wrapper's memory that are alive, and the most there were."""

    def __init__(self, monkeypatch) -> None:
        self.now = self.most = 0
        original = wrapper._empty_bytes

        def counted(nbytes):
            array = original(nbytes)
            self.now += nbytes
            self.most = max(self.most, self.now)
            weakref.finalize(array, self.end, nbytes)
            return array

        monkeypatch.setattr(wrapper, "_empty_bytes", counted)

    def end(self, nbytes: int) -> None:
        self.now -= nbytes


def long_chain(x):
    """Values that die, one that waits, and an output of another size in the middle."""
    a = np.exp(x)
    kept = np.tanh(a[::-1] + a)
    b = np.exp(kept[::-1] + kept)
    s = b.sum(0)
    c = np.tanh(b[::-1] + b)
    d = np.exp(c[::-1] + c)
    return np.tanh(d[::-1] + d + kept), s


@pytest.mark.parametrize("options", [{}, {"max_nodes": 1}, {"in_place_percent": 101}], ids=str)
def test_the_planned_peak_is_what_the_wrapper_takes(monkeypatch, options):
    x = np.zeros((16, 20), np.float32)
    plan = planned(long_chain, x, **options)
    meter = Meter(monkeypatch)
    wrapper.run_wrapper(plan, [x], interpret.Recording())
    assert plan.arena_bytes > 0
    assert meter.most == plan.peak_bytes
    assert meter.now == 0


@pytest.mark.parametrize("nodes", [1, 128])
def test_the_free_pool_takes_what_its_records_say(monkeypatch, nodes):
    """Buffer by buffer: blocks with the storage that waits for its next owner, and the outputs."""
    x = np.zeros((16, 20), np.float32)
    program = stax.jit(long_chain, schedule="seed", max_nodes=nodes).lower(x).program
    owner: dict[str, str] = {}
    blocks: dict[str, list[int]] = {}
    for slot in program.plan.slots:
        root = owner[slot.buffer] = owner.get(slot.takes, slot.buffer)
        first, last, _ = blocks.setdefault(root, [slot.first, slot.last, slot.nbytes])
        blocks[root][:2] = [min(first, slot.first), max(last, slot.last)]
    meter = Meter(monkeypatch)
    wrapper.run_wrapper(program.plan, [x], interpret.Recording())
    steps = range(len(program.steps))
    assert any(i.op == "reuse" for i in program.plan.wrapper)
    assert meter.most == max(
        sum(size for first, last, size in blocks.values() if first <= step <= last)
        for step in steps
    )
    assert meter.most <= program.plan.peak_bytes
    assert meter.now == 0


# checks ------------------------------------------------------------------------------------------
def test_check_finds_a_read_before_its_write():
    plan = planned(programs.example_2, np.zeros((64, 128), np.float32), max_nodes=1)
    assert plan.kernels == 3
    with pytest.raises(InvariantError, match="e is read by k2 before it is written") as caught:
        replace(plan, steps=plan.steps[::-1]).check()
    assert "> k2: e@0..32768 -> out_1  # programs.py:54\n" in str(caught.value)
    assert "return e.sum(-1), np.amax(e, -1)" in str(caught.value), "the user's line"


def test_check_finds_an_output_nobody_writes():
    plan = planned(programs.example_2, np.zeros((64, 128), np.float32), max_nodes=1)
    with pytest.raises(InvariantError, match=r"the output \w+ is never written"):
        replace(plan, steps=plan.steps[:1]).check()


def test_check_finds_a_wrapper_that_runs_other_steps():
    plan = planned(programs.example_2, np.zeros((64, 128), np.float32), max_nodes=1)
    launch = next(k for k, i in enumerate(plan.wrapper) if i.op == "launch")
    for names in (("k0", "k2", "k1"), ("k0", "k1"), ("k0", "k1", "k1", "k2")):
        edited = list(plan.wrapper)
        edited[launch] = replace(edited[launch], names=names)
        with pytest.raises(InvariantError, match=f"the wrapper runs {', '.join(names)}, but"):
            replace(plan, wrapper=tuple(edited)).check()


@pytest.mark.parametrize(
    ("op", "schedule"),
    [
        ("allocate", "seed"),
        ("reuse", "seed"),
        ("in place", "seed"),
        ("free", "seed"),
        ("slot", "default"),
    ],
)
def test_check_finds_a_name_the_wrapper_has_not_bound(op, schedule):
    """Storage that is missing, a release that comes too early: with the lines around it."""

    def f(x):
        a = np.exp(x)
        total = a.mean()
        b = np.tanh(a) + total
        c = np.exp(b[::-1] + b)
        d = np.tanh(c[::-1] + c)
        return np.tanh(d[::-1] + d)

    plan = planned(f, np.zeros((4, 8), np.float32), schedule=schedule, max_nodes=1)
    at = next(k for k, i in enumerate(plan.wrapper) if i.op == op)
    rest = [*plan.wrapper[:at], *plan.wrapper[at + 1 :]]
    if op == "free":
        rest.insert(next(k for k, i in enumerate(rest) if i.op == "launch"), plan.wrapper[at])
    with pytest.raises(InvariantError, match="is not bound where launch needs it") as caught:
        replace(plan, wrapper=tuple(rest)).check()
    assert "\n> launch('k" in str(caught.value)
