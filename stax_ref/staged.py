"""The staged API: what a jitted function is between a trace and a call (JAX's words).

``Traced`` holds a graph, ``Staged`` a program after every stage, ``Executable`` a program a backend
has built. Takes graphs and configurations; gives these objects. Holds the choice of a backend and
the fall-back to the interpreter. Not here: specialisation (``jit``), the stages (``compile``).
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from . import arguments as given
from .compile import Program, compile_graph
from .config import Config
from .donation import Donated
from .errors import BackendError, ConfigError, FailedCall, InvariantError
from .evaluate import run_graph
from .graph import Graph
from .interpret import Recording, run_nests, wrap
from .node import Node
from .plan import Plan
from .tree import Unfit

fallbacks = 0
"""How often ``backend="auto"`` fell back to the interpreter in this process."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A traced function for one set of argument types."""

    graph: Graph
    config: Config

    def lower(self) -> Staged:
        """Run every stage."""
        return Staged(compile_graph(self.graph, self.config))

    def __str__(self) -> str:
        return str(self.graph)


class Executable:
    """A compiled program for one set of argument types; call it with arrays of these types.

    Attributes:
        backend: name of the backend that runs it; ``"ref"`` is the interpreter.
        source: the generated program, empty for the interpreter.
        program: what every stage made.
    """

    def __init__(self, program: Program, backend: str, loaded: Any, source: str = "") -> None:
        self.program = program
        self.backend = backend
        self.loaded = loaded
        self.source = source

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.program.plan

    def __call__(self, *arguments: Any) -> Any:
        """Run it.

        Args:
            *arguments: of the types and structure it was compiled for, static ones left out.

        Raises:
            BackendError: they are of other ones.
        """
        try:
            leaves = given.leaves_of(self.program.graph.arguments, arguments)
        except Unfit as error:
            raise BackendError(f"an argument {error.what}", instead=error.instead) from None
        if leaves is None:
            raise BackendError("the arguments are not what this program was compiled for")
        return self.run(*leaves)

    def run(self, leaves: list[Any], passed: Sequence[Any] = ()) -> Any:
        """Run it on the leaves of its arguments: native arrays and Python numbers, in order.

        Args:
            leaves: what the kernels read; emptied where arrays among it are given away.
            passed: what the caller passed: gets it back changed where the function writes, and
                gives it away where it is a box of ``donate``; the leaves when left out.

        Raises:
            BackendError: they are not of the types it was compiled for.
        """
        plan, targets = self.plan, passed or leaves
        boxes = [entry for entry in targets if isinstance(entry, Donated)]
        if boxes and not (plan.written or plan.may_fail) and hasattr(self.loaded, "consume"):
            for box in boxes:
                box.empty()
            return wrap(plan, self.loaded.consume(leaves))
        if boxes:
            targets = [e.array if isinstance(e, Donated) else e for e in targets]
        if plan.written:
            check_targets(plan, targets, leaves)
        try:
            in_place = _may_overwrite(plan, leaves, targets)
            outputs = self._outputs(leaves) if in_place else self.outputs(leaves)
        except FailedCall as failure:
            raise_as_numpy(self.program.graph, leaves, failure)
        kept = len(outputs) - len(plan.written)
        for number, output in zip(plan.written, outputs[kept:], strict=True):
            if output is not targets[number]:
                targets[number][...] = output
        for box in boxes:
            box.empty()
        return wrap(plan, outputs)

    def outputs(self, leaves: Sequence[Any]) -> Sequence[np.ndarray]:
        """Every output as an array, what written arguments hold last; nothing is written yet.

        Raises:
            FailedCall: the kernels raised a flag.
        """
        copied = list(leaves)
        for number in _overwritten(self.plan):
            copied[number] = np.array(leaves[number], order="C")
        return self._outputs(copied)

    def _outputs(self, leaves: Sequence[Any]) -> Sequence[np.ndarray]:
        """The same, with arguments overwritten where the plan says so; these come back as such."""
        if self.loaded is not None:
            outputs: Sequence[np.ndarray] = self.loaded(*leaves)
            return outputs
        if not _fits(self.plan, leaves):
            raise BackendError("the arguments are not what this program was compiled for")
        return run_reference(self.plan, leaves)


def _overwritten(plan: Plan) -> list[int]:
    """Numbers of the arguments that kernels overwrite."""
    return [plan.input_buffers.index(name) for name in plan.overwritten.values()]


def _may_overwrite(plan: Plan, leaves: Sequence[Any], targets: Sequence[Any]) -> bool:
    """True when kernels may overwrite the arguments: no copies, apart from captured arrays."""
    captured = [entry.array for entry in plan.inputs if entry.kind == "captured"]
    return all(
        leaves[number] is targets[number]
        and not any(np.may_share_memory(leaves[number], array) for array in captured)
        for number in _overwritten(plan)
    )


OVERLAP_WORK = 10_000
"""Steps after which two arrays count as sharing memory: to decide it exactly may take forever."""


def check_targets(plan: Plan, arrays: Sequence[Any], leaves: Sequence[Any] = ()) -> None:
    """Arguments that are written can be, and nothing else lies in their memory.

    Views that interleave without an element in common are fine.

    Args:
        plan: says which arguments are written.
        arrays: the arguments as the caller gave them.
        leaves: what the kernels read of them, which may lie in the same memory.

    Raises:
        ValueError: as NumPy's, one is read-only.
        ConfigError: two share memory, or two elements of one do; NumPy would let one see the other
            change.
    """
    for number in plan.written:
        target, name = arrays[number], plan.inputs[number].value.name
        if not target.flags.writeable:
            raise ValueError(f"assignment destination is read-only: the argument {name}")
        if _overlaps_itself(target):
            raise ConfigError(
                f"the function writes into its argument {name}, in which several elements share "
                "memory",
                instead=f"{name}.copy()",
            )
        for other, array in (*enumerate(arrays), *enumerate(leaves)):
            if other != number and isinstance(array, np.ndarray) and _share(target, array):
                raise ConfigError(
                    f"the function writes into its argument {name}, which shares memory with "
                    f"{plan.inputs[other].value.name}",
                    instead="a copy of one of them",
                )


