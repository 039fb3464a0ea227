"""Writing into traced arrays: assignment, in-place operators, ``out=``, ``np.add.at`` and kin.

Takes a target and new contents; gives the target's cell a new value (``cells``). A slice becomes a
``put``, a mask a ``where``, an array of indices a call of NumPy's own assignment on a copy, so that
duplicates follow NumPy's rules. Arrays known while tracing are written by NumPy itself as long as
everything is known. Not here: what a view shares with what (``cells``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes
from ..calls import Call, Slot, static
from ..cells import link, write
from ..errors import DtypeError, ShapeError, UnsupportedOperation, ValueDependent, user_frame
from ..graph import Literal, Value, literal
from ..tracer import Trace, Tracer
from .choices import where
from .externs import Arguments, record
from .indexing import is_basic
from .known import Traced, known_of
from .operands import broadcasts_to, convert, demand_cast, describe, normal_axes
from .shapes import basic_item, reshape
from .standins import Returned


def setitem(x: Tracer, key: Any, value: Any) -> None:
    """``x[key] = value``, seen by every view of ``x``."""
    if _written_as_known(x, lambda array, k, v: array.__setitem__(k, v), key, value):
        return
    given = key if isinstance(key, tuple) else (key,)
    masks = [entry for entry in given if _is_mask(entry)]
    if masks:
        if len(given) != 1:
            raise UnsupportedOperation(
                "assignment through a mask beside other indices",
                user_frame()[0],
                "one mask of the array's leading axes",
            )
        _masked(x, masks[0], value)
    elif is_basic(x._trace, given):
        view = basic_item(x, given)
        link(view, x)
        write(view, _filling(view, value))
    else:
        _scattered(x, given, value)


def _is_mask(entry: Any) -> bool:
    if isinstance(entry, list):
        entry = np.asarray(entry) if not any(isinstance(e, Tracer) for e in entry) else entry
    return isinstance(entry, (bool, np.bool_)) or getattr(entry, "dtype", None) == dtypes.BOOL


def _written_as_known(x: Tracer, write_into: Callable[..., Any], *operands: Any) -> bool:
    """NumPy's own write when the array and all operands are known while tracing."""
    try:
        array, *values = (known_of(thing) for thing in (x, *operands))
    except Traced:
        return False
    write_into(array, *values)
    x._cell.value = None
    x._cell.version += 1
    return True


def _filling(target: Tracer, value: Any) -> Value:
    """New contents cast to a target's dtype (as assignment casts) and broadcast to its shape."""
    recording = target._trace
    operand, _ = describe(recording, value)
    if operand is None or isinstance(operand, Literal):
        number = value if operand is None else operand.value
        operand = literal(_cast_constant(number, target.dtype), target.dtype)
    else:
        operand = convert(recording, value, operand, target.dtype)
    shape = operand.shape if isinstance(operand, Value) else ()
    kept = _without_ones(shape, target.ndim)
    if not broadcasts_to(kept, target.shape):
        raise ShapeError(
            f"could not broadcast input array from shape {shape} into shape {target.shape}",
            user_frame()[0],
            "a value of the shape that is written",
        )
    if isinstance(operand, Value) and kept != shape:
        operand = reshape(recording, Tracer(recording, operand), kept)._value
    if isinstance(operand, Value) and kept == target.shape:
        return operand
    return recording.record("broadcast_to", (operand,), target.shape, target.dtype)._value


