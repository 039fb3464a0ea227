"""The standard's statistical and utility functions: reductions, cumulative functions, differences.

Takes one array; gives an array with the reduced axes gone (or of length 1 with ``keepdims``). Not
here: which of them run as jitted programs (``table``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, standard

Axes = int | tuple[int, ...]


@standard
def all(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """True where no element is zero."""
    return np.all(x, axis=axis, keepdims=keepdims)


@standard
def any(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """True where some element is not zero."""
    return np.any(x, axis=axis, keepdims=keepdims)


@standard
def cumulative_prod(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Products of the elements up to each place; ``include_initial`` begins with 1."""
    return np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


@standard
def cumulative_sum(
    x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Sums of the elements up to each place; ``include_initial`` begins with 0."""
    return np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


@standard
def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Differences of neighbours along an axis, ``n`` times."""
    before = np._NoValue if prepend is None else prepend
    after = np._NoValue if append is None else append
    return np.diff(x, n=n, axis=axis, prepend=before, append=after)


@standard
def max(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """The largest element; NaN where there is one."""
    return np.max(x, axis=axis, keepdims=keepdims)


@standard
def mean(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """The arithmetic mean."""
    return np.mean(x, axis=axis, keepdims=keepdims)


@standard
def min(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """The smallest element; NaN where there is one."""
    return np.min(x, axis=axis, keepdims=keepdims)


@standard
def prod(
    x: Array, /, *, axis: Axes | None = None, dtype: Any = None, keepdims: bool = False
) -> Array:
    """The product, in NumPy's dtype for it unless ``dtype`` is given."""
    return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)


@standard
def std(
    x: Array, /, *, axis: Axes | None = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The standard deviation; ``correction`` is subtracted from the number of elements."""
    return np.std(x, axis=axis, ddof=correction, keepdims=keepdims)


@standard
def sum(
    x: Array, /, *, axis: Axes | None = None, dtype: Any = None, keepdims: bool = False
) -> Array:
    """The sum, in NumPy's dtype for it unless ``dtype`` is given."""
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


@standard
def var(
    x: Array, /, *, axis: Axes | None = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The variance; ``correction`` is subtracted from the number of elements."""
    return np.var(x, axis=axis, ddof=correction, keepdims=keepdims)
