"""The programs whose texts are kept. Their line numbers are part of the texts: append, do not move.

takes: nothing
gives: ``DEFAULT`` and ``SEED``, name to (function, arguments, options of the configuration)
holds: the examples of the seed text (1.1, 7.1, 7.2) and the workloads every reader knows
not here: what is expected of them (the folders beside this file, ``stages``)
"""

import numpy as np


def floats(*shape: int, dtype: type = np.float32) -> np.ndarray:
    """An array of this shape; only its type matters here."""
    return np.zeros(shape, dtype)


def rownorm(x):
    return x / np.sum(x, axis=-1, keepdims=True)


def softmax(x):
    top = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - top)
    return e / np.sum(e, axis=-1, keepdims=True)


def layernorm(x, weight, bias):
    mean = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * weight + bias


def variance(x):
    return np.var(x)


def views(x, y):
    a = x.reshape(6, 4).T[::-1, 1:]
    b = a + y[:, np.newaxis]
    return b, np.where(b > 0, b, -b)


def dense(x, w, bias):
    h = np.maximum(x @ w + bias, 0)
    return h, h.sum(axis=0)


def example_1(x):
    return x / x.sum(-1, keepdims=True)


def example_2(x):
    e = np.exp(x)
    return e.sum(-1), np.amax(e, -1)


def integers(a, b):
    return a // b, a % b


def columns(x):
    return np.sum(x, axis=0), np.max(x, axis=0)


def squashed(x, scale):
    return np.tanh(x * scale) ** 2


def masked(x, keep):
    return np.where(keep & (x > 0), x, 0)


def example_1_1(a, b):
    return (a * b).sum(-1)


_ROWS = (floats(64, 128),)
_NORM = (floats(64, 128), floats(128), floats(128))

DEFAULT = {
    "rownorm": (rownorm, _ROWS, {}),
    "softmax": (softmax, _ROWS, {}),
    "layernorm": (layernorm, _NORM, {}),
    "variance": (variance, (floats(100, 100),), {}),
    "views": (views, (floats(2, 3, 4), floats(4)), {}),
    "dense": (dense, (floats(8, 16), floats(16, 32), floats(32)), {}),
}
SEED = {
    "seed_example_7_1": (example_1, _ROWS, {"schedule": "seed"}),
    "seed_example_7_2_cpu": (example_2, _ROWS, {"schedule": "seed"}),
    "seed_example_7_2_gpu": (example_2, _ROWS, {"schedule": "seed", "device": "gpu"}),
    "seed_softmax": (softmax, _ROWS, {"schedule": "seed"}),
    "seed_layernorm": (layernorm, _NORM, {"schedule": "seed"}),
    "seed_listing_8_1": (example_1_1, (*_ROWS, *_ROWS), {"schedule": "seed"}),
}
_WHOLE = np.zeros((40, 50), np.int32)
C = {
    "rownorm_avx512": (*DEFAULT["rownorm"], "avx512"),
    "rownorm_avx2": (*DEFAULT["rownorm"], "avx2"),
    "rownorm_scalar": (*DEFAULT["rownorm"], "scalar"),
    "softmax_avx2": (*DEFAULT["softmax"], "avx2"),
    "layernorm_avx512": (*DEFAULT["layernorm"], "avx512"),
    "variance_avx512": (*DEFAULT["variance"], "avx512"),
    # large enough for parallel entries: ranges of rows; chunks of one reduction
    "softmax_parallel_avx512": (softmax, (floats(512, 1000),), {}, "avx512"),
    "variance_parallel_avx512": (variance, (floats(700, 1000),), {}, "avx512"),
    "views_avx2": (*DEFAULT["views"], "avx2"),
    "columns_avx2": (columns, (floats(300, 70),), {}, "avx2"),
    "integers_avx2": (integers, (_WHOLE, _WHOLE), {}, "avx2"),
    "integers_scalar": (integers, (_WHOLE, _WHOLE), {}, "scalar"),
    "squashed_f64_avx512": (squashed, (floats(1000, dtype=np.float64), 0.5), {}, "avx512"),
    "masked_avx512": (masked, (floats(30, 33), floats(33, dtype=np.bool_)), {}, "avx512"),
    "seed_example_7_1_avx512": (*SEED["seed_example_7_1"], "avx512"),
    "seed_example_7_2_avx2": (*SEED["seed_example_7_2_cpu"], "avx2"),
}


def update(w, g):
    """An argument is overwritten; both sums read what it held, one of them row by row."""
    before, rows = w[::-1].sum(0), (w * w).sum(-1, keepdims=True)
    w -= g / rows
    return before


def scatter(x, k):
    """Written at runtime positions, read at others."""
    y = np.exp(x)
    top = y.max()
    np.add.at(y, k, 1)
    return y[k] * top


DEFAULT["update"] = (update, _ROWS * 2, {})
DEFAULT["scatter"] = (scatter, (floats(64, 128), np.zeros(5, np.int64)), {})
C["update_avx2"] = (*DEFAULT["update"], "avx2")
