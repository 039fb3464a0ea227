"""recompile: why a jitted function has been compiled as often as it has.

Takes what each program of a function was specialised to; gives, per program, how it differs from
the one before it that is most like it: the argument, what it is and what it was there. Holds the
comparison of dtypes, shapes, strides, static values, structures, values read besides the arguments,
and configurations. Not here: the table of programs (``jit``), what a program does (``explain``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from . import tree
from .arguments import DEFAULT
from .capture import NOTHING
from .config import Config
from .containers import container_of
from .dtypes import short
from .statics import Static
from .tree import Branch, Leaf, Tree

Spec = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """One value a function reads besides its arguments.

    Args:
        place: which global or closure variable, as an identity.
        name: how the function calls it.
        key: two values are equal when their keys are.
        value: what it held.
    """

    place: int
    name: str
    key: Any
    value: Any


@dataclass(frozen=True, slots=True)
class Kind:
    """What one program depends on.

    Args:
        names: of the parameters.
        trees: one per parameter.
        specs: per leaf ``("array", shape, dtype, strides)`` or ``("scalar", type)``.
        reads: the values read besides the arguments.
        config: the configuration.
    """

    names: tuple[str, ...]
    trees: tuple[Tree, ...]
    specs: tuple[Spec, ...]
    reads: tuple[Read, ...]
    config: Config

    @property
    def signature(self) -> str:
        """The arguments with their types: ``x: f32[64,128], n=3``."""
        specs = iter(self.specs)
        return ", ".join(
            f"{name}={_static(shape)}"
            if isinstance(shape, Static)
            else f"{name}: {_typed(shape, specs)}"
            for name, shape in zip(self.names, self.trees, strict=True)
        )


def history(kinds: Sequence[Kind], call: Kind) -> list[str]:
    """One line per program, in the order they were compiled, and one for a call.

    Args:
        kinds: what the programs of one function were specialised to.
        call: what a program for the call at hand depends on.

    Returns:
        lines such as ``2: x has dtype float64 instead of float32 in program 1``; none where the
        function has no program.
    """
    if not kinds:
        return []
    lines = [f"1: {kinds[0].signature or 'no arguments'}"]
    lines += [f"{k + 1}: {reason(kinds[:k], kinds[k])}" for k in range(1, len(kinds))]
    same = [number for number, kind in enumerate(kinds, 1) if not differences(call, kind)]
    return [*lines, f"this call: {f'program {same[0]}' if same else reason(kinds, call)}"]


def announcement(name: str, kinds: Sequence[Kind], call: Kind) -> str:
    """Why a call compiles now: ``softmax, program 2: x has shape ... in program 1``."""
    why = reason(kinds, call) if kinds else call.signature or "no arguments"
    return f"{name}, program {len(kinds) + 1}: {why}"


def reason(earlier: Sequence[Kind], new: Kind) -> str:
    """How a program differs from the earlier one that differs least; of equals, the first."""
    found = [differences(new, old) for old in earlier]
    number = min(range(len(found)), key=lambda k: len(found[k]))
    return f"{', and '.join(found[number])} in program {number + 1}"


def differences(new: Kind, old: Kind) -> list[str]:
    """Every reason why a program for ``old`` is none for ``new``, each with both values."""
    found: list[str] = []
    if new.names != old.names:
        found.append(f"the arguments are ({', '.join(new.names)}) instead of {_tuple(old.names)}")
    else:
        specs, others = iter(new.specs), iter(old.specs)
        for name, shape, other in zip(new.names, new.trees, old.trees, strict=True):
            found += _trees(name, shape, other, specs, others)
    found += _reads(new.reads, old.reads)
    for entry in fields(Config):
        value, other = getattr(new.config, entry.name), getattr(old.config, entry.name)
        if value != other:
            found.append(f"the option {entry.name} is {value!r} instead of {other!r}")
    return found


def _tuple(names: Sequence[str]) -> str:
    return f"({', '.join(names)})"


# arguments ----------------------------------------------------------------------------------------
def _trees(
    path: str, new: Tree, old: Tree, specs: Iterator[Spec], others: Iterator[Spec]
) -> list[str]:
    """Differences of one argument or of a part of it; takes its leaves' specs off both."""
    if isinstance(new, Leaf) and isinstance(old, Leaf):
        return [f"{path} {text}" for text in _specs(next(specs), next(others))]
    if isinstance(new, Static) and isinstance(old, Static):
        if new == old:
            return []
        here, there = _static(new), _static(old)
        again = f"another {there} than" if here == there else f"{here} instead of {there}"
        return [f"{path} is {again}"]
    if isinstance(new, Branch) and isinstance(old, Branch) and _alike(new, old):
        container = container_of(new.kind)
        assert container is not None
        found = []
        for k, (child, other) in enumerate(zip(new.children, old.children, strict=True)):
            step = container.step(new.kind, new.state, k)
            found += _trees(path + step, child, other, specs, others)
        return found
    return [f"{path} is {_typed(new, specs)} instead of {_typed(old, others)}"]


