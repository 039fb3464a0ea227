"""Programs for arguments in containers: when one is compiled, found again, checked and printed.

takes: jitted functions of trees, called again with other leaves, keys and values
gives: a failure where a program is compiled too often or too rarely, or runs otherwise staged,
    checked or reproduced
holds: nothing
not here: which containers are taken and returned (``test_trees``)
"""

import collections
import functools

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check_all
from stax_ref import tree
from stax_ref.containers import container_of

from .containers import BACKENDS, Layer, Mode, Point, Registered, X, Y, agrees, model, same


# specialisation -----------------------------------------------------------------------------------
def test_what_a_program_depends_on():
    runs = []

    def f(p):
        runs.append(1)
        return p["a"] * (2 if p["kind"] == "two" else 3)

    for backend in BACKENDS:
        jitted, count = stax.jit(f, backend=backend), len(runs)
        for p, new in [
            ({"a": X, "kind": "two"}, True),
            ({"a": X + 1, "kind": "two"}, False),
            ({"a": X, "kind": "three"}, True),
            ({"kind": "two", "a": X}, True),
            ({"a": X, "kind": "two"}, False),
            ({"a": Y, "kind": "two"}, True),
            ({"a": X.T, "kind": "two"}, True),
            ({"a": 2.0, "kind": "two"}, True),
            ({"a": 3.5, "kind": "two"}, False),
            ({"a": 3, "kind": "two"}, True),
            ({"a": X, "kind": "two", "b": ()}, True),
            ({"a": X, "kind": "two", "b": []}, True),
            (collections.OrderedDict(a=X, kind="two"), True),
            ({"a": X, "kind": "two"}, False),
        ]:
            expected = p["a"] * (2 if p["kind"] == "two" else 3)
            same(jitted(p), expected)
            count += new
            assert len(runs) == count, p


def test_keys_and_statics_that_only_look_equal():
    def keys(p):
        return [type(k).__name__ for k in p], sum(p.values())

    def statics(p):
        return [type(v).__name__ for v in p[1]], p[0] + 1

    for backend in BACKENDS:
        jitted = stax.jit(keys, backend=backend)
        for key in (1, True, 1.0, "1"):
            same(jitted({key: X}), keys({key: X}))
        jitted = stax.jit(statics, backend=backend)
        for name in ("1", b"1", np.str_("1"), None, Mode.HARD):
            same(jitted((X, (name, "a"))), statics((X, (name, "a"))))


def test_one_structure_with_results_that_differ_by_dtype():
    def f(p):
        return {"float": p["x"]} if p["x"].dtype == np.float32 else [p["x"], 1]

    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend)
        for _ in range(3):
            for x in (X, Y):
                same(jitted({"x": x}), f({"x": x}))


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        ((X, Y), {}),
        ((X,), {"y": Y}),
        ((), {"y": Y, "x": X}),
        (([1.0, 2.0, 3.0],), {"y": [4.0, 5.0, 6.0]}),
        ((X, Y), {"p": {"a": [X, 2.0, "s"]}}),
        ((X, Y), {"static": (1, 2)}),
        ((memoryview(Y), Y), {"static": "s", "p": None}),
    ],
)
def test_later_calls_are_not_bound(args, keywords, monkeypatch):
    """Native programs are found by the structure of a call, however it is written."""
    from stax_ref.arguments import Signature

    def f(x, y, p=None, static=None):
        return {"sum": x + y, "p": p, "static": static}

    jitted = stax.jit(f, backend=backend_name(), static_argnames="static")
    first = jitted(*args, **keywords)
    if backend_name() == "c":
        monkeypatch.setattr(Signature, "bind", None)
    same(jitted(*args, **keywords), first)


def test_bounds_of_numbers_inside():
    ints = np.ones(3, np.int32)
    for backend in BACKENDS:
        jitted = stax.jit(lambda p: p["x"] + p["n"], backend=backend)
        for _ in range(3):
            same(jitted({"x": ints, "n": 5}), ints + 5)
            with pytest.raises(OverflowError):
                jitted({"x": ints, "n": 2**31})


FACTOR = 2.0


def scaled(x):
    return x * FACTOR


def test_what_a_function_among_the_arguments_reads_is_guarded(monkeypatch):
    weights = np.arange(3.0)

    def weighted(x):
        return x * weights

    for backend in BACKENDS:
        direct = stax.jit(lambda x, f: f(x), backend=backend)
        inside = stax.jit(lambda p: p["f"](p["x"]), backend=backend)
        static = stax.jit(lambda x, f: f(x), backend=backend, static_argnames="f")
        for factor in (2.0, 3.0, 2.0):
            monkeypatch.setattr(f"{__name__}.FACTOR", factor)
            weights = weights + 1
            for f in (scaled, weighted, functools.partial(scaled)):
                for _ in range(2):
                    same(direct(Y, f), f(Y))
                    same(inside({"f": f, "x": Y}), f(Y))
                    same(static(Y, f), f(Y))


