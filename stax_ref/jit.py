"""jit: the decorator and its specialisations.

Takes the user's function; gives a callable that is compiled once per argument types. Holds what a
specialisation depends on: the arguments without their elements, what the function reads besides
them, and the configuration; and the fast paths to a program that fits. Not here: what an argument
may be (``arguments``), the objects between a trace and a call (``staged``), what is printed
(``report``), comparing with the oracle (``ladder``).
"""

from __future__ import annotations

import functools
import importlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from . import capture, config, dtypes
from .arguments import Call, Signature
from .compile import compile_graph
from .config import Config
from .donation import Donated
from .errors import ConfigError, FailedCall, TraceError
from .graph import Graph
from .made import tracers
from .plan import Plan
from .staged import Executable, Staged, Traced, build, raise_as_numpy
from .trace import trace
from .tracer import Tracer
from .tree import Unfit

_Guard = tuple[Any, str, Any]
"""A place and what it held: what the fast path compares by identity before it runs a program."""

FAST_PROGRAMS = 32
"""Programs a dispatcher tries in turn; beyond that, the table of specialisations is faster."""

FAST_STRUCTURES = 256
"""Structures of arguments with a dispatcher of their own."""

_NO_PROGRAM = object()


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
        self._signature: Signature | None = None
        self._structures: dict[Any, _Structured] = {}
        self._places: dict[tuple[Any, ...], tuple[capture.Place, ...]] = {}
        self._call: Any = _dispatcher(self._slow)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._call(*args, **kwargs)
        except FailedCall as failure:
            call = self._bound(args, kwargs)
            raise_as_numpy(self._entry(call)[0].program.graph, call.leaves, failure)

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
        return Traced(self._trace(self._bound(args, kwargs)), self._config())

    def lower(self, *args: Any, **kwargs: Any) -> Staged:
        """Trace and run every stage; arguments as for a call."""
        return self.trace(*args, **kwargs).lower()

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What was fused, why, what was not and why; bytes moved; kernels; peak memory.

        Args:
            *args, **kwargs: as for a call.

        Returns:
            sections of text; the last says why the function has the programs it has, naming the
            argument (or value, or option) and what it was before.
        """
        module = importlib.import_module("stax_ref.explain")
        program = self.lower(*args, **kwargs).program
        lines, seed = self._history(args, kwargs), module.seed_plan(program)
        text: str = module.explain(program, lines, seed)
        return text

    def report(self, path: str, /, *args: Any, **kwargs: Any) -> str:
        """Write one HTML page about the program for these arguments, and time it beside NumPy.

        The function is called a number of times, on copies where it writes into its arguments.

        Args:
            path: the file to write.
            *args, **kwargs: as for a call.

        Returns:
            the path.

        Raises:
            OSError: it cannot be written.
            ConfigError: an array is donated, which only one call can take.
        """
        if any(isinstance(leaf, Donated) for leaf in self._bound(args, kwargs).passed):
            raise ConfigError(
                "a donated array was passed to report, which calls the function many times",
                instead="the array itself",
            )
        gather = importlib.import_module("stax_ref.page.gather")
        history = self._history(args, kwargs)
        backend = self._config().backend
        text: str = gather.page_of(self, self._function, backend, history, args, kwargs)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _history(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """Why each program was compiled, and which one a call would run."""
        recompile = importlib.import_module("stax_ref.recompile")
        lines: list[str] = recompile.history(*self._kinds(self._bound(args, kwargs)))
        return lines

    def _kinds(self, call: Call) -> tuple[list[Any], Any]:
        """What every program was specialised to, and what one for a call would be."""
        recompile = importlib.import_module("stax_ref.recompile")

        def kind(kinds: Any, guards: Sequence[_Guard], keys: Sequence[Any], config: Config) -> Any:
            reads = (
                recompile.Read(id(holder), name, key, value)
                for (holder, name, value), key in zip(guards, keys, strict=True)
            )
            return recompile.Kind(*kinds, tuple(reads), config)

        guards = _guards(capture.places(self._function, *call.functions))
        keys = tuple(capture.key_of(value) for _, _, value in guards)
        with self._lock:
            known = [kind(k, e[1], keys, c) for (k, keys, c), e in self._entries.items()]
        return known, kind((call.names, call.trees, call.specs), guards, keys, self._config())

    def _show_reason(self, call: Call) -> None:
        """``STAX_SHOW=programs``: why a call is compiled."""
        report = importlib.import_module("stax_ref.report")
        if "programs" in report.wanted_stages():
            recompile = importlib.import_module("stax_ref.recompile")
            name = getattr(self._function, "__qualname__", "function")
            report.show_reason(recompile.announcement(name, *self._kinds(call)))

    def check(self, *args: Any, **kwargs: Any) -> Any:
        """Climb the ladder on these arguments: plain NumPy, nodes, kernels, points, native.

        Returns:
            a ``ladder.Report``: prints per output whether bits are equal, or where not.
        """
        ladder = importlib.import_module("stax_ref.ladder")
        call = self._bound(args, kwargs)
        program = compile_graph(self._trace(call), self._config())
        name = self._config().backend
        executable = build(program, name) if name != "ref" else None
        return ladder.climb(program, call.leaves, executable)

    # calls ----------------------------------------------------------------------------------------
    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that is not made of arrays and numbers alone, or that matched no program."""
        structured = self._structure(args, kwargs)
        if structured is not None:
            entry, leaves = structured
            result = entry.call(*leaves)
            if result is not _NO_PROGRAM:
                return result if entry.finish is None else entry.finish(result)
        call = self._bound(tracers(args), tracers(kwargs))
        donated = any(isinstance(leaf, Donated) for leaf in call.passed)
        if any(isinstance(leaf, Tracer) for leaf in call.leaves):
            if donated:
                raise ConfigError("an array is donated inside a trace", instead="the array itself")
            return self._function(*args, **kwargs)  # inside another trace: part of it
        executable, guards = self._entry(call)
        self._check_bounds(executable.plan, call.leaves)
        if self._config().check == 3 and executable.backend != "ref":
            ladder = importlib.import_module("stax_ref.ladder")
            ladder.demand(executable, call.leaves)
        if self._config().check < 3 and capture.all_present(guards) and not donated:
            guards = (*guards, (config.state, "blocks", None))
            flat = not kwargs and _same(call.leaves, args)
            assert self._signature is not None
            key = call.key(len(args), self._signature.ordered(kwargs))
            self._remember(executable, guards, key, flat)
        return executable.run(call.leaves, call.passed)

    def _structure(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[_Structured, list[Any]] | None:
        """The dispatcher for arguments of this structure, and their leaves."""
        if not self._structures or self._signature is None:
            return None
        try:
            key, leaves = self._signature.quick(args, kwargs)
        except (Unfit, TypeError):  # what is wrong, binding says better
            return None
        entry = self._structures.get(key)
        return None if entry is None else (entry, leaves)

    def _remember(
        self, executable: Executable, guards: tuple[_Guard, ...], key: tuple[Any, ...], flat: bool
    ) -> None:
        """Let later calls like this one find the native program without being bound.

        Args:
            executable: what ran.
            guards: what must still be true outside the arguments.
            key: structure of the arguments.
            flat: the arguments are arrays and numbers alone, by position.
        """
        loaded = executable.loaded
        program = getattr(loaded, "program", None)
        if program is None or executable.plan.written or not hasattr(self._call, "add"):
            return
        dispatcher = self._call
        if not flat or not loaded.is_direct:
            plan = executable.plan
            if len(self._structures) >= FAST_STRUCTURES:
                self._structures.clear()
            known = self._structures.setdefault(key, _Structured(loaded, plan))
            if known.result != (plan.structure, plan.weak):
                return  # another result for other dtypes: found in the table of specialisations
            dispatcher = known.call
        if program not in dispatcher.programs:
            if len(dispatcher.programs) >= FAST_PROGRAMS:
                dispatcher.clear()
            dispatcher.add(program, guards)

    def _entry(self, call: Call) -> tuple[Executable, tuple[_Guard, ...]]:
        kinds = (call.names, call.trees, call.specs)
        with self._lock:
            functions = (self._function, *call.functions)
            places = self._places.get(functions, ())
            key = (kinds, capture.snapshot(places), self._config())
            entry = self._entries.get(key)
            if entry is None:  # a function it calls may have been rebound: look again
                places = self._places[functions] = capture.places(*functions)
                key = (kinds, capture.snapshot(places), self._config())
                entry = self._entries.get(key)
            if entry is None:
                self._show_reason(call)
                guards = _guards(places)
                program = compile_graph(self._trace(call), self._config())
                executable = build(program, self._config().backend)
                entry = self._entries[key] = (executable, guards)
            return entry

    def _config(self) -> Config:
        return replace(config.current(), **self._changes)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        if self._signature is None:
            self._signature = Signature(self._function, self._static)
        return self._signature.bind(args, kwargs)

    def _trace(self, call: Call) -> Graph:
        name = getattr(self._function, "__name__", "function")
        place = capture.place_of(self._function)
        functions = (self._function, *call.functions)
        drawn = TraceError(
            "np.random inside a jitted function would be drawn once, while tracing",
            place,
            "draw outside and pass the array as an argument",
        )
        if capture.draws(*functions):  # before it runs: compiled code that makes arrays is no trace
            raise drawn
        before = capture.generators(*functions)
        known = name if name.isidentifier() else "function"
        graph = trace(self._caller(call), known, call.parameters(), place)
        if capture.generators(*functions) != before:
            raise drawn
        return graph

    def _caller(self, call: Call) -> Callable[..., Any]:
        """The function with every argument positional, whatever kind of parameter it was."""
        count, keywords = call.positional, call.names[call.positional :]

        def caller(*values: Any) -> Any:
            return self._function(
                *values[:count], **dict(zip(keywords, values[count:], strict=True))
            )

        return caller if keywords else self._function

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


class _Structured:
    """The programs for arguments of one structure.

    Attributes:
        call: the leaves → the result of a program that fits, or ``_NO_PROGRAM``.
        finish: the result of a program → the result of the function; None when they are the same.
        result: what ``finish`` depends on.
    """

    __slots__ = ("call", "finish", "result")

    def __init__(self, loaded: Any, plan: Plan) -> None:
        self.call: Any = _dispatcher(lambda leaves, options: _NO_PROGRAM)
        self.finish: Callable[[Any], Any] | None = None if loaded.is_direct else loaded.finish
        self.result = (plan.structure, plan.weak)


def _guards(places: Sequence[capture.Place]) -> tuple[_Guard, ...]:
    """Places with what they hold now."""
    return tuple((place.holder, place.key, place.read()) for place in places)


def _same(leaves: Sequence[Any], args: tuple[Any, ...]) -> bool:
    """True when a call's positional arguments are its leaves."""
    return len(leaves) == len(args) and all(a is b for a, b in zip(leaves, args, strict=True))


def _allowed(low: int, high: int) -> str:
    """A range of integers by the name of its dtype, or by its ends."""
    for dtype in filter(dtypes.is_integer, dtypes.SHORT):
        info = np.iinfo(dtype)
        if (low, high) == (info.min, info.max):
            return str(dtype)
    return f"the range {low} to {high} that its use in the function allows"


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
        function: takes and returns arrays, Python numbers, and containers of them (tuples, lists,
            dicts, dataclasses, registered classes); strings and the like in them are static.
            Without it, a decorator is returned: ``@jit`` and ``@jit(backend="c")`` both work.
        backend: ``"auto"`` (C, or the interpreter with one warning), ``"c"``, ``"ref"`` or the
            name of a plug-in.
        static_argnames: parameters whose values are known while tracing.
        **options: fields of :class:`stax_ref.Config`.

    Returns:
        a callable with ``trace``, ``lower``, ``explain``, ``report`` and ``check``. Arrays in its
        results are fresh and in C order; 0-d results are NumPy scalars.

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
