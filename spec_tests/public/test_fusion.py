"""Fusion, tiles and generated code: tails, short reductions, ranges that nearly match.

takes: the reports' inputs
gives: pass or fail
holds: nothing
not here: what the scheduler decides (``test_scheduler``)
"""

import math

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import harness
from spec_tests.public.cases import holds, wave

F32, F64, I64 = np.float32, np.float64, np.int64


def test_a_product_of_padded_activations():
    """E02, #196681: gelu, two paddings, a batched product, from a channels-last image"""

    def program(x):
        g = x * np.float32(0.5) * (stax.erf(x * np.float32(math.sqrt(0.5))) + 1)
        columns = np.pad(
            g.transpose(3, 2, 1, 0), ((0, 0), (0, 0), (0, 58), (0, 0)), constant_values=0.5
        )
        rows = np.pad(g, ((0, 0), (0, 58), (0, 0), (0, 0)), constant_values=0.5)
        return rows @ columns

    def make():
        image = np.ascontiguousarray(wave(1, 8, 66, 66).transpose(0, 2, 3, 1))
        return (image.transpose(0, 3, 1, 2),)

    erf = np.vectorize(math.erf, otypes=[F64])
    v = make()[0][0].astype(F64)
    v = v * 0.5 * (erf(v * math.sqrt(0.5)) + 1)
    columns = np.full((66, 66, 66, 1), 0.5)
    columns[:, :, :8, 0] = v.transpose(2, 1, 0)
    rows = np.full((1, 66, 66, 66), 0.5)
    rows[0, :8] = v
    holds(program, make, rows @ columns, rtol=1e-4, atol=1e-4, levels=False)


def test_a_column_sum_whose_tail_is_four_wide():
    """E03, #181618, #181690, #181691"""

    def program(x):
        g = x.reshape(3, 2, 60)
        g = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + np.float32(1e-5))
        return g.reshape(3, 6, 20).sum(1)

    g = wave(3, 2, 60).astype(F64)
    g = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 1e-5)
    right = g.reshape(3, 6, 20).sum(1)
    holds(program, lambda: (wave(3, 6, 20),), right, rtol=1e-4, atol=1e-5)


def test_members_with_ranges_two_by_two_and_four():
    """E05, #195963, #180980, #138550"""

    def program(x):
        d = x - x.mean((1, 2, 3), keepdims=True)
        y = d / np.sqrt((d * d).mean((1, 2, 3), keepdims=True) + np.float32(1e-5))
        pooled = y.reshape(3, 1, 2, 1, 2, 1).mean((3, 5))
        return np.clip(pooled.transpose(0, 1, 3, 2), -0.66, 0.53)

    y = wave(3, 1, 2, 2).astype(F64)
    d = y - y.mean((1, 2, 3), keepdims=True)
    y = d / np.sqrt((d * d).mean((1, 2, 3), keepdims=True) + 1e-5)
    right = np.clip(y.transpose(0, 1, 3, 2), -0.66, 0.53)
    holds(program, lambda: (wave(3, 1, 2, 2),), right, rtol=1e-4, atol=1e-5)


def test_bools_are_padded():
    """E06, #126449"""

    def program(x):
        return np.pad(x, (2, 3), constant_values=True)

    right = [True] * 2 + [False] * 5 + [True] * 3
    holds(program, lambda: (np.zeros(5, bool),), right)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float16, F64])
def test_every_dtype_is_padded(dtype):
    """E06 for other dtypes and widths around a vector, own"""
    widths = [(0, 0), (1, 0), (0, 17), (16, 33)]

    def program(x):
        return tuple(np.pad(x, w, constant_values=1) for w in widths)

    values = (np.arange(15) % 5).astype(dtype)
    right = [np.array([1] * w + values.tolist() + [1] * v, dtype) for w, v in widths]
    holds(program, lambda: (values,), *right)


def test_scatter_add_from_a_transposed_source():
    """E08, #191837"""

    def program(i, s):
        o = np.zeros((7, 96), np.float32)
        np.add.at(o, i, s.T)
        return o

    def make():
        return (np.arange(64, dtype=I64) * 5) % 7, wave(96, 64)

    right = np.zeros((7, 96))
    for row, position in enumerate(make()[0]):
        right[position] += make()[1][:, row]
    holds(program, make, right, rtol=1e-4, atol=1e-4)


def test_a_short_sum_over_broadcast_transposed_operands():
    """E09, #189401"""

    def program(a, b):
        return (a[:, :, None] * b[None]).sum(1)

    def make():
        return wave(5, 20).T, wave(30, 5).T

    a, b = make()
    holds(program, make, a.astype(F64) @ b.astype(F64), rtol=1e-5, atol=1e-5)


def test_constant_negative_indices_of_a_middle_axis():
    """E11, #102064"""

    def program(x):
        return x[:, [-1], :] + x[:, [-2], :]

    x = wave(3, 4, 5)
    holds(program, lambda: (wave(3, 4, 5),), x[:, 3:4] + x[:, 2:3])


FUNCTIONS = {
    "tanh": lambda x: np.tanh(x),
    "gelu": lambda x: x * 0.5 * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))),
    "logit": lambda x: np.log(x / (1 - x)),
    "exp": lambda x: np.exp(-x * x),
    "power": lambda x: np.sqrt(x) + 1 / x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_slice_that_starts_anywhere_has_the_same_bits(name):
    """E12, #177839: the values repeat every five, so both slices hold the same ones"""
    function = FUNCTIONS[name]

    def program(x):
        return function(x[5:]) - function(x[:30]), function(x)[5:] - function(x[:-5])

    values = np.tile(np.linspace(0.01, 0.99, 5).astype(F32), 7)
    holds(program, lambda: (values,), np.zeros(30), np.zeros(30))


@pytest.mark.parametrize("start", range(5))
def test_every_place_in_a_vector_computes_alike(start):
    """E12 between two calls, own: aligned and unaligned arguments of one function"""
    values = np.tile(np.linspace(0.01, 0.99, 5).astype(F32), 20)
    jitted = stax.jit(lambda x: np.tanh(x) / np.exp(x), backend=harness.backend_name())
    whole = jitted(values)
    np.testing.assert_array_equal(jitted(values[start : start + 37]), whole[start : start + 37])


def test_a_reader_shifted_by_one_row():
    """E14: fused, it would read rows that are not written yet"""

    def program(x):
        e = np.exp(x)
        return e[1:] + e[:-1], e

    e = np.exp(wave(40, 33).astype(F64))
    holds(program, lambda: (wave(40, 33),), e[1:] + e[:-1], e, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_readers_shifted_along_either_axis(axis):
    """E14 for other distances and both axes, own"""

    def program(x):
        y = x.max(1 - axis, keepdims=True) + x
        turned = np.swapaxes(y, 0, axis)
        return tuple(turned[shift:] * 2 - turned[:-shift] for shift in (1, 2, 39)), y

    def flat(x):
        shifted, y = program(x)
        return *shifted, y

    holds(flat, lambda: (wave(40, 40),), *flat(wave(40, 40)))


def test_a_transposed_copy_used_in_both_directions():
    """E15, #188635"""

    def program(x):
        y = np.ascontiguousarray(x.T) + 1
        return y, y.T * np.float32(2), y.sum(0)

    y = wave(18, 35).T + F32(1)
    right = y, y.T * 2, y.astype(F64).sum(0)
    holds(program, lambda: (wave(18, 35),), *right, rtol=1e-5, atol=1e-5)
