"""``stax.erf`` and ``stax.sigmoid``: functions of floats that NumPy lacks.

Takes traced arrays, or plain arrays outside a trace; gives an equation, or an array with the same
bits as a kernel gives. Not here: their values (``plain``, ``composites``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import plain
from ..graph import Value
from ..tracer import Tracer
from .elementwise import loop_dtypes
from .operands import carried, convert, describe


def apply(name: str, x: Any) -> Any:
    """``erf`` or ``sigmoid`` of a traced array, or of anything NumPy makes an array of."""
    if not isinstance(x, Tracer):
        array = np.asarray(x)
        loop, _ = loop_dtypes(np.tanh, [array.dtype])
        return plain.CALLS[name](array.astype(carried(loop[0], f"stax.{name}")))
    recording = x._trace
    operand, kind = describe(recording, x)
    loop, _ = loop_dtypes(np.tanh, [kind])
    value = convert(recording, x, operand, carried(loop[0], f"stax.{name}"))
    shape = value.shape if isinstance(value, Value) else ()
    return recording.record(name, (value,), shape, loop[1])
