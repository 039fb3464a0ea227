"""The ladder: run a program on every rung and say which output differs first, and where.

Takes a program, arguments and perhaps a native executable; gives a ``Report``. Holds what equality
means (semantics §2): identical bits between planned rungs, NaN one class; between plain NumPy and
the planned meaning the bound that ``rounding`` derives. Not here: the rungs themselves
(``interpret``).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .compile import Program
from .errors import InvariantError
from .evaluate import run_graph
from .interpret import Recording, run_nests, run_nodes
from .points import run_points
from .rounding import error_bounds
from .staged import Executable

POINT_LIMIT = 60_000
"""Iterations up to which the point-by-point rung is climbed; it costs about 10 µs a statement."""

POINT_SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output on one rung against the rung below.

    Args:
        rung: the rung that was climbed.
        against: the rung it is compared with.
        output: name of the output's buffer.
        ok: equal as the semantics page demands.
        detail: what was compared, or where and by how much it differs.
    """

    rung: str
    against: str
    output: str
    ok: bool
    detail: str

    def __str__(self) -> str:
        mark = "ok  " if self.ok else "FAIL"
        return f"{mark} {self.output}: {self.rung} against {self.against}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one climb.

    Attributes:
        comparisons: in the order of the climb; the first that is not ok names the guilty stage.
        error_bound: per output, the largest derived bound against plain NumPy.
        notes: rungs that were not climbed, and why.
    """

    comparisons: tuple[Comparison, ...]
    error_bound: tuple[float, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when every comparison is."""
        return all(comparison.ok for comparison in self.comparisons)

    @property
    def rungs(self) -> tuple[str, ...]:
        """The rungs that were climbed."""
        return tuple(dict.fromkeys(c.rung for c in self.comparisons))

    @property
    def first_failure(self) -> Comparison | None:
        """The first comparison that is not ok."""
        return next((c for c in self.comparisons if not c.ok), None)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.comparisons), *self.notes])


def climb(
    program: Program, arguments: Sequence[Any], executable: Executable | None = None
) -> Report:
    """Run every rung and compare each with the one below.

    Args:
        program: what every stage made.
        arguments: arrays and scalars, captured arrays left out.
        executable: a native program to put on top, or None.
    """
    full = [*arguments, *(e.array for e in program.graph.inputs if e.kind == "captured")]
    names = program.plan.outputs
    recording = Recording()
    plain = run_graph(program.graph, full)
    nodes = run_nodes(program.lowered, program.graph, full, recording)
    bounds = error_bounds(program.graph, full, program.config.strict)
    found = [
        within(name, a, b, bound)
        for name, a, b, bound in zip(names, plain, nodes, bounds, strict=True)
    ]
    nests = run_nests(program.plan, full, recording)
    found += equal("nests", "nodes", names, nests, nodes)
    notes: list[str] = []
    if iterations(program) <= POINT_LIMIT:
        for seed in POINT_SEEDS:
            points = run_points(program.plan, full, recording, seed)
            found += equal(f"points (shuffle {seed})", "nests", names, points, nests)
    else:
        notes.append(f"note points: not climbed, more than {POINT_LIMIT} iterations")
    if executable is not None and executable.loaded is not None:
        native = run_native(executable, arguments, recording)
        found += equal(executable.backend, "nests", names, native, nests)
    elif executable is not None:
        notes.append("note native: not climbed, there is no native backend")
    largest = tuple(float(np.max(bound, initial=0.0)) for bound in bounds)
    return Report(tuple(found), largest, tuple(notes))


def demand(executable: Executable, arguments: Sequence[Any]) -> None:
    """Compare a native program with the oracle (``STAX_CHECK=3``).

    Raises:
        InvariantError: an output differs; says where and by how much.
    """
    plan = executable.plan
    full = [*arguments, *(e.array for e in plan.inputs if e.kind == "captured")]
    recording = Recording()
    expected = run_nests(plan, full, recording)
    native = run_native(executable, arguments, recording)
    for comparison in equal(executable.backend, "nests", plan.outputs, native, expected):
        if not comparison.ok:
            raise InvariantError(f"STAX_CHECK=3: {comparison}")


