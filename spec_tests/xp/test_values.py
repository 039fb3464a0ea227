"""Every function of the namespace gives what array-api-strict gives, on the oracle and on C.

takes: arguments drawn by hypothesis, dtypes of the standard in turn
gives: a failure when value, dtype or shape differ, or when a native function did not run natively
holds: nothing; the allowed distances are in ``judge``
not here: names and signatures (``test_namespace``)
"""

import inspect

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stax_ref as stax
from spec_tests.xp import inputs
from spec_tests.xp.judge import allowed, compare, function, near, to_numpy
from stax_ref import dtypes, xp
from stax_ref.plan import Extern
from stax_ref.xp.program import plain_call
from stax_ref.xp.table import EXTERNAL, FUNCTIONS, NATIVE

NEWER = {"broadcast_shapes", "isin"}
"""Functions array-api-strict has under version 2025.12 only."""

EXAMPLES = {"ref": 3, "c": 1}
DTYPES = {"ref": 3, "c": 2}
"""Dtypes of one function; the next function takes the next ones."""


def turn(name, count, among):
    """``count`` dtypes, others for the next function, so that all together see every dtype."""
    start = FUNCTIONS.index(name) * count
    return [among[(start + k) % len(among)] for k in range(min(count, len(among)))]


def chosen(name, backend):
    if name not in NATIVE:
        return turn(name, 2, inputs.DTYPES[name]) if backend == "ref" else []
    carried = [d for d in inputs.DTYPES[name] if dtypes.is_supported(np.dtype(d))]
    rest = [d for d in inputs.DTYPES[name] if d not in carried]
    return turn(name, DTYPES[backend], carried) + (rest[:1] if backend == "ref" else [])


CELLS = [
    (name, dtype, backend)
    for backend in ("ref", "c")
    for name in inputs.ARGUMENTS
    for dtype in chosen(name, backend)
]


@pytest.mark.parametrize(("name", "dtype", "backend"), CELLS)
def test_the_value_is_the_standards(name, dtype, backend):
    draw_arguments = inputs.ARGUMENTS[name]

    @settings(
        max_examples=EXAMPLES[backend],
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def judged(data):
        compare(name, *draw_arguments(data.draw, dtype))

    version = "2025.12" if name in NEWER else "2024.12"
    with strict.ArrayAPIStrictFlags(api_version=version), stax.configured(backend=backend):
        judged()


def external(name, data) -> bool:
    """Whether the program of these arguments holds an external call."""
    args, kwargs = inputs.ARGUMENTS[name](data.draw, inputs.DTYPES[name][0])
    run = function(xp, name)
    call = plain_call(
        inspect.signature(run.__wrapped__),
        tuple(to_numpy(a) for a in args),
        {key: to_numpy(a) for key, a in kwargs.items()},
    )
    steps = run.program.lower(*call[0], **call[1]).program.plan.steps
    return any(isinstance(step, Extern) for step in steps)


@settings(
    max_examples=1,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_the_programs_said_to_hold_an_external_call_do(data):
    with strict.ArrayAPIStrictFlags(api_version="2025.12"):
        chosen = [name for name in FUNCTIONS if name in NATIVE]
        assert {name for name in chosen if external(name, data)} == EXTERNAL


def test_every_native_function_has_a_cell_on_each_backend():
    seen = {
        (name, backend) for name, dtype, backend in CELLS if dtypes.is_supported(np.dtype(dtype))
    }
    assert seen >= {(name, backend) for name in NATIVE for backend in ("ref", "c")}


def test_every_function_has_arguments():
    assert set(inputs.ARGUMENTS) == set(FUNCTIONS) - {"__array_namespace_info__"}


def test_a_native_function_of_a_complex_array_is_numpys():
    x = np.asarray([3 - 4j, 1j])
    assert "abs" in NATIVE
    np.testing.assert_array_equal(xp.abs(x), [5, 1])
    np.testing.assert_array_equal(xp.multiply(np.ones(2), 2j), [2j, 2j])
    assert xp.sum(np.ones(3), dtype=xp.complex64).dtype == xp.complex64


TWO = [name for name in inputs.ARGUMENTS if inputs.ARGUMENTS[name] in (inputs.binary, inputs.power)]


def outcome(call, *args):
    """The result as an array, or the exception."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(call(*args))
    except (TypeError, ValueError, OverflowError) as error:
        return error


@pytest.mark.parametrize("name", [*TWO, "clip", "where"])
def test_python_numbers_beside_an_array_are_numpys(name):
    """Value, dtype or exception, the number on either side of the array."""
    call = function(xp, name)
    carried = [d for d in inputs.DTYPES[name] if dtypes.is_supported(np.dtype(d))]
    for dtype in turn(name, 2, carried):
        x = np.asarray([0, 1, 3], dtype)
        for number in (2, 2.5, True, -1):
            pairs = [(x, number)] if name == "clip" else [(x, number), (number, x)]
            for pair in pairs:
                args = (x > 0, *pair) if name == "where" else pair
                expected = outcome(call.__wrapped__, *args)
                with stax.configured(backend="ref"):
                    actual = outcome(call, *args)
                if isinstance(expected, Exception):
                    assert isinstance(actual, type(expected)), args
                else:
                    assert actual.dtype == expected.dtype, args
                    near(actual, expected, allowed(name, [np.asarray(a) for a in pair], expected))


def test_a_limit_beyond_the_dtype_is_none():
    x = np.asarray([0, 200], np.uint8)
    np.testing.assert_array_equal(xp.clip(x, -1), x)
    np.testing.assert_array_equal(xp.clip(x, None, 300), x)


def test_inside_a_trace_the_functions_are_part_of_it():
    x = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)

    @stax.jit(backend="ref")
    def softmax(a):
        e = xp.exp(xp.subtract(a, xp.max(a, axis=-1, keepdims=True)))
        return xp.divide(e, xp.sum(e, axis=-1, keepdims=True))

    e = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(softmax(x), e / e.sum(-1, keepdims=True), rtol=1e-6)
    assert softmax.lower(x).plan is not None


def test_a_copy_is_not_made_where_the_standard_forbids_it():
    x = np.arange(6.0)
    assert xp.astype(x, xp.float64, copy=False) is x
    assert np.shares_memory(xp.reshape(x, (2, 3), copy=False), x)
    with pytest.raises(ValueError, match=r"copy"):
        xp.reshape(np.arange(6.0).reshape(2, 3).T, (6,), copy=False)


def test_repeats_may_be_an_array():
    np.testing.assert_array_equal(xp.repeat(np.arange(3), np.asarray([0, 2, 1])), [1, 1, 2])


def test_elements_that_are_not_in():
    x = np.asarray([[1, 2], [3, 4]])
    np.testing.assert_array_equal(
        xp.isin(x, np.asarray([2, 3]), invert=True), [[True, False], [False, True]]
    )


def test_a_device_that_does_not_exist_is_refused():
    for call in (xp.zeros_like, xp.ones_like, xp.empty_like):
        with pytest.raises(ValueError, match=r"[Dd]evice"):
            call(np.zeros(3), device="gpu")
