"""The namespace is the standard's: every name, every signature, every table entry.

takes: array-api-strict as the standard's text
gives: a failure for a missing name or a signature that differs
holds: nothing of what the functions compute (``test_values``)
"""

import inspect
import subprocess
import sys

import array_api_strict as strict
import numpy as np
import pytest

from spec_tests.xp.judge import function
from stax_ref import xp
from stax_ref.xp import page
from stax_ref.xp.table import DELEGATED, EXTERNAL, FUNCTIONS, LIMITS, NATIVE

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
).split()


def parameters(callable_):
    """Names, kinds and defaults; array-api-strict marks a device it was not given by an object."""
    return [
        (p.name, p.kind, None if "Undef" in repr(p.default) else p.default)
        for p in inspect.signature(callable_).parameters.values()
    ]


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "__array_namespace_info__"])
def test_the_signature_is_the_standards(name):
    assert parameters(function(xp, name)) == parameters(function(strict, name))


def test_every_function_of_the_standard_is_there():
    names = {n for n in strict.__all__ if callable(getattr(strict, n))}
    names -= {n for n in names if "array_api_strict" in n} | {"ArrayAPIStrictFlags", "Device"}
    names -= {n for n in names if isinstance(getattr(strict, n), type)}
    names |= {f"linalg.{n}" for n in strict.linalg.__all__} - {"linalg.eig", "linalg.eigvals"}
    names |= {f"fft.{n}" for n in strict.fft.__all__}
    assert set(FUNCTIONS) == names
    assert len(FUNCTIONS) == 136 + 23 + 14


def test_every_function_is_native_or_delegated_with_a_reason():
    assert set(DELEGATED) | NATIVE == set(FUNCTIONS)
    assert not set(DELEGATED) & NATIVE
    assert all(len(reason) > 10 for reason in DELEGATED.values())
    assert EXTERNAL <= NATIVE
    assert set(LIMITS) <= set(FUNCTIONS)
    assert xp.__native__ is NATIVE
    assert xp.__delegated__ is DELEGATED


def test_a_native_function_is_a_jitted_program_and_a_delegated_one_is_none():
    for name in FUNCTIONS:
        assert hasattr(function(xp, name), "program") == (name in NATIVE)


@pytest.mark.parametrize("name", DTYPES)
def test_a_dtype_of_the_standard(name):
    assert getattr(xp, name) == np.dtype(name)
    assert xp.zeros(2, dtype=getattr(xp, name)).dtype == name


def test_constants():
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (np.e, np.pi, np.inf, None)
    assert np.isnan(xp.nan)
    assert xp.__array_api_version__ == "2024.12"


def test_the_namespace_describes_itself():
    info = xp.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.devices() == ["cpu"]
    assert info.dtypes(kind="real floating") == {"float32": xp.float32, "float64": xp.float64}
    assert info.default_dtypes()["integral"] == xp.int64
    assert info.capabilities()["data-dependent shapes"] is True


def test_everything_listed_exists():
    assert [name for name in xp.__all__ if not hasattr(xp, name)] == []


def test_the_page_is_current():
    if not page.FILE.parent.is_dir():
        pytest.skip("the documentation is not installed with the package")
    assert page.FILE.read_text(encoding="utf-8") == page.text()


def test_the_namespace_is_loaded_when_it_is_asked_for():
    code = "import sys, stax_ref; print('stax_ref.xp' in sys.modules, stax_ref.xp.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "stax_ref.xp"]
