"""The standard's searching, sorting and set functions.

Takes arrays; gives positions, sorted arrays or sets. Not here: which of them run as jitted programs
(``table``); those whose shape depends on values cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Array, standard

Axes = int | tuple[int, ...]


@standard
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The position of the first largest element."""
    return np.argmax(x, axis=axis, keepdims=keepdims)


@standard
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """The position of the first smallest element."""
    return np.argmin(x, axis=axis, keepdims=keepdims)


@standard
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The positions that sort the array; equal elements keep their order if ``stable``."""
    if not descending:
        return np.argsort(x, axis=axis, stable=stable)
    # Sorting the reversed array and reversing again keeps equal elements in order.
    backwards = np.argsort(np.flip(x, axis), axis=axis, stable=stable)
    return (x.shape[axis] - 1) - np.flip(backwards, axis)


@standard
def count_nonzero(x: Array, /, *, axis: Axes | None = None, keepdims: bool = False) -> Array:
    """The number of elements that are not zero."""
    return np.count_nonzero(x, axis=axis, keepdims=keepdims)


@standard
def isin(x1: Array, x2: Array, /, *, invert: bool = False) -> Array:
    """True for the elements of ``x1`` that are in ``x2`` (that are not, with ``invert``)."""
    return np.isin(x1, x2, invert=invert)


@standard
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """The positions of the elements that are not zero, one array per axis."""
    return np.nonzero(x)


@standard
def searchsorted(
    x1: Array, x2: Array, /, *, side: Any = "left", sorter: Array | None = None
) -> Array:
    """Where each element of ``x2`` would stand in the sorted vector ``x1``."""
    return np.searchsorted(x1, x2, side=side, sorter=sorter)


@standard
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along an axis."""
    ordered = np.sort(x, axis=axis, stable=stable)
    return np.flip(ordered, axis) if descending else ordered


@standard
def unique_all(x: Array, /) -> Any:
    """Distinct values, where they first stand, which one each element is, how often they occur."""
    return np.unique_all(x)


@standard
def unique_counts(x: Array, /) -> Any:
    """Distinct values and how often they occur."""
    return np.unique_counts(x)


@standard
def unique_inverse(x: Array, /) -> Any:
    """Distinct values and which one each element is."""
    return np.unique_inverse(x)


@standard
def unique_values(x: Array, /) -> Array:
    """Distinct values."""
    return np.unique_values(x)


@standard
def where(condition: Array, x1: Array, x2: Array, /) -> Array:
    """An element of ``x1`` where the condition holds, of ``x2`` elsewhere."""
    return np.where(condition, x1, x2)
