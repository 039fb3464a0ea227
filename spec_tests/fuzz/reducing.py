"""Reductions, products of matrices and calls that stay NumPy's.

takes: the pool
gives: ``FORMS``
holds: axes, keepdims, ddof, masks
not here: pointwise functions
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .pool import Choice, Form, NoChoiceError, Params, Pool, call

SEVERAL_AXES = {
    **dict.fromkeys("sum prod max min any all".split(), "fiub"),
    **dict.fromkeys("mean var std ptp nansum nanmax nanmin nanmean count_nonzero".split(), "fiu"),
}
ONE_AXIS = ("argmax", "argmin", "nanargmin")
WITH_MASK = ("sum", "any", "all", "mean", "count_nonzero")
DEVIATIONS = ("var", "std")


def _reduction(name: str, kinds: str) -> Callable[[Pool], Choice]:
    def choose(pool: Pool) -> Choice:
        operand = pool.array(kinds, 1)
        ndim = pool.values[operand].ndim
        axes = tuple(sorted(pool.rng.sample(range(ndim), pool.rng.randint(1, ndim))))
        axis = pool.rng.choice([axes, axes[0], axes[0] - ndim, ndim - 1, None])
        if name in ONE_AXIS:
            axis = pool.rng.choice([axes[0], axes[0] - ndim, None])
        options = f"axis={axis}, keepdims={pool.rng.random() < 0.5}"
        if name in DEVIATIONS:
            options += f", ddof={pool.rng.choice([0, 0, 1])}"
        if name in WITH_MASK and name != "count_nonzero" and pool.rng.random() < 0.1:
            options += ", where=@ > 0"
        return (operand,), (options,)

    return choose


def _reduction_text(name: str) -> Callable[[tuple[str, ...], Params], str]:
    """``@`` in the options stands for the operand."""
    return lambda operands, params: call(name)(operands, params).replace("@", operands[0])


def _norm(pool: Pool) -> Choice:
    order = pool.rng.choice(["None", "1", "2", "np.inf"])
    return (pool.array("f", 1),), (order, pool.rng.choice([0, -1]))


def _norm_text(operands: tuple[str, ...], params: Params) -> str:
    return f"np.linalg.norm({operands[0]}, {params[0]}, axis={params[1]})"


def _matmul(pool: Pool) -> Choice:
    left = pool.array("fi", 1)
    inner = pool.values[left].shape[-1]
    rights = [
        name
        for name, value in pool.values.items()
        if np.ndim(value) in (1, 2)
        and np.asarray(value).dtype.kind in "fi"
        and value.shape[max(0, value.ndim - 2)] == inner
    ]
    if not rights:
        raise NoChoiceError
    return (left, pool.rng.choice(rights)), ()


def _along(pool: Pool) -> Choice:
    name = pool.array("fiu", 1)
    return (name,), (pool.axis(name),)


FORMS: dict[str, Form] = {
    **{
        name: Form(
            _reduction(name, kinds), _reduction_text(name), 2.5 if name in ("sum", "max") else 1.5
        )
        for name, kinds in SEVERAL_AXES.items()
    },
    **{name: Form(_reduction(name, "fiu"), _reduction_text(name)) for name in ONE_AXIS},
    "norm": Form(_norm, _norm_text),
    "matmul": Form(_matmul, lambda o, p: f"{o[0]} @ {o[1]}"),
    **{name: Form(_along, call(name), 0.5) for name in ("sort", "argsort", "cumsum")},
}
