"""The conformance command as the author of a plug-in meets it.

takes: a backend that a package of its own registers through the entry-point group
gives: a failure when such a backend is not found, not run, or a wrong one passes
holds: the smallest backend: the interpreter behind the interface of ``stax_native.backend.Backend``
not here: the tests that the command runs
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spec_tests.__main__ import GROUPS, applicable

ROOT = Path(__file__).resolve().parents[1]

PLUGIN = """
from stax_native.backend import Source
from stax_ref.errors import Unsupported
from stax_ref.staged import run_reference


class Mine:
    name = "mine"

    def emit(self, plan):
        if any(entry.kind == "scalar" for entry in plan.inputs):
            raise Unsupported("mine takes no scalars")
        return Source("python", "", ())

    def load(self, source, plan):
        def run(*arguments):
            result = run_reference(plan, arguments)
            WRONG
            return result

        return run
"""
ENTRY_POINTS = "[stax.backends]\nmine = stax_mine:Mine\n"
METADATA = "Metadata-Version: 2.1\nName: stax-mine\nVersion: 1.0\n"


@pytest.fixture
def conformance(tmp_path):
    """conformance(wrong statement) -> the finished command on the plug-in, and its text."""

    def run(wrong="pass"):
        (tmp_path / "stax_mine.py").write_text(PLUGIN.replace("WRONG", wrong))
        information = tmp_path / "stax_mine-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(METADATA)
        (information / "entry_points.txt").write_text(ENTRY_POINTS)
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-m", "spec_tests", "--backend", "mine", "--tiny"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )

    return run


def test_a_plug_in_is_tried(conformance):
    result = conformance()
    assert result.returncode == 0, result.stdout + result.stderr
    assert "conformance of the backend 'mine'" in result.stdout
    assert "left out native" in result.stdout
    assert "mine takes no scalars" in result.stdout  # what it refuses is told, and is no failure
    assert "backend mine" in result.stdout


def test_a_wrong_plug_in_fails(conformance):
    result = conformance("result = tuple(r + r for r in result)")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "against nests" in result.stdout


def test_an_unknown_backend_is_refused():
    code = [sys.executable, "-m", "spec_tests", "--backend", "nothing"]
    result = subprocess.run(code, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert "there is no backend 'nothing'" in result.stderr


def test_every_group_runs_or_has_a_reason():
    for backend in ("c", "ref", "mine"):
        for tiny in (False, True):
            groups, left_out = applicable(backend, tiny)
            assert {*groups, *left_out} == set(GROUPS)
            assert "tiny" in groups
    assert "native" in applicable("c", False)[0]
    assert "native" not in applicable("mine", False)[0]