def _without_ones(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """A shape of at most ``ndim`` axes, if leading ones are all there is to drop (as in NumPy)."""
    while len(shape) > ndim and shape[0] == 1:
        shape = shape[1:]
    return shape


def _cast_constant(number: Any, dtype: np.dtype) -> Any:
    """A constant as assignment casts it, with NumPy's own refusals."""
    one = np.empty(1, dtype)
    one[0] = number
    return one[0]


def _masked(x: Tracer, mask: Any, value: Any) -> None:
    """``x[mask] = value``: the value, one for all or one per place behind the mask's axes."""
    recording = x._trace
    operand, _ = describe(recording, np.asarray(mask) if not isinstance(mask, Tracer) else mask)
    shape = operand.shape if isinstance(operand, Value) else ()
    if shape != x.shape[: len(shape)]:
        raise ShapeError(
            f"boolean index did not match indexed array: shapes {shape} and {x.shape}",
            user_frame()[0],
            "a mask of the array's leading axes",
        )
    rest = x.ndim - len(shape)
    if len(_without_ones(_type_of(value)[1], rest)) > rest:
        raise ValueDependent(
            "how many values x[mask] = values needs depends on the mask",
            user_frame()[0],
            "np.where(mask, new, x) with `new` of the shape of x",
        )
    assert isinstance(operand, Value)
    wide = reshape(recording, Tracer(recording, operand), (*shape, *(1,) * rest))
    filling = _filling(Tracer(recording, x._value), value)
    write(x, where(recording, wide, Tracer(recording, filling), Tracer(recording, x._value))._value)


# arrays of indices --------------------------------------------------------------------------------
class Key:
    """A key whose arrays are numbered places, to be put together again at run time."""

    def __init__(self, entries: tuple[Any, ...]) -> None:
        self.entries = entries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and repr(self.entries) == repr(other.entries)

    def __hash__(self) -> int:
        return hash(repr(self.entries))

    def __repr__(self) -> str:
        return f"[{', '.join(map(str, self.entries))}]"

    def filled(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """The key with its arrays."""
        remaining = iter(arrays)
        return tuple(next(remaining) if entry == "array" else entry for entry in self.entries)


@dataclass(frozen=True, slots=True)
class _Assigned:
    """A write at index arrays into a copy: NumPy's assignment, or a ufunc's ``at``."""

    ufunc: Any = None

    def __call__(self, whole: Any, value: Any, key: Key, *arrays: Any) -> Any:
        out = np.empty(np.shape(whole), np.asarray(whole).dtype)
        self.into(whole, value, key, *arrays, out=out)
        return out

    def into(self, whole: Any, value: Any, key: Key, *arrays: Any, out: np.ndarray) -> None:
        """The same in ``out``, which may be the memory of ``whole`` itself."""
        first = out.__array_interface__["data"][0]
        if np.asarray(whole).__array_interface__["data"][0] != first:
            out[...] = whole
        places = key.filled(arrays)
        if self.ufunc is None:
            out[places] = value  # the last of duplicates stays
        else:
            self.ufunc.at(out, places, *(() if value is None else (value,)))


def _scattered(x: Tracer, given: tuple[Any, ...], value: Any) -> None:
    _write_call(x, "setitem", _Assigned(), given, value)


def _write_call(
    x: Tracer, name: str, function: _Assigned, given: tuple[Any, ...], value: Any
) -> None:
    """A write at index arrays, as one call of NumPy on a copy; the result is the new content."""
    recording = x._trace
    split = Arguments(recording)
    entries: list[Any] = []
    arrays: list[Any] = []
    for entry in given:
        plain = entry is None or entry is Ellipsis or isinstance(entry, (slice, int, np.integer))
        if plain and not isinstance(entry, bool):
            entries.append(entry)
            continue
        entries.append("array")
        arrays.append(np.asarray(entry) if isinstance(entry, list) else entry)
    whole, new, *positions = (split.part(thing) for thing in (x, _operand(value), *arrays))
    key = Key(tuple(entries))
    if any(np.ndim(a) and getattr(a, "dtype", np.dtype(int)).kind not in "iu" for a in arrays):
        raise UnsupportedOperation(
            f"np.{name} with masks among its indices", user_frame()[0], "np.where"
        )
    args = (whole, new, static(key), *positions)
    number = whole.number if isinstance(whole, Slot) and not whole.weak else None
    call = Call(name, function, args, into=function.into, law="values", overwrites=number)
    result = record(recording, call, split.values, Returned(None, ((x.shape, x.dtype),)))
    write(x, result._value)


def _operand(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def ufunc_at(recording: Trace, ufunc: Any, a: Any, indices: Any, *operands: Any) -> None:
    """``np.add.at``: unbuffered, so that duplicates accumulate one after another."""
    if not isinstance(a, Tracer):
        raise UnsupportedOperation(
            f"np.{ufunc.__name__}.at writes into an array that is neither an argument nor made "
            "inside the function",
            user_frame()[0],
            "a copy made inside the function",
        )
    if len(operands) > 1:
        raise UnsupportedOperation(
            f"np.{ufunc.__name__}.at takes one operand", user_frame()[0], "a[...] and b"
        )
    if _written_as_known(a, ufunc.at, indices, *operands):
        return
    given = indices if isinstance(indices, tuple) else (indices,)
    _write_call(a, f"{ufunc.__name__}.at", _Assigned(ufunc), given, *(operands or (None,)))


# operators and ``out`` ----------------------------------------------------------------------------
def in_place(x: Tracer, result: Any, name: str) -> Any:
    """``x += y`` after ``x + y``: arrays are written, scalars are names of new values."""
    known = x._known
    scalar = known is None and (x._value.weak or not x.shape)
    if scalar or result is NotImplemented:
        return result
    if known is not None and isinstance(result, np.generic):
        result = np.asarray(result)
    store(x, result, "same_kind", f"inplace_{name}")
    return x


def store(out: Any, result: Any, casting: str, what: str) -> None:
    """Write a result into ``out``, cast by a rule of NumPy's.

    Raises:
        DtypeError: the rule does not allow the cast.
        ShapeError: the result has another shape.
    """
    if not isinstance(out, Tracer):
        raise UnsupportedOperation(
            f"{what}(..., out=...) into an array that is neither an argument nor made inside the "
            "function",
            user_frame()[0],
            "use the returned array",
        )
    dtype, shape = _type_of(result)
    if not np.can_cast(dtype, out.dtype, casting):  # type: ignore[arg-type]  # a rule's name
        raise DtypeError(
            f"Cannot cast {what} output from {dtype!r} to {out.dtype!r} with casting rule "
            f"{casting!r}",
            user_frame()[0],
            ".astype of the result, or a target of its dtype",
        )
    if shape != out.shape:
        raise ShapeError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the "
            f"broadcast shape {shape}",
            user_frame()[0],
            "a target of the result's shape",
        )
    if not _written_as_known(out, np.copyto, result):
        write(out, _filling(Tracer(out._trace, out._value), result))


def _type_of(result: Any) -> tuple[np.dtype, tuple[int, ...]]:
    if isinstance(result, Tracer):
        return result.dtype, result.shape
    array = np.asarray(result)
    return array.dtype, array.shape


# functions that write -----------------------------------------------------------------------------
def copyto(
    recording: Trace, dst: Any, src: Any, casting: str = "same_kind", where: Any = True
) -> None:
    """``np.copyto``, with a mask or without."""
    if not isinstance(dst, Tracer):
        store(dst, src, casting, "np.copyto")
    dtype, _ = _type_of(src)
    weak = type(src) in (bool, int, float)
    if not weak:
        demand_cast(dtype, dst.dtype, casting, ".astype")
    if where is True:
        setitem(dst, Ellipsis, src)
        return
    putmask(recording, dst, where, src)


def putmask(recording: Trace, a: Any, mask: Any, values: Any) -> None:
    """``np.putmask`` with a value for each place, or one for all."""
    if not isinstance(a, Tracer):
        store(a, values, "same_kind", "np.putmask")
    if _written_as_known(a, np.putmask, mask, values):
        return
    filling = _filling(Tracer(recording, a._value), values)
    chosen = where(recording, mask, Tracer(recording, filling), Tracer(recording, a._value))
    write(a, chosen._value)


def put(recording: Trace, a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """``np.put``: assignment at flat positions."""
    if mode != "raise" or not isinstance(a, Tracer):
        raise UnsupportedOperation(
            "np.put with a mode, or into a constant", user_frame()[0], "a[indices] = values"
        )
    flat = reshape(recording, Tracer(recording, a._value), (-1,))
    setitem(flat, _operand(ind), v)
    write(a, reshape(recording, flat, a.shape)._value)


def put_along_axis(recording: Trace, arr: Any, indices: Any, values: Any, axis: Any = -1) -> None:
    """``np.put_along_axis``."""
    if not isinstance(arr, Tracer) or axis is None:
        raise UnsupportedOperation(
            "np.put_along_axis into a constant or with axis=None", user_frame()[0], "a[...] = v"
        )
    (place,) = normal_axes(axis, arr.ndim)
    key: list[Any] = []
    for k, extent in enumerate(arr.shape):
        shape = [1] * arr.ndim
        shape[k] = extent
        key.append(indices if k == place else np.arange(extent).reshape(shape))
    setitem(arr, tuple(key), values)


def fill_diagonal(recording: Trace, a: Any, val: Any, wrap: bool = False) -> None:
    """``np.fill_diagonal`` of a matrix with one value or one per element."""
    if not isinstance(a, Tracer) or a.ndim != 2 or wrap:
        raise UnsupportedOperation(
            "np.fill_diagonal of anything but a matrix", user_frame()[0], "np.where(np.eye(...))"
        )
    if _written_as_known(a, np.fill_diagonal, val):
        return
    length = min(a.shape)
    view = recording.record("diagonal", (a._value,), (length,), a.dtype, axes=(0, 1, 0))
    link(view, a)
    write(view, _filling(view, val))


def fill(recording: Trace, a: Any, value: Any) -> None:
    """``a.fill(value)``."""
    setitem(a, Ellipsis, value)


def sort(recording: Trace, a: Any, axis: int = -1, **kwargs: Any) -> None:
    """``a.sort()``: in place."""
    from .namespace import call_function

    store(a, call_function(recording, np.sort, (a,), {"axis": axis, **kwargs}), "no", "sort")


def partition(recording: Trace, a: Any, kth: Any, axis: int = -1, **kwargs: Any) -> None:
    """``a.partition(kth)``: in place."""
    from .namespace import call_function

    found = call_function(recording, np.partition, (a, kth), {"axis": axis, **kwargs})
    store(a, found, "no", "partition")


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.copyto: copyto,
    np.putmask: putmask,
    np.put: put,
    np.put_along_axis: put_along_axis,
    np.fill_diagonal: fill_diagonal,
}

BY_CALL = frozenset({np.put, np.put_along_axis})
"""Functions whose write is a call of NumPy's own assignment."""

METHODS: dict[str, Callable[..., Any]] = {
    "fill": fill,
    "put": put,
    "sort": sort,
    "partition": partition,
}
