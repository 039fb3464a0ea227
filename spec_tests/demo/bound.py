"""How far a compiled pipeline may lie from plain NumPy: a running error analysis.

takes: a NumPy function and its arrays
gives: NumPy's own result and, for every element, how far Stax's result may lie from it
holds: nothing is guessed; a chain of IEEE operations gets the bound 0, so it must be identical
not here: comparing (run.py); the words and the contract (semantics.md section 2)

The function is run once on arrays that carry NumPy's value v and a bound e, |stax - v| <= e.
Both sides round the exact result of their own operands, so an operation passes on what the
operands differ by (the mean value theorem), plus, where they do differ, one unit in the last
place for two roundings to nearest. Differences are born in two places only: a float sum, whose
two orders each lie within γ(depth)·Σ|x| of the exact sum, and an elementary function, where
each side lies within its published number of units in the last place.

Sources: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, sections 3.1 and
4.2 (γ and summation trees); NumPy's documentation states at most 4 units in the last place for
its float32 functions; Stax's are stated in `stax_ref.elementary.ULP`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from stax_ref.elementary import ULP
from stax_ref.ops import planned_order

NUMPY_ULP = 4.0


def with_bound(function: Callable[..., Any], *arrays: np.ndarray) -> tuple[Bounded, ...]:
    """Run `function` on float arrays; each of its results as a `Bounded`.

    Raises TypeError for a NumPy function that has no rule here.
    """
    results = function(*(Bounded(array, np.zeros(array.shape)) for array in arrays))
    return results if isinstance(results, tuple) else (results,)


class Bounded(NDArrayOperatorsMixin):
    """An array and how far the other side's array may lie from it.

    `value` is what NumPy computes. `error` has its shape: float64, or for a boolean value
    whether the other side may have decided differently.
    """

    def __init__(self, value: np.ndarray, error: np.ndarray) -> None:
        self.value, self.error = value, error

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def __getitem__(self, key: Any) -> Bounded:
        return Bounded(self.value[key], self.error[key])

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        rule = UFUNCS.get(ufunc)
        if rule is None or method != "__call__" or options:
            raise TypeError(f"the error analysis has no rule for {ufunc.__name__}")
        value = np.asarray(ufunc(*(i.value if isinstance(i, Bounded) else i for i in inputs)))
        return Bounded(value, np.asarray(rule(value, *map(_bounded, inputs))))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        rule = FUNCTIONS.get(function)
        if rule is None:
            raise TypeError(f"the error analysis has no rule for {function.__name__}")
        return rule(*args, **options)


def _bounded(operand: Any) -> Bounded:
    """An operand as float64 value and error; a constant is the same on both sides."""
    if isinstance(operand, Bounded):
        return Bounded(operand.value.astype(np.float64), operand.error)
    return Bounded(np.float64(operand), np.float64(0))


def _rounded(value: np.ndarray, passed_on: np.ndarray, ulps: float = 1.0) -> np.ndarray:
    """What the operands pass on, plus the roundings of both sides."""
    largest = (np.abs(value.astype(np.float64)) + passed_on).astype(value.dtype)
    return passed_on + ulps * np.spacing(np.nextafter(largest, np.inf, dtype=value.dtype))


def _ieee(pass_on: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The rule of an operation that both sides round correctly: equal operands, equal result."""

    def rule(value: np.ndarray, *operands: Bounded) -> np.ndarray:
        with np.errstate(all="ignore"):
            passed_on = pass_on(*operands)
            return np.where(passed_on == 0, 0.0, _rounded(value, passed_on))

    return rule


def _function(name: str, pass_on: Callable[[Bounded], np.ndarray]) -> Callable[..., np.ndarray]:
    """The rule of an elementary function: both sides within their published accuracy."""

    def rule(value: np.ndarray, operand: Bounded) -> np.ndarray:
        with np.errstate(all="ignore"):
            return _rounded(value, pass_on(operand), NUMPY_ULP + ULP[name, str(value.dtype)])

    return rule


