"""Views: reshape, transpose, slices and new axes as index transformations.

takes: functions that only move elements, alone and between other operations
gives: a failure where a rung differs
holds: nothing
not here: layouts of arguments (test_broadcast)
"""

import itertools

import numpy as np
import pytest

from spec_tests.harness import Case, check, check_all

from .values import ALL, ordinary

SLICES = [
    np.s_[2],
    np.s_[-1],
    np.s_[1:],
    np.s_[:-1],
    np.s_[::2],
    np.s_[::-1],
    np.s_[5:1:-2],
    np.s_[3:3],
    np.s_[100:],
    np.s_[-3:100],
    np.s_[:, 1],
    np.s_[..., 0],
    np.s_[:, ::-2],
    np.s_[::3, ..., ::2],
    np.s_[None],
    np.s_[:, None, ::-1, None],
    np.s_[1, ..., None],
    np.s_[-2:, 1:4, 0],
    np.s_[0, 0, 0],
    np.s_[::-1, ::-1, ::-1],
]


def taking(index):
    """A function with this index written into it."""
    return lambda a: a[index]


@pytest.mark.parametrize("dtype", ALL)
def test_slices(dtype):
    x = ordinary(dtype, 7, 5, 4)
    check_all([Case(taking(index), (x,), str(index)) for index in SLICES])


def test_slices_of_a_computed_value():
    x = ordinary(np.float32, 7, 5, 4)
    check_all([Case(after_exp(index), (x,), str(index)) for index in SLICES])


def after_exp(index):
    """The whole value and a part of it."""

    def function(a):
        value = np.exp(a) + 1
        return value, value[index] * 2

    return function


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_transpositions(axes):
    x = ordinary(np.float64, 3, 4, 5)
    check_all(
        [
            Case(lambda a: np.transpose(a, axes), (x,)),
            Case(lambda a: a.transpose(axes) * 2 + 1, (x,)),
            Case(lambda a: np.sum(np.transpose(a, axes), axis=-1), (x,)),
            Case(lambda a: np.transpose(a * 3, axes).max(axis=0), (x,)),
            Case(lambda a: np.transpose(np.transpose(a, axes), axes), (x,)),
        ]
    )


RESHAPES = [
    (60,),
    (5, 12),
    (12, 5),
    (3, -1),
    (2, 2, 3, 5),
    (1, 60, 1),
    (3, 20),
    (4, 3, 5),
    (60, 1, 1),
]


@pytest.mark.parametrize("shape", RESHAPES)
def test_reshapes(shape):
    x = ordinary(np.float32, 3, 4, 5)
    check_all(
        [
            Case(lambda a: a.reshape(shape), (x,)),
            Case(lambda a: np.reshape(a.T, shape), (x,), "of a transpose"),
            Case(lambda a: np.reshape(a[:, ::-1], shape) + 1, (x,), "of a reversed axis"),
            Case(lambda a: (a * 2).reshape(shape).sum(axis=-1), (x,), "then a sum"),
            Case(lambda a: np.exp(a).sum(axis=0, keepdims=True) * a.reshape(1, -1, 1)[:, :4], (x,)),
        ]
    )


def test_the_other_names():
    x, line = ordinary(np.int32, 3, 1, 4), ordinary(np.int32, 4)
    check_all(
        [
            Case(lambda a: np.ravel(a), (x,)),
            Case(lambda a: a.ravel(), (x.T,)),
            Case(lambda a: a.flatten() + 1, (x,)),
            Case(lambda a: np.squeeze(a), (x,)),
            Case(lambda a: np.squeeze(a, axis=1), (x,)),
            Case(lambda a: np.expand_dims(a, 0), (x,)),
            Case(lambda a: np.expand_dims(a, (0, -1)), (x,)),
            Case(lambda a: np.swapaxes(a, 0, -1), (x,)),
            Case(lambda a: np.broadcast_to(a, (5, 4)), (line,)),
            Case(lambda a: np.broadcast_to(a, (3, 2, 4)) * 2, (x,)),
            Case(lambda a: np.broadcast_to(a[:, None], (4, 0)), (line,)),
            Case(lambda a: a.copy(), (x,)),
            Case(lambda a: (a.T, a), (x,)),
            Case(lambda a: np.broadcast_to(np.float32(2) * a, (2, 4)).sum(axis=0), (line,)),
        ]
    )


def test_views_between_reductions():
    x = ordinary(np.float32, 12, 18)

    def blocks(x):
        return x.reshape(3, 4, 6, 3).sum(axis=(1, 3))

    def normal_columns(x):
        return (x / np.sum(x * x, axis=0)).T

    def twice(x):
        return np.max(np.sum(x.reshape(6, 2, 18), axis=1).T, axis=0)

    def neighbours(x):
        return x[1:, :] - x[:-1, :], np.sum(x[:, ::-1] * x, axis=1)

    def centred(x):
        return x - np.mean(x.reshape(-1, 2), axis=0).reshape(1, 2)[:, :1]

    def shifted_scale(x):
        total = np.exp(x).sum(axis=1)
        return x[::-1] / total[::-1, None], total[1:] + total[:-1]

    functions = (blocks, normal_columns, twice, neighbours, centred, shifted_scale)
    check_all([Case(function, (x,)) for function in functions])
    check_all([Case(function, (x,), options={"max_nodes": 1}) for function in functions])


def test_box_filter_by_slices():
    """The demonstration's pattern: many overlapping reads of one value."""

    def box(x):
        rows = x[:-2] + x[1:-1] + x[2:]
        return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 9

    check(box, ordinary(np.float32, 19, 23))
    check(lambda x: box(x * x) - box(x) ** 2, ordinary(np.float32, 9, 40))


def test_empty_and_single_slices():
    x = ordinary(np.float64, 4, 6)
    check_all(
        [
            Case(lambda a: a[2:2].sum(axis=0), (x,)),
            Case(lambda a: a[:, 3:3] * 2, (x,)),
            Case(lambda a: a[:1, :1], (x,)),
            Case(lambda a: a[3, 5], (x,), "one element"),
            Case(lambda a: a[3, 5] + a[0], (x,)),
        ]
    )
