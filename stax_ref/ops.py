"""The semantics page and the one table of scalar operations.

Meaning
-------
1.  NumPy is the meaning. Every operation below rounds once, in the dtype of its result; nothing is
    contracted, reassociated or assumed away (no fast-math).
2.  ``maximum``/``minimum``: NaN propagates; +0.0 is greater than -0.0. NumPy itself leaves the sign
    of such a zero to position and length, so against NumPy the sign of a zero is exempt.
3.  Integers wrap at their declared width after every operation. ``floor_divide`` and ``remainder``
    by zero and INT_MIN // -1 do not trap: they raise a flag and give NumPy's value.
4.  Elementary functions are fixed sequences of IEEE operations (``elementary``), so the oracle and
    every backend give the same bits; against NumPy they hold the published ulp.
5.  A reduction's order belongs to its node (:class:`Order`). It follows from the dtype, the logical
    reduced extents and whether the last logical axis is reduced; never from strides, fusion,
    tiling, device, instruction set or thread count:

    *lanes* (last axis reduced): chunks of ``CHUNK`` elements; in a chunk ``LANES`` accumulators,
    element i to lane i mod LANES in order of i, starting at the identity; lanes folded by halves;
    chunks combined by adjacent pairs, an odd last one passes up.

    *rows* (otherwise): sequential along the reduced index in chunks of ``ROWS``, starting at the
    identity; chunks combined as above.

    *strict*: plain sequential order, on request.

    The identity of a sum is -0.0 (neutral for every value, +0.0 is not), of a product 1.
6.  mean = sum / n; variance in two passes, never E[x^2] - E[x]^2.
7.  NaN is one class: sign and payload of a NaN are free.
8.  A result on an empty axis is NumPy's: 0 for sum, 1 for prod, an error for max and min.

Takes nothing; gives :data:`OPS` and :data:`REDUCTIONS`. Not here: how NumPy's functions map to
these operations (``trace``), the elementary sequences, any code generation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import elementary
from .dtypes import F32, F64, I32, I64

ORDER_VERSION = 1
CHUNK = 4096
ROWS = 256
LANES: dict[np.dtype, int] = {F32: 32, F64: 16, I32: 32, I64: 16}


@dataclass(frozen=True, slots=True)
class Order:
    """The planned order of one reduction (semantics 5).

    ``form`` is ``"lanes"``, ``"rows"`` or ``"strict"``; ``lanes`` and ``chunk`` are its numbers.
    """

    form: str
    lanes: int
    chunk: int
    version: int = ORDER_VERSION

    def __str__(self) -> str:
        if self.form == "strict":
            return "strict"
        if self.form == "rows":
            return f"rows {self.chunk}"
        return f"lanes {self.lanes} chunk {self.chunk}"


def planned_order(dtype: np.dtype, last_axis: bool, strict: bool = False) -> Order:
    """The order of a reduction that accumulates in ``dtype`` (semantics 5)."""
    if strict:
        return Order("strict", 1, 0)
    if last_axis:
        return Order("lanes", LANES.get(dtype, 16), CHUNK)
    return Order("rows", 1, ROWS)


@dataclass(frozen=True, slots=True)
class Op:
    """One scalar operation.

    Args:
        name: its name, NumPy's where NumPy has it.
        kind: ``arithmetic``, ``compare``, ``logic``, ``elementary``, ``select`` or ``cast``.
        arity: number of operands, all of one dtype (``where``: the first is bool).
        numpy: the planned meaning on arrays of the operand dtype.
        meaning: one line of text.
        heavy: too dear to recompute on a CPU (seed §6.6, the cost model of materialisation).
    """

    name: str
    kind: str
    arity: int
    numpy: Callable[..., Any]
    meaning: str
    heavy: bool = False


def _maximum(a: Any, b: Any) -> Any:
    """np.maximum with +0.0 > -0.0; a NaN operand gives NaN (semantics 2)."""
    result = np.maximum(a, b)
    if result.dtype.kind != "f":
        return result
    both_zero = (a == 0) & (b == 0)
    return np.where(both_zero, np.where(np.signbit(a), b, a), result)


def _minimum(a: Any, b: Any) -> Any:
    """np.minimum with -0.0 < +0.0; a NaN operand gives NaN (semantics 2)."""
    result = np.minimum(a, b)
    if result.dtype.kind != "f":
        return result
    both_zero = (a == 0) & (b == 0)
    return np.where(both_zero, np.where(np.signbit(a), a, b), result)


def _elementary(name: str) -> Callable[[Any], Any]:
    return lambda x: elementary.evaluate(name, np.asarray(x))


_TABLE: tuple[Op, ...] = (
    Op("add", "arithmetic", 2, np.add, "a + b"),
    Op("subtract", "arithmetic", 2, np.subtract, "a - b"),
    Op("multiply", "arithmetic", 2, np.multiply, "a * b"),
    Op("divide", "arithmetic", 2, np.true_divide, "a / b, floats only"),
    Op("floor_divide", "arithmetic", 2, np.floor_divide, "a // b, integers only here"),
    Op("remainder", "arithmetic", 2, np.remainder, "a % b with the sign of b, integers only here"),
    Op("negative", "arithmetic", 1, np.negative, "-a"),
    Op("absolute", "arithmetic", 1, np.absolute, "|a|; the smallest integer stays itself"),
    Op("sqrt", "arithmetic", 1, np.sqrt, "correctly rounded square root"),
    Op("maximum", "arithmetic", 2, _maximum, "the larger; NaN wins; +0.0 > -0.0"),
    Op("minimum", "arithmetic", 2, _minimum, "the smaller; NaN wins; -0.0 < +0.0"),
    Op("equal", "compare", 2, np.equal, "a == b, false for NaN"),
    Op("not_equal", "compare", 2, np.not_equal, "a != b, true for NaN"),
    Op("less", "compare", 2, np.less, "a < b, false for NaN"),
    Op("less_equal", "compare", 2, np.less_equal, "a <= b, false for NaN"),
    Op("greater", "compare", 2, np.greater, "a > b, false for NaN"),
    Op("greater_equal", "compare", 2, np.greater_equal, "a >= b, false for NaN"),
    Op("logical_and", "logic", 2, np.logical_and, "both"),
    Op("logical_or", "logic", 2, np.logical_or, "at least one"),
    Op("logical_xor", "logic", 2, np.logical_xor, "exactly one"),
    Op("logical_not", "logic", 1, np.logical_not, "not a"),
    Op("exp", "elementary", 1, _elementary("exp"), "e to the a", heavy=True),
    Op("log", "elementary", 1, _elementary("log"), "natural logarithm", heavy=True),
    Op("tanh", "elementary", 1, _elementary("tanh"), "hyperbolic tangent", heavy=True),
    Op("where", "select", 3, np.where, "b where a is true, else c"),
    Op("cast", "cast", 1, np.copy, "a converted to the dtype of the result, as astype does"),
)

OPS: dict[str, Op] = {op.name: op for op in _TABLE}


def apply(name: str, args: tuple[Any, ...], dtype: np.dtype) -> Any:
    """The planned meaning of one scalar operation on whole arrays.

    Args:
        name: an operation of :data:`OPS`.
        args: NumPy arrays or scalars of the operand dtypes, broadcast against each other.
        dtype: dtype of the result.

    Returns:
        an array or NumPy scalar of ``dtype``.
    """
    if name == "cast":
        return cast(args[0], dtype)
    return OPS[name].numpy(*args)


def cast(value: Any, dtype: np.dtype) -> Any:
    """``value.astype(dtype)``; NaN and out-of-range floats give the smallest integer.

    That is what x86 conversion instructions give, and what NumPy gives on x86 for 64-bit results.
    NumPy's 32-bit results of out-of-range values vary with the vector path; here there is one rule.
    """
    array = np.asarray(value)
    if array.dtype.kind == "f" and dtype.kind == "i":
        info = np.iinfo(dtype)
        low, high = float(info.min), -float(info.min)
        inside = (array >= low) & (array < high)
        return np.where(inside, np.where(inside, array, 0).astype(dtype), info.min)
    return array.astype(dtype)


@dataclass(frozen=True, slots=True)
class Reduction:
    """One associative reduction: its combining operation and its identity.

    Args:
        name: ``sum``, ``prod``, ``max`` or ``min``.
        combine: the operation of :data:`OPS` that joins two partial results.
        ordered: True when the order of combination changes bits (float sums and products).
    """

    name: str
    combine: str
    ordered: bool

    def identity(self, dtype: np.dtype) -> Any:
        """The neutral value in this dtype, as a NumPy scalar."""
        if self.name == "sum":
            return dtype.type(-0.0) if dtype.kind == "f" else dtype.type(0)
        if self.name == "prod":
            return dtype.type(1)
        sign = -1 if self.name == "max" else 1
        if dtype.kind == "f":
            return dtype.type(sign * np.inf)
        if dtype.kind == "b":
            return dtype.type(self.name == "min")
        info = np.iinfo(dtype)
        return dtype.type(info.min if self.name == "max" else info.max)


REDUCTIONS: dict[str, Reduction] = {
    entry.name: entry
    for entry in (
        Reduction("sum", "add", True),
        Reduction("prod", "multiply", True),
        Reduction("max", "maximum", False),
        Reduction("min", "minimum", False),
    )
}


def reduce_planned(kind: str, values: Any, order: Order, dtype: np.dtype) -> Any:
    """Reduce the last axis of an array in the planned order (semantics 5).

    Args:
        kind: a name of :data:`REDUCTIONS`.
        values: array of shape (..., n) and dtype ``dtype``; n is the flattened reduced extent.
        order: the order of the node.
        dtype: dtype of accumulation and result.

    Returns:
        array of shape (...).
    """
    reduction = REDUCTIONS[kind]
    identity = reduction.identity(dtype)
    values = np.asarray(values, dtype=dtype)
    n = values.shape[-1]
    if n == 0:
        return np.full(values.shape[:-1], identity + dtype.type(0), dtype)
    combine = OPS[reduction.combine].numpy
    if not reduction.ordered or dtype.kind != "f":
        return _fold_any(combine, values)
    if order.form == "strict":
        return _sequential(combine, values, identity)
    partials = []
    for start in range(0, n, order.chunk):
        part = values[..., start : start + order.chunk]
        if order.form == "rows":
            partials.append(_sequential(combine, part, identity))
        else:
            partials.append(_lanes(combine, part, identity, order.lanes))
    return _pairwise(combine, partials)


def reduction_depth(order: Order, n: int) -> int:
    """Roundings on the longest path of the planned tree over ``n`` elements."""
    if order.form == "strict":
        return n
    chunks = max(1, -(-n // order.chunk))
    combine = (chunks - 1).bit_length()
    first = min(n, order.chunk)
    if order.form == "rows":
        return first + combine
    return -(-first // order.lanes) + (order.lanes - 1).bit_length() + combine


def _sequential(combine: Callable[..., Any], values: Any, start: Any) -> Any:
    total = np.full(values.shape[:-1], start, values.dtype)
    for k in range(values.shape[-1]):
        total = combine(total, values[..., k])
    return total


def _lanes(combine: Callable[..., Any], values: Any, start: Any, lanes: int) -> Any:
    total = np.full((*values.shape[:-1], lanes), start, values.dtype)
    for first in range(0, values.shape[-1], lanes):
        part = values[..., first : first + lanes]
        width = part.shape[-1]
        total[..., :width] = combine(total[..., :width], part)
    while lanes > 1:
        lanes //= 2
        total = combine(total[..., :lanes], total[..., lanes : 2 * lanes])
    return total[..., 0]


def _pairwise(combine: Callable[..., Any], partials: list[Any]) -> Any:
    while len(partials) > 1:
        joined = [combine(a, b) for a, b in zip(partials[::2], partials[1::2], strict=False)]
        if len(partials) % 2:
            joined.append(partials[-1])
        partials = joined
    return partials[0]


def _fold_any(combine: Callable[..., Any], values: Any) -> Any:
    """Halve until one is left: for reductions whose order cannot be seen in the result."""
    while values.shape[-1] > 1:
        half = values.shape[-1] // 2
        joined = combine(values[..., :half], values[..., half : 2 * half])
        if values.shape[-1] % 2:
            joined = np.concatenate([joined, values[..., -1:]], axis=-1)
        values = joined
    return values[..., 0]
