"""A wheel is built, installed into a fresh environment, and used from there.

takes: the checkout
gives: a failure when the wheel lacks a header or a test, carries a folder it must not carry,
       or does not work away from the checkout
holds: the checkout is not touched: the build runs on a copy
not here: the editable install, which is how scripts/test installed what runs this test

Selected by `-m packaging`, since one build takes about a quarter of a minute.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("stax_ref", "stax_native", "backends", "spec_tests")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside the checkout and give its standard output; a failure shows all."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    left_behind = shutil.ignore_patterns("__pycache__", "*.so", "runtime.c", "*.egg-info")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=left_behind)
    for file in FILES:
        shutil.copy(ROOT / file, source)
    into = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", into, source, cwd=into)
    (built,) = into.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that holds NumPy and the wheel, and nothing else."""
    home = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", home / "venv", cwd=home)
    python = home / "venv" / "bin" / "python"
    # The same NumPy as here, so that nothing but the wheel is under test.
    run(python, "-m", "pip", "install", "-q", f"numpy=={np.__version__}", cwd=home)
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel, cwd=home)
    return python


def in_checkout(folder: str, pattern: str) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(pattern)}


def test_the_top_level_is_ours_alone(names: set[str]):
    tops = {name.partition("/")[0] for name in names}
    packages = {top for top in tops if not top.endswith(".dist-info")}
    backends = {path.name for path in (ROOT / "backends").glob("stax_*")}
    assert packages == {"stax_ref", "stax_native", "spec_tests"} | backends
    assert "backends" not in tops


@pytest.mark.parametrize("folder", ["stax_ref", "stax_native", "spec_tests"])
def test_every_module_is_in_the_wheel(names: set[str], folder: str):
    assert in_checkout(folder, "*.py") <= names


def test_backends_are_packages_of_their_own(names: set[str]):
    modules = {name.removeprefix("backends/") for name in in_checkout("backends", "*.py")}
    assert "stax_c/__init__.py" in modules
    assert modules <= names


def test_data_files_are_in_the_wheel(names: set[str]):
    headers = in_checkout("stax_native", "*.h")
    assert "stax_native/include/stax_simd.h" in headers
    assert headers <= names
    golden = in_checkout("spec_tests/golden", "*.txt") | in_checkout("spec_tests/golden", "*.c")
    assert golden
    assert golden <= names
    assert in_checkout("spec_tests/demo", "*.png") <= names
    assert any(name.startswith("stax_native/runtime.") and name.endswith(".so") for name in names)


def test_no_stray_files(names: set[str]):
    allowed = (".py", ".pyi", ".typed", ".h", ".so", ".txt", ".c", ".png", ".md")
    stray = [n for n in names if ".dist-info/" not in n and not n.endswith(allowed)]
    assert stray == []
    assert "stax_native/runtime.c" not in names


def test_the_command_starts(python: Path, tmp_path: Path):
    stax = python.parent / "stax"
    assert "explain" in run(stax, "--help", cwd=tmp_path)


def test_it_compiles_and_agrees_away_from_the_checkout(python: Path, tmp_path: Path):
    program = tmp_path / "use.py"
    program.write_text(
        "import sys, numpy as np, stax_ref as stax\n"
        "import stax_native, stax_c, spec_tests\n"
        "f = stax.jit(lambda x: x / np.sum(x, axis=-1, keepdims=True), backend='c')\n"
        "x = np.random.default_rng(0).random((64, 128), np.float32)\n"
        "assert f.check(x).ok\n"
        "np.testing.assert_allclose(f(x), x / x.sum(-1, keepdims=True), rtol=1e-5)\n"
        "assert 'sympy' not in sys.modules\n"
        "print(stax.__file__)\n"
    )
    where = run(python, program, cwd=tmp_path).strip()
    assert Path(where).is_relative_to(python.parents[1])
