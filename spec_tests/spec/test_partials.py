"""Reductions in parts: split anywhere, merged by neighbours, the result is that of the whole.

takes: arrays of every dtype with special values, random places to split them at
gives: a failure where a merged result is not NumPy's, or leaves the bound of its tree
holds: the bounds of merged sums, means and variances
not here: the planned order inside one kernel (test_reduce)
"""

import itertools
import math

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.dtypes import SHORT
from stax_ref.ops import REDUCTIONS
from stax_ref.partials import merged, of_node, partial_form

from .values import mixed, ordinary

SIZES = (1, 2, 7, 33, 300)
NUMPY = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def in_parts(form, x, rng, dtype):
    """The result after splitting the last axis at random places, some of them equal."""
    places = np.sort(rng.integers(0, x.shape[-1] + 1, rng.integers(0, 6)))
    ends = [0, *places, x.shape[-1]]
    parts = list(itertools.pairwise(ends))
    states = [form.partial(x[..., start:stop], int(start)) for start, stop in parts]
    with np.errstate(all="ignore"):
        return form.finish(merged(form, states), np.dtype(dtype)), len(parts)


def rounding(dtype, depth):
    """Relative error of ``depth`` roundings in a row."""
    share = depth * float(np.finfo(dtype).eps) / 2
    return share / (1 - share)


EXACT = [
    (kind, dtype)
    for kind, dtype in itertools.product(REDUCTIONS, SHORT)
    if dtype.kind != "f" or kind in ("max", "min", "fmax", "fmin")
]


@pytest.mark.parametrize(("kind", "dtype"), EXACT, ids=str)
def test_integers_and_extremes_are_exact(kind, dtype):
    rng = np.random.default_rng(len(kind))
    form = partial_form(kind)
    for size in SIZES:
        x = np.stack([mixed(dtype, size, seed) for seed in range(3)])
        got, _ = in_parts(form, x, rng, dtype)
        with np.errstate(all="ignore"):
            expected = NUMPY[kind].reduce(x, axis=-1, dtype=dtype)
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == dtype


@pytest.mark.parametrize("dtype", SHORT, ids=str)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_are_exact(name, dtype):
    rng = np.random.default_rng(1)
    for size in SIZES:
        x = np.stack([mixed(dtype, size, seed) for seed in range(3)])
        x[0] = x[0, 0]  # every element the same: the first wins
        got, _ = in_parts(partial_form(name), x, rng, np.int64)
        np.testing.assert_array_equal(got, getattr(np, name)(x, axis=-1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_hold_the_bound_of_their_tree(dtype):
    rng = np.random.default_rng(2)
    for size in SIZES:
        x = ordinary(dtype, 4, size)
        got, parts = in_parts(partial_form("sum"), x, rng, dtype)
        exact = np.sum(x, axis=-1, dtype=np.longdouble)
        depth = size + math.ceil(math.log2(parts)) + 1
        bound = rounding(dtype, depth) * np.sum(np.abs(x), axis=-1, dtype=np.longdouble)
        assert np.all(np.abs(got - exact) <= bound)


def test_float16_sums_round_once():
    x = np.full(4096, 1, np.float16)
    got, _ = in_parts(partial_form("sum"), x, np.random.default_rng(3), np.float16)
    assert got == 4096
    assert got.dtype == np.float16


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_moments_hold_their_bound(name, dtype):
    """Of a merged variance: what a wrong mean adds is second order, or first times a deviation."""
    rng = np.random.default_rng(4)
    for size in SIZES:
        x = (ordinary(dtype, 4, size) + dtype(100)).astype(dtype)
        got, parts = in_parts(partial_form(name), x, rng, dtype)
        wide = x.astype(np.longdouble)
        exact = getattr(np, name)(wide, axis=-1)
        levels = math.ceil(math.log2(parts)) + 1
        gamma = rounding(dtype, size + 6 * levels + 6)
        largest = np.max(np.abs(wide), axis=-1)
        if name == "mean":
            assert np.all(np.abs(got - exact) <= gamma * largest * 2)
            continue
        spread = np.var(wide, axis=-1) * size
        error = gamma * largest
        total = gamma * spread + 2 * error * np.sqrt(spread * size * levels)
        total = (total + size * levels * error**2) / size
        variance = np.square(got.astype(np.longdouble)) if name == "std" else got
        slack = 2 * rounding(dtype, 4) * np.var(wide, axis=-1)
        assert np.all(np.abs(variance - np.var(wide, axis=-1)) <= total + slack)


def test_variance_with_fewer_elements_than_degrees():
    got, _ = in_parts(partial_form("var", ddof=1), np.ones((2, 1)), np.random.default_rng(5), float)
    assert np.all(np.isnan(got))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logsumexp(dtype):
    rng = np.random.default_rng(6)
    for size in SIZES:
        x = (ordinary(dtype, 4, size) * 300).astype(dtype)
        x[0] = -np.inf
        x[1, size // 2] = np.inf
        x[2, size // 2] = np.nan
        got, parts = in_parts(partial_form("logsumexp"), x, rng, dtype)
        assert (got[0], got[1]) == (-np.inf, np.inf)
        assert np.isnan(got[2])
        wide = x[3].astype(np.longdouble)
        exact = np.log(np.sum(np.exp(wide - wide.max()))) + wide.max()
        roundings = rounding(dtype, size + 12 * parts + 12)
        assert abs(got[3] - exact) <= roundings + 4 * rounding(dtype, 1) * abs(exact)


def test_an_identity_changes_nothing():
    x = ordinary(np.float32, 3, 9)
    names = [kind for kind, dtype in EXACT if dtype == np.float32]
    for name in (*names, "sum", "prod", "mean", "var", "argmax", "logsumexp"):
        form = partial_form(name)
        state, nothing = form.partial(x), form.identity((3,), np.dtype(np.float32))
        for both in (form.merge(state, nothing), form.merge(nothing, state)):
            for got, expected in zip(both, state, strict=True):
                np.testing.assert_array_equal(got, expected)


def test_a_position_in_nothing_is_refused_as_numpy_refuses_it():
    form = partial_form("argmin")
    with pytest.raises(ValueError, match="attempt to get argmin of an empty sequence"):
        form.finish(form.identity((2,), np.dtype(np.int32)), np.dtype(np.int64))


def test_the_nodes_of_a_program_in_parts():
    """Mean squares of rows, each reduction node cut in two."""
    x = ordinary(np.float16, 3, 40)
    lowered = stax.jit(lambda x: np.mean(x * x, axis=1)).lower(x).program.lowered
    (node,) = [n for n in lowered.nodes if n.is_reduction]
    form, elements = of_node(node), (x * x).astype(np.float32)
    parts = [form.partial(elements[:, :13]), form.partial(elements[:, 13:], 13)]
    total = form.finish(form.merge(*parts), np.dtype(np.float32))
    assert total.dtype == np.float32
    np.testing.assert_allclose(total, elements.sum(axis=1), rtol=40 * 2.0**-24)
    with pytest.raises(KeyError, match="no reduction"):
        of_node(next(n for n in lowered.nodes if not n.is_reduction))
