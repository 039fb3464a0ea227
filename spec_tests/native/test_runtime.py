"""A program: which arguments fit, what a run does, calls back into Python, flags.

takes: kernels written by hand in plain C
gives: results and counters, compared exactly
holds: a failed call leaves nothing behind
not here: memory (test_memory), dispatch (test_dispatch), threads and forks (test_threads)
"""

import numpy as np
import pytest

from stax_native import runtime
from stax_native.runtime import Library, Program

from .conftest import F32, F64, I64, LARGE, array_input, flagged, floats, fma, matmul_program


def taking(*inputs):
    """A program of these inputs that does nothing."""
    return Program(inputs, len(inputs), (), (), 0, (), False)


# Arguments


def test_an_exact_array_of_dtype_shape_and_order_fits():
    program = taking(array_input(floats(3, 4), 0))
    swapped = floats(3, 4).astype(">f4")
    unaligned = np.zeros(49, np.uint8)[1:].view(np.float32).reshape(3, 4)
    assert program.matches((floats(3, 4),))
    for stranger in (
        floats(3, 4).astype(np.float64),
        floats(3, 4).view(np.int32),
        floats(4, 3),
        floats(12),
        floats(1, 3, 4),
        floats(4, 3).T,
        floats(3, 8)[:, ::2],
        swapped,
        unaligned,
        floats(3, 4).view(np.ma.MaskedArray),
        floats(3, 4).tolist(),
        np.float32(1),
        1.0,
        None,
    ):
        assert not program.matches((stranger,))
    for count in (0, 2):
        assert not program.matches((floats(3, 4),) * count)


def test_strides_are_compared_where_an_axis_moves():
    wide = floats(4, 6)[:, ::2]
    program = taking(array_input(wide, 0, (24, 8)))
    assert program.matches((wide,))
    assert not program.matches((wide.copy(),))
    assert not program.matches((floats(4, 6)[::-1, ::2],))
    one = taking(array_input(floats(1, 3), 0, (99, 4)))
    assert one.matches((floats(1, 3),))
    assert one.matches((floats(9, 3)[::9],))
    assert taking(array_input(floats(1, 3), 0)).matches((floats(9, 3)[::9],))


def test_empty_arrays_have_no_strides():
    for strides in (None, (400, 4)):
        program = taking(array_input(floats(0, 3), 0, strides))
        assert program.matches((floats(0, 3),))
        assert program.matches((floats(3, 9)[:0, ::3],))
        assert not program.matches((floats(3, 0),))


SCALARS = (1.0, 1, True, np.float64(1), np.int64(1), np.bool_(True), np.array(1.0), "1", None)


@pytest.mark.parametrize(
    ("kind", "fitting"), [(("float", 0), 1.0), (("int", 0, -9, 9), 1), (("bool", 0), True)]
)
def test_python_scalars_fit_by_exact_type(kind, fitting):
    program = taking(kind)
    for value in SCALARS:
        assert program.matches((value,)) == (type(value) is type(fitting))


