"""Containers and models that the tests of trees share, and what it means that two are the same.

takes: results and arguments of any depth
gives: the first place where two differ, on every backend
holds: one class of each kind of container; the registration of ``Registered``
not here: the tests (``test_trees``, ``test_tree_programs``)
"""

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import stax_ref as stax
from spec_tests.harness import backend_name
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
