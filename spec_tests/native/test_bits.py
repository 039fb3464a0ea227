"""Bits: oracle = scalar = AVX2 = AVX-512, on one thread and on two, whatever MXCSR the caller has.

takes: the workloads of the issue at sizes around the vector widths and above the chunk of a sum
gives: a failure where native code differs from the oracle, stores outside its arrays, or never ran
holds: a small library that sets and reads MXCSR
not here: single operations (spec/), the runtime by itself (the other files of this folder)
"""

import ctypes

import numpy as np
import pytest

import stax_c
import stax_ref as stax
from spec_tests import harness
from spec_tests.harness import Case, check_all
from stax_native import cache, runtime, toolchain
from stax_ref.interpret import Recording, run_nests

FLOATS = (np.float32, np.float64)
FTZ_DAZ = 0x8040
ROUND_DOWN = 0x2000
DEFAULT = 0x1F80
CONTROL = 0xFFC0  # all of MXCSR but the flags that operations raise


def rownorm(x):
    return x / np.sum(x, axis=-1, keepdims=True)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layernorm(x, weight, bias):
    away = x - np.mean(x, axis=-1, keepdims=True)
    return away / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5) * weight + bias


def variance(x):
    return np.var(x)


def column_statistics(x):
    return np.mean(x, axis=0), np.var(x, axis=0), np.max(x, axis=0)


def random(dtype, *shape):
    return np.random.default_rng([7, *shape]).standard_normal(shape).astype(dtype)


def workloads(dtype, rows, columns):
    """Every workload on a matrix of this size."""
    x = random(dtype, rows, columns)
    weight, bias = random(dtype, columns), random(dtype, columns) + dtype(1)
    return [
        Case(rownorm, (np.abs(x) + dtype(0.25),)),
        Case(softmax, (x,)),
        Case(layernorm, (x, weight, bias)),
        Case(variance, (x,)),
        Case(column_statistics, (x,)),
    ]


@pytest.mark.parametrize("dtype", FLOATS)
def test_workloads_at_every_level_and_thread_count(dtype):
    cases = workloads(dtype, 64, 128)
    for rows, columns in ((1, 1), (3, 7), (5, 33), (17, 100), (2, 4097), (300, 3)):
        cases += workloads(dtype, rows, columns)
    check_all(cases)


@pytest.mark.parametrize("dtype", FLOATS)
def test_whole_reductions_whose_chunks_are_shared_by_threads(dtype):
    """Threads take chunks of one sum; the tree that joins the chunks must not notice."""
    cases = []
    for size in (4096, 4097, 8192, 3 * 4096 + 1, 50_000):
        x = random(dtype, size) * dtype(100)
        cases += [
            Case(variance, (x,), f"variance {size}"),
            Case(lambda x: (np.sum(x), np.max(x)), (x,), f"sum and max {size}"),
            Case(lambda x: np.sum(np.exp(x / 100)), (x,), f"sum of exp {size}"),
            Case(lambda x: x - np.mean(x), (x,), f"centred {size}"),
        ]
    cases.append(Case(variance, (random(dtype, 129, 513),), "variance of a matrix"))
    check_all(cases)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_elementary_functions(name, dtype):
    """Over the range, around its ends, in a vector's body and in its tail, one and two threads."""
    function = getattr(np, name)
    wide = np.linspace(*{"exp": (-110, 95), "log": (1e-3, 9e4), "tanh": (-12, 12)}[name], 5000)
    patterns = np.arange(0, 2**16, 17, dtype=np.uint16).astype(np.uint32) << 16
    with np.errstate(invalid="ignore"):  # signalling NaNs are among them
        every_exponent = patterns.view(np.float32).astype(dtype)
    tail = wide[::97][:37]
    check_all(
        [
            Case(lambda x: function(x), (wide.astype(dtype),), name),
            Case(lambda x: function(x), (every_exponent,), f"{name}, every exponent"),
            Case(lambda x: function(x) * 2 + x, (tail.astype(dtype),), f"{name} in a tail"),
        ]
    )


