"""The plain call behind an equation that NumPy has no ufunc of this name for.

Takes the operands of an equation; gives what a user computes outside Stax: one of the two results
of ``np.modf`` and ``np.frexp``, and :func:`erf` and :func:`sigmoid`, which Stax adds. Not here:
what they become inside a kernel (``composites``), their tracing (``functions.special``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import libm, meaning
from .dtypes import F16, F32


def erf(x: Any) -> Any:
    """The error function of a float array, by the C library."""
    return libm.call("erf", x)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))`` of a float array; the exponential never overflows.

    With e = exp(-|x|) it is 1 / (1 + e) for x >= 0 and e / (1 + e) below; float16 in float32.
    """
    array = np.asarray(x)
    wide = array.astype(F32) if array.dtype == F16 else array
    e = meaning.sequence("exp")(-np.abs(wide))
    one = wide.dtype.type(1)
    with np.errstate(all="ignore"):
        return (np.where(wide < 0, e, one) / (one + e)).astype(array.dtype)[()]


CALLS: dict[str, Callable[..., Any]] = {
    "modf_fraction": lambda x: np.modf(x)[0],
    "modf_whole": lambda x: np.modf(x)[1],
    "frexp_mantissa": lambda x: np.frexp(x)[0],
    "frexp_exponent": lambda x: np.frexp(x)[1],
    "erf": erf,
    "sigmoid": sigmoid,
}
"""Per name of an equation: its plain call."""

TEXTS = {
    "modf_fraction": "np.modf({})[0]",
    "modf_whole": "np.modf({})[1]",
    "frexp_mantissa": "np.frexp({})[0]",
    "frexp_exponent": "np.frexp({})[1]",
    "erf": "stax.erf({})",
    "sigmoid": "stax.sigmoid({})",
}
"""The same as text."""


def call(name: str) -> Callable[..., Any]:
    """The function an equation of this name stands for: NumPy's, or one of :data:`CALLS`."""
    found: Callable[..., Any] = CALLS.get(name) or getattr(np, name)
    return found
