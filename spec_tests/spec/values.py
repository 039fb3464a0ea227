"""Arguments of the tests: special values, layouts, sizes around the vector widths.

takes: dtypes, sizes, names of layouts
gives: arrays, the same ones in every run
holds: the lists of special values
not here: expected results; the ladder finds them
"""

from __future__ import annotations

import numpy as np

FLOATS = (np.float32, np.float64)
INTEGERS = (np.int32, np.int64)
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, np.bool_)

#: 0, 1 and the neighbours of the widths 8 and 16, of twice 16: empty, all tail, none, some.
SIZES = (0, 1, 7, 8, 9, 15, 16, 17, 33)
#: around the chunk of a planned sum, and several chunks with a tail.
CHUNK_SIZES = (4095, 4096, 4097, 12289)

LAYOUTS = ("contiguous", "strided", "reversed", "broadcast", "transposed")


def specials(dtype: type) -> np.ndarray:
    """Values that have their own rules in this dtype."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([True, False])
    if kind.kind == "i":
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        return np.array([0, 1, -1, 2, -2, 7, -7, 100, low, low + 1, high, high - 1], kind)
    if kind.kind == "u":
        high = np.iinfo(kind).max
        return np.array([0, 1, 2, 7, 100, high // 2, high // 2 + 1, high, high - 1], kind)
    info = np.finfo(kind)
    tiny, step = float(info.smallest_normal), float(info.smallest_subnormal)
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, step, -step, tiny, -tiny, tiny - step, 1.0, -1.0]
    values += [0.5, -1.5, 3.0, float(info.max), -float(info.max), float(info.eps), 88.7, -87.4]
    return np.array(values).astype(kind)


def ordinary(dtype: type, *shape: int, seed: int = 0) -> np.ndarray:
    """Finite numbers of moderate size, positive and negative."""
    rng = np.random.default_rng([seed, *shape])
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(shape) < 0.5
    if kind.kind == "i":
        return rng.integers(-50, 50, shape).astype(kind)
    if kind.kind == "u":
        return rng.integers(0, 100, shape).astype(kind)
    return rng.standard_normal(shape).astype(kind)


def mixed(dtype: type, size: int, seed: int = 0) -> np.ndarray:
    """Ordinary values with special ones scattered between them."""
    values = ordinary(dtype, size, seed=seed)
    rng = np.random.default_rng([seed, size, 1])
    chosen = rng.choice(specials(dtype), size)
    return np.where(rng.random(size) < 0.5, values, chosen).astype(dtype)


def pairs(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Every special value against every other, as two flat arrays."""
    values = specials(dtype)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def laid_out(layout: str, dtype: type, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """An array of this shape whose memory lies in the named way.

    Args:
        layout: one of :data:`LAYOUTS`; ``broadcast`` has stride 0 along its first axis.
    """
    if layout == "strided":
        wide = ordinary(dtype, *shape[:-1], shape[-1] * 3, seed=seed)
        return wide[..., 1::3][..., : shape[-1]]
    if layout == "reversed":
        return ordinary(dtype, *shape, seed=seed)[..., ::-1]
    if layout == "broadcast":
        return np.broadcast_to(ordinary(dtype, 1, *shape[1:], seed=seed), shape)
    if layout == "transposed":
        return ordinary(dtype, *shape[::-1], seed=seed).T
    return ordinary(dtype, *shape, seed=seed)
