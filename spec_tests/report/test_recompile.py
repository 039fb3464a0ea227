"""Why a function was compiled again: the argument, value or option is named, with both values.

takes: one function and two kinds of calls
gives: the line about the second program
holds: nothing is compiled by C; the interpreter has the same table of programs
not here: when a call compiles (stages/test_jit.py)
"""

from dataclasses import dataclass

import numpy as np
import pytest

import stax_ref as stax

X = np.ones((4, 6), np.float32)
FACTOR = 2
WEIGHTS = np.ones(6)


@dataclass(frozen=True)
class Layer:
    weight: np.ndarray
    kind: str


def lines_of(function, *calls):
    """The section ``programs`` after some calls; what the last one would run is its last line."""
    for args, kwargs in calls:
        function(*args, **kwargs)
    args, kwargs = calls[-1]
    text = function.explain(*args, **kwargs)
    return text.partition("\nprograms\n  ")[2].split("\n  ")


def call(*args, **kwargs):
    return args, kwargs


def scaled(x, n=2, mode="up"):
    return x * n if mode == "up" else x - n


def of_layer(layer, x):
    return x @ layer.weight if layer.kind == "full" else x * 2


def of_tree(p):
    return p["a"] + 1


CHANGES = {
    "dtype": (
        scaled,
        call(X),
        call(X.astype(np.float64)),
        "x has dtype float64 instead of float32",
    ),
    "shape": (scaled, call(X), call(X[:3]), "x has shape (3, 6) instead of (4, 6)"),
    "strides": (
        scaled,
        call(X),
        call(np.ones((6, 4), np.float32).T),
        "x has element strides (1, 4) instead of C order",
    ),
    "number": (scaled, call(X, 2), call(X, 2.5), "n is a Python float instead of a Python int"),
    "default": (scaled, call(X), call(X, 2), "n is a Python int instead of 2 by default"),
    "text": (scaled, call(X, 2, "up"), call(X, 2, "no"), "mode is 'no' instead of 'up'"),
    "array": (scaled, call(X, 2), call(X, X), "n is f32[4,6] instead of a Python int"),
    "leaf": (
        of_tree,
        call({"a": X}),
        call({"a": X[:2]}),
        'p["a"] has shape (2, 6) instead of (4, 6)',
    ),
    "structure": (
        of_tree,
        call({"a": X}),
        call({"a": X, "b": 1}),
        'p is {"a": f32[4,6], "b": a Python int} instead of {"a": f32[4,6]}',
    ),
    "field": (
        of_layer,
        call(Layer(np.ones((6, 2), np.float32), "full"), X),
        call(Layer(np.ones((6, 2), np.float32), "double"), X),
        "layer.kind is 'double' instead of 'full'",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_argument_is_named_with_both_values(change):
    function, first, second, expected = CHANGES[change]
    lines = lines_of(stax.jit(function, backend="ref"), first, second)
    assert lines[1:] == [f"2: {expected} in program 1", "this call: program 2"]


def test_names_of_arguments_beyond_the_signature():
    f = stax.jit(lambda *rows: sum(rows), backend="ref")
    lines = lines_of(f, call(X), call(X, X))
    assert lines[1] == "2: the arguments are (rows0, rows1) instead of (rows0) in program 1"


def test_a_rebound_global_is_named(monkeypatch):
    f = stax.jit(lambda x: x * FACTOR, backend="ref")
    f(X)
    monkeypatch.setitem(globals(), "FACTOR", 7)
    lines = lines_of(f, call(X))
    assert lines[1] == "2: FACTOR, which the function reads, is 7 instead of 2 in program 1"


def test_a_captured_array_of_the_same_type_is_another_one(monkeypatch):
    f = stax.jit(lambda x: x + WEIGHTS, backend="ref")
    f(X)
    monkeypatch.setitem(globals(), "WEIGHTS", np.zeros(6))
    lines = lines_of(f, call(X))
    assert lines[1].startswith("2: WEIGHTS, which the function reads, is another array f64[6] than")


def test_an_option_is_named():
    f = stax.jit(scaled, backend="ref")
    f(X)
    with stax.configured(schedule="seed"):
        lines = lines_of(f, call(X))
    assert lines[1] == "2: the option schedule is 'seed' instead of 'default' in program 1"


def test_the_program_most_alike_is_compared():
    f = stax.jit(scaled, backend="ref")
    wide = np.ones((9, 9), np.float64)
    lines = lines_of(f, call(X), call(wide, 2, "no"), call(wide[:8], 2, "no"))
    assert lines[2] == "3: x has shape (8, 9) instead of (9, 9) in program 2"


def test_a_call_that_was_not_compiled_says_what_is_new():
    f = stax.jit(scaled, backend="ref")
    f(X)
    assert "this call: x has shape (2, 6) instead of (4, 6) in program 1" in f.explain(X[:2])


def test_without_programs_there_is_no_section():
    assert "programs" not in stax.jit(scaled, backend="ref").explain(X)


def test_functions_are_told_by_name_and_not_by_address():
    def plus(x):
        return x + 1

    def minus(x):
        return x - 1

    f = stax.jit(lambda x, g: g(x), backend="ref")
    (line,) = lines_of(f, call(X, plus), call(X, minus))[1:2]
    assert "minus instead of the function" in line
    assert "0x" not in line


def test_the_reason_is_printed_while_compiling(monkeypatch, capsys):
    monkeypatch.setenv("STAX_SHOW", "programs")
    f = stax.jit(scaled, backend="ref")
    f(X)
    f(X[:3])
    f(X[:3])
    assert capsys.readouterr().err.splitlines() == [
        "== programs",
        "scaled, program 1: x: f32[4,6], n=2 by default, mode='up' by default",
        "== programs",
        "scaled, program 2: x has shape (3, 6) instead of (4, 6) in program 1",
    ]
