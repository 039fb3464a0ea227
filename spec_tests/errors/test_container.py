"""Containers that the function changes, and classes that cannot be registered."""

from dataclasses import dataclass
from typing import Any

import pytest

import stax_ref as stax

from .refusal import floats


@dataclass
class State:
    value: Any
    step: int = 0


def assigned(p):
    p["w"] = p["w"] * 2
    return p


def added(p):
    p["new"] = p["w"] * 2
    return p["new"]


def appended(p):
    p["list"].append(p["w"])
    return p["w"]


def attribute(p):
    p["state"].value = p["w"]
    return p["w"]


def renamed(p):
    p["name"] = "other"
    return p["w"]


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (assigned, 'p["w"] is another value'),
        (added, "p is another dict"),
        (appended, 'p["list"] is another list'),
        (attribute, 'p["state"].value is another value'),
        (renamed, "p[\"name\"] is 'other' instead of 'name'"),
    ],
)
def test_the_callers_would_stay_as_it_is(function, says):
    params = {"w": floats(3), "list": [], "state": State(floats(2)), "name": "name"}
    with pytest.raises(stax.TraceError) as caught:
        stax.jit(function, backend="ref")(params)
    message = str(caught.value)
    assert "the function changes a container that is its argument: " + says in message
    assert "a new container that the function returns" in caught.value.instead
    assert (caught.value.where.file, caught.value.where.function) == (__file__, function.__name__)
    assert list(params) == ["w", "list", "state", "name"]


def test_a_new_one_is_returned():
    def f(p):
        p = {**p, "w": p["w"] * 2}
        p["new"] = p["w"]
        return p

    got = stax.jit(f, backend="ref")({"w": floats(3)})
    assert list(got) == ["w", "new"]


def test_registration():
    with pytest.raises(stax.ConfigError, match="is no class"):
        stax.register_container("Foo", list, list)
    with pytest.raises(stax.ConfigError, match="dict is a container already"):
        stax.register_container(dict, list, list)

    class Foo:
        pass

    stax.register_container(Foo, lambda foo: ((), None), lambda rest, children: Foo())
    with pytest.raises(stax.ConfigError, match="Foo is a container already"):
        stax.register_container(Foo, list, list)


def test_what_a_registered_container_holds_beside_its_children():
    class Tagged:
        def __init__(self, value, tags):
            self.value, self.tags = value, tags

    stax.register_container(Tagged, lambda t: ([t.value], t.tags), lambda tags, v: Tagged(*v, tags))
    f = stax.jit(lambda t: Tagged(t.value + len(t.tags), ()), backend="ref")
    with pytest.raises(stax.ConfigError, match="what a Tagged holds beside its children") as caught:
        f(Tagged(floats(3), ["a"]))
    assert "a tuple" in caught.value.instead
    assert f(Tagged(floats(3), ("a",))).value.tolist() == [2, 2, 2]
