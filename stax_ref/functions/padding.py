"""``np.pad``: borders as pieces of the array itself or as constants.

Takes operands of a traced call; gives concatenations of views, so that no element is read outside
its array (seed 002 pads with the same predicates). Not here: joining (``rearrange``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ShapeError, UnsupportedOperation, user_frame
from ..graph import literal
from ..tracer import Trace, Tracer
from .elementwise import cast
from .joining import concatenate
from .operands import known_integers, traced
from .shapes import basic_item

_INDEXED = ("edge", "reflect", "symmetric", "wrap")


def pad(recording: Trace, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """``np.pad`` in the modes constant, edge, reflect, symmetric, wrap and empty (zeros)."""
    value = traced(recording, array, "pad")
    x = Tracer(recording, value)
    widths = _widths(pad_width, x.ndim)
    if mode in ("constant", "empty"):
        given = kwargs.pop("constant_values", 0)
        _no_more(kwargs, mode)
        constants = _pairs(given, x.ndim)
        for axis, pair in enumerate(widths):
            x = _with_constants(recording, x, axis, pair, constants[axis])
        return x
    if mode not in _INDEXED or kwargs.pop("reflect_type", "even") != "even":
        raise UnsupportedOperation(
            f"np.pad with mode={mode!r}",
            user_frame()[0],
            "constant, edge, reflect (even), symmetric or wrap",
        )
    _no_more(kwargs, mode)
    for axis, pair in enumerate(widths):
        if any(pair):
            x = _with_own_elements(recording, x, axis, pair, mode)
    return x


def _no_more(kwargs: dict[str, Any], mode: str) -> None:
    if kwargs:
        raise ShapeError(
            f"unsupported keyword arguments for mode {mode!r}: {set(kwargs)}", user_frame()[0]
        )


def _widths(given: Any, ndim: int) -> list[tuple[int, int]]:
    """Per axis the elements before and after, in every form that NumPy takes."""
    if isinstance(given, dict):
        rows: list[Any] = [(0, 0)] * ndim
        for axis, pair in given.items():
            rows[axis] = pair if isinstance(pair, tuple) else (pair, pair)
        given = rows
    counts = known_integers(given, "the widths of np.pad")
    if np.any(counts < 0):
        raise ShapeError("index can't contain negative values", user_frame()[0], "a slice")
    try:
        table = np.broadcast_to(counts, (ndim, 2)).tolist()
    except ValueError as error:
        raise ShapeError(str(error), user_frame()[0], "one pair for each axis") from None
    return [(before, after) for before, after in table]


def _pairs(given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Per axis the constants before and after; traced scalars may stand among them."""
    if isinstance(given, Tracer):
        return [(given, given)] * ndim
    if isinstance(given, (tuple, list)) and any(isinstance(g, Tracer) for g in given):
        before, after = given if len(given) == 2 else (given[0], given[0])
        return [(before, after)] * ndim
    table = np.broadcast_to(np.asarray(given), (ndim, 2))
    return [(row[0], row[1]) for row in table]


def _with_constants(
    recording: Trace, x: Tracer, axis: int, pair: tuple[int, int], constants: tuple[Any, Any]
) -> Tracer:
    def border(width: int, constant: Any) -> list[Tracer]:
        if width == 0:
            return []
        shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
        if isinstance(constant, Tracer):
            filling: Any = cast(recording, constant, x.dtype)._value
        else:
            filling = literal(np.asarray(constant).astype(x.dtype), x.dtype)
        return [recording.record("broadcast_to", (filling,), shape, x.dtype)]

    parts = [*border(pair[0], constants[0]), x, *border(pair[1], constants[1])]
    return concatenate(recording, parts, axis) if len(parts) > 1 else x


def _with_own_elements(
    recording: Trace, x: Tracer, axis: int, pair: tuple[int, int], mode: str
) -> Tracer:
    """NumPy says which element each place holds; runs of neighbours are slices."""
    extent = x.shape[axis]
    try:
        places = np.pad(np.arange(extent), pair, mode=mode).tolist()  # type: ignore[call-overload]
    except ValueError as error:
        raise ShapeError(str(error), user_frame()[0], "an axis with elements") from None
    parts = [piece(recording, x, axis, run) for run in runs(places)]
    return concatenate(recording, parts, axis) if len(parts) > 1 else parts[0]


def runs(places: list[int]) -> list[list[int]]:
    """Places in maximal runs with one step, -1, 0 or 1."""
    runs: list[list[int]] = []
    for place in places:
        run = runs[-1] if runs else []
        step = place - run[-1] if run else 2
        fits = abs(step) <= 1 and (len(run) < 2 or step == run[1] - run[0])
        if run and fits:
            run.append(place)
        else:
            runs.append([place])
    return runs


def piece(recording: Trace, x: Tracer, axis: int, run: list[int]) -> Tracer:
    """The elements of a run along an axis."""
    whole = (slice(None),) * axis
    first, last, step = run[0], run[-1], (run[1] - run[0] if len(run) > 1 else 1)
    if step == 0:
        one = basic_item(x, (*whole, slice(first, first + 1)))
        shape = (*x.shape[:axis], len(run), *x.shape[axis + 1 :])
        return recording.record("broadcast_to", (one._value,), shape, x.dtype)
    stop = last + step
    return basic_item(x, (*whole, slice(first, None if stop < 0 else stop, step)))


FUNCTIONS: dict[Any, Callable[..., Any]] = {np.pad: pad}
