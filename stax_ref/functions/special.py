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


def erf(x: Any) -> Any:
    """The error function, element by element.

    Args:
        x: an array, a number, or a traced array; of any real dtype and any shape.

    Returns:
        an array of the same shape, in the float dtype that ``np.tanh`` would give; traced if
        ``x`` is. The value is the C library's, the same on every backend.

    Raises:
        DtypeError: ``x`` is complex.
    """
    return _apply("erf", x)


def sigmoid(x: Any) -> Any:
    """The logistic function ``1 / (1 + exp(-x))``, element by element.

    Args:
        x: an array, a number, or a traced array; of any real dtype and any shape.

    Returns:
        an array of the same shape, in the float dtype that ``np.tanh`` would give; traced if
        ``x`` is. It has the same bits on every backend, and neither end overflows.

    Raises:
        DtypeError: ``x`` is complex.
    """
    return _apply("sigmoid", x)


def _apply(name: str, x: Any) -> Any:
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
