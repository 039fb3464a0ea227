"""Every elementwise ufunc of NumPy on every carried dtype: special values, in pairs.

takes: NumPy's own list of ufuncs, and the loops it resolves for each dtype
gives: a failure where a rung or a vector level differs, or a ufunc has no entry in the table
holds: nothing but the arguments a ufunc cannot take (negative integer powers)
not here: sizes and layouts (test_pointwise, test_broadcast), accuracy (test_umath_data)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check_all
from stax_ref import dtypes
from stax_ref.functions.ufuncs import CONTRACTIONS, UFUNCS

from .values import mixed, pairs, specials

ALL = {u.__name__: u for u in vars(np).values() if isinstance(u, np.ufunc)}
NATIVE = sorted(name for name, (kind, _) in UFUNCS.items() if kind == "native")


def test_every_ufunc_has_an_entry():
    assert set(ALL) == set(UFUNCS)
    assert {name for name, (kind, _) in UFUNCS.items() if kind == "extern"} == set(CONTRACTIONS)


def test_what_is_refused_says_why():
    reasons = [reason for kind, reason in UFUNCS.values() if kind != "native"]
    assert all(len(reason) > 20 for reason in reasons)


def arguments(ufunc, dtype):
    """Special values for every operand, or None where NumPy has no loop."""
    kinds = [dtype, np.dtype(np.int32)] if ufunc is np.ldexp else [dtype] * ufunc.nin
    try:
        ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    except TypeError:
        return None
    if ufunc.nin == 1:
        return (np.concatenate([specials(dtype), mixed(dtype, 20)]),)
    a, b = pairs(dtype)
    if ufunc is np.ldexp:
        b = np.resize(
            np.array([0, 1, -1, 30, -40, 2000, -2000, 2**31 - 1, -(2**31)], np.int32), b.size
        )
    if ufunc is np.power and dtype.kind == "i":
        b = np.where(b < 0, 3, b)
    return a, b


def calling(ufunc):
    """A traced function around the ufunc."""
    if ufunc.nin == 1:
        return lambda x: ufunc(x)
    return lambda x, y: ufunc(x, y)


@pytest.mark.parametrize("name", NATIVE)
def test_every_dtype(name):
    ufunc = ALL[name]
    cases = []
    for dtype in dtypes.SHORT:
        args = arguments(ufunc, dtype)
        if args is not None:
            cases.append(Case(calling(ufunc), args, f"{name} {dtype}"))
    assert cases
    check_all(cases)


@pytest.mark.parametrize("name", NATIVE)
def test_a_dtype_without_a_loop_is_refused_as_numpy_does(name):
    ufunc = ALL[name]
    for dtype in dtypes.SHORT:
        if arguments(ufunc, dtype) is None:
            args = [np.ones(2, dtype)] * ufunc.nin
            with pytest.raises(TypeError):
                ufunc(*args)
            with pytest.raises(stax.DtypeError, match=f"np.{name}"):
                stax.jit(calling(ufunc), backend="ref")(*args)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, np.uint16, np.int64]
)
def test_options(dtype):
    x, y = mixed(dtype, 21), mixed(dtype, 21, seed=1)
    check_all(
        [
            Case(lambda x, y: np.add(x, y, dtype=np.float64), (x, y), "dtype"),
            Case(
                lambda x, y: np.multiply(x, y, dtype=np.float32, casting="unsafe"), (x, y), "narrow"
            ),
            Case(lambda x, y: np.maximum(x, y, where=True, order="C"), (x, y), "no effect"),
            Case(lambda x, y: np.less(x, y, dtype=bool), (x, y), "comparison"),
            Case(lambda x: np.sqrt(x, dtype=np.float64), (x,), "one operand"),
            Case(lambda x, y: np.subtract.outer(x, y[:4]), (x, y), "outer"),
        ]
    )
