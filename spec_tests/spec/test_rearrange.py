"""Arrays rearranged: joined, split, flipped, rolled, repeated, padded, cut along diagonals.

takes: functions that only move elements, alone and around other operations, with and without
    vectors and tails in the axis that is moved
gives: a failure where a rung differs
holds: nothing
not here: plain views (test_view), index arrays (test_indexing)
"""

import numpy as np
import pytest

from spec_tests.harness import Case, check_all

from .values import ALL, ordinary

SIZES = (1, 2, 15, 16, 17, 33)
"""Around one vector of float32 at the widest level, and around two."""


def cases(function, *arrays):
    """A function alone, on a computed operand, and with something computed from its result."""
    return [
        Case(function, arrays),
        Case(lambda *a: function(*(x + x for x in a)), arrays),
        Case(lambda *a: function(*a).sum(axis=-1), arrays),
    ]


@pytest.mark.parametrize("dtype", ALL)
def test_joined(dtype):
    a, b = ordinary(dtype, 3, 7), ordinary(dtype, 4, 7)
    check_all(
        [
            *cases(lambda x, y: np.concatenate([x, y]), a, b),
            *cases(lambda x: np.concatenate([x, x, x[:, ::-1]], axis=1), a),
            *cases(lambda x, y: np.concatenate([x, y], axis=None), a, b),
            *cases(lambda x: np.stack([x, x]), a),
            *cases(lambda x: np.stack([x, x], axis=-1), a),
            *cases(lambda x, y: np.vstack([x[0], y]), a, b),
            *cases(lambda x: np.hstack([x, x[:, 1:]]), a),
            *cases(lambda x: np.dstack([x, x]), a),
            *cases(lambda x: np.column_stack([x[0], x[1], x[:2].T]), a),
            *cases(lambda x, y: np.append(x, y, axis=0), a, b),
        ]
    )


@pytest.mark.parametrize("size", SIZES)
def test_joined_vectors(size):
    x = ordinary(np.float32, size)
    check_all(
        [
            *cases(lambda x: np.concatenate([x[1:], x[:1]]), x),
            *cases(lambda x: np.concatenate([x, x, x]), x),
            *cases(lambda x: np.concatenate([x[:0], x, x[:0]]), x),
            Case(lambda x: np.concatenate([x[:0], x[:0]]), (x,)),
            Case(lambda x: np.concatenate([np.exp(x), x[::-1]]) * 2, (x,)),
        ]
    )


def test_joined_dtypes_promote_and_cast():
    a, b = ordinary(np.int32, 5), ordinary(np.float32, 4)
    check_all(
        [
            Case(lambda x, y: np.concatenate([x, y]), (a, b)),
            Case(lambda x, y: np.concatenate([x, y], dtype=np.float32), (a, b)),
            Case(lambda x: np.concatenate([x, [1.5, 2.5]]), (a,)),
        ]
    )


