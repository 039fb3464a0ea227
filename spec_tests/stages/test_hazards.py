"""hazards: a plan that puts two buffers in each other's way is refused, and no other plan is.

takes: traced programs; plans whose slots were edited
gives: a failure for a plan that runs wrong and passes, or that runs right and is refused
holds: byte ranges compared with one name per byte; edited plans run point by point
not here: names and steps of the wrapper (``test_plan``)
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stax_ref as stax
from spec_tests.stages.random_programs import random_program
from stax_ref import interpret, ladder, points
from stax_ref.errors import InvariantError
from stax_ref.hazards import _Bytes, check_bytes, touches
from stax_ref.plan import Plan
from stax_ref.pools import ALIGNMENT

ROWS = np.random.default_rng(0).standard_normal((6, 20)).astype(np.float32)


def planned(function, *arguments, **options) -> Plan:
    """One kernel per node, each intermediate in a place of its own in the arena or a free one."""
    alone = {"max_nodes": 1, "in_place_percent": 101}
    return stax.jit(function, **{**alone, **options}).lower(*arguments).plan


def moved(plan: Plan, **offsets: int) -> Plan:
    """The plan with some buffers at other places."""
    assert set(offsets) <= {slot.buffer for slot in plan.slots if slot.kind == "arena"}
    slots = [replace(s, offset=offsets.get(s.buffer, s.offset)) for s in plan.slots]
    return replace(plan, slots=tuple(slots))


def runs_right(plan: Plan, arguments, seeds=(0, 1, 2)) -> bool:
    """Does the rung that shares storage agree with the one where every buffer has its own?

    The results of external calls are recorded, so they must not be the last thing a program does.
    """
    recording = interpret.Recording()
    expected = interpret.run_nests(plan, arguments, recording)
    return not any(
        np.any(ladder.different(a, b))
        for seed in seeds
        for a, b in zip(points.run_points(plan, arguments, recording, seed), expected, strict=True)
    )


# bytes -------------------------------------------------------------------------------------------
@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=25))
def test_holders_are_those_of_one_name_per_byte(ranges):
    held, plain = _Bytes(50), [""] * 50
    for number, (begin, length) in enumerate(ranges):
        held.hold(begin, begin + length, f"b{number}")
        plain[begin : begin + length] = [f"b{number}"] * length
    for begin in range(45):
        for end in range(begin + 1, begin + 6):
            joined = [
                n for k, n in enumerate(plain[begin:end]) if k == 0 or n != plain[begin + k - 1]
            ]
            found = held.held(begin, end)
            assert [n for k, n in enumerate(found) if k == 0 or n != found[k - 1]] == joined


# real plans --------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"schedule": "seed"}, {"local_bytes": 0}], ids=str)
def test_plans_of_random_programs_pass(options):
    arenas = 0
    for number in range(80):
        function, arguments, _ = random_program(number)
        plan = stax.jit(function, **options).lower(*arguments).plan
        check_bytes(plan)
        arenas += plan.arena_bytes > 0
    assert arenas > 5


def random_chain(number: int):
    """A program of matrices with many intermediates: reversed, transposed, summed, or as they are.

    Args:
        number: which program.
    """
    rng = np.random.default_rng(number)
    rows, columns = (int(k) for k in rng.choice([2, 3], 2))
    views = ("{}", "{}", "{}[::-1]", "{}[:, ::-1]", f"{{}}.T.reshape({rows}, {columns})")
    names, lines = ["x"], []
    for k in range(int(rng.integers(4, 9))):
        a, b = (names[-int(rng.integers(1, min(len(names), 3) + 1))] for _ in range(2))
        first, second = (str(rng.choice(views)) for _ in range(2))
        text = f"np.tanh({first.format(a)}) + {second.format(b)} * 0.5"
        if rng.integers(3) == 0:
            text += f" + {b}.mean(-1, keepdims=True)"
        lines.append(f"    v{k} = {text}")
        names.append(f"v{k}")
    lines.append(f"    return np.tanh({names[-1]} + {names[-1]}[::-1]) - {names[-2]}[::-1]")
    scope = {"np": np}
    exec("\n".join(["def program(x):", *lines]) + "\n", scope)
    return scope["program"], [rng.standard_normal((rows, columns)).astype(np.float32)]


def test_an_edited_plan_that_runs_wrong_is_refused():
    """Any two buffers of the arena at one address: whatever the check lets through runs right."""
    refused = passed = wrong = in_place = 0
    for number in range(16):
        function, arguments = random_chain(number)
        plan = planned(function, *arguments, max_reads_reused=0, local_bytes=0)
        arena = [slot for slot in plan.slots if slot.kind == "arena"]
        for a, b in combinations(arena, 2):
            edited = moved(plan, **{b.buffer: a.offset})
            try:
                check_bytes(edited)
            except InvariantError:
                refused += 1
                if refused % 8 == 0:
                    wrong += not runs_right(edited, arguments, seeds=(0,))
                continue
            passed += 1
            in_place += a.last == b.first
            assert runs_right(edited, arguments, seeds=(0,))
    assert refused > 50
    assert wrong > refused / 8 / 2, "most of what is refused does run wrong"
    assert passed > 10
    assert in_place > 1


def test_two_thousand_steps_are_checked_in_linear_time(monkeypatch):
    """Every touch asks for few ranges: the work per step does not grow."""

    def chain(count):
        def f(x):
            for _ in range(count):
                x = np.tanh(x[::-1] + x)
            return x

        return planned(f, np.zeros(16, np.float32))

    asked = []
    original = _Bytes.held

    def counted(self, begin, end):
        found = original(self, begin, end)
        asked.append(len(found))
        return found

    monkeypatch.setattr(_Bytes, "held", counted)
    work = []
    for count in (50, 100):
        plan = chain(count)
        asked.clear()
        check_bytes(plan)
        work.append(sum(asked) / len(plan.steps))
    assert work[1] == pytest.approx(work[0], rel=0.05)


# what is refused ---------------------------------------------------------------------------------
def chain(x):
    """c may take the place of b, which is read for the last time, at the same index."""
    b = np.exp(x)
    total = b.mean()
    c = np.tanh(b) + total
    return np.exp(c[::-1] + c)


def overlaid(plan: Plan, over: str, under: str) -> Plan:
    slot = plan.slot(under)
    assert slot is not None
    return moved(plan, **{over: slot.offset})


def test_a_buffer_whose_bytes_were_taken():
    def f(x):
        b = np.exp(x)
        c = np.tanh(x)
        return b[::-1] + b + c[::-1] + c

    plan = planned(f, ROWS)
    with pytest.raises(
        InvariantError, match="k2 reads b after k1 wrote c over its bytes"
    ) as caught:
        check_bytes(overlaid(plan, "c", "b"))
    text = str(caught.value)
    assert all(f"> {line}" in text for line in ("k0: x -> b@0..480", "k1: x -> c@0..480", "k2: b@"))
    assert "return b[::-1] + b + c[::-1] + c" in text, "the user's line"


def test_a_partial_overlap():
    plan = planned(chain, ROWS)
    assert plan.slot("b").offset == 0
    with pytest.raises(
        InvariantError, match=r"k2 writes c over the bytes of \w+, which it still reads"
    ):
        check_bytes(moved(plan, c=ALIGNMENT))


def test_the_end_of_the_arena():
    plan = planned(chain, ROWS)
    edited = moved(plan, c=plan.arena_bytes - ALIGNMENT)
    with pytest.raises(InvariantError, match=f"ends outside the arena of {plan.arena_bytes} bytes"):
        check_bytes(edited)


@pytest.mark.parametrize("change", [{"last": 1}, {"first": 1}])
def test_a_stated_lifetime_that_is_too_short(change):
    """Nothing else is in its place, but the rung that poisons dead memory trusts the statement."""
    plan = planned(chain, ROWS)
    slots = tuple(replace(s, **change) if s.buffer == "b" else s for s in plan.slots)
    with pytest.raises(InvariantError, match=r"b lives in steps \d..\d, but k\d is step \d"):
        check_bytes(replace(plan, slots=slots))


# a kernel over its own operand -------------------------------------------------------------------
def test_the_same_element_may_be_replaced():
    plan = overlaid(planned(chain, ROWS), "c", "b")
    check_bytes(plan)
    assert runs_right(plan, [ROWS])


def backwards(x):
    b = np.exp(x)
    total = b.mean()
    c = np.tanh(b[::-1]) + total
    return np.exp(c[::-1] + c)


def shifted(x):
    b = np.exp(x)
    c = np.tanh(b) + b[:, ::-1]
    return np.exp(c[::-1] + c)


def transposed(x):
    b = np.exp(x)
    total = b.mean()
    c = np.tanh(b.T).reshape(b.shape) + total
    return np.exp(c[::-1] + c)


@pytest.mark.parametrize("function", [backwards, shifted, transposed])
def test_another_element_may_not(function):
    plan = planned(function, ROWS)
    with pytest.raises(InvariantError, match="over the bytes of b, which it still reads"):
        check_bytes(overlaid(plan, "c", "b"))
    assert not runs_right(overlaid(plan, "c", "b"), [ROWS])


def rows(x):
    b = np.sort(x, -1)
    c = np.exp(b / b.sum(-1, keepdims=True))
    return np.tanh(c[::-1] + c)


def rows_of_others(x):
    b = np.sort(x, -1)
    c = np.exp(b / b[::-1].sum(-1, keepdims=True))
    return np.tanh(c[::-1] + c)


def fused_rows(function) -> Plan:
    """c over b, in one kernel with the sum: rows outside, two loops inside."""
    plan = planned(function, ROWS, max_nodes=2)
    kernel = next(step for step in plan.steps if len(getattr(step, "nodes", ())) == 2)
    assert str(kernel).count("in 20 ") == 2
    return overlaid(plan, "c", "b")


def test_a_row_may_be_replaced_once_it_is_summed():
    """The sum has read the whole row before the quotients overwrite it."""
    edited = fused_rows(rows)
    check_bytes(edited)
    assert runs_right(edited, [ROWS])


def test_a_row_may_not_be_replaced_while_another_iteration_sums_it():
    edited = fused_rows(rows_of_others)
    with pytest.raises(InvariantError, match="k1 writes c over the bytes of b, which it still"):
        check_bytes(edited)
    assert not runs_right(edited, [ROWS])


@pytest.mark.parametrize("shape", [(4, 12, 12), (1, 12, 12), (4, 1, 12), (2, 9, 9)])
def test_loops_of_one_iteration_may_be_split_in_different_ways(shape):
    """Means over the last axis, a variance over both, one loop over both: blocks per iteration."""

    def f(x):
        a = np.sort(x, -1)
        b = a - a.mean(2, keepdims=True)
        c = b - b.var((1, 2), keepdims=True)
        d = np.exp(a * 0.1) + c
        return np.tanh(d[::-1] + d)

    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    plan = stax.jit(f).lower(x).plan
    check_bytes(plan)
    assert any(slot.how == "in place" for slot in plan.slots)
    assert runs_right(plan, [x])


def test_touches_come_in_the_order_of_the_text():
    def f(x):
        b = np.exp(x)
        return b.sum(), np.tanh(b)

    plan = planned(f, ROWS)
    buffers = {buffer.name: buffer for buffer in plan.buffers}
    found = [(t.buffer, t.written) for step in plan.steps for t in touches(step, buffers)]
    assert found == [
        ("x", False),
        ("b", True),
        ("b", False),
        ("out", True),
        ("b", False),
        ("out_1", True),
    ]
