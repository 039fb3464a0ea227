"""What the tests of the native runtime share: a toolchain, a cache of their own, small libraries.

takes: pytest's temporary directories
gives: fixtures; nothing touches the user's cache
holds: one toolchain per session
not here: plans and generated code; the kernels of these tests are written by hand
"""

import ctypes
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from stax_native import cache, runtime, toolchain

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
