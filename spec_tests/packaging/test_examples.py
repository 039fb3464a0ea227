"""Every function in ``examples`` explains itself and climbs the ladder, from the shell."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


def functions():
    for path in EXAMPLES:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in module.STAX_ARGS:
            yield f"{path}:{name}"


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("target", list(functions()), ids=lambda target: target.rpartition("/")[2])
def test_example(target):
    for command in (["explain"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "stax_ref", *command, target],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "c against nests: equal bits" in done.stdout
