"""donation: an array given away ends with its last use, and nothing else changes.

takes: programs with an external call that looks whether the array is still there
gives: a failure for an array that is held longer than the wrapper says
holds: the reference wrapper, and the rules of the box on the interpreter
not here: the native runtime (``native/test_donation``)
"""

import weakref

import numpy as np
import pytest

import stax_ref as stax
from stax_ref import interpret, wrapper
from stax_ref.donation import Donated
from stax_ref.errors import ConfigError

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)


def watched():
    """A program that reads x, calls a function, and reads the result; what the call saw of x."""
    seen, watch = [], []

    def look(y):
        seen.append(watch[0]() is not None)
        return y + 1

    spy = stax.extern(look, lambda y: y)

    def f(x):
        return np.tanh(spy(np.exp(x)))

    def late(x):
        return np.tanh(spy(np.exp(x))) + x

    return f, late, seen, watch


def expected(x):
    return np.tanh(np.exp(x) + 1)


@pytest.mark.parametrize("name", ["early", "late"])
def test_the_wrapper_lets_go_of_an_input_after_its_last_use(name):
    f, late, seen, watch = watched()
    function = f if name == "early" else late
    plan = stax.jit(function).lower(ROWS).plan
    x = ROWS.copy()
    watch.append(weakref.ref(x))
    arguments = iter([x])
    del x
    (out,) = wrapper.run_wrapper(plan, arguments, interpret.Recording())
    assert seen == [name == "late"]
    assert watch[0]() is None
    assert np.allclose(out, expected(ROWS) + (ROWS if name == "late" else 0))


def test_an_input_that_someone_holds_stays():
    f, _, seen, watch = watched()
    plan = stax.jit(f).lower(ROWS).plan
    x = ROWS.copy()
    watch.append(weakref.ref(x))
    wrapper.run_wrapper(plan, [x], interpret.Recording())
    assert seen == [True]
    assert np.array_equal(x, ROWS)


# the box -----------------------------------------------------------------------------------------
def double(x):
    return x * 2


def test_a_donated_array_is_an_argument_like_any_other():
    f = stax.jit(lambda tree, k: tree["a"] * k + tree["b"], backend="ref")
    out = f({"a": stax.donate(ROWS.copy()), "b": ROWS}, 3)
    assert np.array_equal(out, ROWS * 4)
    assert f.lower({"a": stax.donate(ROWS), "b": ROWS}, 3).plan.kernels == 1
    assert f.check({"a": stax.donate(ROWS), "b": ROWS}, 3).ok


def test_a_box_is_empty_after_the_call():
    f = stax.jit(double, backend="ref")
    box = stax.donate(ROWS.copy())
    assert repr(box) == "<donated array: float32[3, 4]>"
    f.lower(box)
    f(box)
    assert repr(box) == "<donated array: taken>"
    with pytest.raises(ConfigError, match="given away to an earlier call"):
        f(box)


def test_a_box_is_empty_after_the_call_of_an_executable():
    run = stax.jit(double).lower(ROWS).compile("ref")
    box = stax.donate(ROWS.copy())
    assert np.array_equal(run(box), ROWS * 2)
    with pytest.raises(ConfigError, match="given away"):
        run(box)


def test_a_failed_call_leaves_the_box_full():
    """The call is repeated by NumPy, whose exception it is."""
    f = stax.jit(lambda x, i: x[i], backend="ref")
    assert stax.jit(lambda x, i: x[i]).lower(ROWS, np.array([0])).plan.may_fail
    box = stax.donate(ROWS.copy())
    with pytest.raises(IndexError):
        f(box, np.array([7]))
    assert np.array_equal(f(box, np.array([2])), ROWS[[2]])


@pytest.mark.parametrize(
    ("function", "fails"),
    [
        (double, False),
        (lambda x: x // 3, False),
        (lambda x: x**x, False),
        (lambda x: x.astype(np.int32) ** x.astype(np.int32), True),
        (lambda x: x[x.astype(np.int32)[0] % 3], True),
    ],
)
def test_programs_that_may_fail(function, fails):
    assert stax.jit(function).lower(ROWS).plan.may_fail is fails


def test_a_written_argument_that_is_given_away_is_written():
    def f(x, y):
        x += 1
        return x * y

    x = ROWS.copy()
    out = stax.jit(f, backend="ref")(stax.donate(x), stax.donate(ROWS.copy()))
    assert np.array_equal(out, (ROWS + 1) * ROWS)
    assert np.array_equal(x, ROWS + 1)


@pytest.mark.parametrize("thing", [3.0, [1, 2], None])
def test_only_arrays_are_given_away(thing):
    with pytest.raises(ConfigError, match=f"given a {type(thing).__name__}"):
        stax.donate(thing)


def test_nothing_is_given_away_inside_a_trace():
    inner = stax.jit(lambda x, y: x + y)
    with pytest.raises(ConfigError, match="donated inside a trace"):
        stax.jit(lambda x: inner(Donated(ROWS), x), backend="ref")(ROWS)
