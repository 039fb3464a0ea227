"""Random NumPy programs for the stages: reductions, broadcasts and views in any combination.

takes: a number
gives: a function, its arguments, and its source text
holds: the same number gives the same program; everything stays finite enough to compare bits
not here: every operation and dtype, shrinking (``fuzz``)
"""

import itertools

import numpy as np

_UNARY = (
    "np.exp({} * 0.1)",
    "np.abs({})",
    "-{}",
    "np.tanh({})",
    "{} * 2",
    "{} + 1",
    "np.sqrt({} * {})",
)
_BINARY = ("{} + {}", "{} - {}", "{} * {}", "np.maximum({}, {})", "np.where({} > 0, {}, 1)")
_REDUCTIONS = ("np.sum", "np.max", "np.min", "np.mean", "np.var")


def random_program(number: int):
    """A function of one or two matrices, its arguments, and its source.

    Args:
        number: which program.
    """
    rng = np.random.default_rng(number)
    shape = (int(rng.choice([3, 4, 12])), int(rng.choice([4, 9, 16])))
    lines: list[str] = []
    values = {"x": shape, "w": (1, shape[1])}
    names = (f"v{k}" for k in itertools.count())
    for _ in range(int(rng.integers(4, 12))):
        name = next(names)
        text, new = _step(rng, values)
        lines.append(f"    {name} = {text}")
        values[name] = new
    computed = [v for v in values if v.startswith("v")]
    count = min(len(computed), int(rng.integers(2, 6)))
    chosen = [computed[-1], *rng.choice(computed, count - 1, replace=False)]
    lines.append(f"    return {', '.join(dict.fromkeys(map(str, chosen)))}")
    source = "\n".join(["def program(x, w):", *lines]) + "\n"
    scope = {"np": np}
    exec(compile(source, f"<random program {number}>", "exec"), scope)
    arguments = [rng.standard_normal(values[k]).astype(np.float32) for k in ("x", "w")]
    return scope["program"], arguments, source


def _step(rng, values):
    """One line: its text and the shape of its result."""
    name = str(rng.choice(list(values)))
    shape = values[name]
    kind = int(rng.integers(0, 10))
    if kind < 3:
        return str(rng.choice(_UNARY)).replace("{}", name), shape
    if kind < 6:
        other = str(rng.choice(list(values)))
        try:
            joined = np.broadcast_shapes(shape, values[other])
        except ValueError:
            return f"{name} * 3", shape
        text = str(rng.choice(_BINARY))
        return text.replace("{}", name, 1).replace("{}", other), joined
    if kind < 9 and len(shape) == 2:
        axis = int(rng.integers(0, 2))
        function = str(rng.choice(_REDUCTIONS))
        kept = tuple(1 if k == axis else extent for k, extent in enumerate(shape))
        return f"{function}({name}, axis={axis}, keepdims=True)", kept
    view = str(rng.choice(["{}[::-1]", "{}.T.reshape(SHAPE)", "{}[:, ::-1]"]))
    return view.replace("{}", name).replace("SHAPE", str(shape)), shape
