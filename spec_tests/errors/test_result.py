"""Results that no call can return: each names its place in the result."""

import functools

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats


class Foo:
    """A class no container table knows."""


class Pair(tuple):
    """A subclass of tuple, which need not be made from its elements."""

    __slots__ = ()


def refusal(function, *arguments):
    with pytest.raises(stax.TraceError) as caught:
        stax.jit(function, backend="ref")(*arguments)
    assert (caught.value.where.file, caught.value.where.function) == (__file__, function.__name__)
    return caught.value


@pytest.mark.parametrize("make", [Foo, set, bytearray, object, iter, slice], ids=str)
def test_an_object(make):
    def f(x):
        value = make(()) if make in (iter, slice) else make()
        return x, {"a": [value]}

    error = refusal(f, floats(3))
    assert 'the result[1]["a"][0] is a ' in str(error)
    assert "in tuples, lists, dicts and dataclasses" in error.instead
    assert "stax.register_container(" in error.instead


def test_the_whole_result():
    def f(x):
        return Foo()

    assert str(refusal(f, floats(3))).startswith("the result is a Foo\n")


def test_a_function_may_hold_a_traced_array():
    def closure(x):
        return lambda: x

    def bound(x):
        return x.sum

    def partial(x):
        return functools.partial(np.add, x)

    for f in (closure, bound, partial):
        assert "the result is a " in str(refusal(f, floats(3)))


def test_an_array_of_objects():
    def f(x):
        return np.array([None, x.shape], dtype=object)

    assert "the result is an array of objects" in str(refusal(f, floats(3)))


def test_an_unknown_subclass_of_a_container():
    def f(x):
        return Pair((x, x))

    assert "the result is a Pair" in str(refusal(f, floats(3)))


def test_a_container_that_holds_itself():
    def f(x):
        inside = [x]
        inside.append({"again": inside})
        return inside

    error = refusal(f, floats(3))
    assert 'the result[1]["again"] is a list that contains itself' in str(error)
