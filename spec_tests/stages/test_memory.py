"""memory: lifetimes, byte ranges that never meet while both live, rows and registers.

takes: traced programs and hand-made slots
gives: a failure for two live buffers in one place, or a lifetime that differs from Definition 7.5
holds: lifetimes recomputed from the steps; overlaps found byte by byte
not here: that a short lifetime is caught when it runs (``test_interpret``)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.golden import programs
from spec_tests.stages.random_programs import random_program
from stax_ref.errors import InvariantError
from stax_ref.memory import Slot, arena_bytes, check
from stax_ref.plan import Extern, touched
from stax_ref.pools import ALIGNMENT

ROWS = np.zeros((64, 128), np.float32)


def compiled(function, *arguments, **options):
    return stax.jit(function, **options).lower(*arguments).program


def chain(x):
    """Kernels that cannot fuse: each reads the one before in another order."""
    a = np.exp(x)
    b = np.tanh(a[::-1] + a)
    c = np.exp(b[::-1] + b)
    return np.tanh(c[::-1] + c)


def kinds(program) -> dict[str, str]:
    return {slot.buffer: slot.kind for slot in program.plan.slots}


def test_storage_kinds():
    assert kinds(compiled(programs.softmax, ROWS)) == {
        "top": "register",
        "e": "row",
        "sum": "register",
        "out": "output",
    }


def test_the_seed_keeps_every_intermediate_in_a_buffer():
    assert set(kinds(compiled(programs.softmax, ROWS, schedule="seed")).values()) == {
        "arena",
        "output",
    }


@pytest.mark.parametrize(("local_bytes", "kind"), [(512, "row"), (511, "arena")])
def test_local_bytes(local_bytes, kind):
    program = compiled(programs.softmax, ROWS, local_bytes=local_bytes)
    assert kinds(program)["e"] == kind
    assert program.plan.arena_bytes == (0 if kind == "row" else 64 * 128 * 4)


def lifetimes(program):
    """Definition 7.5: from the step that writes a buffer to the last one that reads it."""
    first, last = {}, {}
    for number, group in enumerate(program.sequence):
        for record in group.records:
            first[record.node.buffer] = number
            for dep in record.reads:
                last[dep.buffer] = number
    return {name: (at, last.get(name, at)) for name, at in first.items()}


def overlapping_bytes(program) -> int:
    """Bytes of the arena that two buffers hold in the same step, but for one taken in place."""
    count = 0
    taken = {slot.takes: slot.first for slot in program.plan.slots if slot.how == "in place"}
    for step in range(len(program.sequence)):
        used = np.zeros(program.plan.arena_bytes, int)
        for slot in program.plan.slots:
            if slot.kind == "arena" and slot.first <= step <= slot.last:
                if taken.get(slot.buffer) == step:
                    continue
                used[slot.offset : slot.offset + slot.nbytes] += 1
        count += int(np.count_nonzero(used > 1))
    return count


@pytest.mark.parametrize("options", [{}, {"schedule": "seed"}, {"local_bytes": 0}], ids=str)
def test_random_programs(options):
    arenas = 0
    for number in range(80):
        function, arguments, _ = random_program(number)
        program = compiled(function, *arguments, **options)
        found = lifetimes(program)
        assert {slot.buffer for slot in program.plan.slots} == set(found)
        for slot in program.plan.slots:
            end = len(program.sequence) if slot.kind == "output" else found[slot.buffer][1]
            assert (slot.first, slot.last) == (found[slot.buffer][0], end)
            if slot.kind == "arena":
                assert slot.offset % ALIGNMENT == 0
                assert slot.nbytes == program.plan.buffer(slot.buffer).nbytes
            if slot.kind in ("row", "register"):
                assert slot.first == slot.last, "private to its kernel"
        assert overlapping_bytes(program) == 0
        arenas += program.plan.arena_bytes > 0
    assert arenas > 5


def test_storage_is_used_again():
    x = np.zeros(1000, np.float32)
    program = compiled(chain, x)
    arena = [slot for slot in program.plan.slots if slot.kind == "arena"]
    assert len(arena) == 3
    assert program.plan.arena_bytes == 2 * 4032, "a and c share their bytes"
    assert arena[0].offset == arena[2].offset
    assert arena_bytes(arena) == program.plan.arena_bytes


def test_an_output_is_not_in_the_arena():
    def f(x):
        a = np.exp(x)
        return a, np.tanh(a[::-1] + a)

    assert kinds(compiled(f, np.zeros(100, np.float32))) == {"a": "output", "out": "output"}


def test_an_external_call_reads_and_writes_buffers():
    function, arguments, _ = programs.DEFAULT["dense"]
    program = compiled(function, *arguments)
    for step in program.steps:
        if isinstance(step, Extern):
            for name in touched(step):
                slot = program.plan.slot(name)
                assert slot is None or slot.kind in ("arena", "output")


def test_check_finds_two_in_one_place():
    a, b = Slot("a", "arena", 100, 0, 2, 0), Slot("b", "arena", 100, 2, 3, 64)
    with pytest.raises(InvariantError, match="overlap"):
        check([a, b])
    check([a, Slot("b", "arena", 100, 3, 4, 64)])
    check([a, Slot("b", "arena", 100, 2, 3, 100)])
    check([a, Slot("b", "output", 100, 2, 3, 0)])


def test_slots_print():
    assert str(Slot("a", "arena", 100, 0, 2, 64)) == "a  arena  100 bytes  steps 0..2 bytes 64..164"
    assert str(Slot("r", "row", 512, 1, 1)) == "r  row  512 bytes  steps 1..1"
