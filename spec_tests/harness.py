"""One helper climbs the whole ladder: NumPy, interpreter, native code at every vector level.

takes: functions with arguments, alone (``check``) or many at once (``check_all``)
gives: nothing, or an ``AssertionError`` that lists every case that failed and on which rung
holds: which backend is on trial (``STAX_TEST_BACKEND``), its variants (vector levels), the thread
    counts, a kernel cache of its own, the counters printed at the end of a session
not here: what is compared with what inside the interpreter (``stax_ref.ladder``)

Cases of one ``check_all`` become one translation unit per vector level: thousands of small programs
cost seconds instead of minutes.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import dataclasses
import functools
import importlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import stax_ref as stax
from stax_ref import ladder, report, tree
from stax_ref.arguments import Signature
from stax_ref.composites import HEAVY
from stax_ref.errors import ConfigError, Unsupported
from stax_ref.evaluate import run_graph
from stax_ref.interpret import Recording, run_nests
from stax_ref.ops import OPS
from stax_ref.rounding import error_bounds
from stax_ref.staged import Executable

THREADS = (1, 2)
UNIT = 100
"""Programs in one translation unit."""

SUMS = frozenset({"sum", "prod", "mean", "var", "std"})
"""Equations in which NumPy's own order depends on layouts."""

POINTS = 3000
"""Iterations up to which the point-by-point rung is climbed here."""


