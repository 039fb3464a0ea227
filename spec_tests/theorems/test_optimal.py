"""The exact answers against every partition and every order of small problems.

takes: random problems of at most 6 (partitions) and 7 (orders) nodes
gives: a failure where brute force finds less, or where an answer is not what it claims
holds: brute force judges by ``Problem.cost``, ``is_scheme`` and ``peak`` alone
not here: how far the scheduler is from these answers (``test_yardsticks``)
"""

import time

import pytest

from spec_tests.theorems.generator import random_problem
from spec_tests.theorems.plain import orders, partitions
from stax_ref.errors import InvariantError
from stax_ref.optimal import best_fusion, best_order
from stax_ref.problem import Problem


def test_there_are_as_many_partitions_and_orders_as_there_should_be():
    bell = [sum(1 for _ in partitions(list(range(count)))) for count in range(7)]
    assert bell == [1, 1, 2, 5, 15, 52, 203]
    assert sum(1 for _ in orders([(), (), ()])) == 6
    assert list(orders([(), (0,), (0,)])) == [(0, 1, 2), (0, 2, 1)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_no_partition_moves_fewer_bytes(count: int):
    for number in range(60):
        problem = random_problem(number, count)
        found, cost = best_fusion(problem)
        assert problem.is_scheme(found)
        assert problem.cost(found) == cost
        every = [p for p in partitions(list(range(count))) if problem.is_scheme(p)]
        assert cost == min(map(problem.cost, every)), (number, str(problem))


@pytest.mark.parametrize("count", [1, 2, 4, 6, 7])
def test_no_order_needs_less_memory(count: int):
    for number in range(40):
        problem = random_problem(number, count)
        order, peak = best_order(problem)
        assert order in set(orders(problem.reads))
        assert problem.peak(order) == peak
        assert peak == min(map(problem.peak, orders(problem.reads))), (number, str(problem))


def test_nothing_to_fuse_costs_nothing():
    empty = Problem((), (), (), (), (), frozenset(), ())
    assert best_fusion(empty) == ((), 0)
    assert best_order(empty) == ((), 0)


def test_nonsense_is_refused_before_the_search():
    wrong = Problem((1,), (), ((0,),), ((),), (0,), frozenset(), (0,))
    with pytest.raises(InvariantError, match="n0 reads n0"):
        best_fusion(wrong)
    with pytest.raises(InvariantError, match="n0 reads n0"):
        best_order(wrong)


def test_the_widest_problem_of_fourteen_nodes_takes_seconds():
    """Nothing depends on anything, so every set of nodes is a downset; the limit is a minute."""
    count = 14
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    external = tuple((k, (k + 1) % count, (3 * k + 2) % count) for k in range(count))
    forbidden = frozenset(pairs[k] for k in range(0, len(pairs), 6))
    wide = Problem(
        (8,) * count,
        tuple(64 + k for k in range(count)),
        ((),) * count,
        external,
        tuple(range(count)),
        forbidden,
        (0,) * count,
    )
    start = time.perf_counter()
    found, cost = best_fusion(wide)
    order, peak = best_order(wide)
    assert time.perf_counter() - start < 60
    assert wide.is_scheme(found)
    assert wide.cost(found) == cost < wide.cost(tuple((k,) for k in range(count)))
    assert peak == wide.peak(order) == 8 * count
