"""Indices, strides and bounds: gather, scatter, offsets beyond 32 bits, arrays of stride 0.

takes: the reports' inputs
gives: pass or fail
holds: nothing
not here: assignment through views (``test_mutation``)
"""

from pathlib import Path

import numpy as np
import pytest

from spec_tests.public.cases import holds, raises, wave

F32, F64, U8, I32, I64 = np.float32, np.float64, np.uint8, np.int32, np.int64


def test_a_computed_index_out_of_range_is_an_index_error():
    """G01, #121251, #111952"""

    def make():
        return wave(5), np.array([3, 4], I64)

    raises(lambda x, b: x[b + 1], make, IndexError)


@pytest.mark.parametrize("index", [5, -6, 2**32, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("size", [1, 33])
def test_one_bad_index_among_many(size, index):
    """G01 at the ends of the range, in the body and the tail of a vector, own"""

    def make():
        i = np.zeros(size, I64)
        i[-1] = index
        return wave(5), i

    raises(lambda x, i: x[i] * 2, make, IndexError)


def test_negative_indices_count_from_the_end_once():
    """G02, #97365"""

    def make():
        return wave(5, 3), np.array([-1, -5, 2], I64)

    holds(lambda x, i: x[i] * 2, make, wave(5, 3)[[4, 0, 2]] * 2)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, I32, I64, U8, np.uint16, np.uint32])
def test_indices_of_every_integer_dtype(dtype):
    """G02 for every dtype of an index and every axis, own"""
    chosen = [0, 2, 1, 2] if np.dtype(dtype).kind == "u" else [0, -1, 1, -3]

    def program(x, i):
        return *(np.take(x, i, axis=axis) + 1 for axis in (0, 1, -1)), x[i], x[:, i]

    def make():
        return wave(3, 4, 5), np.array(chosen, dtype)

    holds(program, make, *program(wave(3, 4, 5), np.array(chosen)))


def test_inputs_of_stride_zero_and_transposed_inputs():
    """G04, own"""

    def program(a, b):
        return a + b, (a * b).sum(0)

    def make():
        return np.broadcast_to(np.arange(4, dtype=F32)[:, None], (4, 6)), wave(6, 4).T

    a, b = make()
    right = a + b, (a.astype(F64) * b).sum(0)
    holds(program, make, *right, rtol=1e-5, atol=1e-5)


def free_bytes():
    """Memory the system could hand out now; nothing where it does not say."""
    meminfo = Path("/proc/meminfo")
    lines = meminfo.read_text().splitlines() if meminfo.exists() else []
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else 0


@pytest.mark.skipif(free_bytes() < 5 << 30, reason="wants 5 GiB of free memory for 2 GiB of uint8")
def test_offsets_beyond_two_to_the_thirty_one():
    """G05, #154168, #186057"""
    x = np.zeros(2**31 + 64, U8)
    x[-1] = 7

    def program(x):
        return x[2**31 + 48 :] + np.uint8(1), x[: -(2**31) : -1][:3]

    holds(program, lambda: (x,), [1] * 15 + [8], [7, 0, 0], levels=False)


def test_a_broadcast_array_is_reshaped():
    """G07, #191136"""

    def make():
        return (np.broadcast_to(np.arange(4, dtype=F32)[:, None], (4, 2)),)

    holds(lambda x: x.reshape(8) + 1, make, [1.0, 1, 2, 2, 3, 3, 4, 4])


def test_scatter_add_counts_negative_indices_from_the_end():
    """G08, #185885: the peer refuses them, np.add.at takes them"""

    def program(i, s):
        o = np.zeros((4, 3), np.float32)
        np.add.at(o, i, s)
        return o

    def make():
        return np.array([0, -1], I64), np.ones((2, 3), F32)

    holds(program, make, [[1.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3])


@pytest.mark.parametrize("index", [4, -5])
def test_scatter_add_out_of_range_changes_nothing(index):
    """G08: what is out of range for NumPy is an IndexError; a failed call changes no argument"""

    def program(o, i, s):
        np.add.at(o, i, s)
        return o

    def make():
        return np.zeros((4, 3), F32), np.array([0, index], I64), np.ones((2, 3), F32)

    raises(program, make, IndexError)
