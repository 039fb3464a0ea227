"""How far the scheduler is from the optimum: bytes moved by fusion, peak memory of the order.

takes: how many nodes, which random problems
gives: a ``Measured`` per problem, and the page ``docs/yardsticks.md``
holds: the scheduler's own code on abstract problems (``abstract.fuse_problem``,
    ``order.considered``) against the exact answers (``optimal``); nothing here is timed, so the
    page is the same on every machine
not here: that the exact answers are exact (``test_optimal``), which problems there are
    (``generator``)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spec_tests.theorems import generator
from stax_ref.abstract import fuse_problem
from stax_ref.config import Config
from stax_ref.optimal import best_fusion, best_order
from stax_ref.order import considered
from stax_ref.peak import best, of_problem

SCHEDULES = ("seed", "default")
FULL = {10: 1000, 14: 50}
"""Nodes to number of problems."""


@dataclass(frozen=True)
class Measured:
    """One problem.

    Args:
        number: of the problem.
        forbidden: how many pairs may not share a block.
        bytes: per schedule the bytes its fusion moves, in units of the least possible.
        peak: per schedule the peak of its order, in units of the least possible.
    """

    number: int
    forbidden: int
    bytes: dict[str, float]
    peak: dict[str, float]


def measure(number: int, nodes: int) -> Measured:
    """The problem with this number under every schedule."""
    problem = generator.random_problem(number, nodes)
    _, least_bytes = best_fusion(problem)
    _, least_peak = best_order(problem)
    moved, peaks = {}, {}
    for schedule in SCHEDULES:
        config = Config(schedule=schedule)
        partition = fuse_problem(problem, config)
        assert problem.is_scheme(partition), f"{partition} is no fusion scheme of\n{problem}"
        moved[schedule] = problem.cost(partition) / least_bytes
        orders = considered(of_problem(problem), config)
        peaks[schedule] = problem.peak(orders[best(orders)].order) / least_peak
    return Measured(number, len(problem.forbidden), moved, peaks)


def measured(
    nodes: int, numbers: Iterable[int], tell: Callable[[int], None] = lambda done: None
) -> list[Measured]:
    """Every problem with these numbers; ``tell`` is called after each."""
    rows = []
    for number in numbers:
        rows.append(measure(number, nodes))
        tell(len(rows))
    return rows


@dataclass(frozen=True)
class Summary:
    """Of many ratios: median, 95th percentile, the largest, and how many exceed 1."""

    median: float
    high: float
    worst: float
    above: float

    def __str__(self) -> str:
        share = f"{100 * self.above:.1f} %"
        return f"{self.median:.3f} | {self.high:.3f} | {self.worst:.3f} | {share}"


def summary(ratios: Sequence[float]) -> Summary:
    """What the yardsticks say of these ratios."""
    median, high = (float(v) for v in np.percentile(ratios, (50, 95), method="linear"))
    above = sum(ratio > 1 for ratio in ratios) / len(ratios)
    return Summary(median, high, float(max(ratios)), above)


def broken(rows: Sequence[Measured]) -> list[str]:
    """What was promised and does not hold, a sentence each.

    The default is close to the optimum; and the problems are not so easy that the seed's algorithm
    gets there too.
    """
    found = []
    for what in ("bytes", "peak"):
        told = summary([getattr(row, what)["default"] for row in rows])
        if told.median != 1 or told.high > 1.15:
            found.append(f"{what}, default: median {told.median:.3f}, 95th {told.high:.3f}")
        below = [row.number for row in rows if min(getattr(row, what).values()) < 1]
        if below:
            found.append(f"{what}: below the optimum on problems {below}")
    crowded = [row for row in rows if row.forbidden >= 3]
    if 3 * len(crowded) < len(rows):
        found.append(f"{len(crowded)} of {len(rows)} problems have three forbidden pairs")
    beaten = sum(row.bytes["seed"] > 1 for row in crowded)
    if 20 * beaten < len(crowded):
        found.append(f"the seed misses the optimum of {beaten} in {len(crowded)}: too easy")
    worse = [row.number for row in rows if row.peak["default"] > row.peak["seed"]]
    if worse:
        found.append(f"the default's order needs more than the seed's on problems {worse}")
    return found


HEAD = f"""# Distance from the optimum

Random fusion problems (generator `{generator.NAME}`, seed {generator.SEED}), solved by the
scheduler's own code and by exact branch and bound. *Bytes* are those that kernels read from and
write to main memory (Definition 7.3), *peak* is the memory live at the fullest step (Definition
7.5), both as a multiple of the least possible. The schedule `seed` is Algorithm 7.1 and the four
orders of section 7.5 to the letter. The default tries more (DESIGN.md); its search for an order is
itself exact where it ends within `Config.order_states` states, so its peaks show how often it does
not. Written by `pytest spec_tests/theorems/test_yardsticks.py --update-golden`; with progress, and
for other numbers of problems, `python -m spec_tests.theorems`.

| nodes | problems | what | schedule | median | 95th percentile | worst | above 1 |
|---|---|---|---|---|---|---|---|
"""


def lines(nodes: int, rows: Sequence[Measured]) -> list[str]:
    """The rows of the page's table for problems of one size."""
    found = []
    for what in ("bytes", "peak"):
        for schedule in SCHEDULES:
            told = summary([getattr(row, what)[schedule] for row in rows])
            found.append(f"| {nodes} | {len(rows)} | {what} | {schedule} | {told} |")
    return found


def text(rows: dict[int, list[Measured]]) -> str:
    """The page: nodes to what was measured."""
    table = [line for nodes, found in rows.items() for line in lines(nodes, found)]
    return HEAD + "\n".join(table) + "\n"
