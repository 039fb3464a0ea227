"""The standard's elementwise functions: NumPy's ufuncs under the standard's names.

Takes arrays (Python numbers beside at least one array); gives one array of their broadcast shape.
Not here: which of them run as jitted programs (``table``).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .program import Array, standard


def _unary(name: str, ufunc: Any) -> Any:
    def function(x: Array, /) -> Array:
        return ufunc(x)

    return _named(function, name, ufunc)


def _binary(name: str, ufunc: Any) -> Any:
    def function(x1: Array, x2: Array, /) -> Array:
        return ufunc(x1, x2)

    return _named(function, name, ufunc)


def _named(function: Any, name: str, ufunc: Any) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``np.{ufunc.__name__}`` of each element (or pair of elements)."
    return standard(function)


abs = _unary("abs", np.absolute)
acos = _unary("acos", np.arccos)
acosh = _unary("acosh", np.arccosh)
add = _binary("add", np.add)
asin = _unary("asin", np.arcsin)
asinh = _unary("asinh", np.arcsinh)
atan = _unary("atan", np.arctan)
atan2 = _binary("atan2", np.arctan2)
atanh = _unary("atanh", np.arctanh)
bitwise_and = _binary("bitwise_and", np.bitwise_and)
bitwise_invert = _unary("bitwise_invert", np.invert)
bitwise_left_shift = _binary("bitwise_left_shift", np.left_shift)
bitwise_or = _binary("bitwise_or", np.bitwise_or)
bitwise_right_shift = _binary("bitwise_right_shift", np.right_shift)
bitwise_xor = _binary("bitwise_xor", np.bitwise_xor)
ceil = _unary("ceil", np.ceil)
conj = _unary("conj", np.conjugate)
copysign = _binary("copysign", np.copysign)
cos = _unary("cos", np.cos)
cosh = _unary("cosh", np.cosh)
divide = _binary("divide", np.true_divide)
equal = _binary("equal", np.equal)
exp = _unary("exp", np.exp)
expm1 = _unary("expm1", np.expm1)
floor = _unary("floor", np.floor)
floor_divide = _binary("floor_divide", np.floor_divide)
greater = _binary("greater", np.greater)
greater_equal = _binary("greater_equal", np.greater_equal)
hypot = _binary("hypot", np.hypot)
imag = _unary("imag", np.imag)
isfinite = _unary("isfinite", np.isfinite)
isinf = _unary("isinf", np.isinf)
isnan = _unary("isnan", np.isnan)
less = _binary("less", np.less)
less_equal = _binary("less_equal", np.less_equal)
log = _unary("log", np.log)
log10 = _unary("log10", np.log10)
log1p = _unary("log1p", np.log1p)
log2 = _unary("log2", np.log2)
logaddexp = _binary("logaddexp", np.logaddexp)
logical_and = _binary("logical_and", np.logical_and)
logical_not = _unary("logical_not", np.logical_not)
logical_or = _binary("logical_or", np.logical_or)
logical_xor = _binary("logical_xor", np.logical_xor)
maximum = _binary("maximum", np.maximum)
minimum = _binary("minimum", np.minimum)
multiply = _binary("multiply", np.multiply)
negative = _unary("negative", np.negative)
nextafter = _binary("nextafter", np.nextafter)
not_equal = _binary("not_equal", np.not_equal)
positive = _unary("positive", np.positive)
pow = _binary("pow", np.power)
real = _unary("real", np.real)
reciprocal = _unary("reciprocal", np.reciprocal)
remainder = _binary("remainder", np.remainder)
round = _unary("round", np.round)
sign = _unary("sign", np.sign)
signbit = _unary("signbit", np.signbit)
sin = _unary("sin", np.sin)
sinh = _unary("sinh", np.sinh)
sqrt = _unary("sqrt", np.sqrt)
square = _unary("square", np.square)
subtract = _binary("subtract", np.subtract)
tan = _unary("tan", np.tan)
tanh = _unary("tanh", np.tanh)
trunc = _unary("trunc", np.trunc)


def _no_value_of_the_dtype(x: Array, /, min: Any = None, max: Any = None) -> bool:
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iu":
        return False
    info = np.iinfo(x.dtype)
    return any(type(limit) is int and not info.min <= limit <= info.max for limit in (min, max))


@functools.partial(standard, unless=_no_value_of_the_dtype)
def clip(x: Array, /, min: Array | None = None, max: Array | None = None) -> Array:
    """Each element, not below ``min`` and not above ``max``, in the dtype of ``x``."""
    clipped = np.clip(x, min, max)
    return clipped if clipped.dtype == x.dtype else clipped.astype(x.dtype)
