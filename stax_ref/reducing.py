"""reducing: the nodes of reductions, and the reductions that consist of several.

Takes one reduction equation of a graph; gives its value to the lowering, with the nodes that
compute it. Holds the planned order of every reduction (semantics §3), the dtype it accumulates in,
and how mean, variance and argmax are made of plain reductions. Values in between have a dot in
their names, which no variable of the user has. Not here: materialisation of other values
(``lower``), partial results as data (``partials``).
"""

from __future__ import annotations

import math

import numpy as np

from .compose import (
    UNROLL,
    Builder,
    Expression,
    Indices,
    combined,
    divided,
    filled,
    loading,
    loop_symbols,
    pointwise,
    unrolled,
)
from .dtypes import BOOL, I32, I64
from .errors import Where
from .graph import Eqn, Literal, Value, literal
from .index import ZERO, c_strides, flatten
from .lowering import Lowering
from .node import Access, Body, Instr
from .ops import REDUCING, REDUCTIONS, accumulator_dtype, planned_order

_ON_BOOLS = {"sum": "max", "or": "max", "fmax": "max", "prod": "min", "and": "min", "fmin": "min"}
"""The reduction of booleans that another one is."""

_AVERAGES = frozenset({"mean", "var", "std"})

_EXTREMES = {"argmax": "max", "argmin": "min", "nanargmax": "fmax", "nanargmin": "fmin"}
"""Equations that give the place of an extreme, and the reduction that finds its value."""

EQUATIONS = frozenset(REDUCING) | _AVERAGES | frozenset(_EXTREMES)
"""Names of the equations that are lowered here."""


def passes(op: str) -> int:
    """How often an equation of this name reads its operand."""
    return 2 if op in ("var", "std") or op in _EXTREMES else 1


def reduction(lowering: Lowering, eqn: Eqn) -> None:
    """Lower one equation whose name is in :data:`EQUATIONS`."""
    (source,) = eqn.args
    assert isinstance(source, Value)
    out, where = eqn.out, eqn.where
    axes = _axes(source, eqn.param("axis"))
    if eqn.op in _EXTREMES:
        _place(lowering, eqn, source, axes)
        return
    source = _cast(lowering, source, out.dtype, where)
    wide = accumulator_dtype(eqn.op, out.dtype)
    source = _cast(lowering, source, wide, where)
    initial = dict(eqn.params).get("initial")
    total = out
    nonzero = "nonzero" in dict(eqn.params)
    if wide != out.dtype or initial is not None or nonzero:
        total = Value(f"{out.name}.{eqn.op}", out.shape, wide)
    if eqn.op == "mean":
        _mean(lowering, source, axes, total, where)
    elif eqn.op in ("var", "std"):
        _variance(lowering, eqn, source, axes, total)
    else:
        _one(lowering, REDUCING[eqn.op], source, axes, total, where)
    if total is not out:
        _finished(lowering, eqn, total, initial)


def _axes(source: Value, axis: tuple[int, ...] | int | None) -> tuple[int, ...]:
    """The reduced axes; None means all of them."""
    if axis is None:
        return tuple(range(len(source.shape)))
    return axis if isinstance(axis, tuple) else (axis,)


