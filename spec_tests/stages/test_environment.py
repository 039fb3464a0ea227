"""What the environment variables do, what an import costs, and the command line.

takes: processes and patched environments
gives: a failure when a variable is ignored, or sympy is loaded on an ordinary path
holds: every file of the dump folder; the script in it runs
not here: compiler and cache variables (``native``), nonsense in variables (``errors``)
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import stax_ref as stax
from stax_native.runtime import launch_counts
from stax_ref.compile import TEXTS
from stax_ref.errors import InvariantError

ROOT = Path(__file__).resolve().parents[2]
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def run(code: str, *arguments: object, status: int = 0, **environment: object):
    """A Python process; gives the finished process, whose exit status must be ``status``."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, **{k: str(v) for k, v in environment.items()}},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


def shell(*words: object, status: int = 0, **environment: object):
    """The ``stax`` command."""
    done = subprocess.run(
        [sys.executable, "-m", "stax_ref", *map(str, words)],
        env={**os.environ, **{k: str(v) for k, v in environment.items()}},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


def launches() -> int:
    return sum(launch_counts().values())


# STAX_SHOW ---------------------------------------------------------------------------------------
def test_show_prints_the_stages_asked_for(monkeypatch, capsys):
    monkeypatch.setenv("STAX_SHOW", "fuse, memory,source")
    stax.jit(lambda x: np.exp(x) + 0.125, backend="c")(X)
    shown = capsys.readouterr()
    assert shown.out == ""
    heads = [line for line in shown.err.splitlines() if line.startswith("== ")]
    assert heads == ["== fuse", "== memory", "== source"]
    assert "static void k0" in shown.err


@pytest.mark.parametrize("word", TEXTS)
def test_show_knows_every_stage(word, monkeypatch, capsys):
    monkeypatch.setenv("STAX_SHOW", word)
    f = stax.jit(lambda x: np.exp(x) + 0.125, backend="c")
    f(X)
    text = f.lower(X).text(word)
    assert f"== {word}\n{text}\n" in capsys.readouterr().err


def test_show_works_for_the_interpreter_too(monkeypatch, capsys):
    monkeypatch.setenv("STAX_SHOW", "plan")
    stax.jit(lambda x: np.exp(x), backend="ref")(X)
    assert "== plan" in capsys.readouterr().err


# STAX_DUMP ---------------------------------------------------------------------------------------
def dumped(tmp_path, monkeypatch, function, *arguments, backend="c") -> Path:
    monkeypatch.setenv("STAX_DUMP", str(tmp_path / "dump"))
    stax.jit(function, backend=backend)(*arguments)
    (folder,) = (tmp_path / "dump").iterdir()
    return folder


def softmax(x, shift, mask):
    top = np.max(x, axis=-1, keepdims=True)
    e = np.where(mask, np.exp(x - top + shift), 0)
    return e / np.sum(e, axis=-1, keepdims=True), x[1:, ::-1], [1.5] * x.reshape(-1)[0]


def test_dump_has_every_file_of_the_design(tmp_path, monkeypatch):
    folder = dumped(tmp_path, monkeypatch, softmax, X, 0.5, X > 3)
    names = sorted(path.name for path in folder.iterdir())
    stages = [f"{number:02d}_{word}.txt" for number, word in enumerate(TEXTS, 1)]
    assert names == [*stages, "repro.py", "source.c", "timings.txt"]
    assert folder.name == "softmax"
    staged = stax.jit(softmax).lower(X, 0.5, X > 3)
    for number, word in enumerate(TEXTS, 1):
        text = (folder / f"{number:02d}_{word}.txt").read_text()
        assert text == staged.text(word) + "\n"
    for word in list(TEXTS)[1:]:
        assert word in (folder / "timings.txt").read_text()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (softmax, (X, 0.5, X > 3)),
        (lambda x, n: (x // n, x % 3, x.sum()), (X.astype(np.int64), 2)),
        (lambda x: [x.T @ x, np.var(x, 0), x**3], (X,)),
    ],
    ids=["softmax", "integers", "matmul"],
)
def test_the_reproduction_runs(function, arguments, tmp_path, monkeypatch):
    folder = dumped(tmp_path, monkeypatch, function, *arguments)
    monkeypatch.delenv("STAX_DUMP")
    done = run("import runpy, sys; runpy.run_path(sys.argv[1])", folder / "repro.py")
    assert "FAIL" not in done.stdout
    assert "ok" in done.stdout


def test_a_second_dump_gets_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("STAX_DUMP", str(tmp_path))
    f = stax.jit(softmax, backend="ref")
    f(X, 0.5, X > 3)
    f(X[:2], 0.5, X[:2] > 3)
    assert len(list(tmp_path.iterdir())) == 2


# STAX_CHECK and STAX_BACKEND ---------------------------------------------------------------------
def test_check_3_catches_a_wrong_kernel(monkeypatch):
    """A backend that prints something else: its result never reaches the caller."""
    from stax_c import CBackend

    original = CBackend.emit

    def wrong(self, plan):
        from dataclasses import replace

        source = original(self, plan)
        return replace(source, text=source.text.replace("+ splat_", "- splat_"))

    monkeypatch.setenv("STAX_CHECK", "3")
    f = stax.jit(lambda x: x + 0.375, backend="c")
    for _ in range(3):
        np.testing.assert_array_equal(f(X), X + 0.375)
    monkeypatch.setattr(CBackend, "emit", wrong)
    g = stax.jit(lambda x: x + 0.625, backend="c")
    for _ in range(2):
        with pytest.raises(InvariantError, match=r"STAX_CHECK=3.*12 of 12 elements differ"):
            g(X)
    monkeypatch.setenv("STAX_CHECK", "1")
    np.testing.assert_array_equal(g(X), X - 0.625)


def test_check_3_compares_every_call(monkeypatch):
    from stax_ref import ladder

    calls = []
    original = ladder.demand
    monkeypatch.setattr(ladder, "demand", lambda *a: (calls.append(1), original(*a)))
    f = stax.jit(lambda x: x + 0.875, backend="c")
    f(X)
    assert calls == []
    with stax.configured(check=3):
        for count in range(1, 4):
            f(X)
            assert len(calls) == count
    f(X)
    assert len(calls) == 3


@pytest.mark.parametrize(("backend", "native"), [("ref", 0), ("c", 2), ("auto", 2)])
def test_backend(backend, native, monkeypatch):
    monkeypatch.setenv("STAX_BACKEND", backend)
    before = launches()
    f = stax.jit(lambda x: x + 1.125)
    for _ in range(2):
        np.testing.assert_array_equal(f(X), X + 1.125)
    assert launches() == before + native


def test_the_decorator_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("STAX_BACKEND", "ref")
    before = launches()
    stax.jit(lambda x: x + 1.125, backend="c")(X)
    assert launches() == before + 1


NO_COMPILER = """
import warnings
import numpy as np, stax_ref as stax
f = stax.jit(lambda x: x + 1)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for k in range(1, 4):
        assert (f(np.zeros(k, np.float32)) == 1).all()
assert [w.category for w in seen] == [RuntimeWarning], [str(w.message) for w in seen]
assert "interpreter" in str(seen[0].message)
assert stax.fallbacks() == 3
try:
    stax.jit(lambda x: x + 1, backend="c")(np.zeros(3))
except stax.BackendError as error:
    print("refused:", error)
"""


def test_without_a_compiler_auto_warns_once_and_counts(tmp_path):
    done = run(NO_COMPILER, STAX_CC="/nonexistent/cc", STAX_CACHE_DIR=tmp_path)
    assert "refused:" in done.stdout, "a forced backend never falls back"


# what an import and a compile load ---------------------------------------------------------------
LOADED = """
import sys
import numpy as np
import stax_ref as stax
assert "sympy" not in sys.modules, "import"
stages = {"stax_ref.fuse", "stax_ref.lower", "stax_ref.nesting", "stax_ref.report"}
f = stax.jit(lambda x: x / np.sum(x, -1, keepdims=True), backend="c")
x = np.ones((8, 32), np.float32)
f(x)
f(x)
assert "sympy" not in sys.modules, "compile"
from stax_native import cache
print(cache.stats.misses, cache.stats.hits)
"""


def test_sympy_is_loaded_by_neither_import_nor_compile_nor_cache_hit(tmp_path):
    first = run(LOADED, STAX_CACHE_DIR=tmp_path)
    second = run(LOADED, STAX_CACHE_DIR=tmp_path)
    assert first.stdout.split() == ["1", "0"]
    assert second.stdout.split() == ["0", "1"]


def test_an_import_loads_only_numpy_and_the_standard_library():
    done = run(
        """
        import sys, numpy
        before = set(sys.modules)
        import stax_ref
        new = {name.split(".")[0] for name in set(sys.modules) - before}
        print(*sorted(n for n in new if n not in sys.stdlib_module_names and n != "numpy"))
        """
    )
    assert set(done.stdout.split()) <= {"stax_ref", "stax_native", "_cython_3_0", "cython_runtime"}


# the command line --------------------------------------------------------------------------------
@pytest.fixture
def user_file(tmp_path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(
        textwrap.dedent(
            """
            import numpy as np
            import stax_ref as stax

            STAX_ARGS = {"rows": "f32[16,64]"}

            def rows(x):
                return x / np.sum(x, axis=-1, keepdims=True)

            @stax.jit
            def scaled(x, s):
                return np.exp(x) * s
            """
        )
    )
    return path


def test_stax_explain(user_file):
    text = shell("explain", f"{user_file}:rows").stdout
    assert "rows(x: f32[16,64])" in text
    assert "1 kernel" in text
    assert "mine.py:8" in text
    assert "fuse" in text


def test_stax_explain_with_arguments(user_file):
    done = shell("explain", f"{user_file}:scaled", "--args", "f64[3, 5] float=2.5")
    assert "scaled(x: f64[3,5], s: f64[])" in done.stdout


@pytest.mark.parametrize("stage", [*TEXTS, "source"])
def test_stax_show(stage, user_file, capsys):
    from stax_ref.__main__ import main

    assert main(["show", stage, f"{user_file}:rows"]) == 0
    shown = capsys.readouterr().out
    assert len(shown) > 10
    assert ("static void k0" in shown) == (stage == "source")


def test_stax_check(user_file):
    assert "FAIL" not in shell("check", f"{user_file}:rows").stdout


def test_stax_info():
    text = shell("info").stdout
    for word in ("stax", "numpy", "python", "compiler", "vector level", "cache"):
        assert word in text


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["explain", "{file}:nothing"], "has no function 'nothing'"),
        (["explain", "{file}x:rows"], "there is no file"),
        (["explain", "{file}"], "there is no file"),
        (["explain", "{file}:scaled"], "types of the arguments are not known"),
        (["explain", "{file}:rows", "--args", "f16[3]"], "'f16[3]' is not an argument type"),
    ],
)
def test_what_the_command_refuses(words, complaint, user_file, capsys):
    from stax_ref.__main__ import main

    assert main([word.replace("{file}", str(user_file)) for word in words]) == 2
    shown = capsys.readouterr()
    assert complaint in shown.err
    assert "instead: " in shown.err
