"""partials: reductions as states that merge, for execution in parts.

Takes the name of a reduction; gives a :class:`Partial`: a part of the elements becomes a state,
adjacent states merge into one, the last state becomes the result. That is what a reduction split
over threads, devices or machines does (seed §6.5). Integer and extreme reductions give the same
bits however they are split; float sums hold the bound of the tree they are merged in. Not here: the
planned order of one kernel (``ops``), nodes (``reducing``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .node import Node
from .ops import (
    OPS,
    REDUCTIONS,
    Reduction,
    accumulator_dtype,
    planned_order,
    reduce_planned,
)

State = tuple[np.ndarray, ...]
"""Arrays of the shape of the kept axes; how many, and of which dtypes, the reduction says."""

_NOWHERE = np.iinfo(np.int64).max


class Partial(Protocol):
    """One reduction in parts. States of neighbours merge; their order is that of the elements."""

    def identity(self, shape: Sequence[int], dtype: np.dtype) -> State:
        """The state of no elements.

        Args:
            shape: shape of the kept axes.
            dtype: dtype of the elements.
        """

    def partial(self, values: np.ndarray, start: int = 0) -> State:
        """The state of one part.

        Args:
            values: array of shape (..., n) whose last axis is reduced; n may be 0.
            start: number of elements before this part.
        """

    def merge(self, a: State, b: State) -> State:
        """The state of two adjacent parts, ``a`` before ``b``."""

    def finish(self, state: State, dtype: np.dtype) -> Any:
        """The result in ``dtype``, of the shape of the kept axes."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A reduction of ``ops.REDUCTIONS``: the state is the result so far; the sum of nothing is -0.

    Args:
        reduction: its combining operation and identity.
        dtype: dtype of accumulation; None for that of the elements.
    """

    reduction: Reduction
    dtype: np.dtype | None = None

    def identity(self, shape: Sequence[int], dtype: np.dtype) -> State:
        kind = self._accumulated(dtype)
        return (np.full(shape, self.reduction.identity(kind), kind),)

    def partial(self, values: np.ndarray, start: int = 0) -> State:
        kind = self._accumulated(values.dtype)
        if not values.shape[-1]:
            return self.identity(values.shape[:-1], values.dtype)
        order = planned_order(kind, True)
        total = reduce_planned(self.reduction.name, values.astype(kind), order, kind)
        return (np.asarray(total),)

    def merge(self, a: State, b: State) -> State:
        return (np.asarray(OPS[self.reduction.combine].numpy(a[0], b[0])),)

    def finish(self, state: State, dtype: np.dtype) -> Any:
        return state[0].astype(dtype)

    def _accumulated(self, dtype: np.dtype) -> np.dtype:
        return accumulator_dtype(self.reduction.name, dtype if self.dtype is None else self.dtype)


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean, variance or standard deviation: the state is (n, mean, sum of squared deviations).

    Two states merge by the update of Chan, Golub and LeVeque (1979), which subtracts means and
    never E[x^2] - E[x]^2.

    Args:
        name: ``mean``, ``var`` or ``std``.
        ddof: what is subtracted from n in the divisor of a variance.
    """

    name: str
    ddof: float = 0

    def identity(self, shape: Sequence[int], dtype: np.dtype) -> State:
        zero = np.zeros(shape, self._accumulated(dtype))
        return np.zeros(shape, np.int64), zero, zero

    def partial(self, values: np.ndarray, start: int = 0) -> State:
        kind, count = self._accumulated(values.dtype), values.shape[-1]
        if not count:
            return self.identity(values.shape[:-1], values.dtype)
        order = planned_order(kind, True)
        values = values.astype(kind)
        mean = np.asarray(reduce_planned("sum", values, order, kind) / kind.type(count))
        away = values - mean[..., None]
        spread = reduce_planned("sum", away * away, order, kind)
        return np.full(mean.shape, count), mean, np.asarray(spread)

    def merge(self, a: State, b: State) -> State:
        kind = a[1].dtype
        count = a[0] + b[0]
        share = (b[0] / np.maximum(count, 1)).astype(kind)
        step = b[1] - a[1]
        mean = np.where(a[0] == 0, b[1], np.where(b[0] == 0, a[1], a[1] + step * share))
        between = np.where((a[0] == 0) | (b[0] == 0), 0, step * step * share * a[0].astype(kind))
        return count, mean.astype(kind), (a[2] + b[2] + between).astype(kind)

    def finish(self, state: State, dtype: np.dtype) -> Any:
        count, mean, spread = state
        with np.errstate(all="ignore"):
            if self.name == "mean":
                return np.where(count == 0, np.nan, mean).astype(dtype)
            variance = spread / np.maximum(count - self.ddof, 0).astype(spread.dtype)
            return (np.sqrt(variance) if self.name == "std" else variance).astype(dtype)

    def _accumulated(self, dtype: np.dtype) -> np.dtype:
        return accumulator_dtype(self.name, dtype if dtype.kind == "f" else np.dtype(np.float64))


