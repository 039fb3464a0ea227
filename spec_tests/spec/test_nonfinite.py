"""NaN, infinities, signed zeros and subnormal numbers in programs of several operations.

takes: the programs and inputs on which other compilers went wrong
gives: a failure where a rung differs or a stated result is not met
holds: nothing
not here: single operations (test_pointwise), reductions (test_reduce)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check, check_all

from .values import FLOATS, ordinary, pairs, specials


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layernorm(x):
    away = x - np.mean(x, axis=-1, keepdims=True)
    return away / np.sqrt(np.mean(away * away, axis=-1, keepdims=True) + 1e-5)


def run(function, *args):
    """The result on the backend on trial."""
    return stax.jit(function, backend=backend_name())(*args)


def bits_equal(got, expected):
    return np.asarray(got).tobytes() == np.asarray(expected).tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
def test_signed_zeros_of_maximum_and_minimum(dtype):
    """+0.0 is greater than -0.0 at every place and length; NumPy leaves it to the vector path."""
    for size in (3, 16, 33):
        a = np.resize(np.array([-0.0, 0.0, -0.0, 0.0], dtype), size)
        b = np.resize(np.array([0.0, -0.0, -0.0, 0.0], dtype), size)
        largest = np.resize(np.array([0.0, 0.0, -0.0, 0.0], dtype), size)
        smallest = np.resize(np.array([-0.0, -0.0, -0.0, 0.0], dtype), size)
        got = run(lambda a, b: (np.maximum(a, b), np.minimum(a, b)), a, b)
        assert bits_equal(got[0], largest)
        assert bits_equal(got[1], smallest)
        check(lambda a, b: (np.maximum(a, b), np.minimum(b, a)), a, b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_wins_in_maximum_and_minimum(dtype):
    a, b = pairs(dtype)
    check_all(
        [
            Case(lambda a, b: (np.maximum(a, b), np.minimum(a, b)), (a, b)),
            Case(lambda a: np.maximum(a, 0), (a,), "clamp from below"),
            Case(lambda a: np.minimum(np.maximum(a, -1), 1), (a,), "clamp"),
            Case(lambda a: np.maximum(0, a), (a,), "scalar first"),
            Case(lambda a, b: np.max(np.maximum(a, b).reshape(-1, 20), axis=1), (a, b)),
        ]
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_comparisons_of_nan(dtype):
    x = ordinary(dtype, 5, 3)
    x[:, 1] = np.nan

    def chains(x):
        return x > 0, ~(x <= 0), np.where(x != x, dtype(0), x), np.where(x > 0, x, -x), x == x

    check(chains, x)
    check(lambda a, b: (a < b, ~(a >= b), (a < b) | (a == b) | (a > b)), *pairs(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_of_extreme_rows(dtype):
    x = np.array([[1.5, -2.0, 0.25, 1.0]], dtype)
    one_hot = np.array([[1.0, 0.0, 0.0, 0.0]], dtype)
    assert bits_equal(run(lambda x: softmax(x * dtype(1e14)), x), one_hot)
    rows = np.repeat(ordinary(dtype, 1, 37), 5, axis=0)
    rows[1, 4], rows[2, 36], rows[3, 0] = np.inf, -np.inf, np.nan
    got = run(softmax, rows)
    assert np.array_equal(np.isnan(got).all(axis=1), [False, True, False, True, False])
    assert np.array_equal(np.isnan(got).any(axis=1), [False, True, False, True, False])
    check_all(
        [
            Case(lambda x: softmax(x * dtype(1e14)), (x,)),
            Case(softmax, (rows,)),
            Case(softmax, (np.full((3, 17), -np.inf, dtype),), "all -inf"),
        ]
    )


def test_softmax_along_a_strided_axis():
    x = ordinary(np.float32, 10, 5)
    check(lambda x, s: softmax(x.reshape(-1, 2).T[0] * s), x, np.array([1e14], np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
def test_layernorm_of_a_row_with_infinity(dtype):
    x = ordinary(dtype, 3, 20)
    x[1, 4] = np.inf
    got = run(layernorm, x)
    assert np.array_equal(np.isnan(got).all(axis=1), [False, True, False])
    assert np.array_equal(np.isnan(got).any(axis=1), [False, True, False])
    check(layernorm, x)
    check(layernorm, np.full((4, 9), 3.25, dtype))
    check(layernorm, ordinary(dtype, 3, 1000) + dtype(1e4))


@pytest.mark.parametrize("dtype", FLOATS)
def test_subnormal_numbers_survive(dtype):
    step = np.finfo(dtype).smallest_subnormal
    tiny = np.finfo(dtype).smallest_normal
    x = np.array([step, -step, 3 * step, tiny, tiny - step, -tiny] * 6, dtype)
    check_all(
        [
            Case(lambda x: (x + x, x / 2, x * dtype(0.5), x - x / 3), (x,)),
            Case(lambda x: (np.sum(x), np.max(x), np.mean(x)), (x,)),
            Case(lambda x: x > 0, (x,)),
            Case(lambda x: np.sqrt(np.abs(x)), (x,)),
        ]
    )
    assert bits_equal(run(lambda x: x * 1, x), x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_overflow_and_invalid_make_no_noise(dtype):
    """Float status warnings are not reproduced (semantics §7); here a warning is an error."""
    results = run(lambda x: (np.exp(x), np.log(x), np.sqrt(x), 1 / x, x - x), specials(dtype))
    assert all(np.isnan(result).any() for result in results)
    assert [bool(np.isinf(result).any()) for result in results] == [True, True, True, True, False]


@pytest.mark.parametrize("dtype", FLOATS)
def test_nothing_is_simplified_away(dtype):
    """x - x, 0 * x, x / x, x + 0.0 and their like have values of their own."""
    x = pairs(dtype)[0][::7]

    def identities(x):
        return x - x, 0 * x, x / x, x + 0.0, x * 1, 0 - (-x), (x + 1) - 1, x * 2 / 2, 0 - x

    check(identities, x)
    negative = np.full(5, -0.0, dtype)
    assert bits_equal(run(lambda x: x + 0.0, negative), np.zeros(5, dtype))
    assert bits_equal(run(lambda x: -x, np.zeros(5, dtype)), negative)
    assert bits_equal(run(lambda x: 0 - x, np.zeros(5, dtype)), np.zeros(5, dtype))
