"""Containers of arrays as arguments and as results, as people write models.

takes: functions on tuples, lists, dicts, namedtuples, dataclasses and registered classes
gives: a failure where a result is not NumPy's in every leaf, class, key and order
holds: the backend on trial beside the interpreter; whole ladders for a few programs
not here: what is refused (errors/), single arrays (``test_inputs``)
"""

import collections
import enum
import functools
import itertools
import random
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check_all
from stax_ref import tree
from stax_ref.containers import container_of

BACKENDS = sorted({"ref", backend_name()})
X = np.arange(6, dtype=np.float32).reshape(2, 3)
Y = np.array([0.5, -2.0, 4.0])


class Point(NamedTuple):
    x: Any
    y: Any = 1.0


class Mode(enum.Enum):
    HARD = "hard"
    SOFT = "soft"


@dataclass(frozen=True)
class Layer:
    weight: Any
    bias: Any
    name: str = "relu"

    def __post_init__(self):
        if self.bias.ndim != 1:
            raise ValueError("a bias has one axis")

    def __call__(self, x):
        y = x @ self.weight + self.bias
        return np.maximum(y, 0) if self.name == "relu" else np.tanh(y)


@dataclass
class Model:
    layers: list
    scale: float = 1.0
    options: dict = field(default_factory=dict)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x * self.scale


@dataclass(slots=True)
class Slots:
    a: Any
    b: Any


class Registered:
    def __init__(self, values, tag):
        self.values, self.tag = values, tag


stax.register_container(
    Registered, lambda r: (r.values, r.tag), lambda tag, values: Registered(values, tag)
)


def same(got, expected, where="result"):
    """Equal in class, keys, order, dtype, shape and value; containers of both are walked."""
    if isinstance(expected, Registered):
        assert type(got) is Registered, where
        assert got.tag == expected.tag, where
        return same(got.values, expected.values, where)
    assert type(got) is type(expected), f"{where}: {type(got)} instead of {type(expected)}"
    container = container_of(type(expected))
    if container is None:
        if isinstance(expected, (np.ndarray, np.generic)):
            assert (got.dtype, got.shape) == (expected.dtype, expected.shape), where
            np.testing.assert_allclose(got, expected, rtol=1e-6, err_msg=where)
        else:
            assert got == expected, where
        return None
    (state, entries), (wanted, others) = container.open(got), container.open(expected)
    assert state == wanted, where
    for k, (a, b) in enumerate(zip(list(entries), list(others), strict=True)):
        same(a, b, where + container.step(type(expected), state, k))
    return None


def agrees(function, *arguments, **keywords):
    """Every backend gives NumPy's result, when compiled and when called again."""
    expected = function(*arguments, **keywords)
    for backend in BACKENDS:
        jitted = stax.jit(function, backend=backend)
        for _ in range(3):
            same(jitted(*arguments, **keywords), expected)


def model():
    rng = np.random.default_rng(0)
    layers = [
        Layer(rng.standard_normal((3, 4)), rng.standard_normal(4)),
        Layer(rng.standard_normal((4, 2)), rng.standard_normal(2), "tanh"),
    ]
    return Model(layers, 0.5, {"mode": Mode.SOFT, "nothing": None})


def betas(b1, b2, x):
    return x * b1 + x * x * b2


# arguments ----------------------------------------------------------------------------------------
ARGUMENTS = {
    "tuple": (lambda p: p[0] * p[1].sum(), (X, Y)),
    "list": (lambda p: [a + 1 for a in p], [X, Y, X]),
    "dict": (lambda p: p["x"] * p["y"], {"x": X, "y": Y}),
    "OrderedDict": (lambda p: p["x"] - p["y"], collections.OrderedDict(y=Y, x=X)),
    "defaultdict": (lambda p: p["x"] + p["z"], collections.defaultdict(lambda: 2.0, x=X)),
    "namedtuple": (lambda p: p.x / p.y, Point(X, Y)),
    "namedtuple of numbers": (lambda p: X * p.x + p.y, Point(2.0, 3)),
    "dataclass": (lambda p: p.bias + p.weight, Layer(X, Y)),
    "slots": (lambda p: p.a + p.b, Slots(X, Y)),
    "registered": (lambda p: p.values[0] * len(p.tag), Registered([X, Y], "tag")),
    "one scalar": (lambda p: p["lr"] * X, {"lr": 0.1}),
    "nested": (lambda p: p[0]["a"][1].x + p[1], ({"a": [None, Point(X, "text")]}, Y)),
    "numbers beside arrays": (lambda p: p[0] * p[1] + p[2], (X, 2, True)),
    "a list of numbers": (lambda p: p["x"] * p["scale"], {"x": X, "scale": [1.0, 2.0, 3.0]}),
    "a table of numbers": (lambda p: p["x"] + p["t"], {"x": X, "t": ((1, 2, 3), [4, 5, 6])}),
    "numbers and arrays": (lambda p: p["x"] + [p["n"], p["x"][0, 0], 2], {"x": X, "n": 1}),
    "numbers to unpack": (lambda p: betas(*p["betas"], p["x"]), {"x": X, "betas": (0.9, 0.5)}),
    "keys of all kinds": (lambda p: p[1] + p[(2, "a")] + p[None], {1: X, (2, "a"): Y, None: 2.5}),
    "no leaves": (lambda p, x: x + len(p), {}, X),
    "empty containers": (lambda p: p["x"] + len(p["layers"]), {"layers": [], "rest": (), "x": X}),
    "an empty list": (lambda p, x: x + len(p), [], X),
    "the same array twice": (lambda p: p[0] + p[1], (X, X)),
    "the same dict twice": (lambda p: p[0]["x"] * p[1]["x"], ({"x": X},) * 2),
    "a model": (lambda m, x: m(x), model(), X),
    "an enum": (lambda p: p["x"] * (2 if p["m"] is Mode.HARD else 3), {"x": X, "m": Mode.SOFT}),
    "functions": (lambda p: p["f"](p["x"]), {"f": np.sqrt, "x": X}),
    "layouts": (lambda p: p["t"] + p["r"], {"t": X.T, "r": X[:, ::-1].T.astype(">f4")}),
    "deep": (
        lambda p: functools.reduce(lambda inner, _: inner[0], range(200), p),
        functools.reduce(lambda inner, _: [inner], range(200), X),
    ),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name):
    function, *arguments = ARGUMENTS[name]
    agrees(function, *arguments)


