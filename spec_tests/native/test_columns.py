"""Reductions down columns: strips of several vectors, remainders, chunks of rows, every level."""

import numpy as np
import pytest

from spec_tests.harness import Case, check_all
from stax_c import emit
from stax_ref import jit


def sums(x):
    return np.sum(x, axis=0), np.mean(x, axis=0) * 2 + 1, np.var(x, axis=0)


def extremes(x):
    return np.max(x, axis=0), np.min(x, axis=0), np.sum(x > 0, axis=0)


def dear(x):
    return np.sum(np.exp(x), axis=0), np.prod(np.tanh(x) + 1, axis=0)


def softmax_of_columns(x):
    e = np.exp(x - np.max(x, axis=0))
    return e / np.sum(e, axis=0)


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (sums, np.float32),
        (sums, np.float64),
        (extremes, np.float32),
        (dear, np.float32),
        (softmax_of_columns, np.float64),
    ],
)
def test_every_width_around_a_strip(function, dtype):
    rng = np.random.default_rng(0)
    widths = [1, 17, 31, 32, 63, 65, 127, 128, 129, 257]
    check_all([Case(function, (rng.random((9, n)).astype(dtype),)) for n in widths])


@pytest.mark.parametrize("rows", [256, 257, 600])
def test_chunks_of_rows_in_a_strip(rows):
    x = np.random.default_rng(0).standard_normal((rows, 150)).astype(np.float32)
    check_all([Case(sums, (x,)), Case(sums, (x[:, ::-1],)), Case(softmax_of_columns, (x,))])


def test_integers_and_several_axes():
    rng = np.random.default_rng(0)
    whole = rng.integers(-9, 9, (300, 133)).astype(np.int32)
    solid = rng.random((3, 4, 140)).astype(np.float32)
    check_all(
        [
            Case(lambda x: (np.sum(x, axis=0), np.max(x, axis=0), np.prod(x, axis=0)), (whole,)),
            Case(lambda x: (np.sum(x, axis=(0, 1)), np.sum(x, axis=1)), (solid,)),
        ]
    )


@pytest.mark.parametrize(("isa", "step"), [("avx512", 128), ("avx2", 64), ("scalar", None)])
def test_a_strip_is_eight_vectors(isa, step):
    plan = jit(lambda x: np.sum(x, axis=0)).lower(np.ones((300, 1000), np.float32)).plan
    text = emit.emit(plan, isa).text
    assert (f"i0_0 += {step})" in text) == (step is not None)
