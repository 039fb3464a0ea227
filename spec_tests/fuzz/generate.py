"""A random program from a seed: typed by running NumPy on every equation as it is chosen.

takes: a seed and a number
gives: a ``Program`` that NumPy runs
holds: the probabilities; extents around the vector widths; which operation takes what
not here: text (``programs``)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from spec_tests.harness import quiet

from .programs import CALLS, INFIX, NAMES, REDUCERS, Argument, Equation, Params, Program, trimmed

EXTENTS = (0, 1, 1, 2, 3, 3, 5, 8, 17, 33, 129)
LARGEST = 3000
OPTIONS: tuple[tuple[tuple[str, Any], ...], ...] = (
    *[()] * 6,
    (("strict", True),),
    (("max_nodes", 1),),
    (("local_bytes", 64),),
    (("schedule", "seed"),),
    (("schedule", "seed"), ("device", "gpu")),
)
SCALARS = (0, 1, 2, -3, 7, 0.5, -1.5, 2.0, True)

Choice = tuple[tuple[str, ...], Params]


class NoChoiceError(Exception):
    """The operation has no operands among the values so far."""


class Pool:
    """The values of a program so far, and the random choices from them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.values: dict[str, Any] = {}

    def array(self, kinds: str = "fib", ndim: int = 0) -> str:
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
            if np.asarray(value).dtype.kind in kinds and _broadcast(shape, np.shape(value))
        ]
        if "b" not in kinds or len(kinds) > 1:
            constants = [c for c in SCALARS if np.asarray(c).dtype.kind in kinds]
            names += [repr(self.rng.choice(constants))] if constants else []
        if not names:
            raise NoChoiceError
        return self.rng.choice(names)


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        return int(np.prod(np.broadcast_shapes(a, b))) <= LARGEST
    except ValueError:
        return False


# operands -----------------------------------------------------------------------------------------
def _unary(kinds: str) -> Callable[[Pool], Choice]:
    return lambda pool: ((pool.array(kinds),), ())


def _binary(kinds: str) -> Callable[[Pool], Choice]:
    def choose(pool: Pool) -> Choice:
        first = pool.array(kinds)
        pair = [first, pool.partner(first, kinds)]
        pool.rng.shuffle(pair)
        return tuple(pair), ()

    return choose


def _where(pool: Pool) -> Choice:
    mask = pool.array("b")
    return (mask, pool.partner(mask, "fib"), pool.partner(mask, "fib")), ()


def _power(pool: Pool) -> Choice:
    name = pool.array("fi")
    exponents = [0, 1, 2, 3, 4, 5]
    if pool.values[name].dtype.kind == "f":
        exponents += [-1, -2, 0.5]  # type: ignore[list-item]  # one float among them
    return (name, f"({pool.rng.choice(exponents)})"), ()


def _clip(pool: Pool) -> Choice:
    low = pool.rng.choice([-2, -1, 0])
    return (pool.array("fi"),), (low, low + pool.rng.choice([0, 1, 3]))


def _astype(pool: Pool) -> Choice:
    return (pool.array(),), (pool.rng.choice([*NAMES[:4], "bool_"]),)


def _reduction(name: str) -> Callable[[Pool], Choice]:
    def choose(pool: Pool) -> Choice:
        operand = pool.array("fi" if name in ("var", "std") else "fib", 1)
        ndim = pool.values[operand].ndim
        axes = tuple(sorted(pool.rng.sample(range(ndim), pool.rng.randint(1, ndim))))
        axis = pool.rng.choice([axes, axes[0], axes[0] - ndim, ndim - 1, None])
        params = (axis, pool.rng.random() < 0.5)
        if name in ("var", "std"):
            params = (*params, pool.rng.choice([0, 0, 1]))  # type: ignore[assignment]  # longer
        return (operand,), params

    return choose


