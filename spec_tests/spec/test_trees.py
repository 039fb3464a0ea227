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
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import stax_ref as stax
from stax_ref import tree
from stax_ref.containers import container_of

from .containers import (
    BACKENDS,
    Layer,
    Mode,
    Point,
    Registered,
    Slots,
    X,
    Y,
    agrees,
    betas,
    model,
    same,
)

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
