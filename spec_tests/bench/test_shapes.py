"""shapes: the programs that the scheduler's time is measured on are programs.

takes: small sizes of every kind
gives: a failure for a shape that does not pass its own checks, or is not fused
holds: nothing is timed here
not here: figures (``test_scheduling``)
"""

import pytest

from spec_tests.bench.curve import exponent
from spec_tests.bench.shapes import KINDS, graph_of, shape
from stax_ref.compile import STAGES
from stax_ref.config import Config


@pytest.mark.parametrize("kind", KINDS)
def test_every_shape_goes_through_every_stage(kind):
    lowered = shape(kind, 40)
    assert len(lowered.nodes) == 40
    made = {"trace": graph_of(lowered), "lower": lowered}
    for word, stage in STAGES[1:]:
        made[word] = stage(made, Config())
    plan = made["plan"]
    plan.check()
    assert plan.kernels < 40
    assert len(made["depend"].records) == 40, "nothing is dead"


def test_the_exponent():
    assert exponent([(10.0, 1.0), (50.0, 2.0), (1000.0, 1000.0)]) == pytest.approx(1.5)
