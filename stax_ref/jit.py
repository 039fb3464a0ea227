"""jit: the decorator and its specialisations.

Takes the user's function; gives a callable that is compiled once per argument types. Holds what a
specialisation depends on: shapes, dtypes and strides of arrays, types of Python scalars, values of
static arguments, what the function reads besides its arguments, and the configuration. Not here:
the objects between a trace and a call (``staged``), what is printed (``report``), comparing with
the oracle (``ladder``).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from . import capture, config, dtypes
from .compile import compile_graph
from .config import Config
from .errors import ConfigError, DtypeError, TraceError
from .graph import Graph
from .plan import Plan
from .staged import Executable, Staged, Traced, build
from .trace import trace
from .tracer import Tracer, canonical, element_strides

Specs = tuple[tuple[str, Any], ...]
_Guard = tuple[Any, str, Any]
"""A place and what it held: what the fast path compares by identity before it runs a program."""

FAST_PROGRAMS = 32
"""Programs a dispatcher tries in turn; beyond that, the table of specialisations is faster."""


class Jitted:
    """A jitted function; see :func:`jit`."""

    def __init__(
        self, function: Callable[..., Any], static: tuple[str, ...], changes: dict[str, Any]
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._static = static
        self._changes = changes
        self._entries: dict[Any, tuple[Executable, tuple[_Guard, ...]]] = {}
        self._lock = threading.RLock()
        self._signature: inspect.Signature | None = None
        self._places: tuple[capture.Place, ...] | None = None
        self._call: Any = _dispatcher(self._slow)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __copy__(self) -> Jitted:
        return self

    def __deepcopy__(self, memo: Any) -> Jitted:
        return self

    def __reduce__(self) -> Any:
        """By reference, as functions are pickled; a jitted lambda cannot be."""
        return self._function.__qualname__

    def __repr__(self) -> str:
        return f"<stax.jit of {getattr(self._function, '__qualname__', self._function)}>"

    # the staged API -------------------------------------------------------------------------------
    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Run the function on tracers.

        Args:
            *args, **kwargs: as for a call; only types matter, and values of static arguments.

        Raises:
            TraceError: the function does something a trace cannot follow.
        """
        names, specs, _ = self._typed(args, kwargs)
        return Traced(self._trace(names, specs), self._config())

    def lower(self, *args: Any, **kwargs: Any) -> Staged:
        """Trace and run every stage; arguments as for a call."""
        return self.trace(*args, **kwargs).lower()

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What was fused, why, what was not and why; bytes moved; kernels; peak memory."""
        report = importlib.import_module("stax_ref.report")
        text: str = report.explain(self.lower(*args, **kwargs).program)
        return text

    def check(self, *args: Any, **kwargs: Any) -> Any:
        """Climb the ladder on these arguments: plain NumPy, nodes, kernels, points, native.

        Returns:
            a ``ladder.Report``: prints per output whether bits are equal, or where not.
        """
        ladder = importlib.import_module("stax_ref.ladder")
        names, specs, dynamic = self._typed(args, kwargs)
        program = compile_graph(self._trace(names, specs), self._config())
        name = self._config().backend
        executable = build(program, name) if name != "ref" else None
        return ladder.climb(program, dynamic, executable)

    # calls ----------------------------------------------------------------------------------------
    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call whose types no compiled program has matched so far."""
        if any(_is_traced(value) for value in (*args, *kwargs.values())):
            return self._function(*args, **kwargs)  # inside another trace: part of it
        names, specs, dynamic = self._typed(args, kwargs)
        executable, guards = self._entry(names, specs)
        self._check_bounds(executable.plan, dynamic)
        if self._config().check == 3 and executable.backend != "ref":
            ladder = importlib.import_module("stax_ref.ladder")
            ladder.demand(executable, dynamic)
        loaded = executable.loaded
        all_dynamic = len(dynamic) == len(args)
        whole = capture.all_present(guards)
        fast = hasattr(self._call, "add") and all_dynamic and not kwargs and whole
        direct = getattr(loaded, "is_direct", False) and self._config().check < 3
        if fast and direct and loaded.program not in self._call.programs:
            if len(self._call.programs) >= FAST_PROGRAMS:
                self._call.clear()
            self._call.add(loaded.program, (*guards, (config.state, "blocks", None)))
        return executable(*dynamic)

    def _entry(self, names: Sequence[str], specs: Specs) -> tuple[Executable, tuple[_Guard, ...]]:
        with self._lock:
            places = self._captures()
            key = (specs, capture.snapshot(places), self._config())
            entry = self._entries.get(key)
            if entry is None:  # a function it calls may have been rebound: look again
                self._places = places = capture.places(self._function)
                key = (specs, capture.snapshot(places), self._config())
                entry = self._entries.get(key)
            if entry is None:
                guards = tuple((place.holder, place.key, place.read()) for place in places)
                program = compile_graph(self._trace(names, specs), self._config())
                executable = build(program, self._config().backend)
                entry = self._entries[key] = (executable, guards)
            return entry

    def _captures(self) -> tuple[capture.Place, ...]:
        if self._places is None:
            self._places = capture.places(self._function)
        return self._places

    def _config(self) -> Config:
        return replace(config.current(), **self._changes)

    def _trace(self, names: Sequence[str], specs: Specs) -> Graph:
        name = getattr(self._function, "__name__", "function")
        call = self._caller(names)
        place = capture.place_of(self._function)
        before = capture.generators(self._function)
        known = name if name.isidentifier() else "function"
        graph = trace(call, known, _pairs(names, specs), place)
        if capture.draws(self._function) or capture.generators(self._function) != before:
            raise TraceError(
                "np.random inside a jitted function would be drawn once, while tracing",
                place,
                "draw outside and pass the array as an argument",
            )
        return graph

    def _caller(self, names: Sequence[str]) -> Callable[..., Any]:
        """The function with every argument positional, whatever kind of parameter it was."""
        parameters = self._parameters()
        keyword = [n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
        count = len(names) - len(keyword)

        def call(*values: Any) -> Any:
            return self._function(
                *values[:count], **dict(zip(keyword, values[count:], strict=True))
            )

        return call if keyword else self._function

    def _parameters(self) -> dict[str, inspect.Parameter]:
        if self._signature is None:
            self._signature = inspect.signature(self._function)
            unknown = set(self._static) - set(self._signature.parameters)
            if unknown:
                raise ConfigError(
                    f"static_argnames has {sorted(unknown)[0]!r}, which is no parameter",
                    instead="one of " + ", ".join(self._signature.parameters),
                )
        return dict(self._signature.parameters)

    def _typed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[str], Specs, list[Any]]:
        """Names and types of all arguments, and the values a program takes when it is called."""
        names, values = self._bind(args, kwargs)
        specs = tuple(self._spec(n, v) for n, v in zip(names, values, strict=True))
        dynamic = [_plain(v) for v, s in zip(values, specs, strict=True) if s[0] != "static"]
        return names, specs, dynamic

    def _bind(self, args: tuple[Any, ...], kwargs: Any) -> tuple[list[str], list[Any]]:
        """Names and values of all arguments in the order of the signature.

        A parameter the caller leaves out keeps its default, which is part of the function and
        not traced.
        """
        parameters = self._parameters()
        assert self._signature is not None
        bound = self._signature.bind(*args, **kwargs)
        passed = set(bound.arguments)
        bound.apply_defaults()
        names: list[str] = []
        values: list[Any] = []
        for name, value in bound.arguments.items():
            kind = parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                names += [f"{name}{k}" for k in range(len(value))]
                values += value
            elif kind is inspect.Parameter.VAR_KEYWORD:
                if value:
                    raise ConfigError(
                        "a jitted function cannot take **keywords", instead="named parameters"
                    )
            else:
                names.append(name)
                values.append(value if name in passed else _Static(_DEFAULT, value))
        return names, values

    def _spec(self, name: str, value: Any) -> tuple[Any, ...]:
        """What of an argument a specialisation depends on."""
        if isinstance(value, _Static):
            return ("static", value)
        if name in self._static:
            try:
                hash(value)
            except TypeError:
                raise ConfigError(
                    f"the static argument {name} is not hashable", instead="a tuple, say"
                ) from None
            plain = isinstance(value, (*capture.VALUES, tuple))
            return ("static", _Static(capture.key_of(value) if plain else value, value))
        if type(value) in (bool, int, float):
            return ("scalar", type(value))
        if isinstance(value, (list, tuple)):
            value = np.asarray(value)
        exact = type(value) in (np.ndarray, np.memmap) or isinstance(value, np.generic)
        if not exact:
            raise DtypeError(
                f"the argument {name} is a {type(value).__name__}",
                instead=f"np.asarray of it, a number, or static_argnames=({name!r},)",
            )
        array = _plain(value)
        if not dtypes.is_supported(array.dtype):
            raise DtypeError(
                f"the argument {name} has dtype {array.dtype}",
                instead=f"convert it; carried are {dtypes.supported_names()}",
            )
        return ("array", array.shape, array.dtype, element_strides(array))

    def _check_bounds(self, plan: Plan, values: Sequence[Any]) -> None:
        """NEP 50: a Python integer must fit the dtype of its partners."""
        for entry, value in zip(plan.inputs, values, strict=False):
            if entry.kind != "scalar" or type(value) is not int:
                continue
            low, high = entry.bounds or (-(2**63), 2**63 - 1)
            if not low <= value <= high:
                raise OverflowError(
                    f"Python integer {value} out of bounds for {_allowed(low, high)}"
                )


