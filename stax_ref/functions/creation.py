"""Arrays made inside the function: constants everywhere.

Takes shapes and dtypes; gives equations. Not here: arrays captured from outside (``tracer``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ValueDependent, user_frame
from ..graph import Value, literal
from ..tracer import Trace, Tracer
from .choices import where
from .elementwise import cast, pointwise
from .joining import as_part, stack
from .operands import carried, convert, describe, no_options, traced
from .rearrange import moveaxis
from .shapes import broadcast_to, reshape


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


def made_of_traced(recording: Trace, name: str, args: tuple[Any, ...], kwargs: Any) -> Any:
    """A creation function with a traced argument: fill values and ends may be, extents not."""
    makers: dict[str, Callable[..., Any]] = {"full": full, "linspace": linspace}
    handler = makers.get(name)
    if handler is None:
        raise ValueDependent(
            f"np.{name} with a traced argument has a shape that depends on values",
            user_frame()[0],
            "numbers, x.shape, or static_argnames",
        )
    return handler(recording, *args, **kwargs)


def full(recording: Trace, shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> Tracer:
    """``np.full`` with a traced value."""
    no_options("full", kwargs)
    extents = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if any(isinstance(extent, Tracer) and extent._known is None for extent in extents):
        raise ValueDependent(
            "np.full of a traced shape", user_frame()[0], "numbers, x.shape, or static_argnames"
        )
    value = traced(recording, fill_value, "full")
    filling = Tracer(recording, value)
    if dtype is not None or value.weak:
        filling = cast(recording, filling, np.dtype(dtype) if dtype is not None else value.dtype)
    return broadcast_to(recording, filling, tuple(operator.index(extent) for extent in extents))


def linspace(
    recording: Trace,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    **kwargs: Any,
) -> Any:
    """``np.linspace`` between traced ends: start + k * step, the last one exactly ``stop``."""
    no_options("linspace", kwargs)
    count = operator.index(num)
    parts = count - 1 if endpoint else count
    first = pointwise(recording, np.multiply, (start, 1.0))
    last = pointwise(recording, np.multiply, (stop, 1.0))
    delta = pointwise(recording, np.subtract, (last, first))
    number = np.arange(count, dtype=delta.dtype).reshape((-1,) + (1,) * delta.ndim)
    step = pointwise(recording, np.true_divide, (delta, parts)) if parts > 0 else None
    scaled = pointwise(recording, np.multiply, (number, delta if step is None else step))
    result = pointwise(recording, np.add, (scaled, first))
    if endpoint and count > 1:
        is_last = number == count - 1
        result = where(recording, is_last, last, result)
    if axis:
        result = moveaxis(recording, result, 0, axis)
    if dtype is not None:
        result = cast(recording, result, np.dtype(dtype))
    return (result, step) if retstep else result


def converted(
    recording: Trace, name: str, thing: Any, dtype: Any = None, *args: Any, **kwargs: Any
) -> Tracer:
    """``np.array`` and ``np.asarray`` of a traced array, or of a list that holds some."""
    copy = kwargs.pop("copy", name == "array")
    ndmin = kwargs.pop("ndmin", 0)
    kwargs.pop("order", None)
    no_options(name, kwargs)
    if isinstance(thing, Tracer):
        result = Tracer(recording, thing._value) if copy else thing
    else:
        result = nested(recording, thing)
    if dtype is not None and np.dtype(dtype) != result.dtype:
        result = cast(recording, result, np.dtype(dtype))
    if name == "ascontiguousarray" and result.ndim == 0:
        ndmin = 1
    if result.ndim < ndmin:
        result = reshape(recording, result, (1,) * (ndmin - result.ndim) + result.shape)
    return result


def nested(recording: Trace, thing: Any) -> Tracer:
    """A nested list with traced arrays in it, stacked level by level."""
    if isinstance(thing, (list, tuple)):
        return stack(recording, [nested(recording, entry) for entry in thing])
    return as_part(recording, thing)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.zeros_like: like(0),
    np.ones_like: like(1),
    np.empty_like: like(0),
    np.full_like: full_like,
    np.linspace: linspace,
}
