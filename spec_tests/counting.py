"""Counters: operations of a kernel, memory it really touches, loops of its C.

takes: nests, plans and C text
gives: numbers that tests hold against what the plan says of itself
holds: each counts what is there, none asks the stage that decided it
not here: the cost model (``lower``) and the plan's own figures (``plan``)
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from stax_ref import interpret, points
from stax_ref.nest import Let, Loop, Nest, Statement, Store
from stax_ref.plan import Extern, Plan


def operations(nest: Nest) -> Counter[str]:
    """How often one run of a kernel executes each operation, loads and stores among them."""
    counts: Counter[str] = Counter()

    def visit(body: Sequence[Statement], times: int) -> None:
        for statement in body:
            if isinstance(statement, Loop):
                visit(statement.body, times * statement.symbol.extent)
            elif isinstance(statement, Let):
                counts[statement.op] += times
            elif isinstance(statement, Store):
                counts["store"] += times

    visit(nest.body, 1)
    return counts


def moved_bytes(plan: Plan, arguments: Sequence[object]) -> int:
    """Main-memory traffic of one run: each element once per step that loads or stores it.

    The point-by-point interpreter runs the plan; every address it forms is written down. An
    external call moves its whole operands and result.
    """
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)

    class Watched(points._PointNest):
        def __init__(self, nest, storage, shuffle):
            super().__init__(nest, storage, shuffle)
            self.nest = nest

        def _flat(self, access):
            flat = super()._flat(access)
            if access.buffer in {buffer.name for buffer in self.nest.buffers}:
                seen[self.nest.name, access.buffer].add(flat)
            return flat

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "_PointNest", Watched)
        points.run_points(plan, arguments, interpret.Recording())
    total = sum(
        len(elements) * plan.buffer(name).dtype.itemsize for (_, name), elements in seen.items()
    )
    for step in plan.steps:
        if isinstance(step, Extern):
            touched = {*(view.buffer for view in step.operands), *step.buffers}
            total += sum(plan.buffer(name).nbytes for name in touched)
    return total


_FUNCTION = re.compile(r"^static void (k\d+)(_finish)?\(.*\{$", re.MULTILINE)


def outermost_loops(source: str) -> dict[str, int]:
    """Per kernel of a C source, the ``for`` loops of its function that stand in no other loop.

    ``kN_finish`` combines the partial results of ``kN``'s loop, so it belongs to that loop.
    """
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)
    counts: dict[str, int] = {}
    for match in _FUNCTION.finditer(text):
        if not match.group(2):
            counts[match.group(1)] = _loops_at_top(text[match.end() :])
    return counts


def loop_depths(source: str, kernel: str) -> list[int]:
    """How many loops stand around each ``for`` of a kernel's function, in text order."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)
    start = text.index(f"static void {kernel}(")
    return _for_depths(text[text.index("{", start) + 1 :])


def _loops_at_top(text: str) -> int:
    return sum(around == 0 for around in _for_depths(text))


def _for_depths(text: str) -> list[int]:
    """Walk braces from inside a function's body to its end."""
    depths: list[int] = []
    open_braces: list[bool] = []
    for token in re.finditer(r"\bfor \([^{;]*;[^{;]*;[^{;]*?\) ?(\{?)|[{}]", text):
        if token.group().startswith("for"):
            depths.append(sum(open_braces))
            if token.group(1):
                open_braces.append(True)
        elif token.group() == "{":
            open_braces.append(False)
        elif not open_braces:
            return depths
        else:
            open_braces.pop()
    raise ValueError("the function does not end")


def float_array(rng: np.random.Generator, *shape: int, dtype: type = np.float32) -> np.ndarray:
    """Random numbers around zero; small enough that exp of them is finite."""
    return rng.standard_normal(shape).astype(dtype)
