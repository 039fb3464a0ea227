"""``np.einsum`` as views, sums, products of elements and products of matrices.

Takes subscripts in either of NumPy's forms and operands of a traced call; gives equations. Operands
are contracted two at a time in the order that ``np.einsum_path`` proposes: over axes of both that
the result lacks with ``@``, in batches over axes it keeps. A repeated index of one operand is a
diagonal. Not here: the products themselves (``contractions``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import Value
from ..tracer import Trace, Tracer
from .contractions import array, matmul
from .operands import carried, no_options
from .standins import asked, stand_in

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""NumPy's letter for each integer of the form without a text."""

Labels = tuple[Any, ...]
"""One label per axis: a letter, or a number for an axis that ``...`` stands for."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A traced operand or partial result, and the labels of its axes."""

    array: Any
    labels: Labels

    def ordered(self, labels: Sequence[Any]) -> Any:
        """The array with its axes in this order; labels it lacks become axes of length 1."""
        own = tuple(label for label in labels if label in self.labels)
        array = self.array
        if own != self.labels:
            array = np.transpose(array, [self.labels.index(label) for label in own])
        missing = [k for k, label in enumerate(labels) if label not in self.labels]
        return np.expand_dims(array, tuple(missing)) if missing else array

    def extent(self, label: Any) -> int:
        """Length of the axis with this label."""
        return int(self.array.shape[self.labels.index(label)])


def einsum(recording: Trace, *operands: Any, out: Any = None, **kwargs: Any) -> Any:
    """``np.einsum``.

    Args:
        recording: of the traced function.
        *operands: subscripts and arrays, or arrays each followed by a list of integers.
        out: refused.
        **kwargs: ``optimize`` chooses the order of the products, as for NumPy; ``dtype`` and
            ``casting`` as for NumPy; ``order`` changes nothing, results are in C order.

    Raises:
        ShapeError, DtypeError: what NumPy refuses.
    """
    no_options("np.einsum", {"out": out})
    kwargs.pop("order", None)
    text, arrays = _in_letters(operands)
    values: list[Value] = [array(recording, operand)._value for operand in arrays]
    optimize = kwargs.pop("optimize", False)
    dtype = carried(_checked(text, values, kwargs), "np.einsum")
    inputs, output = _labels(text, [len(value.shape) for value in values])
    terms = []
    for value, labels in zip(values, inputs, strict=True):
        operand = Tracer(recording, value)
        converted = operand if value.dtype == dtype else operand.astype(dtype)
        terms.append(_diagonal(_Term(converted, labels)))
    for positions in _path(text, values, optimize):
        chosen = [terms.pop(k) for k in sorted(positions, reverse=True)][::-1]
        result = chosen[0]
        for k, term in enumerate(chosen[1:], 1):
            kept = {label for rest in (*chosen[k + 1 :], *terms) for label in rest.labels}
            result = _pair(recording, result, term, kept | set(output), dtype)
        terms.append(result)
    return _summed(terms[0], set(output), dtype).ordered(output)


def einsum_path(recording: Trace, *operands: Any, **kwargs: Any) -> Any:
    """``np.einsum_path``: it looks at shapes only."""
    text, arrays = _in_letters(operands)
    values = [array(recording, operand)._value for operand in arrays]
    return np.einsum_path(text, *(stand_in(v.shape, v.dtype) for v in values), **kwargs)


