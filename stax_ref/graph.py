"""``Graph``: the traced function as a flat SSA list of array equations.

Takes what ``trace`` records; gives frozen records, their text and their checks. Holds one equation
per NumPy call the user wrote, each with shape, dtype and the user's file and line. Flat lists, not
object trees: printing is a loop and equality is linear. Not here: loops, indices, kernels
(``node``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .dtypes import short
from .errors import InvariantError, Where
from .tree import LEAF, Tree, is_flat
from .tree import text as tree_text

Params = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Value:
    """One array of the graph; ``weak`` marks a Python scalar (NEP 50)."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    weak: bool = False

    @property
    def type_text(self) -> str:
        """``f32[64,128]``."""
        return f"{short(self.dtype)}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant operand, already in the dtype of the operation; floats compare by their bits."""

    bits: bytes
    dtype: np.dtype

    @property
    def value(self) -> Any:
        """The constant as a NumPy scalar."""
        return np.frombuffer(self.bits, self.dtype)[0]

    def __str__(self) -> str:
        return str(self.value)


def literal(value: Any, dtype: np.dtype) -> Literal:
    """The constant ``value`` in ``dtype``."""
    return Literal(np.asarray(value, dtype=dtype).tobytes(), dtype)


Operand = Value | Literal


@dataclass(frozen=True, slots=True)
class Eqn:
    """``out = op(args, **params)``, written at ``where``."""

    out: Value
    op: str
    args: tuple[Operand, ...]
    params: Params = ()
    where: Where | None = field(default=None, compare=False)

    def param(self, name: str) -> Any:
        """The parameter of this name."""
        return dict(self.params)[name]

    @property
    def label(self) -> str:
        """What its result is called when the user gave it no name."""
        if self.op == "extern":
            return str(self.param("call").label(self.param("result")))
        return self.op

    def __str__(self) -> str:
        if self.op == "extern":
            call, names = self.param("call"), [str(getattr(a, "name", a)) for a in self.args]
            part = "" if call.count is None else f"[{self.param('result')}]"
            return f"{self.out.name}: {self.out.type_text} = extern {call.text(names)}{part}"
        args = ", ".join(a.name if isinstance(a, Value) else str(a) for a in self.args)
        params = "".join(f"  {name}={value}" for name, value in self.params)
        return f"{self.out.name}: {self.out.type_text} = {self.op} {args}{params}"


@dataclass(frozen=True, slots=True)
class Input:
    """One input of the graph.

    Args:
        value: its name, shape and dtype.
        kind: ``"array"``, ``"scalar"`` (a Python scalar passed by the caller) or ``"captured"``.
        strides: element strides of the array that came, None when it is C-contiguous.
        bounds: for integer scalars, the values every partner's dtype can hold, inclusive.
        array: the captured array itself; it is read again at each call.
    """

    value: Value
    kind: str
    strides: tuple[int, ...] | None = None
    bounds: tuple[int, int] | None = None
    array: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Graph:
    """Inputs, equations in program order and outputs.

    ``structure`` is the tree of the result, with the outputs as leaves; ``arguments`` are the trees
    of the arguments, with the inputs that are not captured as leaves. ``written`` are the numbers
    of the inputs that the function writes into: what they hold at its end are the last outputs,
    which are no leaves of the result.
    """

    name: str
    inputs: tuple[Input, ...]
    eqns: tuple[Eqn, ...]
    outputs: tuple[Value, ...]
    structure: Tree = LEAF
    arguments: tuple[Tree, ...] = ()
    written: tuple[int, ...] = ()

    def check(self) -> None:
        """Every operand is defined before its use and every name is defined once.

        Raises:
            InvariantError: with the equation and its neighbours.
        """
        known = {entry.value.name for entry in self.inputs}
        for position, eqn in enumerate(self.eqns):
            missing = [a.name for a in eqn.args if isinstance(a, Value) and a.name not in known]
            if missing or eqn.out.name in known:
                around = self.eqns[max(0, position - 5) : position + 5]
                text = "\n".join(("> " if e is eqn else "  ") + str(e) for e in around)
                what = f"{missing[0]} is not defined" if missing else f"{eqn.out.name} twice"
                raise InvariantError(f"graph {self.name}: {what} in\n{text}")
            known.add(eqn.out.name)
        for out in self.outputs:
            if out.name not in known:
                raise InvariantError(f"graph {self.name}: output {out.name} is not defined")

    def __str__(self) -> str:
        heads = []
        for entry in self.inputs:
            text = f"{entry.value.name}: {entry.value.type_text}"
            if entry.kind != "array":
                text = f"{entry.kind} {text}"
            if entry.strides is not None:
                text += f" strides {entry.strides}"
            heads.append(text)
        names = [out.name for out in self.outputs]
        flat = is_flat(self.structure) and names
        outs = ", ".join(names) if flat else tree_text(self.structure, iter(names))
        if self.written:
            kept = len(names) - len(self.written)
            outs = tree_text(self.structure, iter(names[:kept]))
            into = zip(self.written, names[kept:], strict=True)
            outs += "".join(f"; {self.inputs[n].value.name}[...] = {name}" for n, name in into)
        lines = [f"graph {self.name}({', '.join(heads)}) -> {outs}"]
        width = max((len(str(eqn)) for eqn in self.eqns), default=0)
        for eqn in self.eqns:
            place = f"  # {eqn.where.short}" if eqn.where is not None else ""
            lines.append(f"  {eqn!s:<{width}}{place}" if place else f"  {eqn}")
        return "\n".join(lines)


def simplify(graph: Graph) -> Graph:
    """Common subexpressions joined and unused equations dropped (frontend CSE, Example 7.2).

    Returns the same object when nothing changed.
    """
    replaced: dict[str, Value] = {}
    seen: dict[tuple[Any, ...], Value] = {}
    kept: list[Eqn] = []
    for eqn in graph.eqns:
        args = tuple(replaced.get(a.name, a) if isinstance(a, Value) else a for a in eqn.args)
        key = (eqn.op, args, eqn.params, eqn.out.shape, eqn.out.dtype)
        if key in seen:
            replaced[eqn.out.name] = seen[key]
            continue
        seen[key] = eqn.out
        kept.append(eqn if args == eqn.args else Eqn(eqn.out, eqn.op, args, eqn.params, eqn.where))
    outputs = tuple(replaced.get(out.name, out) for out in graph.outputs)
    needed = {out.name for out in outputs}
    live: list[Eqn] = []
    for eqn in reversed(kept):
        if eqn.out.name in needed:
            live.append(eqn)
            needed |= {a.name for a in eqn.args if isinstance(a, Value)}
    eqns = tuple(reversed(live))
    if eqns == graph.eqns and outputs == graph.outputs:
        return graph
    return replace(graph, eqns=eqns, outputs=outputs)
