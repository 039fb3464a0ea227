"""Contractions as external calls of BLAS through NumPy, and what is composed of them.

Takes operands of a traced call; gives equations with NumPy's shape and dtype. Views, products of
elements and sums around a product are equations of their own, so they fuse. Not here: ``einsum``
(``einsum``), which operands are stored first (``lower``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..calls import Call, Slot
from ..errors import ShapeError, user_frame
from ..tracer import Trace, Tracer
from .elementwise import loop_dtypes, pointwise
from .externs import external
from .operands import carried, convert, no_options, normal_axes, traced


def matmul(recording: Trace, a: Any, b: Any, **kwargs: Any) -> Tracer:
    """``a @ b`` for vectors, matrices and batches, through BLAS (an extern node)."""
    no_options("np.matmul", kwargs)
    left, right = traced(recording, a, "matmul"), traced(recording, b, "matmul")
    loop, _ = loop_dtypes(np.matmul, [left.dtype, right.dtype])
    dtype = carried(loop[2], "np.matmul")
    shape = _product_shape(left.shape, right.shape)
    operands = [convert(recording, None, operand, dtype) for operand in (left, right)]
    return recording.record("extern", operands, shape, dtype, call=MATMUL, result=0)


MATMUL = Call("matmul", np.matmul, (Slot(0), Slot(1)), into=np.matmul)


def _product_shape(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    if not left or not right:
        raise ShapeError("matmul: a 0-d operand", user_frame()[0], "a * b for scalars")
    rows = left if len(left) > 1 else (1, *left)
    columns = right if len(right) > 1 else (*right, 1)
    if rows[-1] != columns[-2]:
        raise ShapeError(
            f"matmul: the inner extents {rows[-1]} and {columns[-2]} differ "
            f"in shapes {left} and {right}",
            user_frame()[0],
            "a.T or b.T",
        )
    try:
        batch = np.broadcast_shapes(rows[:-2], columns[:-2])
    except ValueError:
        raise ShapeError(
            f"matmul: batch axes of {left} and {right} do not broadcast",
            user_frame()[0],
            "reshape so that every batch axis is equal or 1",
        ) from None
    shape = (*batch, *rows[-2:-1], *columns[-1:])
    if len(left) == 1:
        shape = (*shape[:-2], shape[-1])
    return shape[:-1] if len(right) == 1 else shape


def product(ufunc: Any) -> Callable[..., Any]:
    """``vecdot``, ``matvec`` and ``vecmat``: ufuncs with a signature, in a call of their own."""

    def handler(recording: Trace, *args: Any, **kwargs: Any) -> Any:
        return external(recording, ufunc.__name__, ufunc, args, kwargs, ufunc)

    return handler


def array(recording: Trace, x: Any) -> Any:
    """An operand as an array: these functions take Python numbers as NumPy's, not as weak ones."""
    if not isinstance(x, Tracer):
        return Tracer(recording, traced(recording, np.asarray(x), "a product"))
    value = x._value
    return recording.record("cast", (value,), (), value.dtype) if value.weak else x


def dot(recording: Trace, a: Any, b: Any, **kwargs: Any) -> Any:
    """``np.dot``: matrices and vectors as ``@``, NumPy's own rule above; scalars multiply."""
    no_options("np.dot", kwargs)
    left, right = array(recording, a), array(recording, b)
    if not left.ndim or not right.ndim:
        return pointwise(recording, np.multiply, (left, right))
    if left.ndim > 2 or right.ndim > 2:
        return external(recording, "dot", np.dot, (left, right), {}, np.dot)
    return matmul(recording, left, right)


def inner(recording: Trace, a: Any, b: Any) -> Any:
    """``np.inner``: over the last axes of both; scalars multiply."""
    left, right = array(recording, a), array(recording, b)
    if not left.ndim or not right.ndim:
        return pointwise(recording, np.multiply, (left, right))
    return external(recording, "inner", np.inner, (left, right), {})


def vdot(recording: Trace, a: Any, b: Any) -> Any:
    """``np.vdot`` of real arrays: the product of both as rows."""
    return matmul(recording, _row(recording, a), _row(recording, b))


def outer(recording: Trace, a: Any, b: Any, out: Any = None) -> Any:
    """``np.outer``: elements of both as rows, multiplied; fuses like any product."""
    no_options("np.outer", {"out": out})
    left, right = _row(recording, a), _row(recording, b)
    return pointwise(recording, np.multiply, (left[:, None], right[None, :]))


def ufunc_outer(recording: Trace, ufunc: Any, a: Any, b: Any, /, **kwargs: Any) -> Any:
    """``ufunc.outer``: every element of ``a`` with every element of ``b``."""
    left, right = array(recording, a), array(recording, b)
    wide = np.expand_dims(left, tuple(range(left.ndim, left.ndim + right.ndim)))
    return ufunc(wide, right, **kwargs)


