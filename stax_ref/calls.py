"""calls: a call from inside a plan back into Python, with everything but its arrays bound.

Takes a function and the arguments of one call, in which arrays are numbered places; gives a
:class:`Call` that runs on arrays, prints, and compares equal to another of the same function and
the same static arguments. Holds how results reach the plan's buffers. Not here: which function of
NumPy is called this way (``functions.externs``), what a call reads (``calling``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .capture import key_of
from .errors import DtypeError, ShapeError
from .statics import Static


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one array among the arguments; ``weak`` ones become Python scalars."""

    number: int
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple or list among the arguments."""

    kind: type
    entries: tuple[Part, ...]


Part = Slot | Static | Several


def static(value: Any) -> Static:
    """An argument known while tracing; equal to another when no call can tell them apart.

    Unlike one of ``statics.static``, an array is known by its elements.
    """
    if isinstance(value, np.ndarray):
        return Static(("array", value.shape, value.dtype.str, value.tobytes()), value)
    if isinstance(value, (np.dtype, type)):
        return Static(value, value)
    return Static(key_of(value), value)


@dataclass(frozen=True, slots=True)
class Call:
    """One external call.

    Args:
        name: what it is called in texts, ``"linalg.eigh"``.
        function: called with NumPy arrays in the places of the slots.
        args: positional arguments.
        kwargs: keyword arguments.
        count: number of results; None for a function that returns one array and no tuple.
        into: called like ``function`` with ``out``, the buffer it fills; None where results are
            copied.
        is_numpy: False for a function of the user's own.
        law: ``"values"`` when results follow from the values of the operands, whatever their
            layout in memory; ``"monotone"`` when also raising an operand never lowers an element
            of a float result; empty when neither is known.
        shapes: shapes of the wanted results, where buffers hold them under other shapes.
        overwrites: number of the operand that ``into`` changes a copy of; where ``out`` is that
            operand's own memory it changes it there.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Part, ...]
    kwargs: tuple[tuple[str, Part], ...] = ()
    count: int | None = None
    into: Callable[..., Any] | None = field(default=None, compare=False)
    is_numpy: bool = True
    law: str = field(default="", compare=False)
    shapes: tuple[tuple[int, ...], ...] | None = field(default=None, compare=False)
    overwrites: int | None = field(default=None, compare=False)

    def returned(self, operands: Sequence[Any]) -> Any:
        """What the function returns on these operands, as it returns it."""
        args, kwargs = self._bound(operands)
        with self._quiet():
            return self.function(*args, **kwargs)

    def results(self, operands: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """Every result on these operands, as arrays.

        Raises:
            whatever the function raises.
            ShapeError: it does not return as many arrays as it should.
        """
        found = self.returned(operands)
        if self.count is None:
            return (np.asarray(found),)
        if not isinstance(found, (tuple, list)) or len(found) != self.count:
            given = f"{len(found)} results" if isinstance(found, tuple) else "no tuple"
            raise ShapeError(f"{self.name} returned {given} instead of {self.count} arrays")
        return tuple(map(np.asarray, found))

    def fill(
        self, operands: Sequence[np.ndarray], outs: Sequence[np.ndarray], wanted: Sequence[int]
    ) -> None:
        """Call, and write some of the results to memory.

        Args:
            operands: the array of each slot.
            outs: one C-order array per wanted result, of its size and dtype; written.
            wanted: numbers of results.

        Raises:
            whatever the function raises.
            ShapeError, DtypeError: a result is not what was planned.
        """
        if self.shapes is not None:
            outs = [out.reshape(shape) for out, shape in zip(outs, self.shapes, strict=True)]
        if self.into is not None:
            args, kwargs = self._bound(operands)
            with self._quiet():
                self.into(*args, out=outs[0], **kwargs)
            return
        found = self.results(operands)
        for out, number in zip(outs, wanted, strict=True):
            result = found[number]
            if result.shape != out.shape:
                raise ShapeError(
                    f"{self.name} returned shape {result.shape} instead of {out.shape}"
                )
            if result.dtype != out.dtype:
                raise DtypeError(
                    f"{self.name} returned dtype {result.dtype} instead of {out.dtype}"
                )
            out[...] = result

    @property
    def direct(self) -> Callable[..., Any] | None:
        """The function that may be called with the operands and ``out`` as they are, if any."""
        plain = tuple(Slot(number) for number in range(len(self.args)))
        as_they_are = self.args == plain and not self.kwargs and self.shapes is None
        return self.into if as_they_are else None

    def _quiet(self) -> contextlib.AbstractContextManager[Any]:
        """NumPy's floating point warnings are not reproduced; a user's function keeps its own."""
        return np.errstate(all="ignore") if self.is_numpy else contextlib.nullcontext()

    def _bound(self, operands: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        args = [_filled(part, operands) for part in self.args]
        return args, {name: _filled(part, operands) for name, part in self.kwargs}

    def with_static(self, values: Mapping[int, Any]) -> Call:
        """The call with some of its slots bound to values; the others are numbered anew."""
        count = 1 + max((slot.number for slot in self._slots()), default=-1)
        remaining = [number for number in range(count) if number not in values]
        numbers = {number: k for k, number in enumerate(remaining)}

        def bind(part: Part) -> Part:
            if isinstance(part, Several):
                return Several(part.kind, tuple(map(bind, part.entries)))
            if isinstance(part, Static):
                return part
            if part.number in values:
                return static(values[part.number])
            return Slot(numbers[part.number], part.weak)

        return replace(
            self,
            args=tuple(map(bind, self.args)),
            kwargs=tuple((name, bind(part)) for name, part in self.kwargs),
            overwrites=None,
        )

    def _slots(self) -> list[Slot]:
        pending: list[Part] = [*self.args, *(part for _, part in self.kwargs)]
        found = []
        while pending:
            part = pending.pop()
            if isinstance(part, Several):
                pending += part.entries
            elif isinstance(part, Slot):
                found.append(part)
        return found

    def label(self, number: int) -> str:
        """A name for one result."""
        short = self.name.rpartition(".")[2]
        short = short if short.isidentifier() else "external"
        return short if self.count is None else f"{short}_{number}"

    def text(self, operands: Sequence[str]) -> str:
        """``sort(x, axis=-1)``."""
        args = [_text(part, operands) for part in self.args]
        args += [f"{name}={_text(part, operands)}" for name, part in self.kwargs]
        return f"{self.name}({', '.join(args)})"

    def __str__(self) -> str:
        return self.name


def _filled(part: Part, operands: Sequence[Any]) -> Any:
    """An argument of the call; arrays are read-only."""
    if isinstance(part, Several):
        return part.kind(_filled(entry, operands) for entry in part.entries)
    if isinstance(part, Static):
        return part.value
    array = np.asarray(operands[part.number])
    if part.weak:
        return array.item()
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _text(part: Part, operands: Sequence[str]) -> str:
    if isinstance(part, Slot):
        return operands[part.number]
    if isinstance(part, Static):
        return _static_text(part.value)
    inside = ", ".join(_text(entry, operands) for entry in part.entries)
    if part.kind is list:
        return f"[{inside}]"
    return f"({inside},)" if len(part.entries) == 1 else f"({inside})"


def _static_text(value: Any) -> str:
    if isinstance(value, np.dtype):
        return f"np.{value.name}"
    if isinstance(value, type):
        return f"np.{value.__name__}" if value.__module__ == "numpy" else value.__name__
    if isinstance(value, np.ndarray):
        return f"np.empty({value.shape}, np.{value.dtype})" if not value.size else repr(value)
    if isinstance(value, float) and not np.isfinite(value):
        return f'float("{value}")'
    return repr(value)
