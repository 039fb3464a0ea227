"""Faults of the scheduler and of kernels: an illegal fusion, a cycle, a wrong tail, an identity.

takes: functions patched and sources edited in here
gives: a failure when a fault goes unnoticed, or is noticed by another group than the one named
holds: every fault beside the honest program
not here: memory (``test_memory_faults``), dependences (``test_dependence_faults``)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.faults.groups import NATIVE, NODES, POINTS, compiled, objections
from spec_tests.harness import backend_name
from stax_ref import looptree
from stax_ref.acyclic import Ancestry
from stax_ref.config import Config
from stax_ref.errors import InvariantError
from stax_ref.fuse import fuse
from stax_ref.ops import Reduction
from stax_ref.order import order

RNG = np.random.default_rng(17)
SQUARE = RNG.standard_normal((6, 6)).astype(np.float32)


def reads_elsewhere(x):
    """The second value reads the first one at another place than it was written in."""
    a = np.exp(x)
    return a, a[::-1] * x


def test_an_illegal_fusion_is_caught_by_shuffled_points(monkeypatch):
    assert objections(compiled(reads_elsewhere, SQUARE), [SQUARE]) == set()
    monkeypatch.setattr(looptree.Trees, "_outer_distance", lambda *_: None)
    fused = compiled(reads_elsewhere, SQUARE)
    assert fused.plan.kernels == 1
    assert objections(fused, [SQUARE]) == {POINTS}


def triangle(x, w):
    """e and the sum may share a loop, but a product that needs e comes between them."""
    e = np.exp(x)
    return e, e + (e @ w)


def test_a_cycle_is_caught_by_the_order(monkeypatch):
    """With Proposition 7.1 skipped, fusion itself notices nothing."""
    honest = compiled(triangle, SQUARE, SQUARE)
    assert objections(honest, [SQUARE, SQUARE]) == set()
    monkeypatch.setattr(Ancestry, "makes_cycle", lambda *_: False)
    groups = fuse(honest.edges, Config())
    assert len(groups.groups) == 2 < len(honest.groups.groups)
    with pytest.raises(InvariantError, match="cycle"):
        order(groups, Config())


@pytest.mark.skipif(backend_name() != "c", reason="edits C")
@pytest.mark.parametrize(
    ("size", "caught"), [(17, True), (31, True), (32, False), (33, True), (64, False)]
)
def test_a_tail_of_the_wrong_length_is_caught_by_the_compiled_rung(size, caught):
    """One lane is left out; whole vectors hide it."""
    x = RNG.standard_normal(size).astype(np.float32)
    staged = stax.jit(lambda x: np.exp(x) * 2).lower(x)
    lanes = "const i64 n = end - i0;  // lanes left"
    honest = staged.compile("c")
    assert objections(staged.program, [x], honest) == set()
    assert lanes in honest.source, "a vector level is needed"
    wrong = staged.compile("c", edit=lambda c: c.replace(lanes, "const i64 n = end - i0 - 1;"))
    assert objections(staged.program, [x], wrong) == ({NATIVE} if caught else set())
    assert objections(staged.program, [x]) == set()


def test_a_wrong_identity_is_caught_against_numpy(monkeypatch):
    """Every rung above has the same wrong identity: only plain NumPy tells."""
    rows = RNG.standard_normal((5, 33)).astype(np.float32)

    def product(x):
        return np.prod(x, -1)

    assert objections(compiled(product, rows), [rows]) == set()
    honest = Reduction.identity

    def wrong(self, dtype):
        return dtype.type(2) if self.name == "prod" else honest(self, dtype)

    monkeypatch.setattr(Reduction, "identity", wrong)
    assert objections(compiled(product, rows), [rows]) == {NODES}


@pytest.mark.skipif(backend_name() != "c", reason="edits C")
def test_a_wrong_identity_of_a_kernel_is_caught_by_the_compiled_rung():
    """Lanes past the end hold the identity; with 0 in their place a negative maximum is lost."""
    x = -np.abs(RNG.standard_normal(37)).astype(np.float32) - 1
    staged = stax.jit(np.max).lower(x)
    minus_infinity = "-__builtin_inff()"
    assert objections(staged.program, [x], staged.compile("c")) == set()
    wrong = staged.compile("c", edit=lambda text: text.replace(minus_infinity, "0.0f"))
    assert objections(staged.program, [x], wrong) == {NATIVE}
    assert objections(staged.program, [x]) == set()
