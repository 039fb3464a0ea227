"""Assignment into arguments and temporaries: who sees the old contents, who the new ones.

takes: the reports' inputs
gives: pass or fail; ``holds`` also compares what the call leaves in its arguments
holds: nothing
not here: scatter and gather of values that nobody overwrites (``test_indices``)
"""

import numpy as np
import pytest

from spec_tests.public.cases import holds, raises, wave
from stax_ref.errors import UnsupportedOperation

F32, F64, I32, I64 = np.float32, np.float64, np.int32, np.int64
CLOSE = {"rtol": 1e-6, "atol": 1e-7}


def test_a_value_computed_before_the_update_keeps_the_old_data():
    """D01, #94777"""

    def program(x):
        y = np.log(x)
        x[:] = np.log(x)
        return y, x

    once = np.full(5, 1.0986122886681098)
    holds(program, lambda: (np.full(5, 3.0, F32),), once, once, **CLOSE)


@pytest.mark.parametrize("dtype", [F32, F64, I32, I64, np.int8, np.uint16, np.float16])
def test_old_and_new_contents_of_every_size(dtype):
    """D01 around the vector widths, own"""
    shapes = [(0,), (1,), (15,), (16,), (17,), (33,), (3, 17)]

    def program(*arrays):
        doubled = [x * 2 for x in arrays]
        for x, y in zip(arrays, doubled, strict=True):
            x[...] = y - x * x
        return *doubled, *arrays

    def make():
        return tuple(np.ones(shape, dtype) * dtype(3) for shape in shapes)

    wrapped = 2**16 - 3 if dtype is np.uint16 else -3
    before, after = ([np.full(shape, v) for shape in shapes] for v in (6, wrapped))
    holds(program, make, *before, *after)


def test_the_reversed_self_is_read_before_it_is_overwritten():
    """D03, #162410"""

    def program(x):
        x[:] = x[:, ::-1]
        y = x.sum(1) + x
        return x + y, x

    turned = wave(6, 6)[:, ::-1]
    right = turned + (turned.astype(F64).sum(1) + turned)
    holds(program, lambda: (wave(6, 6),), right, turned, rtol=1e-6, atol=1e-6)


def test_a_scatter_into_itself_and_then_its_reverse():
    """D04, #198270"""

    def program(x):
        x[np.arange(8)] = x * 2
        x += x[::-1]
        return x

    holds(program, lambda: (np.arange(8, dtype=F32),), [14.0] * 8)


def test_a_view_of_the_bits_sees_a_later_update():
    """D06, #198101"""

    def program(x):
        y = x * np.float32(2)
        bits = y.view(np.int32)
        y += 1
        return bits, y

    holds(program, lambda: (np.ones(4, F32),), [0x40400000] * 4, [3.0] * 4)


def test_padding_by_nothing_is_a_copy():
    """D07, #177631"""

    def program(a):
        b = np.pad(a, (0, 0))
        a[0] = 1
        return np.sort(b), b, a

    holds(program, lambda: (np.zeros(5, F32),), [0.0] * 5, [0.0] * 5, [1.0, 0, 0, 0, 0])


def test_doubling_a_row_named_twice_doubles_it_once():
    """D09, #174074, #138908"""

    def program(x):
        x[[0, 0]] += x[[0, 0]]
        return x

    right = wave(3, 5)
    right[0] *= 2
    holds(program, lambda: (wave(3, 5),), right)


def test_rows_of_a_broadcast_zero_are_rows_of_their_own():
    """D10, #183986"""

    def program(row, i, s):
        o = np.broadcast_to(row, (4, 8)).copy()
        np.add.at(o, i, s)
        return o

    def make():
        return np.zeros((1, 8), F32), np.array([0, 1, 0], I64), np.ones((3, 8), F32)

    holds(program, make, np.repeat([2.0, 1, 0, 0], 8).reshape(4, 8))


def test_scatter_add_into_zeros_made_inside():
    """D10 as people write it, own"""

    def program(i, s):
        o = np.zeros((4, 8), np.float32)
        np.add.at(o, i, s)
        return o

    def make():
        return np.array([0, 1, 0], I64), np.ones((3, 8), F32)

    holds(program, make, np.repeat([2.0, 1, 0, 0], 8).reshape(4, 8))


def test_positions_in_a_transposed_view_after_an_update():
    """D12, #163929, #174073, #183082"""

    def program(x):
        x[:] = np.tan(x)
        return x.T.argmin(), x.T.argmin(0)

    def make():
        return (wave(4, 6, scale=1.5),)

    right = np.tan(make()[0].astype(F64)).T
    assert (right.argmin(), right.argmin(0).tolist()) == (5, [1, 1, 5, 3])
    holds(program, make, 5, [1, 1, 5, 3], **CLOSE)


def test_a_window_over_a_tiled_temporary():
    """D13, #127474"""

    def program(x):
        full = np.tile(x, (3, 2))
        window = np.lib.stride_tricks.sliding_window_view(full, (1, 2))[:, 0, 0]
        return window + window

    holds(program, lambda: (np.array([[7.0]], F32),), [[14.0] * 2] * 3)


