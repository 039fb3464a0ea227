"""Python's operators on traced arrays: each is a call of NumPy's ufunc.

Takes operands, at least one of them traced; gives what the ufunc records. Holds the table of
operators. Python's operators keep Python numbers weak, where a call of NumPy makes NumPy scalars of
them. Not here: what a ufunc becomes (``functions``), writing (``functions.assign``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "matmul": np.matmul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "divmod": np.divmod,
}
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}


class Operators:
    """The operators of a traced array, which has its recording in ``_trace``."""

    __slots__ = ()
    _trace: Any

    def __pow__(self, other: Any) -> Any:
        from .functions import namespace

        return namespace.power(self._trace, self, other, operator=True)

    def __rpow__(self, other: Any) -> Any:
        from .functions import namespace

        return namespace.power(self._trace, other, self, operator=True)


def _called(ufunc: Any, *operands: Any) -> Any:
    """A ufunc on at least one traced array, as an operator calls it."""
    from .functions import namespace
    from .made import tracers

    operands = tracers(operands)
    recording = next(o._trace for o in operands if isinstance(o, Operators))
    return namespace.call_ufunc(recording, ufunc, "__call__", operands, {}, by_operator=True)


def _binary(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: _called(ufunc, self, other)


def _reflected(ufunc: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: _called(ufunc, other, self)


def _unary(ufunc: Any) -> Callable[[Any], Any]:
    return lambda self: _called(ufunc, self)


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        from .functions import assign

        return assign.in_place(self, getattr(self, f"__{name}__")(other), name)

    return method


for _name, _ufunc in BINARY.items():
    setattr(Operators, f"__{_name}__", _binary(_ufunc))
    setattr(Operators, f"__r{_name}__", _reflected(_ufunc))
for _name, _ufunc in COMPARE.items():
    setattr(Operators, f"__{_name}__", _binary(_ufunc))
for _name, _ufunc in UNARY.items():
    setattr(Operators, f"__{_name}__", _unary(_ufunc))
for _name in (*BINARY, "pow"):
    if _name != "divmod":
        setattr(Operators, f"__i{_name}__", _in_place(_name))
