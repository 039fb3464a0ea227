"""Programs that made compilers slow: values used twice, many siblings, long chains.

takes: the reports' inputs
gives: pass or fail
holds: the size of the generated text, which grows as the program does
not here: seconds; a loaded machine would make them fail
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import harness
from spec_tests.public.cases import holds, wave

F32, F64 = np.float32, np.float64


def doubling(x, n):
    """Each value is used by the next two: written out as one expression it doubles n times."""
    values = [x, x * 0.5]
    for _ in range(n):
        first, second = values[-2:]
        values += [second + first, second - first]
    return values[-1] + values[-2]


@pytest.mark.parametrize("n", [6, 9], ids=["H06", "H05"])
def test_values_that_are_all_used_twice(n):
    """H05 and H06, #148073"""
    right = doubling(wave(64).astype(F64) * 0.5, n)

    def program(x):
        return doubling(x * np.float32(0.5), n)

    holds(program, lambda: (wave(64),), right, rtol=1e-4, atol=1e-6)


def text_length(function, *args):
    return len(stax.jit(function, backend="c").lower(*args).compile("c").source)


def test_the_text_grows_as_the_number_of_values():
    """H05 and H06 further out, own"""
    if harness.backend_name() != "c":
        pytest.skip("the length of the C text")
    x = wave(64)
    short, long = (text_length(lambda x, n=n: doubling(x, n), x) for n in (20, 80))
    assert long < 8 * short


def test_sixty_reductions_of_one_array():
    """H03, #154652, #102622"""

    def program(x):
        return tuple((x * (k + 1)).sum(-1) for k in range(60))

    total = wave(8, 64).astype(F64).sum(-1)
    right = [total * (k + 1) for k in range(60)]
    holds(program, lambda: (wave(8, 64),), *right, rtol=1e-4, atol=1e-3)


def test_a_chain_of_twenty_five_reductions():
    """H04, #154652, #98467"""

    def chain(x):
        for _ in range(25):
            x = (x - x.mean(-1, keepdims=True)) * 0.9 + x * x * 0.1
        return x

    right = chain(wave(8, 64).astype(F64) * np.float64(F32(0.3)))

    def program(x):
        return chain(x * np.float32(0.3))

    holds(program, lambda: (wave(8, 64),), right, rtol=1e-3, atol=1e-6)


def test_the_number_of_looked_at_pairs_is_not_quadratic():
    """H03, own: more siblings, and the decisions the scheduler writes down"""

    def decisions(count):
        def program(x):
            return tuple((x * (k + 1)).sum(-1) for k in range(count))

        staged = stax.jit(program, backend="ref").lower(wave(8, 64))
        return len(staged.program.groups.decisions)

    assert decisions(60) < 3 * decisions(30)