def test_a_division_in_one_piece_meets_no_zero_of_another():
    x = np.arange(1, 40)
    check_all(
        [
            Case(lambda x: np.concatenate([x // x[::-1], x]), (x,)),
            Case(lambda x: np.pad(7 % x, 3), (x,)),
        ]
    )


@pytest.mark.parametrize("size", SIZES)
def test_flipped_and_rolled(size):
    x = ordinary(np.float32, 5, size)
    check_all(
        [
            *cases(np.flip, x),
            *cases(lambda x: np.flip(x, 0), x),
            *cases(np.fliplr, x),
            *cases(np.flipud, x),
            *[c for k in range(5) for c in cases(lambda x, k=k: np.rot90(x, k), x)],
            *cases(lambda x: np.rot90(x[None], 1, (1, 2)), x),
            *cases(lambda x: np.roll(x, 3), x),
            *cases(lambda x: np.roll(x, -1, axis=1), x),
            *cases(lambda x: np.roll(x, (1, 2), axis=(0, 1)), x),
            Case(lambda x: np.roll(x, 1, 1) - 2 * x + np.roll(x, -1, 1), (x,)),
        ]
    )


@pytest.mark.parametrize("size", SIZES)
def test_repeated(size):
    x = ordinary(np.float32, 3, size)
    check_all(
        [
            *cases(lambda x: np.repeat(x, 2), x),
            *cases(lambda x: np.repeat(x, 3, axis=1), x),
            *cases(lambda x: x.repeat(2, axis=0), x),
            *cases(lambda x: np.repeat(x, [2, 0, 3], axis=0), x),
            *cases(lambda x: np.tile(x, 2), x),
            *cases(lambda x: np.tile(x, (2, 1, 3)), x),
            Case(lambda x: np.repeat(x, 0, axis=1), (x,)),
            Case(lambda x: np.tile(x, (0, 2)), (x,)),
            Case(lambda x: np.tile(x, ()), (x,)),
        ]
    )


PADS = [
    lambda x: np.pad(x, 1),
    lambda x: np.pad(x, ((0, 2), (3, 0)), constant_values=7),
    lambda x: np.pad(x, ((1, 2), (3, 4)), constant_values=((1, 2), (3, 4))),
    lambda x: np.pad(x, (2, 0), mode="edge"),
    lambda x: np.pad(x, ((0, 0), (1, 2)), mode="reflect"),
    lambda x: np.pad(x, 9, mode="reflect"),
    lambda x: np.pad(x, 9, mode="symmetric"),
    lambda x: np.pad(x, ((4, 1), (0, 7)), mode="wrap"),
    lambda x: np.pad(x, 0),
]


@pytest.mark.parametrize("dtype", ALL)
def test_padded(dtype):
    x = ordinary(dtype, 3, 4)
    check_all([c for pad in PADS for c in cases(pad, x)])


@pytest.mark.parametrize("size", SIZES[2:])
def test_padded_vectors(size):
    x = ordinary(np.float32, 2, size)
    check_all([Case(lambda x, pad=pad: pad(x) * 2 + 1, (x,)) for pad in PADS])


def test_padded_with_traced_constants():
    x = ordinary(np.float32, 9)
    check_all([Case(lambda x: np.pad(x, 2, constant_values=(x[0], x.max())), (x,))])


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 5])
def test_diagonals_and_triangles(offset):
    x = ordinary(np.float32, 4, 6)
    v = ordinary(np.float32, 5)
    check_all(
        [
            Case(lambda x: np.diagonal(x, offset) + 0, (x,)),
            Case(lambda x: x.diagonal(offset).sum(), (x,)),
            Case(lambda x: np.diagonal(x[None] * 2, offset, 2, 1) + 0, (x,)),
            *cases(lambda v: np.diag(v, offset), v),
            *cases(lambda x: np.tril(x, offset), x),
            *cases(lambda x: np.triu(x, offset), x),
            *cases(lambda x: np.triu(x[None], offset), x),
            *cases(lambda v: np.tril(v, offset), v),
        ]
    )


def test_split():
    x = ordinary(np.float32, 6, 8)
    check_all(
        [
            Case(lambda x: np.split(x, 3)[1] * 2, (x,)),
            Case(lambda x: tuple(np.split(x, [1, 4], axis=1)), (x,)),
            Case(lambda x: tuple(np.array_split(x, 4)), (x,)),
            Case(lambda x: np.hsplit(x, 2)[0] + np.vsplit(x, [3])[1].sum(), (x,)),
            Case(lambda x: np.unstack(x, axis=1)[3], (x,)),
        ]
    )


def test_grids_and_axes():
    a, b = ordinary(np.float32, 4), ordinary(np.float32, 6)
    c = ordinary(np.float32, 2, 3, 4)
    check_all(
        [
            Case(lambda a, b: np.meshgrid(a, b)[0] * np.meshgrid(a, b)[1], (a, b)),
            Case(lambda a, b: tuple(np.meshgrid(a, b, indexing="ij")), (a, b)),
            Case(lambda a, b: tuple(np.meshgrid(a, b, sparse=True)), (a, b)),
            Case(lambda a: tuple(np.broadcast_arrays(a, a[:, None])), (a,)),
            Case(lambda c: np.moveaxis(c, 0, -1) * 2, (c,)),
            Case(lambda c: np.moveaxis(c, [0, 1], [-1, 0]) * 2, (c,)),
            Case(lambda c: np.rollaxis(c, 2) * 2, (c,)),
            Case(lambda c: np.matrix_transpose(c) * 2, (c,)),
            Case(lambda a: np.atleast_3d(a) * np.atleast_2d(a)[:, :, None], (a,)),
        ]
    )
