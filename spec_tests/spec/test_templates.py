"""Products whose epilogue runs tile by tile, up the whole ladder and natively.

takes: operands and epilogues of every layout and dtype a template allows
gives: a failure for a tile that reads or writes elsewhere, at any vector level and thread count
holds: rows at both sides of a tile's end
not here: which products become templates (``stages/test_templates``)
"""

import numpy as np
import pytest

from spec_tests import harness
from spec_tests.harness import Case

RNG = np.random.default_rng(23)


def random(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def bias_and_limit(x, w, b):
    return np.maximum(x @ w + b, 0.5)


def three_results(x, w):
    y = x @ w
    return y * 2, y > 0, (y * 10).astype(np.int8)


CASES = {
    "bias": (bias_and_limit, lambda m: (random(m, 6), random(6, 9), random(9))),
    "float64": (
        bias_and_limit,
        lambda m: (random(m, 3, dtype=np.float64), random(3, 5, dtype=np.float64), 0.25),
    ),
    "rows of its own": (
        lambda x, w, r: (x @ w) * r,
        lambda m: (random(m, 4), random(4, 17), random(m, 1)),
    ),
    "a turned operand": (lambda x, w: np.abs(x.T @ w), lambda m: (random(5, m), random(5, 8))),
    "a reversed operand": (
        lambda x, w: np.abs(x[::-1] @ w),
        lambda m: (random(m, 5), random(5, 8)),
    ),
    "a strided operand": (
        lambda x, w: -(x @ w),
        lambda m: (random(2 * m, 12)[::2, ::3], random(4, 16)[:, ::2]),
    ),
    "another array turned": (
        lambda x, w, z: x @ w - z.T,
        lambda m: (random(m, 4), random(4, 6), random(6, m)),
    ),
    "several results": (three_results, lambda m: (random(m, 4), random(4, 33))),
    "one column": (lambda x, w: np.exp(x @ w), lambda m: (random(m, 4), random(4, 1))),
    "two layers": (
        lambda x, w, v: np.tanh(np.tanh(x @ w) @ v),
        lambda m: (random(m, 4), random(4, 5), random(5, 3)),
    ),
}


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_templates_climb_the_ladder(rows):
    cases = [
        Case(function, arguments(m), name, {"template_rows": rows})
        for name, (function, arguments) in CASES.items()
        for m in (2 * rows, 2 * rows + 1)
    ]
    harness.check_all(cases, turn=rows)


def test_a_tile_is_shared_among_threads():
    """Work enough for a parallel entry; the bits are those of one thread."""
    x, w = random(2048, 8), random(8, 512)
    harness.check(lambda x, w: np.exp(np.tanh(x @ w)), x, w)
