"""The stand-in for an array while a function is traced, and the recording it writes to.

Takes the operations the user's code performs on it; gives equations in a :class:`Trace`. NumPy
hands its calls to a :class:`Tracer` through ``__array_ufunc__``, ``__array_function__`` and
``__array_namespace__``. Names of values are the user's own variables, read from the frame that made
the call. Not here: what each NumPy function becomes (``namespace``), the run itself (``trace``).
"""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import dtypes
from .cells import Cell, Path, current, known_view
from .errors import (
    DtypeError,
    TraceError,
    UnsupportedOperation,
    ValueDependent,
    Where,
    user_frame,
)
from .graph import Eqn, Input, Operand, Params, Value, literal
from .index import c_strides
from .nested import entries
from .operators import Operators

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")

WATCHED_BYTES = 1 << 26
"""Captured arrays up to this size are watched for changes during a trace, through a copy."""


class Trace:
    """The recording of one run: inputs, equations, and the names the user gave to values."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Input] = []
        self.eqns: list[Eqn] = []
        self.names: dict[str, str] = {}
        self.bounds: dict[str, tuple[int, int]] = {}
        self.affine: dict[str, tuple[str, int, int]] = {}
        self.made: dict[str, Eqn] = {}
        self.strides: dict[str, tuple[int, ...] | None] = {}
        self._arguments: list[tuple[int, Tracer]] = []
        self._captured: dict[int, tuple[Tracer, np.ndarray, np.ndarray | None, Where]] = {}

    def input(self, kind: str, value: Value, strides: tuple[int, ...] | None = None) -> Tracer:
        """Add an input and return the tracer that stands for it."""
        value = replace(value, name=f"%{len(self.inputs)}i")
        self.inputs.append(Input(value, kind, strides))
        tracer = Tracer(self, value)
        if kind == "array":
            self.strides[value.name] = c_strides(value.shape) if strides is None else strides
            self._arguments.append((len(self.inputs) - 1, tracer))
        return tracer

    def written(self) -> list[tuple[int, Value]]:
        """Inputs that the function wrote into, and what they hold at its end."""
        pairs = [(number, tracer._value) for number, tracer in self._arguments]
        return [(n, value) for n, value in pairs if value != self.inputs[n].value]

    def captured(self, array: np.ndarray, where: Where) -> Tracer:
        """An array the function found outside its arguments: an input re-read at each call."""
        known = self._captured.get(id(array))
        if known is not None:
            self._unchanged(id(array), where)
            return known[0]
        regular = all(stride % max(array.itemsize, 1) == 0 for stride in array.strides)
        plain_type = type(array) in (np.ndarray, np.memmap)
        if not (plain_type and array.dtype.isnative and array.flags.aligned and regular):
            raise DtypeError(
                f"a captured {type(array).__name__} that the kernels cannot read in place",
                where,
                "np.ascontiguousarray of it, as a plain ndarray in native byte order",
            )
        if not dtypes.is_supported(array.dtype):
            raise DtypeError(
                f"a captured array has dtype {array.dtype}",
                where,
                f"{dtypes.way_out(array.dtype)}, made before the call; "
                f"carried are {dtypes.supported_names()}",
            )
        plain = canonical(array)
        value = Value(f"%{len(self.inputs)}i", plain.shape, plain.dtype)
        self.inputs.append(Input(value, "captured", element_strides(plain), None, plain))
        copy = plain.copy() if plain.nbytes <= WATCHED_BYTES else None
        self._captured[id(array)] = (Tracer(self, value), array, copy, where)
        return self._captured[id(array)][0]

    def _unchanged(self, key: int, where: Where | None) -> None:
        """Refuse an array that the function itself changes while it is traced."""
        _, array, copy, first = self._captured[key]
        if copy is not None and not np.array_equal(array, copy, equal_nan=copy.dtype.kind == "f"):
            raise TraceError(
                "an array that is no argument changes inside the function",
                where or first,
                "compute a new array instead of writing into this one",
            )

    def finish(self) -> None:
        """No captured array changed during the trace."""
        for key in self._captured:
            self._unchanged(key, None)

    def record(
        self,
        op: str,
        args: Sequence[Operand],
        shape: tuple[int, ...],
        dtype: np.dtype,
        weak: bool = False,
        /,
        **params: Any,
    ) -> Tracer:
        """Append one equation and return the tracer of its result."""
        where, frame_locals = user_frame()
        self.name_locals(frame_locals)
        out = Value(f"%{len(self.eqns)}", tuple(shape), dtype, weak)
        packed: Params = tuple(params.items())
        self.eqns.append(Eqn(out, op, tuple(args), packed, where))
        self.made[out.name] = self.eqns[-1]
        return Tracer(self, out)

    def name_locals(self, frame_locals: Mapping[str, object]) -> None:
        """Give values the names of the user's variables that hold them; the first name stays."""
        for name, held in frame_locals.items():
            if isinstance(held, Tracer) and held._trace is self and _NAME.match(name):
                value = held._newest()
                if value is not None:
                    self.names.setdefault(value.name, name)

    def limit(self, value: Value, low: int, high: int) -> None:
        """Remember that a weak integer must fit a dtype (NEP 50, OverflowError at the call).

        A computed one is ``factor * input + offset``: its limits become limits of the input.
        """
        source, factor, offset = self.affine.get(value.name, (value.name, 1, 0))
        if factor == 0:
            return
        ends = (low - offset, high - offset)
        first, last = ends if factor > 0 else (-ends[1], -ends[0])
        low, high = -(-first // abs(factor)), last // abs(factor)
        known = self.bounds.get(source, (low, high))
        self.bounds[source] = (max(low, known[0]), min(high, known[1]))


def canonical(array: np.ndarray) -> np.ndarray:
    """The same memory as a plain ndarray of NumPy's first dtype of this kind and size.

    C has two 64-bit integer types; NumPy has a dtype number for each and calls them equal.
    """
    plain = array.view(np.ndarray) if type(array) is not np.ndarray else array
    for dtype in dtypes.SHORT:
        if plain.dtype == dtype and plain.dtype.num != dtype.num:
            return plain.view(dtype)
    return plain


def element_strides(array: np.ndarray) -> tuple[int, ...] | None:
    """Strides in elements, None when the array is C-contiguous (axes of length 1 ignored)."""
    if array.flags.c_contiguous:
        return None
    return tuple(
        0 if extent == 1 else stride // array.itemsize
        for stride, extent in zip(array.strides, array.shape, strict=True)
    )


class Tracer(Operators):
    """Stands for an array while the function is traced. NumPy hands it every call."""

    __slots__ = ("_cell", "_path", "_seen", "_trace")
    _trace: Trace
    __array_priority__ = 1000.0

    def __init__(self, trace: Trace, value: Value | None, known: np.ndarray | None = None) -> None:
        self._trace = trace
        self._cell = Cell(value, known, born=value)
        if known is not None:
            self._cell.strides = tuple(step // known.itemsize for step in known.strides)
        self._path: Path = ()
        self._seen: tuple[int, Value | None] = (0, value)

    @property
    def _value(self) -> Value:
        """What the array holds now, as a value of the graph."""
        version, value = self._seen
        if value is None or version != self._cell.version:
            value = current(self._trace, self._cell, self._path)
            self._seen = (self._cell.version, value)
        return value

    def _newest(self) -> Value | None:
        """The value if it is recorded already and up to date."""
        version, value = self._seen
        return value if version == self._cell.version else None

    @property
    def _known(self) -> np.ndarray | None:
        """The content while it is known, as a view of the cell's own array."""
        return known_view(self._cell, self._path)

    @property
    def _type(self) -> np.ndarray | Value:
        known = self._known
        return self._value if known is None else known

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, a tuple of ints known while tracing."""
        return self._type.shape

    @property
    def dtype(self) -> np.dtype:
        """NumPy dtype."""
        return self._type.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """``"cpu"``, as NumPy's arrays say."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: Any = None) -> Tracer:
        """The array itself on ``"cpu"``; any other device is NumPy's ValueError."""
        if stream is not None or device != "cpu":
            raise ValueError(f"Unsupported device: {device}")
        return self

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        known = self._known
        return f"Tracer({self._value.type_text})" if known is None else f"Tracer({known!r})"

    # NumPy's protocols ---------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from . import made
        from .functions import namespace

        given, options = made.tracers(inputs), made.tracers(kwargs)
        return namespace.call_ufunc(self._trace, ufunc, method, given, options)

    def __array_function__(
        self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        from . import made
        from .functions import namespace

        given, options = made.tracers(args), made.tracers(kwargs)
        return namespace.call_function(self._trace, func, given, options)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return np

    # what needs a value --------------------------------------------------------------------------
    def __bool__(self) -> bool:
        if self._known is not None:
            return bool(self._known)
        raise ValueDependent(
            "a branch needs the value of a traced array",
            user_frame()[0],
            "np.where(condition, a, b) computes both sides; or make the deciding argument static: "
            "stax.jit(static_argnames=...)",
        )

    def _content(self, call: str) -> Any:
        """The content of a known array; refused for a traced one."""
        known = self._known
        if known is not None:
            return known[()]
        raise ValueDependent(
            f"{call} needs the value of a traced array",
            user_frame()[0],
            "keep it an array (0-d arrays work in every operation) and convert after the call",
        )

    def __float__(self) -> float:
        return float(self._content("float()"))

    def __int__(self) -> int:
        return int(self._content("int()"))

    def __index__(self) -> int:
        return operator.index(self._content("an index"))

    def __complex__(self) -> complex:
        return complex(self._content("complex()"))

    def __round__(self, digits: int | None = None) -> Any:
        """``round(x, digits)`` of one number stays an array; without digits it is a Python int."""
        if digits is None or self.shape or self._known is not None:
            return round(self._content("round()"), digits)
        from .functions import arithmetic

        return arithmetic.around(self._trace, self, digits)

    def __format__(self, spec: str) -> str:
        if not spec and self._known is None:
            return repr(self)
        return format(self._content(f"formatting with {spec!r}"), spec)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        askers = {sys._getframe(1).f_code.co_name, sys._getframe(2).f_code.co_name}
        if self._known is None and "as_strided" in askers:  # NumPy dispatches it to nobody
            raise UnsupportedOperation(
                "as_strided lays strides over memory, and a traced array has none",
                user_frame()[0],
                "slices, or np.lib.stride_tricks.sliding_window_view",
            )
        return np.array(self._content("np.asarray()"), dtype=dtype)

    def item(self, *args: Any) -> Any:
        """A known element as a Python number; refused for a traced array."""
        return self._content("item()").item(*args)

    def tolist(self) -> Any:
        """A known array as a list; refused for a traced array."""
        return self._content("tolist()").tolist()

    def __iter__(self) -> Any:
        if self._known is not None:
            return (self[k] for k in range(len(self)))
        raise ValueDependent(
            "iteration over a traced array",
            user_frame()[0],
            "whole-array operations, or for i in range(x.shape[0]): x[i] for a short axis",
        )

    def __contains__(self, item: Any) -> bool:
        if self._known is not None:
            return item in self._known
        raise ValueDependent(
            "'in' needs the values of a traced array",
            user_frame()[0],
            "np.max(x == item) as an array",
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        from .functions import assign
        from .made import tracers

        assign.setitem(self, tracers(key), tracers(value))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from .functions import namespace, refused
        from .made import tracers

        method = namespace.METHODS.get(name)
        if method is not None:
            return lambda *args, **kwargs: method(self, *tracers(args), **tracers(kwargs))
        if hasattr(np.ndarray, name):
            raise refused.method_refusal(name) or UnsupportedOperation(
                f"the array method or attribute .{name} is not supported",
                user_frame()[0],
                "the supported ones are " + ", ".join(sorted(namespace.METHODS)),
            )
        raise AttributeError(f"a NumPy array has no attribute {name!r}")

    @property
    def T(self) -> Any:
        """Axes reversed, as an index transformation."""
        from .functions import namespace

        return namespace.METHODS["transpose"](self)

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        from .functions import namespace

        return namespace.call_function(self._trace, np.matrix_transpose, (self,), {})

    @property
    def real(self) -> Tracer:
        """The array itself: every carried dtype is real."""
        return self

    @property
    def imag(self) -> Tracer:
        """Zeros of the same shape and dtype."""
        from .functions import arithmetic

        return arithmetic.imag(self._trace, self)

    def __getitem__(self, key: Any) -> Any:
        from .functions import namespace
        from .made import tracers

        return namespace.item(self, tracers(key))

    def __hash__(self) -> int:
        raise TypeError("unhashable type: a traced array")


def as_operand(recording: Trace, thing: Any) -> Operand | None:
    """A tracer, array or NumPy scalar as an operand; None for a Python scalar or a stranger."""
    if isinstance(thing, Tracer):
        if thing._trace is not recording:
            raise TraceError(
                "a traced array of another call is used here",
                user_frame()[0],
                "pass it as an argument",
            )
        return thing._value
    if isinstance(thing, np.generic):
        return literal(thing, thing.dtype)
    if isinstance(thing, (list, tuple)):
        if any(isinstance(entry, Tracer) for entry in entries(thing)):
            from .functions import joining

            return joining.stack(recording, thing)._value
        thing = np.asarray(thing)
    if isinstance(thing, np.ndarray):
        return recording.captured(thing, user_frame()[0])._value
    return None
