"""The table of NumPy's names against NumPy itself, the standard's names and the page of it.

takes: ``stax_ref.functions.table`` and every public name of NumPy
gives: a failure where a name is missing, or stands there with the wrong word
holds: a few calls, to see that each word means what it says
not here: whether results are right (``spec``, ``matrix``)
"""

import functools

import array_api_strict
import numpy as np
import pytest

import stax_ref as stax
from spec_tests.golden.test_golden import compare
from stax_ref.functions import table
from stax_ref.ops import OPS

FUNCTIONS = table.functions()
METHODS = table.methods()


def test_every_ufunc():
    ufuncs = {n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)}
    assert len(ufuncs) > 90
    assert not [n for n in ufuncs if f"np.{n}" not in FUNCTIONS]


def test_every_function_that_numpy_dispatches():
    for module, prefix in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
        for name in dir(module):
            if name == "row_stack":
                continue
            thing = getattr(module, name)
            if hasattr(thing, "_implementation") and not name.startswith("_"):
                assert f"{prefix}.{name}" in FUNCTIONS, name


def test_every_function_of_the_standard():
    names = [n for n in array_api_strict.__all__ if callable(getattr(array_api_strict, n))]
    known = [n for n in names if hasattr(np, n) and not isinstance(getattr(np, n), type)]
    assert len(known) > 120
    missing = [n for n in known if f"np.{n}" not in FUNCTIONS]
    assert not missing


def test_every_method():
    names = [n for n in dir(np.ndarray) if not n.startswith("_")]
    assert sorted(METHODS) == sorted(f"ndarray.{n}" for n in names)


def test_a_refusal_has_a_reason_and_a_way_out():
    for entry in (*FUNCTIONS.values(), *METHODS.values()):
        assert entry.how in table.HOW
        if entry.how == table.REFUSED:
            assert entry.note, entry
            assert entry.instead or entry.name == "np.isnat", entry


REFUSED = [e.name for e in FUNCTIONS.values() if e.how == table.REFUSED]
UFUNCS = ["np.isnat"]  # not dispatched as functions are


def named(name):
    """The function of this name."""
    return functools.reduce(getattr, name.split(".")[1:], np)


def test_every_refused_function_is_dispatched():
    plain = [name for name in REFUSED if not hasattr(named(name), "_implementation")]
    assert plain == UFUNCS


@pytest.mark.parametrize("name", [name for name in REFUSED if name not in UFUNCS])
def test_a_refused_function_is_refused_by_name(name):
    function = named(name)
    with pytest.raises(stax.StaxError, match=r"is refused|is not supported") as caught:
        stax.jit(lambda x: _dispatch(x, function), backend="ref")(np.ones(3, np.float32))
    entry = FUNCTIONS[name]
    assert entry.note in str(caught.value)
    assert entry.instead in str(caught.value)


def _dispatch(x, function):
    return x.__array_function__(function, (type(x),), (x,), {})


def test_an_extern_shows_in_the_explanation():
    x = np.ones((4, 4), np.float32)
    assert FUNCTIONS["np.sort"].how == table.EXTERN
    assert "external call" in stax.jit(np_sort, backend="ref").explain(x)
    assert FUNCTIONS["np.flip"].how == table.NATIVE
    assert "external call" not in stax.jit(np_flip, backend="ref").explain(x)


def np_sort(x):
    return np.sort(x)


def np_flip(x):
    return np.flip(x) + 1


def test_every_native_ufunc_is_made_of_scalar_operations():
    assert len(OPS) > 60
    for name, entry in FUNCTIONS.items():
        if entry.how != table.NATIVE or not isinstance(getattr(np, name[3:], None), np.ufunc):
            continue
        ufunc = getattr(np, name[3:])
        x = np.full(4, 2, np.int64 if ufunc.types[-1][0] in "lq" else np.float64)
        jitted = stax.jit(lambda *a, u=ufunc: u(*a), backend="ref")
        try:
            with np.errstate(all="ignore"):
                ufunc(*[x] * ufunc.nin)
        except TypeError:
            x = x.astype(np.int32)
        assert "external call" not in jitted.explain(*[x] * ufunc.nin), name


def test_the_page_is_current(request, update_golden):
    root = request.config.rootpath
    page = root / "docs" / "operations.md"
    if not page.parent.is_dir():
        pytest.skip("the documentation is not installed with the package")
    compare(page, table.text(), update_golden)
