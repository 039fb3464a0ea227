"""Integers and dtypes: wrapping at the declared width, division by zero, shifts, result types.

takes: the reports' inputs
gives: pass or fail
holds: nothing
not here: float special values (``test_nan``)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import harness
from spec_tests.public.cases import divides, holds

I8, I16, I32, I64 = np.int8, np.int16, np.int32, np.int64
U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
INTEGERS = (I8, I16, I32, I64, U8, U16, U32, U64)


def of(values, dtype):
    return lambda: (np.array(values, dtype),)


def test_a_sum_of_uint8_wraps_before_it_is_widened():
    """A01, #105264"""

    def program(x):
        return (x + x).astype(np.int16)

    holds(program, of([128, 200, 3], U8), [0, 144, 6])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_sum_wraps_at_the_declared_width_before_any_cast(dtype):
    """A01 for every integer dtype, own"""
    top = np.iinfo(dtype).max
    doubled = -2 if np.iinfo(dtype).min else top - 1

    def program(x):
        return (x + x).astype(np.float64)

    holds(program, of([top, 3], dtype), [float(doubled), 6.0])


def test_a_negated_uint8_stays_unsigned():
    """A02, #93829"""

    def program(x):
        y = -x
        return y < np.uint8(4), y

    holds(program, of([6, 255, 0], U8), [False, True, True], [250, 1, 0])


@pytest.mark.parametrize("dtype", [U8, U16, U32, U64])
def test_negation_of_unsigned_compares_as_unsigned(dtype):
    """A02 for every unsigned dtype, own"""
    top = np.iinfo(dtype).max

    def program(x):
        y = np.negative(x)
        return y < 4, y > 4, np.maximum(y, x)

    expected = [[False, True, True], [True, False, False], [top - 5, top, 0]]
    holds(program, of([6, top, 0], dtype), *expected)


def test_int32_overflow_wraps_before_promotion():
    """A04, #108520"""

    def program(x):
        return (x + x).astype(np.int64)

    holds(program, of([2**31 - 1] * 5, I32), [-2] * 5)


def test_products_of_int32_wrap_although_their_sum_is_int64():
    """A05, #190764"""

    def program(x, y, z):
        return (x * y + x * z).sum(axis=1, dtype=np.int64)

    def make():
        x = np.array([[2**30, 2**30 + 5], [-(2**30), 7]], I32)
        return x, np.full((2, 2), 3, I32), np.full((2, 2), 5, I32)

    holds(program, make, [40, 56])


def test_remainder_by_zero_is_numpys():
    """A07, #183610"""

    def make():
        return np.array([15, -8, 22, 4], I64), np.array([4, 0, 0, 1], I64)

    divides(lambda a, b: a % b, make, [3, 0, 0, 0])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_no_division_by_zero_kills_the_process(dtype):
    """A07, A10 and A11 for every dtype and function, own"""

    def program(a, b):
        return a % b, a // b, np.fmod(a, b), *np.divmod(a, b)

    def make():
        return np.arange(1, 20).astype(dtype), np.zeros(19, dtype)

    divides(program, make, *[[0] * 19] * 5)


def test_lanes_beyond_an_odd_tail_divide_nothing():
    """A08, #191968"""

    def program(a, b):
        return a % b

    def make():
        return np.arange(6, dtype=I64).reshape(2, 3), np.full(3, 16, I64)

    holds(program, make, [[0, 1, 2], [3, 4, 5]])
    with np.errstate(all="raise"):
        stax.jit(program, backend=harness.backend_name())(*make())


def test_truncating_division_by_zero_is_numpys():
    """A10, #143649; NumPy truncates through fmod: a - fmod(a, b) is what b divides"""

    def program(a, b):
        return (a - np.fmod(a, b)) // b

    def make():
        return np.arange(1, 20, dtype=I32), np.zeros(19, I32)

    divides(program, make, [0] * 19)


def test_fmod_of_uint8_by_zero_is_numpys():
    """A11, #143649, #154420"""

    def make():
        return np.array([7, 8, 9], U8), np.array([2, 0, 3], U8)

    divides(lambda a, b: np.fmod(a, b), make, [1, 0, 0])


def test_left_shifts_out_of_range_give_zero():
    """A13, #143566"""

    def program(a, s):
        return a << s

    def make():
        return np.array([1, 3, 5, 7], I32), np.array([32, -1, 31, 2], I32)

    holds(program, make, [0, 0, -(2**31), 28])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_the_width_or_more_leave_zero_or_the_sign(dtype):
    """A13 for every dtype and both directions, own"""
    width, low = np.iinfo(dtype).bits, np.iinfo(dtype).min

    def program(a, s):
        return a << s, a >> s

    def make():
        return np.array([1, 1, low, 100, low], dtype), np.array([width, 0, width, 2, 1], dtype)

    left = [0, 1, 0, (400 if width > 8 else 144 if low == 0 else -112), 0]
    right = [0, 1, -1 if low else 0, 25, low // 2]
    holds(program, make, left, right)


def test_any_is_bool_and_arithmetic_after_it_wraps_in_uint8():
    """A14, #198081"""

    def program(x):
        return x.any() * np.uint8(200) + np.uint8(100)

    holds(program, of([3, 0], U8), 44)


def test_scaled_integers_and_an_argmax_used_as_float():
    """A16, #97124, #97127"""

    def program(x):
        return x.astype(np.float32) * np.float32(0.8), x.argmax(1).astype(np.float32) * np.float32(
            0.5
        )

    scaled = np.arange(-10, 27).astype(np.float32) * np.float32(0.8)
    make = of([np.arange(-10, 27)], I32)
    holds(program, make, scaled[None], [18.0])


def test_running_sums_of_bool_and_int32_are_int64():
    """A17, #189518, #109925"""

    def program(b, x):
        return np.cumsum(b), x.cumsum()

    def make():
        return np.array([1, 0, 1, 1], bool), np.full(4, 2**30, I32)

    holds(program, make, [1, 1, 2, 3], [2**30, 2**31, 3 * 2**30, 2**32])


def test_extremes_of_bools_over_an_axis():
    """A19, #143568"""

    def program(x):
        return x.max(1), x.min(1)

    make = of([[0, 0, 1], [0, 0, 0]], np.bool_)
    holds(program, make, [True, False], [False, False])


def test_negative_floats_become_uint8_through_a_wider_integer():
    """A20, #131910"""

    def program(x):
        return x.astype(np.uint8)

    holds(program, of([-1.0, -2.5, 3.9, 255.0], np.float32), [255, 254, 3, 255])


@pytest.mark.parametrize("target", [I8, I16, U8, U16])
def test_one_answer_for_narrow_casts_in_body_and_tail(target):
    """A20 for every narrow target and every place in a vector, own"""
    sizes = (1, 7, 31, 32, 33, 65)
    values = tuple(np.linspace(-1000.5, 1000.5, n).astype(np.float32) for n in sizes)

    def program(*rows):
        return tuple(x.astype(target) for x in rows)

    holds(program, lambda: values, *(x.astype(I64).astype(target) for x in values))
