"""What the tests of the native runtime share: a toolchain, a cache of their own, small libraries.

takes: pytest's temporary directories
gives: fixtures; nothing touches the user's cache
holds: one toolchain per session
not here: plans and generated code; the kernels of these tests are written by hand
"""

import ctypes
import gc
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from stax_native import cache, runtime, toolchain
from stax_native.runtime import Program

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """The toolchain of this machine, probed once."""
    directory = tmp_path_factory.mktemp("probe")
    return toolchain.probe(directory)


@pytest.fixture
def cache_dir(tmp_path, monkeypatch):
    """An empty cache directory, and the cache module as it is in a new process."""
    directory = tmp_path / "cache"
    monkeypatch.setenv("STAX_CACHE_DIR", str(directory))
    monkeypatch.setattr(cache, "stats", cache.Stats())
    monkeypatch.setattr(cache, "_stores", {})
    monkeypatch.setattr(cache, "_private", [])
    monkeypatch.setattr(cache, "_warned", [])
    return directory


@pytest.fixture(scope="session")
def library(tools, tmp_path_factory):
    """library(source, openmp=False) -> runtime.Library."""
    directory = tmp_path_factory.mktemp("libraries")

    def build(source, openmp=False):
        path = directory / f"{len(list(directory.iterdir()))}.so"
        toolchain.compile_shared(source, path, tools, openmp)
        return runtime.Library(str(path))

    return build


@pytest.fixture
def start():
    """start(code, *arguments, **environment) -> Popen of a Python process that sees the project."""
    running = []

    def run(code, *arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        )
        running.append(process)
        return process

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def finish(start):
    """finish(code, ...) -> standard output of a process that must end with status 0 in 30 s."""

    def run(code, *arguments, **environment):
        process = start(code, *arguments, **environment)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 0, err
        return out

    return run


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """compiler(shell text) -> path of a compiler that runs this text before it becomes gcc."""

    def write(text, name="mycc"):
        path = tmp_path / name
        path.write_text(f'#!/bin/sh\n{text}\nexec gcc "$@"\n')
        path.chmod(0o755)
        monkeypatch.setenv("STAX_CC", str(path))
        return path

    return write


def answer(path):
    """What the function `answer` of a library returns."""
    return ctypes.CDLL(str(path)).answer()


# Programs on kernels written by hand

KERNELS = """
typedef void *const *table;
int stax_launch_0_serial(table t) { return 0; }
int stax_launch_1_serial(table t) {
    const float *a = t[0], *b = t[1], *c = t[2]; float *out = t[3];
    for (int i = 0; i < 8; i++) out[i] = a[i] * b[i] + c[i];
    return 0;
}
int stax_launch_2_serial(table t) {
    *(double *)t[3] = *(double *)t[0]; *(long long *)t[4] = *(long long *)t[1];
    *(unsigned char *)t[5] = *(unsigned char *)t[2];
    return 0;
}
int stax_launch_3_serial(table t) { for (int i = 0; i < 8; i++) ((float *)t[1])[i] = 2; return 0; }
int stax_launch_4_serial(table t) { return 1; }
int stax_launch_5_serial(table t) { *(float **)t[1] = t[0]; return 0; }
int stax_launch_6_serial(table t) {
    for (volatile long long i = 0; i < *(long long *)t[0]; i++);
    return 0;
}
"""
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
I64 = np.dtype(np.int64)
LARGE = (1 << 20,)  # 4 MiB of float32: in the pool, on huge pages


@pytest.fixture(scope="session")
def launch(library):
    """launch(K) -> a launch step."""
    loaded = library(KERNELS)
    return lambda number: ("launch", loaded.symbol(f"stax_launch_{number}_serial"), 0, 0)


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Every test gives all of its blocks back, whatever it raised."""
    gc.collect()
    before = runtime.pool_stats()["live_blocks"]
    yield
    gc.collect()
    assert runtime.pool_stats()["live_blocks"] == before


def array_input(array, buffer, strides=None, *written):
    return ("array", array.dtype.num, array.dtype.itemsize, array.shape, strides, buffer, *written)


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def fma(launch):
    inputs = tuple(array_input(floats(8), number) for number in range(3))
    return Program(inputs, 4, ((3, F32, (8,)),), (), 0, (launch(1),), True)


def matmul_program(function, launch):
    """x (2x4) goes into the arena doubled by `function`, then to the output by `function`."""
    x, strides = floats(2, 4), (16, 4)
    steps = (
        ("call", function, ((0, F32, (2, 4), strides, 0),), ((1, F32, (2, 4), strides, 0),)),
        launch(0),
        ("call", function, ((1, F32, (4, 2), (4, 16), 0),), ((2, F32, (4, 2), (8, 4), 0),)),
    )
    return Program((array_input(x, 0),), 3, ((2, F32, (4, 2)),), ((1, 64),), 128, steps, True)


def flagged(launch, *steps):
    return Program((), 2, ((1, F32, (8,)), (0, F32, LARGE)), (), 0, steps, False)
