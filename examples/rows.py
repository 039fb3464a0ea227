"""Functions over the rows of a matrix, to look at from the shell:

    stax explain examples/rows.py:softmax
    stax show nest examples/rows.py:layernorm
    stax show source examples/rows.py:normalise
    stax check examples/rows.py:cosine
    stax report examples/rows.py:softmax --out softmax.html

``STAX_ARGS`` names the types of each function's arguments; ``--args`` overrides it.
"""

import numpy as np

STAX_ARGS = {
    "normalise": "f32[64,128]",
    "softmax": "f32[64,128]",
    "layernorm": "f32[64,128] f32[128] f32[128]",
    "cosine": "f32[64,128] f32[64,128]",
}


def normalise(x):
    """Every row divided by its sum: one kernel, the sums stay in registers."""
    return x / np.sum(x, axis=-1, keepdims=True)


def softmax(x):
    """One kernel with three inner loops; a row of ``e`` stays in the kernel's own memory."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layernorm(x, weight, bias):
    """Two passes for the variance, one for the result; square root and mean once a row."""
    away = x - np.mean(x, axis=-1, keepdims=True)
    scale = np.sqrt(np.mean(away * away, axis=-1, keepdims=True) + 1e-5)
    return away / scale * weight + bias


def cosine(a, b):
    """Three sums of the same rows share one loop."""
    dot = np.sum(a * b, axis=-1)
    return dot / np.sqrt(np.sum(a * a, axis=-1) * np.sum(b * b, axis=-1))
