"""Proposition 7.4: the least peak of the graph made from vertex separation lies in its interval.

takes: random graphs without isolated vertices, and some whose vertex separation is known
gives: a failure where the exact least peak leaves [K(vs+1), K(vs+1) + |F|], or where the order of
    the proof does
holds: vertex separation is the minimum over all orders of the vertices, as the seed defines it
not here: which order the scheduler takes (``test_yardsticks``)
"""

import random
from itertools import combinations, permutations

import pytest

from stax_ref.optimal import best_order
from stax_ref.problem import Problem


def instance(number):
    """A vertex count and edges that leave no vertex alone."""
    draw = random.Random(number)
    count = draw.randint(2, 6)
    pairs = list(combinations(range(count), 2))
    edges = set(draw.sample(pairs, draw.randint(1, min(len(pairs), 8))))
    for vertex in range(count):
        if not any(vertex in edge for edge in edges):
            other = draw.choice([v for v in range(count) if v != vertex])
            edges.add((min(vertex, other), max(vertex, other)))
    return count, sorted(edges)


def ordering_problem(count, edges):
    """D of the proof: vertices of K bytes that read an input, edges of one byte, all outputs."""
    large = len(edges) + 1
    return Problem(
        sizes=(large,) * count + (1,) * len(edges),
        inputs=(0,),
        reads=((),) * count + tuple(edges),
        external=((0,),) * count + ((),) * len(edges),
        outputs=tuple(range(count, count + len(edges))),
        forbidden=frozenset(),
        kinds=(0,) * (count + len(edges)),
    )


def separation(order, edges):
    """vs of an order: the most vertices of a prefix with a neighbour outside it."""
    widths = []
    for k in range(1, len(order) + 1):
        prefix = set(order[:k])
        open_vertices = {v for a, b in edges for v in (a, b) if (a in prefix) != (b in prefix)}
        widths.append(len(open_vertices & prefix))
    return max(widths)


def best_separation(count, edges):
    return min(permutations(range(count)), key=lambda order: separation(order, edges))


def interval(count, edges):
    large = len(edges) + 1
    low = large * (separation(best_separation(count, edges), edges) + 1)
    return low, low + len(edges)


@pytest.mark.parametrize("block", range(4))
def test_the_least_peak_lies_in_the_interval(block: int):
    for number in range(15 * block, 15 * block + 15):
        count, edges = instance(number)
        low, high = interval(count, edges)
        problem = ordering_problem(count, edges)
        order, peak = best_order(problem)
        assert problem.peak(order) == peak
        assert low <= peak <= high, (number, edges)


def test_the_threshold_decides_the_separation_number():
    """vs(H) ≤ k exactly where the least peak is at most K(k + 1) + |F|."""
    answers = set()
    for number in range(40):
        count, edges = instance(number)
        best = separation(best_separation(count, edges), edges)
        _, peak = best_order(ordering_problem(count, edges))
        for k in range(count):
            fits = peak <= (len(edges) + 1) * (k + 1) + len(edges)
            assert fits == (best <= k)
            answers.add(fits)
    assert answers == {False, True}


def test_the_order_of_the_proof_keeps_the_upper_bound():
    for number in range(40):
        count, edges = instance(number)
        _, high = interval(count, edges)
        order, done = [], set()
        for vertex in best_separation(count, edges):
            order.append(vertex)
            done.add(vertex)
            ready = [k for k, edge in enumerate(edges) if set(edge) <= done]
            order += [count + k for k in ready if count + k not in order]
        assert ordering_problem(count, edges).peak(order) <= high


def test_every_order_keeps_the_lower_bound():
    for number in range(40):
        draw = random.Random(number)
        count, edges = instance(number)
        low, _ = interval(count, edges)
        vertices, k = list(range(count)), 0
        draw.shuffle(vertices)
        order = []
        for k, vertex in enumerate(vertices):
            order.append(vertex)
            ready = [n for n, edge in enumerate(edges) if set(edge) <= set(vertices[: k + 1])]
            late = [n for n in ready if count + n not in order and draw.random() < 0.5]
            order += [count + n for n in late]
        order += [count + n for n in range(len(edges)) if count + n not in order]
        assert ordering_problem(count, edges).peak(order) >= low


KNOWN = {
    "a path": (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], 1),
    "a star": (5, [(0, 1), (0, 2), (0, 3), (0, 4)], 1),
    "a ring": (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)], 2),
    "all pairs of four": (4, list(combinations(range(4), 2)), 3),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_separation_numbers(name: str):
    count, edges, expected = KNOWN[name]
    assert separation(best_separation(count, edges), edges) == expected
    large = len(edges) + 1
    _, peak = best_order(ordering_problem(count, edges))
    assert large * (expected + 1) <= peak <= large * (expected + 1) + len(edges)
