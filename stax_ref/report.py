"""report: printed stages, and the dump folder.

Takes a ``Program`` and a generated source; gives text and files. Holds ``STAX_SHOW`` and
``STAX_DUMP``, and the NumPy script that reproduces a graph. Not here: the texts of the stages,
which their own objects print; what a program costs (``explain``); the page (``page``).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from . import plain
from .calls import Call
from .compile import TEXTS, Program
from .errors import ConfigError
from .graph import Eqn, Graph, Literal, Operand
from .tree import LEAF

BESIDE = ("source", "programs")
"""Words of ``STAX_SHOW`` that are no stage: the generated program, and why it is made."""


def wanted_stages() -> tuple[str, ...]:
    """The words in ``STAX_SHOW``.

    Raises:
        ConfigError: a word is no stage.
    """
    words = tuple(w.strip() for w in os.environ.get("STAX_SHOW", "").split(",") if w.strip())
    for word in words:
        if word not in (*TEXTS, *BESIDE):
            raise ConfigError(
                f"STAX_SHOW={word!r} is not a stage",
                instead="some of " + ", ".join([*TEXTS, *BESIDE]) + ", joined by commas",
            )
    return words


def show_stages(program: Program, source: str) -> None:
    """Print the stages ``STAX_SHOW`` asks for and write the folder of ``STAX_DUMP``.

    A folder that cannot be written gives a warning: diagnosis never makes a call fail.
    """
    for word in wanted_stages():
        if word == "programs":
            continue  # known before anything was compiled: ``show_reason``
        text = source if word == "source" else program.text(word)
        print(f"== {word}\n{text}", file=sys.stderr)
    folder = os.environ.get("STAX_DUMP")
    if not folder:
        return
    try:
        dump(program, source, folder)
    except OSError as error:
        warnings.warn(f"STAX_DUMP={folder}: {error}", RuntimeWarning, stacklevel=2)


def show_reason(text: str) -> None:
    """Print why a function is compiled, where ``STAX_SHOW`` asks for ``programs``."""
    print(f"== programs\n{text}", file=sys.stderr)


def dump(program: Program, source: str, folder: str) -> str:
    """Write one program's stages, source, timings and a script that reproduces it.

    Args:
        program: what every stage made.
        source: the generated program, may be empty.
        folder: where a new folder named after the function is made.

    Returns:
        the path of the new folder.
    """
    os.makedirs(folder, exist_ok=True)
    path = _fresh(os.path.join(folder, program.plan.name))
    for number, word in enumerate(TEXTS, 1):
        _write(path, f"{number:02d}_{word}.txt", program.text(word) + "\n")
    if source:
        _write(path, "source.c", source)
    times = "".join(f"{word:8s} {1e3 * seconds:9.3f} ms\n" for word, seconds in program.seconds)
    _write(path, "timings.txt", times)
    _write(path, "repro.py", reproduction(program.graph))
    return path


def _fresh(base: str) -> str:
    path, count = base, 1
    while True:
        try:
            os.makedirs(path)
        except FileExistsError:
            path = f"{base}_{count}"
            count += 1
        else:
            return path


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def reproduction(graph: Graph) -> str:
    """A script that runs a graph through the ladder on random arguments of the same types."""
    names = [entry.value.name for entry in graph.inputs]
    lines = [
        "import numpy as np",
        "",
        "import stax_ref as stax",
        "",
        *_own_functions(graph),
        "",
        f"def {graph.name}({', '.join(names)}):",
        *("    " + _equation(eqn) for eqn in graph.eqns),
        f"    return {_returned(graph)}",
        "",
        "",
        "rng = np.random.default_rng(0)",
    ]
    for entry in graph.inputs:
        value = entry.value
        if entry.kind == "scalar":
            lines.append(f"{value.name} = {_scalar(value.dtype)}")
            continue
        lines.append(f"{value.name} = {_random(value.shape, value.dtype)}")
        if entry.strides is not None:
            lines.append(f"# the original had element strides {entry.strides}")
    lines += [
        f"report = stax.jit({graph.name}).check({', '.join(names)})",
        "print(report)",
        "raise SystemExit(not report.ok)",
    ]
    return "\n".join(lines) + "\n"


def _own_functions(graph: Graph) -> list[str]:
    """Where the functions given to ``stax.extern`` belong, which no text can repeat."""
    calls = [eqn.param("call") for eqn in graph.eqns if eqn.op == "extern"]
    names = dict.fromkeys(_own_name(call) for call in calls if not call.is_numpy)
    return [f"{name} = ...  # stax.extern of the original, with its result type" for name in names]


def _own_name(call: Call) -> str:
    return call.name if call.name.isidentifier() else "external"


def _call(eqn: Eqn, args: Sequence[str]) -> str:
    """An external call as Python, with the number of its result."""
    call = eqn.param("call")
    text = f"np.{call.text(args)}"
    if not call.is_numpy:
        text = replace(call, name=_own_name(call)).text(args)
    return text if call.count is None else f"{text}[{eqn.param('result')}]"


def _scalar(dtype: np.dtype) -> str:
    return {"f": "0.5", "i": "3", "u": "3", "b": "True"}[dtype.kind]


def _random(shape: tuple[int, ...], dtype: np.dtype) -> str:
    if dtype.kind == "f":
        return f"rng.standard_normal({shape}).astype(np.{dtype})"
    if dtype.kind == "b":
        return f"rng.random({shape}) < 0.5"
    return f"rng.integers(-9, 10, {shape}).astype(np.{dtype})"


def _returned(graph: Graph) -> str:
    """The outputs alone: what a container of the user's holds beside them is not needed."""
    names = [out.name for out in graph.outputs]
    if graph.structure == LEAF:
        return names[0]
    return f"({', '.join(names)}{',' * (len(names) == 1)})"


