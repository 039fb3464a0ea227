"""Every pointwise operation: dtypes, sizes around the vector widths, every pair of special values.

takes: the tables of operations below
gives: a failure where a rung, a vector level, a thread count or a second run differs
holds: the properties of semantics §4 that belong to one element
not here: layouts and broadcasting (test_broadcast), casts (test_cast), warnings (test_scalars)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check, check_all

from .values import ALL, FLOATS, INTEGERS, NUMBERS, SIZES, mixed, ordinary, pairs, specials

BINARY = {
    "add": (np.add, ALL),
    "subtract": (np.subtract, NUMBERS),
    "multiply": (np.multiply, ALL),
    "divide": (np.divide, NUMBERS),
    "floor_divide": (np.floor_divide, INTEGERS),
    "remainder": (np.remainder, INTEGERS),
    "maximum": (np.maximum, ALL),
    "minimum": (np.minimum, ALL),
    "equal": (np.equal, ALL),
    "not_equal": (np.not_equal, ALL),
    "less": (np.less, ALL),
    "less_equal": (np.less_equal, ALL),
    "greater": (np.greater, ALL),
    "greater_equal": (np.greater_equal, ALL),
    "logical_and": (np.logical_and, (np.bool_,)),
    "logical_or": (np.logical_or, (np.bool_,)),
    "logical_xor": (np.logical_xor, (np.bool_,)),
    "bitwise_and": (np.bitwise_and, (np.bool_,)),
    "bitwise_or": (np.bitwise_or, (np.bool_,)),
    "bitwise_xor": (np.bitwise_xor, (np.bool_,)),
}
UNARY = {
    "negative": (np.negative, NUMBERS),
    "positive": (np.positive, NUMBERS),
    "absolute": (np.absolute, ALL),
    "square": (np.square, NUMBERS),
    "sqrt": (np.sqrt, FLOATS),
    "reciprocal": (np.reciprocal, FLOATS),
    "exp": (np.exp, NUMBERS),
    "log": (np.log, NUMBERS),
    "tanh": (np.tanh, NUMBERS),
    "logical_not": (np.logical_not, (np.bool_,)),
    "invert": (np.invert, (np.bool_,)),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    ufunc, dtypes = BINARY[name]
    cases = []
    for dtype in dtypes:
        sizes = SIZES if dtype in (np.float32, np.float64) else (1, 8, 17)
        for size in sizes:
            args = (mixed(dtype, size), mixed(dtype, size, seed=1))
            cases.append(Case(lambda a, b: ufunc(a, b), args, name))
        cases.append(Case(lambda a, b: ufunc(a, b), pairs(dtype), f"{name} specials"))
    check_all(cases)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    ufunc, dtypes = UNARY[name]
    cases = []
    for dtype in dtypes:
        sizes = SIZES if dtype in FLOATS else (1, 17)
        cases += [Case(lambda a: ufunc(a), (mixed(dtype, size),), name) for size in sizes]
        cases.append(Case(lambda a: ufunc(a), (specials(dtype),), f"{name} specials"))
    check_all(cases)


@pytest.mark.parametrize("dtype", ALL)
def test_where_takes_whole_elements(dtype):
    a, b = pairs(dtype)
    mask = ordinary(np.bool_, a.size)
    check_all(
        [
            Case(lambda m, a, b: np.where(m, a, b), (mask, a, b), "bool mask"),
            Case(lambda a, b: np.where(a < b, a, b), (a, b), "computed mask"),
            Case(lambda m, a: np.where(m, a, 1), (mask, a), "weak choice"),
            Case(lambda a, b: np.where(a, a, b), (a, b), "mask by truth"),
        ]
    )


def test_where_drops_the_side_not_taken():
    x = np.array([4.0, 0.0, -1.0, np.nan] * 9, np.float32)
    check(lambda x: np.where(x > 0, np.sqrt(x), np.float32(0)), x)
    check(lambda x: np.where(x != 0, 1 / x, np.float32(0)), x)


def raised(exponent):
    """A function with this exponent written into it."""
    return lambda a: a**exponent


@pytest.mark.parametrize("dtype", NUMBERS)
def test_power(dtype):
    x = specials(dtype) if dtype in INTEGERS else np.linspace(-1.9, 1.9, 39).astype(dtype)
    exponents = [0, 1, 2, 3, 4, 5, 7, 8, 16, 64]
    if dtype in FLOATS:
        exponents += [-1, -2, -3, 0.5, 2.0, 3.0, -2.0]
    check_all([Case(raised(e), (x,), f"power {e}") for e in exponents])


def test_integers_to_a_negative_power_are_refused_as_numpy_refuses_them():
    x = np.arange(1, 9)
    with pytest.raises(ValueError, match="negative integer powers"):
        x**-2
    with pytest.raises(ValueError, match="negative integer powers"):
        stax.jit(lambda a: a**-2)(x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_power_of_special_values(dtype):
    x = specials(dtype)
    check_all([Case(raised(e), (x,), f"power {e}") for e in (0, 1, 2, 3, -1)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_clip_keeps_nan(dtype):
    x = mixed(dtype, 67)
    check_all(
        [
            Case(lambda a: np.clip(a, -0.5, 0.5), (x,), "both"),
            Case(lambda a: np.clip(a, None, 0.5), (x,), "upper"),
            Case(lambda a: a.clip(0), (x,), "lower, integer"),
        ]
    )


def test_clip_of_integers():
    check(lambda a: np.clip(a, -3, 40), mixed(np.int32, 67))
    check(lambda a: np.clip(a, -3, 40), mixed(np.int64, 67))


def test_every_operator_of_an_array():
    a, b = ordinary(np.float64, 19), ordinary(np.float64, 19, seed=1)
    m, k = a > 0, b > 0

    def arithmetic(a, b):
        return a + b, a - b, a * b, a / b, -a, +a, abs(a), 1 + a, 1 - a, 2 * a, 1 / a, a**2

    def comparison(a, b):
        return a < b, a <= b, a == b, a != b, a > b, a >= b, 0.5 < a, a == 0

    def logic(m, k):
        return m & k, m | k, m ^ k, ~m, m & True, False | k

    def integers(i, j):
        return i // j, i % j, 7 // j, 7 % j, i // 3, i % -3

    i, j = (
        ordinary(np.int32, 19),
        np.where(ordinary(np.int32, 19, seed=2) > 0, 3, -4).astype(np.int32),
    )
    check_all(
        [
            Case(arithmetic, (a, b)),
            Case(comparison, (a, b)),
            Case(logic, (m, k)),
            Case(integers, (i, j)),
            Case(integers, (i.astype(np.int64), j.astype(np.int64))),
        ]
    )
