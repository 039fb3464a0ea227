"""Faults in dependences and renaming: who sees each, and that nobody else does.

takes: programs that overwrite an argument, and a stage with a fault patched in from here
gives: a failure when the shuffled rung or ``Plan.check`` misses a fault, or when one of the others
    already sees it: then it would not be the one that is needed
holds: the faults
not here: faults in fusion and storage; programs without a fault (``stages/test_renaming``)
"""

from dataclasses import replace

import numpy as np
import pytest

from spec_tests.harness import quiet
from stax_ref import compile as stages
from stax_ref import depend, ladder, looptree, memory, renaming
from stax_ref.compile import compile_graph
from stax_ref.config import Config
from stax_ref.errors import InvariantError
from stax_ref.jit import jit
from stax_ref.order import order

OFF, ON = Config(check=0), Config(check=1)


def matrix():
    return np.arange(8 * 6.0).reshape(8, 6) + 1


def turned(x):
    """Shares one read of x with the writer, so that fusing looks profitable."""
    y = x[::-1] * x
    x += 1
    return y


def two(x, y):
    x += 1
    y *= 2


def apart(x):
    """Shares no read with the writer: two kernels, and no data leads from one to the other."""
    y = x[::-1] * 2
    x += 1
    return y


def compiled(function, config, *args):
    return compile_graph(jit(function).trace(*args).graph, config)


def rungs(function, *args):
    """Per rung whether all its comparisons are right, with the self-checks of compiling off."""
    with quiet():
        found = ladder.climb(compiled(function, OFF, *args), args).comparisons
    return {
        name: all(c.ok for c in found if c.rung.startswith(name))
        for name in ("nodes", "nests", "points")
    }


def seen_by_points_alone(function, *args):
    assert rungs(function, *args) == {"nodes": True, "nests": True, "points": False}


def seen_by_the_check_of_the_plan(function, message, *args):
    with pytest.raises(InvariantError, match=message):
        compiled(function, ON, *args)


@pytest.mark.parametrize("function", [turned, apart])
def test_without_a_fault_every_rung_is_right(function):
    assert all(rungs(function, matrix()).values())
    assert all(rungs(two, matrix(), matrix()).values())
    assert compiled(function, ON, matrix()).plan.overwritten


# a weak dependence is lost ------------------------------------------------------------------------
@pytest.fixture
def no_weak(monkeypatch):
    """No reader of old contents is remembered, neither between kernels nor inside one."""
    monkeypatch.setattr(depend, "_weak", lambda *_: ())
    monkeypatch.setattr(looptree.Trees, "_after_readers", lambda *_: 0)


def test_a_lost_weak_dependence_lets_a_kernel_overwrite_what_it_still_reads(no_weak):
    program = compiled(turned, OFF, matrix())
    assert program.plan.kernels == 1, "the fault has an effect"
    seen_by_points_alone(turned, matrix())


def test_the_check_of_the_plan_sees_it_too(no_weak):
    seen_by_the_check_of_the_plan(turned, "which it still reads", matrix())


def backwards(groups, config):
    """Whatever order the dependences allow is right; this one is the last of two kernels'."""
    found = order(groups, config)
    if any(groups.edges.predecessors().values()):
        return found
    return replace(found, groups=found.groups[::-1])


def test_a_lost_weak_dependence_lets_a_reader_run_after_the_writer(monkeypatch):
    """Only the order: the kernels stay apart, and nothing keeps them in order."""
    monkeypatch.setattr(depend, "_weak", lambda *_: ())
    monkeypatch.setattr(stages, "order", backwards)
    seen_by_points_alone(apart, matrix())
    seen_by_the_check_of_the_plan(apart, r"reads x after \w+ wrote \w+ over it", matrix())


def test_with_its_weak_dependence_the_same_order_is_not_allowed(monkeypatch):
    monkeypatch.setattr(stages, "order", backwards)
    assert all(rungs(apart, matrix()).values())


# a wrong rename -----------------------------------------------------------------------------------
@pytest.fixture
def crossed(monkeypatch):
    """New contents of one argument are written in the storage of the other."""
    right = memory._overwritten

    def wrong(sequence):
        pairs = list(right(sequence))
        return [(new, old) for (new, _), (_, old) in zip(pairs, pairs[::-1], strict=True)]

    monkeypatch.setattr(memory, "_overwritten", wrong)


def test_a_wrong_rename_overwrites_another_argument(crossed):
    seen_by_points_alone(two, matrix(), matrix())


def test_the_check_of_the_plan_sees_a_wrong_rename(crossed):
    seen_by_the_check_of_the_plan(
        two, r"reads [xy] after \w+ wrote \w+ over it", matrix(), matrix()
    )


# the index of the write is not asked --------------------------------------------------------------
def shifted(x):
    x[1:] = x[:-1]


def test_overwriting_with_another_index_is_seen(monkeypatch):
    monkeypatch.setattr(renaming, "_reads_where_it_writes", lambda *_: True)
    seen_by_points_alone(shifted, matrix())
    seen_by_the_check_of_the_plan(shifted, "which it still reads", matrix())
