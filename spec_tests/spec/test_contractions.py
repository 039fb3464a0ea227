"""Contractions: dot, inner, outer, kron, tensordot, einsum and the products of rows and columns.

takes: operands of every dtype, empty, strided, transposed and reversed
gives: a failure where a rung differs, or a public call differs from NumPy
holds: nothing
not here: ``@`` itself (test_matmul)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check_all

from .calls import as_numpy_does
from .values import NUMBERS, laid_out, ordinary

EINSUMS = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,jk", (3, 4), (4, 5)),
    ("ji,jk->ki", (4, 3), (4, 5)),
    ("ii", (4, 4)),
    ("ii->i", (4, 4)),
    ("iii->i", (3, 3, 3)),
    ("ijij->ij", (3, 4, 3, 4)),
    ("iij,jk->ik", (3, 3, 4), (4, 2)),
    ("ba", (2, 3)),
    ("ij->ji", (3, 4)),
    ("ij->", (3, 4)),
    ("ij->j", (3, 4)),
    ("i...->...", (3, 4, 2)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("...,...->...", (3, 1), (4,)),
    ("...i,...i", (3, 4), (4,)),
    ("i,i->", (5,), (5,)),
    ("i,j->ij", (5,), (4,)),
    ("ij,ij->i", (3, 4), (3, 4)),
    ("ij,ij->", (1, 3), (2, 3)),
    ("ij,kj->", (3, 4), (5, 4)),
    ("ij,j", (3, 4), (4,)),
    ("i,ij", (3,), (3, 4)),
    ("ij,jk->ik", (3, 1), (4, 5)),
    ("ij,jk->ik", (3, 0), (0, 5)),
    ("ij,j->i", (0, 4), (4,)),
    ("ii->i", (0, 0)),
    ("ijk,kl,lm->ijm", (2, 3, 4), (4, 5), (5, 6)),
    ("abc,cd,bd->a", (2, 3, 4), (4, 5), (3, 5)),
    ("a,b,c->cab", (2,), (3,), (4,)),
    ("i,i,i->i", (5,), (5,), (5,)),
    ("k,kab,k->ab", (2,), (2, 3, 4), (2,)),
    ("bhqd,bhkd->bhqk", (2, 2, 4, 5), (2, 2, 6, 5)),
    ("bhqk,bhkd->bqhd", (2, 2, 4, 6), (2, 2, 6, 5)),
]


def program(subscripts):
    """``np.einsum`` with these subscripts, as a function of its operands."""
    return lambda *operands: np.einsum(subscripts, *operands)


def arrays(dtype, shapes):
    return tuple(ordinary(dtype, *shape, seed=k) for k, shape in enumerate(shapes))


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
def test_einsum(dtype):
    cases = [Case(program(s), arrays(dtype, shapes), s) for s, *shapes in EINSUMS]
    check_all(cases)
    for case in cases:
        as_numpy_does(case.function, *case.args, backend="ref")


@pytest.mark.parametrize("layout", ["strided", "reversed", "transposed", "broadcast"])
def test_einsum_of_laid_out_operands(layout):
    for subscripts, *shapes in EINSUMS:
        operands = [
            laid_out(layout, np.float64, shape, seed=k)
            if len(shape) > 1
            else ordinary(np.float64, *shape)
            for k, shape in enumerate(shapes)
        ]
        as_numpy_does(program(subscripts), *operands, backend="ref")


def test_einsum_in_numpys_other_form_and_with_options():
    a, b = arrays(np.float64, [(3, 4), (5, 4)])
    whole = ordinary(np.int32, 5, 4)
    functions = [
        lambda a, b: np.einsum(a, [0, 1], b, [2, 1], [0, 2]),
        lambda a, b: np.einsum(a, [1, 0], b, [2, 0]),
        lambda a, b: np.einsum(a, [Ellipsis, 0], [Ellipsis]),
        lambda a, b: np.einsum(" i j , k j -> i k ", a, b),
        lambda a, b: np.einsum("ij,kj,kj->i", a, b, whole, optimize=True),
        lambda a, b: np.einsum(
            "ij,kj,kj->i", a, b, whole, optimize=["einsum_path", (1, 2), (0, 1)]
        ),
        lambda a, b: np.einsum("ij,kj->ik", a, whole, dtype=np.float32, casting="unsafe"),
        lambda a, b: np.einsum("ij,kj->ik", a, b, optimize=np.einsum_path("ij,kj->ik", a, b)[0]),
    ]
    check_all([Case(function, (a, b)) for function in functions])
    for function in functions:
        as_numpy_does(function, a, b)


def test_a_product_over_axes_of_both_is_one_call_without_copies():
    plans = {
        "ij,kj->ik": 0,
        "bij,bkj->bik": 0,
        "ji,jk": 0,
        "ij,j->i": 0,
        "iij,jk->ik": 0,
        "ij,ij->i": 1,
    }
    shapes = {"bij,bkj->bik": [(2, 3, 4), (2, 5, 4)], "ij,j->i": [(3, 4), (4,)]}
    shapes |= {
        "iij,jk->ik": [(3, 3, 4), (4, 2)],
        "ij,ij->i": [(3, 4), (3, 4)],
        "ji,jk": [(4, 3), (4, 5)],
    }
    for subscripts, kernels in plans.items():
        operands = arrays(np.float32, shapes.get(subscripts, [(3, 4), (5, 4)]))
        plan = stax.jit(program(subscripts)).lower(*operands).plan
        assert plan.kernels == kernels, subscripts
        assert len(plan.steps) == 1, subscripts


def test_a_reshaped_operand_is_handed_over_as_a_view():
    x, y = arrays(np.float32, [(2, 3, 4), (4, 5)])
    plan = stax.jit(lambda x, y: x.reshape(6, 4) @ y).lower(x, y).plan
    assert plan.kernels == 0
    assert stax.jit(lambda x, y: x.T.reshape(6, 4) @ y).lower(x, y).plan.kernels == 1
    for function in (lambda x, y: x.reshape(6, 4) @ y, lambda x, y: x[::-1].reshape(6, 4) @ y):
        check_all([Case(function, (x, y)), Case(function, (x[::-1], y[:, ::-1]))])
        as_numpy_does(function, x, y)
        as_numpy_does(function, x[:, ::-1], y)
        as_numpy_does(function, np.asfortranarray(x), y)


def test_a_result_is_stored_in_the_shape_that_is_returned():
    x, y = arrays(np.float32, [(2, 3, 4), (4, 5)])
    functions = {
        lambda x, y: np.einsum("...ij,jk->...ik", x, y): 0,
        lambda x, y: np.tensordot(x, y, 1): 0,
        lambda x, y: np.cumsum(x).reshape(6, 4): 0,
        lambda x, y: (np.tensordot(x, y, 1), np.tensordot(x, y, 1) * 2): 1,
        lambda x, y: (np.tensordot(x, y, 1), np.tensordot(x, y, 1).reshape(5, 6)): 1,
        lambda x, y: np.sort(np.linalg.eigh(x[:, :2, :2]).eigenvalues.reshape(4)).reshape(2, 2): 0,
        lambda x, y: np.linalg.eigh(x[:, :2, :2])[1].reshape(8): 0,
    }
    check_all([Case(function, (x, y)) for function in functions])
    for function, kernels in functions.items():
        as_numpy_does(function, x, y)
        assert stax.jit(function).lower(x, y).plan.kernels == kernels


TENSORDOTS = [
    ((2, 3, 4), (4, 3, 5), 1),
    ((2, 3, 4), (3, 4, 5), 2),
    ((2, 3), (4, 5), 0),
    ((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0])),
    ((2, 3, 4), (4, 3, 5), (2, 0)),
    ((2, 3, 4), (4, 3, 5), (-1, 0)),
    ((2, 3, 4), (2, 3, 4), 3),
    ((2, 0, 4), (0, 4, 5), 2),
    ((0, 4), (4, 5), 1),
    ((4,), (4, 5), 1),
    ((2, 4), (4,), 1),
    ((4,), (4,), 1),
]


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_tensordot(dtype):
    cases = [
        Case(over(axes), arrays(dtype, [left, right]), str(axes))
        for left, right, axes in TENSORDOTS
    ]
    check_all(cases)
    for case in cases:
        as_numpy_does(case.function, *case.args, backend="ref")


def over(axes):
    """``np.tensordot`` over these axes."""
    return lambda a, b: np.tensordot(a, b, axes)


PRODUCTS = {
    "dot of vectors": (lambda a, b: np.dot(a, b), (5,), (5,)),
    "dot of matrices": (lambda a, b: a.dot(b) + 1, (3, 4), (4, 5)),
    "dot of a matrix and a stack": (lambda a, b: np.dot(a, b), (3, 4), (2, 4, 5)),
    "dot of stacks": (lambda a, b: np.dot(a, b), (2, 3, 4), (2, 4, 5)),
    "dot of a stack and a vector": (lambda a, b: np.dot(a, b), (2, 3, 4), (4,)),
    "dot with a scalar": (lambda a, b: np.dot(a, 2) + np.dot(b[0], a), (3,), (3,)),
    "inner": (lambda a, b: np.inner(a, b), (2, 3, 4), (5, 4)),
    "inner of vectors": (lambda a, b: np.inner(a, b), (4,), (4,)),
    "inner with a scalar": (lambda a, b: np.inner(a, b[0]), (4,), (4,)),
    "vdot": (lambda a, b: np.vdot(a, b), (3, 4), (4, 3)),
    "outer": (lambda a, b: np.outer(a, b), (3, 4), (5,)),
    "linalg.outer": (lambda a, b: np.linalg.outer(a, b), (3,), (5,)),
    "ufunc.outer": (lambda a, b: np.add.outer(a, b), (3, 4), (5,)),
    "kron": (lambda a, b: np.kron(a, b), (2, 3), (4, 5)),
    "kron of other ranks": (lambda a, b: np.kron(a, b), (3,), (2, 4, 5)),
    "vecdot": (lambda a, b: np.vecdot(a, b), (2, 3, 4), (3, 4)),
    "linalg.vecdot": (lambda a, b: np.linalg.vecdot(a, b, axis=0), (4, 3), (4, 3)),
    "matvec": (lambda a, b: np.matvec(a, b), (2, 3, 4), (4,)),
    "vecmat": (lambda a, b: np.vecmat(a, b), (2, 3), (3, 4)),
    "linalg.matmul": (lambda a, b: np.linalg.matmul(a, b), (2, 3), (3, 4)),
    "linalg.tensordot": (lambda a, b: np.linalg.tensordot(a, b, axes=1), (2, 3), (3, 4)),
    "matrix_transpose": (lambda a, b: np.linalg.matrix_transpose(a) @ b, (3, 2), (3, 4)),
    "mT": (lambda a, b: np.matrix_transpose(a) @ b, (3, 2), (3, 4)),
    "nothing to sum": (lambda a, b: np.dot(a, b), (3, 0), (0, 4)),
    "no rows": (lambda a, b: np.inner(a, b), (0, 4), (5, 4)),
}


@pytest.mark.parametrize(
    "dtype", ["?", "f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
)
def test_products(dtype):
    cases = [
        Case(function, arrays(dtype, shapes), name)
        for name, (function, *shapes) in PRODUCTS.items()
        if not (dtype == "?" and "scalar" in name)
    ]
    check_all(cases)
    for case in cases:
        as_numpy_does(case.function, *case.args, backend=None if dtype == "f4" else "ref")


def test_products_of_mixed_dtypes_and_layouts():
    cases = []
    for name, (function, *shapes) in PRODUCTS.items():
        left, right = arrays(np.int32, [shapes[0]])[0], arrays(np.float32, shapes)[1]
        layouts = [(left, right), (left[::-1], right[..., ::-1]), (np.asfortranarray(left), right)]
        cases += [Case(function, layout, name) for layout in layouts]
    check_all(cases)
    for case in cases:
        as_numpy_does(case.function, *case.args, backend="ref")


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_whole_numbers_are_exact_and_wrap(dtype):
    big = np.full((3, 3), np.iinfo(dtype).max, dtype)
    functions = [
        lambda x: x @ x,
        lambda x: np.einsum("ij,jk->ik", x, x),
        lambda x: np.tensordot(x, x, 2),
        lambda x: np.vecdot(x, x),
        lambda x: np.outer(x, x),
        lambda x: np.einsum("ij->", x),
    ]
    check_all([Case(function, (big,)) for function in functions])
    for function in functions:
        assert np.array_equal(stax.jit(function)(big), function(big))


@pytest.mark.parametrize("scalar", [2, 2.5, True])
def test_python_numbers_are_numpys_own_here(scalar):
    """These functions make an array of a Python number: float32 and 2 give float64."""
    x = ordinary(np.float32, 2, 3)
    functions = [
        lambda x, s: np.dot(x, s),
        lambda x, s: np.inner(s, x),
        lambda x, s: np.outer(x, s),
        lambda x, s: np.kron(s, x),
        lambda x, s: np.tensordot(x, s, 0),
        lambda x, s: np.einsum(",ij", s, x),
        lambda x, s: np.add.outer(s, x),
        lambda x, s: np.multiply.outer(x[0], s),
        lambda x, s: np.vdot(s, s),
    ]
    for function in functions:
        as_numpy_does(function, x, scalar, backend="ref")
        as_numpy_does(lambda x, f=function: f(x, scalar), x, backend="ref")


def test_fused_surroundings():
    a, b = arrays(np.float32, [(6, 8), (6, 8)])
    functions = [
        lambda a, b: np.tanh(np.einsum("ij,kj->ik", a * 2, b)) + 1,
        lambda a, b: np.sum(np.outer(a[0], b[0]) ** 2, axis=0),
        lambda a, b: np.maximum(np.inner(a, b), 0).sum(axis=1),
        lambda a, b: np.kron(a[:2, :2], b[:2, :2]) - 1,
    ]
    check_all([Case(function, (a, b)) for function in functions])
    for function in functions:
        as_numpy_does(function, a, b)
    assert stax.jit(functions[1]).lower(a, b).plan.kernels == 1, "an outer product fuses"


@pytest.mark.parametrize("dtype", NUMBERS)
def test_dtypes_mix_as_numpy_says(dtype):
    for other in (np.float32, np.int64):
        operands = arrays(dtype, [(3, 4)])[0], arrays(other, [(5, 4)])[0]
        for function in (lambda a, b: np.einsum("ij,kj->ik", a, b), lambda a, b: np.inner(a, b)):
            as_numpy_does(function, *operands, backend="ref")
