"""README.md tells the truth: its example prints what it says, and what it names exists.

takes: README.md of the checkout
gives: a failure when the example's output, a file, a variable or a stage has changed
holds: measured distances are not compared, since they follow NumPy's version
not here: the two set-up commands, which .ci/run executes
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.compile import TEXTS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCES = ("stax_ref", "stax_native", "backends")
WRITTEN = {"repro.py"}  # what Stax writes for a user


def block(language: str, words: str = "") -> str:
    """The first block of README.md in this language that holds these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    found = [text for text in blocks if words in text]
    assert found, f"README.md has no {language} block with {words!r}"
    return found[0]


def without_distances(text: str) -> str:
    return re.sub(r"(difference|bound) [0-9.e+-]+", r"\1 …", text).rstrip()


def test_the_example_prints_what_the_readme_says(tmp_path: Path):
    (tmp_path / "example.py").write_text(block("python"), encoding="utf-8")
    command = [sys.executable, "-W", "error", "example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert without_distances(done.stdout) == without_distances(block("text"))


def test_the_model_is_called_with_what_the_readme_names():
    code = block("python", "def forward")
    words = {"__name__": __name__, "np": np, "stax": stax}
    exec(compile(code, "model.py", "exec"), words)
    layers = [words["Layer"](np.eye(3), np.ones(3)), words["Layer"](np.eye(3), np.zeros(3), "relu")]
    x = np.arange(6.0).reshape(2, 3)
    got = words["forward"]({"layers": layers, "scale": 2.0}, x)
    assert list(got) == ["logits", "layers"]
    assert got["layers"] == 2
    np.testing.assert_allclose(got["logits"], np.tanh(x + 1) * 2, rtol=1e-14)


def test_the_function_of_ones_own_is_called():
    code = block("python", "def loudest")
    words = {"__name__": __name__, "np": np, "stax": stax}
    exec(compile(code, "own.py", "exec"), words)
    x = np.sin(np.arange(64.0))
    expected = np.max(np.abs(np.fft.rfft(x * np.hanning(64))))
    np.testing.assert_allclose(words["loudest"](x), expected, rtol=1e-12)


def test_every_named_file_exists():
    named = set(re.findall(r"`([\w./]+/[\w.]+|\w+\.py)`", README)) - WRITTEN
    assert len(named) > 10
    assert [n for n in named if not any((ROOT / top / n).exists() for top in ("", *SOURCES))] == []


def test_every_variable_is_named_and_read():
    named = set(re.findall(r"`(STAX_[A-Z_]+)`", README))
    read = set()
    for folder in SOURCES:
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            read |= set(re.findall(r"environ(?:\.get\(|\[)\s*\"(STAX_[A-Z_]+)\"", text))
    assert named == read


def test_every_picture_exists_and_is_small():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert "docs/report.png" in pictures
    for path in pictures:
        assert (ROOT / path).stat().st_size < 150_000, path


def test_the_page_of_the_picture_is_written_by_the_command_the_readme_names(tmp_path: Path):
    (target,) = re.findall(r"`stax report (examples/\S+)`", README)
    out = tmp_path / "page.html"
    command = [sys.executable, "-m", "stax_ref", "report", target, "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "<h1>softmax(x: f32[64,128])</h1>" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("stage", TEXTS)
def test_every_stage_is_named(stage: str):
    assert f"`{stage}`" in README