@dataclass(frozen=True, slots=True)
class _Static:
    """A value known while tracing; two are equal when no trace can tell them apart."""

    key: Any
    value: Any = field(compare=False)


_DEFAULT = "the default of the parameter"


def _allowed(low: int, high: int) -> str:
    """A range of integers by the name of its dtype, or by its ends."""
    if low == -high - 1 and high in (2**31 - 1, 2**63 - 1):
        return f"int{high.bit_length() + 1}"
    return f"the range {low} to {high} that its use in the function allows"


def _is_traced(value: Any) -> bool:
    """A tracer, or a list or tuple that holds one."""
    inside = value if isinstance(value, (list, tuple)) else (value,)
    return any(isinstance(entry, Tracer) for entry in inside)


def _pairs(names: Sequence[str], specs: Specs) -> list[tuple[str, Any]]:
    opened = [("static", s[1].value) if s[0] == "static" else s for s in specs]
    return list(zip(names, opened, strict=True))


def _plain(value: Any) -> Any:
    """An argument as the runtime takes it: a native, aligned ndarray or a Python scalar."""
    if type(value) in (bool, int, float):
        return value
    array = canonical(np.asarray(value))
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    regular = all(stride % array.itemsize == 0 for stride in array.strides)
    return array if array.flags.aligned and regular else array.copy()