def _kept(source: Value, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The operand's shape with length 1 along reduced axes."""
    return tuple(1 if k in axes else extent for k, extent in enumerate(source.shape))


def _cast(lowering: Lowering, source: Value, dtype: np.dtype, where: Where | None) -> Value:
    """A reduction in another dtype than its operand's is one of the operand cast first."""
    if source.dtype == dtype:
        return source
    cast = Value(f"{source.name}.as_{dtype}", source.shape, dtype)
    lowering.values[cast.name] = pointwise(Eqn(cast, "cast", (source,), (), where))
    return cast


def _finished(lowering: Lowering, eqn: Eqn, total: Value, initial: Literal | None) -> None:
    """The last steps: join the initial value, round to the dtype of the result, refuse a zero."""
    kind = REDUCTIONS[_kind(REDUCING[eqn.op], total.dtype)] if initial is not None else None

    def emit(builder: Builder, index: Indices) -> int:
        result = builder.value(total.name, index)
        if kind is not None and initial is not None:
            first = builder.constant(initial.value, total.dtype)
            result = combined(builder, kind.combine, first, result, total.dtype)
        if total.dtype != eqn.out.dtype:
            result = builder.apply("cast", [result], eqn.out.dtype)
        if "nonzero" in dict(eqn.params):  # 1 is no position on an axis of length 1: that fails
            zero = builder.constant(0, eqn.out.dtype)
            wrong = builder.apply("equal", [result, zero], BOOL)
            builder.position(builder.apply("cast", [wrong], I32), 1)
        return result

    out = eqn.out
    lowering.values[out.name] = Expression(out.shape, out.dtype, emit, None, eqn.where)


def _kind(kind: str, dtype: np.dtype) -> str:
    return _ON_BOOLS.get(kind, kind) if dtype == BOOL else kind


def _one(
    lowering: Lowering,
    kind: str,
    source: Value,
    axes: tuple[int, ...],
    out: Value,
    where: Where | None,
) -> None:
    """One plain reduction: a constant, an expression, or a node with a buffer of its own."""
    count = math.prod(source.shape[k] for k in axes)
    dtype = out.dtype
    kind = _kind(kind, dtype)
    if count == 0:
        nothing = REDUCTIONS[kind].identity(dtype) + dtype.type(0)
        lowering.values[out.name] = filled(out.shape, literal(nothing, dtype))
        return
    seed = lowering.config.seed
    order = planned_order(dtype, len(source.shape) - 1 in axes, lowering.config.strict)
    if count == 1 or (count <= UNROLL and math.prod(out.shape) > 1 and not seed):
        lowering.values[out.name] = unrolled(kind, source, axes, out, order.form, where)
        return
    known = lowering.reductions.setdefault((kind, source.name, axes, dtype), out)
    if known is not out:
        lowering.values[out.name] = _same(known, out, axes)
        return
    reduced = [extent if k in axes else 1 for k, extent in enumerate(source.shape)]
    outer, outer_index = loop_symbols("i", _kept(source, axes))
    inner, inner_index = loop_symbols("r", reduced)
    full = tuple(a + b for a, b in zip(outer_index, inner_index, strict=True))
    buffer = lowering.new_buffer(out.name, out.shape, dtype)
    builder = Builder(lowering.values)
    element = builder.value(source.name, full)
    total = builder.emit(Instr("reduce", (element,), dtype, kind=kind))
    keeps = len(out.shape) == len(source.shape)
    index = outer_index
    if not keeps:
        index = tuple(outer_index[k] for k in range(len(full)) if k not in axes)
    builder.emit(Instr("store", (total,), dtype, Access(buffer.name, index)))
    body = Body(tuple(builder.instrs))
    lowering.add_node(buffer, "reduction", outer, inner, body, where, order=order)
    lowering.values[out.name] = loading(buffer)


def _same(known: Value, out: Value, axes: tuple[int, ...]) -> Expression:
    """A reduction that an earlier one computes already, perhaps with other kept axes."""

    def emit(builder: Builder, index: Indices) -> int:
        if len(known.shape) > len(out.shape):
            rest = iter(index)
            index = tuple(ZERO if k in axes else next(rest) for k in range(len(known.shape)))
        elif len(known.shape) < len(out.shape):
            index = tuple(entry for k, entry in enumerate(index) if k not in axes)
        return builder.value(known.name, index)

    return Expression(out.shape, out.dtype, emit)


# means and variances ------------------------------------------------------------------------------
def _mean(
    lowering: Lowering,
    source: Value,
    axes: tuple[int, ...],
    out: Value,
    where: Where | None,
) -> None:
    """``out = sum(source) / n`` with one rounding for the division."""
    count = math.prod(source.shape[k] for k in axes)
    total = Value(f"{out.name}.sum", out.shape, out.dtype)
    _one(lowering, "sum", source, axes, total, where)
    lowering.values[out.name] = divided(total, count, where)


def _variance(
    lowering: Lowering, eqn: Eqn, source: Value, axes: tuple[int, ...], out: Value
) -> None:
    """Two passes (semantics 6): the mean, then the mean of squared deviations."""
    name, dtype, where = out.name, out.dtype, eqn.where
    mean = Value(f"{name}.mean", _kept(source, axes), dtype)
    _mean(lowering, source, axes, mean, where)
    square = Value(f"{name}.square", source.shape, dtype)

    def squared(builder: Builder, index: Indices) -> int:
        away = builder.apply(
            "subtract", [builder.value(source.name, index), builder.operand(mean, index)], dtype
        )
        return builder.apply("multiply", [away, away], dtype)

    lowering.values[square.name] = Expression(source.shape, dtype, squared, None, where)
    total = Value(f"{name}.sum", out.shape, dtype)
    _one(lowering, "sum", square, axes, total, where)
    count = math.prod(source.shape[k] for k in axes)
    variance = divided(total, max(count - eqn.param("ddof"), 0), where)
    if eqn.op == "var":
        lowering.values[name] = variance
        return
    lowering.values[name] = Expression(
        out.shape,
        dtype,
        lambda builder, index: builder.apply("sqrt", [variance.emit(builder, index)], dtype),
        None,
        where,
    )


# places -------------------------------------------------------------------------------------------
def _place(lowering: Lowering, eqn: Eqn, source: Value, axes: tuple[int, ...]) -> None:
    """Two passes: the extreme, then the smallest position of an element that is it.

    Positions number the reduced elements in C order of the operand. Where none is found, all were
    NaN: the position beyond the last one fails the call, as NumPy's ``nanargmax`` does.
    """
    out, where = eqn.out, eqn.where
    extents = tuple(source.shape[k] for k in axes)
    count = math.prod(extents)
    if count == 0:
        lowering.values[out.name] = filled(out.shape, literal(0, out.dtype))
        return
    kind = _EXTREMES[eqn.op]
    extreme = Value(f"{out.name}.{kind}", _kept(source, axes), source.dtype)
    _one(lowering, kind, source, axes, extreme, where)
    narrow = I32 if count < 2**31 else I64

    def positions(builder: Builder, index: Indices) -> int:
        inside = tuple(index[k] for k in axes)
        here = builder.index_value(flatten(inside, c_strides(extents)))
        if builder.instrs[here].dtype != narrow:
            here = builder.apply("cast", [here], narrow)
        found = _found(builder, kind, builder.value(source.name, index), extreme, index)
        return builder.apply("where", [found, here, builder.constant(count, narrow)], narrow)

    place = Value(f"{out.name}.place", source.shape, narrow)
    lowering.values[place.name] = Expression(source.shape, narrow, positions, None, where)
    first = Value(f"{out.name}.first", out.shape, narrow)
    _one(lowering, "min", place, axes, first, where)

    def checked(builder: Builder, index: Indices) -> int:
        value = builder.value(first.name, index)
        if kind in ("fmax", "fmin") and source.dtype.kind == "f":
            value = builder.index_value(builder.position(value, count))
        return builder.apply("cast", [value], out.dtype)

    lowering.values[out.name] = Expression(out.shape, out.dtype, checked, None, where)


def _found(builder: Builder, kind: str, element: int, extreme: Value, index: Indices) -> int:
    """Whether an element is the extreme that was found.

    A NaN is, for ``max`` and ``min``: they give NaN then, which equals nothing. For ``fmax`` and
    ``fmin`` NumPy takes NaN for the infinity that never wins, so it is if nothing else was there.
    """
    dtype = extreme.dtype
    value = builder.operand(extreme, index)
    same = builder.apply("equal", [element, value], BOOL)
    if dtype.kind != "f":
        return same
    nan = builder.apply("not_equal", [element, element], BOOL)
    if kind in ("fmax", "fmin"):
        worst = builder.constant(REDUCTIONS[kind[1:]].identity(dtype), dtype)
        lost = builder.apply("equal", [value, worst], BOOL)
        nan = builder.apply("logical_and", [nan, lost], BOOL)
    return builder.apply("logical_or", [same, nan], BOOL)
