"""Values as functions of an index: how pointwise code composes before anything is stored.

Takes equations; gives an ``Expression`` per value, which emits scalar instructions into a
``Builder`` (seed §6.3). Views rewrite indices and never copy; short reductions unroll in their
planned order. Not here: which values become buffers (``lower``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from .composites import COMPARISONS, COMPOSITES, mixed_comparison
from .dtypes import BOOL, F16, F32, I32, I64
from .errors import Where
from .graph import Eqn, Literal, Operand, Value, literal
from .index import ZERO, Index, Symbol, c_strides, constant, digits, flatten, variable
from .node import Access, Buffer, Instr
from .ops import FLAGGED, REDUCTIONS

Indices = tuple[Index, ...]

Emission = Callable[[], int]

UNROLL = 8
"""Reductions over at most this many elements become pointwise; the planned tree is the same."""

_RENAMED = {"true_divide": "divide", "float_power": "power", "fabs": "absolute"}
_IDENTITIES = frozenset({"positive", "conjugate"})
_OF_INTEGERS = frozenset({"floor", "ceil", "trunc"})
"""Whole numbers already, so these give their operand."""


class Builder:
    """Builds one body: instructions are joined when equal, values are expanded once per index."""

    def __init__(self, values: dict[str, Expression]) -> None:
        self._values = values
        self._known: dict[Instr, int] = {}
        self._expanded: dict[tuple[str, Indices, int | None], int] = {}
        self._positions: dict[tuple[int, int, int | None], Symbol] = {}
        self.guard: int | None = None
        self.instrs: list[Instr] = []

    def emit(self, instr: Instr) -> int:
        """Append an instruction, or find the equal one."""
        position = self._known.get(instr)
        if position is None:
            position = self._known[instr] = len(self.instrs)
            self.instrs.append(instr)
        return position

    def value(self, name: str, index: Indices) -> int:
        """The value of this name at an index."""
        key = (name, index, self.guard)
        position = self._expanded.get(key)
        if position is None:
            position = self._expanded[key] = self._values[name].emit(self, index)
        return position

    def operand(self, operand: Operand, index: Indices) -> int:
        """An operand of an elementwise equation, broadcast against an index."""
        if isinstance(operand, Literal):
            return self.emit(Instr("constant", (), operand.dtype, value=operand))
        return self.value(operand.name, broadcast_index(operand.shape, index))

    def apply(self, op: str, args: Sequence[int], dtype: np.dtype) -> int:
        """One scalar operation; where a guard is false it must not raise a flag."""
        if self.guard is not None and op in FLAGGED and dtype.kind in "iu":
            safe = self.emit(Instr("where", (self.guard, args[1], self.constant(1, dtype)), dtype))
            args = (args[0], safe)
        return self.emit(Instr(op, tuple(args), dtype))

    def load(self, access: Access, dtype: np.dtype) -> int:
        """An element, under the guard in force."""
        guard = () if self.guard is None else (self.guard,)
        return self.emit(Instr("load", guard, dtype, access))

    @contextmanager
    def under(self, condition: int | bool) -> Iterator[None]:
        """What is emitted inside is used only where a condition holds (and those around it)."""
        outer = self.guard
        if not isinstance(condition, bool):
            if outer is None or outer == condition:
                self.guard = condition
            else:
                self.guard = self.apply("logical_and", [outer, condition], BOOL)
        yield
        self.guard = outer

    def index_value(self, index: Index) -> int:
        """An index expression as a value: int32 where it fits, so that lanes stay narrow."""
        low, high = index.bounds()
        dtype = I32 if -(2**31) <= low and high < 2**31 else I64
        if not index.terms:
            return self.constant(index.constant, dtype)
        return self.emit(Instr("index", (), dtype, index=index))

    def within(self, index: Index, start: int, stop: int) -> int | bool:
        """``start <= index < stop`` as a value, or as a bool where the bounds decide it."""
        low, high = index.bounds()
        if start <= low and high < stop:
            return True
        if high < start or low >= stop or start >= stop:
            return False
        found: int | bool = True
        if low < start:
            found = self._compared("greater_equal", index, start)
        if high >= stop:
            found = self.both(found, self._compared("less", index, stop))
        return found

    def divisible(self, index: Index, divisor: int) -> int | bool:
        """``index % divisor == 0`` as a value, or as a bool where the form decides it."""
        rest = index % divisor
        if not rest.terms:
            return rest.constant == 0
        return self._compared("equal", rest, 0)

    def both(self, a: int | bool, b: int | bool) -> int | bool:
        """Two conditions together."""
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        return self.emit(Instr("logical_and", (a, b), BOOL))

    def _compared(self, op: str, index: Index, limit: int) -> int:
        value = self.index_value(index)
        dtype = self.instrs[value].dtype
        return self.emit(Instr(op, (value, self.constant(limit, dtype)), BOOL))

    def choose(self, condition: int | bool, a: Emission, b: Emission, dtype: np.dtype) -> int:
        """``a`` where the condition holds, ``b`` elsewhere; each is evaluated only there."""
        if isinstance(condition, bool):
            return a() if condition else b()
        with self.under(condition):
            first = a()
        negated = self.emit(Instr("logical_not", (condition,), BOOL))
        with self.under(negated):
            second = b()
        return self.emit(Instr("where", (condition, first, second), dtype))

    def position(self, value: int, extent: int) -> Index:
        """A runtime value as an index into an axis of this extent."""
        key = (value, extent, self.guard)
        symbol = self._positions.get(key)
        if symbol is None:
            symbol = self._positions[key] = Symbol(f"p{len(self._positions)}", extent)
            guard = () if self.guard is None else (self.guard,)
            self.emit(Instr("position", (value, *guard), I64, symbol=symbol))
        return variable(symbol)

    def constant(self, value: object, dtype: np.dtype) -> int:
        """A constant."""
        return self.emit(Instr("constant", (), dtype, value=literal(value, dtype)))


@dataclass(frozen=True, slots=True)
class Expression:
    """A value as a function of its index."""

    shape: tuple[int, ...]
    dtype: np.dtype
    emit: Callable[[Builder, Indices], int]
    buffer: str | None = None
    where: Where | None = None


def broadcast_index(shape: tuple[int, ...], index: Indices) -> Indices:
    """The index of an operand of this shape inside a result with this index (NumPy's rule)."""
    if not shape:
        return ()
    tail = index[len(index) - len(shape) :]
    return tuple(ZERO if extent == 1 else entry for extent, entry in zip(shape, tail, strict=True))


def loop_symbols(prefix: str, shape: Sequence[int]) -> tuple[list[Symbol], Indices]:
    """One loop symbol per axis longer than 1, and the index made of them."""
    symbols: list[Symbol] = []
    index: list[Index] = []
    for extent in shape:
        if extent == 1:
            index.append(ZERO)
            continue
        symbols.append(Symbol(f"{prefix}{len(symbols)}", extent))
        index.append(variable(symbols[-1]))
    return symbols, tuple(index)


def loading(buffer: Buffer) -> Expression:
    """The value that is an element of a buffer."""

    def emit(builder: Builder, index: Indices) -> int:
        return builder.load(Access(buffer.name, index), buffer.dtype)

    return Expression(buffer.shape, buffer.dtype, emit, buffer.name)


def filled(shape: tuple[int, ...], value: Literal) -> Expression:
    """The value that is one constant everywhere."""
    return Expression(
        shape, value.dtype, lambda b, _: b.emit(Instr("constant", (), value.dtype, value=value))
    )


def pointwise(eqn: Eqn) -> Expression:
    """The value of an elementwise equation, in the scalar operations of the table."""
    dtype, op = eqn.out.dtype, _RENAMED.get(eqn.op, eqn.op)

    def emit(builder: Builder, index: Indices) -> int:
        args = [builder.operand(a, index) for a in eqn.args]
        have = eqn.args[0].dtype
        if op in _IDENTITIES or (op in _OF_INTEGERS and have.kind != "f"):
            return args[0]
        if op in ("isnan", "isinf", "isfinite") and have.kind != "f":
            return builder.constant(op == "isfinite", dtype)
        if op in COMPARISONS and have != eqn.args[1].dtype:
            return mixed_comparison(builder, op, args, [a.dtype for a in eqn.args])
        if op in COMPOSITES:
            return COMPOSITES[op](builder, args, dtype)
        if op == "power" and len(args) == 1:
            return _power(builder, args[0], eqn.param("exponent"), dtype)
        if have.kind == "b":
            if op == "absolute":
                return args[0]
            return builder.apply(_BOOL_FORM.get(op, op), args, dtype)
        return builder.apply(op, args, dtype)

    return Expression(eqn.out.shape, dtype, emit, None, eqn.where)


_BOOL_FORM = {
    "add": "logical_or",
    "multiply": "logical_and",
    "maximum": "logical_or",
    "minimum": "logical_and",
    "fmax": "logical_or",
    "fmin": "logical_and",
    "not_equal": "logical_xor",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
    "invert": "logical_not",
}


def _power(builder: Builder, base: int, exponent: int, dtype: np.dtype) -> int:
    """Repeated squaring, low bit first; a negative exponent divides 1 by the power.

    float16 is multiplied in float32 and rounded once.
    """
    if dtype == F16:
        wide = _power(builder, builder.apply("cast", [base], F32), exponent, F32)
        return builder.apply("cast", [wide], F16)
    result: int | None = None
    remaining = abs(exponent)
    while remaining:
        if remaining & 1:
            result = base if result is None else builder.apply("multiply", [result, base], dtype)
        remaining >>= 1
        if remaining:
            base = builder.apply("multiply", [base, base], dtype)
    if result is None:
        return builder.constant(1, dtype)
    if exponent < 0:
        return builder.apply("divide", [builder.constant(1, dtype), result], dtype)
    return result


def divided(total: Value, count: float, where: Where | None) -> Expression:
    """A sum divided by a number: the last step of a mean (semantics 6)."""

    def emit(builder: Builder, index: Indices) -> int:
        divisor = builder.constant(count, total.dtype)
        return builder.apply("divide", [builder.value(total.name, index), divisor], total.dtype)

    return Expression(total.shape, total.dtype, emit, None, where)


def combined(builder: Builder, op: str, a: int, b: int, dtype: np.dtype) -> int:
    """Two partial results of a reduction joined by its combining operation."""
    if dtype.kind == "b":
        op = _BOOL_FORM.get(op, op)
    return builder.apply(op, [a, b], dtype)


def unrolled(
    kind: str, source: Value, axes: tuple[int, ...], out: Value, form: str, where: Where | None
) -> Expression:
    """A short reduction as one expression, in the planned order: lanes hold one element each."""
    combine = REDUCTIONS[kind].combine
    reduced = [source.shape[k] for k in axes]
    keeps = len(out.shape) == len(source.shape)

    def emit(builder: Builder, index: Indices) -> int:
        lanes: list[int] = []
        for position in range(math.prod(reduced)):
            inside = iter(digits(constant(position), reduced))
            outside = iter(index)
            full: list[Index] = []
            for k in range(len(source.shape)):
                if k not in axes:
                    full.append(next(outside))
                    continue
                full.append(next(inside))
                if keeps:
                    next(outside)
            lanes.append(builder.value(source.name, tuple(full)))
        if form != "lanes":
            total = lanes[0]
            for lane in lanes[1:]:
                total = combined(builder, combine, total, lane, out.dtype)
            return total
        width = UNROLL
        while width > 1:
            width //= 2
            for k in range(width, min(2 * width, len(lanes))):
                lanes[k - width] = combined(builder, combine, lanes[k - width], lanes[k], out.dtype)
        return lanes[0]

    return Expression(out.shape, out.dtype, emit, None, where)


def view(eqn: Eqn) -> Expression:
    """A view: its operand at a rewritten index."""
    (source,) = eqn.args
    if isinstance(source, Literal):
        return filled(eqn.out.shape, source)

    def emit(builder: Builder, index: Indices) -> int:
        return builder.value(source.name, VIEWS[eqn.op](eqn, source.shape, index))

    return Expression(eqn.out.shape, eqn.out.dtype, emit, None, eqn.where)


def _getitem_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    """Integers are fixed, slices are ``start + step * i``, a new axis reads nothing."""
    remaining = iter(index)
    source: list[Index] = []
    for entry in eqn.param("index"):
        if entry is None:
            next(remaining)
        elif isinstance(entry, tuple):
            start, step, _ = entry
            source.append(next(remaining) * step + start)
        else:
            source.append(constant(entry))
    return tuple(source)


def _transpose_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    source = [ZERO] * len(shape)
    for position, axis in enumerate(eqn.param("axes")):
        source[axis] = index[position]
    return tuple(source)


def _reshape_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    return digits(flatten(index, c_strides(eqn.out.shape)), shape)


def _broadcast_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    return broadcast_index(shape, index)


def _roll_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    return tuple(
        (entry + -shift) % extent if shift else entry
        for entry, shift, extent in zip(index, eqn.param("shifts"), shape, strict=True)
    )


def _repeat_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    axis = eqn.param("axis")
    return (*index[:axis], index[axis] // eqn.param("repeats"), *index[axis + 1 :])


def _tile_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    return tuple(entry % extent for entry, extent in zip(index, shape, strict=True))


def _diagonal_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    """The last index runs along the diagonal of two axes; the others keep their order."""
    row, column, offset = eqn.param("axes")
    along, kept = index[-1], iter(index[:-1])
    places = {row: along + max(-offset, 0), column: along + max(offset, 0)}
    return tuple(places[k] if k in places else next(kept) for k in range(len(shape)))


def _windows_index(eqn: Eqn, shape: tuple[int, ...], index: Indices) -> Indices:
    """A place in the array is where the window starts plus the offset inside it."""
    source = list(index[: len(shape)])
    for axis, offset in zip(eqn.param("axes"), index[len(shape) :], strict=True):
        source[axis] = source[axis] + offset
    return tuple(source)


VIEWS: dict[str, Callable[[Eqn, tuple[int, ...], Indices], Indices]] = {
    "getitem": _getitem_index,
    "transpose": _transpose_index,
    "reshape": _reshape_index,
    "broadcast_to": _broadcast_index,
    "roll": _roll_index,
    "repeat": _repeat_index,
    "tile": _tile_index,
    "diagonal": _diagonal_index,
    "windows": _windows_index,
}
