"""NaN, infinities and signed zeros: which one wins, which rows they spoil, what divides them.

takes: the reports' inputs
gives: pass or fail
holds: nothing
not here: rounding (``test_precision``)
"""

import math

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import harness
from spec_tests.public.cases import holds, wave

F16, F32, F64 = np.float16, np.float32, np.float64


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_ties_of_an_argmax_take_the_lowest_index():
    """B02, #118266"""

    def program(x):
        return x.argmax(1), x.argmin(1)

    def make():
        x = np.zeros((3, 37), F32)
        x[0, [5, 20, 36]] = 1
        x[1, 36] = 1
        return (x,)

    holds(program, make, [5, 36, 0], [0, 0, 0])


@pytest.mark.parametrize("size", [1, 16, 33, 4097])
def test_the_first_nan_wins_an_argmax_wherever_it_lies(size):
    """B02 with NaN at each end and in the middle, own"""

    def program(x):
        return x.argmax(1), x.argmin(1)

    places = sorted({0, size // 2, size - 1})

    def make():
        x = wave(len(places), size)
        for row, place in enumerate(places):
            x[row, place:] = np.nan
        return (x,)

    holds(program, make, places, places)


def test_the_smaller_of_two_zeros_is_the_negative_one():
    """B03, #194347: IEEE 754-2019; the sign of a zero is exempt against NumPy"""

    def program(a, b):
        return np.minimum(a, b), np.maximum(a, b)

    def make():
        return np.array([-0.0, 0.0, -0.0] * 11, F32), np.array([0.0, -0.0, -0.0] * 11, F32)

    holds(program, make, [0.0] * 33, [0.0] * 33)
    for backend in ("ref", harness.backend_name()):
        low, high = stax.jit(program, backend=backend)(*make())
        assert np.signbit(low).tolist() == [True, True, True] * 11
        assert np.signbit(high).tolist() == [False, False, True] * 11


def test_an_infinity_spoils_its_own_row_only():
    """B05, #173885, #173793"""

    def program(x):
        d = x - x.mean(1, keepdims=True)
        return d / np.sqrt((d * d).mean(1, keepdims=True) + F32(1e-5))

    def make():
        x = wave(3, 20)
        x[1, 4] = np.inf
        return (x,)

    with harness.quiet():
        x = make()[0].astype(F64)
        d = x - x.mean(1, keepdims=True)
        right = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
    assert np.isnan(right).all(1).tolist() == [False, True, False]
    holds(program, make, right, rtol=2e-6, atol=2e-6)


def test_a_deviation_of_huge_and_tiny_values():
    """B06, #197089"""

    def program(a, b):
        wide = np.std(a.astype(np.float64), ddof=1), np.std(b.astype(np.float64), ddof=1)
        return wide[0].astype(np.float32), wide[1].astype(np.float32)

    def make():
        base = np.array([1, 2, 3], F32)
        return base * F32(1e30), base * F32(1e-30)

    holds(program, make, F32(1e30), F32(1e-30), rtol=1e-6)


def test_softmax_of_huge_values_picks_one():
    """B08, #100775, #163932"""

    def program(x):
        return softmax(x * np.float32(1e14))

    holds(program, lambda: (np.array([[1.5, -2.0, 0.25, 1.0]], F32),), [[1.0, 0.0, 0.0, 0.0]])


def test_a_constant_minus_infinity_inside_a_normalisation():
    """B09, #190417"""

    def program(x):
        y = x + np.log2(np.zeros_like(x))
        d = y - y.mean(-1, keepdims=True)
        return d / np.sqrt((d * d).mean(-1, keepdims=True) + np.float32(1e-5))

    holds(program, lambda: (np.zeros((2, 8), F32),), np.full((2, 8), np.nan))


def test_floor_division_of_floats_is_not_the_floor_of_a_quotient():
    """B11, #197895"""

    def make():
        a = np.array([1.0, 0.5, 6.0, -1.0, 1.0], F64)
        return a, np.array([0.1, 0.1, 0.2, 0.1, np.inf], F64)

    holds(lambda a, b: a // b, make, [9.0, 4.0, 29.0, -10.0, 0.0])


def test_remainders_of_infinite_divisors_and_huge_quotients():
    """B12, #198057"""

    def make():
        a = np.array([5.5, -5.5, 1e20, -7.0, 5.5] * 4, F32)
        return a, np.array([np.inf, -np.inf, 3.0, 3.0, -np.inf] * 4, F32)

    holds(lambda a, b: a % b, make, [5.5, -5.5, 2.0, 2.0, -np.inf] * 4)


@pytest.mark.parametrize("dtype", [F16, F32, F64])
def test_division_with_remainder_of_every_special_pair(dtype):
    """B11 and B12 over all pairs of special values, own"""
    special = np.array([0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 6.0, 3e4, np.inf, -np.inf, np.nan], dtype)
    a, b = (grid.ravel() for grid in np.meshgrid(special, special))

    def program(a, b):
        return np.floor_divide(a, b), np.remainder(a, b), np.fmod(a, b)

    with harness.quiet():
        right = np.floor_divide(a, b), np.remainder(a, b), np.fmod(a, b)
    holds(program, lambda: (a, b), *right)


def test_a_python_scalar_is_rounded_to_float16_before_the_remainder():
    """B14, #183083, #186875"""
    values = [0.5, 1.0, 2.0, 3.3] * 8

    def right(value):
        divisor, dividend = float(F16(0.1)), float(F16(value))
        return dividend - math.floor(dividend / divisor) * divisor

    holds(lambda x: x % 0.1, lambda: (np.array(values, F16),), [right(v) for v in values])


def test_comparisons_and_selections_on_a_column_of_nan():
    """B15, own, the family of #100775"""

    def program(x):
        return x > 0, ~(x <= 0), np.where(x != x, np.float32(0), x), np.maximum(x, 0)

    def make():
        x = wave(5, 3)
        x[:, 1] = np.nan
        return (x,)

    plain = wave(5, 3)
    positive = plain > 0
    nan = np.zeros((5, 3), bool)
    nan[:, 1] = True
    right = (
        positive & ~nan,
        positive | nan,
        np.where(nan, 0, plain),
        np.where(nan, np.nan, np.where(positive, plain, 0)),
    )
    holds(program, make, *right)


def test_softmax_of_huge_sines_along_a_strided_axis():
    """B17, #163932"""

    def program(x, s):
        return softmax(np.sin(x.reshape(-1, 2)).T[0] * s)

    def make():
        return wave(10, 5), np.array([1e14], F32)

    one_hot = np.zeros(25)
    one_hot[np.argmax(np.sin(wave(50)[::2].astype(F64)))] = 1
    holds(program, make, one_hot)