def _alike(new: Branch, old: Branch) -> bool:
    """True for containers that differ in their children alone."""
    return (new.kind, new.state, len(new.children)) == (old.kind, old.state, len(old.children))


def _specs(new: Spec, old: Spec) -> list[str]:
    """Differences of one leaf, without its name."""
    if new == old:
        return []
    if new[0] != "array" or old[0] != "array":
        return [f"is {_leaf(new)} instead of {_leaf(old)}"]
    found = []
    if new[2] != old[2]:
        found.append(f"has dtype {new[2]} instead of {old[2]}")
    if new[1] != old[1]:
        found.append(f"has shape {new[1]} instead of {old[1]}")
    if new[3] != old[3] and (new[1] == old[1] or None in (new[3], old[3])):
        found.append(f"has {_strides(new[3])} instead of {_strides(old[3])}")
    return found


def _strides(strides: tuple[int, ...] | None) -> str:
    return "C order" if strides is None else f"element strides {strides}"


def _typed(shape: Tree, specs: Iterator[Spec]) -> str:
    """A tree with the types of its leaves."""
    if isinstance(shape, Static):
        return _static(shape)
    return tree.text(shape, iter([_leaf(next(specs)) for _ in tree.paths(shape)]))


def _leaf(spec: Spec) -> str:
    if spec[0] == "scalar":
        return f"a Python {spec[1].__name__}"
    return f"{short(spec[2])}[{','.join(map(str, spec[1]))}]"


def _static(known: Static) -> str:
    return f"{_held(known.value)}{' by default' if known.key == DEFAULT else ''}"


# values read besides the arguments ----------------------------------------------------------------
def _reads(new: Sequence[Read], old: Sequence[Read]) -> list[str]:
    before = {(read.place, read.name): read for read in old}
    found = []
    for read in new:
        other = before.pop((read.place, read.name), None)
        if other is None:
            found.append(f"the function reads {read.name} ({_held(read.value)}), which it did not")
        elif other.key != read.key:
            here, there = _held(read.value), _held(other.value)
            again = f"another {there} than" if here == there else f"{here} instead of {there}"
            found.append(f"{read.name}, which the function reads, is {again}")
    gone = before.values()
    return found + [
        f"the function does not read {r.name} ({_held(r.value)}), as it did" for r in gone
    ]


def _held(value: Any) -> str:
    """A value in a few words, without addresses."""
    if value is NOTHING:
        return "nothing"
    if isinstance(value, np.ndarray):
        return f"array {short(value.dtype)}[{','.join(map(str, value.shape))}]"
    named = getattr(value, "__qualname__", None)
    if callable(value) and named is not None:
        return f"the {'class' if isinstance(value, type) else 'function'} {named}"
    return repr(value)
