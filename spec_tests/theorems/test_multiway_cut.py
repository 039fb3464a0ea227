"""Theorem 7.1: fusing the graph made from a multiway cut costs twice the cut.

takes: random graphs with three terminals and weights
gives: a failure where the exact optimum is not twice the minimum cut, or where one direction of the
    proof does not go through
holds: the minimum cut is found by trying every set of edges
not here: how good the greedy answer is on such graphs (``test_yardsticks``)
"""

import random
from itertools import combinations

import pytest

from stax_ref.optimal import best_fusion
from stax_ref.problem import Problem

TERMINALS = (0, 1, 2)


def instance(number):
    """Vertices, weighted edges: connected enough that most cuts cost something."""
    draw = random.Random(number)
    count = draw.randint(3, 6)
    pairs = list(combinations(range(count), 2))
    chosen = sorted(draw.sample(pairs, min(len(pairs), draw.randint(3, 9))))
    return count, [(a, b, draw.randint(0, 9)) for a, b in chosen]


def fusion_problem(count, edges):
    """D of the proof: a source for every edge, then a sink for every vertex."""
    first_sink = len(edges)
    reads = [()] * len(edges)
    for vertex in range(count):
        reads.append(tuple(k for k, (a, b, _) in enumerate(edges) if vertex in (a, b)))
    sinks = [first_sink + vertex for vertex in range(count)]
    return Problem(
        sizes=(*(weight for *_, weight in edges), *(0,) * count),
        inputs=(0,),
        reads=tuple(reads),
        external=(*((0,),) * len(edges), *((),) * count),
        outputs=tuple(sinks),
        forbidden=frozenset(combinations([sinks[t] for t in TERMINALS], 2)),
        kinds=(0,) * (len(edges) + count),
    )


def component(count, edges):
    """Per vertex the smallest vertex it is connected with."""
    found = list(range(count))
    for _ in range(count):
        for a, b, _ in edges:
            found[a] = found[b] = min(found[a], found[b])
    return found


def separates(count, edges):
    name = component(count, edges)
    return len({name[t] for t in TERMINALS}) == 3


def minimum_cut(count, edges):
    best = None
    for chosen in range(1 << len(edges)):
        cut = [edge for k, edge in enumerate(edges) if chosen >> k & 1]
        weight = sum(w for *_, w in cut)
        if best is not None and weight >= sum(w for *_, w in best):
            continue
        if separates(count, [edge for edge in edges if edge not in cut]):
            best = cut
    return best


@pytest.mark.parametrize("block", range(4))
def test_the_optimum_is_twice_the_minimum_cut(block: int):
    costs = set()
    for number in range(25 * block, 25 * block + 25):
        count, edges = instance(number)
        problem = fusion_problem(count, edges)
        problem.check()
        cut = minimum_cut(count, edges)
        partition, cost = best_fusion(problem)
        assert problem.is_scheme(partition)
        assert problem.cost(partition) == cost
        assert cost == 2 * sum(w for *_, w in cut), (number, edges)
        costs.add(cost)
    assert len(costs) > 5


def test_a_scheme_gives_a_cut_that_costs_at_most_half():
    """The direction ≥ of the proof, from the exact optimum's own blocks."""
    for number in range(40):
        count, edges = instance(number)
        problem = fusion_problem(count, edges)
        partition, cost = best_fusion(problem)
        block_of = {node: k for k, block in enumerate(partition) for node in block}
        inside = [
            edge
            for edge in edges
            if block_of[len(edges) + edge[0]] == block_of[len(edges) + edge[1]]
        ]
        assert separates(count, inside)
        assert cost >= 2 * sum(w for *_, w in set(edges) - set(inside))


def test_a_cut_gives_a_scheme_that_costs_at_most_twice_as_much():
    """The direction ≤ of the proof, with its numbering of components."""
    for number in range(40):
        count, edges = instance(number)
        problem = fusion_problem(count, edges)
        cut = minimum_cut(count, edges)
        name = component(count, [edge for edge in edges if edge not in cut])
        blocks = {k: [] for k in sorted(set(name))}
        for k, (a, b, _) in enumerate(edges):
            blocks[min(name[a], name[b])].append(k)
        for vertex in range(count):
            blocks[name[vertex]].append(len(edges) + vertex)
        partition = tuple(tuple(sorted(block)) for block in blocks.values())
        assert problem.is_scheme(partition)
        assert problem.cost(partition) <= 2 * sum(w for *_, w in cut)


def test_a_triangle_of_terminals_is_cut_where_nothing_else_helps():
    edges = [(0, 1, 3), (0, 2, 4), (1, 2, 5)]
    assert best_fusion(fusion_problem(3, edges))[1] == 2 * (3 + 4 + 5)


def test_a_star_keeps_its_heaviest_edge():
    edges = [(0, 3, 3), (1, 3, 7), (2, 3, 5)]
    assert best_fusion(fusion_problem(4, edges))[1] == 2 * (3 + 5)
