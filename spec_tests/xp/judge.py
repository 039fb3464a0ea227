"""Whether a result of stax_ref.xp is the one array-api-strict gives for the same arguments.

takes: a function's name and array-api-strict's arguments
gives: an AssertionError when value, dtype or shape differ
holds: the allowed distance of every function that is not exact
not here: drawing the arguments (``inputs``)
"""

from __future__ import annotations

import array_api_strict as strict
import numpy as np

from stax_ref import xp

ULPS = {
    **dict.fromkeys(
        "acos acosh asin asinh atan atan2 atanh cos cosh exp expm1 hypot log log10 log1p log2 "
        "logaddexp pow sin sinh tan tanh".split(),
        4,
    ),
    **dict.fromkeys("sum prod mean cumulative_sum cumulative_prod linalg.trace".split(), 16),
    **dict.fromkeys("std var".split(), 64),
    **dict.fromkeys(
        "matmul tensordot vecdot linalg.matmul linalg.tensordot linalg.vecdot linalg.cross "
        "linalg.outer linalg.vector_norm".split(),
        64,
    ),
}
"""Distances in units in the last place of the largest magnitude among result and operands.

Elementary functions: Stax and NumPy each keep to 2. Reductions and products: rounding in another
order, over at most 12 elements. Functions that are not here are exact."""

_LAPACK = 1e4
"""Decompositions are NumPy's own on both sides; array-api-strict computes some in float64."""


def ulps(name: str) -> float:
    if name.startswith("linalg.") and name in xp.__delegated__:
        return _LAPACK
    return ULPS.get(name, 0)


def function(namespace, name: str):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def to_numpy(thing):
    """array-api-strict's arrays and dtypes as NumPy's, inside lists and tuples too."""
    if isinstance(thing, type(strict.zeros(1))):
        return np.array(np.from_dlpack(thing))
    if isinstance(thing, type(strict.float32)):
        return getattr(xp, str(thing).rpartition(".")[2])
    if isinstance(thing, (list, tuple)):
        return (
            type(thing)(to_numpy(entry) for entry in thing)
            if type(thing)
            in (
                list,
                tuple,
            )
            else tuple(to_numpy(entry) for entry in thing)
        )
    return thing


def compare(name: str, args, kwargs) -> None:
    """Both functions on these arguments."""
    with np.errstate(all="ignore"):
        expected = to_numpy(function(strict, name)(*args, **kwargs))
        actual = function(xp, name)(
            *(to_numpy(a) for a in args), **{key: to_numpy(a) for key, a in kwargs.items()}
        )
    if name in ("finfo", "iinfo"):
        actual, expected = vars(actual), {k: to_numpy(v) for k, v in vars(expected).items()}
    if name == "empty_like":  # whatever the elements are
        actual, expected = np.zeros_like(actual), np.zeros_like(expected)
    if name == "unique_values":  # in any order
        actual, expected = np.sort(actual), np.sort(expected)
    scale = [np.asarray(to_numpy(a)) for a in args if isinstance(a, type(strict.zeros(1)))]
    same(actual, expected, ulps(name), scale)


def same(actual, expected, allowed: float, operands) -> None:
    if isinstance(expected, (list, tuple)):
        assert isinstance(actual, (list, tuple))
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            same(one, other, allowed, operands)
    elif not isinstance(expected, np.ndarray):
        assert actual == expected, (actual, expected)
    else:
        assert type(actual) is np.ndarray
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        if expected.dtype.kind == "c":  # NumPy's own in every case
            allowed = max(allowed, 4)
        if allowed and expected.dtype.kind in "fc":
            near(actual, expected, allowed, operands)
        else:
            np.testing.assert_array_equal(actual, expected)


def near(actual, expected, allowed: float, operands) -> None:
    """NaN where NaN, infinite where infinite, and otherwise within the allowed distance."""
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite])
    largest = np.abs(expected[finite])
    if allowed > 4:
        magnitudes = [np.max(np.abs(o[np.isfinite(o)]), initial=0) for o in operands]
        largest = np.maximum(largest, np.max(magnitudes, initial=0))
    distance = np.abs(actual[finite] - expected[finite])
    with np.errstate(over="ignore"):  # next to the largest number
        unit = np.spacing(largest.astype(np.abs(expected).dtype))
    assert np.all(distance <= allowed * unit), (actual, expected)
