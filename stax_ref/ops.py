"""The semantics page and the one table of scalar operations.

Meaning
-------
1.  NumPy is the meaning. Every operation below rounds once, in the dtype of its result; nothing is
    contracted, reassociated or assumed away (no fast-math).
2.  ``maximum``/``minimum``: NaN propagates; +0.0 is greater than -0.0. NumPy itself leaves the sign
    of such a zero to position and length, so against NumPy the sign of a zero is exempt.
3.  Integers wrap at their declared width after every operation. ``floor_divide``, ``remainder``
    and ``fmod`` by zero and INT_MIN // -1 do not trap: they raise a flag and give NumPy's value. An
    integer to a negative power raises a flag too. A shift by the width or more, or by a negative
    number, gives 0, or the sign. Conversions from float have one table (``meaning.cast``).
    float16: every operation is computed in float32 and rounded once to float16.
4.  exp, log and tanh are fixed sequences of IEEE operations (``elementary``), so the oracle and
    every backend give the same bits. Every other function is the C library's function of doubles,
    called by the oracle and by kernels alike (``libm``) and rounded once. Against NumPy both hold
    a stated ulp.
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
6.  mean = sum / n; variance in two passes, never E[x^2] - E[x]^2. float16 sums, means and variances
    are float32 until their end and rounded once there; a float16 product rounds each step.
    argmax and argmin: the first NaN, otherwise the first extreme, in C order of the operand.
7.  NaN is one class: sign and payload of a NaN are free.
8.  A result on an empty axis is NumPy's: 0 for sum, 1 for prod, an error for max and min.

Takes nothing; gives :data:`OPS` and :data:`REDUCTIONS`. Not here: how NumPy's functions map to
these operations (``functions``), the elementary sequences, any code generation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import libm, meaning
from .dtypes import BOOL, F16, F32, F64, I64, SHORT, U8, U64
from .meaning import cast as cast

ORDER_VERSION = 1
CHUNK = 4096
ROWS = 256
LANES: dict[np.dtype, int] = {dtype: 16 if dtype in (F64, I64, U64) else 32 for dtype in SHORT}
"""Accumulators of a chunk: two registers of 512 bits, whose lanes have 32 or 64 bits."""


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
        kind: ``arithmetic``, ``compare``, ``logic``, ``bitwise``, ``rounding``, ``predicate``,
            ``elementary``, ``libm``, ``select`` or ``cast``.
        arity: number of operands, all of one dtype (``where``: the first is bool; ``ldexp``: the
            second is int32).
        numpy: the planned meaning on arrays of the operand dtype.
        meaning: one line of text.
        dtypes: kinds of operand dtypes it takes, as letters of ``np.dtype.kind``.
        heavy: too dear to recompute on a CPU (seed §6.6, the cost model of materialisation).
    """

    name: str
    kind: str
    arity: int
    numpy: Callable[..., Any]
    meaning: str
    dtypes: str
    heavy: bool = False

    def result(self, dtype: np.dtype) -> np.dtype:
        """The dtype of its result for operands of ``dtype``; ``cast`` may have any."""
        if self.kind in ("compare", "logic", "predicate"):
            return BOOL
        return U8 if self.name == "bitwise_count" else dtype


def _libm(name: str, arity: int) -> Op:
    text = f"the C library's {libm.SYMBOLS[name][0]} of doubles, rounded once"
    return Op(name, "libm", arity, meaning.from_libm(name), text, "f", True)


