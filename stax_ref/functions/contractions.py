"""Contractions as external calls of BLAS through NumPy.

Takes operands of a traced call; gives equations with NumPy's shape and dtype. Not here: which
operands are stored first (``lower``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import (
    ShapeError,
    UnsupportedOperation,
    user_frame,
)
from ..tracer import Trace, Tracer
from .elementwise import loop_dtypes, pointwise
from .operands import carried, convert, traced


def matmul(recording: Trace, a: Any, b: Any) -> Tracer:
    """``a @ b`` for vectors, matrices and batches, through BLAS (an extern node)."""
    left, right = traced(recording, a, "matmul"), traced(recording, b, "matmul")
    loop, _ = loop_dtypes(np.matmul, [left.dtype, right.dtype])
    dtype = carried(loop[2], "np.matmul")
    if not left.shape or not right.shape:
        raise ShapeError("matmul: a 0-d operand", user_frame()[0], "a * b for scalars")
    rows = left.shape if len(left.shape) > 1 else (1, *left.shape)
    columns = right.shape if len(right.shape) > 1 else (*right.shape, 1)
    if rows[-1] != columns[-2]:
        raise ShapeError(
            f"matmul: the inner extents {rows[-1]} and {columns[-2]} differ "
            f"in shapes {left.shape} and {right.shape}",
            user_frame()[0],
            "a.T or b.T",
        )
    try:
        batch = np.broadcast_shapes(rows[:-2], columns[:-2])
    except ValueError:
        raise ShapeError(
            f"matmul: batch axes of {left.shape} and {right.shape} do not broadcast",
            user_frame()[0],
            "reshape so that every batch axis is equal or 1",
        ) from None
    shape = (*batch, *rows[-2:-1], *columns[-1:])
    if len(left.shape) == 1:
        shape = (*shape[:-2], shape[-1])
    if len(right.shape) == 1:
        shape = shape[:-1]
    operands = [convert(recording, None, operand, dtype) for operand in (left, right)]
    return recording.record("matmul", operands, shape, dtype)


def dot(recording: Trace, a: Any, b: Any) -> Tracer:
    """``np.dot`` of vectors and matrices; scalars multiply."""
    if isinstance(a, (int, float)) or isinstance(b, (int, float)):
        return pointwise(recording, np.multiply, (a, b))
    left, right = traced(recording, a, "dot"), traced(recording, b, "dot")
    if not left.shape or not right.shape:
        return pointwise(recording, np.multiply, (a, b))
    if len(left.shape) > 2 or len(right.shape) > 2:
        raise UnsupportedOperation("np.dot above two axes", user_frame()[0], "a @ b")
    return matmul(recording, a, b)
