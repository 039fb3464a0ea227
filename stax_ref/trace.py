"""trace: run the user's function once on tracers and write down what it does.

Takes a plain NumPy function and the types of its arguments; gives a ``Graph`` under the user's
names. Not here: the stand-in for an array (``tracer``), what each NumPy function becomes
(``namespace``), specialisation and caching (``jit``).
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import dtypes
from .errors import TraceError, Where
from .graph import Graph, Literal, Operand, Value, simplify
from .tracer import Trace, Tracer

WRAPPER_WORDS = (
    "args",
    "as_strided",
    "arena",
    "assert_size_stride_grouped",
    "call",
    "empty_bytes",
    "empty_strided",
    "launch",
    "view",
    "wrapper",
)
"""Words of the wrapper's text (``plan``), which no value may be called."""


def trace(
    function: Callable[..., Any],
    name: str,
    parameters: Sequence[tuple[str, Any]],
    place: Where | None = None,
) -> Graph:
    """Run ``function`` once on tracers.

    Args:
        function: takes one positional argument per parameter.
        name: name of the graph.
        parameters: per argument its name and either ``("array", shape, dtype, strides)``,
            ``("scalar", python_type)`` or ``("static", value)``.
        place: where the function is defined, for messages about its result.

    Returns:
        the graph, with common subexpressions joined.

    Raises:
        TraceError: the function does something a trace cannot follow; with file, line and text.
    """
    recording = Trace(name)
    arguments: list[Any] = []
    for parameter, spec in parameters:
        if spec[0] == "static":
            arguments.append(spec[1])
            continue
        if spec[0] == "array":
            _, shape, dtype, strides = spec
            tracer = recording.input("array", Value("", tuple(shape), dtype), strides)
        else:
            value = Value("", (), dtypes.scalar_dtype(spec[1]), True)
            tracer = recording.input("scalar", value)
        recording.names[tracer._value.name] = parameter
        arguments.append(tracer)
    result = function(*arguments)
    structure = "single"
    if type(result) in (tuple, list):
        structure = type(result).__name__
    leaves = list(result) if structure != "single" else [result]
    recording.finish()
    outputs = tuple(_output(recording, leaf, place) for leaf in leaves)
    return _named(recording, simplify(_graph(recording, outputs, structure)))


def _output(recording: Trace, leaf: Any, place: Where | None) -> Value:
    if isinstance(leaf, Tracer) and leaf._trace is recording:
        return leaf._value
    if isinstance(leaf, Tracer):
        raise TraceError("the result belongs to another trace", place, "return what you computed")
    if isinstance(leaf, (bool, int, float, np.ndarray, np.generic)):
        raise TraceError(
            "a result does not depend on the traced arguments",
            place,
            "return it from outside the jitted function",
        )
    raise TraceError(
        f"a result of the function is a {type(leaf).__name__}",
        place,
        "return an array, or one flat tuple or list of arrays",
    )


def _graph(recording: Trace, outputs: tuple[Value, ...], structure: str) -> Graph:
    inputs = tuple(
        replace(entry, bounds=recording.bounds.get(entry.value.name)) for entry in recording.inputs
    )
    return Graph(recording.name, inputs, tuple(recording.eqns), outputs, structure)


def _named(recording: Trace, graph: Graph) -> Graph:
    """The graph under the user's names: variables first, then ``out``, then the operation."""
    taken: set[str] = set(WRAPPER_WORDS)
    final: dict[str, str] = {}

    def claim(key: str, wanted: str) -> None:
        base = wanted + "_" if keyword.iskeyword(wanted) else wanted
        name, count = base, 1
        while name in taken:
            name = f"{base}_{count}"
            count += 1
        taken.add(name)
        final[key] = name

    for entry in graph.inputs:
        default = "captured" if entry.kind == "captured" else "argument"
        claim(entry.value.name, recording.names.get(entry.value.name, default))
    anonymous: list[tuple[str, str]] = []
    for eqn in graph.eqns:
        name = recording.names.get(eqn.out.name)
        if name is not None:
            claim(eqn.out.name, name)
        elif eqn.out in graph.outputs:
            claim(eqn.out.name, "out")
        else:
            anonymous.append((eqn.out.name, eqn.label))
    for key, op in anonymous:
        claim(key, op)

    def rename(value: Value) -> Value:
        return replace(value, name=final[value.name])

    def operand(value: Operand) -> Operand:
        return value if isinstance(value, Literal) else rename(value)

    eqns = tuple(
        replace(eqn, out=rename(eqn.out), args=tuple(operand(a) for a in eqn.args))
        for eqn in graph.eqns
    )
    inputs = tuple(replace(entry, value=rename(entry.value)) for entry in graph.inputs)
    outputs = tuple(rename(out) for out in graph.outputs)
    return Graph(graph.name, inputs, eqns, outputs, graph.structure)
