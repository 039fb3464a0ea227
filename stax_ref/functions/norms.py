"""Norms, and the logarithm of a sum of exponentials.

Takes operands of a traced call, or plain arrays for :func:`logsumexp`; gives equations. Each norm
is what NumPy's own code does: powers, a reduction, a root. Not here: singular values (``externs``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import DtypeError, ShapeError, user_frame
from ..tracer import Trace, Tracer
from .elementwise import cast, pointwise
from .operands import normal_axes, traced
from .reductions import is_set, reduce, reduced_shape
from .shapes import permute, reshape

_SINGULAR: dict[Any, str] = {2: "max", -2: "min", "nuc": "sum"}
"""Matrix norms made of singular values, and how."""


def norm(
    recording: Trace, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False
) -> Tracer:
    """``np.linalg.norm`` of vectors along one axis and of matrices in two."""
    value = Tracer(recording, traced(recording, x, "np.linalg.norm"))
    if value.dtype.kind != "f":
        value = cast(recording, value, dtypes.F64)
    keep = is_set(keepdims)
    ndim = value.ndim
    usual = ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1)
    if axis is None and usual:
        return _euclidean(recording, value, None, keep)
    axes = _axes(axis, ndim)
    if len(axes) == 1:
        return _vector(recording, value, ord, axes, keep)
    if len(axes) == 2:
        return _matrix(recording, value, ord, axes, keep)
    raise ShapeError(
        "Improper number of dimensions to norm.", user_frame()[0], "axis=, one or two axes"
    )


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes in the order given: of a matrix, rows then columns."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    try:
        numbers = [int(k) for k in given]
    except (TypeError, ValueError):
        raise DtypeError(
            "'axis' must be None, an integer or a tuple of integers", user_frame()[0], "axis=-1"
        ) from None
    if len(given) == 2 and len({k % ndim for k in numbers}) == 1:
        raise ShapeError("Duplicate axes given.", user_frame()[0], "two different axes")
    normal_axes(tuple(numbers), ndim)
    return tuple(k % ndim for k in numbers)


def _magnitude(recording: Trace, value: Tracer) -> Tracer:
    return pointwise(recording, np.absolute, (value,))


def _euclidean(recording: Trace, value: Tracer, axis: Any, keep: bool) -> Tracer:
    square = pointwise(recording, np.multiply, (value, value))
    total = reduce(recording, "sum", square, axis, None, keep)
    return pointwise(recording, np.sqrt, (total,))


def _vector(recording: Trace, value: Tracer, ord: Any, axis: tuple[int, ...], keep: bool) -> Tracer:
    if ord is None or ord == 2:
        return _euclidean(recording, value, axis, keep)
    if isinstance(ord, str):
        raise ShapeError(
            f"Invalid norm order '{ord}' for vectors", user_frame()[0], "a number, or None"
        )
    if ord == math.inf:
        return reduce(recording, "max", _magnitude(recording, value), axis, None, keep, 0)
    if ord == -math.inf:
        return reduce(recording, "min", _magnitude(recording, value), axis, None, keep)
    if ord == 0:
        zero = pointwise(recording, np.not_equal, (value, 0))
        return reduce(recording, "sum", cast(recording, zero, value.dtype), axis, None, keep)
    if ord == 1:
        return reduce(recording, "sum", _magnitude(recording, value), axis, None, keep)
    return _general(recording, value, ord, axis, keep)


def _general(recording: Trace, value: Tracer, ord: Any, axis: Any, keep: bool) -> Tracer:
    """The p-th root of the sum of p-th powers, in the dtype of the operand."""
    if not isinstance(ord, (int, float, np.integer, np.floating)):
        raise DtypeError(f"a norm of order {ord!r}", user_frame()[0], "a number")
    number = ord.item() if isinstance(ord, np.generic) else ord
    powers: Any = np.power(_magnitude(recording, value), number)
    total = reduce(recording, "sum", powers, axis, None, keep)
    root = np.reciprocal(number, dtype=total.dtype)
    result: Any = np.power(total, root)
    return result  # type: ignore[no-any-return]


def _of_singular_values(value: Any, kind: str, axes: tuple[int, ...], keep: bool) -> Tracer:
    """The largest, the smallest or the sum of a matrix's singular values."""
    singular: Any = np.linalg.svd(np.moveaxis(value, axes, (-2, -1)), compute_uv=False)
    result: Any = getattr(np, kind)(singular, axis=-1)
    if keep:
        result = np.expand_dims(result, tuple(sorted(axis % value.ndim for axis in axes)))
    return result  # type: ignore[no-any-return]  # a traced array