def linalg_outer(recording: Trace, x1: Any, x2: Any, /) -> Any:
    """``np.linalg.outer``: of vectors only."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ShapeError(
            "Input arrays must be one-dimensional, but they are "
            f"x1.ndim={np.ndim(x1)} and x2.ndim={np.ndim(x2)}.",
            user_frame()[0],
            "np.outer takes arrays of any shape as rows",
        )
    return outer(recording, x1, x2)


def _row(recording: Trace, a: Any) -> Tracer:
    """An array as one row."""
    return array(recording, a).reshape(-1)  # type: ignore[no-any-return]  # a traced array


def kron(recording: Trace, a: Any, b: Any) -> Any:
    """``np.kron``: every element of ``a`` times the array ``b``, in blocks."""
    left = array(recording, a)
    right = array(recording, b)
    ndim = max(left.ndim, right.ndim)
    shapes = [(1,) * (ndim - len(x.shape)) + x.shape for x in (left, right)]
    pairs = list(zip(*shapes, strict=True))
    left = left.reshape([extent for n, _ in pairs for extent in (n, 1)])
    right = right.reshape([extent for _, n in pairs for extent in (1, n)])
    blocks = pointwise(recording, np.multiply, (left, right))
    return blocks.reshape([n * m for n, m in pairs])


def linalg_vecdot(recording: Trace, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """``np.linalg.vecdot``."""
    return product(np.vecdot)(recording, x1, x2, axis=axis)


def linalg_matmul(recording: Trace, x1: Any, x2: Any, /) -> Tracer:
    """``np.linalg.matmul``."""
    return matmul(recording, x1, x2)


def tensordot(recording: Trace, a: Any, b: Any, axes: Any = 2) -> Any:
    """``np.tensordot``: both operands as matrices, one product."""
    left = array(recording, a)
    right = array(recording, b)
    first, second = _contracted(axes, left.ndim, right.ndim)
    if [left.shape[k] for k in first] != [right.shape[k] for k in second]:
        raise ShapeError(
            f"shape-mismatch for sum: axes {first} of {left.shape} and {second} of {right.shape}",
            user_frame()[0],
            "axes of equal length, in the same order",
        )
    kept = [k for k in range(left.ndim) if k not in first]
    rest = [k for k in range(right.ndim) if k not in second]
    shape = [left.shape[k] for k in kept] + [right.shape[k] for k in rest]
    count = math.prod(left.shape[k] for k in first)
    rows: Any = np.transpose(left, (*kept, *first))
    columns: Any = np.transpose(right, (*second, *rest))
    rows = rows.reshape((_size(left, kept), count) if kept else (count,))
    columns = columns.reshape((count, _size(right, rest)) if rest else (count,))
    if not first:
        return outer(recording, rows, columns).reshape(shape)
    return matmul(recording, rows, columns).reshape(shape)


def _size(x: Tracer, axes: Sequence[int]) -> int:
    return math.prod(x.shape[k] for k in axes)


def _contracted(axes: Any, left: int, right: int) -> tuple[list[int], list[int]]:
    """The contracted axes of both operands, non-negative."""
    try:
        pair: Any = axes
        if _is_int(axes):
            pair = (range(left - axes, left), range(axes))
        first, second = ([k] if _is_int(k) else list(k) for k in pair)
    except (TypeError, ValueError):
        raise ShapeError(
            f"tensordot: axes={axes!r}", user_frame()[0], "a number of axes or a pair of lists"
        ) from None
    found = []
    for given, ndim in ((first, left), (second, right)):
        normal_axes(tuple(given), ndim)
        found.append([operator.index(k) % ndim for k in given])
    return found[0], found[1]


def _is_int(thing: Any) -> bool:
    return isinstance(thing, (int, np.integer))


UFUNCS: dict[Any, Callable[..., Any]] = {
    np.matmul: matmul,
    np.vecdot: product(np.vecdot),
    np.matvec: product(np.matvec),
    np.vecmat: product(np.vecmat),
}
"""Ufuncs with a signature, and what a call of one becomes."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.dot: dot,
    np.inner: inner,
    np.vdot: vdot,
    np.outer: outer,
    np.kron: kron,
    np.tensordot: tensordot,
    np.linalg.matmul: linalg_matmul,
    np.linalg.vecdot: linalg_vecdot,
    np.linalg.outer: linalg_outer,
    np.linalg.tensordot: lambda recording, x1, x2, /, *, axes=2: tensordot(recording, x1, x2, axes),
}

METHODS_OF_FAMILY: dict[str, Callable[..., Any]] = {"dot": dot}
