"""``stax.extern``: the user's own Python function inside a compiled program.

takes: functions of arrays, scalars and containers, with every way to declare what they return
gives: a failure where a rung differs, a promise of the docstring is broken or a fault is silent
holds: nothing
not here: NumPy's own functions in external calls (test_extern)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check_all

from .calls import as_numpy_does
from .values import ordinary

MATRIX = ordinary(np.float64, 5, 7)
VECTOR = ordinary(np.float64, 40)

spectrum = stax.extern(
    lambda x: np.abs(np.fft.rfft(x)), lambda x: stax.Spec((x.shape[0] // 2 + 1,), x.dtype)
)


def test_extern_in_fused_surroundings():
    functions = [
        lambda v: spectrum(v * 2 + 1) / 3,
        lambda v: np.sum(spectrum(v)) + spectrum(v),
        lambda v: spectrum(v[::-2]),
    ]
    check_all([Case(function, (VECTOR,)) for function in functions])
    for function in functions:
        as_numpy_does(function, VECTOR)


def test_extern_outside_a_jitted_function_is_the_function():
    assert np.array_equal(spectrum(VECTOR), np.abs(np.fft.rfft(VECTOR)))
    add = stax.extern(lambda a, b=1: a + b, ((), int))
    assert add(2, b=3) == 5


def test_extern_with_several_results_and_every_way_to_say_their_type():
    def halves(x, scale, name="left"):
        assert type(scale) is float
        assert name == "right"
        return x[: len(x) // 2] * scale, np.int64(len(x))

    declared = [
        (stax.Spec((20,), np.float64), stax.Spec((), np.int64)),
        (((20,), "f8"), np.int64(0)),
        (np.empty(20), np.int64(3)),
        lambda x, scale, name: (((x.shape[0] // 2,), x.dtype), ((), np.int64)),
    ]
    for result_type in declared:
        split = stax.extern(halves, result_type)

        def f(x, scale, split=split):
            part, count = split(x + 1, scale, name="right")
            return part - 1, count * 2

        for backend in ("ref", backend_name()):
            part, count = stax.jit(f, backend=backend)(VECTOR, 2.0)
            assert np.array_equal(part, (VECTOR[:20] + 1) * 2.0 - 1)
            assert count == 80


def test_extern_takes_arrays_in_containers():
    total = stax.extern(lambda arrays: sum(arrays), lambda arrays: arrays[0])

    def f(x):
        return total([x, x * 2, np.ones((5, 7))])

    as_numpy_does(f, MATRIX)


@pytest.mark.parametrize("backend", ["ref", backend_name()])
def test_extern_cannot_change_its_operands(backend):
    def scribble(x):
        x[0] = 7
        return x

    jitted = stax.jit(stax.extern(scribble, lambda x: x).__call__, backend=backend)
    x = VECTOR.copy()
    with pytest.raises(ValueError, match="read-only"):
        jitted(x)
    assert np.array_equal(x, VECTOR)


@pytest.mark.parametrize("backend", ["ref", backend_name()])
def test_extern_is_held_to_its_result_type(backend):
    def wrong(x):
        return x

    for declared, error, says in (
        (((3,), "f8"), stax.ShapeError, r"wrong returned shape \(40,\) instead of \(3,\)"),
        (((40,), "f4"), stax.DtypeError, "wrong returned dtype float64 instead of float32"),
        ((((40,), "f8"), ((), "f8")), stax.ShapeError, "wrong returned no tuple instead of 2"),
    ):
        jitted = stax.jit(stax.extern(wrong, declared).__call__, backend=backend)
        with pytest.raises(error, match=says):
            jitted(VECTOR)


def test_extern_is_called_at_each_call_and_its_errors_reach_the_user():
    seen = []

    def watched(x):
        seen.append(float(x[0]))
        if x[0] > 2:
            raise KeyError("mine")
        return x

    watch = stax.extern(watched, lambda x: x)
    jitted = stax.jit(lambda x: watch(x) + watch(x), backend=backend_name())
    for value in (0.0, 1.0, 2.0):
        assert np.array_equal(jitted(np.full(3, value)), np.full(3, 2 * value))
    assert seen == [0.0, 1.0, 2.0], "equal calls are joined, none is made while tracing"
    with pytest.raises(KeyError, match="mine"):
        jitted(np.full(3, 3.0))


def test_extern_may_draw_random_numbers_and_is_found_again_when_rebound():
    def noise(x):
        return x + np.random.default_rng(0).standard_normal(x.shape)

    holder = {"f": stax.extern(noise, lambda x: x)}
    add_noise = holder["f"]

    def f(x):
        return add_noise(x)

    as_numpy_does(f, VECTOR)
    jitted = stax.jit(f, backend=backend_name())
    jitted(VECTOR)
    add_noise = stax.extern(lambda x: x * 3, lambda x: x)
    assert np.array_equal(jitted(VECTOR), VECTOR * 3)


def test_extern_of_arrays_made_in_the_function():
    total = stax.extern(lambda *arrays: sum(map(np.sum, arrays)), lambda *_: ((), np.float64))

    def f(x):
        made = np.zeros(3)
        alone = total(made)
        made[0] = x[0, 0]
        return alone, total(made, np.ones(4), x)

    check_all([Case(f, (MATRIX,))])
    as_numpy_does(f, MATRIX)


def test_what_extern_refuses():
    with pytest.raises(stax.ConfigError, match="was given a int"):
        stax.extern(3, ((), "f8"))
    for declared in (3.0, (), ((3,), "f8", 1), (((-1,), "f8"),)):
        with pytest.raises(stax.ConfigError, match=r"the result type of stax\.extern"):
            stax.jit(stax.extern(np.sin, declared).__call__, backend="ref")(VECTOR)
    with pytest.raises(stax.DtypeError, match="complex128"):
        stax.jit(lambda x: stax.extern(np.fft.fft, ((40,), complex))(x), backend="ref")(VECTOR)
