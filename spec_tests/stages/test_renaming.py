"""renaming: which nodes write into the storage of what they replace, and that nobody notices.

takes: functions that change their arguments, or scatter into intermediates
gives: a failure when storage is shared where an old element is still needed, when a call that fails
    has changed an argument, or when shared memory of arguments is not seen
holds: every program here climbs the ladder, and its true call is compared with NumPy's
not here: random ones (``fuzz``); what happens when a dependence is lost (``faults``)
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import harness
from stax_ref import staged
from stax_ref.depend import WeakDep
from stax_ref.errors import ConfigError, InvariantError

ROWS, COLUMNS = 12, 40


def matrix(dtype=np.float32):
    return (np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) % 37 + 1).astype(dtype)


def program_of(function, *args):
    return stax.jit(function).lower(*args).program


def add_one(x):
    x += 1


def add_and_return(x):
    x += 1
    return x


def normalise(x):
    x /= x.sum(-1, keepdims=True)


def read_reversed_before(x):
    y = x[::-1] * 2
    x += 1
    return y


def read_row_reversed_before(x):
    y = (x[:, ::-1] * x).sum(-1)
    x += 1
    return y


def read_old_and_new(x):
    y = np.exp(x)
    x *= 2
    return y, x + y


def row_sums_unrolled(x):
    x[...] = x.sum(-1, keepdims=True)
    return x


def part_of_it(x):
    x[1:-1, ::2] = 0


def first_row_from_elsewhere(x, y):
    x[...] = y
    x[0] += 1


def swap(x, y):
    t = x.copy()
    x[...] = y
    y[...] = t


def shift(x):
    x[1:] = x[:-1]


def add_reversed(x):
    x += x[:, ::-1]


def read_later(x):
    y = x.sum(0)
    x += y
    return x * 2, y


def divide_integers(x):
    x //= 3


def gather(x):
    y = x[np.argmax(x, 0) % 3]
    x += 1
    return y


def sort_it(x):
    x.sort()


IN_PLACE = [
    (add_one, (matrix(),), ["x"]),
    (add_one, (matrix(np.int16),), ["x"]),
    (add_and_return, (matrix(),), ["x"]),
    (normalise, (matrix(),), ["x"]),
    (read_reversed_before, (matrix(),), ["x"]),
    (read_row_reversed_before, (matrix(),), ["x"]),
    (read_old_and_new, (matrix() / 40,), ["x"]),
    (row_sums_unrolled, (matrix()[:, :2].copy(),), ["x"]),
    (part_of_it, (matrix(),), ["x"]),
    (first_row_from_elsewhere, (matrix(), matrix() * 2), ["x"]),
    (swap, (matrix(), matrix() * 2), ["y"]),
    (read_later, (matrix(),), ["x"]),
]
COPIED = [
    (shift, (matrix(),), "it reads other elements than it writes"),
    (add_reversed, (matrix(),), "it reads other elements than it writes"),
    (add_one, (matrix()[:, ::2],), "the argument is not in C order"),
    (add_one, (matrix().T,), "the argument is not in C order"),
    (divide_integers, (matrix(np.int32),), "a division may fail"),
    (gather, (matrix(),), "an index may be out of range"),
    (sort_it, (matrix(),), "an external call may fail"),
]


def as_numpy(function, args, backend):
    """The true call leaves and returns what NumPy's does, within rounding."""
    theirs, ours = ([a.copy(order="K") for a in args] for _ in range(2))
    wanted = function(*theirs)
    got = stax.jit(function, backend=backend)(*ours)
    for a, b in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5)
    if wanted is not None:
        pairs = zip(wanted, got, strict=True) if isinstance(wanted, tuple) else [(wanted, got)]
        for a, b in pairs:
            np.testing.assert_allclose(b, a, rtol=1e-5)


def named(cases):
    return [pytest.param(*case, id=f"{case[0].__name__}-{case[1][0].dtype}") for case in cases]


@pytest.mark.parametrize(("function", "args", "names"), named(IN_PLACE))
def test_the_last_writer_of_an_argument_writes_in_its_memory(function, args, names):
    plan = program_of(function, *args).plan
    assert sorted(plan.overwritten.values()) == names
    text = plan.wrapper_text()
    for new, old in plan.overwritten.items():
        assert f"{new} = {old}  # in place" in text
        assert f"{old}[...] = " not in text, "nothing is copied back"
    harness.check(function, *args)
    for backend in ("ref", harness.backend_name()):
        as_numpy(function, args, backend)


