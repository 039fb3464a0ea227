"""The ``stax`` command: explain, show, check and report on functions; info; the demonstration.

    stax explain FILE.py:FUNCTION [--args "f32[64,128] f32[128]"]
    stax show STAGE FILE.py:FUNCTION
    stax check FILE.py:FUNCTION
    stax report FILE.py:FUNCTION [--out page.html]
    stax info
    stax demo [--break]

Takes a function in a file and the types of its arguments; gives text. Argument types come from
``--args``, or from the file's own ``STAX_ARGS = {"function": "f32[64,128]"}``. Not here: any stage.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .compile import TEXTS
from .dtypes import SHORT
from .errors import ConfigError, StaxError
from .jit import Jitted, jit

_TYPE = re.compile(r"(f32|f64|i32|i64|bool)\[([0-9, ]*)\]|(int|float|bool)(?:=(\S+))?|\S+")


def parse_arguments(text: str) -> list[Any]:
    """Random arrays and numbers of the types in a text such as ``f32[64,128] f32[] float=0.5``.

    Raises:
        ConfigError: a word is not a type.
    """
    rng = np.random.default_rng(0)
    dtypes = {name: dtype for dtype, name in SHORT.items()}
    out: list[Any] = []
    for match in _TYPE.finditer(text):
        name, shape, scalar, value = match.groups()
        if name:
            extents = tuple(int(part) for part in shape.replace(" ", "").split(",") if part)
            out.append(_random(rng, extents, dtypes[name]))
        elif scalar:
            kind = {"int": int, "float": float, "bool": bool}[scalar]
            out.append(_number(kind, value) if value else kind(1))
        else:
            raise ConfigError(
                f"{match.group()!r} is not an argument type",
                instead="f32[64,128], i64[3], bool[], float, int=3, separated by blanks",
            )
    return out


def _number(kind: Any, text: str) -> Any:
    value: Any = None
    with contextlib.suppress(ValueError, SyntaxError):
        value = ast.literal_eval(text)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ConfigError(f"{text!r} is no {kind.__name__}", instead=f"{kind.__name__}=1, say")
    return kind(value)


def _random(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "f":
        return rng.random(shape).astype(dtype)
    return rng.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)


def load(target: str) -> tuple[Jitted, str]:
    """The jitted function of ``FILE.py:FUNCTION`` and the argument types its file names.

    Raises:
        ConfigError: there is no such file or function.
    """
    path, _, name = target.rpartition(":")
    if not path.endswith(".py") or not os.path.isfile(path):
        raise ConfigError(
            f"there is no file {path or target!r}", instead="stax explain FILE.py:NAME"
        )
    spec = importlib.util.spec_from_file_location("stax_user_file", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        functions = [k for k, v in vars(module).items() if callable(v) and not k.startswith("_")]
        raise ConfigError(f"{path} has no function {name!r}", instead=", ".join(functions))
    known = getattr(module, "STAX_ARGS", {}).get(name, "")
    return (function if isinstance(function, Jitted) else jit(function)), known


def _target(args: argparse.Namespace) -> tuple[Jitted, list[Any]]:
    function, known = load(args.target)
    text = args.args or known
    if not text:
        raise ConfigError(
            "the types of the arguments are not known",
            instead='--args "f32[64,128] f32[128]", or STAX_ARGS = {...} in the file',
        )
    return function, parse_arguments(text)


def _explain(args: argparse.Namespace) -> int:
    function, values = _target(args)
    print(function.explain(*values))
    return 0


def _show(args: argparse.Namespace) -> int:
    function, values = _target(args)
    staged = function.lower(*values)
    print(staged.compile().source if args.stage == "source" else staged.text(args.stage))
    return 0


def _check(args: argparse.Namespace) -> int:
    function, values = _target(args)
    report = function.check(*values)
    print(report)
    return 0 if report.ok else 1


def _report(args: argparse.Namespace) -> int:
    function, values = _target(args)
    path = args.out or f"{args.target.rpartition(':')[2]}.html"
    try:
        function.report(path, *values)
    except OSError as error:
        raise ConfigError(
            f"the page cannot be written: {error}", instead="--out with another file"
        ) from None
    print(f"wrote {path}")
    return 0


def _info(args: argparse.Namespace) -> int:
    """Versions, compiler, vector level, cache: what a bug report needs."""
    from . import __version__

    print(f"stax {__version__}, numpy {np.__version__}, python {sys.version.split()[0]}")
    try:
        cache = importlib.import_module("stax_native.cache")
        toolchain = importlib.import_module("stax_native.toolchain")
        runtime = importlib.import_module("stax_native.runtime")
        found = toolchain.probe(cache.directory())
    except (ImportError, StaxError) as error:
        print(f"no native backend: {error}")
        return 1
    print(f"compiler {found.cc} ({found.version})")
    print(f"vector level {found.isa}, fma {found.has_fma}, openmp {found.has_openmp}")
    print(f"threads {runtime.threads()}, cache {cache.directory()}")
    return 0


def _demo(args: argparse.Namespace) -> int:
    demo = importlib.import_module("spec_tests.demo.run")
    return int(demo.main(args.rest))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stax", description="compile NumPy functions, and see how"
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> Any:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    for name, run, text in (
        ("explain", _explain, "what was fused, why, what was not and why"),
        ("check", _check, "run every rung of the ladder on random arguments"),
        ("show", _show, "print one stage"),
        ("report", _report, "write one HTML page: graphs, memory, code, timings"),
    ):
        sub = command(name, run, text)
        if name == "show":
            sub.add_argument("stage", choices=[*TEXTS, "source"])
        sub.add_argument("target", metavar="FILE.py:FUNCTION")
        if name == "report":
            sub.add_argument("--out", default="", help="file to write; FUNCTION.html if left out")
        sub.add_argument("--args", default="", help='types, such as "f32[64,128] float=0.5"')
    command("info", _info, "versions, compiler, vector level, cache")
    demo = command("demo", _demo, "three image pipelines on a photograph, checked and timed")
    demo.add_argument("rest", nargs=argparse.REMAINDER, help="see stax demo -h")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["demo"]:
        return _demo(argparse.Namespace(rest=given[1:]))
    args = _parser().parse_args(given)
    try:
        status: int = args.run(args)
    except StaxError as error:
        print(f"stax: {error}", file=sys.stderr)
        return 2
    except Exception as error:  # the user's file and function may raise anything
        print(f"stax: {type(error).__name__}: {error}", file=sys.stderr)
        for line in traceback.format_tb(error.__traceback__)[-2:]:
            print(line.rstrip(), file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    raise SystemExit(main())
