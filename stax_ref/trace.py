"""trace: run the user's function once on tracers and write down what it does.

Takes a plain NumPy function and the types of its arguments; gives a ``Graph`` under the user's
names. Holds what may be returned. Not here: the stand-in for an array (``tracer``), what each NumPy
function becomes (``namespace``), what may be passed (``arguments``), specialisation (``jit``).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import dtypes, tree
from .containers import container_of
from .errors import TraceError, Where
from .graph import Graph, Literal, Operand, Value, simplify
from .intercept import creating
from .made import Made, tracers
from .statics import is_function, is_static, static
from .tracer import Trace, Tracer
from .tree import LEAF, Tree, Unfit

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

NAME_LENGTH = 60
"""Characters of a name made from the place of an array inside an argument."""


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
            ``("scalar", python_type)``, ``("static", value)`` or ``("tree", tree, specs)`` with
            one of the first two per leaf.
        place: where the function is defined, for messages about its result.

    Returns:
        the graph, with common subexpressions joined.

    Raises:
        TraceError: the function does something a trace cannot follow; with file, line and text.
    """
    recording = Trace(name)
    given = [_argument(recording, parameter, spec) for parameter, spec in parameters]
    containers = [
        (parameter, spec[1], value, tree.leaves_of(spec[1], value))
        for (parameter, spec), value in zip(parameters, given, strict=True)
        if spec[0] == "tree"
    ]
    with creating(recording):
        result = function(*given)
    recording.finish()
    for container in containers:
        _unchanged(*container, place)
    outputs, structure = _results(recording, result, place)
    return _named(recording, simplify(_graph(recording, parameters, outputs, structure)))


def _argument(recording: Trace, name: str, spec: tuple[Any, ...]) -> Any:
    """What the function sees in place of one argument."""
    if spec[0] == "static":
        return spec[1]
    if spec[0] == "tree":
        _, shape, specs = spec
        names = [name + path for path in tree.paths(shape)]
        leaves = [_argument(recording, *pair) for pair in zip(names, specs, strict=True)]
        return tree.put_together(shape, iter(leaves))
    if spec[0] == "array":
        _, extents, dtype, strides = spec
        tracer = recording.input("array", Value("", tuple(extents), dtype), strides)
    else:
        value = Value("", (), dtypes.scalar_dtype(spec[1]), True)
        tracer = recording.input("scalar", value)
    recording.names[tracer._value.name] = _identifier(name)
    return tracer


def _identifier(path: str) -> str:
    """``params["layers"][2].weight`` as a name: ``params_layers_2_weight``."""
    if path.isidentifier():
        return path
    name = re.sub(r"\W+", "_", path).rstrip("_")[:NAME_LENGTH]
    return name if name.isidentifier() else f"argument_{name}"


def _unchanged(
    name: str, shape: Tree, value: Any, before: Sequence[Any], place: Where | None
) -> None:
    """Refuse a function that changes a container it was given: the caller's would stay as it is.

    Args:
        name: of the parameter.
        shape: the container's tree.
        value: the container after the call.
        before: its leaves before the call.
        place: where the function is defined.
    """
    try:
        now = tree.leaves_of(shape, value)
    except ValueError as error:
        what = f"{name}{error}"
    else:
        places = zip(tree.paths(shape), before, now, strict=True)
        changed = [path for path, old, new in places if old is not new]
        if not changed:
            return
        what = f"{name}{changed[0]} is another value"
    raise TraceError(
        f"the function changes a container that is its argument: {what} after the call",
        place,
        f"a new container that the function returns, {{**{name}, ...}} for a dict",
    )


def _results(recording: Trace, result: Any, place: Where | None) -> tuple[tuple[Value, ...], Tree]:
    """The traced values in a result, and the rest of it."""

    def judge(value: Any, leaves: list[Any]) -> Tree | None:
        value = tracers(value) if isinstance(value, Made) else value
        if isinstance(value, Tracer):
            if value._trace is not recording:
                raise Unfit("belongs to another trace", "return what you computed")
            leaves.append(value._value)
            return LEAF
        if container_of(type(value)) is not None:
            return None
        if not _is_constant(value):
            kind = type(value).__name__
            objects = isinstance(value, np.ndarray)
            raise Unfit(
                "is an array of objects" if objects else f"is a {kind}",
                "arrays, numbers and strings, in tuples, lists, dicts and dataclasses; or "
                f"stax.register_container({kind}, ...)",
            )
        return static(value)

    outputs: list[Value] = []
    try:
        structure = tree.take_apart(result, judge, outputs)
    except Unfit as error:
        raise TraceError(f"the result{error.path} {error.what}", place, error.instead) from None
    return tuple(outputs), structure


def _is_constant(value: Any) -> bool:
    """True for what may be returned as it is: it can hold no traced array."""
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    if is_function(value):
        return False
    return isinstance(value, (complex, np.generic)) or is_static(value)


def _graph(
    recording: Trace,
    parameters: Sequence[tuple[str, Any]],
    outputs: tuple[Value, ...],
    structure: Tree,
) -> Graph:
    written = recording.written()
    outputs = (*outputs, *(value for _, value in written))
    used = {a.name for eqn in recording.eqns for a in eqn.args if isinstance(a, Value)}
    used |= {out.name for out in outputs}
    inputs = tuple(
        replace(entry, bounds=recording.bounds.get(entry.value.name))
        for entry in recording.inputs
        if entry.kind != "captured" or entry.value.name in used
    )
    arguments = tuple(
        spec[1] if spec[0] == "tree" else LEAF for _, spec in parameters if spec[0] != "static"
    )
    eqns, into = tuple(recording.eqns), tuple(number for number, _ in written)
    return Graph(recording.name, inputs, eqns, outputs, structure, arguments, into)


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
    return replace(graph, inputs=inputs, eqns=eqns, outputs=outputs)
