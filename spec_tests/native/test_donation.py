"""Arrays given away end with their last use in the native runtime, and not before.

takes: programs of the runtime by hand, and jitted functions with an external call in the middle
gives: a failure for an argument that is held too long, or released while it is read
holds: weak references looked at while the program runs
not here: the rules of the box (``stages/test_donation``)
"""

import weakref

import numpy as np
import pytest

import stax_ref as stax
from stax_native.runtime import Program
from stax_ref.hazards import RUNS

from .conftest import F32

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)


def looking(releases, seen):
    """A program of two arguments and two calls that look which arguments are alive."""
    view = (0, F32, (4,), (4,), 0)
    kinds = tuple(("array", F32.num, 4, (4,), None, k) for k in range(2))
    watch = []

    def look(*views):
        seen.append([ref() is not None for ref in watch])

    steps = (
        ("call", look, (view,), ()),
        ("release", releases),
        ("call", look, (), ((2, F32, (4,), (4,), 0),)),
    )
    return Program(kinds, 3, ((2, F32, (4,)),), (), 0, steps, True), watch


def given(watch):
    arrays = [np.ones(4, np.float32), np.ones(4, np.float32)]
    watch[:] = [weakref.ref(array) for array in arrays]
    return arrays


def test_consume_releases_what_the_program_says():
    seen = []
    program, watch = looking((0,), seen)
    arguments = given(watch)
    program.consume(arguments)
    assert arguments == []
    assert seen == [[True, True], [False, True]]
    assert [ref() for ref in watch] == [None, None]


def test_run_releases_nothing():
    seen = []
    program, watch = looking((0, 1), seen)
    program.run(tuple(given(watch)))
    assert seen == [[True, True], [True, True]]


def test_consume_leaves_arguments_that_do_not_match():
    program, watch = looking((0,), [])
    arguments = [*given(watch), 3]
    with pytest.raises(TypeError):
        program.consume(arguments)
    assert len(arguments) == 3


def test_a_release_of_no_argument_is_refused():
    with pytest.raises(ValueError, match="2 is no number of an argument"):
        looking((2,), [])


# jitted ------------------------------------------------------------------------------------------
def program_with_a_look():
    seen, watch = [], []

    def look(y):
        seen.append([ref() is not None for ref in watch])
        return y + 1

    spy = stax.extern(look, lambda y: y)
    return spy, seen, watch


def test_a_donated_input_ends_before_a_later_call():
    spy, seen, watch = program_with_a_look()
    f = stax.jit(lambda x, y: np.tanh(spy(np.exp(x))) + y, backend="c")
    for _ in range(3):  # compiled, then found in the table
        x, y = ROWS.copy(), ROWS.copy()
        watch[:] = weakref.ref(x), weakref.ref(y)
        first, second = stax.donate(x), stax.donate(y)
        del x, y
        out = f(first, second)
        assert np.allclose(out, np.tanh(np.exp(ROWS) + 1) + ROWS)
        assert [ref() for ref in watch] == [None, None]
    assert seen == [[False, True]] * 3, "x was read for the last time, y was not"


def test_every_call_may_be_compared_with_the_oracle_first():
    """STAX_CHECK=3 reads the array before it is given away."""
    f = stax.jit(lambda x: np.exp(x) * 2, backend="c", check=3)
    box = stax.donate(ROWS.copy())
    assert np.allclose(f(box), np.exp(ROWS) * 2)
    assert repr(box) == "<donated array: taken>"


def test_a_donated_operand_of_a_template_ends_with_it():
    spy, seen, watch = program_with_a_look()
    f = stax.jit(lambda x, w: np.tanh(spy(np.maximum(x @ w, 0))) * 2, backend="c", template_rows=16)
    plan = f.lower(np.ones((40, 4), np.float32), np.ones((4, 3), np.float32)).plan
    assert [i.op for i in plan.wrapper if i.op in RUNS] == ["template", "call", "launch"]
    x, w = np.ones((40, 4), np.float32), np.ones((4, 3), np.float32)
    watch[:] = weakref.ref(x), weakref.ref(w)
    box = stax.donate(x)
    del x
    assert np.allclose(f(box, w), np.tanh(np.float32(5)) * 2)
    assert seen == [[False, True]]


def test_a_bare_argument_is_held_by_its_caller():
    """Why donation needs a box: the caller's frame keeps the arguments of a call until it ends."""
    spy, seen, watch = program_with_a_look()
    f = stax.jit(lambda x: np.tanh(spy(np.exp(x))), backend="c")

    def fresh():
        x = ROWS.copy()
        watch[:] = [weakref.ref(x)]
        return x

    f(fresh())
    assert seen == [[True]]
    assert watch[0]() is None


def test_an_array_somebody_holds_is_not_touched():
    spy, seen, watch = program_with_a_look()
    f = stax.jit(lambda x: np.tanh(spy(np.exp(x))), backend="c")
    x = ROWS.copy()
    watch[:] = [weakref.ref(x)]
    f(stax.donate(x))
    assert seen == [[True]]
    assert np.array_equal(x, ROWS)


def test_an_array_given_away_twice_in_one_call():
    spy, seen, watch = program_with_a_look()
    f = stax.jit(lambda x, y: np.tanh(spy(np.exp(x))) + y, backend="c")
    x = ROWS.copy()
    watch[:] = [weakref.ref(x)]
    box = stax.donate(x)
    del x
    assert np.allclose(f(box, box), np.tanh(np.exp(ROWS) + 1) + ROWS)
    assert seen == [[True]], "it is still to be read as y"


@pytest.mark.parametrize("make", [lambda x: x.byteswap().view(x.dtype.newbyteorder()), np.array])
def test_an_array_that_is_mended_first_ends_too(make):
    spy, seen, watch = program_with_a_look()
    f = stax.jit(lambda x: np.tanh(spy(np.exp(x))), backend="c")
    x = make(ROWS)
    watch[:] = [weakref.ref(x)]
    box = stax.donate(x)
    del x
    assert np.allclose(f(box), np.tanh(np.exp(ROWS) + 1))
    assert seen == [[False]]


def test_a_program_that_may_fail_holds_what_numpy_would_read():
    spy, seen, watch = program_with_a_look()
    f = stax.jit(lambda x, i: np.tanh(spy(np.exp(x)))[i], backend="c")
    for index in ([1], [5]):
        x = ROWS.copy()
        watch[:] = [weakref.ref(x)]
        box = stax.donate(x)
        del x
        if index == [1]:
            f(box, np.array(index))
        else:
            with pytest.raises(IndexError):
                f(box, np.array(index))
            assert np.array_equal(box.array, ROWS)
    assert seen[0] == [True]
