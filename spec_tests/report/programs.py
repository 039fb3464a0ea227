"""programs: large programs for the page and the explanation, without a trace.

takes: a shape of ``bench.shapes`` and a number of nodes
gives: the ``Program`` the stages make of it, and one of a node that overwrites what others read
holds: the list of stages is ``compile``'s own
not here: the shapes
"""

from dataclasses import replace

from spec_tests.bench import shapes
from stax_ref.compile import STAGES, Program
from stax_ref.config import Config
from stax_ref.lower import Lowered


def large(kind: str, count: int) -> Program:
    """The program of ``shapes.shape(kind, count)``, every stage after ``lower`` run on it."""
    return staged(shapes.shape(kind, count), Config())


def overwriting() -> Program:
    """``t2`` overwrites ``t0``, which ``t1`` reads; nothing is fused."""
    made = shapes.Shape()
    made.pointwise("x")
    made.row_sum("t0")
    made.pointwise("x")
    made.nodes[2] = replace(made.nodes[2], mutates="t0")
    return staged(made.finished(), Config(max_nodes=1))


def staged(lowered: Lowered, config: Config) -> Program:
    """Every stage after ``lower``."""
    graph = shapes.graph_of(lowered)
    made = {"trace": graph, "lower": lowered}
    for word, stage in STAGES[1:]:
        made[word] = stage(made, config)
    return Program(config, graph, *(made[word] for word, _ in STAGES), seconds=())
