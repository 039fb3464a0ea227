"""Matrix products: external calls whose recorded arrays every rung shares, in fused surroundings.

takes: vectors, matrices and batches of every number dtype
gives: a failure where a rung differs or the shape rules are not NumPy's
holds: nothing
not here: bits of BLAS, which nobody promises (semantics §2)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check, check_all
from stax_ref.interpret import Recording
from stax_ref.wrapper import run_wrapper

from .values import NUMBERS, ordinary

SHAPES = [
    ((3,), (3,)),
    ((4, 3), (3,)),
    ((3,), (3, 5)),
    ((4, 3), (3, 5)),
    ((1, 1), (1, 1)),
    ((2, 4, 3), (2, 3, 5)),
    ((2, 4, 3), (3, 5)),
    ((4, 3), (2, 3, 5)),
    ((6, 1, 4, 3), (2, 3, 5)),
    ((2, 4, 3), (3,)),
    ((3,), (2, 3, 5)),
    ((3, 0), (0, 4)),
    ((0, 3), (3, 4)),
    ((0,), (0,)),
    ((33, 17), (17, 9)),
]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_shapes(dtype):
    check_all(
        [
            Case(lambda a, b: a @ b, (ordinary(dtype, *left), ordinary(dtype, *right, seed=1)))
            for left, right in SHAPES
        ]
    )


def test_mixed_dtypes_promote():
    cases = []
    for left in NUMBERS:
        for right in NUMBERS:
            args = (ordinary(left, 4, 3), ordinary(right, 3, 5, seed=1))
            cases.append(Case(lambda a, b: np.matmul(a, b), args))
    check_all(cases)


def test_in_fused_surroundings():
    a, b = ordinary(np.float32, 9, 17), ordinary(np.float32, 17, 20, seed=1)
    bias = ordinary(np.float32, 20, seed=2)

    def layer(a, b, bias):
        return np.maximum(a @ b + bias, 0)

    def prepared(a, b, bias):
        return (a * 2 + 1) @ np.exp(-b) + bias

    def softmax_of_scores(a, b, bias):
        scores = a @ b / 4
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True) + bias

    def two(a, b, bias):
        hidden = np.tanh(a @ b + bias)
        return hidden @ hidden.T, hidden.sum(axis=0)

    def normalised(a, b, bias):
        n = a / np.sqrt(np.sum(a * a, axis=1, keepdims=True))
        return n @ n.T, n @ b * bias

    functions = (layer, prepared, softmax_of_scores, two, normalised)
    check_all([Case(function, (a, b, bias)) for function in functions])


def test_operands_that_are_views():
    x, y = ordinary(np.float64, 12, 10), ordinary(np.float64, 12, 10, seed=1)
    check_all(
        [
            Case(lambda x, y: x @ y.T, (x, y)),
            Case(lambda x, y: x.T @ y, (x, y)),
            Case(lambda x, y: x[::2, ::-1] @ y[1:11, 3:], (x, y)),
            Case(lambda x, y: x.reshape(2, 6, 10) @ y.T, (x, y)),
            Case(lambda x, y: (x[0] @ y[1], x[:, 0] @ y[:, 1]), (x, y)),
            Case(lambda x, y: (x @ y.T).T[1:, ::2] * 2, (x, y)),
            Case(lambda x, y: x @ y.T, (x[::-1], y[:, ::1]), "strided arguments"),
            Case(lambda x, y: np.broadcast_to(x[0], (4, 10)) @ y.T, (x, y)),
            Case(lambda x, y: np.dot(x, y.T) + np.dot(x[0], y[0]), (x, y)),
        ]
    )


def test_the_same_operand_twice_and_the_product_as_only_result():
    x = ordinary(np.float32, 7, 7)
    check(lambda x: x @ x, x)
    check(lambda x: (x @ x) @ x, x)
    check(lambda x: x @ x + x @ x, x)


def test_a_call_gives_what_numpy_gives():
    """The public call makes its own external call: same function, same operands, same result."""
    a, b = ordinary(np.float64, 5, 4), ordinary(np.float64, 4, 6, seed=1)
    got = stax.jit(lambda a, b: a @ b, backend=backend_name())(a, b)
    assert np.array_equal(got, a @ b)


def test_shapes_that_do_not_fit():
    for left, right in (((4, 3), (4, 3)), ((3,), (4,)), ((2, 4, 3), (3, 3, 5))):
        a, b = np.ones(left), np.ones(right)
        with pytest.raises(ValueError):
            a @ b
        with pytest.raises(ValueError, match="matmul"):
            stax.jit(lambda a, b: a @ b)(a, b)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a @ b.T,
        lambda a, b: a.T @ b,
        lambda a, b: a[::-1] @ b[:, ::-1].T,
        lambda a, b: a[::2, 1:-1] @ b[1, 1:-1],
        lambda a, b: a[1] @ b[2],
        lambda a, b: a[:, :1] @ b[:1],
        lambda a, b: np.broadcast_to(a[0], (4, 8)) @ b.T,
        lambda a, b: a[None] @ np.swapaxes(b[None], 1, 2),
    ],
)
def test_views_of_a_buffer_are_handed_over_without_a_copy(function):
    a, b = ordinary(np.float32, 6, 8), ordinary(np.float32, 6, 8)
    layouts = [(a, b), (a[::-1], b[:, ::-1]), (np.asfortranarray(a), b)]
    check_all([Case(function, pair) for pair in layouts])
    for pair in layouts:
        lowered = stax.jit(function).lower(*pair)
        assert lowered.plan.kernels == 0, "no kernel copies an operand"
        outputs = run_wrapper(lowered.plan, pair, Recording())
        np.testing.assert_allclose(outputs[0], function(*pair), rtol=1e-5)


def test_a_computed_operand_and_one_whose_view_has_digits_are_stored_first():
    a, b = ordinary(np.float32, 6, 8), ordinary(np.float32, 6, 8)
    for function in (lambda a, b: (a * 2) @ b.T, lambda a, b: a.T.reshape(6, 8) @ b.T):
        assert stax.jit(function).lower(a, b).plan.kernels == 1
        check_all([Case(function, (a, b))])