def run_native(
    executable: Executable, arguments: Sequence[Any], recording: Recording
) -> tuple[np.ndarray, ...]:
    """A native program, external calls fed from the recording; outputs as arrays."""
    loading = importlib.import_module("stax_native.loading")
    with loading.recorded_externs(recording.externs):
        return tuple(executable.outputs(arguments))


def iterations(program: Program) -> int:
    """Statements the point-by-point rung would execute, roughly."""
    total = 0
    for group in program.sequence:
        if group.tree is not None:
            outer = int(np.prod(group.tree.outer, dtype=np.int64))
            total += outer * sum(segment.iterations for segment in group.tree.segments)
    return total


def equal(
    rung: str,
    against: str,
    names: Sequence[str],
    got: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
) -> list[Comparison]:
    """Bit equality per output; NaN is one class."""
    return [
        Comparison(rung, against, name, *_bits(a, b))
        for name, a, b in zip(names, got, expected, strict=True)
    ]


def _bits(got: np.ndarray, expected: np.ndarray) -> tuple[bool, str]:
    if got.shape != expected.shape or got.dtype != expected.dtype:
        kinds = [f"{a.dtype}{list(a.shape)}" for a in (got, expected)]
        return False, f"{kinds[0]} instead of {kinds[1]}"
    differ = different(got, expected)
    count = int(np.count_nonzero(differ))
    if not count:
        return True, "equal bits"
    first = tuple(int(k) for k in np.argwhere(differ)[0])
    return False, (
        f"{count} of {got.size} elements differ, first at {list(first)}: "
        f"{got[first]!r} instead of {expected[first]!r}"
    )


def different(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Where two arrays of one shape and dtype have other bits; a NaN equals any NaN."""
    if got.dtype.kind == "b":  # a byte that is neither 0 nor 1 is no bool, though NumPy takes it
        a, b = (np.ascontiguousarray(array).view(np.uint8) for array in (got, expected))
        return np.asarray(a != b).reshape(got.shape)
    if got.dtype.kind != "f":
        return np.asarray(got != expected)
    bits = np.dtype(f"i{got.dtype.itemsize}")
    a, b = np.ascontiguousarray(got), np.ascontiguousarray(expected)
    both_nan = np.isnan(a) & np.isnan(b)
    return np.asarray((a.view(bits) != b.view(bits)) & ~both_nan).reshape(got.shape)


def within(name: str, plain: np.ndarray, planned: np.ndarray, bound: np.ndarray) -> Comparison:
    """Plain NumPy against the planned meaning, element by element within the derived bound."""
    rung, against = "nodes", "NumPy"
    if plain.shape != planned.shape or plain.dtype != planned.dtype:
        detail = f"{planned.dtype}{list(planned.shape)} instead of {plain.dtype}{list(plain.shape)}"
        return Comparison(rung, against, name, False, detail)
    with np.errstate(all="ignore"):
        a, b = plain.astype(np.float64), planned.astype(np.float64)
        exact = (a == b) | (np.isnan(a) & np.isnan(b))
        if plain.dtype.kind in "iu":
            exact = plain == planned
        distance = np.where(exact, 0.0, np.abs(a - b))
        bad = ~(exact | (distance <= bound) | np.isposinf(bound))
    if not np.any(bad):
        largest = float(np.max(distance, initial=0.0, where=np.isfinite(distance)))
        allowed = float(np.max(bound, initial=0.0))
        return Comparison(
            rung, against, name, True, f"largest difference {largest:.3g}, bound {allowed:.3g}"
        )
    first = tuple(int(k) for k in np.argwhere(bad)[0])
    detail = (
        f"{int(np.count_nonzero(bad))} of {plain.size} elements beyond the bound, first at "
        f"{list(first)}: {planned[first]!r} instead of {plain[first]!r}, bound {bound[first]:.3g}"
    )
    return Comparison(rung, against, name, False, detail)
