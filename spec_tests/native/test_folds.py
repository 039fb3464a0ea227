"""Accumulators of every dtype: lanes, rows, chunks, and partial results in scratch memory.

takes: sums, products and extremes of every dtype in the layouts in which loops accumulate
gives: a failure where native code differs from the oracle
holds: values whose sums and products wrap, and float16 products that round at every step
not here: which dtype a reduction has (spec/), the order of float sums (test_bits)
"""

import numpy as np
import pytest

from spec_tests.harness import Case, check_all
from stax_ref.dtypes import SHORT


def values(dtype, *shape):
    generator = np.random.default_rng([3, *shape])
    if dtype.kind == "f":
        return (1 + generator.standard_normal(shape) / 64).astype(dtype)
    if dtype.kind == "b":
        return generator.random(shape) < 0.9
    info = np.iinfo(dtype)
    odd = generator.integers(info.min // 2, info.max // 2, shape, dtype)
    return odd | dtype.type(1)  # products of odd numbers never become 0


def prod_of_own(dtype, axis):
    return lambda x: np.prod(x, axis=axis, dtype=dtype)


def sum_of_own(dtype, axis):
    return lambda x: np.sum(x, axis=axis, dtype=dtype)


def extremes(axis):
    return lambda x: (np.max(x, axis=axis), np.min(x, axis=axis))


@pytest.mark.parametrize("dtype", SHORT, ids=SHORT.values())
def test_accumulators(dtype):
    cases = []
    for shape, axis in (((3, 41), -1), ((300, 37), 0), ((9000,), None)):
        x = values(dtype, *shape)
        label = f"{SHORT[dtype]} axis {axis}"
        cases.append(Case(extremes(axis), (x,), f"extremes {label}"))
        if dtype.kind != "b":
            cases.append(Case(prod_of_own(dtype, axis), (x,), f"prod {label}"))
            cases.append(Case(sum_of_own(dtype, axis), (x,), f"sum {label}"))
    check_all(cases)
