"""compile: the list of stages, read top to bottom.

Takes a traced graph and a configuration; gives a ``Program``: what every stage made. Stages are
pure; their words name files, dumps and golden folders. Not here: caching (``jit``), backends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .config import Config
from .depend import Edges, depend
from .errors import InvariantError
from .fuse import fuse
from .graph import Graph
from .group import Group, Groups
from .lower import Lowered, lower
from .memory import Memory, memory
from .order import Orders, order
from .plan import Plan, Step, build_steps, plan
from .renaming import renamed


@dataclass(frozen=True, slots=True)
class Program:
    """What each stage made, and its seconds."""

    config: Config
    graph: Graph
    lowered: Lowered
    edges: Edges
    groups: Groups
    orders: Orders
    memory: Memory
    steps: tuple[Step, ...]
    plan: Plan
    seconds: tuple[tuple[str, float], ...]

    @property
    def sequence(self) -> tuple[Group, ...]:
        """The groups in the order they run."""
        return self.orders.sequence

    def text(self, stage: str) -> str:
        """The printed form of one stage; ``KeyError`` lists the words."""
        if stage in TEXTS:
            return TEXTS[stage](self)
        raise KeyError(f"{stage!r} is not a stage; the stages are {', '.join(TEXTS)}")


STAGES: tuple[tuple[str, Callable[[dict[str, Any], Config], Any]], ...] = (
    ("lower", lambda m, c: renamed(lower(m["trace"], c), m["trace"], c)),
    ("depend", lambda m, c: depend(m["lower"], c.seed and c.device == "cpu")),
    ("fuse", lambda m, c: fuse(m["depend"], c)),
    ("order", lambda m, c: order(m["fuse"], c)),
    ("memory", lambda m, c: memory(m["order"].sequence, m["depend"].named, m["depend"].outputs, c)),
    ("nest", lambda m, c: build_steps(m["order"].sequence, m["depend"].named, m["memory"], c)),
    ("plan", lambda m, c: plan(m["trace"], m["lower"], m["nest"], m["memory"])),
)

TEXTS: dict[str, Callable[[Program], str]] = {
    "trace": lambda p: str(p.graph),
    "lower": lambda p: str(p.lowered),
    "depend": lambda p: str(p.edges),
    "fuse": lambda p: str(p.groups),
    "order": lambda p: str(p.orders),
    "memory": lambda p: str(p.memory),
    "nest": lambda p: "\n\n".join(map(str, p.steps)),
    "plan": lambda p: str(p.plan),
}


def compile_graph(graph: Graph, config: Config) -> Program:
    """Graph → plan, through every stage.

    Raises:
        InvariantError: a self-check that ``config.check`` asks for failed.
    """
    program = _run(graph, config)
    if config.check:
        graph.check()
        program.plan.check()
    if config.check >= 2:
        again = _run(graph, config)
        for word in TEXTS:
            if program.text(word) != again.text(word):
                raise InvariantError(f"the stage {word} printed differently when run again")
    return program


def _run(graph: Graph, config: Config) -> Program:
    made, seconds = {"trace": graph}, []  # type: dict[str, Any], list[tuple[str, float]]
    for word, stage in STAGES:
        start = time.perf_counter()
        made[word] = stage(made, config)
        seconds.append((word, time.perf_counter() - start))
    return Program(config, graph, *(made[word] for word, _ in STAGES), seconds=tuple(seconds))  # type: ignore[misc]  # 7 stages