@dataclass(frozen=True, slots=True)
class Position:
    """argmax or argmin: the state is (value, index); the first NaN wins, then the first extreme.

    Args:
        name: ``argmax`` or ``argmin``.
    """

    name: str

    def identity(self, shape: Sequence[int], dtype: np.dtype) -> State:
        neutral = REDUCTIONS[self.name.removeprefix("arg")].identity(dtype)
        return np.full(shape, neutral, dtype), np.full(shape, _NOWHERE)

    def partial(self, values: np.ndarray, start: int = 0) -> State:
        if not values.shape[-1]:
            return self.identity(values.shape[:-1], values.dtype)
        index = np.asarray(getattr(np, self.name)(values, axis=-1))
        value = np.take_along_axis(values, index[..., None], axis=-1)[..., 0]
        return value, index + start

    def merge(self, a: State, b: State) -> State:
        nan_a, nan_b = a[0] != a[0], b[0] != b[0]
        better = b[0] > a[0] if self.name == "argmax" else b[0] < a[0]
        later = (b[0] == a[0]) | (nan_a & nan_b)
        second = (nan_b & ~nan_a) | (better & ~nan_a) | (later & (b[1] < a[1]))
        return np.where(second, b[0], a[0]), np.where(second, b[1], a[1])

    def finish(self, state: State, dtype: np.dtype) -> Any:
        if np.any(state[1] == _NOWHERE):
            raise ValueError(f"attempt to get {self.name} of an empty sequence")
        return state[1].astype(dtype)


@dataclass(frozen=True, slots=True)
class LogSumExp:
    """log(sum(exp(x))): the state is (max, sum of exp(x - max)), so that nothing overflows."""

    def identity(self, shape: Sequence[int], dtype: np.dtype) -> State:
        return np.full(shape, -np.inf, dtype), np.zeros(shape, dtype)

    def partial(self, values: np.ndarray, start: int = 0) -> State:
        if not values.shape[-1]:
            return self.identity(values.shape[:-1], values.dtype)
        largest = np.asarray(np.max(values, axis=-1))
        with np.errstate(all="ignore"):
            terms = np.exp(values - _finite(largest)[..., None])
        order = planned_order(values.dtype, True)
        return largest, np.asarray(reduce_planned("sum", terms, order, values.dtype))

    def merge(self, a: State, b: State) -> State:
        largest = np.asarray(np.maximum(a[0], b[0]))
        shift = _finite(largest)
        with np.errstate(all="ignore"):
            scaled = [total * np.exp(highest - shift) for highest, total in (a, b)]
        return largest, np.asarray(scaled[0] + scaled[1])

    def finish(self, state: State, dtype: np.dtype) -> Any:
        with np.errstate(all="ignore"):
            return (np.log(state[1]) + _finite(state[0])).astype(dtype)


def _finite(largest: np.ndarray) -> np.ndarray:
    """What is subtracted: the largest element, 0 where that is no number to subtract."""
    return np.where(np.isfinite(largest), largest, largest.dtype.type(0))


def partial_form(name: str, *, ddof: float = 0, dtype: np.dtype | None = None) -> Partial:
    """A reduction in parts.

    Args:
        name: a name of ``ops.REDUCTIONS``, ``mean``, ``var``, ``std``, ``argmax``, ``argmin`` or
            ``logsumexp``.
        ddof: delta degrees of freedom of a variance.
        dtype: dtype in which a plain reduction accumulates; None for that of the elements.

    Raises:
        KeyError: there is no such reduction.
    """
    if name in ("mean", "var", "std"):
        return Moments(name, ddof)
    if name in ("argmax", "argmin"):
        return Position(name)
    return LogSumExp() if name == "logsumexp" else Plain(REDUCTIONS[name], dtype)


def of_node(node: Node) -> Partial:
    """The reduction that a reduction node carries out, in parts.

    The elements are what the node's body hands to it, in C order of its reduced loops.

    Raises:
        KeyError: the node is no reduction.
    """
    for instr in node.body.instrs:
        if instr.op == "reduce":
            return Plain(REDUCTIONS[instr.kind], instr.dtype)
    raise KeyError(f"{node.name} is no reduction")


def merged(form: Partial, states: Sequence[State]) -> State:
    """States of adjacent parts, merged by adjacent pairs; an odd last one passes up."""
    states = list(states)
    while len(states) > 1:
        pairs = [form.merge(a, b) for a, b in zip(states[::2], states[1::2], strict=False)]
        states = pairs + states[len(pairs) * 2 :]
    return states[0]
