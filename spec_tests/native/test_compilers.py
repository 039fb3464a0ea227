"""The same bits from the lane-by-lane forms of the vector vocabulary, and from clang.

Takes one program with every kind of loop; gives equal bits against the oracle. The lane-by-lane
forms (``STAX_PORTABLE``) are what a compiler without the builtins of gcc gets; gcc can build them
too, so they are tested everywhere. clang itself is tested where it is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import stax_ref as stax
from stax_c import CBackend
from stax_native import toolchain
from stax_ref import ladder
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
