"""What a row computes: each operation of the table as NumPy's function, on values that matter.

takes: ``ops.OPS`` and ``ops.REDUCTIONS``
gives: ``SUBJECTS``: per name the function, its dtypes, and the values its operands get
holds: where an operation is not called as it is named; which operands NumPy refuses
not here: layouts and sizes (``rows``)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import stax_ref as stax
from spec_tests.spec import values
from stax_ref import dtypes, ops

DTYPES = tuple(dtypes.SHORT)
Fill = Callable[[np.dtype, int, int], np.ndarray]
"""Values of a dtype: (dtype, how many, seed) -> a flat array."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One operation as a user calls it.

    Args:
        function: takes the operands.
        op: its name in the table.
        dtypes: the dtypes its operands may have.
        fills: the values of each operand.
        reduces: the axis of a reduction, None for a pointwise operation.
    """

    function: Callable[..., Any]
    op: str
    dtypes: frozenset[np.dtype]
    fills: tuple[Fill, ...]
    reduces: int | None = None


def mixed(dtype: np.dtype, size: int, seed: int) -> np.ndarray:
    """Ordinary and special values."""
    return values.mixed(dtype.type, size, seed)


def ordinary(dtype: np.dtype, size: int, seed: int) -> np.ndarray:
    """Finite values of moderate size."""
    return values.ordinary(dtype.type, size, seed=seed)


def _truth(dtype: np.dtype, size: int, seed: int) -> np.ndarray:
    return values.ordinary(np.bool_, size, seed=seed)


def _counts(dtype: np.dtype, size: int, seed: int) -> np.ndarray:
    """Shift counts on both sides of every width."""
    low = 0 if dtype.kind == "u" else -2
    return np.random.default_rng([seed, size]).integers(low, 70, size).astype(dtype)


def _exponents(dtype: np.dtype, size: int, seed: int) -> np.ndarray:
    """Any exponent for floats; integers refuse negative ones."""
    if dtype.kind == "f":
        return mixed(dtype, size, seed)
    return np.random.default_rng([seed, size]).integers(0, 12, size).astype(dtype)


def _scales(dtype: np.dtype, size: int, seed: int) -> np.ndarray:
    """Powers of two: into the subnormals, beyond the range, and back."""
    return np.random.default_rng([seed, size]).integers(-1100, 1100, size).astype(np.int32)


_SECOND: dict[str, Fill] = {
    "left_shift": _counts,
    "right_shift": _counts,
    "power": _exponents,
    "ldexp": _scales,
}
_CALLS: dict[str, Callable[..., Any]] = {"erf": lambda x: stax.erf(x)}


def _pointwise() -> dict[str, Subject]:
    found = {}
    for name, op in ops.OPS.items():
        legal = frozenset(dtype for dtype in DTYPES if dtype.kind in op.dtypes)
        if name in ("cast", "bitcast"):
            for target in DTYPES:
                found |= _converted(name, target, legal - {target})
            continue
        fills: tuple[Fill, ...] = (mixed,) * op.arity
        if name == "where":
            fills = (_truth, mixed, mixed)
        if name in _SECOND:
            fills = (mixed, _SECOND[name])
        found[name] = Subject(_called(name), name, legal, fills)
    return found


def _converted(name: str, target: np.dtype, legal: frozenset[np.dtype]) -> dict[str, Subject]:
    """To one dtype; the bits of a NaN are free, so bits are looked at in ordinary numbers."""
    if name == "cast":
        return {f"cast to {target}": Subject(lambda x: x.astype(target), name, legal, (mixed,))}
    same = frozenset(d for d in legal if d.itemsize == target.itemsize and target.kind != "b")
    function = lambda x: x.view(target)  # noqa: E731  # beside its sibling
    return {f"bits as {target}": Subject(function, name, same, (ordinary,))} if same else {}


def _called(name: str) -> Callable[..., Any]:
    """The function itself, in a lambda: what is jitted is a Python function."""
    function = _CALLS.get(name) or getattr(np, name)
    return lambda *operands: function(*operands)


def _reductions() -> dict[str, Subject]:
    """Each reduction along both axes; sums and products also in the dtype of their operand."""
    found = {}
    every, numbers = frozenset(DTYPES), frozenset(d for d in DTYPES if d.kind != "b")
    whole = frozenset(d for d in DTYPES if d.kind != "f")
    for name, axis in itertools.product(ops.REDUCTIONS, (0, 1)):
        function = _reduced(name, axis)
        if name in ("sum", "prod"):
            found[f"{name} over {axis}"] = Subject(function, name, every, (ordinary,), axis)
            function = _reduced(name, axis, own=True)
            found[f"{name} over {axis} as it is"] = Subject(
                function, name, numbers, (ordinary,), axis
            )
        else:
            legal = whole if name in ("and", "or", "xor") else every
            found[f"{name} over {axis}"] = Subject(function, name, legal, (mixed,), axis)
    return found


_BY_UFUNC = {
    "fmax": np.fmax,
    "fmin": np.fmin,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Reductions that NumPy has as the method of a ufunc only."""


def _reduced(name: str, axis: int, own: bool = False) -> Callable[..., Any]:
    function = _BY_UFUNC[name].reduce if name in _BY_UFUNC else getattr(np, name)
    if own:
        return lambda x: function(x, axis=axis, dtype=x.dtype)
    return lambda x: function(x, axis=axis)


SUBJECTS: dict[str, Subject] = {**_pointwise(), **_reductions()}