@pytest.mark.parametrize(
    ("lo", "hi"),
    [
        (-128, 127),
        (0, 255),
        (-(2**63), 2**63 - 1),
        (0, 2**64 - 1),
        (-9, -5),
        (5, 9),
        (-(2**99), 2**99),
    ],
)
def test_an_int_fits_between_its_bounds(lo, hi):
    program = taking(("int", 0, lo, hi))
    lowest, highest = max(lo, -(2**63)), min(hi, 2**64 - 1)  # what a slot can hold
    for value in (lowest, highest, (lowest + highest) // 2):
        assert program.matches((value,))
    for value in (lowest - 1, highest + 1, -(2**70), 2**70):
        assert not program.matches((value,))


def test_a_target_in_place_is_writeable_and_alone():
    target, other = floats(8), floats(8)
    inputs = (array_input(target, 0, None, True), array_input(other, 1))
    program = taking(*inputs)
    assert program.matches((target, other))
    assert not program.matches((target, target))
    shared = floats(12)
    assert not program.matches((shared[:8], shared[4:]))
    assert program.matches((floats(16)[:8], shared[:8]))
    backwards = taking(array_input(target, 0, None, True), array_input(other, 1, (-4,)))
    assert not backwards.matches((shared[4:], shared[7::-1]))
    assert backwards.matches((floats(16)[8:], floats(16)[7::-1]))
    captured = taking(inputs[0], ("object_array", other, *array_input(other, 1)[1:]))
    assert captured.matches((target,))
    assert not captured.matches((other,))
    target.flags.writeable = False
    assert not program.matches((target, other))
    assert taking(array_input(target, 0)).matches((target,))


# Runs


def test_a_run_reads_its_arguments_and_returns_a_fresh_array(launch):
    program = fma(launch)
    a, b, c = floats(8), floats(8) + 1, floats(8) + 2
    result = program.run((a, b, c))
    assert type(result) is np.ndarray
    assert (result.dtype, result.flags.c_contiguous, result.flags.writeable) == (F32, True, True)
    assert np.array_equal(result, a * b + c)
    assert program.run((a, b, c)) is not result
    assert program.runs == 2
    with pytest.raises(TypeError, match="not those this program was compiled for"):
        program.run((a, b))


@pytest.mark.parametrize("extra", [0, 200])  # a table on the stack, a table on the heap
def test_scalars_come_in_slots_and_0d_results_are_scalars(launch, extra):
    inputs = (("float", 0), ("int", 1, -(2**63), 2**64 - 1), ("bool", 2))
    outputs = ((3, F64, ()), (4, I64, ()), (5, np.dtype(bool), ()))
    program = Program(inputs, 6 + extra, outputs, (), 0, (launch(2),), False)
    for values in ((1.5, -7, True), (-0.0, 2**62, False)):
        result = program.run(values)
        assert result == values
        assert [type(value) for value in result] == [np.float64, np.int64, np.bool_]
    assert program.run((0.0, 2**64 - 1, True))[1] == -1
    single = Program(inputs[:1], 6, outputs[:1], (), 0, (), True)
    assert type(single.run((1.0,))) is np.float64


def test_a_captured_array_is_read_and_checked_at_each_call(launch):
    captured = floats(8)
    inputs = (
        array_input(floats(8), 0),
        array_input(floats(8), 1),
        ("object_array", captured, *array_input(captured, 2)[1:]),
    )
    program = Program(inputs, 4, ((3, F32, (8,)),), (), 0, (launch(1),), True)
    ones = np.ones(8, np.float32)
    for value in (5, 7):
        captured[:] = value
        assert np.array_equal(program.run((ones, ones)), np.full(8, 1 + value))
    captured.resize((4, 2), refcheck=False)
    assert not program.matches((ones, ones))
    with pytest.raises(TypeError):
        program.run((ones, ones))


def test_arena_buffers_lie_at_their_offsets(launch):
    # Launch 5 writes the address of buffer 0 into buffer 1.
    program = Program((), 2, ((1, I64, ()),), ((0, 192),), 256, (launch(5),), True)
    assert program.run(()) % 64 == 0
    assert program.run(()) == program.run(())  # the same block, taken from the pool again


def test_results_of_all_sizes_are_independent(launch):
    for shape in ((), (0,), (3, 0, 2), (1,), (1 << 14,), (1 << 16,), LARGE):
        program = Program((), 2, ((0, F32, shape), (1, F32, shape)), (), 0, (), False)
        first, second = program.run(())
        assert first.shape == second.shape == shape
        assert not np.shares_memory(first, second)
        if first.nbytes >= 1 << 16:
            assert type(first.base) is runtime.PoolBlock
            assert first.ctypes.data % (2 << 20 if first.nbytes >= 1 << 20 else 64) == 0


def test_poison_shows_memory_nobody_wrote():
    program = Program((), 2, ((0, F32, (8,)), (1, F32, LARGE)), (), 0, (), False)
    runtime.set_poison(True)
    try:
        assert all(np.isnan(result).all() for result in program.run(()))
    finally:
        runtime.set_poison(False)


# Calls back into Python


def test_a_call_sees_views_on_the_memory_of_the_run(launch):
    program = matmul_program(lambda source, into: np.multiply(source, 2, out=into), launch)
    assert np.array_equal(program.run((floats(2, 4),)), 4 * floats(2, 4).T)


def test_a_call_may_write_its_outputs_only(launch):
    def seen(source, into):
        flags.append((source.flags.writeable, into.flags.writeable, type(source)))

    flags = []
    matmul_program(seen, launch).run((floats(2, 4),))
    assert flags == [(False, True, np.ndarray)] * 2


def test_a_view_keeps_its_memory(launch):
    kept = []

    def keep(source, into):
        into[...] = source + 1
        kept.append(into)

    x = floats(2, 4)
    program = matmul_program(keep, launch)
    program.run((x,))
    live = runtime.pool_stats()["live_blocks"]
    program.run((x,))  # must not take the block that is still in use
    assert runtime.pool_stats()["live_blocks"] == live + 1
    assert np.array_equal(kept[0], x + 1)
    assert np.array_equal(kept[1], (x + 2).T)


def test_an_exception_of_a_call_ends_the_run(launch):
    def fail(source, into):
        raise LookupError("mine")

    program = matmul_program(fail, launch)
    before = runtime.launch_counts()
    for _ in range(3):
        with pytest.raises(LookupError, match="mine"):
            program.run((floats(2, 4),))
    assert (program.runs, runtime.launch_counts()) == (0, before)


def test_views_may_start_inside_a_buffer():
    seen = []
    step = ("call", lambda part: seen.append(part.copy()), ((0, F32, (2,), (-8,), 12),), ())
    Program((array_input(floats(8), 0),), 1, (), (), 0, (step,), False).run((floats(8),))
    assert np.array_equal(seen[0], [3, 1])


# Flags


def test_flags_are_reported_once_after_the_last_step(launch):
    program = flagged(launch, launch(4), launch(3), launch(4))
    calls = []
    program.on_flag = calls.append
    assert np.array_equal(program.run(())[0], np.full(8, 2))
    assert calls == [1]


def test_an_error_from_a_flag_replaces_the_result(launch):
    def refuse(flags):
        raise FloatingPointError(flags)

    program = flagged(launch, launch(4))
    program.on_flag = refuse
    with pytest.raises(FloatingPointError, match="1"):
        program.run(())


def test_a_flag_warns_as_numpy_unless_it_is_handled(launch):
    with pytest.warns(RuntimeWarning, match="divide by zero encountered"):
        flagged(launch, launch(4), launch(3)).run(())


def test_a_check_stops_before_the_next_step(launch):
    ran = []

    def refuse(flags):
        ran.append("flag")
        raise FloatingPointError

    def commit():
        ran.append("commit")

    steps = (launch(4), ("check",), ("call", commit, (), ()))
    program = flagged(launch, *steps)
    program.on_flag = refuse
    with pytest.raises(FloatingPointError):
        program.run(())
    assert ran == ["flag"]
    program.on_flag = lambda flags: ran.append(flags)
    program.run(())
    assert ran == ["flag", 1, "commit"]  # reported once, by the check


# What is no program


FINE = {"inputs": (("float", 0),), "n_buffers": 3, "outputs": ((1, F32, (2,)),),
        "arena": ((2, 0),), "arena_bytes": 64, "steps": (), "single": True}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("inputs", (("float", 3),), "buffer 3 is outside"),
        ("inputs", (("float", -1),), "buffer -1 is outside"),
        ("inputs", (("float", 1),), "buffer 1 is given two places"),
        ("inputs", (("complex", 0),), "'complex' is not a kind of input"),
        ("inputs", (("array", 11, 4, (2, 2), (4,), 0),), "do not fit"),
        ("inputs", (("array", 11, 4, (1,) * 65, None, 0),), "at most 64 dimensions"),
        (
            "inputs",
            (("object_array", floats(2), 11, 4, (2,), None, 2), ("float", 0)),
            "captured arrays come after",
        ),
        ("outputs", ((1, F32, ()), (1, F32, ())), "needs one output, not 2"),
        ("arena", ((2, 65),), "offset 65 is outside"),
        ("arena", ((2, -1),), "offset -1 is outside"),
        ("steps", (("leap",),), "'leap' is not a kind of step"),
        ("steps", (("launch", 0, 0, 1),), "needs the address"),
        ("steps", (("call", print, ((0, F32, (), (), 0),), ()),), "buffer 0 is none"),
        ("steps", (("call", print, ((9, F32, (), (), 0),), ()),), "buffer 9 is none"),
        ("steps", (("call", print, ((1, F32, (2,), (), 0),), ()),), "do not fit"),
    ],
)
def test_data_that_is_no_program_is_refused(field, value, message):
    assert Program(**FINE)
    with pytest.raises(ValueError, match=message):
        Program(**{**FINE, field: value})


def test_a_file_that_is_no_library_is_refused_with_the_reason_of_the_loader(tmp_path):
    path = tmp_path / "text.so"
    path.write_text("no library")
    for name, reason in ((path, "file too short|invalid ELF header"), (tmp_path / "none", "none")):
        with pytest.raises(OSError, match=reason):
            Library(str(name))


def test_an_unknown_symbol_is_zero(library):
    loaded = library("int answer(void) { return 42; }")
    assert loaded.symbol("answer") > 0
    assert loaded.symbol("question") == 0
