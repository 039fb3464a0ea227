"""Arrays without elements.

takes: shapes with a zero in them
gives: a failure where a rung differs, or NumPy's error is not raised
holds: nothing
not here: slices that come out empty (test_view)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check_all

from .values import ALL

SHAPES = [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 4), (1, 0)]
NAMES = "sum prod mean var std any all count_nonzero nansum nanprod".split()
REDUCERS = {name: getattr(np, name) for name in NAMES}


def over(reducer, axis):
    """A reduction along one axis."""
    return lambda a: reducer(a, axis=axis)


@pytest.mark.parametrize("shape", SHAPES)
def test_pointwise(shape):
    cases = []
    for dtype in ALL:
        x = np.empty(shape, dtype)
        cases += [
            Case(lambda a: a + a, (x,)),
            Case(lambda a: np.where(a == a, a, a), (x,)),
            Case(lambda a: (a.T, a * 2, a.reshape(-1)), (x,)),
            Case(lambda a: np.exp(a), (x.astype(np.float64),)),
        ]
    check_all(cases)


@pytest.mark.parametrize("name", REDUCERS)
def test_reductions(name):
    cases = []
    for shape in SHAPES:
        for dtype in (np.float32, np.int64, np.bool_):
            x = np.empty(shape, dtype)
            cases += [
                Case(over(REDUCERS[name], axis), (x,), f"{name} axis={axis}")
                for axis in (None, *range(len(shape)))
            ]
    check_all(cases)


@pytest.mark.parametrize("reducer", [np.max, np.min])
def test_extremes_of_nothing_are_refused_as_numpy_refuses_them(reducer):
    refused = (((0,), None), ((0, 3), 0), ((3, 0), 1), ((3, 0), None), ((0, 0), 0), ((2, 0, 0), 1))
    for shape, axis in refused:
        x = np.empty(shape, np.float32)
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            reducer(x, axis=axis)
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            stax.jit(over(reducer, axis), backend=backend_name())(x)
    check_all(
        [
            Case(over(reducer, 1), (np.empty((0, 3), np.float32),)),
            Case(over(reducer, 0), (np.empty((3, 0), np.int64),)),
        ]
    )


def test_programs_with_a_reduction_of_nothing():
    def normalise(x):
        return x / np.sum(x, axis=-1, keepdims=True)

    def centred(x):
        return x - np.mean(x, axis=0)

    def mixed(x, y):
        return y + np.sum(x), np.sum(y) + np.prod(x)

    cases = []
    for shape in SHAPES:
        x = np.empty(shape, np.float32)
        cases += [Case(normalise, (x,)), Case(centred, (x,))]
        cases.append(Case(mixed, (x, np.arange(5, dtype=np.float32))))
    check_all(cases)