def _exact(pass_on: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The rule of an operation that rounds nothing."""
    return lambda value, *operands: pass_on(*operands) + np.zeros(value.shape)


def _product(a: Bounded, b: Bounded) -> np.ndarray:
    return np.abs(a.value) * b.error + np.abs(b.value) * a.error + a.error * b.error


def _quotient(a: Bounded, b: Bounded) -> np.ndarray:
    margin = np.abs(b.value) - b.error
    moved = a.error + np.abs(a.value / b.value) * b.error
    return np.where(moved == 0, 0.0, np.where(margin > 0, moved / margin, np.inf))


def _root(a: Bounded) -> np.ndarray:
    lowest = np.sqrt(np.maximum(a.value - a.error, 0))
    return np.where(a.error == 0, 0.0, a.error / (lowest + np.sqrt(a.value)))


def _logarithm(a: Bounded) -> np.ndarray:
    return np.where(a.error == 0, 0.0, -np.log1p(-a.error / a.value))


def _hyperbolic(a: Bounded) -> np.ndarray:
    nearest = np.maximum(np.abs(a.value) - a.error, 0)  # where the slope is steepest
    return a.error / np.cosh(nearest) ** 2


def _doubtful(value: np.ndarray, a: Bounded, b: Bounded) -> np.ndarray:
    """A comparison may come out differently only where both operands are close and unsure."""
    unsure = a.error + b.error
    return (unsure > 0) & (np.abs(a.value - b.value) <= unsure)


UFUNCS: dict[np.ufunc, Callable[..., np.ndarray]] = {
    np.add: _ieee(lambda a, b: a.error + b.error),
    np.subtract: _ieee(lambda a, b: a.error + b.error),
    np.multiply: _ieee(_product),
    np.divide: _ieee(_quotient),
    np.sqrt: _ieee(_root),
    np.exp: _function("exp", lambda a: np.exp(a.value) * np.expm1(a.error)),
    np.log: _function("log", _logarithm),
    np.tanh: _function("tanh", _hyperbolic),
    np.negative: _exact(lambda a: a.error),
    np.abs: _exact(lambda a: a.error),
    np.maximum: _exact(lambda a, b: np.maximum(a.error, b.error)),
    np.minimum: _exact(lambda a, b: np.maximum(a.error, b.error)),
    np.less: _doubtful,
    np.less_equal: _doubtful,
    np.greater: _doubtful,
    np.greater_equal: _doubtful,
}


def _where(condition: Bounded, chosen: Any, other: Any) -> Bounded:
    values = (b.value if isinstance(b, Bounded) else b for b in (chosen, other))
    value = np.where(condition.value, *values)
    a, b = _bounded(chosen), _bounded(other)
    either = np.abs(a.value - b.value) + np.maximum(a.error, b.error)
    decided = np.where(condition.value, a.error, b.error)
    return Bounded(value, np.where(condition.error, either, decided))


def _gamma(depth: int, dtype: np.dtype[Any]) -> float:
    unit = float(np.finfo(dtype).eps) / 2
    return depth * unit / (1 - depth * unit)


def _numpy_depth(array: np.ndarray) -> int:
    """Additions in a row, at most, of NumPy's sum over a whole array.

    A C-contiguous array is one run, summed pairwise in blocks of at most 128 by eight
    accumulators (16 additions, 3 to join them, 1 for a rest). Should NumPy cut the run into its
    buffers of 8192 elements, these are added one by one. Of another array nothing is assumed.
    """
    if not array.flags.c_contiguous:
        return array.size
    blocks = min(8192, array.size) / 128
    return 20 + max(0, math.ceil(math.log2(blocks))) + math.ceil(array.size / 8192)


def _stax_depth(array: np.ndarray) -> int:
    """The same of Stax's planned order: lanes in a chunk, folded by halves; chunks by pairs."""
    order = planned_order(array.dtype, last_axis=True)
    chunks = math.ceil(array.size / order.chunk)
    return order.chunk // order.lanes + math.ceil(math.log2(order.lanes) + math.log2(chunks))


def _mean(operand: Bounded) -> Bounded:
    value = np.mean(operand.value)
    dtype, count = operand.value.dtype, operand.value.size
    depths = _numpy_depth(operand.value), _stax_depth(operand.value)
    gammas = sum(_gamma(depth, dtype) for depth in depths)
    absolute = np.sum(np.abs(operand.value.astype(np.float64)) + operand.error)
    passed_on = np.sum(operand.error) / count + gammas * absolute / count
    return Bounded(value, _rounded(np.asarray(value), passed_on))


def _max(operand: Bounded) -> Bounded:
    return Bounded(np.max(operand.value), np.max(operand.error))


FUNCTIONS: dict[Any, Callable[..., Bounded]] = {np.where: _where, np.mean: _mean, np.max: _max}
