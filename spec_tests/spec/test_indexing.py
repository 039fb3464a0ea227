"""Index arrays: NumPy's advanced indexing, ``take`` and its kin, and their bounds.

takes: arrays of positions, negative and repeated ones too, in every integer dtype
gives: a failure where a rung differs, or where an index out of range raises anything but NumPy's
    IndexError, or changes an argument
holds: nothing
not here: basic indexing (test_view), assignment (test_assign)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check_all

from .values import ALL, ordinary

I = np.array([2, -1, 0, 2])  # noqa: E741  the name of an index
J = np.array([[0, 1], [-3, 2]])


@pytest.mark.parametrize("dtype", ALL)
def test_gathered(dtype):
    x = ordinary(dtype, 3, 4, 5)
    check_all(
        [
            Case(lambda x, i: x[i], (x, I)),
            Case(lambda x, i: x[:, i], (x, I)),
            Case(lambda x, i: x[..., i], (x, I)),
            Case(lambda x, j: x[j], (x, J)),
            Case(lambda x, i: x[i, i], (x, I)),
            Case(lambda x, i: x[i, :, i], (x, I)),
            Case(lambda x, i, j: x[j[..., None], i], (x, I, J)),
            Case(lambda x, i: x[i, 1], (x, I)),
            Case(lambda x, i: x[1, :, i], (x, I)),
            Case(lambda x, i: x[1, i], (x, I)),
            Case(lambda x, i: x[None, i, ::2], (x, I)),
            Case(lambda x, i: x[::-1, i, None, ::-2], (x, I)),
            Case(lambda x: x[[0, -1]], (x,)),
            Case(lambda x: x[:, [1, 1], 0], (x,)),
            Case(lambda x, i: x[i[0]], (x, I)),
        ]
    )


def test_of_computed_values():
    x = ordinary(np.float32, 3, 40)
    check_all(
        [
            Case(lambda x, i: np.exp(x)[i].sum(axis=1), (x, I)),
            Case(lambda x, i: x[i] * 2 + x[i + 0], (x, I)),
            Case(lambda x, i: (x - x.max(1, keepdims=True))[i], (x, I)),
            Case(lambda x, i: x.sum(axis=1)[i], (x, I)),
            Case(lambda x: np.take_along_axis(x, (x > 0).astype(np.int64), axis=1), (x,)),
            Case(lambda w, t: w[t].sum(axis=1), (x, J)),
            Case(lambda x, i: np.concatenate([x[i], x])[::2], (x, I)),
        ]
    )


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 33])
def test_sizes(size):
    rng = np.random.default_rng(size)
    x = ordinary(np.float32, 50)
    i = rng.integers(-50, 50, size)
    check_all(
        [
            Case(lambda x, i: x[i], (x, i)),
            Case(lambda x, i: x[i[::-1]] + i, (x, i)),
            Case(lambda x, i: x[i].sum(), (x, i)),
            Case(lambda x, i: x[i.reshape(-1, 1)], (x, i)),
            Case(lambda x, i: x.reshape(10, 5)[:, (i % 5)], (x, i)),
        ]
    )


def test_take():
    x = ordinary(np.float32, 4, 5)
    wild = np.array([-9, -1, 0, 3, 4, 77])
    check_all(
        [
            Case(lambda x, i: np.take(x, i), (x, J)),
            Case(lambda x, i: np.take(x, i, axis=0), (x, J)),
            Case(lambda x, i: x.take(i, axis=-1), (x, I)),
            Case(lambda x, i: np.take(x, i, axis=1, mode="clip"), (x, wild)),
            Case(lambda x, i: np.take(x, i, axis=1, mode="wrap"), (x, wild)),
            Case(lambda x: np.take(x, 3), (x,)),
            Case(lambda x: np.take(x, [[1], [2]], axis=0), (x,)),
            Case(lambda x, i: np.choose(i, [x[0, :4], x[1, :4], x[2, :4]]), (x, np.abs(I))),
            Case(lambda x, i: np.take_along_axis(x, i[:, None], axis=1), (x, np.abs(I))),
        ]
    )


def outside(x, i):
    return x[i] * 2


def outside_after_arithmetic(x, i):
    return x[i + 1]


@pytest.mark.parametrize("backend", ["ref", "c"])
@pytest.mark.parametrize("bad", [5, -6, 2**40])
def test_out_of_range(backend, bad):
    x, i = ordinary(np.float32, 5), np.array([0, bad, 1])
    before = x.copy(), i.copy()
    with pytest.raises(IndexError) as theirs:
        outside(x, i)
    for _ in range(2):  # the second call is the compiled program's alone
        with pytest.raises(IndexError) as ours:
            stax.jit(outside, backend=backend)(x, i)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(IndexError):
        stax.jit(outside_after_arithmetic, backend=backend)(x, np.array([4]))
    assert np.array_equal(x, before[0])
    assert np.array_equal(i, before[1])


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_a_good_call_after_a_bad_one(backend):
    f = stax.jit(outside, backend=backend)
    x = ordinary(np.float32, 5)
    good = np.array([1, 2, 3])
    assert np.array_equal(f(x, good), outside(x, good))
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 5"):
        f(x, np.array([1, 9, 3]))
    assert np.array_equal(f(x, good), outside(x, good))


def test_an_empty_axis():
    with pytest.raises(IndexError):
        stax.jit(outside)(np.zeros((0, 4), np.float32), np.array([0]))
    check_all([Case(outside, (np.zeros((0, 4), np.float32), np.zeros(0, np.int64)))])
