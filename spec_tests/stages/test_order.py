"""order: every kernel after what it needs; the candidate of the smallest peak, ties to the earlier.

takes: traced programs and hand-made groups
gives: a failure for a sequence in which something runs too early, for a peak that counts what takes
    no memory (or does not count what does), and for a choice that needs more than the program's
    own order
holds: dependences and lifetimes are read from the records, not from ``order``
not here: the strategies on bare numbers (``test_peak``), where buffers lie (``test_memory``)
"""

import dataclasses

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.stages.random_programs import random_program
from stax_ref.config import Config
from stax_ref.depend import Edges, Record, WeakDep, WholeDep
from stax_ref.errors import InvariantError, Where
from stax_ref.group import Group, Groups
from stax_ref.node import Node, computed
from stax_ref.order import order

BYTE = np.dtype(np.uint8)


def record(
    name: str, *reads: str, after: tuple[str, ...] = (), onto: str | None = None, line: int = 0
) -> Record:
    where = Where("user.py", line, "f") if line else None
    node = Node(name, "pointwise", name, (), mutates=onto, where=where)
    deps = tuple(WholeDep(r, 1) for r in reads)
    weak = tuple(WeakDep("old", r) for r in after)
    return Record(node, (WholeDep(name, 1),), deps, weak, ((), ()), ())


def orders(*blocks: list[Record], sizes=None, outputs=(), schedule="seed"):
    """The orders of hand-made groups; a buffer has one byte unless ``sizes`` says more."""
    everything = tuple(r for block in blocks for r in block)
    names = {r.node.name for r in everything} | {d.buffer for r in everything for d in r.reads}
    names |= {r.node.mutates for r in everything} - {None}
    buffers = tuple(computed(n, ((sizes or {}).get(n, 1),), BYTE) for n in sorted(names))
    groups = tuple(Group(tuple(block), None, ((), ())) for block in blocks)
    made = Groups(groups, (), (), Edges(everything, buffers, tuple(outputs)))
    return order(made, Config(schedule=schedule))


def names(made) -> list[str]:
    return [group.name for group in made.sequence]


def every_sequence(made) -> list[list[str]]:
    return [[made.groups[k].name for k in c.order] for c in made.candidates]


def test_program_order_is_kept_where_nothing_is_gained():
    made = orders([record("a")], [record("b")], [record("c", "a")], outputs=("a", "b", "c"))
    assert names(made) == ["a", "b", "c"]
    assert made.taken.name == "original"


def test_a_group_waits_for_all_it_reads():
    blocks = [record("a"), record("d", "c")], [record("b", "a")], [record("c")]
    assert every_sequence(orders(*blocks)) == [["c", "a_d", "b"]] * 4


def test_an_order_only_dependence_counts_in_every_candidate():
    made = orders([record("over", after=("reader",))], [record("reader")])
    assert every_sequence(made) == [["reader", "over"]] * 4


def test_there_are_the_four_candidates_of_the_seed():
    made = orders([record("a")], [record("b", "a")])
    assert [c.name for c in made.candidates] == [
        "original",
        "minimum peak first",
        "breadth first",
        "depth first",
    ]


def two_long_values(schedule: str):
    """p and q are large and each shrinks to a small value: one after the other, or both at once."""
    return orders(
        [record("p")],
        [record("q")],
        [record("small_p", "p")],
        [record("small_q", "q")],
        [record("out", "small_p", "small_q")],
        sizes={"p": 1000, "q": 1000},
        outputs=("out",),
        schedule=schedule,
    )


def test_the_smallest_peak_is_taken():
    made = two_long_values("seed")
    assert made.candidates[0].peak == 2001
    assert made.taken.peak == 1002
    assert made.taken.name == "minimum peak first"
    assert names(made) == ["p", "small_p", "q", "small_q", "out"]


def test_of_equal_peaks_the_earlier_candidate_wins():
    made = two_long_values("seed")
    assert [c.peak for c in made.candidates] == [2001, 1002, 2001, 1002]
    assert made.chosen == 1


def test_a_buffer_used_only_inside_its_group_counts_only_at_its_step():
    made = orders(
        [record("a"), record("b", "a")],
        [record("c", "b"), record("d", "c")],
        sizes={"a": 100, "c": 10},
        outputs=("d",),
    )
    assert made.taken.peak == max(100 + 1, 1 + 10 + 1)


def test_an_output_counts_to_the_end_and_an_input_never():
    made = orders(
        [record("a", "x")],
        [record("b", "x")],
        [record("c", "b")],
        sizes={"x": 5000, "a": 100},
        outputs=("a", "c"),
    )
    assert made.candidates[0].peak == 100 + 1 + 1


def test_storage_that_is_written_over_counts_once_and_lives_on():
    made = orders(
        [record("a")],
        [record("reader", "a")],
        [record("over", "a", after=("reader",), onto="a")],
        [record("b", "over", "reader")],
        sizes={"a": 100, "over": 100},
        outputs=("b",),
    )
    assert every_sequence(made) == [["a", "reader", "over", "b"]] * 4
    assert made.taken.peak == 100 + 1 + 1


def test_writing_over_an_input_takes_no_memory():
    made = orders([record("over", "x", onto="x")], sizes={"x": 100, "over": 100}, outputs=("over",))
    assert made.taken.peak == 0


