"""Python scalars, 0-d arrays, and integer division under the caller's errstate.

takes: weak numbers as arguments and constants
gives: a failure where dtype, value, type, warning or exception is not NumPy's
holds: nothing
not here: the other refusals (errors/)
"""

import warnings

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check, check_all

from .values import ALL, NUMBERS, ordinary

SCALARS = [True, 0, 3, -7, 2.5, -0.0, float("inf"), float("nan")]


def jit(function):
    return stax.jit(function, backend=backend_name())


@pytest.mark.parametrize("dtype", ALL)
def test_python_scalars_as_arguments(dtype):
    x = ordinary(dtype, 17)
    cases = []
    for scalar in SCALARS:
        cases += [
            Case(lambda a, s: a + s, (x, scalar)),
            Case(lambda a, s: s * a, (x, scalar)),
            Case(lambda a, s: (a < s, a == s), (x, scalar)),
            Case(lambda a, s: np.where(a > 0, a, s), (x, scalar)),
            Case(lambda a, s: np.maximum(a, s), (x, scalar)),
        ]
    check_all(cases)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_arithmetic_of_scalars_stays_weak(dtype):
    x = ordinary(dtype, 9)
    check_all(
        [
            Case(lambda a, s: a * (s + 1), (x, 3)),
            Case(lambda a, s: a * (2 * s - 1), (x, 3)),
            Case(lambda a, s: a * (1 - s), (x, 3)),
            Case(lambda a, s, t: a * (s * t), (x, 1.5, 4.0)),
            Case(lambda a, s, t: a * (s / t), (x, 3, 4)),
            Case(lambda a, s: a + s / 2, (x, 3)),
            Case(lambda a, s: a + (s > 2), (x, 3)),
            Case(lambda a, s, t: a * (s - t), (x, 2.5, 1)),
            Case(lambda a, s: a + (-s), (x, 5)),
            Case(lambda a, s: a + abs(s), (x, -5.5)),
        ]
    )


@pytest.mark.parametrize("dtype", ALL)
def test_zero_dimensional_arrays_are_strong(dtype):
    x = ordinary(np.float32, 9)
    one = np.ones((), dtype)
    check_all(
        [
            Case(lambda a, s: a + s, (x, one)),
            Case(lambda s: s + 1, (one,)),
            Case(lambda s: (s, s == 1, s * s), (one,)),
            Case(lambda a, s: a + s, (x, one[()]), "a NumPy scalar"),
        ]
    )


def test_results_are_of_numpys_types():
    x = ordinary(np.float32, 5)

    def several(x):
        return np.sum(x), x[0], x * 2, np.sum(x, keepdims=True), np.max(x) > 0

    got, expected = jit(several)(x), several(x)
    assert [type(g) for g in got] == [type(e) for e in expected]
    assert [np.shape(g) for g in got] == [np.shape(e) for e in expected]
    assert type(jit(lambda x: np.sum(x))(x)) is np.float32
    assert type(jit(lambda x: np.sum(x > 0))(x)) is np.int64
    assert type(jit(lambda x: x + 1)(np.float64(2))) is np.float64
    assert type(jit(lambda x: [x, x])(x)) is list
    assert type(jit(lambda x: (x,))(x)) is tuple


@pytest.mark.parametrize("scalar", [2, 2.5, True])
def test_a_program_of_python_scalars_alone(scalar):
    """NumPy has no part in ``s + s``: Python's own rules and types hold."""
    check_all(
        [
            Case(lambda s: s + 1, (scalar,)),
            Case(lambda s: -s, (scalar,)),
            Case(lambda s: s > 1, (scalar,)),
            Case(lambda s: s * 2.0, (scalar,)),
        ]
    )


def test_an_integer_that_does_not_fit_its_partner():
    x = np.ones(3, np.int32)

    def add(a, s):
        return a + s

    jitted = jit(add)
    assert np.array_equal(jitted(x, 2**31 - 2), add(x, 2**31 - 2))
    for wrong in (2**31, -(2**31) - 1, 2**63, -(2**70)):
        with pytest.raises(OverflowError, match=r"out of bounds|too large|too big"):
            add(x, wrong)
        with pytest.raises(OverflowError, match=r"out of bounds|too large|too big"):
            jitted(x, wrong)
    assert np.array_equal(jitted(x, -5), add(x, -5))

    def scaled(a, s):
        return a + (s * 1000 - 1)

    assert np.array_equal(jit(scaled)(x, 2_000_000), scaled(x, 2_000_000))
    for wrong in (3_000_000, -3_000_000, 2**62):
        with pytest.raises(OverflowError):
            scaled(x, wrong)
        with pytest.raises(OverflowError):
            jit(scaled)(x, wrong)
    with pytest.raises(OverflowError):
        jit(lambda a: a + 2**40)(x)
    assert np.array_equal(jit(lambda a: a < 2**40)(x), x < 2**40)
    assert np.array_equal(jit(add)(np.ones(3), 2**40), np.ones(3) + 2**40)


