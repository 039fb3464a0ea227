"""Arrays made inside the function: constants everywhere.

Takes shapes and dtypes; gives equations. Not here: arrays captured from outside (``tracer``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import (
    UnsupportedOperation,
    user_frame,
)
from ..graph import literal
from ..tracer import Trace, Tracer
from .operands import carried, no_options, traced


def like(value: float) -> Any:
    """``zeros_like`` and ``ones_like``."""

    def handler(recording: Trace, a: Any, dtype: Any = None, **kwargs: Any) -> Tracer:
        return full_like(recording, a, value, dtype, **kwargs)

    return handler


def full_like(
    recording: Trace, a: Any, fill_value: Any, dtype: Any = None, **kwargs: Any
) -> Tracer:
    """``np.full_like`` with a number."""
    no_options("full_like", kwargs)
    value = traced(recording, a, "full_like")
    if isinstance(fill_value, (Tracer, np.ndarray)):
        raise UnsupportedOperation("full_like of an array", user_frame()[0], "np.broadcast_to")
    target = carried(value.dtype if dtype is None else np.dtype(dtype), "full_like")
    constant = literal(fill_value, target)
    return recording.record("broadcast_to", (constant,), value.shape, target)
