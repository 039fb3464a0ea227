"""Random fusion problems, named and seeded: what the yardsticks measure on.

takes: a family's name, a number and how many nodes
gives: a ``Problem``; the same three give the same problem on every machine
holds: four families, each with a reason; at least a third of the problems have three forbidden
    pairs or more (a test counts)
not here: programs (``fuzz``), problems built from other problems (``test_multiway_cut``,
    ``test_vertex_separation``)

``drift``    every node reads one to three recent nodes: straight code with reuse
``layers``   nodes in layers read any node of the layer above: wide code, many blocks side by side
``fans``     few nodes are read by many, and few inputs by all: what horizontal fusion is for
``ladder``   reductions and pointwise nodes alternate, each reads the last of both: normalisations
"""

from __future__ import annotations

import numpy as np

from stax_ref.problem import Problem

NAME, SEED = "drift-layers-fans-ladder", 4
FAMILIES = ("drift", "layers", "fans", "ladder")
_SIZES = (4, 64, 256, 1024, 4096)


def random_problem(number: int, count: int) -> Problem:
    """The problem with this number: families take turns.

    Args:
        number: which problem.
        count: nodes.
    """
    family = FAMILIES[number % len(FAMILIES)]
    rng = np.random.default_rng([SEED, number, count])
    reads = _READS[family](rng, count)
    inputs = tuple(int(rng.choice(_SIZES)) for _ in range(int(rng.integers(1, 4))))
    external = []
    for node in range(count):
        chance = 1.0 if not reads[node] else 0.25
        external.append(tuple(k for k in range(len(inputs)) if rng.random() < chance / len(inputs)))
        if not reads[node] and not external[node]:
            external[node] = (int(rng.integers(len(inputs))),)
    used = {producer for read in reads for producer in read}
    outputs = tuple(n for n in range(count) if n not in used or rng.random() < 0.1)
    kinds = tuple(
        int(n % 2 == 0) if family == "ladder" else int(rng.random() < 0.3) for n in range(count)
    )
    sizes = tuple(int(rng.choice(_SIZES[:3] if kind else _SIZES[1:])) for kind in kinds)
    forbidden = _forbidden(rng, count)
    return Problem(sizes, inputs, tuple(reads), tuple(external), outputs, forbidden, kinds)


def _drift(rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
    reads = []
    for node in range(count):
        near = range(max(0, node - 5), node)
        take = min(len(near), int(rng.integers(1, 4)))
        chosen = rng.choice(list(near), take, replace=False) if take else []
        reads.append(tuple(sorted(map(int, chosen))))
    return reads


def _layers(rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
    width = int(rng.integers(2, 5))
    reads = []
    for node in range(count):
        start = max(0, (node // width - 1) * width)
        above = range(start, start + width) if node >= width else range(0)
        reads.append(tuple(k for k in above if rng.random() < 0.5))
    return reads


def _fans(rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
    hubs = sorted(int(k) for k in rng.choice(count, max(1, count // 4), replace=False))
    reads = []
    for node in range(count):
        earlier = [hub for hub in hubs if hub < node]
        taken = {hub for hub in earlier if rng.random() < 0.5}
        if node and rng.random() < 0.4:
            taken.add(int(rng.integers(node)))
        reads.append(tuple(sorted(taken)))
    return reads


def _ladder(rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
    reads = []
    for node in range(count):
        last = {node - 1, node - 2} if rng.random() < 0.7 else {node - int(rng.integers(1, 5))}
        reads.append(tuple(sorted(k for k in last if k >= 0)))
    return reads


_READS = {"drift": _drift, "layers": _layers, "fans": _fans, "ladder": _ladder}


def _forbidden(rng: np.random.Generator, count: int) -> frozenset[tuple[int, int]]:
    """Pairs that may not share a block: none, single pairs, or classes that never mix.

    Single pairs stand for illegal distances (seed Proposition 7.3), classes for iteration spaces
    that do not fit (Definition 7.2).
    """
    kind = int(rng.integers(0, 5))
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    if kind == 0 or not pairs:
        return frozenset()
    if kind < 4:
        chosen = rng.choice(len(pairs), int(rng.integers(1, count)), replace=False)
        return frozenset(pairs[int(k)] for k in chosen)
    space = [int(k) for k in rng.integers(0, 2, count)]
    return frozenset((a, b) for a, b in pairs if space[a] != space[b] and rng.random() < 0.8)
