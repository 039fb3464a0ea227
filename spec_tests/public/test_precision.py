"""Precision: functions near zero and far out, normalisation far from zero, what rounds once.

takes: the reports' inputs; right values from float64
gives: pass or fail
holds: nothing
not here: NaN and infinities (``test_nan``)
"""

import math

import numpy as np
import pytest

from spec_tests import harness
from spec_tests.public.cases import holds, wave

F16, F32, F64 = np.float16, np.float32, np.float64


def test_expm1_of_small_numbers():
    """C01, #189803"""
    values = np.array([1e-10, -1e-8, 1e-6, 1e-4, 0.1, -3.0] * 3, F32)
    right = [math.expm1(float(v)) for v in values]
    holds(lambda x: np.expm1(x), lambda: (values,), right, rtol=1e-6)


def test_log1p_of_small_numbers():
    """C01 for its inverse, own"""
    values = np.array([1e-10, -1e-8, 1e-6, 1e-4, 0.1, 3.0] * 3, F32)
    right = [math.log1p(float(v)) for v in values]
    holds(lambda x: np.log1p(x), lambda: (values,), right, rtol=1e-6)


def test_arcsinh_does_not_square_its_argument():
    """C03, #183767, #142345"""
    values = np.array([3e22, -3e22, -1e4, 1e-6, 2.0] * 4, F32)
    right = [math.asinh(float(v)) for v in values]
    holds(lambda x: np.arcsinh(x), lambda: (values,), right, rtol=1e-5)


def test_arccosh_of_a_large_number():
    """C04, #198134"""
    values = np.array([1e200, 1.0, 2.0] * 5, F64)
    right = [math.acosh(v) for v in values]
    holds(lambda x: np.arccosh(x), lambda: (values,), right, rtol=1e-12)


@pytest.mark.parametrize("dtype", [F16, F32, F64])
def test_large_arguments_stay_finite(dtype):
    """C03 and C04 for functions with tempting formulas, in every float, own"""

    def program(x):
        one = [f(x) for f in (np.arcsinh, np.arccosh, np.arctan, np.log1p, np.cbrt)]
        return *one, np.hypot(x / 2, x / 3)

    large = np.array([np.finfo(dtype).max, float(np.finfo(dtype).max) / 4, 1e4] * 7, dtype)
    right = [r.astype(dtype) for r in program(large.astype(np.longdouble))]
    assert np.isfinite(right).all()
    holds(program, lambda: (large,), *right, rtol=8 * float(np.finfo(dtype).eps))


def test_normalisation_of_values_with_a_common_offset():
    """C06, #142839, #143182"""

    def program(x):
        d = x - x.mean(1, keepdims=True)
        return d / np.sqrt((d * d).mean(1, keepdims=True) + np.float32(1e-5))

    def make():
        return (wave(3, 1000) + F32(1e4),)

    x = make()[0].astype(F64)
    d = x - x.mean(1, keepdims=True)
    right = d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)
    holds(program, make, right, rtol=0.005, atol=0.005)


def test_division_by_a_constant_is_a_division():
    """C07, #157959: the quotient in float64, rounded once, is the float32 quotient"""
    values = np.arange(1, 400, dtype=F32)
    right = (values.astype(F64) / 101).astype(F32)
    holds(lambda x: x / np.float32(101), lambda: (values,), right)


@pytest.mark.parametrize("dtype", [F16, F32, F64])
def test_division_by_any_constant_is_correctly_rounded(dtype):
    """C07 for other divisors and dtypes, own"""
    divisors = (3.0, 7.0, 10.0, 101.0, 1e-3)

    def program(x):
        return tuple(x / divisor for divisor in divisors)

    values = np.arange(1, 400).astype(dtype)
    with harness.quiet():
        right = [values / np.full(399, divisor, dtype) for divisor in divisors]
    holds(program, lambda: (values,), *right)


def test_sums_of_float16_do_not_stop_at_2048():
    """C09, own, the family of #154703"""

    def program(x):
        return x.sum(1), x.mean(1)

    holds(program, lambda: (np.ones((2, 4096), F16),), [4096.0, 4096.0], [1.0, 1.0])