_TABLE: tuple[Op, ...] = (
    Op("add", "arithmetic", 2, np.add, "a + b", "iuf"),
    Op("subtract", "arithmetic", 2, np.subtract, "a - b", "iuf"),
    Op("multiply", "arithmetic", 2, np.multiply, "a * b", "iuf"),
    Op("divide", "arithmetic", 2, np.true_divide, "a / b", "f"),
    Op("floor_divide", "arithmetic", 2, np.floor_divide, "a // b; zero divisor: 0, flag 1", "iuf"),
    Op("remainder", "arithmetic", 2, np.remainder, "a % b with the sign of b", "iuf"),
    Op("fmod", "arithmetic", 2, np.fmod, "a % b with the sign of a", "iuf"),
    Op("negative", "arithmetic", 1, np.negative, "-a", "iuf"),
    Op("absolute", "arithmetic", 1, np.absolute, "|a|; the smallest integer stays", "iuf"),
    Op("sign", "arithmetic", 1, np.sign, "-1, 0 or 1; NaN stays, -0.0 gives 0.0", "iuf"),
    Op("sqrt", "arithmetic", 1, np.sqrt, "correctly rounded square root", "f"),
    Op("maximum", "arithmetic", 2, meaning.maximum, "the larger; NaN wins; +0.0 > -0.0", "iuf"),
    Op("minimum", "arithmetic", 2, meaning.minimum, "the smaller; NaN wins; -0.0 < +0.0", "iuf"),
    Op("fmax", "arithmetic", 2, meaning.fmax, "the larger; NaN loses; +0.0 > -0.0", "iuf"),
    Op("fmin", "arithmetic", 2, meaning.fmin, "the smaller; NaN loses; -0.0 < +0.0", "iuf"),
    Op("heaviside", "arithmetic", 2, np.heaviside, "0, b or 1 for a below, at, above 0", "f"),
    Op("copysign", "arithmetic", 2, np.copysign, "|a| with the sign of b", "f"),
    Op("nextafter", "arithmetic", 2, np.nextafter, "the next float from a towards b", "f"),
    Op("spacing", "arithmetic", 1, np.spacing, "distance to the next float away from 0", "f"),
    Op("ldexp", "arithmetic", 2, np.ldexp, "a * 2**b, one rounding; b is int32", "f"),
    Op("gcd", "arithmetic", 2, np.gcd, "greatest common divisor, not negative", "iu"),
    Op("lcm", "arithmetic", 2, np.lcm, "least common multiple, not negative", "iu"),
    Op("equal", "compare", 2, np.equal, "a == b, false for NaN", "biuf"),
    Op("not_equal", "compare", 2, np.not_equal, "a != b, true for NaN", "biuf"),
    Op("less", "compare", 2, np.less, "a < b, false for NaN", "biuf"),
    Op("less_equal", "compare", 2, np.less_equal, "a <= b, false for NaN", "biuf"),
    Op("greater", "compare", 2, np.greater, "a > b, false for NaN", "biuf"),
    Op("greater_equal", "compare", 2, np.greater_equal, "a >= b, false for NaN", "biuf"),
    Op("logical_and", "logic", 2, np.logical_and, "both", "biuf"),
    Op("logical_or", "logic", 2, np.logical_or, "at least one", "biuf"),
    Op("logical_xor", "logic", 2, np.logical_xor, "exactly one", "biuf"),
    Op("logical_not", "logic", 1, np.logical_not, "not a", "biuf"),
    Op("bitwise_and", "bitwise", 2, np.bitwise_and, "a & b", "iu"),
    Op("bitwise_or", "bitwise", 2, np.bitwise_or, "a | b", "iu"),
    Op("bitwise_xor", "bitwise", 2, np.bitwise_xor, "a ^ b", "iu"),
    Op("invert", "bitwise", 1, np.invert, "~a", "iu"),
    Op("left_shift", "bitwise", 2, np.left_shift, "a << b; 0 if b is no bit of a", "iu"),
    Op("right_shift", "bitwise", 2, np.right_shift, "a >> b; the sign if b is no bit of a", "iu"),
    Op("bitwise_count", "bitwise", 1, np.bitwise_count, "ones in |a|, as uint8", "iu"),
    Op("floor", "rounding", 1, np.floor, "down to a whole number", "f"),
    Op("ceil", "rounding", 1, np.ceil, "up to a whole number", "f"),
    Op("trunc", "rounding", 1, np.trunc, "towards 0 to a whole number", "f"),
    Op("rint", "rounding", 1, np.rint, "to the nearest whole number, ties to even", "f"),
    Op("isnan", "predicate", 1, np.isnan, "a is NaN", "f"),
    Op("isinf", "predicate", 1, np.isinf, "a is infinite", "f"),
    Op("isfinite", "predicate", 1, np.isfinite, "a is neither infinite nor NaN", "f"),
    Op("signbit", "predicate", 1, np.signbit, "the sign bit of a is set", "f"),
    Op("exp", "elementary", 1, meaning.sequence("exp"), "e to the a", "f", True),
    Op("log", "elementary", 1, meaning.sequence("log"), "natural logarithm", "f", True),
    Op("tanh", "elementary", 1, meaning.sequence("tanh"), "hyperbolic tangent", "f", True),
    Op("power", "libm", 2, meaning.power, "a to the b; integers wrap, b < 0: flag 8", "iuf", True),
    *(_libm(name, arity) for name, (_, arity) in libm.SYMBOLS.items() if name != "power"),
    Op("where", "select", 3, np.where, "b where a is true, else c", "biuf"),
    Op("bitcast", "cast", 1, np.copy, "the same bits as a dtype of the same size", "iuf"),
    Op("cast", "cast", 1, np.copy, "a converted to the dtype of the result, as astype", "biuf"),
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
    if name == "bitcast":
        return np.asarray(args[0]).view(dtype)
    if name == "cast":
        return cast(args[0], dtype)
    return OPS[name].numpy(*args)


@dataclass(frozen=True, slots=True)
class Reduction:
    """One associative reduction: its combining operation and its identity.

    Args:
        name: ``sum``, ``prod``, ``max``, ``min``, ``fmax``, ``fmin``, ``and``, ``or`` or ``xor``.
        combine: the operation of :data:`OPS` that joins two partial results.
        ordered: True when the order of combination changes bits (float sums and products).
    """

    name: str
    combine: str
    ordered: bool

    def identity(self, dtype: np.dtype) -> Any:
        """The neutral value in this dtype, as a NumPy scalar; of ``fmax`` and ``fmin`` it is NaN.

        Sums start at -0.0, which is neutral for every float; +0.0 would turn -0.0 into +0.0.
        """
        if self.name == "sum":
            return dtype.type(-0.0) if dtype.kind == "f" else dtype.type(0)
        if self.name in ("prod", "or", "xor"):
            return dtype.type(self.name == "prod")
        if self.name == "and":
            return np.invert(dtype.type(0))
        if dtype.kind == "f":
            values = {"max": -np.inf, "min": np.inf, "fmax": np.nan, "fmin": np.nan}
            return dtype.type(values[self.name])
        largest = self.name.endswith("max")
        if dtype.kind == "b":
            return dtype.type(not largest)
        info = np.iinfo(dtype)
        return dtype.type(info.min if largest else info.max)


REDUCTIONS: dict[str, Reduction] = {
    entry.name: entry
    for entry in (
        Reduction("sum", "add", True),
        Reduction("prod", "multiply", True),
        Reduction("max", "maximum", False),
        Reduction("min", "minimum", False),
        Reduction("fmax", "fmax", False),
        Reduction("fmin", "fmin", False),
        Reduction("and", "bitwise_and", False),
        Reduction("or", "bitwise_or", False),
        Reduction("xor", "bitwise_xor", False),
    )
}

REDUCING = {
    "sum": "sum",
    "prod": "prod",
    "max": "max",
    "min": "min",
    "any": "or",
    "all": "and",
    "logical_or.reduce": "or",
    "logical_and.reduce": "and",
    "logical_xor.reduce": "xor",
    "bitwise_or.reduce": "or",
    "bitwise_and.reduce": "and",
    "bitwise_xor.reduce": "xor",
    "fmax.reduce": "fmax",
    "fmin.reduce": "fmin",
}
"""Equations of a graph that are one reduction, and its name in :data:`REDUCTIONS`."""

FLAGGED = frozenset({"floor_divide", "remainder", "fmod", "power"})
"""Operations whose integer form can raise a flag for its second operand; 1 never does."""


def accumulator_dtype(op: str, dtype: np.dtype) -> np.dtype:
    """The dtype in which a reduction with a result of ``dtype`` accumulates.

    Sums, means and variances of float16 are float32 until their end and rounded once there, a
    listed deviation from NumPy; a product rounds each step.
    """
    wide = dtype == F16 and op in ("sum", "mean", "var", "std")
    return F32 if wide else dtype


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