def test_raw_strides_are_refused_with_the_way_out():
    """D13 as it was reported: a trace has no memory to lay strides over"""

    def program(x):
        full = np.tile(x, (3, 2))
        return np.lib.stride_tricks.as_strided(full, (3, 2), (8, 4)) * 2

    def make():
        return (np.array([[7.0]], F32),)

    raises(program, make, UnsupportedOperation, match="sliding_window_view", refused=True)


def ramp():
    return (np.linspace(-3, 3, 7).astype(F32),)


def test_writing_through_overlapping_windows_is_refused():
    """D15, #183888: NumPy warns of it in its documentation, a trace says no"""

    def program(x):
        window = np.lib.stride_tricks.sliding_window_view(x * 2, 4, writeable=True)[::2]
        window[...] = np.abs(window)
        return window

    raises(program, ramp, UnsupportedOperation, match="overlap", refused=True)


def test_overlapping_windows_of_an_absolute_value():
    """D15, the way out"""

    def program(x):
        return np.lib.stride_tricks.sliding_window_view(np.abs(x * 2), 4)[::2]

    holds(program, ramp, [[6.0, 4, 2, 0], [2, 0, 2, 4]])


def test_the_write_back_at_the_end_comes_after_the_last_read():
    """D16, #94693"""

    def program(x):
        old = x * 3
        y = x + 1
        x[:] = y
        return old, y * 2, x

    ramp = np.arange(6)
    right = ramp * 3, (ramp + 1) * 2, ramp + 1
    holds(program, lambda: (np.arange(6, dtype=F32),), *right)


def test_views_of_one_temporary_stay_in_step():
    """D18, the family of #122457"""

    def program(x):
        z = x + 1
        v = z.T
        z[1] = 0
        w = v * 2
        z[:, 0] = -1
        return w, v, z

    w = [[2.0, 0, 18], [4, 0, 20], [6, 0, 22], [8, 0, 24]]
    z = np.array([[-1.0, 2, 3, 4], [-1, 0, 0, 0], [-1, 10, 11, 12]])
    holds(program, lambda: (np.arange(12, dtype=F32).reshape(3, 4),), w, z.T, z)


def test_writing_through_one_view_is_seen_through_another():
    """D18 with steps, reversal and a new axis between the views, own"""

    def program(x):
        z = x * 1
        evens, turned = z[::2], z[::-1, None]
        evens += 10
        turned[0] = 7
        evens[1:2] = turned[1:2, 0] * 2
        return z, evens, turned

    z = np.arange(9.0)
    evens, turned = z[::2], z[::-1, None]
    evens += 10
    turned[0] = 7
    evens[1:2] = turned[1:2, 0] * 2
    assert z.tolist() == [10.0, 1, 14, 3, 14, 5, 16, 7, 7]
    holds(program, lambda: (np.arange(9, dtype=F32),), z, evens, turned)


def test_readers_of_the_old_contents_run_before_the_writer():
    """D19, #162316, #159855"""

    def program(x):
        a = x.sum(1)
        b = x.max(1)
        x *= 2
        c = x.sum(1)
        return a, b, c, x

    x = wave(8, 16)
    a = x.astype(F64).sum(1)
    right = a, x.max(1), 2 * a, 2 * x
    holds(program, lambda: (wave(8, 16),), *right, rtol=1e-6, atol=1e-6)


def test_one_write_before_a_broadcast_is_made_once():
    """D21, #114302"""

    def program(x):
        x[0] = 5
        return np.broadcast_to(x, (2, 6)), x

    once = [5, 1, 2, 3, 4, 5]
    holds(program, lambda: (np.arange(6, dtype=I64),), [once, once], once)


def test_a_broadcast_view_cannot_be_written():
    """D21: NumPy's broadcast views are read-only, so the reported write is NumPy's ValueError"""

    def program(x):
        np.broadcast_to(x, (2, 6))[0, 0] = 5
        return x

    raises(program, lambda: (np.arange(6, dtype=I64),), ValueError)


@pytest.mark.parametrize("copied", [True, False], ids=["copied", "overlapping"])
def test_a_scatter_into_itself_and_then_a_shift(copied):
    """D22, #198270, #197829; NumPy reads an overlapping source before it writes"""

    def program(x):
        x[np.arange(4)] = x * 2
        x[1:] = x[:-1].copy() if copied else x[:-1]
        return x

    doubled = wave(4, 8) * 2
    holds(program, lambda: (wave(4, 8),), doubled[[0, 0, 1, 2]])


@pytest.mark.parametrize("layout", ["transposed", "reversed", "strided"])
def test_the_callers_view_is_written_where_it_lies(layout):
    """D01 into arguments that are views of the caller's arrays, own"""
    pick = {
        "transposed": lambda a: a.T,
        "reversed": lambda a: a[::-1, ::-1],
        "strided": lambda a: a[1::2, ::3],
    }[layout]
    base = wave(10, 9)

    def program(x):
        x[...] = x * 2 + 1
        return x.sum()

    right = pick(base).astype(F64) * 2 + 1
    holds(program, lambda: (pick(base.copy()),), right.sum(), rtol=1e-6, atol=1e-5)
