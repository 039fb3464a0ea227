"""Conversions between the dtypes, promotion of mixed operands.

takes: every pair of dtypes, special values
gives: a failure where a rung differs or a table entry is not met
holds: the one table for floats that no integer can hold (semantics §4)
not here: Python scalars (test_scalars)
"""

import itertools

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check, check_all, load_everywhere
from stax_ref.interpret import Recording, run_nests

from .values import ALL, FLOATS, INTEGERS, mixed, ordinary, specials


def to(dtype):
    """A function that converts to this dtype."""
    return lambda a: a.astype(dtype)


@pytest.mark.parametrize("source", ALL)
def test_every_pair_of_dtypes(source):
    cases = []
    for target in ALL:
        cases += [
            Case(to(target), (ordinary(source, size),), f"to {target.__name__}")
            for size in (1, 8, 17, 33)
        ]
        if source not in FLOATS or target not in INTEGERS:
            label = f"special values to {target.__name__}"
            cases.append(Case(to(target), (specials(source),), label))
    check_all(cases)


OUT_OF_RANGE = [np.nan, np.inf, -np.inf, 3e38, -3e38, 2.0**63, -(2.0**64), 2.0**70]


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_that_no_integer_can_hold(source, target):
    """NaN and everything out of range give the smallest integer, at every level and size."""
    low = np.iinfo(target).min
    beyond = [*OUT_OF_RANGE, 2.0**31, -(2.0**31) - 1024] if target == np.int32 else OUT_OF_RANGE
    x = np.array([*beyond, -1.5, 1.5, 0.99, -0.0, float(low), 100.0] * 3).astype(source)
    expected = np.array([*[low] * len(beyond), -1, 1, 0, 0, low, 100] * 3, target)
    program = stax.jit(to(target)).lower(x).program
    (planned,) = run_nests(program.plan, (x,), Recording())
    assert np.array_equal(planned, expected)
    for name, (loaded,) in load_everywhere([program.plan]).items():
        (got,) = loaded(x)
        assert np.array_equal(got, expected), name


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("through", INTEGERS)
def test_a_float_through_an_integer_and_back(source, through):
    """Not truncation: -0.25 comes back as +0.0, NaN and 1e30 as the smallest integer."""
    low = source(np.iinfo(through).min)
    x = np.array([-0.25, -0.0, 0.75, -3.5, np.nan, 1e30, -np.inf] * 5).astype(source)
    expected = np.array([0.0, 0.0, 0.0, -3.0, low, low, low] * 5).astype(source)
    for size in (1, 3, 8, 35):
        program = stax.jit(lambda a: a.astype(through).astype(source)).lower(x[:size]).program
        (planned,) = run_nests(program.plan, (x[:size],), Recording())
        assert planned.tobytes() == expected[:size].tobytes()
        for name, (loaded,) in load_everywhere([program.plan]).items():
            (got,) = loaded(x[:size])
            assert got.tobytes() == expected[:size].tobytes(), f"{name}, {size}"


def test_rounding_of_large_integers():
    x = np.array([2**24 + 1, -(2**24) - 1, 2**31 - 1, 2**53 + 1, 2**62 + 1, -(2**63)] * 3)
    check_all(
        [
            Case(to(np.float32), (x,)),
            Case(to(np.float64), (x,)),
            Case(to(np.int32), (x,), "wraps"),
            Case(to(np.float32), (x[:9].astype(np.int32),)),
            Case(lambda a: a.astype(np.float32).astype(np.float64) - a, (x,)),
        ]
    )


def test_rounding_of_doubles_to_floats():
    """Ties, subnormal results, overflow to infinity."""
    x = np.array([1 + 2**-24, 1 + 3 * 2**-24, 2**-149, 2**-150, 3 * 2**-150, 3.5e38, -1e-46, 1e-40])
    check(to(np.float32), np.tile(x, 3))


@pytest.mark.parametrize("left", ALL)
def test_promotion_of_every_pair(left):
    cases = []
    for right in ALL:
        args = (ordinary(left, 17), ordinary(right, 17, seed=1))
        names = f"{left.__name__} with {right.__name__}"
        cases += [
            Case(lambda a, b: a + b, args, names),
            Case(lambda a, b: a < b, args, names),
            Case(lambda a, b: np.where(a > 0, a, b), args, names),
            Case(lambda a, b: np.maximum(a, b), args, names),
            Case(lambda a, b: a / b, args, names),
        ]
    check_all(cases)


def test_casts_are_not_dropped_inside_a_kernel():
    """Each rounds or wraps where the user wrote it, however much is fused around it."""
    x = mixed(np.float64, 200)
    n = ordinary(np.int64, 50) * (2**31 + 12345)

    def through_single(x):
        return x.astype(np.float32).astype(np.float64) * 3

    def through_int(n):
        return n.astype(np.int32).astype(np.int64) + 1

    def truncated(y):
        return y.astype(np.int32).astype(np.float64) + y

    def sums(y):
        return y.astype(np.float32).sum(), y.sum(dtype=np.float32), y.astype(np.float32).mean()

    y = ordinary(np.float64, 77) * 1000
    check_all(
        [
            Case(through_single, (x,)),
            Case(through_int, (n,)),
            Case(truncated, (y,)),
            Case(sums, (y,)),
        ]
    )


def test_arithmetic_wraps_at_the_declared_width():
    """C would compute in a wider type and widen the result; NumPy wraps first."""
    x = np.full(21, 2**31 - 1, np.int32)
    check_all(
        [
            Case(lambda a: (a + a).astype(np.int64), (x,)),
            Case(lambda a: (a * a).astype(np.float64), (x,)),
            Case(lambda a: (-a - 2).astype(np.int64), (x,)),
            Case(lambda a: np.abs(-a - 1).astype(np.int64), (x,)),
            Case(lambda a: a + 1 > a, (x,)),
            Case(lambda a: (a * 3) // 2, (x,)),
            Case(lambda a: a**3, (x,)),
        ]
    )


def test_every_mixture_in_one_kernel():
    """Four dtypes in one kernel: the lane count is that of the widest."""
    arrays = [ordinary(dtype, 37, seed=k) for k, dtype in enumerate(ALL)]
    for order in itertools.islice(itertools.permutations(range(5)), 0, 120, 30):
        a, b, c, d, e = (arrays[k] for k in order)
        check(lambda a, b, c, d, e: (a + b * c, (d < a) == e, np.where(e, a, b)), a, b, c, d, e)
