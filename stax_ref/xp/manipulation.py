"""The standard's manipulation functions and its indexing functions.

Takes arrays; gives arrays of the same elements in other places. A jitted program returns a new
array, never a view. Not here: which of them run as jitted programs (``table``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .program import Array, standard

Axes = int | tuple[int, ...]


@standard
def broadcast_arrays(*arrays: Array) -> list[Array]:
    """The arrays, each in their common shape."""
    return list(np.broadcast_arrays(*arrays))


@standard
def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """The array in a shape it broadcasts to."""
    return np.broadcast_to(x, shape)


@standard
def concat(arrays: Sequence[Array], /, *, axis: int | None = 0) -> Array:
    """The arrays one after the other along an axis; None flattens them first."""
    return np.concatenate(arrays, axis=axis)


@standard
def expand_dims(x: Array, /, axis: int) -> Array:
    """The array with a new axis of length 1."""
    return np.expand_dims(x, axis)


@standard
def flip(x: Array, /, *, axis: Axes | None = None) -> Array:
    """The elements in reversed order along axes; None is all of them."""
    return np.flip(x, axis)


@standard
def moveaxis(x: Array, source: Axes, destination: Axes, /) -> Array:
    """The array with axes at new positions."""
    return np.moveaxis(x, source, destination)


@standard
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """The array with its axes in this order."""
    return np.transpose(x, axes)


def _array_of_repeats(x: Array, repeats: Any, /, **options: Any) -> bool:
    return isinstance(repeats, (np.ndarray, np.generic))


@functools.partial(standard, unless=_array_of_repeats)
def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Every element several times in a row."""
    if isinstance(repeats, np.ndarray) and repeats.dtype == np.uint64:
        repeats = repeats.astype(np.int64)  # np.repeat takes what casts safely to int64
    return np.repeat(x, repeats, axis=axis)


def _view(x: Array, /, shape: Any, *, copy: bool | None = None) -> bool:
    return copy is False


@functools.partial(standard, unless=_view)
def reshape(x: Array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Array:
    """The elements in C order in another shape."""
    if copy is False:
        return np.reshape(x, shape, copy=False)
    reshaped = np.reshape(x, shape)
    return np.copy(reshaped) if copy else reshaped


@standard
def roll(x: Array, /, shift: Axes, *, axis: Axes | None = None) -> Array:
    """The elements shifted along axes, those that fall off coming back at the other end."""
    return np.roll(x, shift, axis=axis)


@standard
def squeeze(x: Array, /, axis: Axes) -> Array:
    """The array without these axes of length 1."""
    return np.squeeze(x, axis=axis)


@standard
def stack(arrays: Sequence[Array], /, *, axis: int = 0) -> Array:
    """The arrays side by side along a new axis."""
    return np.stack(arrays, axis=axis)


@standard
def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """The whole array several times along each axis."""
    return np.tile(x, repetitions)


@standard
def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts of the array along an axis, as a tuple."""
    return tuple(np.unstack(x, axis=axis))


@standard
def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """The parts at these positions of an axis; the axis may be left out of a vector only."""
    if axis is None and x.ndim != 1:
        raise ValueError("take needs an axis for an array of more than one dimension")
    return np.take(x, indices, axis=axis)


@standard
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Elements at positions along an axis that differ from place to place."""
    return np.take_along_axis(x, indices, axis=axis)
