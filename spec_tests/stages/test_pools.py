"""pools and freepool: storage that is shared over time, judged byte by byte.

takes: random lifetimes and sizes
gives: a failure for two live blocks in one place, an arena below its bound, a reuse that costs
holds: M* of Definition 7.5 recomputed step by step; the largest clique of an interval graph
not here: which buffers need storage (``test_memory``)
"""

from hypothesis import given
from hypothesis import strategies as st

from stax_ref.freepool import reuse
from stax_ref.pools import ALIGNMENT, Block, aligned, first_fit, least_bytes, pooled

STEPS = 12
LIVES = st.tuples(st.integers(0, STEPS - 1), st.integers(0, 5), st.sampled_from([4, 64, 100, 4096]))


def blocks_of(lives) -> list[Block]:
    """Blocks in order of definition."""
    made = [(first, min(STEPS - 1, first + more), size) for first, more, size in lives]
    return [Block(f"b{k}", size, a, z) for k, (a, z, size) in enumerate(sorted(made))]


def most_live(blocks) -> int:
    """Bytes at the fullest step, in multiples of the alignment."""
    live = [sum(b.size for b in blocks if b.first <= s <= b.last) for s in range(STEPS)]
    return max(live)


def check(blocks, pool) -> None:
    """Every block aligned, inside, and apart from all that live with it."""
    for number, a in enumerate(blocks):
        at = pool.offsets[a.name]
        assert at % ALIGNMENT == 0
        assert at + a.nbytes <= pool.size
        for b in blocks[:number]:
            if a.first <= b.last and b.first <= a.last:
                other = pool.offsets[b.name]
                assert at + a.nbytes <= other or other + b.nbytes <= at, (a, b)


@given(st.lists(LIVES, max_size=14))
def test_live_blocks_never_share_a_byte(lives):
    blocks = blocks_of(lives)
    for pool in (pooled(blocks), first_fit(blocks)):
        check(blocks, pool)
        assert pool.size >= least_bytes(blocks) == most_live(blocks)
    assert pooled(blocks).size <= first_fit(blocks).size


@given(st.lists(LIVES, max_size=14))
def test_equal_sizes_are_coloured_optimally(lives):
    """An interval graph needs as many colours as its largest clique has vertices (§7.5)."""
    blocks = blocks_of([(first, more, 64) for first, more, _ in lives])
    assert pooled(blocks).size == most_live(blocks)
    found = reuse(blocks, [b.nbytes for b in blocks], STEPS)
    assert (len(blocks) - len(found.taken)) * 64 == most_live(blocks)


def chained(blocks, taken) -> list[int]:
    """Bytes occupied at every step when storage waits for its next owner."""
    occupied = [0] * STEPS
    by_name = {block.name: block for block in blocks}
    for block in blocks:
        start = block.first
        if block.name in taken:
            start = by_name[taken[block.name]].last + 1
        for step in range(start, block.last + 1):
            occupied[step] += block.nbytes
    return occupied


@given(st.lists(LIVES, max_size=14))
def test_reuse_never_raises_the_peak(lives):
    blocks = blocks_of(lives)
    found = reuse(blocks, [b.nbytes for b in blocks], STEPS)
    by_name = {block.name: block for block in blocks}
    assert len(set(found.taken.values())) == len(found.taken), "storage has one owner at a time"
    for new, old in found.taken.items():
        assert by_name[old].last < by_name[new].first
        assert by_name[old].nbytes == by_name[new].nbytes
    occupied = max(chained(blocks, found.taken), default=0)
    assert found.after == occupied <= found.before == max(chained(blocks, {}), default=0)


def test_storage_that_would_wait_through_the_peak_is_not_kept():
    """a's storage could serve c, but b needs everything in between."""
    blocks = [Block("a", 64, 0, 0), Block("b", 640, 1, 1), Block("c", 64, 2, 2)]
    assert reuse(blocks, [64, 640, 64], 3).taken == {}
    small = [Block("a", 64, 0, 0), Block("b", 64, 1, 1), Block("c", 640, 2, 2)]
    assert reuse(small, [64, 64, 640], 3).taken == {"b": "a"}


def test_what_was_freed_last_is_taken_first():
    blocks = [Block("a", 64, 0, 0), Block("b", 64, 0, 1), Block("c", 64, 2, 2)]
    assert reuse(blocks, [64] * 3, 3).taken == {"c": "b"}


def test_dtypes_do_not_mix():
    blocks = [Block("a", 64, 0, 0), Block("b", 64, 1, 1)]
    assert reuse(blocks, [("<f4", 64), ("<i4", 64)], 2).taken == {}


def test_a_small_block_leaves_the_rest_of_its_range_to_others():
    blocks = [Block("a", 256, 0, 0), Block("b", 64, 1, 1), Block("c", 100, 1, 1)]
    pool = pooled(blocks)
    assert pool.size == 256
    assert str(pool).splitlines() == [
        "arena of 256 bytes by splits",
        "  temporal split of 256 bytes",
        "    a: 256 bytes, steps 0..0",
        "    spatial split of 256 bytes",
        "      c: 100 bytes, steps 1..1",
        "      spatial split of 128 bytes",
        "        b: 64 bytes, steps 1..1",
        "        gap of 64 bytes",
    ]


def test_first_fit_is_taken_where_it_needs_less():
    """Splits leave a hole that first fit fills; nothing but the size decides."""
    lives = [(0, 2, 4), (0, 3, 4096), (3, 1, 4096), (3, 5, 64), (1, 2, 64), (4, 1, 4096)]
    blocks = blocks_of(lives)
    pool = pooled(blocks)
    assert pool.size <= first_fit(blocks).size
    assert pool.by in ("splits", "first fit")


def test_the_alignment():
    assert [aligned(n) for n in (0, 1, 64, 65)] == [0, 64, 64, 128]
