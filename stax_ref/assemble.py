"""Values assembled from pieces: concatenation, assignment, gathering, counting.

Takes equations; gives an ``Expression`` per value, like ``compose``. Every piece is evaluated under
a guard, so that an address outside it is never formed (seed 002: predicates and values of padding);
a guard that the bounds of an index decide is no code at all. Not here: views of one array
(``compose``), which values become buffers (``lower``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .compose import Builder, Expression, Indices, broadcast_index
from .graph import Eqn, Operand, Value
from .index import ZERO, c_strides, constant, digits, flatten
from .node import Instr


def concatenate(eqn: Eqn) -> Expression:
    """Arrays one after another along an axis."""
    axis, dtype = eqn.param("axis"), eqn.out.dtype
    pieces: list[tuple[int, int, Operand]] = []
    start = 0
    for piece in eqn.args:
        extent = piece.shape[axis] if isinstance(piece, Value) else 1
        if extent:
            pieces.append((start, start + extent, piece))
        start += extent
    if not pieces:  # nothing at all: a loop that never runs still has a body
        pieces.append((0, 0, eqn.args[0]))

    def emit(builder: Builder, index: Indices) -> int:
        def rest(number: int) -> int:
            first, stop, piece = pieces[number]
            here = builder.within(index[axis], first, stop)
            inside = (*index[:axis], index[axis] + -first, *index[axis + 1 :])

            def taken() -> int:
                return builder.operand(piece, inside)

            if number == len(pieces) - 1:
                return taken()
            return builder.choose(here, taken, lambda: rest(number + 1), dtype)

        return rest(0)

    return Expression(eqn.out.shape, dtype, emit, None, eqn.where)


def put(eqn: Eqn) -> Expression:
    """An array with a part of it replaced: ``args`` are the whole and the new part.

    The part is a view (``view``, one of :data:`compose.VIEWS`, with its parameters): inside it the
    new values stand, elsewhere the old ones.
    """
    whole, part = eqn.args
    inverse = _INVERSE[eqn.param("view")]
    shape = eqn.param("part")

    def emit(builder: Builder, index: Indices) -> int:
        inside, place = inverse(builder, eqn, shape, index)
        return builder.choose(
            inside,
            lambda: builder.operand(part, place),
            lambda: builder.operand(whole, index),
            eqn.out.dtype,
        )

    return Expression(eqn.out.shape, eqn.out.dtype, emit, None, eqn.where)


Inverse = tuple[int | bool, Indices]


def _getitem_inverse(builder: Builder, eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Inverse:
    """Where an element of the whole lies in a slice of it, and whether it does."""
    inside: int | bool = True
    place = []
    remaining = iter(index)
    for entry in eqn.param("index"):
        if entry is None:
            place.append(ZERO)
            continue
        at = next(remaining)
        if not isinstance(entry, tuple):
            inside = builder.both(inside, builder.within(at, entry, entry + 1))
            continue
        start, step, count = entry
        first, last = sorted((start, start + step * (count - 1)))
        inside = builder.both(inside, builder.within(at, first, last + 1 if count else first))
        inside = builder.both(inside, builder.divisible(at + -start, abs(step)))
        distance = at + -start if step > 0 else (at + -start) * -1
        place.append(distance // abs(step))
    return inside, tuple(place)


def _transpose_inverse(
    builder: Builder, eqn: Eqn, shape: tuple[int, ...], index: Indices
) -> Inverse:
    return True, tuple(index[axis] for axis in eqn.param("axes"))


def _reshape_inverse(builder: Builder, eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Inverse:
    return True, digits(flatten(index, c_strides(eqn.out.shape)), shape)


def _diagonal_inverse(
    builder: Builder, eqn: Eqn, shape: tuple[int, ...], index: Indices
) -> Inverse:
    """On the diagonal the column is ``offset`` beyond the row."""
    row, column, offset = eqn.param("axes")
    here = index[column] - index[row]
    inside = builder.within(here, offset, offset + 1)
    rest = tuple(entry for k, entry in enumerate(index) if k not in (row, column))
    return inside, (*rest, index[row] + min(offset, 0))


_INVERSE: dict[str, Callable[[Builder, Eqn, tuple[int, ...], Indices], Inverse]] = {
    "getitem": _getitem_inverse,
    "transpose": _transpose_inverse,
    "reshape": _reshape_inverse,
    "diagonal": _diagonal_inverse,
}


def gather(eqn: Eqn) -> Expression:
    """Elements at runtime positions: ``args`` are the source and one index array per axis given.

    The index arrays are broadcast together; their axes stand in the result at ``place`` and
    replace the axes ``axes`` of the source.
    """
    source, *arrays = eqn.args
    axes, place = eqn.param("axes"), eqn.param("place")
    assert isinstance(source, Value)
    shared = np.broadcast_shapes(*(a.shape if isinstance(a, Value) else () for a in arrays))

    def emit(builder: Builder, index: Indices) -> int:
        at = index[place : place + len(shared)]
        kept = iter((*index[:place], *index[place + len(shared) :]))
        positions = {}
        for axis, array in zip(axes, arrays, strict=True):
            found = builder.operand(array, broadcast_index(_shape(array), at))
            positions[axis] = builder.position(found, source.shape[axis])
        where = tuple(
            positions[k] if k in positions else next(kept) for k in range(len(source.shape))
        )
        return builder.value(source.name, where)

    return Expression(eqn.out.shape, eqn.out.dtype, emit, None, eqn.where)


def _shape(operand: Operand) -> tuple[int, ...]:
    return operand.shape if isinstance(operand, Value) else ()


def iota(eqn: Eqn) -> Expression:
    """``start + step * i`` along one axis, in the dtype of the result."""
    start, step = eqn.param("start"), eqn.param("step")
    dtype = eqn.out.dtype

    def emit(builder: Builder, index: Indices) -> int:
        value = builder.index_value(index[0] * step + constant(start))
        if builder.instrs[value].dtype == dtype:
            return value
        return builder.emit(Instr("cast", (value,), dtype))

    return Expression(eqn.out.shape, dtype, emit, None, eqn.where)


ASSEMBLED: dict[str, Callable[[Eqn], Expression]] = {
    "concatenate": concatenate,
    "put": put,
    "gather": gather,
    "iota": iota,
}
