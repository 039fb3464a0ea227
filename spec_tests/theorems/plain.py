"""The plainest way to every partition, every order, every graph: what the theorems are held to.

takes: small sets and graphs
gives: everything there is, one after the other
holds: no cleverness, so that nothing here shares a mistake with what it judges
not here: random problems (``generator``)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product


def partitions(items: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to split ``items`` into blocks."""
    if not items:
        yield ()
        return
    first, rest = items[0], items[1:]
    for blocks in partitions(rest):
        yield ((first,), *blocks)
        for k, block in enumerate(blocks):
            yield (*blocks[:k], (first, *block), *blocks[k + 1 :])


def orders(predecessors: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every order in which each vertex comes after its predecessors, the smallest first."""
    for order in permutations(range(len(predecessors))):
        place = {vertex: k for k, vertex in enumerate(order)}
        if all(place[p] < place[v] for v in place for p in predecessors[v]):
            yield order


def dags(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every graph on ``count`` vertices whose edges go from smaller to larger numbers, by
    predecessors; every acyclic graph is one of them with its vertices renamed."""
    pairs = list(combinations(range(count), 2))
    for chosen in product((False, True), repeat=len(pairs)):
        edges = [pair for pair, taken in zip(pairs, chosen, strict=True) if taken]
        yield tuple(tuple(a for a, b in edges if b == vertex) for vertex in range(count))


def has_cycle(vertices: Sequence[int], edges: Sequence[tuple[int, int]]) -> bool:
    """True when no order of the vertices has every edge going forwards."""
    left = set(vertices)
    while left:
        free = {v for v in left if not any(b == v and a in left for a, b in edges)}
        if not free:
            return True
        left -= free
    return False