def test_a_changed_type_of_scalar_specialises_again():
    jitted = jit(lambda a, s: a + s)
    x = np.ones(3, np.int32)
    for scalar in (1, 1.5, True, 2, 2.5):
        expected = x + scalar
        got = jitted(x, scalar)
        assert got.dtype == expected.dtype
        assert np.array_equal(got, expected)


# integer division ---------------------------------------------------------------------------------
DIVISIONS = {
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
}


def outcome(function, mode, *args):
    """What a call does under one errstate: its values, its warnings, its exception."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=mode):
        warnings.simplefilter("always")
        try:
            values = [np.asarray(value).tolist() for value in np.atleast_1d(function(*args))]
        except FloatingPointError:
            values = [FloatingPointError]
    return values, sorted({w.category.__name__ for w in caught})


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_division_by_zero_under_errstate(dtype, name, mode):
    ufunc = DIVISIONS[name]
    a = np.array([5, -5, 0, 7, np.iinfo(dtype).min, 9] * 3, dtype)
    b = np.array([0, 2, 0, -2, 0, 4] * 3, dtype)
    jitted = jit(lambda a, b: ufunc(a, b))
    for numerator, denominator in ((a, b), (a, np.abs(b) + 1), (a[:1], b[:1]), (a[1:2], b[1:2])):
        expected = outcome(ufunc, mode, numerator, denominator)
        before = numerator.copy(), denominator.copy()
        for _ in range(2):  # the first call compiles, the second is dispatched
            assert outcome(jitted, mode, numerator, denominator) == expected
        assert np.array_equal(before[0], numerator)
        assert np.array_equal(before[1], denominator)


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_smallest_integer_over_minus_one(dtype, name, mode):
    """No trap; then what NumPy does: a warning of overflow for the quotient, none for the rest."""
    ufunc = DIVISIONS[name]
    a = np.array([np.iinfo(dtype).min, 8] * 9, dtype)
    b = np.full(18, -1, dtype)
    jitted = jit(lambda a, b: ufunc(a, b))
    for _ in range(2):
        assert outcome(jitted, mode, a, b) == outcome(ufunc, mode, a, b)


def test_dead_lanes_are_no_divisors():
    """A tail shorter than a vector must not divide by what lies behind the array."""
    jitted, cases = jit(lambda a, b: (a % b, a // b)), []
    for dtype in (np.int32, np.int64):
        for size in (1, 3, 5, 7, 9, 17, 31):
            a, b = np.arange(size, dtype=dtype), np.full(size, 16, dtype)
            with np.errstate(all="raise"):
                rest, quotient = jitted(a, b)
            assert np.array_equal(rest, a % b)
            assert np.array_equal(quotient, a // b)
            cases.append(Case(lambda a, b: (a % b, a // b), (a, b)))
    check_all(cases)


def test_a_guarded_division_still_reports_what_numpy_reports():
    """``np.where`` computes both sides: NumPy warns, so does Stax."""
    a, b = np.arange(6, dtype=np.int32), np.array([1, 0, 2, 0, 3, 1], np.int32)

    def guarded(a, b):
        return np.where(b == 0, 0, a // b)

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        expected = guarded(a, b)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        got = jit(guarded)(a, b)
    assert np.array_equal(got, expected)
    with np.errstate(divide="ignore"):
        assert np.array_equal(jit(guarded)(a, b), expected)
        check(guarded, a, b)


def test_scalars_that_are_compared_and_divided():
    x = np.arange(1, 20, dtype=np.int32)
    check_all(
        [
            Case(lambda a, s: a // s, (x, 3)),
            Case(lambda a, s: a % s, (x, -3)),
            Case(lambda a, s: s // a, (x, 100)),
            Case(lambda a, s: (s % a, -s % a), (x, 100)),
        ]
    )
