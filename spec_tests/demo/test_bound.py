"""The stated error of the demonstration: zero where it must be, and never too small.

takes: bound.py
gives: a failure when a rule promises less than what a disturbed operand really does
holds: the disturbance is drawn from the whole allowed interval, both ends included
not here: whether Stax keeps within it (spec_tests/native/test_demo.py)
"""

import numpy as np
import pytest

from spec_tests.demo.bound import UFUNCS, Bounded, with_bound

POSITIVE = (np.sqrt, np.log)
COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal)
ARITHMETIC = [ufunc for ufunc in UFUNCS if ufunc not in COMPARISONS]


def operand(rng: np.random.Generator, positive: bool) -> Bounded:
    value = rng.uniform(0.5, 3, 5000).astype(np.float32)
    if not positive:
        value *= rng.choice(np.float32([-1, 1]), 5000)
    return Bounded(value, rng.uniform(0, 1e-3, 5000) * rng.integers(0, 2, 5000))


def disturbed(rng: np.random.Generator, of: Bounded) -> np.ndarray:
    """Another float32 array within the error of `of`."""
    shift = of.error * rng.choice([-1.0, 1.0, 0.3], of.shape)
    moved = (of.value + shift).astype(np.float32)
    inside = np.abs(moved.astype(np.float64) - of.value) <= of.error
    return np.where(inside, moved, of.value)


@pytest.mark.parametrize("ufunc", ARITHMETIC, ids=lambda ufunc: ufunc.__name__)
def test_a_disturbed_operand_stays_within_the_bound(ufunc: np.ufunc):
    rng = np.random.default_rng(7)
    operands = [operand(rng, ufunc in POSITIVE) for _ in range(ufunc.nin)]
    plain = ufunc(*operands)
    other = ufunc(*(disturbed(rng, each) for each in operands))
    distance = np.abs(other.astype(np.float64) - plain.value)
    assert np.all(distance <= plain.error)
    assert distance.max() > 0.2 * plain.error.max()  # and the bound is of the right size


@pytest.mark.parametrize("ufunc", COMPARISONS, ids=lambda ufunc: ufunc.__name__)
def test_a_comparison_that_may_turn_is_marked(ufunc: np.ufunc):
    rng = np.random.default_rng(8)
    a = operand(rng, False)
    b = Bounded((a.value + rng.uniform(-2e-3, 2e-3, 5000)).astype(np.float32), a.error)
    plain = ufunc(a, b)
    turned = ufunc(disturbed(rng, a), disturbed(rng, b)) != plain.value
    assert turned.any()
    assert np.all(plain.error[turned])
    assert not plain.error[a.error == 0].any()


def test_where_doubts_only_what_the_condition_doubts():
    sure = np.float32([1, 2, 3, 4])
    condition = Bounded(np.array([True, True, False, False]), np.array([True, False, True, False]))
    chosen = np.where(condition, Bounded(sure, np.full(4, 0.25)), 10.0)
    assert chosen.value.tolist() == [1, 2, 10, 10]
    assert chosen.error.tolist() == [9.25, 0.25, 7.25, 0]


def test_a_chain_of_ieee_operations_must_be_identical():
    def chain(x):
        return np.where(x > 0.5, np.sqrt(x) / 3, np.maximum(-x, x * x) + 1.5)[2:]

    x = np.random.default_rng(1).random(100, np.float32)
    (result,) = with_bound(chain, x)
    np.testing.assert_array_equal(result.value, chain(x))
    assert not result.error.any()


def planned_sum(x: np.ndarray) -> np.float32:
    """A float32 sum in the planned order of semantics.md section 3, last axis."""
    parts = []
    for chunk in (x[start : start + 4096] for start in range(0, x.size, 4096)):
        padded = np.concatenate([chunk, np.full(-chunk.size % 32, -0.0, np.float32)])
        lanes = np.full(32, -0.0, np.float32)
        for row in padded.reshape(-1, 32):
            lanes = lanes + row
        while lanes.size > 1:
            lanes = lanes[: lanes.size // 2] + lanes[lanes.size // 2 :]
        parts.append(lanes[0])
    while len(parts) > 1:
        pairs = [a + b for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


@pytest.mark.parametrize("shape", [(5,), (300, 301), (40, 50, 3), (100_003,)])
def test_the_planned_order_of_a_mean_is_within_its_bound(shape: tuple[int, ...]):
    x = np.random.default_rng(2).uniform(0, 1, shape).astype(np.float32)
    (mean,) = with_bound(np.mean, x)
    planned = planned_sum(x.ravel()) / np.float32(x.size)
    assert abs(np.float64(planned) - mean.value) <= mean.error
    assert mean.error < 1e-4 * mean.value


def test_what_has_no_rule_is_refused():
    x = np.ones(3, np.float32)
    with pytest.raises(TypeError, match="no rule for sin"):
        with_bound(np.sin, x)
    with pytest.raises(TypeError, match="no rule for median"):
        with_bound(np.median, x)