def test_the_arguments_stay_as_they_are():
    params = {"w": X.copy(), "layers": [Layer(X.copy(), Y.copy())], "name": "n"}
    before = {"w": X, "layers": [Layer(X, Y)], "name": "n"}
    held = params["w"]
    for backend in BACKENDS:
        got = stax.jit(lambda p: p, backend=backend)(params)
        same(params, before)
        same(got, before)
        assert params["w"] is held
        assert got is not params
        assert not np.shares_memory(got["w"], held)


def test_arrays_in_containers_are_written_where_they_lie():
    def f(p):
        p["w"] -= 1
        p["list"][0][1:] = 7
        p["layer"].weight[0] = p["w"][1]
        return {"w": p["w"] * 2, "list": p["list"]}

    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend)
        given, wanted = (
            {"w": Y.copy(), "list": [X.copy()], "layer": Layer(Y.copy(), Y.copy())}
            for _ in range(2)
        )
        held = given["w"]
        for _ in range(3):
            same(jitted(given), f(wanted))
            same(given, wanted)
        assert given["w"] is held


def test_methods_of_a_dataclass():
    @dataclass
    class Affine:
        a: Any
        b: Any

        @stax.jit
        def apply(self, x, *, twice=False):
            y = self.a * x + self.b
            return y * 2 if twice else y

        @functools.cached_property
        def norm(self):
            return np.sqrt((self.a * self.a).sum())

        @stax.jit
        def normed(self):
            return self.a / self.norm

    model = Affine(Y, 2.0)
    for _ in range(3):
        np.testing.assert_array_equal(model.apply(Y), Y * Y + 2)
        np.testing.assert_allclose(model.normed(), Y / np.sqrt((Y * Y).sum()))
    assert "norm" not in vars(model)


# every kind of parameter --------------------------------------------------------------------------
def everything(a, /, b, c=2.0, *rest, d, e=None, **options):
    total = a["x"] + b * c + d[0]
    for value in rest:
        total = total + value
    for name, value in options.items():
        total = total + (value["y"] if name == "tree" else value)
    return {"total": total, "e": e, "names": list(options)}


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        (({"x": X}, Y), {"d": [X]}),
        (({"x": X}, Y, 3), {"d": (Y,), "e": "text"}),
        (({"x": X}, Y, 3, X, 1.5), {"d": (Y, X)}),
        (({"x": X}, Y), {"d": [X], "tree": {"y": Y}, "scale": 2.0, "a": X}),
        (({"x": X},), {"d": [X], "b": 1.0, "other-name": Y, "class": X, "1": 2}),
    ],
)
def test_parameters(args, keywords):
    agrees(everything, *args, **keywords)


def test_keywords_in_any_order():
    def f(x, /, a, b=2.0, *, c, d=1.0, **rest):
        return {"result": x + 10 * a + 100 * b + 1000 * c + 10000 * d, **rest}

    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend)
        for _ in range(3):
            for names in itertools.permutations("abcx"):
                keywords = {name: k * Y for k, name in enumerate("abcx")}
                keywords = {name: keywords[name] for name in names}
                same(jitted(Y, **keywords), f(Y, **keywords))


def test_static_names_reach_into_keywords():
    def f(x, **options):
        return x.sum(axis=options["axis"]) * options.get("scale", 1.0)

    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend, static_argnames="axis")
        for axis in (0, 1, (0, 1)):
            for _ in range(2):
                same(jitted(X, axis=axis, scale=2.0), f(X, axis=axis, scale=2.0))


def test_a_static_parameter_is_not_taken_apart():
    def f(x, shape):
        return x.reshape(shape)

    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend, static_argnames=("shape",))
        for _ in range(2):
            same(jitted(X, (3, 2)), f(X, (3, 2)))
            same(jitted(X, shape=(6,)), f(X, (6,)))


