"""Functions that are a few others: differences, traces, cross products, shifts, memberships, fills.

takes: np.diff, np.trace, np.linalg.cross, np.fft.fftshift, np.isin, np.full_like on every dtype
gives: a failure where a rung, or NumPy, differs
holds: nothing
not here: joins, diagonals and sums by themselves (test_rearrange, test_reduce)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check_all

from .values import ALL, ordinary


@pytest.mark.parametrize("dtype", ALL)
def test_differences(dtype):
    x, row = ordinary(dtype, 3, 17), ordinary(dtype, 3, 2)
    check_all(
        [
            Case(lambda x: np.diff(x), (x,)),
            Case(lambda x: np.diff(x, n=2, axis=0), (x,)),
            Case(lambda x: np.diff(x, 0), (x,)),
            Case(lambda x, y: np.diff(x, prepend=y, append=y[:, :1]), (x, row)),
            Case(lambda x: np.diff(x[:, ::-2]), (x,)),
            Case(lambda x: np.diff(x[:, :1]), (x,)),
        ]
    )


def test_a_number_at_an_end_takes_numpys_dtype():
    x = np.arange(4, dtype=np.float32)
    run = stax.jit(lambda x: np.diff(x, prepend=0.5, append=2), backend="ref")
    expected = np.diff(x, prepend=0.5, append=2)
    np.testing.assert_array_equal(run(x), expected)
    assert run(x).dtype == expected.dtype


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.diff(x, n=-1), "order must be non-negative"),
        (lambda x: np.diff(x[0, 0]), "at least one dimensional"),
        (lambda x: np.diff(x, axis=2), "out of bounds"),
    ],
)
def test_a_difference_numpy_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        stax.jit(call)(np.zeros((2, 3)))


@pytest.mark.parametrize("dtype", ALL)
def test_traces(dtype):
    x = ordinary(dtype, 4, 3, 5)
    check_all(
        [
            Case(lambda x: np.trace(x), (x,)),
            Case(lambda x: np.linalg.trace(x, offset=1), (x,)),
            Case(lambda x: x.trace(-1, 2, 0), (x,)),
            Case(lambda x: np.trace(x, 9), (x,)),
            Case(lambda x: np.trace(x, dtype=np.float64), (x,)),
        ]
    )


@pytest.mark.parametrize("dtype", [d for d in ALL if np.dtype(d) != np.bool_])
def test_cross_products(dtype):
    x, y = ordinary(dtype, 4, 3), ordinary(dtype, 3, 4)
    check_all(
        [
            Case(lambda x, y: np.linalg.cross(x, x[::-1]), (x, y)),
            Case(lambda x, y: np.linalg.cross(x, y[:, 0]), (x, y)),
            Case(lambda x, y: np.linalg.cross(y, y + y, axis=0), (x, y)),
        ]
    )


def test_vectors_of_another_length_have_no_cross_product():
    with pytest.raises(ValueError, match="3-dimensional vectors, but they are 4 and 3"):
        stax.jit(lambda x, y: np.linalg.cross(x, y))(np.zeros((2, 4)), np.zeros((2, 3)))


@pytest.mark.parametrize("dtype", ALL)
def test_shifted_spectra(dtype):
    x = ordinary(dtype, 3, 4, 5)
    check_all(
        [
            Case(lambda x: np.fft.fftshift(x), (x,)),
            Case(lambda x: np.fft.ifftshift(x), (x,)),
            Case(lambda x: np.fft.fftshift(x, axes=1), (x,)),
            Case(lambda x: np.fft.ifftshift(x, axes=(0, -1)), (x,)),
        ]
    )


@pytest.mark.parametrize("dtype", ALL)
def test_membership(dtype):
    x, few = ordinary(dtype, 3, 5), ordinary(dtype, 4)
    check_all(
        [
            Case(lambda x, y: np.isin(x, y), (x, few)),
            Case(lambda x, y: np.where(np.isin(x, y, invert=True), x, y[0]), (x, few)),
        ]
    )


@pytest.mark.parametrize("dtype", ALL)
def test_filled_like_another(dtype):
    x, row = ordinary(dtype, 3, 5), ordinary(np.float32, 5)
    check_all(
        [
            Case(lambda x, y: np.full_like(x, y[0]), (x, row)),
            Case(lambda x, y: np.full_like(x, y, dtype=np.float32), (x, row)),
        ]
    )


def test_a_number_that_fills_must_fit():
    run = stax.jit(lambda x, n: np.full_like(x, n), backend="ref")
    np.testing.assert_array_equal(run(np.zeros(3, np.int32), 7), [7, 7, 7])
    with pytest.raises(OverflowError):
        run(np.zeros(3, np.int32), 2**40)
