"""Elementary functions as fixed sequences of IEEE operations: exp, log, tanh.

Takes an array of float32 or float64; gives the function's value with the same bits on every
backend. Holds one sequence per function and dtype over an abstract ``Arithmetic`` (``SEQUENCES``),
its meaning on arrays (``evaluate``), and the error bounds (``ULP``). Not here: how a backend
prints a sequence, and how NumPy computes one (``exactfma``).

A sequence has no branch and no loop: both sides of a case are computed and one is selected, so it
vectorises at any width. Fused multiply-add is written where it is meant; every other operation is
rounded once. Lanes whose value a later select throws away may overflow or become NaN on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from stax_ref.exactfma import NumPyArithmetic

#: Changes whenever a coefficient or an operation of any sequence changes: it changes bits.
ELEMENTARY_VERSION = 1

#: Largest error in units in the last place of the result, rounded up. float32: of all arguments
#: but those so small that the result is trivial. float64: of six million arguments in each hard
#: range (0.89, 0.91, 1.11), with a margin of a tenth.
ULP: dict[tuple[str, str], float] = {
    ("exp", "float32"): 0.92,
    ("exp", "float64"): 1.0,
    ("log", "float32"): 0.94,
    ("log", "float64"): 1.0,
    ("tanh", "float32"): 0.94,
    ("tanh", "float64"): 1.25,
}

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """What a sequence may do. ``V`` is whatever a handler computes with: arrays, or lines of C.

    A value is a float of the sequence's dtype, a signed integer of the same width (it wraps), or a
    mask (the outcome of a comparison). Integer operands of ``iadd``, ``iand``, ... may be the
    constants of ``iconst``; shift counts are Python ints.
    """

    def let(self, name: str, value: V, why: str = "") -> V:
        """The same value, named and explained for whoever reads the printed sequence."""
        ...

    def const(self, value: float) -> V: ...
    def iconst(self, value: int) -> V: ...

    def add(self, a: V, b: V) -> V: ...
    def sub(self, a: V, b: V) -> V: ...
    def mul(self, a: V, b: V) -> V: ...
    def div(self, a: V, b: V) -> V: ...
    def sqrt(self, a: V) -> V: ...
    def abs(self, a: V) -> V: ...
    def fma(self, a: V, b: V, c: V) -> V:
        """``a * b + c``, rounded once."""
        ...

    def raw_min(self, a: V, b: V) -> V:
        """``a if a < b else b``: the second operand when equal or unordered (the SSE rule)."""
        ...

    def raw_max(self, a: V, b: V) -> V:
        """``a if a > b else b``: the second operand when equal or unordered (the SSE rule)."""
        ...

    def bits(self, a: V) -> V:
        """The pattern of a float as an integer of the same width."""
        ...

    def float_from_bits(self, a: V) -> V: ...
    def from_int(self, a: V) -> V:
        """The value of an integer as a float, rounded once. Not used on 64 bits: AVX2 lacks it."""
        ...

    def iadd(self, a: V, b: V) -> V: ...
    def isub(self, a: V, b: V) -> V: ...
    def iand(self, a: V, b: V) -> V: ...
    def ior(self, a: V, b: V) -> V: ...
    def ixor(self, a: V, b: V) -> V: ...
    def ishl(self, a: V, count: int) -> V: ...
    def isra(self, a: V, count: int) -> V:
        """Shift right, copies of the sign coming in."""
        ...

    def isrl(self, a: V, count: int) -> V:
        """Shift right, zeros coming in."""
        ...

    def lt(self, a: V, b: V) -> V: ...
    def le(self, a: V, b: V) -> V: ...
    def eq(self, a: V, b: V) -> V: ...
    def ge(self, a: V, b: V) -> V: ...
    def gt(self, a: V, b: V) -> V: ...
    def ne(self, a: V, b: V) -> V: ...
    def select(self, mask: V, a: V, b: V) -> V: ...
    def iselect(self, mask: V, a: V, b: V) -> V: ...


Sequence = Callable[[Arithmetic[Any], Any], Any]


# ---- exp ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Exp:
    """The numbers of exp for one float format of ``mantissa`` stored bits."""

    mantissa: int
    smallest: int  # the smallest subnormal is 2**-smallest
    one: int  # the pattern of 1.0
    lowest: float  # below it every result is 0, and above it n fits the exponent
    normal_from: float  # the first x whose result is not subnormal
    highest: float  # the last x whose result is finite
    magic: float  # 1.5 * 2**mantissa: adding it rounds to an integer, kept in the low bits
    log2e: float
    ln2_high: float  # so few bits that n * ln2_high is exact
    ln2_low: float
    # (exp(r) - 1) / r for |r| <= ln(2)/2, lowest power first
    polynomial: tuple[float, ...]


# Coefficients here and below: minimax by Lawson's iteratively reweighted least squares on
# Chebyshev nodes against 50-digit values, weighted for relative error of the result; rounded from
# the lowest power up, the higher powers being fitted again after each rounding.
_EXP32 = _Exp(
    mantissa=23,
    smallest=149,
    one=0x3F800000,
    lowest=-104.0,
    normal_from=-87.336540222168,
    highest=88.722831726074,
    magic=12582912.0,
    log2e=1.4426950408889634,
    ln2_high=0.693145751953125,
    ln2_low=1.428606820309417e-06,
    polynomial=(
        1.0,
        0.49999994,
        0.16666521,
        0.04166823,
        0.0083685955,
        0.0013811332,
    ),
)
_EXP64 = _Exp(
    mantissa=52,
    smallest=1074,
    one=0x3FF0000000000000,
    lowest=-746.0,
    normal_from=-708.3964185322641,
    highest=709.782712893384,
    magic=6755399441055744.0,
    log2e=1.4426950408889634,
    ln2_high=0.6931471805598903,
    ln2_low=5.497923018708371e-14,
    polynomial=(
        1.0,
        0.5,
        0.16666666666666433,
        0.041666666666603964,
        0.008333333333500682,
        0.0013888888926797528,
        0.00019841269464658052,
        2.4801508679586353e-05,
        2.7557642314531075e-06,
        2.762518850856434e-07,
        2.4977921155547058e-08,
    ),
)


def _exp_reduce(h: Arithmetic[V], x: V, k: _Exp) -> tuple[V, V]:
    """``(r, n)`` with ``x = n ln 2 + r``; n is shifted to the place of the exponent field."""
    shifted = h.let("shifted", h.fma(x, h.const(k.log2e), h.const(k.magic)))
    n = h.let("n", h.sub(shifted, h.const(k.magic)), "x / ln 2 to nearest")
    # The first product is exact and cancels, so r carries one rounding only.
    high = h.let("high", h.fma(n, h.const(-k.ln2_high), x))
    r = h.let("r", h.fma(n, h.const(-k.ln2_low), high), "x - n ln 2, |r| <= ln(2)/2")
    exponent = h.ishl(h.bits(shifted), k.mantissa)
    return r, h.let("exponent", exponent, "n as an exponent field")


def _exp(h: Arithmetic[V], x: V, k: _Exp) -> V:
    clamped = h.let("clamped", h.raw_max(h.const(k.lowest), x), "NaN passes")
    r, exponent = _exp_reduce(h, clamped, k)
    p = h.let("p", h.fma(r, _horner(h, r, k.polynomial), h.const(1.0)), "exp(r)")
    return _exp_range(h, x, p, exponent, k)


def _exp_range(h: Arithmetic[V], x: V, p: V, exponent: V, k: _Exp) -> V:
    """``p * 2**n``, rounded once also where it is subnormal, whatever FTZ and DAZ say."""
    normal = h.let("normal", h.iadd(h.bits(p), exponent), "the bits of p 2^n")
    # Counted in units of the smallest subnormal, the result is an ordinary number. Adding
    # 2**mantissa rounds it to an integer, and this integer is the pattern of the subnormal.
    units = h.float_from_bits(h.iadd(normal, h.iconst(k.smallest << k.mantissa)))
    rounded = h.add(units, h.const(float(2**k.mantissa)))
    subnormal = h.isub(h.bits(rounded), h.iconst((k.smallest + 1) << k.mantissa))
    h.let("subnormal", subnormal, "the bits of p 2^n below the normal range")
    value = h.select(
        h.ge(x, h.const(k.normal_from)), h.float_from_bits(normal), h.float_from_bits(subnormal)
    )
    # Adding to infinity leaves infinity, and NaN where x is NaN.
    outside = h.let("outside", h.add(x, h.const(math.inf)), "overflow or NaN")
    return h.select(h.le(x, h.const(k.highest)), value, outside)


def exp_float32(h: Arithmetic[V], x: V) -> V:
    """exp of float32; at most 0.92 ulp."""
    return _exp(h, x, _EXP32)


def exp_float64(h: Arithmetic[V], x: V) -> V:
    """exp of float64; at most 1 ulp."""
    return _exp(h, x, _EXP64)


# ---- log ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Log:
    """The numbers of log for one float format of ``mantissa`` stored bits."""

    mantissa: int
    smallest: int  # the smallest subnormal is 2**-smallest
    one: int  # the pattern of 1.0
    bottom: int  # the pattern of the least m
    smallest_normal: float
    largest: float
    ln2: float
    polynomial: tuple[float, ...]


# log(1 + f) = f + f**2 P(f) for |f| <= 1/3
_LOG32 = _Log(
    mantissa=23,
    smallest=149,
    one=0x3F800000,
    bottom=0x3F2AAAAB,  # 2/3
    smallest_normal=2.0**-126,
    largest=(2.0 - 2.0**-23) * 2.0**127,
    ln2=0.6931471805599453,
    polynomial=(
        -0.5,
        0.333332151,
        -0.249998018,
        0.200104445,
        -0.166803077,
        0.140053421,
        -0.121866658,
        0.139866933,
        -0.128815308,
    ),
)
# log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s**2, for m from sqrt(1/2) to sqrt(2)
_LOG64 = _Log(
    mantissa=52,
    smallest=1074,
    one=0x3FF0000000000000,
    bottom=0x3FE6A09E667F3BCD,  # sqrt(1/2)
    smallest_normal=2.0**-1022,
    largest=(2.0 - 2.0**-52) * 2.0**1023,
    ln2=0.6931471805599453,
    polynomial=(
        0.6666666666666734,
        0.39999999999416835,
        0.2857142874198495,
        0.22222198608384006,
        0.1818356274606983,
        0.15314085838914732,
        0.14795639206696418,
    ),
)
_LN2_LOW = 2.3190468138462996e-17  # ln 2 less its float64


def _log_split(h: Arithmetic[V], x: V, k: _Log) -> tuple[V, V]:
    """``(f, e)`` with ``x = (1 + f) * 2**e``, subnormals included, for finite ``x > 0``."""
    # Under the exponent of 2**mantissa, the pattern of a subnormal is its count of least units.
    unit = float(2**k.mantissa)
    unit_bits = k.one + (k.mantissa << k.mantissa)
    counted = h.sub(h.float_from_bits(h.ior(h.bits(x), h.iconst(unit_bits))), h.const(unit))
    tiny = h.let("tiny", h.lt(x, h.const(k.smallest_normal)), "subnormal")
    scaled = h.let("scaled", h.select(tiny, h.let("counted", counted), x), "times 2^smallest if so")
    bias = float(k.one >> k.mantissa)
    offset = h.select(tiny, h.const(unit + bias + k.smallest), h.const(unit + bias))
    # Once the least m sits on an exponent boundary, e and m are plain bit fields.
    moved = h.let("moved", h.iadd(h.bits(scaled), h.iconst(k.one - k.bottom)))
    biased = h.float_from_bits(h.ior(h.isrl(moved, k.mantissa), h.iconst(unit_bits)))
    e = h.let("e", h.sub(biased, offset), "the exponent as a float")
    field = h.iand(moved, h.iconst(2**k.mantissa - 1))
    m = h.let("m", h.float_from_bits(h.iadd(field, h.iconst(k.bottom))), "x = m 2^e")
    return h.let("f", h.sub(m, h.const(1.0)), "exact"), e


def _log_special(h: Arithmetic[V], x: V, value: V, k: _Log) -> V:
    """``value`` for finite ``x > 0``; -inf for 0, NaN below, infinity and NaN as they are."""
    # x less the largest number is below every logarithm; of infinity and NaN it is the same.
    finite = h.raw_max(value, h.sub(x, h.const(k.largest)))
    h.let("finite", finite, "infinity and NaN pass")
    other = h.select(h.eq(x, h.const(0.0)), h.const(-math.inf), h.const(math.nan))
    return h.select(h.gt(x, h.const(0.0)), finite, h.let("other", other))


def log_float32(h: Arithmetic[V], x: V) -> V:
    """log of float32; at most 0.94 ulp."""
    f, e = _log_split(h, x, _LOG32)
    square = h.let("square", h.mul(f, f))
    # For e = 1 or -1 the sum with e ln 2 is exact, so log m brings the only large rounding.
    log_m = h.fma(square, _horner(h, f, _LOG32.polynomial), f)
    value = h.fma(e, h.const(_LOG32.ln2), h.let("log_m", log_m, "log(1 + f)"))
    return _log_special(h, x, value, _LOG32)


def log_float64(h: Arithmetic[V], x: V) -> V:
    """log of float64; at most 1 ulp."""
    f, e = _log_split(h, x, _LOG64)
    s = h.let("s", h.div(f, h.add(h.const(2.0), f)), "f / (2 + f)")
    z = h.let("z", h.mul(s, s))
    tail = h.let("tail", h.mul(z, _horner(h, z, _LOG64.polynomial)), "log(1 + f) / s - 2")
    # 2 s = f - s f, where f is exact: only what is added to f carries roundings, and it is small.
    small = h.fma(s, h.sub(tail, f), h.mul(e, h.const(_LN2_LOW)))
    log_m = h.let("log_m", h.add(f, small), "log(1 + f), and the low part of e ln 2")
    return _log_special(h, x, h.fma(e, h.const(_LOG64.ln2), log_m), _LOG64)


# ---- tanh -----------------------------------------------------------------------------------

_TANH32_SWITCH = 1.0
_TANH32_LARGEST = 9.25  # the float32 nearest tanh is 1 from 9.02 on
# tanh(a) = a + a z P(z), z = a**2
_TANH32 = (
    -0.333332956,
    0.133323476,
    -0.0538799912,
    0.0214871988,
    -0.00794689357,
    0.00230192975,
    -0.000358611229,
)
_TANH64_SWITCH = 0.75
_TANH64_LARGEST = 19.25  # the float64 nearest tanh is 1 from 19.07 on
# tanh(a) = a + a z P(z) / Q(z), z = a**2
_TANH64_P = (-0.3333333333333325, -0.020489788108905126, -0.0001987793251479929)
_TANH64_Q = (1.0, 0.46146936432662433, 0.023279321802433757, 0.00020610676556627903)


def _exp_plus_one(h: Arithmetic[V], x: V, k: _Exp) -> V:
    """exp(x) + 1 for 0 <= x <= 38.5: one rounding after that of exp(r) - 1."""
    r, exponent = _exp_reduce(h, x, k)
    t = h.let("t", h.mul(r, _horner(h, r, k.polynomial)), "exp(r) - 1")
    scale = h.float_from_bits(h.iadd(exponent, h.iconst(k.one)))
    h.let("scale", scale, "2^n")
    return h.let("d", h.fma(scale, t, h.add(scale, h.const(1.0))), "exp + 1")


def tanh_float32(h: Arithmetic[V], x: V) -> V:
    """tanh of float32; at most 0.94 ulp."""
    a = h.let("a", h.abs(x))
    z = h.let("z", h.mul(a, a))
    polynomial = _horner(h, z, _TANH32)
    small = h.let("small", h.fma(h.mul(a, z), polynomial, a), "for a < 1")
    capped = h.let("capped", h.raw_min(h.const(_TANH32_LARGEST), a), "NaN passes")
    d = _exp_plus_one(h, h.add(capped, capped), _EXP32)
    large = h.let("large", h.sub(h.const(1.0), h.div(h.const(2.0), d)), "for a >= 1")
    value = h.select(h.lt(a, h.const(_TANH32_SWITCH)), small, large)
    return _copy_sign(h, value, x, a)


def tanh_float64(h: Arithmetic[V], x: V) -> V:
    """tanh of float64; at most 1.25 ulp."""
    a = h.let("a", h.abs(x))
    z = h.let("z", h.mul(a, a))
    p = h.mul(h.mul(a, z), _horner(h, z, _TANH64_P))
    q = _horner(h, z, _TANH64_Q)
    capped = h.let("capped", h.raw_min(h.const(_TANH64_LARGEST), a), "NaN passes")
    d = _exp_plus_one(h, h.add(capped, capped), _EXP64)
    # One division serves both: a + p / q where a is small, 1 - 2 / d elsewhere.
    small = h.let("small", h.lt(a, h.const(_TANH64_SWITCH)))
    base = h.select(small, a, h.const(1.0))
    above = h.select(small, h.let("p", p), h.const(-2.0))
    below = h.select(small, h.let("q", q), d)
    return _copy_sign(h, h.add(base, h.div(above, below)), x, a)


def _copy_sign(h: Arithmetic[V], value: V, x: V, magnitude: V) -> V:
    """``value``, which is not negative, with the sign of ``x``; ``magnitude`` is abs(x)."""
    sign = h.let("sign", h.ixor(h.bits(x), h.bits(magnitude)))
    return h.float_from_bits(h.ior(h.bits(value), sign))


# ---- the table and its oracle ---------------------------------------------------------------

SEQUENCES: dict[tuple[str, str], Sequence] = {
    ("exp", "float32"): exp_float32,
    ("exp", "float64"): exp_float64,
    ("log", "float32"): log_float32,
    ("log", "float64"): log_float64,
    ("tanh", "float32"): tanh_float32,
    ("tanh", "float64"): tanh_float64,
}

_BLOCK = 8192  # elements at a time: the temporaries of a sequence then stay in the cache


def evaluate(name: str, x: np.ndarray) -> np.ndarray:
    """The function ``name`` of every element of ``x``: the meaning every backend reproduces.

    Arguments: a name of ``SEQUENCES``; a float32 or float64 array of any shape, 0-d and empty
    included, in any memory layout and byte order. Returns a new C-order array of the same shape
    and dtype, in native byte order. Raises ``KeyError`` for a name or dtype that has no sequence.
    Emits no NumPy warning.
    """
    x = np.asarray(x)
    dtype = np.dtype(x.dtype.name)
    sequence = SEQUENCES[name, dtype.name]
    arithmetic = NumPyArithmetic(dtype)
    flat = x.astype(dtype, copy=False).ravel()
    result = np.empty_like(flat)
    with np.errstate(all="ignore"):
        for start in range(0, flat.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            result[block] = sequence(arithmetic, flat[block])
    return result.reshape(x.shape)


def _horner(h: Arithmetic[V], x: V, coefficients: tuple[float, ...]) -> V:
    """The polynomial with these coefficients, lowest power first."""
    value = h.const(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = h.fma(value, x, h.const(coefficient))
    return value
