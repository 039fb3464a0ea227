"""NumPy's own validation data of its functions: how far the planned values are from the exact ones.

takes: the tables of arguments and results in the installed NumPy, both precisions
gives: a failure where a value is farther than stated, or C differs from the oracle
holds: what is measured, for docs/accuracy.md
not here: that page (stages/test_accuracy), special values (test_ufuncs), bounds
    (test_function_bounds)
"""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from spec_tests.harness import Case, check_all
from stax_ref import functionbounds, ops
from stax_ref.dtypes import F32, F64
from stax_ref.functions.ufuncs import UFUNCS

DTYPES = {"np.float32": F32, "np.float64": F64}


def folder():
    """Where the installed NumPy keeps the tables."""
    root = importlib.util.find_spec("numpy").submodule_search_locations[0]
    return Path(root) / "_core" / "tests" / "data"


@functools.cache
def table(name):
    """Per dtype: arguments, correctly rounded results, and NumPy's own tolerances in ulp."""
    rows = {}
    for line in (folder() / f"umath-validation-set-{name}.csv").read_text().splitlines()[1:]:
        if line.strip() and line[0] not in "#$":
            kind, *cells = line.split(",")
            rows.setdefault(DTYPES[kind], []).append([int(c, 0) for c in cells])
    tables = {}
    for dtype, cells in rows.items():
        bits = np.dtype(f"u{dtype.itemsize}")
        columns = list(zip(*cells, strict=True))
        x, y = (np.array(c, np.uint64).astype(bits).view(dtype) for c in columns[:2])
        tables[dtype] = (x, y, np.array(columns[2]))
    return tables


NAMES = sorted(p.stem.rpartition("-")[2] for p in folder().glob("umath-validation-set-*.csv"))


def distance(got, exact):
    """How many floats lie between two arrays of floats; 0 for two NaN."""
    bits = np.dtype(f"i{got.dtype.itemsize}")
    lines = []
    for array in (got, exact):
        raw = array.view(bits).astype(object)
        lines.append(np.where(raw < 0, int(np.iinfo(bits).min) - raw, raw))
    both_nan = np.isnan(got) & np.isnan(exact)
    return np.where(both_nan, 0, np.abs(lines[0] - lines[1]))


@functools.cache
def measured(name, dtype):
    """The largest distance of the planned value from the exact one, in ulp."""
    x, exact, _ = table(name)[dtype]
    with np.errstate(all="ignore"):
        got = np.asarray(ops.OPS[name].numpy(x))
    return int(distance(got, exact).max())


def test_numpy_has_the_tables_and_stax_the_functions():
    assert len(NAMES) >= 20
    assert all(UFUNCS[name][0] == "native" and set(table(name)) == {F32, F64} for name in NAMES)
    assert sum(len(x) for name in NAMES for x, _, _ in table(name).values()) > 20000


def test_every_row_on_the_oracle_and_in_c():
    cases = []
    for name in NAMES:
        for dtype, (x, _, _) in table(name).items():
            ufunc = getattr(np, name)
            cases.append(Case(lambda x, ufunc=ufunc: ufunc(x), (x,), f"{name} {dtype}"))
    check_all(cases)


@pytest.mark.parametrize("name", NAMES)
def test_no_value_is_farther_than_stated(name):
    for dtype in (F32, F64):
        # The rounded result of a value within e of the exact one is at most e + 1/2 off.
        assert measured(name, dtype) <= np.ceil(functionbounds.planned_ulp(name, dtype))


@pytest.mark.parametrize("name", NAMES)
def test_no_value_of_numpy_is_farther_than_its_tolerance_and_ours(name):
    for dtype in (F32, F64):
        x, exact, tolerance = table(name)[dtype]
        assert tolerance.max() <= functionbounds.NUMPY_ULP
        with np.errstate(all="ignore"):
            assert (distance(getattr(np, name)(x), exact) <= functionbounds.NUMPY_ULP).all()
