"""Reductions that NumPy refuses, and the few that Stax does."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, floats, refused


def empty_place(x):
    return np.argmax(x[:0], axis=0)  # refused


def two_axes(x):
    return np.argmin(x, axis=(0, 1))  # refused


def listed(x):
    return np.sum(x, axis=[0])  # refused


def far(x):
    return np.any(x, axis=2)  # refused


def doubled(x):
    return np.prod(x, axis=(0, 0))  # refused


def masked_extreme(x):
    return np.max(x, where=x > 0)  # refused


def number_mask(x):
    return np.sum(x, where=np.ones((2, 3)))  # refused


def wide_mask(x):
    return np.sum(x, where=np.ones((4, 2, 3), bool))  # refused


def no_identity(x):
    return np.sum(x[:0], axis=0, initial=None)  # refused


def many_initials(x):
    return np.sum(x, initial=np.ones(2))  # refused


def bits(x):
    return np.bitwise_or.reduce(x)  # refused


def both_names(x):
    return np.nanvar(x, ddof=1, correction=1)  # refused


def differing_weights(x):
    return np.average(x, weights=np.ones(3))  # refused


def wrong_weights(x):
    return np.average(x, axis=0, weights=np.ones(3))  # refused


def text_order(x):
    return np.linalg.norm(x, "fro", axis=0)  # refused


def matrix_order(x):
    return np.linalg.norm(x, 3)  # refused


def many_axes(x):
    return np.linalg.norm(x[None], 1)  # refused


AS_NUMPY = {
    empty_place: (stax.ShapeError, "attempt to get argmax of an empty sequence", "at least one"),
    two_axes: (stax.DtypeError, "'tuple' object cannot be interpreted as an integer", "one axis"),
    listed: (stax.DtypeError, "'list' object cannot be interpreted as an integer", "axis=(0,)"),
    doubled: (stax.ShapeError, "duplicate value in 'axis'", "each axis once"),
    masked_extreme: (stax.ShapeError, "does not have an identity", "initial="),
    number_mask: (stax.DtypeError, "Cannot cast array data from dtype('float64')", "mask != 0"),
    wide_mask: (stax.ShapeError, "does not broadcast to (2, 3)", "a mask with"),
    no_identity: (stax.ShapeError, "zero-size array to reduction operation add", "initial="),
    many_initials: (stax.ShapeError, "initial has shape (2,)", "a single number"),
    bits: (stax.DtypeError, "ufunc 'bitwise_or' not supported", "integers or bools"),
    both_names: (stax.ShapeError, "can't be provided simultaneously", "one of them"),
    differing_weights: (stax.DtypeError, "Axis must be specified", "axis="),
    wrong_weights: (stax.ShapeError, "Shape of weights must be consistent", "shape of a"),
    text_order: (stax.ShapeError, "Invalid norm order 'fro' for vectors", "a number"),
    matrix_order: (stax.ShapeError, "Invalid norm order for matrices", "'fro'"),
    many_axes: (stax.ShapeError, "Improper number of dimensions to norm", "one or two axes"),
}


@pytest.mark.parametrize("function", AS_NUMPY, ids=lambda f: f.__name__)
def test_as_numpy_refuses_it(function):
    kind, says, instead = AS_NUMPY[function]
    error = refused(kind, function, floats(2, 3), says=says, instead=instead)
    as_numpy(error, function, floats(2, 3))


def test_an_axis_too_many():
    error = refused(
        stax.errors.AxisError, far, floats(2, 3), says="axis 2 is out of bounds", instead="from -2"
    )
    as_numpy(error, far, floats(2, 3))


def traced_initial(x):
    return np.sum(x, axis=1, initial=x[0, 0])  # refused


def into(x):
    return np.argmax(x, 0, np.empty(3, np.int64))  # refused


@pytest.mark.parametrize(
    ("function", "says", "instead"),
    [
        (traced_initial, "takes a number, not a traced array", "the operation on the initial"),
        (into, "np.argmax(..., out=...) is not supported", "the same without it"),
    ],
)
def test_what_stax_refuses(function, says, instead):
    refused(stax.UnsupportedOperation, function, floats(2, 3), says=says, instead=instead)


def test_an_initial_value_the_dtype_cannot_hold():
    for function in (lambda x: np.max(x, initial=1000), lambda x: np.sum(x, initial=-1)):
        for call in (function, stax.jit(function, backend="ref")):
            with pytest.raises(OverflowError, match="out of bounds"):
                call(np.ones(3, np.uint8))


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_a_slice_of_nothing_but_nan_fails_the_call(backend):
    x = np.array([[1.0, 2.0], [np.nan, np.nan]])
    for name in ("nanargmax", "nanargmin"):
        call = stax.jit(lambda x, name=name: getattr(np, name)(x, axis=1), backend=backend)
        with pytest.raises(ValueError, match="All-NaN slice encountered"):
            call(x)
        assert call(x[:1]).tolist() == getattr(np, name)(x[:1], axis=1).tolist()


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_weights_that_sum_to_zero_fail_the_call(backend):
    def program(x, w):
        return np.average(x, axis=1, weights=w), np.sum(x)

    x, w = np.ones((2, 3)), np.array([[1.0, 2.0, 3.0], [1.0, -1.0, 0.0]])
    call = stax.jit(program, backend=backend)
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero, can't be normalized"):
        program(x, w)
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero, can't be normalized"):
        call(x, w)
    assert call(x, np.abs(w))[0].tolist() == [1, 1]
