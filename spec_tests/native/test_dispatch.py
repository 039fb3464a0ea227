"""The dispatcher: which program a call reaches, what guards watch, what a call costs.

takes: programs that count their runs
gives: the order of programs and the calls of the slow path, compared exactly
holds: nothing that changed outside the arguments is missed
not here: which arguments fit a program (test_runtime)
"""

import timeit
from types import CellType

import pytest

from stax_native.runtime import Dispatcher, Program

from .conftest import F32, array_input, flagged, floats, fma


def constant(buffers=()):
    """A program for one array of the given shape; `runs` tells whether it was called."""
    return Program((array_input(floats(*buffers), 0),), 1, (), (), 0, (), False)


def test_the_program_that_fits_runs_and_moves_to_the_front():
    slow = []
    dispatcher = Dispatcher(lambda args, kwargs: slow.append((args, kwargs)) or "slow")
    programs = [constant((n,)) for n in (1, 2, 3)]
    for program in programs:
        dispatcher.add(program, ())
    assert dispatcher.programs == tuple(reversed(programs))
    for _ in range(2):
        assert dispatcher(floats(1)) == ()
    assert [program.runs for program in programs] == [2, 0, 0]
    assert dispatcher.programs == (programs[0], programs[2], programs[1])
    assert slow == []
    assert dispatcher(floats(4)) == "slow"
    assert dispatcher(floats(1), axis=0) == "slow"
    assert dispatcher() == "slow"
    assert [(len(args), kwargs) for args, kwargs in slow] == [(1, {}), (1, {"axis": 0}), (0, {})]
    dispatcher.clear()
    assert dispatcher.programs == ()
    assert dispatcher(floats(1)) == "slow"


def test_guards_watch_names_and_cells():
    value, missing = object(), object()
    names, cell = {"scale": value}, CellType(value)
    dispatcher = Dispatcher(lambda args, kwargs: "slow")
    dispatcher.add(constant((1,)), ((names, "scale", value), (cell, None, value)))
    assert dispatcher(floats(1)) == ()
    names["scale"] = missing
    assert dispatcher(floats(1)) == "slow"
    names["scale"] = value
    assert dispatcher(floats(1)) == ()
    del names["scale"]
    assert dispatcher(floats(1)) == "slow"
    names["scale"] = value
    cell.cell_contents = missing
    assert dispatcher(floats(1)) == "slow"
    del cell.cell_contents
    assert dispatcher(floats(1)) == "slow"


def test_a_missing_name_is_not_none():
    dispatcher = Dispatcher(lambda args, kwargs: "slow")
    dispatcher.add(constant((1,)), (({}, "scale", None),))
    assert dispatcher(floats(1)) == "slow"


def test_of_two_programs_for_the_same_arguments_the_guards_decide():
    names, modes = {}, (object(), object())
    first, second = constant((1,)), constant((1,))
    dispatcher = Dispatcher(None)
    dispatcher.add(first, ((names, "mode", modes[0]),))
    dispatcher.add(second, ((names, "mode", modes[1]),))
    for number in (0, 1, 1, 0):
        names["mode"] = modes[number]
        dispatcher(floats(1))
    assert (first.runs, second.runs) == (2, 2)


def test_a_guard_on_anything_else_is_refused():
    class Names(dict):
        pass

    dispatcher = Dispatcher(None)
    for place in (Names(), [], None):
        with pytest.raises(TypeError, match="a dict or a cell"):
            dispatcher.add(constant((1,)), ((place, "a", 1),))
    assert dispatcher.programs == ()


def test_an_error_of_the_program_is_the_error_of_the_call(launch):
    def refuse(flags):
        raise FloatingPointError

    program = flagged(launch, launch(4))
    program.on_flag = refuse
    dispatcher = Dispatcher(lambda args, kwargs: "slow")
    dispatcher.add(program, ())
    with pytest.raises(FloatingPointError):
        dispatcher()


def test_a_call_costs_less_than_the_numpy_expression(launch):
    dispatcher = Dispatcher(None)
    dispatcher.add(fma(launch), ((globals(), "F32", F32),))
    a, b, c = floats(8), floats(8), floats(8)
    ours, numpys = [], []
    for _ in range(5):  # in turn, so that other work on the machine meets both
        ours.append(timeit.timeit(lambda: dispatcher(a, b, c), number=3000))
        numpys.append(timeit.timeit(lambda: a * b + c, number=3000))
    assert min(ours) < min(numpys)
