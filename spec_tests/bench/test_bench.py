"""What a call, a compile and an import cost, beside NumPy in the same run.

takes: matrices of 64x128 and 1024x1024 float32
gives: pytest-benchmark's table; a group per workload, NumPy's line in each
holds: the workloads
not here: any assertion on time; other peers (the project's benchmark scripts)
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import stax_ref as stax

pytestmark = pytest.mark.bench

SIZES = [(64, 128), (1024, 1024)]


def rownorm(x):
    return x / np.sum(x, axis=-1, keepdims=True)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layernorm(x):
    away = x - np.mean(x, axis=-1, keepdims=True)
    return away / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)


def variance(x):
    return np.var(x)


def multiply_add(a, b, c):
    return a * b + c


WORKLOADS = {f.__name__: f for f in (rownorm, softmax, layernorm, variance)}


@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("engine", ["stax", "numpy"])
def test_workload(benchmark, name, size, engine):
    function = WORKLOADS[name]
    x = np.random.default_rng(0).random(size).astype(np.float32)
    benchmark.group = f"{name} {size[0]}x{size[1]}"
    if engine == "stax":
        jitted = stax.jit(function, backend="c")
        assert jitted.check(x).ok
        function = jitted
    benchmark(function, x)


@pytest.mark.parametrize("engine", ["stax", "numpy"])
def test_call_overhead(benchmark, engine):
    """Three arguments of eight elements: what is left is the call."""
    a, b, c = (np.random.default_rng(k).random(8).astype(np.float32) for k in range(3))
    function = stax.jit(multiply_add, backend="c") if engine == "stax" else multiply_add
    assert np.array_equal(function(a, b, c), multiply_add(a, b, c))
    benchmark.group = "call, 3 arguments of 8 elements"
    benchmark(function, a, b, c)


FIRST_CALL = """
import time
import numpy as np
import stax_ref as stax
def normalise(x):
    return x / np.sum(x, axis=-1, keepdims=True)
x = np.ones((64, 128), np.float32)
start = time.perf_counter()
stax.jit(normalise, backend="c")(x)
print(time.perf_counter() - start)
"""


def seconds_of(code, **environment):
    """What a fresh process prints: a number of seconds."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout)


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_first_call_in_a_fresh_process(benchmark, cache, tmp_path):
    """The table holds whole processes; the printed figure counts from after the imports."""
    seconds = []
    seconds_of(FIRST_CALL, STAX_CACHE_DIR=str(tmp_path / "warm"))  # the probe is kept for both
    records = [path.name for path in (tmp_path / "warm").glob("toolchain-*.json")]

    def first_call():
        where = tmp_path / "warm"
        if cache == "cold":
            where = tmp_path / f"cold{len(seconds)}"
            where.mkdir(mode=0o700)
            for name in records:
                (where / name).write_bytes((tmp_path / "warm" / name).read_bytes())
        seconds.append(seconds_of(FIRST_CALL, STAX_CACHE_DIR=str(where)))

    benchmark.group = "first call, process included"
    benchmark.pedantic(first_call, rounds=5)
    benchmark.extra_info["seconds after imports, median"] = float(np.median(seconds))
    print(f"\nfirst call after imports, {cache} cache: {1e3 * float(np.median(seconds)):.1f} ms")


IMPORT = """
import time
import numpy
start = time.perf_counter()
import stax_ref
print(time.perf_counter() - start)
"""


def test_import_over_numpy(benchmark):
    seconds = []
    benchmark.group = "import, process included"
    benchmark.pedantic(lambda: seconds.append(seconds_of(IMPORT)), rounds=9)
    benchmark.extra_info["seconds over numpy, median"] = float(np.median(seconds))
    print(f"\nimport stax_ref over numpy: {1e3 * float(np.median(seconds)):.1f} ms")
