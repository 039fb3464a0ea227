"""Arrays made inside the function: constants everywhere.

Takes shapes and dtypes; gives equations. Not here: arrays captured from outside (``tracer``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Value, literal
from ..tracer import Trace, Tracer
from .operands import carried, convert, describe, no_options, traced
from .shapes import broadcast_to


def like(value: float) -> Any:
    """``zeros_like`` and ``ones_like``."""

    def handler(recording: Trace, a: Any, dtype: Any = None, **kwargs: Any) -> Tracer:
        return full_like(recording, a, value, dtype, **kwargs)

    return handler


def full_like(
    recording: Trace, a: Any, fill_value: Any, dtype: Any = None, **kwargs: Any
) -> Tracer:
    """``np.full_like`` with a number, or an array that broadcasts to the shape."""
    no_options("full_like", kwargs)
    value = traced(recording, a, "full_like")
    target = carried(value.dtype if dtype is None else np.dtype(dtype), "full_like")
    if isinstance(fill_value, (Tracer, np.ndarray)):
        operand, _ = describe(recording, fill_value)
        fill = convert(recording, fill_value, operand, target)
        if isinstance(fill, Value):
            return broadcast_to(recording, Tracer(recording, fill), value.shape)
        fill_value = fill.value
    constant = literal(fill_value, target)
    return recording.record("broadcast_to", (constant,), value.shape, target)
