"""What a shape or a dtype decides alone: answers known while tracing.

Takes traced arrays among the arguments of a NumPy function; gives NumPy's own answer for their
types, a plain Python or NumPy value. Not here: anything that needs an element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tracer import Trace, Tracer

_WEAK: dict[str, Any] = {"b": True, "i": 1, "f": 1.0}


def _stand_in(x: Any) -> Any:
    """Something of the same type; a traced Python scalar is a Python scalar."""
    if not isinstance(x, Tracer):
        return x
    if x._value.weak:
        return _WEAK[x.dtype.kind]
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _asked(function: Any) -> Callable[..., Any]:
    """NumPy's answer for these types."""

    def handler(recording: Trace, *args: Any, **kwargs: Any) -> Any:
        return function(*map(_stand_in, args), **{k: _stand_in(v) for k, v in kwargs.items()})

    return handler


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    function: _asked(function)
    for function in (
        np.result_type,
        np.can_cast,
        np.common_type,
        np.min_scalar_type,
        np.diag_indices_from,
        np.tril_indices_from,
        np.triu_indices_from,
    )
}
