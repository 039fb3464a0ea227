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

ELEMENTARY = (
    "acos acosh asin asinh atan atan2 atanh cos cosh exp expm1 hypot log log10 log1p log2 pow sin "
    "sinh tan tanh"
).split()
SUMS = "sum mean std cumulative_sum linalg.trace diff".split()
PRODUCTS = (
    "matmul tensordot vecdot linalg.matmul linalg.tensordot linalg.vecdot linalg.cross linalg.outer"
).split()
RELATIVE = "prod cumulative_prod linalg.vector_norm".split()


def allowed(name: str, operands, expected):
    """How far each element of a result may be from the expected one; 0 where it must be equal.

    Elementary functions: Stax and NumPy each keep to 2 units in the last place. A sum of n terms
    rounds n - 1 times, by half a unit of at most n times the largest term, on each side; sums of
    products likewise. Products of factors and norms do not cancel. Functions that are not listed
    are exact, decompositions are NumPy's own on both sides (array-api-strict computes some of them
    in float64).
    """
    real = np.abs(expected)
    if real.dtype.kind != "f":
        return 0
    epsilon = np.finfo(real.dtype).eps
    sizes = max((x.size for x in operands), default=1)
    largest = [np.max(np.abs(x[np.isfinite(x)]), initial=0) for x in operands]
    with np.errstate(all="ignore"):  # next to infinity, at infinity, at NaN
        if name in ELEMENTARY:
            return 4 * np.spacing(real)
        if name == "logaddexp":  # a sum that may cancel
            finite = [np.where(np.isfinite(x), np.abs(x), 0) for x in operands]
            return 4 * np.spacing(np.maximum(real, np.maximum(*finite)))
        if name in SUMS:
            return sizes**2 * epsilon * largest[0]
        if name == "var":
            return sizes**2 * epsilon * largest[0] ** 2
        if name in PRODUCTS:
            return sizes**2 * epsilon * largest[0] * largest[1]
        if name in RELATIVE:
            return (2 * sizes + 8) * epsilon * real
        if name.startswith("linalg.") and name in xp.__delegated__:
            return 1e4 * epsilon * np.max(real, initial=1)
        return 4 * np.spacing(real) if expected.dtype.kind == "c" else 0


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
    if name in ("empty", "empty_like"):  # whatever the elements are
        actual, expected = np.zeros_like(actual), np.zeros_like(expected)
    if name == "unique_values":  # in any order
        actual, expected = np.sort(actual), np.sort(expected)
    arrays = [to_numpy(a) for a in args if isinstance(a, type(strict.zeros(1)))]
    same(name, actual, expected, arrays)


def same(name: str, actual, expected, operands) -> None:
    """Equal types, dtypes, shapes and values, in lists and tuples too."""
    if isinstance(expected, (list, tuple)):
        assert isinstance(actual, (list, tuple))
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            same(name, one, other, operands)
    elif not isinstance(expected, np.ndarray):
        assert actual == expected, (actual, expected)
    else:
        assert type(actual) is np.ndarray
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        near(actual, expected, allowed(name, operands, expected))


def near(actual, expected, distance) -> None:
    """NaN where NaN, infinite where infinite, and otherwise within the distance of each element."""
    if not np.any(distance):
        np.testing.assert_array_equal(actual, expected)
        return
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite])
    bound = np.broadcast_to(distance, expected.shape)[finite]
    assert np.all(np.abs(actual[finite] - expected[finite]) <= bound), (actual, expected)
