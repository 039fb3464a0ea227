"""Random fusion problems, named and seeded: what the yardsticks measure on.

takes: a number and how many nodes
gives: a ``Problem``; the same two give the same problem with every version of Python and NumPy
holds: four families, each with a reason; at least a third of the problems have three forbidden
    pairs or more (``test_yardsticks`` counts)
not here: programs (``fuzz``), problems built from other problems (``test_multiway_cut``,
    ``test_vertex_separation``)

``drift``    every node reads one to three recent nodes: straight code with reuse
``layers``   nodes in layers read some nodes of the layer above: wide code, blocks side by side
``fans``     few nodes are read by many, and few inputs by all: what horizontal fusion is for
``ladder``   reductions and pointwise nodes alternate, most read the last of both: normalisations
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from stax_ref.problem import Problem

NAME, SEED = "drift-layers-fans-ladder", 4
_SIZES = (4, 64, 256, 1024, 4096)

Reads = list[tuple[int, ...]]


class Draw:
    """Random choices made of ``Random.random``, the one sequence Python promises never to change.

    Args:
        seed: an integer.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """An integer from 0 to ``count`` - 1."""
        return int(self._random.random() * count)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random.random() < probability

    def pick(self, values: Sequence[int]) -> int:
        """One of them."""
        return values[self.below(len(values))]

    def some(self, values: Sequence[int], count: int) -> tuple[int, ...]:
        """So many different ones of them (all, if there are fewer), ascending."""
        left = list(values)
        return tuple(sorted(left.pop(self.below(len(left))) for _ in range(min(count, len(left)))))


def random_problem(number: int, count: int) -> Problem:
    """The problem with this number: families take turns.

    Args:
        number: which problem.
        count: nodes.
    """
    draw = Draw((SEED * 1000 + count) * 1_000_000 + number)
    family = list(FAMILIES)[number % len(FAMILIES)]
    reads = FAMILIES[family](draw, count)
    inputs = tuple(draw.pick(_SIZES) for _ in range(1 + draw.below(3)))
    external = []
    for node in range(count):
        chance = (0.25 if reads[node] else 1.0) / len(inputs)
        external.append(tuple(k for k in range(len(inputs)) if draw.chance(chance)))
        if not reads[node] and not external[node]:
            external[node] = (draw.below(len(inputs)),)
    used = {producer for read in reads for producer in read}
    outputs = tuple(node for node in range(count) if node not in used or draw.chance(0.1))
    turns = family == "ladder"
    kinds = tuple(int(node % 2 == 0 if turns else draw.chance(0.3)) for node in range(count))
    sizes = tuple(draw.pick(_SIZES[:3] if kind else _SIZES[1:]) for kind in kinds)
    forbidden = _forbidden(draw, count)
    return Problem(sizes, inputs, tuple(reads), tuple(external), outputs, forbidden, kinds)


def _drift(draw: Draw, count: int) -> Reads:
    return [draw.some(range(max(0, node - 5), node), 1 + draw.below(3)) for node in range(count)]


def _layers(draw: Draw, count: int) -> Reads:
    width = 2 + draw.below(3)
    reads: Reads = []
    for node in range(count):
        start = max(0, (node // width - 1) * width)
        above = range(start, start + width) if node >= width else range(0)
        reads.append(tuple(k for k in above if draw.chance(0.5)))
    return reads


def _fans(draw: Draw, count: int) -> Reads:
    hubs = draw.some(range(count), max(1, count // 4))
    reads: Reads = []
    for node in range(count):
        taken = {hub for hub in hubs if hub < node and draw.chance(0.5)}
        if node and draw.chance(0.4):
            taken.add(draw.below(node))
        reads.append(tuple(sorted(taken)))
    return reads


def _ladder(draw: Draw, count: int) -> Reads:
    reads: Reads = []
    for node in range(count):
        last = (node - 2, node - 1) if draw.chance(0.7) else (node - 1 - draw.below(4),)
        reads.append(tuple(k for k in last if k >= 0))
    return reads


FAMILIES = {"drift": _drift, "layers": _layers, "fans": _fans, "ladder": _ladder}


def _forbidden(draw: Draw, count: int) -> frozenset[tuple[int, int]]:
    """Pairs that may not share a block: none, single pairs, or two classes that rarely mix.

    Single pairs stand for illegal distances (seed Proposition 7.3), classes for iteration spaces
    that do not fit (Definition 7.2).
    """
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    kind = draw.below(5)
    if kind == 0 or not pairs:
        return frozenset()
    if kind < 4:
        return frozenset(pairs[k] for k in draw.some(range(len(pairs)), 1 + draw.below(count - 1)))
    space = [draw.below(2) for _ in range(count)]
    return frozenset((a, b) for a, b in pairs if space[a] != space[b] and draw.chance(0.8))
