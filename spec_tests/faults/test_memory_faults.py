"""Faults of memory planning: a short lifetime, a wrong index in place, offsets that overlap.

takes: functions patched in here
gives: a failure when a fault goes unnoticed, or is noticed by another group than the ones named
holds: two groups see each of them, the plan's check and the shuffled points; the tests show what is
left when one of them, and when both, are off
not here: fusion (``test_fusion_faults``)
"""

from dataclasses import replace

import numpy as np
import pytest

from spec_tests.faults.groups import PLAN, POINTS, compiled, objections
from stax_ref import freepool, inplace, ladder, memory
from stax_ref import plan as plans
from stax_ref.errors import InvariantError

RNG = np.random.default_rng(23)
MATRIX = RNG.standard_normal((3, 8)).astype(np.float32)


def long_lived(x):
    """a is read again after b was made."""
    a = np.exp(x)
    b = np.tanh(a[::-1] + a)
    return np.tanh(b[::-1] + b + a[0])


def two_indices(x):
    """c reads b where it writes, and elsewhere."""
    b = np.exp(x)
    c = np.tanh(b) + b[:, ::-1]
    return np.tanh(c[::-1] + c)


def other_index(x):
    """c reads b elsewhere than it writes; b has another reader before."""
    b = np.exp(x)
    total = b.mean()
    c = np.tanh(b[::-1]) + total
    return np.tanh(c[::-1] * 2 + c)


def still_read(x):
    """c reads b at the index it writes, and the result reads b again."""
    b = np.exp(x)
    total = b.mean()
    c = np.tanh(b) + total
    return np.tanh(c[::-1] + c) * b[::-1]


def short_lifetimes(monkeypatch):
    """Every buffer dies a step before its last reader."""
    honest = memory._slots

    def short(*args):
        return [
            replace(slot, last=slot.last - 1)
            if slot.kind == "arena" and slot.last > slot.first
            else slot
            for slot in honest(*args)
        ]

    monkeypatch.setattr(memory, "_slots", short)


def any_other_read(monkeypatch):
    """In place although the group reads the buffer at a second index."""
    monkeypatch.setattr(inplace, "_read_before", lambda *_: True)


def any_index(monkeypatch):
    """In place without comparing the index that is read with the one that is written."""

    def source(record, group, place, free, buffers, config):
        size = buffers[record.node.buffer].nbytes
        names = (dep.buffer for dep in record.reads if dep.buffer in free)
        return next((name for name in names if buffers[name].nbytes == size), "")

    monkeypatch.setattr(inplace, "_source", source)


def any_reader(monkeypatch):
    """In place although a later kernel reads the buffer."""
    honest = memory.in_place

    def early(sequence, buffers, stored, last, config):
        return honest(sequence, buffers, stored, dict.fromkeys(last, 2), config)

    monkeypatch.setattr(memory, "in_place", early)


def overlapping(monkeypatch):
    """All blocks at the beginning of the arena."""
    honest = memory.pooled

    def together(blocks):
        pool = honest(blocks)
        return replace(pool, offsets=dict.fromkeys(pool.offsets, 0))

    monkeypatch.setattr(memory, "pooled", together)


FAULTS = {
    "lifetime one step short": (short_lifetimes, long_lived),
    "in place, read at a second index": (any_other_read, two_indices),
    "in place, read at another index": (any_index, other_index),
    "in place, read later": (any_reader, still_read),
    "overlapping offsets": (overlapping, long_lived),
}


def without_plan_check(monkeypatch):
    for name in ("check_bytes", "check_slots"):
        monkeypatch.setattr(plans, name, lambda _: None)


def without_points(monkeypatch):
    monkeypatch.setattr(ladder, "POINT_LIMIT", -1)


@pytest.fixture(params=FAULTS)
def faulty(request, monkeypatch):
    """A program with one fault; its honest twin has been judged."""
    fault, function = FAULTS[request.param]
    options = {"check": 0, "max_nodes": 1}
    honest = compiled(function, MATRIX, **options)
    assert objections(honest, [MATRIX]) == set()
    fault(monkeypatch)
    program = compiled(function, MATRIX, **options)
    assert program.plan.slots != honest.plan.slots
    return program


def test_both_groups_object(faulty):
    assert objections(faulty, [MATRIX]) == {PLAN, POINTS}


def test_the_points_object_alone(faulty, monkeypatch):
    without_plan_check(monkeypatch)
    assert objections(faulty, [MATRIX]) == {POINTS}


def test_the_plan_check_objects_alone(faulty, monkeypatch):
    without_points(monkeypatch)
    assert objections(faulty, [MATRIX]) == {PLAN}


def test_without_both_nobody_objects(faulty, monkeypatch):
    without_plan_check(monkeypatch)
    without_points(monkeypatch)
    assert objections(faulty, [MATRIX]) == set()


def test_a_faulty_plan_is_not_compiled(monkeypatch):
    """At the default price of self-checks: the culprit, and the steps around it."""
    overlapping(monkeypatch)
    with pytest.raises(InvariantError, match="over the bytes of a, which it still reads") as caught:
        compiled(long_lived, MATRIX)
    assert "\n> k1: a@0..96 -> b@0..96  # test_memory_faults.py:" in str(caught.value)
    assert "b = np.tanh(a[::-1] + a)" in str(caught.value)


def test_a_free_pool_that_ignores_sizes_is_caught_by_the_plan_check(monkeypatch):
    """A larger buffer moves into the storage of a smaller one, and into what lies behind it."""

    def f(x):
        total = np.exp(x).mean()
        s = np.exp(x).sum(0)
        a = np.exp(x[::-1] + x + s)
        b = np.tanh(a[::-1] + a)
        return np.tanh(b[::-1] + b) + total

    options = {"schedule": "seed", "max_nodes": 1}
    rows = np.zeros((6, 20), np.float32)
    compiled(f, rows, **options)
    honest = freepool.reuse

    def careless(blocks, keys, steps):
        return honest(blocks, ["any"] * len(keys), steps)

    monkeypatch.setattr(freepool, "reuse", careless)
    with pytest.raises(InvariantError, match="reads buf2 after k4 wrote buf5 over its bytes"):
        compiled(f, rows, **options)
    without_plan_check(monkeypatch)
    compiled(f, rows, **options)
