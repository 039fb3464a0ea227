"""groups: the checks of a program, by name, so that a test can say which one objects.

takes: a program, its arguments, perhaps a native program
gives: the names of the groups that object
holds: nothing
not here: the faults
"""

import contextlib

import numpy as np

import stax_ref as stax
from spec_tests.harness import native_state
from stax_ref import ladder
from stax_ref.compile import Program
from stax_ref.errors import InvariantError

NODES, NESTS, POINTS, NATIVE = "nodes", "nests", "points", "native"
"""Rungs: planned meaning against NumPy, fused against unfused, shuffled, compiled."""
PLAN = "plan check"


def compiled(function, *arguments, **options) -> Program:
    return stax.jit(function, **options).lower(*arguments).program


def objections(program: Program, arguments, executable=None) -> set[str]:
    """The groups that object to a program."""
    found = set()
    try:
        program.plan.check()
    except InvariantError:
        found.add(PLAN)
    with native_state(1) if executable is not None else contextlib.nullcontext():
        # fresh memory is poisoned: what a kernel leaves out must not look like what it wrote before
        report = ladder.climb(program, list(map(np.asarray, arguments)), executable)
    for comparison in report.comparisons:
        if not comparison.ok:
            rung = comparison.rung.split()[0]
            found.add(rung if rung in (NODES, NESTS, POINTS) else NATIVE)
    return found
