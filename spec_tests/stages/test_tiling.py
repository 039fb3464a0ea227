"""How loops may be run: parallel depth, forms, lanes, prefetching. None of it needs a compiler."""

import numpy as np
import pytest

import stax_ref as stax
from stax_ref import tiling
from stax_ref.nest import Loop, Nest, walk


def nests(function, *args, **options):
    steps = stax.jit(function, **options).lower(*args).plan.steps
    return [step for step in steps if isinstance(step, Nest)]


def forms(nest):
    buffers = {buffer.name: buffer for buffer in nest.buffers}
    loops = [s for s in walk(nest.body) if isinstance(s, Loop)]
    return {loop.symbol.name: tiling.form(loop, buffers) for loop in loops}


@pytest.mark.parametrize(
    ("ranges", "threads", "depth"),
    [
        ((64, 128), 4, 1),  # seed §8.4: 2048 iterations a thread, 64 units of work
        ((8, 128), 4, 0),  # 1024 iterations in all: too little for a thread
        ((16, 128), 4, 1),  # exactly 512 for a thread
        ((2, 8, 1024), 4, 2),  # two units are fewer than the threads: one loop more
        ((4, 8, 1024), 4, 1),  # as many units as threads
        ((3, 8, 1024), 2, 2),
        ((5, 8, 1024), 2, 1),  # more than twice the threads
        ((1_000_000,), 2, 1),
        ((), 2, 0),
    ],
)
def test_algorithm_8_1(ranges, threads, depth):
    assert tiling.parallel_depth(ranges, threads, 512) == depth


def test_a_row_reduction_is_lanes_and_what_follows_a_vector():
    x = np.ones((8, 40), np.float32)
    (nest,) = nests(lambda x: x / x.sum(-1, keepdims=True), x)
    assert forms(nest) == {"i0": "scalar", "r": "lanes", "j0": "vector"}


def test_a_column_reduction_is_a_vector_of_columns():
    (nest,) = nests(lambda x: x.sum(0), np.ones((300, 40), np.float32))
    assert forms(nest) == {"i0": "vector", "r": "scalar"}


def test_a_loop_without_a_contiguous_access_is_scalar_unless_its_work_is_dear():
    x = np.ones((40, 8), np.float32)[:, 3]
    (cheap,) = nests(lambda x: x[::2].reshape(4, 5).T.reshape(20)[::-1] * 2, x)
    assert set(forms(cheap).values()) == {"vector"}  # the store is contiguous
    (reduced,) = nests(lambda x: np.max(np.ones((3, 1), np.float32) * x, axis=0) + 1, x)
    assert "lanes" not in forms(reduced).values()


@pytest.mark.parametrize(
    ("function", "wide"),
    [
        (lambda x: x * 2, False),
        (lambda x: x.astype(np.float64) * 2, True),
        (lambda x: x > 0, False),
        (lambda x: (x > 0).astype(np.int64), True),
    ],
)
def test_a_64_bit_value_along_the_loop_halves_the_lanes(function, wide):
    (nest,) = nests(function, np.ones(100, np.float32))
    (loop,) = [s for s in walk(nest.body) if isinstance(s, Loop)]
    buffers = {buffer.name: buffer for buffer in nest.buffers}
    assert tiling.wide_types(loop.body, loop.symbol, buffers) is wide


def test_a_64_bit_value_that_all_lanes_share_does_not():
    (nest,) = nests(lambda x, s: x * s, np.ones(100, np.float32), 2.5)
    (loop,) = [s for s in walk(nest.body) if isinstance(s, Loop)]
    buffers = {buffer.name: buffer for buffer in nest.buffers}
    assert tiling.wide_types(loop.body, loop.symbol, buffers) is False


def layernorm(x):
    d = x - np.mean(x, axis=-1, keepdims=True)
    return d / np.sqrt(np.mean(d * d, axis=-1, keepdims=True))


@pytest.mark.parametrize(("rows", "asks"), [(1024, True), (500, False)])
def test_the_second_reduction_of_a_large_row_asks_for_the_next(rows, asks):
    (nest,) = nests(layernorm, np.ones((rows, 1024), np.float32))
    reduced = [s for s in walk(nest.body) if isinstance(s, Loop) and s.kind == "reduced"]
    expected = {id(reduced[1]): {"x": 1024}} if asks else {}
    assert tiling.rows_ahead(nest) == expected


def test_a_row_that_is_read_once_asks_for_nothing():
    (nest,) = nests(lambda x: x.sum(-1), np.ones((1024, 1024), np.float32))
    assert tiling.rows_ahead(nest) == {}


def test_work_counts_iterations_times_operations():
    (small,) = nests(lambda x: x * 2 + 1, np.ones(100, np.float32))
    (large,) = nests(lambda x: x * 2 + 1, np.ones(1000, np.float32))
    (dear,) = nests(lambda x: np.exp(x) + 1, np.ones(1000, np.float32))
    assert tiling.work(large) == 10 * tiling.work(small)
    assert tiling.work(dear) == tiling.work(large) + 7 * 1000
