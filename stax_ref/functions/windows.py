"""Sliding windows: views whose index is the sum of a place and an offset inside the window.

Takes the arguments of ``np.lib.stride_tricks.sliding_window_view``; gives one equation. Not here:
raw strides, which a traced array does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError, UnsupportedOperation, user_frame
from ..tracer import Trace, Tracer
from .operands import traced


def sliding_window_view(
    recording: Trace,
    x: Any,
    window_shape: Any,
    axis: Any = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Tracer:
    """Every window of ``x`` along some axes, as axes at the end of the result.

    Args:
        recording: of the traced function.
        x: traced array.
        window_shape: extents of a window, an integer or one per axis.
        axis: the axes they lie along; all of them when it is None.
        subok: any; traced arrays have no subclasses.
        writeable: must be False, since windows overlap.

    Returns:
        the shape NumPy gives: the axes of ``x``, shorter, then the extents of a window.

    Raises:
        ShapeError: NumPy refuses the window.
        UnsupportedOperation: a writeable view.
    """
    value = traced(recording, x, "sliding_window_view")
    if writeable:
        raise UnsupportedOperation(
            "windows overlap, so they cannot be written",
            user_frame()[0],
            "compute the whole array first, then look at it through windows",
        )
    standing = np.broadcast_to(np.zeros((), np.bool_), value.shape)
    try:
        shape = np.lib.stride_tricks.sliding_window_view(standing, window_shape, axis).shape
    except ValueError as error:
        raise ShapeError(
            str(error), user_frame()[0], "windows that fit into the array, one extent per axis"
        ) from None
    given = range(len(value.shape)) if axis is None else np.atleast_1d(axis)
    axes = tuple(int(k) % len(value.shape) for k in given)
    return recording.record("windows", (value,), shape, value.dtype, axes=axes)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.lib.stride_tricks.sliding_window_view: sliding_window_view
}