def _reshape(pool: Pool) -> Choice:
    name = pool.array("fib", 1)
    shape = list(pool.values[name].shape)
    for _ in range(pool.rng.randint(1, 3)):
        if len(shape) > 1 and pool.rng.random() < 0.5:
            k = pool.rng.randrange(len(shape) - 1)
            shape[k : k + 2] = [shape[k] * shape[k + 1]]
        else:
            k = pool.rng.randrange(len(shape))
            factors = [f for f in (1, 2, 3, 4, 11) if shape[k] % f == 0]
            factor = pool.rng.choice(factors)
            shape[k : k + 1] = [factor, shape[k] // factor]
    return (name,), (tuple(shape[:5]) if len(shape) <= 5 else tuple(shape),)


def _transpose(pool: Pool) -> Choice:
    name = pool.array("fib", 2)
    axes = list(range(pool.values[name].ndim))
    pool.rng.shuffle(axes)
    return (name,), (tuple(axes),)


def _swapaxes(pool: Pool) -> Choice:
    name = pool.array("fib", 2)
    ndim = pool.values[name].ndim
    return (name,), tuple(pool.rng.sample(range(-1, ndim - 1), 2))


def _getitem(pool: Pool) -> Choice:
    name = pool.array("fib", 1)
    entries: list[Any] = []
    for extent in pool.values[name].shape:
        roll = pool.rng.random()
        if roll < 0.15 and extent:
            entries.append(pool.rng.randrange(-extent, extent))
        elif roll < 0.6:
            start = pool.rng.choice([None, None, 1, -3, extent // 2])
            stop = pool.rng.choice([None, None, -1, extent, extent // 2 + 2])
            entries.append((start, stop, pool.rng.choice([None, None, 2, -1, -2, 3])))
        else:
            entries.append((None, None, None))
        if pool.rng.random() < 0.1:
            entries.append(None)
    return (name,), tuple(entries)


def _broadcast_to(pool: Pool) -> Choice:
    name = pool.array()
    shape = [
        pool.rng.choice([2, 3, 8, 17]) if extent == 1 else extent
        for extent in pool.values[name].shape
    ]
    if pool.rng.random() < 0.6 or not shape:
        shape.insert(0, pool.rng.choice([1, 2, 3, 5]))
    return (name,), (tuple(shape),)


def _expand_dims(pool: Pool) -> Choice:
    name = pool.array()
    ndim = pool.values[name].ndim
    return (name,), (pool.rng.randrange(-ndim - 1, ndim + 1),)


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


CHOOSE: dict[str, Callable[[Pool], Choice]] = {
    **{op: _binary("fib") for op in ("add", "multiply", "maximum", "minimum")},
    **{op: _binary("fi") for op in ("subtract", "divide")},
    **{op: _binary("i") for op in ("floor_divide", "remainder")},
    **{op: _binary("fib") for op in INFIX if "equal" in op or op in ("less", "greater")},
    **{op: _binary("b") for op in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{op: _binary("b") for op in ("logical_and", "logical_or", "logical_xor")},
    **{op: _unary("fi") for op in ("negative", "absolute", "square", "exp", "log", "tanh")},
    **{op: _unary("f") for op in ("sqrt", "reciprocal")},
    **{op: _unary("fib") for op in ("squeeze", "ravel")},
    **{op: _reduction(op) for op in REDUCERS},
    "logical_not": _unary("b"),
    "where": _where,
    "power": _power,
    "clip": _clip,
    "astype": _astype,
    "reshape": _reshape,
    "transpose": _transpose,
    "swapaxes": _swapaxes,
    "getitem": _getitem,
    "broadcast_to": _broadcast_to,
    "expand_dims": _expand_dims,
    "matmul": _matmul,
}
OFTEN = (*REDUCERS, "exp", "add", "multiply", "getitem")
WEIGHTS = {op: 3.0 if op in OFTEN else 1.0 for op in CHOOSE}
assert set(CHOOSE) == {*INFIX, *CALLS, *REDUCERS, "astype", "getitem"}


# programs -----------------------------------------------------------------------------------------
def generate(seed: int, number: int) -> Program:
    """Program ``number`` of a seed; the same one on every machine.

    Args:
        seed: of the whole run.
        number: of the program in the run.
    """
    rng = random.Random(f"{seed}:{number}")
    pool = Pool(rng)
    arguments = _arguments(rng)
    for argument in arguments:
        pool.values[argument.name] = argument.make()
    equations: list[Equation] = []
    wanted = rng.randint(1, 10)
    for _ in range(20 * wanted):
        equation = _equation(pool, f"t{len(equations)}")
        if equation is not None:
            equations.append(equation)
        if len(equations) == wanted:
            break
    used = {operand for equation in equations for operand in equation.operands}
    outputs = [equation.name for equation in equations if equation.name not in used][-3:]
    inner = [equation.name for equation in equations if equation.name in used]
    if inner and rng.random() < 0.25:
        outputs.append(rng.choice(inner))
    if rng.random() < 0.05:
        outputs.append(arguments[0].name)
    return trimmed(Program(arguments, tuple(equations), tuple(outputs), rng.choice(OPTIONS)))


def _arguments(rng: random.Random) -> tuple[Argument, ...]:
    """One to three arrays that share extents, so that they meet, and perhaps a Python scalar."""
    extents = [rng.choice(EXTENTS) for _ in range(rng.randint(1, 3))]
    while np.prod(extents) > LARGEST:
        extents.pop()
    found = []
    for k in range(rng.randint(1, 3)):
        shape = extents[rng.randint(0, len(extents) - 1) if k and rng.random() < 0.4 else 0 :]
        shape = [1 if k and rng.random() < 0.2 else extent for extent in shape]
        if k and rng.random() < 0.1:
            shape = []
        if len(shape) == 2 and rng.random() < 0.15:
            shape = shape[::-1]
        dtype = rng.choices(NAMES, [6, 4, 2, 2, 1])[0]
        layouts = ["contiguous"] * 5 + ["strided", "reversed", "broadcast", "transposed", "special"]
        layout = rng.choice(layouts)
        if (layout == "special" and dtype == "bool") or not shape:
            layout = "contiguous"
        found.append(Argument("abc"[k], dtype, tuple(shape), layout, rng.randrange(100)))
    if rng.random() < 0.3:
        found.append(Argument("s", "", seed=rng.choice(SCALARS)))
    return tuple(found)


def _equation(pool: Pool, name: str) -> Equation | None:
    """One more equation, or None when this choice came to nothing; its value joins the pool."""
    (op,) = pool.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))
    try:
        operands, params = CHOOSE[op](pool)
        equation = Equation(name, op, operands, params)
        with quiet():
            value = eval(equation.text, {"np": np}, pool.values)
    except (NoChoiceError, ValueError, TypeError, IndexError, OverflowError):
        return None
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.name not in NAMES:
        return None
    if value.size > LARGEST or value.ndim > 6 or _is_noise(value):
        return None
    pool.values[name] = value
    return equation


def _is_noise(value: Any) -> bool:
    """Mostly NaN or infinite, or near the end of the range: nothing is learnt from what follows."""
    if value.dtype.kind != "f" or not value.size:
        return False
    with quiet():
        usable = np.isfinite(value) & (np.abs(value) < 1e30)
    return bool(np.mean(usable) < 0.6)