def test_the_example_of_the_readme_runs_native_at_every_level():
    x = np.abs(random(np.float32, 64, 128))
    plan, results = stax.jit(rownorm).lower(x).plan, set()
    for level in harness.variants():
        with harness.environment(STAX_ISA=level):
            backend = stax_c.CBackend()
        assert backend.isa == level
        executable = backend.load(backend.emit(plan), plan)
        before = sum(runtime.launch_counts().values())
        results.add(executable(x)[0].tobytes())
        assert sum(runtime.launch_counts().values()) == before + len(plan.launches)
    assert len(results) == 1


def test_a_forced_backend_runs_native_code():
    jitted = stax.jit(softmax, backend="c")
    x = random(np.float32, 8, 40)
    before, fallbacks = sum(runtime.launch_counts().values()), stax.fallbacks()
    for _ in range(3):
        jitted(x)
    assert sum(runtime.launch_counts().values()) == before + 3
    assert stax.fallbacks() == fallbacks


def test_two_threads_really_take_part():
    x = random(np.float32, 64, 4096)
    program = stax.jit(rownorm).lower(x).program
    (backend,) = list(harness.variants().values())[:1]
    loaded = backend.load(backend.emit(program.plan), program.plan)
    before = runtime.launch_counts()["parallel"]
    with harness.native_state(2):
        (parallel,) = loaded(x)
    assert runtime.launch_counts()["parallel"] == before + 1
    with harness.native_state(1):
        assert loaded(x)[0].tobytes() == parallel.tobytes()
    assert runtime.launch_counts()["parallel"] == before + 1


# rounding, contraction, MXCSR ---------------------------------------------------------------------
def nearly_one(dtype, size=37):
    """a, b, c with a*b + c = 0 when the product is rounded, and -eps² when it is not."""
    e = np.finfo(dtype).eps
    return np.full(size, 1 + e, dtype), np.full(size, 1 - e, dtype), np.full(size, -1, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_multiply_and_add_round_twice_at_every_level(dtype):
    functions = (
        lambda a, b, c: a * b + c,
        lambda a, b, c: c + a * b,
        lambda a, b, c: a * b - (-c),
        lambda a, b, c: -c - a * b,
        lambda a, b, c: np.sum(a * b + c),
        lambda a, b, c: np.max(np.abs(a * b + c), axis=0),
        lambda a, b, c: (a.reshape(1, -1) * b + c).max(axis=0),
    )
    cases = [
        Case(function, nearly_one(dtype, size)) for function in functions for size in (1, 8, 37)
    ]
    for case in cases:
        (planned,) = planned_outputs(case.function, *case.args)
        assert np.all(planned == 0)
    check_all(cases)


CONTRACTED = """
void contracted(const double *a, const double *b, const double *c, double *out) {
    *out = *a * *b + *c;
}
"""


def test_the_probe_of_contraction_can_fail(tools, tmp_path):
    """With contraction allowed the same compiler does fuse, and the values above show it."""
    if not tools.has_fma:
        pytest.skip("this CPU has no fused multiply-add")
    path = tmp_path / "contracted.so"
    toolchain.compile_shared(CONTRACTED, path, tools, False, ("-ffp-contract=fast",))
    values = [array[:1] for array in nearly_one(np.float64)]
    out = np.zeros(1)
    ctypes.CDLL(str(path)).contracted(*(ctypes.c_void_p(v.ctypes.data) for v in (*values, out)))
    assert out[0] == -(np.finfo(np.float64).eps ** 2)


def planned_outputs(function, *args):
    """What the oracle computes."""
    return run_nests(stax.jit(function).lower(*args).plan, args, Recording())


MXCSR_SOURCE = """
unsigned read_mxcsr(void) { return __builtin_ia32_stmxcsr(); }
void write_mxcsr(unsigned value) { __builtin_ia32_ldmxcsr(value); }
"""


@pytest.fixture(scope="module")
def mxcsr(tools, tmp_path_factory):
    """A library with read_mxcsr() and write_mxcsr(value); the register is put back afterwards."""
    path = tmp_path_factory.mktemp("mxcsr") / "mxcsr.so"
    toolchain.compile_shared(MXCSR_SOURCE, path, tools, openmp=False)
    library = ctypes.CDLL(str(path))
    library.read_mxcsr.restype = ctypes.c_uint
    library.write_mxcsr.argtypes = [ctypes.c_uint]
    return library


def under(mxcsr, value, call):
    """The result of a call made with this MXCSR, and the register after it."""
    mxcsr.write_mxcsr(value)
    try:
        result = call()
        return result, mxcsr.read_mxcsr()
    finally:
        mxcsr.write_mxcsr(DEFAULT)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("value", [DEFAULT | FTZ_DAZ, DEFAULT | ROUND_DOWN, DEFAULT])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_foreign_float_environment_changes_nothing(mxcsr, threads, value, dtype):
    """Another library has set FTZ and DAZ, or another rounding: same bits, and it is put back."""
    step, tiny = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).smallest_normal
    x = (np.arange(1, 4001) * step).astype(dtype)
    third = random(dtype, 4000)

    def function(x, y):
        return x + x, y / 3, x * dtype(0.5), np.exp(y) * tiny, np.sum(x), np.sum(y)

    program = stax.jit(function).lower(x, third).program
    expected = run_nests(program.plan, (x, third), Recording())
    for name, backend in harness.variants().items():
        (loaded,) = harness.load_plans(backend, [program.plan])
        with harness.native_state(threads):
            results, after = under(mxcsr, value, lambda call=loaded: call(x, third))
        for number, (got, want) in enumerate(zip(results, expected, strict=True)):
            assert np.asarray(got).tobytes() == want.tobytes(), f"{name}, output {number}"
        assert after & CONTROL == value & CONTROL, name


