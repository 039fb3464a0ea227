"""Broadcasting and memory layouts of the arguments.

takes: shapes that broadcast, arrays in every layout
gives: a failure where a rung differs, or a result is not a fresh C-order array
holds: nothing
not here: views inside a function (test_view)
"""

import itertools

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check, check_all

from .values import ALL, LAYOUTS, SIZES, laid_out, ordinary

SHAPES = [
    ((), (5,)),
    ((1,), (7,)),
    ((3, 1), (1, 4)),
    ((17,), (3, 17)),
    ((3, 1), (3, 17)),
    ((2, 1, 5), (4, 1)),
    ((1, 1, 1), (2, 3, 4)),
    ((2, 3, 4), (2, 1, 4)),
    ((5, 1, 3, 1), (2, 1, 9)),
    ((0, 3), (1, 3)),
    ((1,), (0,)),
    ((1, 33), (9, 1)),
]


@pytest.mark.parametrize("dtype", ALL)
def test_shapes_that_broadcast(dtype):
    cases = []
    for left, right in SHAPES:
        a, b = ordinary(dtype, *left), ordinary(dtype, *right, seed=1)
        cases.append(Case(lambda a, b: a + b, (np.asarray(a), np.asarray(b))))
        cases.append(Case(lambda a, b: np.where(a < b, a, b), (np.asarray(b), np.asarray(a))))
    check_all(cases)


@pytest.mark.parametrize("dtype", ALL)
def test_every_pair_of_layouts(dtype):
    cases = []
    for first, second in itertools.product(LAYOUTS, LAYOUTS):
        for shape in ((4, 17), (33,)):
            args = (laid_out(first, dtype, shape), laid_out(second, dtype, shape, seed=1))
            cases.append(Case(lambda a, b: (a * b, a == b), args, f"{first} with {second}"))
    check_all(cases)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reductions_in_every_layout(layout):
    cases = []
    for dtype in (np.float32, np.float64, np.int32):
        for shape in ((5, 33), (3, 4, 17)):
            x = laid_out(layout, dtype, shape)
            cases += [
                Case(reduce_along(axis), (x,), f"{layout} axis={axis}") for axis in (0, -1, None)
            ]
    check_all(cases)


def reduce_along(axis):
    """Sum and maximum along one axis."""
    return lambda a: (np.sum(a, axis=axis), np.max(a, axis=axis))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sizes_in_every_layout(layout):
    check_all(
        [
            Case(lambda a: a * 2 + 1, (laid_out(layout, dtype, (size,)),), layout)
            for dtype in (np.float32, np.float64, np.int64)
            for size in SIZES
        ]
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_results_are_fresh_c_order_arrays(layout):
    x = laid_out(layout, np.float32, (6, 10))

    @stax.jit(backend=backend_name())
    def several(x):
        return x, x.T, x[1:, ::-1], x.reshape(-1), x + 0

    results = several(x)
    for result, expected in zip(results, (x, x.T, x[1:, ::-1], x.reshape(-1), x), strict=True):
        assert np.array_equal(result, expected)
        assert result.flags.c_contiguous
        assert result.flags.writeable
        assert result.flags.owndata
    for one, two in itertools.combinations([x, *results], 2):
        assert not np.shares_memory(one, two)


def test_read_only_misaligned_and_foreign_arguments():
    jitted = stax.jit(lambda a: a * 2 + a.sum(), backend=backend_name())
    x = ordinary(np.float32, 4, 9)
    expected = jitted(x)
    frozen = x.copy()
    frozen.flags.writeable = False
    raw = np.empty(x.nbytes + 1, np.uint8)
    misaligned = raw[1:].view(np.float32).reshape(x.shape)
    misaligned[...] = x
    swapped = x.astype(x.dtype.newbyteorder())
    odd = np.zeros(x.shape, np.dtype([("tag", np.uint8), ("value", np.float32)]))
    odd["value"] = x
    for given in (frozen, misaligned, swapped, odd["value"], x.tolist()):
        got = jitted(given)
        if isinstance(given, list):
            assert np.allclose(got, expected, rtol=1e-6)
        else:
            assert got.tobytes() == expected.tobytes()


def test_one_array_given_twice_and_overlapping_ones():
    x = ordinary(np.float64, 40)
    check(lambda a, b: a - b * 2, x, x)
    check(lambda a, b: a - b * 2, x[:30], x[10:])
    check(lambda a, b: (a + b, a.sum(), b), x[::-1], x)


def test_thirty_two_dimensions():
    x = ordinary(np.float32, 2, *(1,) * 28, 3, 2, 5)
    assert x.ndim == 32
    check_all(
        [
            Case(lambda a: a * 2, (x,)),
            Case(lambda a: a.sum(axis=(0, 31)), (x,)),
            Case(lambda a: a.T.max(axis=-1), (x,)),
        ]
    )
