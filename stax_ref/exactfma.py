"""The arithmetic of ``elementary`` in plain NumPy, fused multiply-add with exactly its bits.

Takes float32 or float64 operands that broadcast together; gives one IEEE operation on them,
``round(a * b + c)`` included. Holds the error-free transformations behind it. Not here: what the
operations add up to (``elementary``).

Both fused routes round twice and repair the double rounding with *round to odd*: the first, wider
rounding forces the last bit to 1 whenever it was inexact, so the second can neither meet a false
tie nor miss a true one (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
proved algorithms using rounding to odd", IEEE Transactions on Computers 57, 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_SPLITTER = np.float64(134217729.0)  # 2**27 + 1: Veltkamp's constant for 53 bits


def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``a * b + c`` rounded once to float32.

    Arguments: three float32 arrays or scalars that broadcast. Returns float32. Raises nothing and
    emits no NumPy warning.

    Exact for *all* operands, infinities, NaN and subnormal results included: the product of two
    float32 has 48 bits and an exponent far inside float64, and float64 keeps 29 bits more than
    the result needs, where round to odd asks for two.
    """
    with np.errstate(all="ignore"):
        product = np.multiply(a, b, dtype=np.float64)
        addend = np.asarray(c, dtype=np.float64)
        return np.asarray(_add_to_odd(product, addend), dtype=np.float64).astype(np.float32)


def fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``a * b + c`` rounded once to float64.

    Arguments: three float64 arrays or scalars that broadcast. Returns float64. Raises nothing and
    emits no NumPy warning.

    Exact when every operand is zero, infinite or NaN, or when these hold:

    - ``|a|`` and ``|b|`` are at most 2**995 (the splitting of a factor does not overflow),
    - ``|a * b|`` and the result are below 2**1023 (no partial sum overflows),
    - ``a * b`` is 0 or at least 2**-968 (the error of the product is itself a float64), or ``|c|``
      is at least 2**-900 (the product then only decides which side of ``c`` the sum lies on).

    Outside, the result is a * b + c with two roundings or an infinity; it never fails. Every
    sequence of ``elementary`` stays inside in the lanes whose result it keeps.
    """
    with np.errstate(all="ignore"):
        high, low = _two_product(a, b)
        sum_high, sum_low = _two_sum(c, low)
        top, rest = _two_sum(high, sum_high)
        fused = top + _add_to_odd(sum_low, rest)
        # An exact zero has lost its sign, infinities and NaN have met inf - inf on the way. In
        # all three cases the plain expression is right.
        plain = high + c
        return np.asarray(np.where((fused == 0.0) | ~np.isfinite(fused), plain, fused))


class NumPyArithmetic:
    """The ``Arithmetic`` that computes: values are arrays, masks are boolean arrays."""

    def __init__(self, dtype: np.dtype) -> None:
        self.float = dtype.type
        self.integer = np.int32 if dtype == np.float32 else np.int64
        self.fma: Callable[..., Any] = fma32 if dtype == np.float32 else fma64

    def let(self, name: str, value: Any, why: str = "") -> Any:
        return value

    def const(self, value: float) -> Any:
        return self.float(value)

    def iconst(self, value: int) -> Any:
        return self.integer(value)

    add = staticmethod(np.add)
    sub = staticmethod(np.subtract)
    mul = staticmethod(np.multiply)
    div = staticmethod(np.divide)
    sqrt = staticmethod(np.sqrt)
    abs = staticmethod(np.abs)

    def raw_min(self, a: Any, b: Any) -> Any:
        return np.where(a < b, a, b)

    def raw_max(self, a: Any, b: Any) -> Any:
        return np.where(a > b, a, b)

    def bits(self, a: Any) -> Any:
        return a.view(self.integer)

    def float_from_bits(self, a: Any) -> Any:
        return a.view(self.float)

    def from_int(self, a: Any) -> Any:
        return a.astype(self.float)

    iadd = staticmethod(np.add)
    isub = staticmethod(np.subtract)
    iand = staticmethod(np.bitwise_and)
    ior = staticmethod(np.bitwise_or)
    ixor = staticmethod(np.bitwise_xor)

    def ishl(self, a: Any, count: int) -> Any:
        return np.left_shift(a, self.integer(count))

    def isra(self, a: Any, count: int) -> Any:
        return np.right_shift(a, self.integer(count))

    def isrl(self, a: Any, count: int) -> Any:
        unsigned = a.view(np.uint32 if self.integer is np.int32 else np.uint64)
        return np.right_shift(unsigned, unsigned.dtype.type(count)).view(self.integer)

    lt = staticmethod(np.less)
    le = staticmethod(np.less_equal)
    eq = staticmethod(np.equal)
    ge = staticmethod(np.greater_equal)
    gt = staticmethod(np.greater)
    ne = staticmethod(np.not_equal)
    select = staticmethod(np.where)
    iselect = staticmethod(np.where)


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rounded sum and its exact error (Knuth; any order of magnitudes)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def _two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rounded product and its exact error (Dekker), by halves of 26 bits."""
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    product = a * b
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _split(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers of at most 26 bits whose sum is ``a`` (Veltkamp)."""
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def _add_to_odd(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a + b`` in float64, rounded to odd: of the two neighbours of an inexact sum, the odd one.

    An inexact nearest sum with an even last bit is not the odd neighbour; that one lies on the
    side the error points to, one step of the bit pattern away.
    """
    total, error = _two_sum(a, b)
    pattern = np.asarray(total).view(np.int64)
    wrong = (np.abs(error) > 0.0) & ((pattern & 1) == 0)  # False where the error is NaN
    outwards = (error > 0.0) == (total > 0.0)
    step = np.where(outwards, np.int64(1), np.int64(-1))
    return (pattern + np.where(wrong, step, np.int64(0))).view(np.float64)
