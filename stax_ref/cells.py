"""cells: what traced arrays stand for while the function writes into them.

Takes values and views of them; gives the value an array holds *now*. NumPy's views share memory; a
trace has only values that never change. So a traced array is a :class:`Cell`, which holds its
newest value, and the chain of views that leads from it to what the user sees: reading replays the
chain on the newest value, writing puts the new part back through it, view by view. A cell may also
hold an array that is known while tracing, which stays NumPy's until a traced value meets it. Not
here: which functions return views, how an assignment becomes a value (``functions.assign``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .errors import UnsupportedOperation, user_frame
from .evaluate import numpy_equation
from .graph import Eqn, Value, literal
from .index import c_strides

if TYPE_CHECKING:
    from .tracer import Trace, Tracer

Path = tuple[Eqn, ...]

SEEN_THROUGH = frozenset({"getitem", "transpose", "reshape", "diagonal", "broadcast_to", "bitcast"})
"""Equations that NumPy's views are made of."""


@dataclass(slots=True, eq=False)
class Cell:
    """The storage that an array and its views share.

    Args:
        value: what it holds now; None while only ``known`` says so.
        known: its content as a NumPy array, while no traced value has been written into it.
        version: counts the writes.
        doubtful: what was taken from it that NumPy may or may not have copied; empty for nothing.
        born: its first value, which decides the layout of NumPy's own array.
        order: ``"C"`` or ``"K"`` for a copy in that order, empty for what ``born`` says.
        strides: those of an array made inside the function, in elements.
    """

    value: Value | None
    known: np.ndarray | None = None
    version: int = 0
    doubtful: str = ""
    born: Value | None = None
    order: str = ""
    strides: tuple[int, ...] = ()


def current(recording: Trace, cell: Cell, path: Path) -> Value:
    """The value at the end of a path: the views replayed on what the cell holds now."""
    if cell.value is None:
        assert cell.known is not None
        cell.value = recorded(recording, cell.known)
    value = cell.value
    for step in path:
        value = _replayed(recording, step, value)
    return value


def _replayed(recording: Trace, step: Eqn, source: Value) -> Value:
    params = dict(step.params)
    return recording.record(step.op, (source,), step.out.shape, step.out.dtype, **params)._value


def known_view(cell: Cell, path: Path) -> np.ndarray | None:
    """The known content at the end of a path, as a NumPy view of the cell's array."""
    array = cell.known
    for step in path:
        if array is None:
            return None
        if step.op == "bitcast":
            array = array.view(step.out.dtype)
        else:
            array = np.asarray(numpy_equation(step, [array]))
    return array


def recorded(recording: Trace, array: np.ndarray) -> Value:
    """A known array as a value: a constant or a count where it is one, otherwise its elements."""
    where, _ = user_frame()
    if array.size and _is_uniform(array):
        constant = literal(array.flat[0], array.dtype)
        return recording.record("broadcast_to", (constant,), array.shape, array.dtype)._value
    if array.ndim == 1 and array.size > 1 and array.dtype.kind in "iu":
        start, step = int(array[0]), int(array[1]) - int(array[0])
        if np.array_equal(array, (start + step * np.arange(array.size)).astype(array.dtype)):
            shape, dtype = array.shape, array.dtype
            return recording.record("iota", (), shape, dtype, start=start, step=step)._value
    return recording.captured(np.array(array, order="C"), where)._value


def _is_uniform(array: np.ndarray) -> bool:
    """Every element has the bits of the first."""
    if array.dtype.kind != "f":
        return bool(np.all(array == array.flat[0]))
    bits = np.ascontiguousarray(array).view(f"u{array.itemsize}")
    return bool(np.all(bits == bits.flat[0]))


def chain(recording: Trace, value: Value, source: Value) -> Path | None:
    """The views that lead from ``source`` to ``value``; None when something else does."""
    steps: list[Eqn] = []
    while value.name != source.name:
        eqn = recording.made.get(value.name)
        if eqn is None or eqn.op not in SEEN_THROUGH or not isinstance(eqn.args[0], Value):
            return None
        steps.append(eqn)
        value = eqn.args[0]
    return tuple(reversed(steps))


def link(result: Tracer, source: Tracer, ravelled: bool = False) -> None:
    """Let a result share the storage of the array it is a view of, as in NumPy.

    Args:
        result: what a view function returned.
        source: the array it was given.
        ravelled: the function was ``ravel``, which copies whatever is not contiguous, where
            ``reshape`` only copies what no strides can express.
    """
    path = chain(result._trace, result._value, source._value)
    if path is None:
        return
    reshapes = [number for number, step in enumerate(path) if step.op == "reshape"]
    for number in reshapes or ([len(path)] if ravelled else []):
        shape = path[number].out.shape if reshapes else result.shape
        shared = _shares(source, (*source._path, *path[:number]), shape, ravelled)
        if shared is None:
            source._cell.doubtful = "reshape"
        if not shared:
            result._cell.order = "C"  # a copy
            return
    result._cell, result._path = source._cell, (*source._path, *path)
    result._seen = (source._cell.version, result._value)