# results ------------------------------------------------------------------------------------------
RESULTS = {
    "dict": lambda x: {"b": x + 1, "a": x.sum()},
    "OrderedDict": lambda x: collections.OrderedDict(b=x, a=2),
    "namedtuple": lambda x: Point(x + 1, x.T),
    "dataclass": lambda x: Layer(x * 2, x[0], "made inside"),
    "slots": lambda x: Slots([x], (x,)),
    "registered": lambda x: Registered([x, 1], "tag"),
    "nested": lambda x: {"a": [(x, {"b": x + 1})], "c": ((),)},
    "none": lambda x: None,
    "no outputs": lambda x: {},
    "constants alone": lambda x: (1, "two", 3.0, None, Mode.HARD, np.float32(4), 5j, b"6"),
    "constants beside arrays": lambda x: (x, 1, -0.0, True, [x.shape, x.dtype, x.ndim]),
    "constant arrays": lambda x: {"ones": np.ones(3), "x": x, "ints": np.arange(4).reshape(2, 2)},
    "a constant": lambda x: 3,
    "a constant array": lambda x: np.arange(3)[::-1],
    "list of numbers": lambda x: [1.0, 2.0],
    "twice": lambda x: (x, x),
    "a value twice": lambda x: [x * 2] * 2,
    "equal values": lambda x: (x + 1, x + 1),
    "views": lambda x: {"t": x.T, "row": x[0], "item": x[1, 1]},
    "scalars": lambda x: {"sum": x.sum(), "any": (x > 0).sum()},
    "classes": lambda x: {"f": np.float32, "g": np.exp, "slice": range(3)},
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    agrees(RESULTS[name], X)


def test_python_numbers_come_back_as_such():
    agrees(lambda p: {"same": p["n"], "twice": p["n"] * 2, "less": p["n"] < 3}, {"n": 2, "x": X})
    agrees(lambda p: (p["s"], -p["s"]), {"s": 2.5, "x": X})


def test_results_alias_nothing():
    constant = np.arange(3.0)

    def f(x, p):
        y = x + 1
        return {"x": x, "p": p["w"], "y": y, "again": [y, constant]}

    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend)
        arrays = [X, Y, constant]
        for _ in range(3):
            got = jitted(X, {"w": Y})
            arrays += [got["x"], got["p"], got["y"], *got["again"]]
        for k, a in enumerate(arrays):
            assert not any(np.shares_memory(a, b) for b in arrays[:k])
            assert a.flags.c_contiguous
        assert all(a.flags.writeable for a in arrays)
        got["again"][1][:] = -1
        np.testing.assert_array_equal(jitted(X, {"w": Y})["again"][1], [0, 1, 2])


def test_a_captured_array_that_is_returned_is_read_at_each_call():
    held = np.arange(3.0)

    def f(x):
        return x + 1, held

    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend)
        for k in range(4):
            held[0] = k
            same(jitted(Y), f(Y))


# random trees -------------------------------------------------------------------------------------
def random_value(rng, depth=0):
    """A leaf, a static value or a container of random values, each leaf unlike the others."""
    kind = rng.randrange(7 if depth < 4 else 3)
    if kind == 0:
        shape = tuple(rng.randrange(4) for _ in range(rng.randrange(3)))
        dtype = rng.choice([np.float32, np.float64, np.int32, np.int64])
        return (np.arange(np.prod(shape, dtype=int)).reshape(shape) + rng.randrange(99)).astype(
            dtype
        )
    if kind == 1:
        return rng.choice([rng.randrange(100), rng.random(), True])
    if kind == 2:
        return rng.choice(["text", None, Mode.HARD, b"bytes", np.float32, (), [], {}])
    inside = [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    pair = (inside + [1, 2.0])[:2]
    keys = rng.sample(
        ["a", "b", 1, True, None, (1, "c"), Mode.SOFT][rng.randrange(2) :], len(inside)
    )
    return rng.choice(
        [
            tuple(inside),
            inside,
            dict(zip(keys, inside, strict=True)),
            collections.OrderedDict(zip(keys, inside, strict=True)),
            Point(*pair),
            Slots(*pair),
            Registered(inside, "tag"),
        ]
    )


def doubled(value):
    """Every leaf twice as large, in containers like the given ones."""
    container = container_of(type(value))
    if container is not None:
        state, entries = container.open(value)
        return container.close(type(value), state, [doubled(entry) for entry in entries])
    if isinstance(value, (str, bytes, enum.Enum, type)) or value is None:
        return value
    return value * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_random_trees(backend):
    rng, leaves = random.Random(7), 0
    for _ in range(100 if backend == "ref" else 15):
        value = {"whole": random_value(rng), "more": [random_value(rng, 1), random_value(rng, 1)]}
        jitted = stax.jit(doubled, backend=backend)
        expected = doubled(value)
        for _ in range(2):
            same(jitted(value), expected)
        graph = jitted.trace(value).graph
        leaves = max(leaves, len(graph.inputs))
        assert len(tree.leaves_of(graph.arguments[0], value)) == len(graph.inputs)
    assert leaves > 10


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
