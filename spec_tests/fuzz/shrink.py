"""A failing program made small: fewer outputs and equations, smaller extents, plain arguments.

takes: a program and a predicate that says whether a program still fails
gives: a program on which the predicate holds and no step below makes it smaller
holds: the steps, the most drastic first
not here: what failing means (``run``)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from .programs import Equation, Program, is_valid, trimmed

ATTEMPTS = 150


def shrink(program: Program, fails: Callable[[Program], bool], attempts: int = ATTEMPTS) -> Program:
    """The smallest failing program that the steps reach.

    Args:
        program: one that fails.
        fails: True when a (valid) program fails in the same way.
        attempts: how often ``fails`` may be asked.
    """
    left = attempts
    again = True
    while again and left > 0:
        again = False
        for candidate in steps(program):
            smaller = trimmed(candidate)
            if left <= 0:
                break
            if smaller == program or not is_valid(smaller):
                continue
            left -= 1
            if fails(smaller):
                program, again = smaller, True
                break
    return program


def steps(program: Program) -> Iterator[Program]:
    """Programs one step smaller; some are not valid."""
    yield from _fewer_outputs(program)
    yield from _without_an_equation(program)
    if program.options:
        yield replace(program, options=())
    yield from _smaller_extents(program)
    yield from _plainer_arguments(program)


def _fewer_outputs(program: Program) -> Iterator[Program]:
    if len(program.outputs) > 1:
        for name in program.outputs:
            yield replace(program, outputs=(name,))
    names = [equation.name for equation in program.equations]
    if len(program.outputs) == 1 and program.outputs[0] in names:
        for name in names[: names.index(program.outputs[0])]:
            yield replace(program, outputs=(name,))


def _without_an_equation(program: Program) -> Iterator[Program]:
    """Uses of an equation's name become uses of one of its operands, or of another value."""
    arguments = [argument.name for argument in program.arguments]
    for position, equation in enumerate(program.equations):
        rest = program.equations[:position] + program.equations[position + 1 :]
        for other in dict.fromkeys([*equation.operands, *arguments]):
            if not other.isidentifier():
                continue
            equations = tuple(_renamed(e, equation.name, other) for e in rest)
            outputs = tuple(other if o == equation.name else o for o in program.outputs)
            if not set(outputs) <= set(arguments):
                yield replace(program, equations=equations, outputs=outputs)


def _renamed(equation: Equation, old: str, new: str) -> Equation:
    operands = tuple(new if operand == old else operand for operand in equation.operands)
    return replace(equation, operands=operands)


def _smaller_extents(program: Program) -> Iterator[Program]:
    """One extent replaced wherever it stands, in arguments and in parameters."""
    extents = sorted({e for argument in program.arguments for e in argument.shape}, reverse=True)
    for extent in extents:
        for smaller in (1, 2, 3, extent // 2, extent - 1):
            if 0 < smaller < extent:
                yield with_extent(program, extent, smaller)


def with_extent(program: Program, old: int, new: int) -> Program:
    """The program with every extent ``old`` made ``new``."""
    arguments = tuple(
        replace(a, shape=tuple(new if e == old else e for e in a.shape)) for a in program.arguments
    )
    equations = tuple(
        replace(e, params=_replaced(e.params, old, new))
        if e.op in ("reshape", "broadcast_to")
        else e
        for e in program.equations
    )
    return replace(program, arguments=arguments, equations=equations)


def _replaced(params: Any, old: int, new: int) -> Any:
    if isinstance(params, tuple):
        return tuple(_replaced(part, old, new) for part in params)
    return new if params == old else params


def _plainer_arguments(program: Program) -> Iterator[Program]:
    for position, argument in enumerate(program.arguments):
        changes: list[dict[str, Any]] = []
        if argument.dtype and argument.layout != "contiguous":
            changes.append({"layout": "contiguous"})
        if argument.dtype not in ("", "float32"):
            changes.append({"dtype": "float32"})
        if len(argument.shape) > 1:
            changes += [{"shape": argument.shape[1:]}, {"shape": argument.shape[:-1]}]
        for change in changes:
            arguments = list(program.arguments)
            arguments[position] = replace(argument, **change)
            yield replace(program, arguments=tuple(arguments))
