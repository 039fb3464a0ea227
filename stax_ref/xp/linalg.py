"""The standard's linear algebra extension, with its functions that the main namespace has too.

Takes matrices in the last two axes, or vectors along one axis; gives arrays or named tuples of
them. Not here: which of them run as jitted programs (``table``).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .program import Array, standard

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

Axes = int | tuple[int, ...]
_extension = functools.partial(standard, prefix="linalg.")


@_extension
def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The triangular factor of a positive definite matrix."""
    return np.linalg.cholesky(x, upper=upper)


@_extension
def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Cross products of vectors of three elements."""
    return np.linalg.cross(x1, x2, axis=axis)


@_extension
def det(x: Array, /) -> Array:
    """Determinants."""
    return np.linalg.det(x)


@_extension
def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """Diagonals of matrices."""
    return np.diagonal(x, offset=offset, axis1=-2, axis2=-1)


@_extension
def eigh(x: Array, /) -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices."""
    return np.linalg.eigh(x)


@_extension
def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of symmetric matrices."""
    return np.linalg.eigvalsh(x)


@_extension
def inv(x: Array, /) -> Array:
    """Inverses."""
    return np.linalg.inv(x)


@standard
def matmul(x1: Array, x2: Array, /) -> Array:
    """Products of matrices; a vector is a row on the left and a column on the right."""
    return np.matmul(x1, x2)


@_extension
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Norms of matrices."""
    return np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)


@_extension
def matrix_power(x: Array, n: int, /) -> Array:
    """The ``n``-th power of matrices."""
    return np.linalg.matrix_power(x, n)


@_extension
def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Ranks: how many singular values exceed ``rtol`` times the largest one."""
    if x.ndim < 2:
        raise np.linalg.LinAlgError("Array must be at least two-dimensional")
    return np.linalg.matrix_rank(x, rtol=rtol)


@standard
def matrix_transpose(x: Array, /) -> Array:
    """Matrices with rows and columns exchanged."""
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return np.swapaxes(x, -1, -2)


@_extension
def outer(x1: Array, x2: Array, /) -> Array:
    """Every element of one vector times every element of another."""
    return np.linalg.outer(x1, x2)


@_extension
def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """Pseudo-inverses; smaller singular values than ``rtol`` times the largest count as zero."""
    if rtol is None:  # the standard's default; NumPy's is a constant
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps
    return np.linalg.pinv(x, rtol=rtol)


@_extension
def qr(x: Array, /, *, mode: Any = "reduced") -> Any:
    """Orthogonal and triangular factors."""
    return np.linalg.qr(x, mode=mode)


@_extension
def slogdet(x: Array, /) -> Any:
    """Signs of determinants and logarithms of their absolute values."""
    return np.linalg.slogdet(x)


@_extension
def solve(x1: Array, x2: Array, /) -> Array:
    """The solutions of systems of linear equations; ``x2`` is one vector or a stack of matrices."""
    return np.linalg.solve(x1, x2)


@_extension
def svd(x: Array, /, *, full_matrices: bool = True) -> Any:
    """Singular value decompositions."""
    return np.linalg.svd(x, full_matrices=full_matrices)


@_extension
def svdvals(x: Array, /) -> Array:
    """Singular values."""
    return np.linalg.svdvals(x)


@standard
def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """Sums of products over pairs of axes."""
    return np.tensordot(x1, x2, axes=axes)


@_extension
def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sums of diagonals."""
    return np.trace(x, offset=offset, axis1=-2, axis2=-1, dtype=dtype)


@standard
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Sums of products of vectors along an axis."""
    return np.linalg.vecdot(x1, x2, axis=axis)  # type: ignore[call-overload]


@_extension
def vector_norm(
    x: Array, /, *, axis: Axes | None = None, keepdims: bool = False, ord: Any = 2
) -> Array:
    """Norms of vectors along axes; None is one vector of all elements."""
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)  # type: ignore[arg-type]