@pytest.mark.parametrize(("function", "args", "why"), named(COPIED))
def test_otherwise_the_argument_is_filled_when_all_is_done(function, args, why):
    plan = program_of(function, *args).plan
    assert not plan.overwritten, why
    assert any(i.op == "commit" for i in plan.wrapper)
    harness.check(function, *args)
    as_numpy(function, args, "ref")


def test_memory_and_traffic_of_an_update():
    """The new contents take no memory of their own."""
    plan = program_of(add_one, matrix()).plan
    assert plan.peak_bytes == 0
    assert plan.kernels == 1


def test_readers_of_the_old_contents_are_weak_predecessors():
    program = program_of(read_reversed_before, matrix())
    records = {record.node.name: record for record in program.edges.records}
    writer = next(r for r in records.values() if r.node.mutates == "x")
    assert writer.weak == (WeakDep("x", "y"),)
    assert program.edges.predecessors()[writer.node.name] == ("y",)
    assert [g.name for g in program.sequence] == ["y", writer.node.name]


def test_readers_of_the_same_row_share_the_kernel_that_overwrites_it():
    assert program_of(read_row_reversed_before, matrix()).plan.kernels == 1
    assert program_of(read_reversed_before, matrix()).plan.kernels == 2
    assert program_of(normalise, matrix()).plan.kernels == 1


# external calls on intermediates ------------------------------------------------------------------
def scatter(x, k):
    y = np.exp(x)
    z = y.sum()
    y[k] = 0
    np.add.at(y, k, 2)
    return y * 2 + z


def scatter_then_old(x, k):
    y = np.exp(x)
    w = y.copy()
    y[k] = 0
    return y * 2, w[0]


def scatter_of_itself(x, k):
    y = np.exp(x)
    y[k] = y[-3:]
    return y * 2


POSITIONS = np.array([3, 1, 3])


def test_a_scatter_takes_the_storage_of_the_intermediate_it_changes():
    program = program_of(scatter, matrix() / 40, POSITIONS)
    taken = [slot for slot in program.plan.slots if slot.how == "in place"]
    assert [slot.takes for slot in taken] == ["y", "y_1"]
    offsets = {program.plan.slot(slot.buffer).offset for slot in taken}
    assert offsets == {program.plan.slot("y").offset}
    sum_first = [g.name for g in program.sequence]
    assert sum_first.index(next(n for n in sum_first if "z" in n)) < sum_first.index("y_1")
    harness.check(scatter, matrix() / 40, POSITIONS)


@pytest.mark.parametrize("function", [scatter, scatter_then_old, scatter_of_itself])
def test_true_scatters_give_what_numpy_gives(function):
    for backend in ("ref", harness.backend_name()):
        as_numpy(function, (matrix() / 40, POSITIONS), backend)


def test_a_scatter_that_reads_its_target_twice_has_a_copy():
    program = program_of(scatter_of_itself, matrix() / 40, POSITIONS)
    assert not [node for node in program.lowered.nodes if node.mutates]


# calls that fail ----------------------------------------------------------------------------------
def test_a_call_that_fails_leaves_every_argument_as_it_was():
    def program(x, y, k):
        x += 1
        y *= 2
        return x[k]

    for backend in ("ref", harness.backend_name()):
        x, y = matrix(), matrix()
        with pytest.raises(IndexError):
            stax.jit(program, backend=backend)(x, y, np.array([ROWS]))
        np.testing.assert_array_equal(x, matrix())
        np.testing.assert_array_equal(y, matrix())


# memory that is shared ----------------------------------------------------------------------------
def combine(x, y):
    x += y
    return x.sum()


def interleaved():
    base = np.arange(24.0)
    return base[::2], base[1::2]


def columns():
    base = np.arange(24.0).reshape(4, 6)
    return base[:, :3], base[:, 3:]


def hard():
    """Few shared elements among many: hard to decide, so refused."""
    base = np.arange(4000.0)
    shape = (5, 4, 3)
    strides = [(8 * a, 8 * b, 8 * c) for a, b, c in ((101, 17, 1), (103, 13, 2))]
    as_strided = np.lib.stride_tricks.as_strided
    return as_strided(base, shape, strides[0]), as_strided(base[1:], shape, strides[1])


