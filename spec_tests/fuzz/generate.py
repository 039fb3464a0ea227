"""A random program from a seed: typed by running NumPy on every equation as it is chosen.

takes: a seed and a number
gives: a ``Program`` that NumPy runs
holds: extents around the vector widths, dtypes and layouts of arguments
not here: operations (``forms``), text (``programs``)
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from spec_tests.harness import quiet

from .forms import ALL, FORMS, WRITING
from .pool import LARGEST, SCALARS, NoChoiceError, Pool
from .programs import NAMES, Argument, Equation, Program, trimmed

EXTENTS = (0, 1, 1, 2, 3, 3, 5, 8, 17, 33, 129)
OPTIONS: tuple[tuple[tuple[str, Any], ...], ...] = (
    *[()] * 6,
    (("strict", True),),
    (("max_nodes", 1),),
    (("local_bytes", 64),),
    (("template_rows", 1),),
    (("schedule", "seed"),),
    (("schedule", "seed"), ("device", "gpu")),
)


def generate(seed: int, number: int, writes: bool = False) -> Program:
    """Program ``number`` of a seed; the same one on every machine.

    Args:
        seed: of the whole run.
        number: of the program in the run.
        writes: make one that changes arrays, through views and in arguments too.
    """
    rng = random.Random(f"{seed}:{number}:writes" if writes else f"{seed}:{number}")
    forms = WRITING if writes else FORMS
    pool = Pool(rng)
    arguments = _arguments(rng)
    for argument in arguments:
        pool.values[argument.name] = argument.make()
    equations: list[Equation] = []
    wanted = rng.randint(1, 10)
    weights = {op: form.weight for op, form in forms.items()}
    # the operation whose turn it is: any few hundred programs reach all of them
    weights[list(forms)[number % len(forms)]] = sum(weights.values()) / 3
    for _ in range(20 * wanted):
        equation = _equation(pool, f"t{len(equations)}", weights)
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
        dtype = rng.choices(NAMES, [6, 4, 2, 2, 1, 2, 1, 1, 2, 1, 1, 1])[0]
        layouts = ["contiguous"] * 5 + ["strided", "reversed", "broadcast", "transposed", "special"]
        layout = rng.choice(layouts)
        if (layout == "special" and dtype == "bool") or not shape:
            layout = "contiguous"
        found.append(Argument("abc"[k], dtype, tuple(shape), layout, rng.randrange(100)))
    if rng.random() < 0.3:
        found.append(Argument("s", "", seed=rng.choice(SCALARS)))
    return tuple(found)


def _equation(pool: Pool, name: str, weights: dict[str, float]) -> Equation | None:
    """One more equation, or None when this choice came to nothing; its value joins the pool."""
    (op,) = pool.rng.choices(list(weights), list(weights.values()))
    try:
        operands, params = ALL[op].choose(pool)
        equation = Equation(name, op, operands, params)
        scope = dict(pool.values)
        with quiet():
            exec("\n".join(equation.lines), {"np": np}, scope)
        value = scope[name]
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
        usable = np.isfinite(value) & (np.abs(value) < min(1e30, np.finfo(value.dtype).max / 4))
    return bool(np.mean(usable) < 0.6)
