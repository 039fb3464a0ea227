"""A NumPy function that is not carried: named, with those that are."""

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.functions.refused import REFUSED

from .refusal import floats, refused


def complex_root(x):
    return np.emath.sqrt(x)  # refused


def test_unknown():
    refused(
        stax.UnsupportedOperation,
        complex_root,
        floats(3, 3),
        says="np.lib.scimath.sqrt is not supported inside a jitted function",
        instead="call it outside, or build it from: ",
    )


def called(function, x):
    return function(x)  # refused


def arguments(function):
    """The call of a function that is refused by name, on a matrix."""
    given = {
        np.compress: lambda x: np.compress([True, False, True], x),
        np.extract: lambda x: np.extract(x > 0, x),
        np.setdiff1d: lambda x: np.setdiff1d(x, x),
        np.intersect1d: lambda x: np.intersect1d(x, x),
        np.union1d: lambda x: np.union1d(x, x),
        np.setxor1d: lambda x: np.setxor1d(x, x),
        np.place: lambda x: np.place(x, x > 0, [1]),
        np.apply_over_axes: lambda x: np.apply_over_axes(np.sum, x, [0]),
        np.poly: lambda x: np.poly([x[0, 0], x[0, 1]]),
        np.roots: lambda x: np.roots([x[0, 0], x[0, 1]]),
        np.linalg.lstsq: lambda x: np.linalg.lstsq(x, x),
        np.polyfit: lambda x: np.polyfit(x, x, 1),
        np.apply_along_axis: lambda x: np.apply_along_axis(np.sum, 0, x),
        np.place: lambda x: np.place(x, x > 0, [1.0]),
        np.apply_over_axes: lambda x: np.apply_over_axes(np.sum, x, [0]),
        np.piecewise: lambda x: np.piecewise(x, [x > 0], [1, 2]),
        np.polymul: lambda x: np.polymul(x, x),
        np.polydiv: lambda x: np.polydiv(x, x),
        np.busday_count: lambda x: np.busday_count(x, x),
        np.busday_offset: lambda x: np.busday_offset(x, x),
        np.shares_memory: lambda x: np.shares_memory(x, x),
        np.may_share_memory: lambda x: np.may_share_memory(x, x),
        np.savez: lambda x: np.savez("file", x),
        np.savez_compressed: lambda x: np.savez_compressed("file", x),
        np.save: lambda x: np.save("file", x),
        np.savetxt: lambda x: np.savetxt("file", x),
    }
    return given.get(function, function)


@pytest.mark.parametrize("function", [np.poly, np.roots])
def test_numpys_own_dispatch_refuses(function):
    """These hand their argument itself to the dispatch, which wants a sequence."""
    with pytest.raises(TypeError, match="did not return an iterable"):
        stax.jit(lambda x: function(x), backend="ref")(floats(3))


@pytest.mark.parametrize(
    "function",
    [f for f in REFUSED if f not in (np.poly, np.roots)],
    ids=lambda function: function.__name__,
)
def test_refused_by_name(function):
    """Every entry of the table is reached by NumPy's own dispatch, with reason and way out."""
    reason, way_out = REFUSED[function]

    def f(x):
        return arguments(function)(x)

    with pytest.raises(stax.UnsupportedOperation) as caught:
        stax.jit(f, backend="ref")(floats(3, 3))
    assert caught.value.what.endswith(f"{function.__name__} is refused: {reason}")
    assert caught.value.instead == way_out
    assert caught.value.where.file == __file__


def spectrum(x):
    return np.fft.rfft(x)  # refused


def test_a_complex_result_names_the_way_out():
    refused(
        stax.UnsupportedOperation,
        spectrum,
        floats(8),
        says="np.fft.rfft is refused: its result is complex",
        instead="stax.extern(lambda x: np.abs(np.fft.rfft(x)), result_type)",
    )
