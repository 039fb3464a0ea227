"""Every ufunc of NumPy: which are scalar operations, which are calls, which have another answer.

Takes what NumPy hands to a traced array; gives equations. Holds :data:`UFUNCS`, one entry for each
ufunc, and what becomes of the options that every ufunc has. Not here: the equations themselves
(``elementwise``, ``powers``, ``pairs``, ``contractions``), methods of ufuncs (``namespace``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import UnsupportedOperation, user_frame
from ..tracer import Trace
from .elementwise import pointwise
from .pairs import ldexp, pair
from .powers import power

NATIVE = (
    "add subtract multiply divide floor_divide remainder fmod negative positive conjugate absolute "
    "fabs sign square sqrt reciprocal maximum minimum fmax fmin heaviside copysign nextafter "
    "spacing gcd lcm equal not_equal less less_equal greater greater_equal logical_and logical_or "
    "logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert left_shift right_shift "
    "bitwise_count floor ceil trunc rint isnan isinf isfinite signbit exp log tanh sin cos tan "
    "arcsin arccos arctan arctan2 sinh cosh arcsinh arccosh arctanh exp2 expm1 log2 log10 log1p "
    "cbrt hypot logaddexp logaddexp2 deg2rad radians rad2deg degrees float_power"
).split()
"""One result, every operand of one dtype."""

PAIRS = ("divmod", "modf", "frexp")
CONTRACTIONS = ("matmul", "vecdot", "matvec", "vecmat")

UFUNCS: dict[str, tuple[str, str]] = {
    **dict.fromkeys((*NATIVE, *PAIRS, "power", "ldexp"), ("native", "")),
    **dict.fromkeys(CONTRACTIONS, ("extern", "a product through BLAS or NumPy")),
    "isnat": ("refused", "it takes dates, which Stax does not carry; NumPy refuses numbers too"),
}
"""Ufunc → ``native``, ``extern`` or ``refused``, and why."""


def call(recording: Trace, ufunc: Any, inputs: Sequence[Any], options: Any, operator: bool) -> Any:
    """A call of an elementwise ufunc.

    Raises:
        UnsupportedOperation: an option cannot be followed, or the ufunc is unknown.
    """
    name = ufunc.__name__
    kept = _options(name, options)
    if name == "power":
        return power(recording, inputs[0], inputs[1], operator, **kept)
    if name == "ldexp":
        return ldexp(recording, *inputs, **kept)
    if name in PAIRS:
        return pair(recording, ufunc, inputs, operator, **kept)
    return pointwise(recording, ufunc, inputs, operator, **kept)


def _options(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """``dtype`` and ``casting``; what has no effect is dropped, the rest is refused."""
    kept = {}
    for option, value in given.items():
        if option in ("dtype", "casting"):
            if value is not None:
                kept[option] = value
            continue
        harmless = value is None or option == "subok" or (option == "order" and value in "KCA")
        if harmless or (option == "where" and value is True):
            continue
        raise UnsupportedOperation(
            f"np.{name}(..., {option}=...) is not supported inside a jitted function",
            user_frame()[0],
            _INSTEAD.get(option, "the same without it"),
        )
    return kept


_INSTEAD = {
    "out": "use the returned array",
    "where": "np.where(mask, result, other): without out, NumPy leaves garbage where it is False",
    "signature": "dtype=, or .astype of the operands",
}
