"""Arguments that are neither arrays nor numbers, nor values with a hash of their own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


class Foo:
    """A class no container table knows."""


@dataclass
class Layer:
    weight: Any


def identity(x):
    return x + 1


@pytest.mark.parametrize(
    ("value", "name"), [(object(), "object"), (Foo(), "Foo"), ({1.0}, "set"), (iter(()), "tuple_")]
)
def test_refused(value, name):
    error = refused(
        stax.DtypeError,
        identity,
        value,
        says=f"the argument x is a {name}",
        instead="np.asarray of it, a number, or stax.register_container(",
    )
    assert "static_argnames=('x',)" in error.instead


def test_a_complex_number():
    refused(
        stax.DtypeError,
        identity,
        2j,
        says="the argument x is a complex",
        instead="x.real and x.imag",
    )


@pytest.mark.parametrize(
    "bad", [Foo(), np.ma.masked_array([1.0], [True]), 2j], ids=["object", "masked", "complex"]
)
def test_the_place_inside_a_container(bad):
    params = {"layers": [floats(3), (1.0, floats(2)), Layer(bad)]}

    def f(params):
        return params["layers"][0] * 2

    name = type(bad).__name__
    error = refused(
        stax.DtypeError,
        f,
        params,
        says=f'the argument params["layers"][2].weight is a {name}',
        instead="",
    )
    assert "static_argnames" not in error.instead


def test_a_dtype_inside_a_container():
    def f(params):
        return params[0] * 2

    says = 'the argument params[1]["w"] has dtype complex64'
    bad = [floats(3), {"w": np.zeros(3, np.complex64)}]
    refused(stax.DtypeError, f, bad, says=says, instead="x.real and x.imag")


def test_a_container_that_holds_itself():
    params = {"w": floats(3)}
    params["again"] = [params]
    refused(
        stax.DtypeError,
        lambda p: p["w"] * 2,
        params,
        says='the argument p["again"][0] is a dict that contains itself',
        instead="without cycles",
    )


def test_unknown_subclasses_of_containers():
    class Params(dict):
        pass

    class Layers(list):
        pass

    for value in (Params(w=floats(3)), Layers([floats(3)])):
        name = type(value).__name__
        refused(
            stax.DtypeError,
            identity,
            value,
            says=f"the argument x is a {name}",
            instead=f"stax.register_container({name}, ...)",
        )


def test_an_array_on_another_device():
    class OnDevice:
        def __dlpack_device__(self):
            return (2, 1)

        def __dlpack__(self, **options):
            raise AssertionError("not asked for")

    refused(
        stax.DtypeError,
        identity,
        OnDevice(),
        says="the argument x is a OnDevice on CUDA:1",
        instead="a copy on the CPU",
    )


def test_ragged_lists_are_numpys_error():
    with pytest.raises(ValueError, match="inhomogeneous"):
        stax.jit(identity, backend="ref")([[1.0], [1.0, 2.0]])
