"""order: every kernel after what it needs; ties in program order.

takes: traced programs and hand-made groups
gives: a failure for a sequence in which something runs too early
holds: dependences are read from the records, not from ``order``
not here: which order needs least memory (the order of the program is kept wherever it can be)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.stages.random_programs import random_program
from stax_ref.depend import Edges, Record, WeakDep, WholeDep
from stax_ref.errors import InvariantError
from stax_ref.group import Group, Groups
from stax_ref.node import Node
from stax_ref.order import order


def record(name: str, *reads: str, after: tuple[str, ...] = ()) -> Record:
    node = Node(name, "pointwise", name, ())
    deps = tuple(WholeDep(r, 1) for r in reads)
    weak = tuple(WeakDep("old", r) for r in after)
    return Record(node, (WholeDep(name, 1),), deps, weak, ((), ()), ())


def sequence(*blocks: list[Record]) -> list[str]:
    everything = tuple(r for block in blocks for r in block)
    groups = tuple(Group(tuple(block), None, ((), ())) for block in blocks)
    made = order(Groups(groups, (), (), Edges(everything, (), ())))
    return [group.name for group in made]


def test_program_order_is_kept():
    assert sequence([record("a")], [record("b")], [record("c", "a")]) == ["a", "b", "c"]


def test_a_group_waits_for_all_it_reads():
    blocks = [record("a"), record("d", "c")], [record("b", "a")], [record("c")]
    assert sequence(*blocks) == ["c", "a_d", "b"]


def test_an_order_only_dependence_counts():
    assert sequence([record("over", after=("reader",))], [record("reader")]) == ["reader", "over"]


def test_a_cycle_is_an_error():
    with pytest.raises(InvariantError, match="cycle through a_c"):
        sequence([record("a"), record("c", "b")], [record("b", "a")])


def test_random_programs_run_in_dependence_order():
    for number in range(60):
        function, arguments, _ = random_program(number)
        program = stax.jit(function).lower(*arguments).program
        done: set[str] = set()
        for group in program.sequence:
            own = {r.node.buffer for r in group.records}
            produced = set(program.edges.writer)
            needed = {d.buffer for r in group.records for d in r.reads} & produced
            assert needed <= done | own
            done |= own
        assert set(program.lowered.outputs) <= done


def test_the_order_prints():
    def f(x):
        return np.sum(x, -1), np.exp(x[0])

    staged = stax.jit(f).lower(np.zeros((16, 16), np.float32))
    assert staged.text("order") == "0: out\n1: out_1"
