"""The values of a program that is being made, and the random choices of operands among them.

takes: a random generator, values as they come
gives: names of operands
holds: which constants occur, how large a broadcast may get
not here: operations (``forms``)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

LARGEST = 3000
SCALARS = (0, 1, 2, -3, 7, 0.5, -1.5, 2.0, True)

Params = tuple[Any, ...]
Choice = tuple[tuple[str, ...], Params]


class NoChoiceError(Exception):
    """The operation has no operands among the values so far."""


class Pool:
    """The values of a program so far, and the random choices from them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.values: dict[str, Any] = {}

    def array(self, kinds: str = "fiub", ndim: int = 0) -> str:
        """The name of an array of one of these kinds with at least this many axes; late ones first.

        Raises:
            NoChoiceError: there is none.
        """
        names = [
            name
            for name, value in self.values.items()
            if not isinstance(value, (bool, int, float))
            and value.dtype.kind in kinds
            and value.ndim >= ndim
        ]
        if not names:
            raise NoChoiceError
        weights = [1 + 2 * k for k in range(len(names))]
        return self.rng.choices(names, weights)[0]

    def partner(self, name: str, kinds: str) -> str:
        """Something that broadcasts with a value: another value, a Python scalar, a constant."""
        shape = self.values[name].shape
        names = [
            other
            for other, value in self.values.items()
            if np.asarray(value).dtype.kind in kinds and broadcasts(shape, np.shape(value))
        ]
        if "b" not in kinds or len(kinds) > 1:
            constants = [c for c in SCALARS if np.asarray(c).dtype.kind in kinds]
            names += [repr(self.rng.choice(constants))] if constants else []
        if not names:
            raise NoChoiceError
        return self.rng.choice(names)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a value."""
        return tuple(self.values[name].shape)

    def axis(self, name: str, negative: bool = True) -> int:
        """One of its axes, counted from either end."""
        ndim = self.values[name].ndim
        return self.rng.randrange(-ndim if negative else 0, ndim)


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """The shapes go together, and the result is not too large."""
    try:
        return int(np.prod(np.broadcast_shapes(a, b))) <= LARGEST
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of equation.

    Args:
        choose: operands and parameters from the values so far.
        text: the right-hand side in Python, from operands and parameters; or, where the equation
            is more than one assignment, whole statements about the name ``{}``.
        weight: how often it is tried.
        writes: it changes an array, so it matters even where nothing uses its name.
    """

    choose: Callable[[Pool], Choice]
    text: Callable[[tuple[str, ...], Params], str]
    weight: float = 1.0
    writes: bool = False


def call(name: str) -> Callable[[tuple[str, ...], Params], str]:
    """``np.name(operands, params)``."""
    return lambda operands, params: f"np.{name}({', '.join([*operands, *map(str, params)])})"