@dataclass(frozen=True, slots=True)
class Case:
    """One program on one set of arguments.

    Args:
        function: a NumPy function.
        args: arrays, Python scalars and containers of them.
        label: says which case it is when it fails.
        options: fields of ``stax.Config``.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    label: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        kinds = ", ".join(
            f"{a.dtype}{list(a.shape)}" if isinstance(a, np.ndarray) else repr(a) for a in self.args
        )
        options = "".join(f" {name}={value}" for name, value in self.options.items())
        name = getattr(self.function, "__name__", "function")
        return f"{self.label or name}({kinds}){options}"


@dataclass(slots=True)
class Counts:
    """What a session has done; printed at its end."""

    cases: int = 0
    native_runs: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    levels: set[str] = field(default_factory=set)


COUNTS = Counts()


@dataclass(slots=True)
class _Climb:
    """A case on its way up; ``failure`` is the first thing that went wrong."""

    case: Case
    program: Any = None
    arguments: tuple[Any, ...] = ()
    expected: tuple[np.ndarray, ...] = ()
    recording: Recording = field(default_factory=Recording)
    failure: str = ""


# what is on trial --------------------------------------------------------------------------------
def backend_name() -> str:
    """The backend on trial: ``STAX_TEST_BACKEND``, or ``c``."""
    return os.environ.get("STAX_TEST_BACKEND", "c")


@functools.cache
def cache_directory() -> str:
    """A kernel cache of this session's own."""
    directory = tempfile.mkdtemp(prefix="stax-tests-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@contextlib.contextmanager
def environment(**changes: str) -> Iterator[None]:
    """Environment variables inside a block."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@functools.cache
def variants() -> dict[str, Any]:
    """Backend objects by name of the variant: one per vector level of this machine for ``c``."""
    name = backend_name()
    if name == "ref":
        return {}
    backend = importlib.import_module("stax_native.backend")
    if name not in backend.BUILT_IN:
        return {name: backend.find(name)}
    toolchain = importlib.import_module("stax_native.toolchain")
    found = {}
    for level in toolchain.LEVELS:
        with (
            environment(STAX_CACHE_DIR=cache_directory(), STAX_ISA=level),
            contextlib.suppress(ConfigError),
        ):
            found[level] = backend.find(name)
    COUNTS.levels |= set(found)
    return found


@contextlib.contextmanager
def native_state(threads: int) -> Iterator[None]:
    """This many threads for every launch, fresh memory poisoned, warnings of NumPy off."""
    runtime = importlib.import_module("stax_native.runtime")
    runtime.set_threads(threads)
    runtime.set_parallel_threshold(0 if threads > 1 else 1 << 62)
    runtime.set_poison(True)
    try:
        with quiet():
            yield
    finally:
        runtime.set_threads(None)
        runtime.set_parallel_threshold(65536)
        runtime.set_poison(False)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """NumPy's warnings off: a result is compared, not how loudly it was computed."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


@contextlib.contextmanager
def parallel_entries() -> Iterator[None]:
    """Every launch of the C backend gets a parallel entry, however small it is."""
    emit = importlib.import_module("stax_c.emit")
    before = emit.PARALLEL_WORK
    emit.PARALLEL_WORK = 0
    try:
        yield
    finally:
        emit.PARALLEL_WORK = before


# the climb ---------------------------------------------------------------------------------------
def check(function: Callable[..., Any], *args: Any, label: str = "", **options: Any) -> None:
    """Climb the whole ladder with one program.

    Args:
        function: a NumPy function.
        *args: arrays and Python scalars.
        label: names the case in a failure.
        **options: fields of ``stax.Config``.

    Raises:
        AssertionError: a rung differs; says which, where and by how much.
    """
    check_all([Case(function, args, label, options)])


def check_all(cases: Sequence[Case], turn: int | None = None) -> None:
    """Climb with many programs, compiled together.

    Args:
        cases: the programs.
        turn: take one vector level, this one in turn, instead of all: for tests of many dtypes,
            whose every operation ``spec_tests.matrix`` sees on every dtype and level.

    Raises:
        AssertionError: lists every case that failed.
    """
    failures = failures_of(cases, turn)
    text = "\n".join(f"{case}\n    {failure}" for case, failure in failures)
    assert not failures, f"{len(failures)} of {len(cases)} cases failed\n{text}"


def failures_of(cases: Sequence[Case], turn: int | None = None) -> list[tuple[Case, str]]:
    """The cases that fail, each with the first thing that went wrong."""
    climbs = [_Climb(case) for case in cases]
    COUNTS.cases += len(climbs)
    for climb in climbs:
        _guarded(climb, _interpret)
    for start in range(0, len(climbs), UNIT):
        _run_unit([c for c in climbs[start : start + UNIT] if not c.failure], turn)
    return [(climb.case, climb.failure) for climb in climbs if climb.failure]


def _guarded(climb: _Climb, step: Callable[[_Climb], None]) -> None:
    """One step of one case; an exception is a failure of this case, not of the whole batch."""
    if climb.failure:
        return
    try:
        step(climb)
    except Exception as error:  # whatever it is: the other cases of the batch must still run
        climb.failure = f"{type(error).__name__}: {error}"


def _interpret(climb: _Climb) -> None:
    """The function itself, then every rung of the interpreter; what native code must equal."""
    case = climb.case
    jitted = stax.jit(case.function, **case.options)
    climb.program = jitted.lower(*case.args).program
    climb.arguments = tuple(Signature(case.function, ()).bind(case.args, {}).leaves)
    with quiet(), point_limit(POINTS):
        comparisons = list(_against_call(climb))
        comparisons += ladder.climb(climb.program, climb.arguments).comparisons
        climb.expected = run_nests(climb.program.plan, _full(climb), climb.recording)
    climb.failure = next((str(c) for c in comparisons if not c.ok), "")


def _full(climb: _Climb) -> list[Any]:
    captured = (e.array for e in climb.program.graph.inputs if e.kind == "captured")
    return [*climb.arguments, *captured]


@contextlib.contextmanager
def point_limit(limit: int) -> Iterator[None]:
    """Iterations up to which the point-by-point rung is climbed inside a block."""
    before = ladder.POINT_LIMIT
    ladder.POINT_LIMIT = limit
    try:
        yield
    finally:
        ladder.POINT_LIMIT = before


def _against_call(climb: _Climb) -> Iterator[ladder.Comparison]:
    """The graph evaluator must be what the plain call is: values, dtypes, shapes and structure.

    Values, not bits: ``np.clip`` and ``maximum`` may differ in the sign of a zero (semantics §2).
    Where a float sum is among them NumPy's own order depends on the layout of intermediate arrays,
    which a recorded cast changes: each side is within the derived bound of the planned meaning.
    """
    graph = climb.program.graph
    passed = _to_write(climb) if graph.written else climb.case.args
    full = _full(climb)
    if any(eqn.op in SUMS and eqn.out.dtype == np.float16 for eqn in graph.eqns):
        passed, full = _in_c_order(passed), _in_c_order(full)
    result = climb.case.function(*passed)
    try:
        leaves = tree.leaves_of(graph.structure, result)
        after = Signature(climb.case.function, ()).bind(passed, {}).leaves
        leaves += [after[number] for number in graph.written]
    except ValueError as error:
        yield ladder.Comparison("graph", "the call", "outputs", False, str(error))
        return
    evaluated = run_graph(graph, full)
    allowed = _call_bounds(climb)
    for value, leaf, got, bound in zip(graph.outputs, leaves, evaluated, allowed, strict=True):
        kind = np.asarray(leaf)
        weak = type(leaf) in (bool, int, float)
        if kind.dtype != got.dtype or kind.shape != got.shape or weak != value.weak:
            detail = f"{value.type_text} instead of {kind.dtype}{list(kind.shape)}"
            yield ladder.Comparison("graph", "the call", value.name, False, detail)
        else:
            found = ladder.within(value.name, kind, got, bound)
            yield dataclasses.replace(found, rung="graph", against="the call")


def _to_write(climb: _Climb) -> tuple[Any, ...]:
    """Copies in the layouts of the arguments: whether a reshape shares memory depends on them."""
    known = {
        id(a): _same_layout(a)
        for a in climb.arguments
        if type(a) is np.ndarray and a.flags.writeable
    }
    copied: tuple[Any, ...] = copy.deepcopy(climb.case.args, known)
    return copied


def _in_c_order(args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments in one layout: NumPy rounds sums of float16 where the layout of its steps says."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)


def _call_bounds(climb: _Climb) -> Sequence[np.ndarray]:
    """How far the call and the graph evaluator may be apart, per output; mostly nothing."""
    graph = climb.program.graph
    masked = {eqn.out for eqn in graph.eqns if eqn.op == "where"}
    if any(e.op in SUMS and e.out.dtype == np.float16 and e.args[0] in masked for e in graph.eqns):
        # NumPy sums a mask run by run and rounds each run to float16
        return [np.full(out.shape, np.inf) for out in graph.outputs]
    on_floats = {eqn.op for eqn in graph.eqns if eqn.out.dtype.kind == "f"}
    calls = [eqn.param("call") for eqn in graph.eqns if eqn.op == "extern"]
    if on_floats and not all(call.law for call in calls):  # outside every promise (semantics §2)
        return [np.full(out.shape, np.inf) for out in graph.outputs]
    functions = {op for op in on_floats if op in HEAVY or (op in OPS and OPS[op].heavy)}
    if not on_floats & SUMS and not functions:  # of functions NumPy has several loops, by layout
        return [np.zeros(out.shape) for out in graph.outputs]
    return [2 * bound for bound in error_bounds(graph, _full(climb))]


# native ------------------------------------------------------------------------------------------
def _run_unit(unit: Sequence[_Climb], turn: int | None) -> None:
    """Build the programs of one translation unit for every variant, then run each."""
    plans = [climb.program.plan for climb in unit]
    for name, loaded in load_everywhere(plans, turn).items():
        for climb, program in zip(unit, loaded, strict=True):
            if climb.failure:
                continue
            if isinstance(program, Unsupported) and backend_name() != "c":
                reason = str(program).splitlines()[0]
                COUNTS.refused[reason] = COUNTS.refused.get(reason, 0) + 1
            elif isinstance(program, Exception):
                climb.failure = f"{name}: {type(program).__name__}: {program}"
            else:
                executable = Executable(climb.program, name, program)
                _guarded(climb, functools.partial(_run_native, executable))


def load_everywhere(plans: Sequence[Any], turn: int | None = None) -> dict[str, list[Any]]:
    """``load_plans`` for every variant (or one in turn), their compilers side by side."""
    backends = variants()
    if turn is not None and backends:
        name = list(backends)[turn % len(backends)]
        backends = {name: backends[name]}
    with (
        environment(STAX_CACHE_DIR=cache_directory()),
        parallel_entries(),
        ThreadPoolExecutor(max(1, len(backends))) as pool,
    ):
        loaded = pool.map(lambda backend: load_plans(backend, plans), backends.values())
        return dict(zip(backends, loaded, strict=True))


def load_plans(backend: Any, plans: Sequence[Any]) -> list[Any]:
    """A loaded program per plan, or the exception that its emission or compilation raised."""
    if len(plans) > 1 and hasattr(backend, "load_batch"):
        with contextlib.suppress(Exception):  # whose fault it is, the second try says
            return list(backend.load_batch(plans))
    loaded: list[Any] = []
    for plan in plans:
        try:
            loaded.append(backend.load(backend.emit(plan), plan))
        except Exception as error:  # a failure of this case
            loaded.append(error)
    return loaded


def _run_native(executable: Executable, climb: _Climb) -> None:
    """Twice at each number of threads; inputs must come out as they went in."""
    runtime = importlib.import_module("stax_native.runtime")
    before = [np.array(a) for a in climb.arguments]
    names = climb.program.plan.outputs
    for threads in THREADS:
        for again in ("", ", second run"):
            with native_state(threads):
                counted = sum(runtime.launch_counts().values())
                got = ladder.run_native(executable, climb.arguments, climb.recording)
            rung = f"{executable.backend}, {threads} threads{again}"
            COUNTS.native_runs += 1
            if backend_name() == "c" and climb.program.plan.launches:
                assert sum(runtime.launch_counts().values()) > counted, f"{rung}: nothing launched"
            for comparison in ladder.equal(rung, "nests", names, got, climb.expected):
                if not comparison.ok:
                    climb.failure = str(comparison)
                    return
    if climb.program.plan.written:
        _writes_back(executable, climb)
    for number, (old, new) in enumerate(zip(before, climb.arguments, strict=True)):
        assert not np.any(ladder.different(np.asarray(new), old)), f"argument {number} was changed"


def _writes_back(executable: Executable, climb: _Climb) -> None:
    """A true call leaves in its arguments what the oracle says; others stay as they were."""
    plan = climb.program.plan
    expected: list[Any] = [np.array(a) for a in climb.arguments]
    kept = len(plan.outputs) - len(plan.written)
    for number, output in zip(plan.written, climb.expected[kept:], strict=True):
        expected[number] = output
    passed = list(climb.arguments)
    for number in plan.written:
        passed[number] = _same_layout(climb.arguments[number])
    with native_state(THREADS[-1]):
        executable.run(passed)
    for number, (wanted, got) in enumerate(zip(expected, passed, strict=True)):
        differs = np.any(ladder.different(np.asarray(got), wanted))
        assert not differs, f"argument {number} is not left as the oracle says"


def _same_layout(array: np.ndarray) -> np.ndarray:
    """A copy with the strides of the array, which a program is compiled for."""
    ends = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True) if n]
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    memory = np.zeros(high - low + array.itemsize, np.uint8)
    copied = np.ndarray(array.shape, array.dtype, memory, -low, array.strides)
    copied[...] = array
    return copied


def reproduction(case: Case) -> str:
    """The script that repeats a case with random arguments of the same types."""
    return report.reproduction(stax.jit(case.function, **case.options).trace(*case.args).graph)


def summary_lines() -> list[str]:
    """What the harness did in this process, one fact a line."""
    lines = [f"{COUNTS.cases} programs climbed the ladder; backend {backend_name()}"]
    if COUNTS.levels:
        lines[0] += f", levels {', '.join(sorted(COUNTS.levels))}"
    lines.append(f"{COUNTS.native_runs} native runs compared with the oracle")
    with contextlib.suppress(ImportError):
        toolchain = importlib.import_module("stax_native.toolchain")
        made = toolchain.COMPILES
        lines.append(f"{made.kernels} compiles of kernels, {made.probes} of probes")
    lines += [f"refused {count} times: {reason}" for reason, count in COUNTS.refused.items()]
    return lines


# pytest -------------------------------------------------------------------------------------------
_reported: list[bool] = []


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Imported by the ``conftest`` of each folder that climbs; prints once a session."""
    if COUNTS.cases and not _reported:
        _reported.append(True)
        terminalreporter.section("stax ladder")
        for line in summary_lines():
            terminalreporter.write_line(line)