def test_random_numbers_of_a_function_among_the_arguments():
    def draw(x):
        return x + np.random.default_rng(0).random(3)

    with pytest.raises(stax.TraceError, match="drawn once"):
        stax.jit(lambda x, f: f(x), backend="ref")(Y, draw)


def test_many_structures():
    jitted = stax.jit(lambda p: {"n": len(p), "sum": p["x"] + 1}, backend="ref")
    for k in range(40):
        p = {"x": Y, **{f"k{i}": None for i in range(k)}}
        same(jitted(p), {"n": k + 1, "sum": Y + 1})


def test_jitted_functions_inside_each_other():
    @stax.jit(backend="ref")
    def inner(p, mode):
        return {"y": p["x"] * 2 if mode == "double" else p["x"]}

    agrees(lambda p: inner({"x": p[0]}, "double")["y"] + inner({"x": p[0]}, "")["y"], [X])


# the other ways to run a function -----------------------------------------------------------------
def test_ladder():
    check_all(
        [
            Case(lambda m, x: {"y": m(x), "scale": m.scale}, (model(), X.astype(np.float64))),
            Case(
                lambda p: [p["x"] * p["s"], {"n": None, "v": p["x"].sum(-1)}], ({"x": X, "s": 2},)
            ),
            Case(lambda p: (p[0], p[0].T, 1, np.float32(2)), ([X, "static"],)),
            Case(lambda x: {}, (X,)),
        ]
    )


def test_staged():
    f = stax.jit(lambda p, x, how: {"y": p["w"] * x, "how": how}, static_argnames="how")
    params = {"w": Y, "name": "n"}
    staged = f.lower(params, X, "a")
    for backend in BACKENDS:
        executable = staged.compile(backend)
        same(executable(params, X), {"y": Y * X, "how": "a"})
        same(executable({"w": Y + 1, "name": "n"}, X), {"y": (Y + 1) * X, "how": "a"})
        for wrong in (
            {"w": Y, "name": "other"},
            {"w": Y},
            {"w": X, "name": "n"},
            Y,
            {"w": object()},
        ):
            with pytest.raises(stax.BackendError):
                executable(wrong, X)
    report = f.check(params, X, "a")
    assert report.ok, str(report)
    assert "p_w: f64[3]" in f.explain(params, X, "a")
    assert '-> {"y": out, "how": \'a\'}' in str(f.trace(params, X, "a"))


def test_every_call_compared_with_the_oracle():
    with stax.configured(check=3):
        agrees(lambda p: {"a": p["x"] + 1, "b": [p["x"], "s", p["n"]]}, {"x": X, "n": 2})


def test_a_reproduction_runs():
    from stax_ref.report import reproduction

    graph = stax.jit(lambda p, s: {"a": p["x"] * s, "b": None}).trace({"x": X}, 2.0).graph
    text = reproduction(graph)
    assert "def function(p_x, s):" in text
    assert "return (out,)" in text
    with pytest.raises(SystemExit) as left:
        exec(compile(text, "repro", "exec"), {})
    assert left.value.code is False


# the functions themselves -------------------------------------------------------------------------
def test_a_tree_prints_as_its_value():
    leaves = []

    def judge(value, leaves):
        if isinstance(value, np.ndarray):
            leaves.append(value)
            return tree.LEAF
        return None if container_of(type(value)) else tree.static(value)

    value = {"a": [X, (Y,)], 1: Point(X, None), "l": Layer(Y, Y, "n"), "r": Registered([Y], "t")}
    found = tree.take_apart(value, judge, leaves)
    assert str(found) == (
        '{"a": [*, (*,)], 1: Point(x=*, y=None), '
        '"l": Layer(weight=*, bias=*, name=\'n\'), "r": Registered(*)}'
    )
    assert tree.paths(found) == [
        '["a"][0]',
        '["a"][1][0]',
        "[1].x",
        '["l"].weight',
        '["l"].bias',
        '["r"][0]',
    ]
    again = tree.put_together(found, iter(leaves))
    same(again, value)
    assert again["l"].weight is Y
    assert [id(a) for a in tree.leaves_of(found, value)] == [id(a) for a in leaves]
    assert hash(found) == hash(tree.take_apart(value, judge, []))
    for wrong in ({**value, "a": [X, Y]}, {**value, 1: Point(X, 1)}, [value], {"a": 1}):
        with pytest.raises(ValueError, match=r"is (a|another|1) "):
            tree.leaves_of(found, wrong)