def _shares(source: Tracer, path: Path, shape: tuple[int, ...], ravelled: bool) -> bool | None:
    """Whether NumPy's reshape is a view here; None when its layout is not known."""
    recording, cell = source._trace, source._cell
    if cell.born is None:
        held = cell.value if cell.known is None else cell.known
        assert held is not None
        base = _shadow(held.shape, cell.strides)
    else:
        base = _shadow(cell.born.shape, _strides_of_cell(recording, cell.born, cell.order))
    if base is None:
        return None
    for earlier in path:
        if earlier.op != "bitcast":  # of equal size: the strides stay
            base = np.asarray(numpy_equation(earlier, [base]))
    if ravelled and not base.flags.c_contiguous:
        return False
    reshaped = base.reshape(shape)
    return bool(reshaped.size == 0 or np.may_share_memory(base, reshaped))


def _shadow(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> np.ndarray | None:
    """An array of bytes with the strides NumPy's own array has, without memory to speak of."""
    if strides is None:
        return None
    return np.lib.stride_tricks.as_strided(np.zeros(1, np.bool_), shape, strides, writeable=False)


def _strides_of_cell(recording: Trace, born: Value, order: str) -> tuple[int, ...] | None:
    if order == "C":
        return c_strides(born.shape)
    return _dense(recording, [born], born.shape) if order == "K" else _strides(recording, born)


def _strides(recording: Trace, value: Value) -> tuple[int, ...] | None:
    """Strides, in elements, of the array that NumPy itself would hold; None when not known.

    A result is dense, with the axes in the order of its operands' strides: in C order when theirs
    are.
    """
    name = value.name
    if name not in recording.strides:
        eqn = recording.made.get(name)
        recording.strides[name] = None if eqn is None else _strides_made(recording, eqn)
    return recording.strides[name]


def _strides_made(recording: Trace, eqn: Eqn) -> tuple[int, ...] | None:
    sources = [a for a in eqn.args if isinstance(a, Value)]
    if eqn.op in SEEN_THROUGH and sources:
        shadow = _shadow(sources[0].shape, _strides(recording, sources[0]))
        if shadow is None:
            return None
        return shadow.strides if eqn.op == "bitcast" else numpy_equation(eqn, [shadow]).strides
    return _dense(recording, sources, eqn.out.shape)


def _dense(
    recording: Trace, sources: Sequence[Value], shape: tuple[int, ...]
) -> tuple[int, ...] | None:
    """C-order strides where every operand's axes are in C order, None otherwise."""
    for source in sources:
        strides = _strides(recording, source) if len(source.shape) > 1 else ()
        if strides is None:
            return None
        steps = [abs(s) for s, n in zip(strides, source.shape, strict=False) if n > 1 and s]
        if steps != sorted(steps, reverse=True):
            return None
    return c_strides(shape)


def write(target: Tracer, new: Value) -> None:
    """Let an array hold a new value, through the views that lead to it.

    Args:
        target: the array.
        new: of its shape and dtype.

    Raises:
        UnsupportedOperation: NumPy's own sharing of memory is not known here.
        ValueError: as NumPy's, the array is a read-only view.
    """
    recording, cell = target._trace, target._cell
    if cell.doubtful:
        taken = f"of which a {cell.doubtful} was taken that NumPy may have copied"
        raise UnsupportedOperation(
            f"a write into an array {taken}",
            user_frame()[0],
            f".copy() of the array or of the {cell.doubtful} before one of them is written",
        )
    wholes = [current(recording, cell, ())]
    for step in target._path:
        if step.op == "broadcast_to":
            raise ValueError("assignment destination is read-only")
        wholes.append(_replayed(recording, step, wholes[-1]))
    for step, whole in zip(reversed(target._path), reversed(wholes[:-1]), strict=True):
        new = _put(recording, step, whole, new)
    cell.value, cell.known = new, None
    cell.version += 1


def _put(recording: Trace, step: Eqn, whole: Value, part: Value) -> Value:
    """A whole with the part that a view shows replaced."""
    params = dict(step.params)
    if step.op == "bitcast":
        return recording.record("bitcast", (part,), whole.shape, whole.dtype)._value
    if step.op == "getitem" and _is_everything(params["index"], whole.shape):
        return part
    return recording.record(
        "put", (whole, part), whole.shape, whole.dtype, view=step.op, part=part.shape, **params
    )._value


def _is_everything(index: tuple[object, ...], shape: tuple[int, ...]) -> bool:
    return index == tuple((0, 1, extent) for extent in shape)
