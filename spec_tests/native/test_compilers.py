"""The same bits from the lane-by-lane forms of the vector vocabulary, and from clang.

Takes one program with every kind of loop, and single operations; gives equal bits against the
oracle. The lane-by-lane forms (``STAX_PORTABLE``) are what a compiler without the builtins of gcc
gets, and float16 has forms for machines without its instructions; gcc can build them too, so they
are tested everywhere. clang itself is tested where it is installed.
"""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import harness
from spec_tests.native.kernels import arguments, kernel, mismatches, operand_dtypes
from stax_c import CBackend
from stax_native import toolchain
from stax_ref import ladder
from stax_ref.dtypes import F16, F32, F64, SHORT, U32, U64
from stax_ref.ops import OPS
from stax_ref.staged import Executable


def mixed(x, w):
    m = np.mean(x, axis=-1, keepdims=True)
    d = x - m
    e = np.exp(d)
    scaled = np.tanh(d) / np.sqrt(np.mean(d * d, axis=-1, keepdims=True) + 1e-5) * w
    positive = np.sum(x > 0, axis=0)
    return scaled, e / np.sum(e, axis=-1, keepdims=True), np.max(x, axis=0), positive, np.var(x)


@pytest.mark.parametrize("isa", toolchain.LEVELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lane_by_lane_forms_give_the_same_bits(isa, dtype, monkeypatch):

    monkeypatch.setenv("STAX_ISA", isa)
    try:
        backend = CBackend()
    except stax.ConfigError as error:
        pytest.skip(f"this machine lacks {isa}: {error.what}")
    x = np.random.default_rng(0).standard_normal((9, 133)).astype(dtype)
    program = stax.jit(mixed).lower(x, x[0]).program
    source = backend.emit(program.plan)

    portable = replace(source, text="#define STAX_PORTABLE 1\n" + source.text)

    loaded = backend.load(portable, program.plan)
    report = ladder.climb(program, [x, x[0]], Executable(program, "c", loaded, portable.text))
    assert report.ok, report


def with_flags(backend, without=(), more=()):
    """The same backend with other compiler flags."""
    tools = backend._toolchain
    flags = (*(f for f in tools.flags if f not in without), *more)
    changed = copy.copy(backend)
    changed._toolchain = replace(tools, flags=flags)
    return changed


def operations_with_builtins():
    """What the headers compute with instructions that not every compiler or machine has."""
    names = {
        *("sqrt", "maximum", "fmin", "multiply", "divide", "add", "nextafter", "spacing", "exp"),
        *("floor", "ceil", "trunc", "rint", "floor_divide"),
    }
    for name in sorted(names):
        for dtype in (F16, F32, F64):
            dtypes = operand_dtypes(name, dtype)
            args = arguments(name, dtypes)
            made = kernel(name, dtypes, OPS[name].result(dtype), args[0].size)
            yield made, args, f"{name} of {dtype}", slice(None)
    pairs = [(F16, t) for t in SHORT] + [(s, F16) for s in SHORT]
    pairs += [(s, t) for s in (F32, F64) for t in (U32, U64)] + [(U64, F32), (U64, F64)]
    for source, target in dict.fromkeys(pairs):
        args = arguments("cast", (source,))
        made = kernel("cast", (source,), target, args[0].size)
        yield made, args, f"{source} to {target}", slice(None)


@pytest.mark.parametrize("isa", toolchain.LEVELS)
def test_operations_without_the_instructions_of_this_machine(isa):
    """Without builtins, without float16's conversions, and at the scalar level without FMA."""
    backend = harness.variants().get(isa)
    if backend is None:
        pytest.skip(f"this machine lacks {isa}")
    older = ("-mf16c",) if isa != "scalar" else ("-mfma",)
    backends = {
        f"{isa}, portable": with_flags(backend, more=("-DSTAX_PORTABLE=1",)),
        f"{isa} without {older[0]}": with_flags(backend, without=older),
    }
    found = mismatches(list(operations_with_builtins()), backends)
    assert not found, "\n".join(found[:40])


_CLANG = """
import numpy as np, stax_ref as stax
from spec_tests.native.test_compilers import mixed
from stax_native import cache, toolchain
found = toolchain.probe(cache.directory())
assert "clang" in found.version, found
for dtype in (np.float32, np.float64):
    x = np.random.default_rng(0).standard_normal((300, 133)).astype(dtype)
    report = stax.jit(mixed, backend="c").check(x, x[0])
    assert report.ok, report
"""


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
@pytest.mark.parametrize("isa", toolchain.LEVELS)
def test_clang_gives_the_same_bits(isa, tmp_path):
    environment = {"STAX_CC": "clang", "STAX_ISA": isa, "STAX_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _CLANG],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "lacks" in done.stderr and "ConfigError" in done.stderr:
        pytest.skip(f"this machine lacks {isa}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("size", [8, 16])
def test_a_square_beside_its_own_transpose(size):
    """One array at two strides in one loop: gcc 12 dropped the call of such a kernel."""
    a = np.random.default_rng(size).standard_normal((size, size)).astype(np.float32)
    for function in (
        lambda a: np.isclose(a.T, a),
        lambda a: a.T * a + 1,
        lambda a: (a.T - a).astype(np.int8),
    ):
        harness.check(function, a)