def _operand(operand: Operand) -> str:
    if isinstance(operand, Literal):
        if operand.dtype == np.bool_:
            return f"np.bool_({bool(operand.value)})"
        value = float(operand.value) if operand.dtype.kind == "f" else int(operand.value)
        text = repr(value) if np.isfinite(value) else f'float("{value}")'
        return f"np.{operand.dtype}({text})"
    return operand.name


def _equation(eqn: Eqn) -> str:
    args = [_operand(a) for a in eqn.args]
    params = dict(eqn.params)
    if eqn.op == "cast":
        return f"{eqn.out.name} = {_cast(eqn, args[0])}"
    if eqn.op in plain.TEXTS:
        return f"{eqn.out.name} = {plain.TEXTS[eqn.op].format(*args)}"
    if eqn.op == "extern":
        return f"{eqn.out.name} = {_call(eqn, args)}"
    if eqn.op == "power" and "exponent" in params:
        return f"{eqn.out.name} = {args[0]} ** {params['exponent']}"
    if eqn.op == "getitem":
        return f"{eqn.out.name} = {args[0]}[{_index_text(params['index'])}]"
    if eqn.op in ("reshape", "broadcast_to"):
        return f"{eqn.out.name} = np.{eqn.op}({args[0]}, {eqn.out.shape})"
    options = [
        f"{name}=np.{value}" if isinstance(value, np.dtype) else f"{name}={value!r}"
        for name, value in params.items()
    ]
    return f"{eqn.out.name} = np.{eqn.op}({', '.join([*args, *options])})"


def _cast(eqn: Eqn, argument: str) -> str:
    operand = eqn.args[0]
    if not isinstance(operand, Literal) and operand.weak:
        return f"{argument} * np.ones((), np.{eqn.out.dtype})"
    return f"{argument}.astype(np.{eqn.out.dtype})"


def _index_text(index: Sequence[object]) -> str:
    parts = []
    for entry in index:
        if isinstance(entry, tuple):
            start, step, count = entry
            if count == 0:
                parts.append("0:0")
                continue
            stop = start + step * count
            parts.append(f"{start}:{stop if stop >= 0 else ''}:{step}")
        else:
            parts.append(str(entry))
    return ", ".join(parts) + ("," if len(parts) == 1 else "")