def test_the_probe_of_the_float_environment_can_fail(mxcsr):
    """NumPy itself does notice: otherwise the test above would show nothing."""
    x = np.full(4, np.finfo(np.float32).smallest_subnormal)
    flushed, _ = under(mxcsr, DEFAULT | FTZ_DAZ, lambda: x + x)
    assert flushed.view(np.int32).tolist() == [0] * 4
    assert (x + x).view(np.int32).tolist() == [2] * 4


# canaries -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1, 7, 8, 9, 15, 16, 17, 31, 33, 100])
def test_no_store_outside_the_outputs(size):
    """Programs write into memory whose surroundings are known; not one byte there may change."""
    x = random(np.float32, 3, size)

    def function(x):
        e = np.exp(x)
        return e, np.sum(e, axis=1), e > 1, x.astype(np.float64), np.max(x, axis=0)

    program = stax.jit(function).lower(x).program
    plan = program.plan
    expected = run_nests(plan, (x,), Recording())
    for name, backend in harness.variants().items():
        source = backend.emit(plan)
        memory = [Guarded(b.nbytes, b.dtype, b.shape) for b in plan.buffers]
        memory += [Guarded(nbytes, np.dtype(np.uint8), (nbytes,)) for nbytes in source.scratch]
        numbers = {buffer.name: number for number, buffer in enumerate(plan.buffers)}
        memory[numbers[plan.input_buffers[0]]].array[...] = x
        run_launches(backend, source, [guarded.array for guarded in memory])
        assert [guarded.touched for guarded in memory] == [False] * len(memory), name
        for out, want in zip(plan.outputs, expected, strict=True):
            assert memory[numbers[out]].array.tobytes() == want.tobytes(), f"{name}: {out}"


class Guarded:
    """An array on a cache line of its own, inside memory filled with a pattern."""

    def __init__(self, nbytes, dtype, shape):
        self.memory = np.full(nbytes + 1024, 0xA5, np.uint8)
        self.start = 512 - self.memory.ctypes.data % 64
        self.stop = self.start + nbytes
        self.array = self.memory[self.start : self.stop].view(dtype).reshape(shape)

    @property
    def touched(self):
        """True when a byte outside the array has changed."""
        outside = (self.memory[: self.start], self.memory[self.stop :])
        return any(bool(np.any(part != 0xA5)) for part in outside)


def run_launches(backend, source, arrays):
    """The serial entries of a source on a table of these arrays."""
    library = runtime.Library(cache.get_library(source.text, backend._toolchain, source.parallel))
    table = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    for launch in source.launches:
        entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(library.symbol(launch.serial))
        assert entry(ctypes.addressof(table)) == 0


@pytest.mark.parametrize("place", [-1, 8])
def test_the_canaries_can_fail(place):
    guarded = Guarded(8, np.dtype(np.uint8), (8,))
    assert not guarded.touched
    guarded.memory[guarded.start + place] = 0
    assert guarded.touched