SHARED = {
    "identical": lambda: (np.arange(9.0),) * 2,
    "overlapping slices": lambda: (lambda b: (b[1:], b[:-1]))(np.arange(9.0)),
    "reversed": lambda: (lambda b: (b, b[::-1]))(np.arange(9.0)),
    "interleaved with one in common": lambda: (lambda b: (b[::3][:4], b[::2][:4]))(np.arange(12.0)),
    "a buffer of the same memory": lambda: (lambda b: (b, memoryview(b)))(np.arange(9.0)),
}
APART = {
    "interleaved": interleaved,
    "neighbouring columns": columns,
    "halves": lambda: (lambda b: (b[:6], b[6:]))(np.arange(12.0)),
}


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("backend", ["ref", "c"])
def test_arguments_that_share_an_element_are_refused_and_left_alone(kind, backend):
    x, y = SHARED[kind]()
    before = x.copy()
    with pytest.raises(ConfigError, match="shares memory with y"):
        stax.jit(combine, backend=backend)(x, y)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("kind", APART)
@pytest.mark.parametrize("backend", ["ref", "c"])
def test_views_of_one_array_without_a_common_element_are_taken(kind, backend):
    theirs, ours = APART[kind](), APART[kind]()
    wanted = combine(*theirs)
    assert stax.jit(combine, backend=backend)(*ours) == pytest.approx(wanted)
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_array_equal(ours[1], theirs[1])


def test_what_is_too_hard_to_decide_is_refused(monkeypatch):
    monkeypatch.setattr(staged, "OVERLAP_WORK", 1)
    assert np.may_share_memory(*hard())
    assert staged._share(*hard())
    assert not staged._share(*interleaved()), "decided at once"


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_an_argument_whose_elements_share_memory_is_refused(backend):
    base = np.arange(6.0)
    x = np.lib.stride_tricks.as_strided(base, (4, 3), (8, 8))
    with pytest.raises(ConfigError, match="several elements share memory"):
        stax.jit(add_one, backend=backend)(x)
    np.testing.assert_array_equal(base, np.arange(6.0))


def test_only_elements_in_common_count_as_shared():
    for strides in itertools.permutations((8, 24, 72)):
        x = np.lib.stride_tricks.as_strided(np.zeros(64), (3, 3, 3), strides)
        assert not staged._overlaps_itself(x)
    assert not staged._overlaps_itself(np.zeros((3, 4))[::-1, ::-2])
    assert not staged._overlaps_itself(np.zeros((0, 4)))
    assert staged._overlaps_itself(np.broadcast_to(np.zeros(3), (2, 3)))


CAPTURED = np.arange(9.0)


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_a_captured_array_in_the_argument_s_memory_is_read_as_numpy_reads_it(backend):
    def program(x):
        x += CAPTURED[::-1]

    CAPTURED[...] = np.arange(9.0)
    stax.jit(program, backend=backend)(CAPTURED)
    np.testing.assert_array_equal(CAPTURED, np.full(9, 8.0))


# what Plan.check says -----------------------------------------------------------------------------
def test_a_plan_that_reads_an_argument_after_it_was_overwritten_is_wrong():
    plan = program_of(read_reversed_before, matrix()).plan
    reader, writer = plan.steps
    wrapper = tuple(
        replace(i, names=(writer.name, reader.name)) if i.op == "launch" else i
        for i in plan.wrapper
    )
    edited = replace(plan, steps=(writer, reader), wrapper=wrapper)
    with pytest.raises(InvariantError, match=r"k0 reads x after k1 wrote out over it"):
        edited.check()


def test_a_kernel_that_overwrites_what_it_still_reads_is_wrong():
    """A shift within itself, given the storage that it was refused."""
    plan = program_of(shift, matrix()).plan
    (slot,) = plan.slots
    edited = replace(plan, slots=(replace(slot, takes="x", how="in place"),))
    with pytest.raises(InvariantError, match="writes out over x, which it still reads"):
        edited.check()


@pytest.mark.parametrize("number", range(len(IN_PLACE) + len(COPIED)))
def test_every_plan_of_this_file_is_right(number):
    function, args, _ = (*IN_PLACE, *COPIED)[number]
    program_of(function, *args).plan.check()
