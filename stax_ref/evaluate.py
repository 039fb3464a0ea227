"""evaluate: the graph with plain NumPy, one call per equation: this rung *is* NumPy.

Takes a graph and arrays; gives arrays. It is the lowest rung of the ladder (``interpret``) and what
repeats a failed call to learn NumPy's own exception. Not here: the planned meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import plain
from .errors import note
from .graph import Eqn, Graph, Literal, Value


def run_graph(graph: Graph, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """The graph with plain NumPy, one call per equation.

    Args:
        graph: a traced graph.
        arguments: one array or Python scalar per input.

    Returns:
        one array per output.
    """
    values: dict[str, Any] = {
        entry.value.name: argument for entry, argument in zip(graph.inputs, arguments, strict=True)
    }
    made: dict[tuple[Any, ...], tuple[np.ndarray, ...]] = {}
    with np.errstate(all="ignore"):
        for eqn in graph.eqns:
            args = [a.value if isinstance(a, Literal) else values[a.name] for a in eqn.args]
            if eqn.op != "extern":
                values[eqn.out.name] = _located(eqn, args)
                continue
            call = eqn.param("call")
            if (call, eqn.args) not in made:  # one call, however many of its results are used
                made[call, eqn.args] = call.results(args)
            values[eqn.out.name] = made[call, eqn.args][eqn.param("result")]
    return tuple(
        np.array(values[out.name], dtype=out.dtype).reshape(out.shape) for out in graph.outputs
    )


def _located(eqn: Eqn, args: list[Any]) -> Any:
    """One equation; an exception of NumPy's names the user's line."""
    try:
        return numpy_equation(eqn, args)
    except (IndexError, ValueError) as error:
        if eqn.where is not None:
            note(error, f"{eqn.where.short}: {eqn.where.text}")
        raise


def numpy_equation(eqn: Eqn, args: list[Any]) -> Any:
    """One equation by the NumPy call it stands for."""
    params = dict(eqn.params)
    if eqn.op == "extern":
        return params["call"].results(args)[params["result"]]
    if eqn.op == "cast":
        return np.asarray(args[0]).astype(eqn.out.dtype)
    if eqn.op == "bitcast":
        return np.asarray(args[0]).view(eqn.out.dtype)
    if eqn.op == "power" and "exponent" in params:
        return np.power(args[0], params["exponent"])
    if eqn.op == "getitem":
        return np.asarray(args[0])[tuple(_slice(entry) for entry in params["index"])]
    if eqn.op == "reshape":
        return np.reshape(args[0], eqn.out.shape)
    if eqn.op == "broadcast_to":
        return np.broadcast_to(args[0], eqn.out.shape)
    if eqn.op in _ASSEMBLED:
        return _ASSEMBLED[eqn.op](eqn, args)
    if "initial" in params:
        params["initial"] = params["initial"].value
    nonzero = params.pop("nonzero", False)
    ufunc, _, method = eqn.op.partition(".")
    function = plain.call(ufunc)
    result = (getattr(function, method) if method else function)(*args, **params)
    if nonzero and not np.all(result):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return result


def _put(eqn: Eqn, args: list[Any]) -> Any:
    """NumPy's assignment into a copy, through the view."""
    whole = np.array(args[0], order="C")
    if eqn.param("view") == "getitem":
        whole[tuple(_slice(entry) for entry in eqn.param("index"))] = args[1]
        return whole
    part = Value("part", eqn.param("part"), eqn.out.dtype)
    params = tuple(pair for pair in eqn.params if pair[0] not in ("view", "part"))
    view = replace(eqn, op=eqn.param("view"), out=part, params=params)
    numpy_equation(view, [whole])[...] = args[1]
    return whole


def _gather(eqn: Eqn, args: list[Any]) -> Any:
    """NumPy's advanced indexing with slices of the other axes."""
    source, arrays = np.asarray(args[0]), dict(zip(eqn.param("axes"), args[1:], strict=True))
    key = tuple(np.asarray(arrays[k]) if k in arrays else slice(None) for k in range(source.ndim))
    found = source[key]
    count = np.broadcast(*(np.asarray(a) for a in args[1:])).ndim
    own = _advanced_place(tuple(sorted(arrays)))
    places = range(own, own + count), range(eqn.param("place"), eqn.param("place") + count)
    return np.moveaxis(found, *map(tuple, places))


def _advanced_place(axes: tuple[int, ...]) -> int:
    """Where NumPy puts the axes of index arrays: at the first of them, or first if separated."""
    together = axes == tuple(range(axes[0], axes[-1] + 1))
    return axes[0] if together else 0


def _roll(eqn: Eqn, args: list[Any]) -> Any:
    shifts = eqn.param("shifts")
    return np.roll(args[0], shifts, axis=tuple(range(len(shifts))))


def _tile(eqn: Eqn, args: list[Any]) -> Any:
    shape = np.shape(args[0])
    return np.tile(args[0], [o // s if s else 1 for o, s in zip(eqn.out.shape, shape, strict=True)])


def _diagonal(eqn: Eqn, args: list[Any]) -> Any:
    row, column, offset = eqn.param("axes")
    view = np.diagonal(args[0], offset, row, column)
    view.flags.writeable = args[0].flags.writeable
    return view


def _windows(eqn: Eqn, args: list[Any]) -> Any:
    axes, extents = eqn.param("axes"), eqn.out.shape[args[0].ndim :]
    return np.lib.stride_tricks.sliding_window_view(args[0], extents, axes)


def _iota(eqn: Eqn, args: list[Any]) -> Any:
    count = np.arange(eqn.out.shape[0], dtype=np.int64)
    return (count * eqn.param("step") + eqn.param("start")).astype(eqn.out.dtype)


_ASSEMBLED: dict[str, Callable[[Eqn, list[Any]], Any]] = {
    "concatenate": lambda eqn, args: np.concatenate(args, axis=eqn.param("axis")),
    "put": _put,
    "gather": _gather,
    "roll": _roll,
    "repeat": lambda eqn, args: np.repeat(args[0], eqn.param("repeats"), eqn.param("axis")),
    "tile": _tile,
    "diagonal": _diagonal,
    "windows": _windows,
    "iota": _iota,
}
"""Equations that are no call of a NumPy function with the same parameters."""


def _slice(entry: Any) -> Any:
    if not isinstance(entry, tuple):
        return entry
    start, step, count = entry
    if count == 0:
        return slice(0, 0)
    stop = start + step * count
    return slice(start, None if stop < 0 else stop, step)
