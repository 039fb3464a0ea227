"""Promotion against NumPy itself: every pair of dtypes, every weak Python scalar, NumPy's tables.

takes: all carried dtypes, Python scalars in and out of their range, the tables of NumPy's own tests
gives: a failure where value, dtype or exception differ
holds: one deviation: a Python integer that is an argument has 64 bits
not here: values of the operations (test_ufuncs), messages (errors)
"""

import importlib
import itertools
import operator

import numpy as np
import pytest

import stax_ref as stax
from stax_ref import dtypes

OPERATORS = {
    name: getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow and_ or_ lshift eq lt ge".split()
}
UFUNCS = {
    name: getattr(np, name) for name in "maximum fmod copysign arctan2 logical_and gcd".split()
}
BINARY = {**OPERATORS, **UFUNCS}
SCALARS = [True, 0, 3, -1, 200, 300, 40000, 2**31, 2**40, 2**63, -(2**63), 2**64, 1.5, 1e300]
NUMPY_TESTS = "numpy._core.tests.test_nep50_promotions"


def outcome(call):
    """The dtype and values of a result, or the kind of the exception."""
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(call())
    except (TypeError, OverflowError, ValueError) as error:
        kinds = (OverflowError, TypeError, ValueError)
        return next(kind.__name__ for kind in kinds if isinstance(error, kind))
    return str(result.dtype), result.shape, result.tolist()


def same(got, expected):
    """Equal outcomes; NaN equals NaN."""
    return repr(got) == repr(expected)


@pytest.mark.parametrize("name", BINARY)
def test_every_pair_of_dtypes(name):
    function = BINARY[name]
    for first, second in itertools.product(dtypes.SHORT, repeat=2):
        x, y = np.ones(2, first), np.ones((3, 1), second)
        try:
            expected = function(x, y)
        except TypeError:
            with pytest.raises(stax.DtypeError):
                stax.jit(function_of(function), backend="ref").trace(x, y)
            continue
        graph = stax.jit(function_of(function), backend="ref").trace(x, y).graph
        (out,) = graph.outputs
        assert (out.dtype, out.shape) == (expected.dtype, expected.shape), (first, second)


def function_of(function):
    return lambda x, y: function(x, y)


@pytest.mark.parametrize("dtype", list(dtypes.SHORT), ids=str)
@pytest.mark.parametrize("name", sorted(set(BINARY) - {"sub", "mul", "mod", "or_", "ge", "gcd"}))
def test_every_weak_constant(name, dtype):
    function = BINARY[name]
    x = np.array([0, 1, 1, 0] if dtype.kind == "b" else [1, 2, 3, 7], dtype)
    wrong = []
    for scalar in SCALARS:
        for flipped in (False, True):

            def f(x, scalar=scalar, flipped=flipped):
                return function(scalar, x) if flipped else function(x, scalar)

            expected = outcome(lambda f=f: f(x))
            got = outcome(lambda f=f: stax.jit(lambda x: f(x), backend="ref")(x))
            if not close(got, expected):
                wrong.append((scalar, flipped, got, expected))
    assert not wrong, "\n".join(map(str, wrong))


def close(got, expected):
    """Equal outcomes, but for the last bits of pow and arctan2."""
    if isinstance(got, str) or isinstance(expected, str):
        return got == expected
    if got[:2] != expected[:2]:
        return False
    if got[0].startswith("float"):
        eps = 8 * np.finfo(got[0]).eps
        return np.allclose(got[2], expected[2], rtol=eps, atol=0, equal_nan=True)
    return got[2] == expected[2]


@pytest.mark.parametrize("dtype", list(dtypes.SHORT), ids=str)
@pytest.mark.parametrize("name", ["add", "truediv", "floordiv", "pow", "lt"])
def test_every_weak_argument(name, dtype):
    function = OPERATORS[name]
    x = np.array([0, 1, 1, 0] if dtype.kind == "b" else [1, 2, 3, 7], dtype)
    jitted = stax.jit(lambda x, s: function(x, s), backend="ref")
    flipped = stax.jit(lambda x, s: function(s, x), backend="ref")
    wrong = []
    for scalar in SCALARS:
        if type(scalar) is int and not -(2**63) <= scalar < 2**63:
            continue  # the deviation, tested below
        for call, plain in (
            (lambda s: jitted(x, s), lambda s: function(x, s)),
            (lambda s: flipped(x, s), lambda s: function(s, x)),
        ):
            got, expected = (outcome(lambda f=f, s=scalar: f(s)) for f in (call, plain))
            if not close(got, expected):
                wrong.append((scalar, got, expected))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**70])
def test_an_argument_beyond_64_bits_is_refused(value):
    x = np.ones(2, np.uint64)
    for function in (operator.add, operator.lt):
        with pytest.raises(OverflowError):
            stax.jit(function_of(function), backend="ref")(x, value)


# NumPy's own tables -------------------------------------------------------------------------------
def parameters(test):
    """The parameters of one of NumPy's own tests, by name."""
    module = importlib.import_module(NUMPY_TESTS)
    marks = [m for m in getattr(module, test).pytestmark if m.name == "parametrize"]
    return {mark.args[0]: mark.args[1] for mark in marks}


def test_numpys_table_of_integer_comparisons():
    table = parameters("test_integer_comparison")
    count = 0
    for sctype, other, comp in itertools.product(
        table["sctype"], table["other_val"], table["comp"]
    ):
        x = np.full(2, 10, sctype)
        for f in (lambda x, o=other, c=comp: c(x, o), lambda x, o=other, c=comp: c(o, x)):
            got = stax.jit(f, backend="ref")(x)
            assert same(outcome(lambda got=got: got), outcome(lambda f=f, x=x: f(x)))
            count += 1
    assert count >= 700


def test_numpys_table_of_promotions():
    count = 0
    for expected, needed, optional in parameters("test_expected_promotion")[
        "expected,dtypes,optional_dtypes"
    ]:
        if np.dtype(expected).kind == "c":
            continue  # refused by name
        for extra in [*optional, None]:
            kinds = [*needed, *([] if extra is None else [extra])]
            choices = [np.ones(2, k) if isinstance(k, type) else k for k in kinds]
            arrays = [c for c in choices if isinstance(c, np.ndarray)]

            def f(*arrays, choices=choices):
                given = iter(arrays)
                mixed = [next(given) if isinstance(c, np.ndarray) else c for c in choices]
                masks = [arrays[0] > 0] * (len(mixed) - 1)
                return np.select(masks, mixed[:-1], mixed[-1]) if masks else mixed[0] + 0

            (out,) = stax.jit(f, backend="ref").trace(*arrays).graph.outputs
            assert out.dtype == expected == np.result_type(*kinds), kinds
            count += 1
    assert count >= 10
