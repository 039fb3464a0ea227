"""The scheduler's own time on programs of 200 and 2,000 nodes, and on values used by the next two.

takes: shapes of programs
gives: figures; no limit is asserted, as a limit belongs to a machine
holds: nothing
not here: the curve over many sizes (``curve``)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.bench.curve import seconds
from spec_tests.bench.shapes import KINDS
from stax_ref.config import Config


@pytest.mark.bench
@pytest.mark.parametrize("count", [200, 2000])
@pytest.mark.parametrize("kind", KINDS)
def test_depend_to_plan(kind, count, benchmark):
    benchmark.group = f"depend to plan, {count} nodes"
    benchmark.pedantic(seconds, (kind, count, Config()), rounds=3, warmup_rounds=1)


def fibonacci_like(x):
    """36 operations; each value feeds the next two."""
    a, b = x, x + 1
    for k in range(36):
        a, b = b, (a + b if k % 2 else a - b)
    return b


@pytest.mark.bench
def test_values_each_used_by_the_next_two(benchmark):
    """All of it: trace to the loaded kernel, nothing cached."""
    x = np.linspace(0, 1, 64, dtype=np.float32)
    benchmark.group = "compile, 36 operations"

    def compile_afresh():
        with stax.configured(check=0):
            return stax.jit(fibonacci_like).lower(x).compile()

    benchmark.pedantic(compile_afresh, rounds=3)
