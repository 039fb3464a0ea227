"""programs: large programs for the page and the explanation, without a trace.

takes: a shape of ``bench.shapes`` and a number of nodes
gives: the ``Program`` the stages make of it
holds: the list of stages is ``compile``'s own
not here: the shapes
"""

from spec_tests.bench import shapes
from stax_ref.compile import STAGES, Program
from stax_ref.config import Config


def large(kind: str, count: int) -> Program:
    """The program of ``shapes.shape(kind, count)``, every stage after ``lower`` run on it."""
    lowered, config = shapes.shape(kind, count), Config()
    graph = shapes.graph_of(lowered)
    made = {"trace": graph, "lower": lowered}
    for word, stage in STAGES[1:]:
        made[word] = stage(made, config)
    return Program(config, graph, *(made[word] for word, _ in STAGES), seconds=())
