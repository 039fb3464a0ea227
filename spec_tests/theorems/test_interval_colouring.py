"""Buffers of one size are the vertices of an interval graph, and storage is its colours (§7.5).

takes: every small set of lifetimes, and random larger ones
gives: a failure where the arena or the free pool needs more storage than the largest clique
holds: the clique is found by trying every subset (small) or every step (large)
not here: different sizes (``stages/test_pools``)
"""

import random
from itertools import combinations, combinations_with_replacement

import pytest

from stax_ref.freepool import reuse
from stax_ref.pools import ALIGNMENT, Block, first_fit, pooled

STEPS = 4
LIVES = list(combinations_with_replacement(range(STEPS), 2))


def blocks(lives):
    """Blocks of one size with these lifetimes, in order of definition."""
    return [Block(f"b{k}", ALIGNMENT, first, last) for k, (first, last) in enumerate(sorted(lives))]


def meet(one, two):
    return one[0] <= two[1] and two[0] <= one[1]


def largest_clique(lives):
    """The most lifetimes of which every two meet, subset by subset."""
    for size in range(len(lives), 0, -1):
        for chosen in combinations(lives, size):
            if all(meet(a, b) for a, b in combinations(chosen, 2)):
                return size
    return 0


def colours(lives, offset_of):
    """Colours in use, after checking that neighbours differ."""
    made = blocks(lives)
    for one, two in combinations(made, 2):
        if meet((one.first, one.last), (two.first, two.last)):
            assert offset_of[one.name] != offset_of[two.name]
    return len(set(offset_of.values()))


def pool_colours(lives):
    """Per block the block whose storage it ends up in."""
    made = blocks(lives)
    found = reuse(made, ["same"] * len(made), 1 + max(block.last for block in made))
    assert found.after <= found.before
    storage = {}
    for block in made:
        old = found.taken.get(block.name)
        storage[block.name] = block.name if old is None else storage[old]
    return storage


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_small_interval_graph_is_coloured_optimally(count: int):
    for lives in combinations_with_replacement(LIVES, count):
        needed = largest_clique(lives)
        assert colours(lives, first_fit(blocks(lives)).offsets) == needed
        assert colours(lives, pooled(blocks(lives)).offsets) == needed
        assert colours(lives, pool_colours(lives)) == needed


def test_random_interval_graphs_are_coloured_optimally():
    sizes = set()
    for number in range(200):
        draw = random.Random(number)
        starts = [draw.randrange(30) for _ in range(draw.randint(5, 40))]
        lives = [(first, min(29, first + draw.randint(0, 9))) for first in starts]
        needed = max(sum(first <= step <= last for first, last in lives) for step in range(30))
        assert colours(lives, first_fit(blocks(lives)).offsets) == needed
        assert pooled(blocks(lives)).size == needed * ALIGNMENT
        assert colours(lives, pool_colours(lives)) == needed
        sizes.add(needed)
    assert len(sizes) > 5