def _in_letters(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Subscripts as a text without blanks, and the arrays."""
    if operands and isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    arrays, subscripts = list(operands[0:-1:2]), list(operands[1::2])
    output = ""
    if len(operands) % 2:
        output = "->" + _letters(operands[-1])
    return ",".join(map(_letters, subscripts)) + output, arrays


def _letters(subscript: Sequence[Any]) -> str:
    return "".join("..." if entry is Ellipsis else _LETTERS[entry] for entry in subscript)


def _checked(text: str, values: Sequence[Any], options: dict[str, Any]) -> np.dtype:
    """The dtype of the result; NumPy's refusal of a call that it does not take.

    The lengths of axes matter only in being 0, 1 or equal, so NumPy is asked about short ones.
    """
    types = [(value.shape, value.dtype) for value in values]
    extents = sorted({n for shape, _ in types for n in shape if n > 1})
    short = {n: 2 + k for k, n in enumerate(extents)}

    def call(lengths: dict[int, int]) -> Any:
        arrays = [stand_in([lengths.get(n, n) for n in shape], dtype) for shape, dtype in types]
        return np.einsum(text, *arrays, **options)

    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        # a refusal is repeated below in the lengths that the user knows
        return np.asarray(call(short)).dtype
    return asked("np.einsum", types, lambda: np.asarray(call({})).dtype)


def _labels(text: str, ndims: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Labels of each operand and of the result."""
    given, arrow, output = text.partition("->")
    subscripts = given.split(",")
    inputs = []
    for subscript, ndim in zip(subscripts, ndims, strict=True):
        hidden = ndim - len(subscript.replace("...", ""))
        inputs.append(_expanded(subscript, hidden))
    widest = max((sum(isinstance(x, int) for x in labels) for labels in inputs), default=0)
    if arrow:
        return inputs, _expanded(output, widest)
    letters = given.replace("...", "").replace(",", "")
    once = tuple(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    return inputs, (*range(widest - 1, -1, -1), *once)


def _expanded(subscript: str, hidden: int) -> Labels:
    """Axes that ``...`` stands for are numbered from the last one, so that they align there."""
    before, dots, after = subscript.partition("...")
    return (*before, *(range(hidden - 1, -1, -1) if dots else ()), *after)


def _path(text: str, values: Sequence[Any], optimize: Any) -> list[tuple[int, ...]]:
    """Which terms are contracted together, step by step; results go to the end."""
    if len(values) < 2:
        return []
    if len(values) == 2:
        return [(0, 1)]
    arrays = [stand_in(value.shape, value.dtype) for value in values]
    given = isinstance(optimize, (list, tuple))
    found, _ = np.einsum_path(text, *arrays, optimize=optimize if given else "greedy")
    return [tuple(entry) for entry in found[1:]]


def _diagonal(term: _Term) -> _Term:
    """Every repeated label once: the diagonal of its two axes, as a view."""
    for label in dict.fromkeys(term.labels):
        while term.labels.count(label) > 1:
            first = term.labels.index(label)
            second = term.labels.index(label, first + 1)
            rest = [entry for k, entry in enumerate(term.labels) if k not in (first, second)]
            array: Any = np.diagonal(term.array, axis1=first, axis2=second)
            term = _Term(array, (*rest, label))
    return term


def _summed(term: _Term, kept: set[Any], dtype: np.dtype) -> _Term:
    """The sum over every axis that nobody needs, in the dtype of the result: of bools, ``or``."""
    axes = tuple(k for k, label in enumerate(term.labels) if label not in kept)
    if not axes:
        return term
    array: Any = np.sum(term.array, axis=axes, dtype=dtype)
    return _Term(array, tuple(label for label in term.labels if label in kept))


def _pair(recording: Trace, a: _Term, b: _Term, kept: set[Any], dtype: np.dtype) -> _Term:
    """The product of two terms, summed over what neither the result nor a later term needs."""
    a = _summed(a, kept | set(b.labels), dtype)
    b = _summed(b, kept | set(a.labels), dtype)
    both = [label for label in a.labels if label in b.labels]
    batch = [label for label in both if label in kept]
    summed = [label for label in both if label not in kept]
    left = [label for label in a.labels if label not in both]
    right = [label for label in b.labels if label not in both]
    if not summed or not (left or right):
        labels = (*batch, *left, *right, *summed)
        product: Any = np.multiply(a.ordered(labels), b.ordered(labels))
        return _summed(_Term(product, labels), kept, dtype)
    extents = {label: _together(a.extent(label), b.extent(label)) for label in summed}
    count = _count(extents.values())
    rows, columns = _widened(a, extents), _widened(b, extents)
    first = rows.ordered((*batch, *left, *summed))
    second = columns.ordered((*batch, *summed, *right))
    lead, width = len(batch), _count(a.extent(label) for label in left)
    height = _count(b.extent(label) for label in right)
    # without batches NumPy takes a vector as it is, and the result needs no other shape
    rows_shape = (*first.shape[:lead], width, count) if left or lead else (count,)
    columns_shape = (*second.shape[:lead], count, height) if right or lead else (count,)
    first, second = first.reshape(rows_shape), second.reshape(columns_shape)
    product = matmul(recording, first, second)
    shape = [*product.shape[:lead], *map(a.extent, left), *map(b.extent, right)]
    return _Term(product.reshape(shape), (*batch, *left, *right))


def _widened(term: _Term, extents: dict[Any, int]) -> _Term:
    """The term with axes of length 1 repeated to these lengths."""
    shape = tuple(
        extents.get(label, extent)
        for label, extent in zip(term.labels, term.array.shape, strict=True)
    )
    if shape == term.array.shape:
        return term
    return _Term(np.broadcast_to(term.array, shape), term.labels)


def _together(first: int, second: int) -> int:
    return second if first == 1 else first


def _count(extents: Any) -> int:
    total = 1
    for extent in extents:
        total *= extent
    return total


FUNCTIONS: dict[Any, Callable[..., Any]] = {np.einsum: einsum, np.einsum_path: einsum_path}
