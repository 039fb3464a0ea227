"""Random NumPy programs for the stages: reductions, broadcasts and views in any combination.

takes: a number
gives: a function, its arguments, and its source text
holds: the same number gives the same program; everything stays finite enough to compare bits
not here: every operation and dtype, shrinking (``fuzz``)
"""

import itertools

import numpy as np

_UNARY = ("np.exp({} * 0.1)", "np.abs({})", "-{}", "np.tanh({})", "{} + 1", "np.sqrt({} * {})")
_BINARY = ("{} + {}", "{} - {}", "{} * {}", "np.maximum({}, {})", "np.where({} > 0, {}, 1)")
_REDUCTIONS = ("np.sum", "np.max", "np.min", "np.mean", "np.var")
_VIEWS = ("{}[::-1]", "{}[:, ::-1]", "{}.T.reshape(SHAPE)", "{}.reshape(-1)[::-1].reshape(SHAPE)")
_ROWS, _COLUMNS = (1, 3, 4, 12, 16), (1, 4, 9, 12, 16, 33)


def random_program(number: int):
    """A function of one matrix and one row, its arguments, and its source.

    Args:
        number: which program.
    """
    rng = np.random.default_rng(number)
    shape = (int(rng.choice(_ROWS)), int(rng.choice(_COLUMNS)))
    lines: list[str] = []
    values = {"x": shape, "w": (1, shape[1])}
    names = (f"v{k}" for k in itertools.count())
    for _ in range(int(rng.integers(4, 12))):
        name = next(names)
        text, values[name] = _step(rng, values)
        lines.append(f"    {name} = {text}")
    computed = [v for v in values if v.startswith("v")]
    count = min(len(computed), int(rng.integers(1, 5)))
    chosen = [computed[-1], *rng.choice(computed, count - 1, replace=False)]
    lines.append(f"    return {', '.join(dict.fromkeys(map(str, chosen)))}")
    source = "\n".join(["def program(x, w):", *lines]) + "\n"
    scope = {"np": np}
    exec(compile(source, f"<random program {number}>", "exec"), scope)
    arguments = [rng.standard_normal(values[k]).astype(np.float32) for k in ("x", "w")]
    return scope["program"], arguments, source


def _step(rng, values):
    """The text of one line and the shape of its result; recent values are used more often."""
    names = list(values)
    name = names[max(int(rng.integers(len(names))), int(rng.integers(len(names))))]
    shape = values[name]
    kind = int(rng.integers(0, 10))
    if kind < 3:
        return str(rng.choice(_UNARY)).replace("{}", name), shape
    if kind < 6:
        other = str(rng.choice(names))
        joined = np.broadcast_shapes(shape, values[other])
        return str(rng.choice(_BINARY)).replace("{}", name, 1).replace("{}", other), joined
    if kind < 9:
        axis = [0, 1, (0, 1)][int(rng.choice(3, p=[0.3, 0.5, 0.2]))]
        axes = axis if isinstance(axis, tuple) else (axis,)
        kept = tuple(1 if k in axes else extent for k, extent in enumerate(shape))
        text = f"{rng.choice(_REDUCTIONS)}({name}, axis={axis}, keepdims=True)"
        if rng.integers(3) == 0:
            text = text.replace("keepdims=True", "keepdims=False") + f".reshape({kept})"
        return text, kept
    view = str(rng.choice(_VIEWS))
    return view.replace("{}", name).replace("SHAPE", str(shape)), shape
