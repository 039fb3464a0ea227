"""Empty axes and zero-dimensional arrays.

takes: the reports' inputs
gives: pass or fail
holds: nothing
not here: empty axes of everything else (``spec_tests.matrix``)
"""

import numpy as np
import pytest

from spec_tests.public.cases import holds, raises, wave

F32, I64 = np.float32, np.int64


def test_an_index_into_an_empty_axis_is_an_index_error():
    """F02, #94830"""

    def make():
        return np.zeros((0, 4), F32), np.array([0], I64)

    raises(lambda x, i: x[i] + 1, make, IndexError)


def test_no_index_into_an_empty_axis_is_an_empty_result():
    """F02 with nothing to look up, own"""

    def make():
        return np.zeros((0, 4), F32), np.zeros((0,), I64)

    holds(lambda x, i: x[i] + 1, make, np.zeros((0, 4)))


def test_the_running_sum_of_a_number():
    """F03, #193265: NumPy gives an array of one element"""
    holds(lambda x: np.cumsum(x), lambda: (np.array(5.0, F32),), [5.0])


def test_identities_of_empty_reductions():
    """F05, own, the family of #188218"""

    def program(x):
        return x.sum(1), x.prod(1), (x > 0).any(1), (x > 0).all(1), x.mean(1)

    right = [0.0] * 3, [1.0] * 3, [False] * 3, [True] * 3, [np.nan] * 3
    holds(program, lambda: (np.zeros((3, 0), F32),), *right)


@pytest.mark.parametrize("function", [np.max, np.min, np.argmax, np.argmin])
def test_an_extreme_of_nothing_is_a_value_error(function):
    """F05 for reductions without an identity, own"""

    def program(x):
        return function(x, axis=1)

    raises(program, lambda: (np.zeros((3, 0), F32),), ValueError)


def test_an_empty_result_next_to_others():
    """F06, own, the family of #197095"""

    def program(a, b):
        return a * 2, np.concatenate([a, b]) + 1, b.sum(0)

    def make():
        return np.zeros((0, 5), F32), wave(4, 5)

    b = wave(4, 5)
    right = np.zeros((0, 5)), b + F32(1), b.astype(np.float64).sum(0)
    holds(program, make, *right, rtol=1e-5, atol=1e-5)
