"""A dozen end-to-end tests in a few seconds: run this file first after a change.

takes: the public API, one program of each kind
gives: a failure, quickly
holds: nothing
not here: anything that another file does not test more thoroughly
"""

import subprocess
import sys

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check, check_all


def normalise(x):
    return x / np.sum(x, axis=-1, keepdims=True)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layernorm(x, weight, bias):
    away = x - np.mean(x, axis=-1, keepdims=True)
    return away / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5) * weight + bias


def random(*shape, dtype=np.float32):
    return np.random.default_rng(list(shape)).random(shape).astype(dtype)


def test_the_readmes_example_is_one_kernel():
    x = random(64, 128)
    jitted = stax.jit(normalise, backend=backend_name())
    assert np.allclose(jitted(x), normalise(x), rtol=1e-5)
    assert jitted.lower(x).plan.kernels == 1
    assert jitted.check(x).ok


def test_workloads_climb_the_ladder():
    x, w = random(9, 40), random(40)
    check_all(
        [
            Case(normalise, (x,)),
            Case(softmax, (x,)),
            Case(layernorm, (x, w, w)),
            Case(lambda x: np.var(x), (x,), "variance"),
            Case(lambda x: (np.tanh(x.T)[1:], np.log(x).mean(axis=0)), (x,), "views"),
            Case(lambda x: np.maximum(x @ x.T, 0.5), (x,), "matmul"),
        ]
    )


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.int64, np.bool_])
def test_other_dtypes(dtype):
    x = (random(5, 18, dtype=np.float64) * 9).astype(dtype)
    check(lambda x: (x + x, x * 2, np.sum(x, axis=0), np.max(x), x > 1, np.where(x > 1, x, x)), x)


def test_scalars_and_broadcasting():
    check(lambda x, y, s: (x[:, None] * s + y, x.sum() * s), random(7), random(5), 2)


def test_empty_and_single():
    check_all([Case(lambda x: (x * 2, np.sum(x)), (random(*s),)) for s in ((0,), (1,), (3, 0))])


def test_division_by_zero_warns_as_numpy_does():
    a, b = np.arange(5), np.array([1, 0, 2, 0, 3])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        got = stax.jit(lambda a, b: a // b, backend=backend_name())(a, b)
    assert got.tolist() == [0, 0, 1, 0, 1]


def test_a_branch_on_a_value_is_refused_at_the_users_line():
    def branch(x):
        if x.sum() > 0:  # the line of the message
            return x
        return -x

    with pytest.raises(stax.ValueDependent, match="the line of the message"):
        stax.jit(branch)(random(3))


def test_seed_mode_keeps_its_names():
    staged = stax.jit(normalise, schedule="seed").lower(random(64, 128))
    assert "buf1" in staged.text("lower")
    check(normalise, random(64, 128), schedule="seed")


def test_an_explanation_names_the_kernels():
    text = stax.jit(softmax).explain(random(8, 16))
    assert "1 kernel after" in text
    assert "bytes moved" in text


def test_the_shell_command_explains():
    code = [sys.executable, "-m", "stax_ref", "--help"]
    result = subprocess.run(code, capture_output=True, text=True, check=True)
    assert "explain" in result.stdout