def test_registers_and_rows_take_no_memory():
    def f(x):
        return x / np.sum(np.exp(x), -1, keepdims=True)

    rows = np.zeros((64, 128), np.float32)
    default = stax.jit(f).lower(rows).program
    assert len(default.sequence) == 1
    assert default.orders.taken.peak == rows.nbytes
    seed = stax.jit(f, schedule="seed").lower(rows).program
    stored = sum(slot.nbytes for slot in seed.memory.slots if slot.kind == "arena")
    assert seed.orders.candidates[0].peak <= rows.nbytes + stored


def test_a_cycle_names_the_groups_on_it_and_no_others():
    with pytest.raises(InvariantError) as caught:
        orders(
            [record("first", line=1)],
            [record("a", "first", line=2), record("c", "b", line=4)],
            [record("b", "a", line=3)],
            [record("last", "c", line=5)],
        )
    lines = str(caught.value).splitlines()
    assert lines == [
        "kernels form a cycle: a_c waits for b waits for a_c, in",
        "  first waits for nothing  # user.py:1",
        "> a_c waits for first, b  # user.py:2  # user.py:4",
        "> b waits for a_c  # user.py:3",
        "  last waits for a_c  # user.py:5",
    ]


def test_a_cycle_in_a_traced_program_shows_the_users_lines():
    def f(x):
        a = np.exp(x)
        b = np.cumsum(a, 0)
        return a + b

    program = stax.jit(f).lower(np.zeros((4, 4), np.float32)).program
    groups = {group.name: group for group in program.groups.groups}
    assert len(groups) == 3
    first, call, last = program.sequence
    wrong = dataclasses.replace(first, records=(*first.records, *last.records))
    with pytest.raises(InvariantError, match="kernels form a cycle") as caught:
        order(dataclasses.replace(program.groups, groups=(wrong, call)), program.config)
    text = str(caught.value)
    assert "test_order.py:" in text
    assert "a = np.exp(x)" in text
    assert "b = np.cumsum(a, 0)" in text


def test_random_programs_run_in_dependence_order():
    for number in range(60):
        function, arguments, _ = random_program(number)
        program = stax.jit(function).lower(*arguments).program
        for candidate in program.orders.candidates:
            done: set[str] = set()
            for group in (program.orders.groups[k] for k in candidate.order):
                own = {r.node.buffer for r in group.records}
                produced = set(program.edges.writer)
                needed = {d.buffer for r in group.records for d in r.reads} & produced
                assert needed <= done | own
                done |= own
            assert set(program.lowered.outputs) <= done


def test_no_program_needs_more_than_in_its_own_order():
    moved = 0
    for number in range(60):
        function, arguments, _ = random_program(number)
        made = stax.jit(function, schedule="seed").lower(*arguments).program.orders
        assert made.taken.peak == min(c.peak for c in made.candidates)
        assert made.chosen == [c.peak for c in made.candidates].index(made.taken.peak)
        moved += made.chosen > 0
    assert moved


def test_the_peak_is_the_sum_of_the_slots_that_live_together():
    """From what ``memory`` really stores, outputs included, step by step."""
    for number in range(40):
        function, arguments, _ = random_program(number)
        program = stax.jit(function).lower(*arguments).program
        stored = [slot for slot in program.memory.slots if slot.kind in ("output", "arena")]
        expected = max(
            sum(slot.nbytes for slot in stored if slot.first <= step <= slot.last)
            for step in range(len(program.sequence))
        )
        assert program.orders.taken.peak == expected


# The smallest of many random graphs in which the best order is none of the four.
HARD = (
    ("a", 1, ()),
    ("b", 3, ()),
    ("c", 4, ("a", "b")),
    ("d", 3, ("a",)),
    ("e", 3, ("a", "c")),
    ("f", 1, ("d", "e")),
)


def hard(**options):
    made = [[record(name, *reads)] for name, _, reads in HARD]
    sizes = {name: size for name, size, _ in HARD}
    config = Config(**options)
    groups = tuple(Group(tuple(block), None, ((), ())) for block in made)
    buffers = tuple(computed(n, (s,), BYTE) for n, s in sizes.items())
    edges = Edges(tuple(b[0] for b in made), buffers, ("f",))
    return order(Groups(groups, (), (), edges), config)


def test_the_default_searches_where_a_smaller_peak_may_exist():
    seed, default, off = hard(schedule="seed"), hard(), hard(order_states=0)
    assert len(seed.candidates) == len(off.candidates) == 4
    assert default.candidates[:4] == seed.candidates
    assert default.taken.name == "exact search"
    assert (seed.taken.peak, default.taken.peak) == (11, 8)


def test_the_order_prints_every_candidate_and_the_one_taken():
    def f(x):
        return np.sum(x, -1), np.exp(x[0])

    staged = stax.jit(f).lower(np.zeros((16, 16), np.float32))
    assert staged.text("order").splitlines() == [
        "original: peak 128 bytes, taken",
        "minimum peak first: peak 128 bytes",
        "breadth first: peak 128 bytes",
        "depth first: peak 128 bytes",
        "",
        "0: out",
        "1: out_1",
    ]
