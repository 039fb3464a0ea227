"""Proposition 7.1: merging two vertices makes a cycle iff a path joins them through a third.

takes: every acyclic graph of at most five vertices, every pair of them
gives: a failure where the path, a plain search for cycles in the merged graph and the scheduler's
    own test do not say the same
holds: the merged graph is built edge by edge and emptied of vertices without predecessors
not here: pairs that may not be merged for other reasons (``stages/test_fuse``)
"""

import random
from itertools import combinations

import pytest

from spec_tests.theorems.plain import dags, has_cycle
from stax_ref.acyclic import Ancestry, find_cycle


def quotient(graph, blocks):
    """Edges between different blocks, each named by its smallest vertex."""
    name = {vertex: min(block) for block in blocks for vertex in block}
    edges = {(name[a], name[b]) for b, before in enumerate(graph) for a in before}
    return sorted((a, b) for a, b in edges if a != b)


def path_through_a_third(graph, first, second):
    """A path from one to the other with a vertex in between, followed edge by edge."""
    after = {v: [b for b, before in enumerate(graph) if v in before] for v in range(len(graph))}
    for start, end in ((first, second), (second, first)):
        pending = [v for v in after[start] if v != end]
        while pending:
            vertex = pending.pop()
            if vertex == end:
                return True
            pending += after[vertex]
    return False


def merged(graph, first, second):
    others = [(v,) for v in range(len(graph)) if v not in (first, second)]
    return [*others, (first, second)]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_on_every_graph_and_every_pair(count: int):
    seen = {False: 0, True: 0}
    for graph in dags(count):
        for first, second in combinations(range(count), 2):
            blocks = merged(graph, first, second)
            names = [min(block) for block in blocks]
            cyclic = has_cycle(names, quotient(graph, blocks))
            assert path_through_a_third(graph, first, second) == cyclic
            assert Ancestry(graph).makes_cycle(first, second) == cyclic
            seen[cyclic] += 1
    assert seen[False]
    assert seen[True] or count == 2


def test_merge_after_merge_on_every_graph_of_four_vertices():
    """The scheduler updates its sets when it merges; they must stay those of the quotient."""
    for graph in dags(4):
        for first, second in combinations(range(4), 2):
            ancestry = Ancestry(graph)
            if ancestry.makes_cycle(first, second):
                continue
            made = ancestry.merge(first, second)
            units = {made: (first, second)}
            units |= {v: (v,) for v in range(4) if v not in (first, second)}
            for one, two in combinations(sorted(units), 2):
                rest = [block for unit, block in units.items() if unit not in (one, two)]
                blocks = [*rest, units[one] + units[two]]
                names = [min(block) for block in blocks]
                cyclic = has_cycle(names, quotient(graph, blocks))
                assert ancestry.makes_cycle(one, two) == cyclic, (graph, first, second, one, two)


@pytest.mark.parametrize("density", [0.06, 0.1, 0.2])
def test_long_runs_of_merges_never_make_a_cycle(density: float):
    for number in range(150):
        draw = random.Random(number)
        graph = [tuple(k for k in range(v) if draw.random() < density) for v in range(14)]
        ancestry, units = Ancestry(graph), {v: (v,) for v in range(14)}
        for _ in range(40):
            if len(units) == 1:
                break
            one, two = draw.sample(sorted(units), 2)
            rest = [block for unit, block in units.items() if unit not in (one, two)]
            blocks = [*rest, units[one] + units[two]]
            names = [min(block) for block in blocks]
            cyclic = has_cycle(names, quotient(graph, blocks))
            assert ancestry.makes_cycle(one, two) == cyclic
            if not cyclic:
                made = ancestry.merge(one, two)
                units[made] = units.pop(one) + units.pop(two)


def test_find_cycle_agrees_with_emptying_the_graph():
    seen = {False: 0, True: 0}
    for number in range(500):
        draw = random.Random(number)
        graph = [[k for k in range(6) if draw.random() < 0.18] for _ in range(6)]
        edges = [(a, b) for b, before in enumerate(graph) for a in before]
        cycle = find_cycle(graph)
        assert bool(cycle) == has_cycle(range(6), edges)
        assert all(cycle[(k + 1) % len(cycle)] in graph[v] for k, v in enumerate(cycle))
        seen[bool(cycle)] += 1
    assert min(seen.values()) > 50