def _share(a: np.ndarray, b: np.ndarray) -> bool:
    """True when two arrays have an element in common, or when that is too hard to decide."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=OVERLAP_WORK)  # type: ignore[arg-type]  # a count
    except np.exceptions.TooHardError:
        return True


def _overlaps_itself(array: np.ndarray) -> bool:
    """True unless each axis steps over everything that the axes with smaller strides reach."""
    reach = array.itemsize
    steps = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    for stride, extent in steps:
        if stride < reach:
            return bool(array.size)
        reach += stride * (extent - 1)
    return False


def raise_as_numpy(graph: Graph, arguments: Sequence[Any], failure: FailedCall) -> NoReturn:
    """Repeat a failed call with plain NumPy, equation by equation: its exception is the right one.

    Args:
        graph: the traced function.
        arguments: one per input, captured arrays left out; they are only read.
        failure: what the kernels said.

    Raises:
        IndexError, ValueError, ZeroDivisionError: NumPy's own, with the user's line as a note.
        InvariantError: NumPy finds nothing wrong.
    """
    full = [*arguments, *(e.array for e in graph.inputs if e.kind == "captured")]
    try:
        run_graph(graph, full)
    except (IndexError, ValueError, ZeroDivisionError) as error:
        raise error from None
    raise InvariantError(f"{failure}, but NumPy finds nothing wrong")


def _fits(plan: Plan, arguments: Sequence[Any]) -> bool:
    """True when arguments have the types a plan was made for."""
    expected = [entry for entry in plan.inputs if entry.kind != "captured"]
    return len(expected) == len(arguments) and all(
        entry.kind == "scalar"
        or (np.shape(value) == entry.value.shape and np.asarray(value).dtype == entry.value.dtype)
        for entry, value in zip(expected, arguments, strict=True)
    )


def run_reference(plan: Plan, arguments: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """The interpreter as a backend: whole-array kernels, every output as an array."""
    recording = Recording()
    full = [*arguments, *(e.array for e in plan.inputs if e.kind == "captured")]
    outputs = run_nests(plan, full, recording)
    report_flags(recording.flags)
    return outputs


def report_flags(flags: int) -> None:
    """Do what NumPy does after an integer division by zero (1) or its overflow (2).

    NumPy does it itself: it warns, raises or ignores as the caller's ``np.errstate`` says.

    Raises:
        FailedCall: any other flag, after which NumPy raises; see :func:`raise_as_numpy`.
    """
    if flags & ~3:
        raise FailedCall(f"the kernels raised flags {flags:#x}")
    if flags & 1:
        np.floor_divide(np.ones(1, np.int64), np.zeros(1, np.int64))
    if flags & 2:
        np.floor_divide(np.full(1, np.iinfo(np.int64).min), np.full(1, -1))


class Staged:
    """A program after every stage, before any backend.

    Attributes:
        program: what every stage made.
    """

    def __init__(self, program: Program) -> None:
        self.program = program

    @property
    def plan(self) -> Plan:
        """The plan: ``.kernels``, ``.bytes_moved``, ``.arena_bytes``."""
        return self.program.plan

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The materialised nodes before fusion."""
        return self.program.lowered.nodes

    def text(self, stage: str) -> str:
        """A stage as text: ``trace lower depend fuse order memory nest plan``."""
        return self.program.text(stage)

    def compile(
        self, backend: str | None = None, edit: Callable[[str], str] | None = None
    ) -> Executable:
        """Hand the plan to a backend.

        Args:
            backend: its name, ``"ref"``, or None for the configuration's.
            edit: changes the generated source before it is built; for experiments and for tests
                that need a wrong kernel.

        Raises:
            Unsupported: the backend refuses an operation.
            BackendError: it cannot build.
            ConfigError: there is no such backend.
        """
        wanted = self.program.config.backend if backend is None else backend
        return build(self.program, wanted, edit)


def build(program: Program, name: str, edit: Callable[[str], str] | None = None) -> Executable:
    """Hand a program to the backend of this name; see :meth:`Staged.compile`."""
    if name == "ref":
        return _shown(Executable(program, "ref", None))
    try:
        backend = _backend("c" if name == "auto" else name)
        source = backend.emit(program.plan)
        if edit is not None:
            source = replace(source, text=edit(source.text))
        loaded = backend.load(source, program.plan)
    except (BackendError, ImportError) as error:
        if name != "auto":
            raise
        return _fall_back(program, error)
    return _shown(Executable(program, backend.name, loaded, source.text))


def _fall_back(program: Program, error: Exception) -> Executable:
    """``auto`` without a working backend: the interpreter, one warning, and a count."""
    global fallbacks
    if fallbacks == 0:
        first = str(error).splitlines()[0]
        warnings.warn(
            f"no native backend ({first}); running the interpreter, which is slow",
            RuntimeWarning,
            stacklevel=5,
        )
    fallbacks += 1
    return _shown(Executable(program, "ref", None))


@functools.cache
def _backend(name: str) -> Any:
    """The backend of this name; ``stax_native`` is found at run time, never imported by name."""
    return importlib.import_module("stax_native.backend").find(name)


def _shown(executable: Executable) -> Executable:
    """The executable, after printing the stages that the configuration asks to see."""
    report = importlib.import_module("stax_ref.report")
    report.show_stages(executable.program, executable.source)
    return executable
