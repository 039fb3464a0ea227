"""Who may import whom, read from the source.

takes: the source text of stax_ref, stax_native and the backends
gives: a failure for every import that crosses a layer
holds: nothing is imported to find out, so a lazy import on a rare path is seen too
not here: what an import loads at run time (spec_tests/native) and what it costs (bench)

The layers, from design.md section 1: stax_ref knows numpy, and sympy lazily in three places;
stax_native and the backends know stax_ref; a backend knows the public names of stax_native,
and stax_native knows a backend only as a row of its registry. What is looked up at run time
through `import_module` is listed below as doors.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("stax_ref", "stax_native", "spec_tests", "stax_c", "stax_opencl")

SYMPY_PLACES = ("stax_ref/index.py", "stax_ref/affine/", "stax_ref/layout/")

# The doors out of stax_ref. Each is opened by `import_module` where it is used, so that the meaning
# of a program can be read, traced and interpreted without anything behind them.
DOORS = {
    ("stax_ref/jit.py", "stax_native"),  # the dispatcher
    ("stax_ref/staged.py", "stax_native"),  # the registry of backends
    ("stax_ref/ladder.py", "stax_native"),  # recorded results for the native rung
    ("stax_ref/__main__.py", "stax_native"),  # `stax info`
    ("stax_ref/__main__.py", "spec_tests"),  # `stax demo`
}
REGISTRY = "stax_native/backend.py"


@dataclass(frozen=True)
class Import:
    """One imported module: its absolute name, its names, its line.

    `lazy` if it happens when a function runs or for a type checker only; `looked_up` if it is an
    `import_module("name")` and not a statement.
    """

    module: str
    names: tuple[str, ...]
    line: int
    lazy: bool
    looked_up: bool = False

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]


def imports(source: str, package: str) -> Iterator[Import]:
    """Every import in a source text; `package` is what a leading dot means there.

    `import_module("name")` with a literal counts as an import of that name.
    """
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(source), False)]
    while waiting:
        node, lazy = waiting.pop()
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        inside = inside or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        waiting.extend((child, inside) for child in ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name, (), node.lineno, lazy)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            module = node.module or ""
            if node.level:
                module = ".".join([*base, module]).rstrip(".")
            yield Import(module, tuple(name.name for name in node.names), node.lineno, lazy)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (
                Import(argument.value, (), node.lineno, lazy, looked_up=True)
                for argument in node.args[:1]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )


def violations(place: str, source: str) -> list[str]:
    """What a file at `place` (relative to the checkout) imports and must not; empty when clean."""
    parts = Path(place.removeprefix("backends/")).with_suffix("").parts
    layer, package = parts[0], ".".join(parts[:-1])
    found = []
    for item in imports(source, package):
        why = _objection(place, layer, item)
        if why:
            found.append(f"{place}:{item.line}: {item.module}: {why}")
    return sorted(found)


def _objection(place: str, layer: str, item: Import) -> str | None:
    top = item.top
    if top == layer or top in sys.stdlib_module_names:
        return None
    if (place, top) in DOORS:
        opened = item.lazy and item.looked_up
        return None if opened else "a door is opened by import_module, where it is used"
    if top == "sympy":
        if not place.startswith(SYMPY_PLACES):
            return f"sympy belongs to {', '.join(SYMPY_PLACES)}"
        return None if item.lazy else "sympy is loaded lazily, inside a function"
    if layer == "stax_ref":
        return None if top == "numpy" else "stax_ref knows numpy, sympy and the standard library"
    if layer == "stax_native":
        if top in ("stax_ref", "numpy"):
            return None
        return None if place == REGISTRY and item.lazy else "only the registry knows a backend"
    if top == "stax_native":
        insides = [n for n in (*item.module.split("."), *item.names) if n.startswith("_")]
        return f"{insides[0]} is not public" if insides else None
    if top in OURS:
        return None if top == "stax_ref" else "a backend knows stax_ref and stax_native only"
    return None  # a backend may need a library of its own


def source_files() -> list[str]:
    folders = [ROOT / "stax_ref", ROOT / "stax_native", *sorted((ROOT / "backends").glob("stax_*"))]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def test_every_layer_has_files():
    tops = {place.removeprefix("backends/").partition("/")[0] for place in source_files()}
    assert {"stax_ref", "stax_native", "stax_c"} <= tops


@pytest.mark.parametrize("place", source_files())
def test_imports_respect_the_layers(place: str):
    assert violations(place, (ROOT / place).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("stax_ref/fuse.py", "import scipy"),
        ("stax_ref/fuse.py", "def f():\n    import sympy"),
        ("stax_ref/index.py", "import sympy"),
        ("stax_ref/index.py", "from sympy import Symbol"),
        ("stax_ref/fuse.py", "def f():\n    from stax_native import cache"),
        ("stax_ref/jit.py", "import stax_native.backend"),
        ("stax_ref/jit.py", "def f():\n    import stax_native.backend"),
        ("stax_ref/jit.py", "from importlib import import_module\nimport_module('stax_native')"),
        ("stax_ref/plan.py", "from importlib import import_module\nimport_module('stax_c')"),
        ("stax_native/cache.py", "def f():\n    import stax_c"),
        ("stax_native/cache.py", "from spec_tests import demo"),
        ("backends/stax_c/emit.py", "from stax_native.cache import _lock"),
        ("backends/stax_c/emit.py", "import stax_opencl"),
    ],
)
def test_a_crossing_is_seen(place: str, source: str):
    assert len(violations(place, source)) == 1


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("stax_ref/index.py", "def f():\n    import sympy"),
        ("stax_ref/affine/sets.py", "def f():\n    from sympy import Symbol"),
        ("stax_ref/index.py", "if TYPE_CHECKING:\n    import sympy"),
        ("stax_ref/affine/sets.py", "from ..errors import StaxError\nfrom . import maps"),
        ("stax_ref/__main__.py", "def f():\n    importlib.import_module('spec_tests.demo.run')"),
        ("stax_ref/ladder.py", "import importlib, numpy\nfrom stax_ref.ops import OPS"),
        ("stax_native/backend.py", "def f():\n    import_module('stax_c.backend')"),
        ("backends/stax_c/emit.py", "from stax_ref.nest import Nest\nfrom .isa import rows"),
        ("backends/stax_opencl/device.py", "import pyopencl"),
    ],
)
def test_what_is_allowed_passes(place: str, source: str):
    assert violations(place, source) == []


def test_a_dot_means_the_package():
    found = {item.module for item in imports("from . import a\nfrom ..b import c", "x.y")}
    assert found == {"x.y", "x.b"}
