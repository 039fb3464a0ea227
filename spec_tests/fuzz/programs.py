"""A program as data: arguments, equations, outputs; and as the Python text of a user.

takes: records
gives: source text, the function it defines, argument values, a runnable reproduction
holds: how each operation is written in Python
not here: which programs are made (``generate``), how a failing one gets smaller (``shrink``)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec_tests.harness import Case, quiet
from spec_tests.spec import values

from .forms import ALL
from .pool import Params


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a program.

    Args:
        name: its name.
        dtype: NumPy's name of the dtype; empty for a Python scalar.
        shape: of the array.
        layout: one of ``values.LAYOUTS``, or ``special`` for NaN, infinities and the like.
        seed: of its values; for a Python scalar the value itself.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    layout: str = "contiguous"
    seed: Any = 0

    @property
    def text(self) -> str:
        """The expression that makes it."""
        if not self.dtype:
            return repr(self.seed)
        kind = f"np.{self.dtype}"
        if self.layout == "special":
            size = int(np.prod(self.shape))
            return f"mixed({kind}, {size}, seed={self.seed}).reshape({self.shape})"
        return f'np.asarray(laid_out("{self.layout}", {kind}, {self.shape}, seed={self.seed}))'

    def make(self) -> Any:
        """Its value, the same as of its text."""
        scope = {"np": np, "mixed": values.mixed, "laid_out": values.laid_out}
        return eval(self.text, scope)


@dataclass(frozen=True, slots=True)
class Equation:
    """``name = op(operands, params)``; operands are names, or Python text of a constant."""

    name: str
    op: str
    operands: tuple[str, ...]
    params: Params = ()

    @property
    def lines(self) -> list[str]:
        """Its statements in Python."""
        text = ALL[self.op].text(self.operands, self.params)
        if "{0}" not in text:
            return [f"{self.name} = {text}"]
        return text.format(self.name).splitlines()


@dataclass(frozen=True, slots=True)
class Program:
    """Arguments, equations in order, names of the outputs, fields of ``stax.Config``."""

    arguments: tuple[Argument, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[str, ...]
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def text(self) -> str:
        """The function in Python."""
        names = ", ".join(argument.name for argument in self.arguments)
        lines = [f"def program({names}):"]
        lines += [f"    {line}" for equation in self.equations for line in equation.lines]
        outputs = ", ".join(self.outputs)
        return "\n".join([*lines, f"    return {outputs}", ""])

    def function(self) -> Callable[..., Any]:
        """The function itself."""
        scope: dict[str, Any] = {"np": np}
        exec(compile(self.text, "<fuzz>", "exec"), scope)
        function: Callable[..., Any] = scope["program"]
        return function

    def case(self, label: str = "") -> Case:
        """The case that the harness climbs with."""
        args = tuple(argument.make() for argument in self.arguments)
        return Case(self.function(), args, label, dict(self.options))

    def reproduction(self) -> str:
        """A script that fails as the program does."""
        args = "".join(f"    {argument.text},\n" for argument in self.arguments)
        options = "".join(f"    {name}={value!r},\n" for name, value in self.options)
        return (
            "import numpy as np\n\n"
            "from spec_tests.harness import check\n"
            "from spec_tests.spec.values import laid_out, mixed\n\n\n"
            f"{self.text}\n\n"
            f"check(\n    program,\n{args}{options})\n"
        )


def trimmed(program: Program) -> Program:
    """Without equations that write nothing and arguments, where no output needs them."""
    needed = set(program.outputs)
    kept: list[Equation] = []
    for equation in reversed(program.equations):
        if equation.name in needed or ALL[equation.op].writes:
            kept.append(equation)
            needed |= set(equation.operands)
    used = tuple(argument for argument in program.arguments if argument.name in needed)
    return Program(used, tuple(reversed(kept)), program.outputs, program.options)


def is_valid(program: Program) -> bool:
    """NumPy runs it, something is traced, and it returns arrays of dtypes that Stax carries."""
    if not program.arguments or not program.equations:
        return False
    try:
        with quiet():
            result = program.function()(*(argument.make() for argument in program.arguments))
    except (ValueError, TypeError, IndexError, OverflowError, ZeroDivisionError):
        return False
    leaves = result if isinstance(result, tuple) else (result,)
    return all(isinstance(x, (np.ndarray, np.generic)) and x.dtype.name in NAMES for x in leaves)


NAMES = (
    "float32",
    "float64",
    "int32",
    "int64",
    "bool",
    "float16",
    "int8",
    "int16",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)