def _dispatcher(slow: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """The native dispatcher when the runtime is installed, a plain function otherwise."""
    if os.environ.get("STAX_BACKEND") != "ref":
        try:
            made: Callable[..., Any] = importlib.import_module("stax_native.runtime").Dispatcher(
                slow
            )
            return made
        except ImportError:
            pass
    return lambda *args, **kwargs: slow(args, kwargs)


def jit(
    function: Callable[..., Any] | None = None,
    *,
    backend: str | None = None,
    static_argnames: str | Sequence[str] = (),
    **options: Any,
) -> Any:
    """Compile a NumPy function at its first call with each kind of arguments.

    Args:
        function: takes arrays and Python numbers, returns an array or a tuple or list of arrays.
            Without it, a decorator is returned: ``@jit`` and ``@jit(backend="c")`` both work.
        backend: ``"auto"`` (C, or the interpreter with one warning), ``"c"``, ``"ref"`` or the
            name of a plug-in.
        static_argnames: parameters whose values are known while tracing.
        **options: fields of :class:`stax_ref.Config`.

    Returns:
        a callable with ``trace``, ``lower``, ``explain`` and ``check``. Its results are fresh
        C-order arrays; 0-d results are NumPy scalars.

    Raises:
        ConfigError: an unknown option or backend.
    """
    known = {entry.name for entry in fields(Config)}
    for name in options:
        if name not in known:
            raise ConfigError(
                f"jit has no option {name!r}", instead="one of " + ", ".join(sorted(known))
            )
    changes = dict(options)
    if backend is not None:
        changes["backend"] = backend
    replace(Config(), **changes)
    static = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
    if not isinstance(static, (tuple, list)) or not all(isinstance(n, str) for n in static):
        raise ConfigError(f"static_argnames={static!r}", instead="names of parameters")
    static = tuple(static)
    if function is None:
        return lambda inner: jit(inner, backend=backend, static_argnames=static, **options)
    if not callable(function) or isinstance(function, (np.ufunc, type)):
        raise ConfigError(
            f"jit was given a {type(function).__name__}",
            instead="a Python function; lambda x: np.exp(x) for a NumPy function",
        )
    return Jitted(function, static, changes)