def _matrix(recording: Trace, value: Tracer, ord: Any, axes: tuple[int, ...], keep: bool) -> Tracer:
    if ord in (None, "fro", "f"):
        return _euclidean(recording, value, axes, keep)
    if ord in _SINGULAR:
        return _of_singular_values(value, _SINGULAR[ord], axes, keep)
    extremes = {1: (0, "max"), -1: (0, "min"), math.inf: (1, "max"), -math.inf: (1, "min")}
    if ord not in extremes:
        raise ShapeError(
            "Invalid norm order for matrices.", user_frame()[0], "'fro', 1, -1, inf or -inf"
        )
    which, kind = extremes[ord]
    sums = reduce(recording, "sum", _magnitude(recording, value), axes[which], None, True)
    first: tuple[Any, ...] = (0,) if kind == "max" else ()
    other = axes[1 - which]
    result = reduce(recording, kind, sums, other, None, True, *first)
    if keep:
        return result
    return reshape(recording, result, reduced_shape(value.shape, axes, False))


def _singular(
    recording: Trace, value: Tracer, ord: Any, axes: tuple[int, ...], keep: bool
) -> Tracer:
    """A norm of the singular values, which LAPACK finds in an external call."""
    rest = tuple(k for k in range(value.ndim) if k not in axes)
    values: Any = np.linalg.svdvals(permute(recording, value, (*rest, *axes)))
    kind = _SINGULAR[ord]
    first: tuple[Any, ...] = () if kind == "min" else (0,)
    result = reduce(recording, kind, values, -1, None, False, *first)
    if not keep:
        return result
    return reshape(recording, result, reduced_shape(value.shape, axes, True))


def vector_norm(
    recording: Trace, x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2
) -> Tracer:
    """``np.linalg.vector_norm``: of all elements, or along any number of axes."""
    value = Tracer(recording, traced(recording, x, "np.linalg.vector_norm"))
    ndim = value.ndim
    axes = tuple(range(ndim)) if axis is None else _axes(axis, ndim)
    rest = tuple(k for k in range(ndim) if k not in axes)
    flat = reshape(
        recording,
        permute(recording, value, (*axes, *rest)),
        (math.prod(value.shape[k] for k in axes), *(value.shape[k] for k in rest)),
    )
    result = norm(recording, flat, ord, 0)
    if not is_set(keepdims):
        return result
    return reshape(recording, result, reduced_shape(value.shape, axes, True))


def matrix_norm(recording: Trace, x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Tracer:
    """``np.linalg.matrix_norm``: of the last two axes."""
    return norm(recording, x, ord, (-2, -1), keepdims)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False, b: Any = None) -> Any:
    """The logarithm of the sum of exponentials, without overflow on the way.

    Inside a jitted function and outside: it consists of NumPy calls, and fuses like them.

    Args:
        x: floats of any shape; integers count as float64.
        axis: None for all axes, an integer or a tuple of integers.
        keepdims: leave reduced axes with length 1.
        b: factors of the exponentials, broadcast against ``x``; zero removes an element.

    Returns:
        ``log(sum(b * exp(x)))`` in the dtype of ``x`` and ``b`` together: -inf for nothing but
        -inf, inf where an inf is, NaN where a NaN is or where the sum is negative.

    Raises:
        ValueError: there is no element along the reduced axes.
    """
    if not isinstance(x, Tracer):
        x = np.asarray(x)
    if b is not None:
        b = b if isinstance(b, Tracer) else np.asarray(b)
        x = np.where(np.equal(b, 0), -np.inf, x)
    largest = np.max(x, axis=axis, keepdims=True)
    shift = np.where(np.less(np.absolute(largest), np.inf), largest, 0)
    with np.errstate(all="ignore"):
        terms = np.exp(np.subtract(x, shift))
        if b is not None:
            terms = np.multiply(b, terms)
        total = np.log(np.sum(terms, axis=axis, keepdims=keepdims))
    if not keepdims:
        shift = np.squeeze(shift, axis=axis) if axis is not None else np.reshape(shift, ())
    return np.add(total, shift)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.linalg.norm: norm,
    np.linalg.vector_norm: vector_norm,
    np.linalg.matrix_norm: matrix_norm,
}
