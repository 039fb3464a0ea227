"""Views and rearrangements: the same values at other places, and what surrounds them.

takes: the pool
gives: ``FORMS``; ``index_text``
holds: the parameters of each
not here: indices that are values (``indexing``)
"""

from __future__ import annotations

from typing import Any

from .pointwise import unary
from .pool import LARGEST, Choice, Form, NoChoiceError, Params, Pool, call


def _reshape(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    shape = list(pool.shape(name))
    for _ in range(pool.rng.randint(1, 3)):
        if len(shape) > 1 and pool.rng.random() < 0.5:
            k = pool.rng.randrange(len(shape) - 1)
            shape[k : k + 2] = [shape[k] * shape[k + 1]]
        else:
            k = pool.rng.randrange(len(shape))
            factor = pool.rng.choice([f for f in (1, 2, 3, 4, 11) if shape[k] % f == 0])
            shape[k : k + 1] = [factor, shape[k] // factor]
    return (name,), (tuple(shape),)


def _transpose(pool: Pool) -> Choice:
    name = pool.array(ndim=2)
    axes = list(range(pool.values[name].ndim))
    pool.rng.shuffle(axes)
    return (name,), (tuple(axes),)


def _two_axes(pool: Pool) -> Choice:
    name = pool.array(ndim=2)
    ndim = pool.values[name].ndim
    return (name,), tuple(pool.rng.sample(range(-1, ndim - 1), 2))


def entries(pool: Pool, shape: tuple[int, ...]) -> Params:
    """A basic index: integers, (start, stop, step) triples, None for a new axis."""
    found: list[Any] = []
    for extent in shape:
        roll = pool.rng.random()
        if roll < 0.15 and extent:
            found.append(pool.rng.randrange(-extent, extent))
        elif roll < 0.6:
            start = pool.rng.choice([None, None, 1, -3, extent // 2])
            stop = pool.rng.choice([None, None, -1, extent, extent // 2 + 2])
            found.append((start, stop, pool.rng.choice([None, None, 2, -1, -2, 3])))
        else:
            found.append((None, None, None))
        if pool.rng.random() < 0.1:
            found.append(None)
    return tuple(found)


def index_text(index: Params) -> str:
    """An index in Python."""
    parts = []
    for entry in index:
        if isinstance(entry, tuple):
            parts.append(":".join("" if part is None else str(part) for part in entry))
        else:
            parts.append(str(entry))
    return ", ".join(parts)


def _getitem(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    return (name,), entries(pool, pool.shape(name))


def _broadcast_to(pool: Pool) -> Choice:
    name = pool.array()
    shape = [pool.rng.choice([2, 3, 8, 17]) if n == 1 else n for n in pool.shape(name)]
    if pool.rng.random() < 0.6 or not shape:
        shape.insert(0, pool.rng.choice([1, 2, 3, 5]))
    return (name,), (tuple(shape),)


def _expand_dims(pool: Pool) -> Choice:
    name = pool.array()
    ndim = pool.values[name].ndim
    return (name,), (pool.rng.randrange(-ndim - 1, ndim + 1),)


def _flip(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    return (name,), (pool.rng.choice([None, pool.axis(name)]),)


def _roll(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    return (name,), (pool.rng.choice([1, -2, 5]), pool.rng.choice([None, pool.axis(name)]))


def _repeat(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    return (name,), (pool.rng.choice([0, 2, 3]), pool.axis(name))


def _tile(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    return (name,), (pool.rng.choice([2, (2, 1), (1, 3)]),)


def _pad(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    shape = pool.shape(name)
    if pool.values[name].ndim > 3:
        raise NoChoiceError
    mode = pool.rng.choice(["constant", "constant", "edge", "reflect", "wrap"])
    largest = 3 if mode in ("constant", "edge") else min([3, *(n - 1 for n in shape)])
    if largest < 0 or (mode != "constant" and not min(shape)):
        raise NoChoiceError
    widths = tuple((pool.rng.randint(0, largest), pool.rng.randint(0, largest)) for _ in shape)
    return (name,), (widths, repr(mode))


def _triangle(pool: Pool) -> Choice:
    return (pool.array("fiu", 2),), (pool.rng.randint(-2, 2),)


def _diagonal(pool: Pool) -> Choice:
    return (pool.array(ndim=2),), (pool.rng.randint(-1, 1),)


def _joined(pool: Pool) -> Choice:
    """Arrays that agree except along one axis."""
    first = pool.array(ndim=1)
    axis = pool.axis(first, negative=False)

    def rest(name: str) -> tuple[int, ...]:
        shape = pool.shape(name)
        return (*shape[:axis], *shape[axis + 1 :])

    ndim = pool.values[first].ndim
    partners = [
        name
        for name, value in pool.values.items()
        if getattr(value, "ndim", -1) == ndim and rest(name) == rest(first)
    ]
    names = [first, *pool.rng.choices(partners, k=pool.rng.randint(1, 2))]
    if sum(pool.values[name].size for name in names) > LARGEST:
        raise NoChoiceError
    pool.rng.shuffle(names)
    return tuple(names), (axis,)


def _stacked(pool: Pool) -> Choice:
    first = pool.array()
    shape = pool.shape(first)
    partners = [
        name
        for name, value in pool.values.items()
        if hasattr(value, "ndim") and value.shape == shape
    ]
    names = (first, pool.rng.choice(partners))
    return names, (pool.rng.randint(-len(shape) - 1, len(shape)),)


def _together(name: str) -> Any:
    return lambda operands, params: f"np.{name}([{', '.join(operands)}], axis={params[0]})"


def _split(pool: Pool) -> Choice:
    name = pool.array(ndim=1)
    axis = pool.axis(name)
    extent = pool.shape(name)[axis]
    parts = pool.rng.choice([p for p in (1, 2, 3, 11) if extent % p == 0])
    return (name,), (parts, axis, pool.rng.randrange(parts))


def _ramp(pool: Pool) -> Choice:
    """Positions as values: arange along the last axis."""
    name = pool.array("fi", 1)
    return (name,), (pool.shape(name)[-1],)


FORMS: dict[str, Form] = {
    "reshape": Form(_reshape, call("reshape"), 2.0),
    "ravel": Form(unary("fiub"), call("ravel")),
    "squeeze": Form(unary("fiub"), call("squeeze")),
    "transpose": Form(_transpose, call("transpose"), 2.0),
    "swapaxes": Form(_two_axes, call("swapaxes")),
    "moveaxis": Form(_two_axes, call("moveaxis")),
    "getitem": Form(_getitem, lambda o, p: f"{o[0]}[{index_text(p)}]", 3.0),
    "broadcast_to": Form(_broadcast_to, call("broadcast_to")),
    "expand_dims": Form(_expand_dims, call("expand_dims")),
    "flip": Form(_flip, call("flip")),
    "roll": Form(_roll, call("roll")),
    "repeat": Form(_repeat, call("repeat")),
    "tile": Form(_tile, call("tile")),
    "pad": Form(_pad, lambda o, p: f"np.pad({o[0]}, {p[0]}, mode={p[1]})", 1.5),
    "tril": Form(_triangle, call("tril")),
    "triu": Form(_triangle, call("triu")),
    "diagonal": Form(_diagonal, call("diagonal")),
    "concatenate": Form(_joined, _together("concatenate"), 2.0),
    "stack": Form(_stacked, _together("stack")),
    "split": Form(_split, lambda o, p: f"np.split({o[0]}, {p[0]}, {p[1]})[{p[2]}]"),
    "arange": Form(_ramp, lambda o, p: f"{o[0]} - np.arange({p[0]})"),
}
