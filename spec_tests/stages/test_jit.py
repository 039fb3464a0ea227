"""jit: when a function is compiled, what a program depends on, and the shape of results.

takes: jitted functions, called like users call them
gives: a failure for a compilation too many, or a result of another kind than NumPy's
holds: counts of the compiler and of native launches
not here: what a function reads besides its arguments (``test_capture``), bits (``spec``)
"""

import functools
import threading

import numpy as np
import pytest

import stax_ref as stax
from stax_native import cache
from stax_native.runtime import launch_counts
from stax_native.toolchain import COMPILES

ROWS = np.arange(24, dtype=np.float32).reshape(4, 6)


def launches() -> int:
    return sum(launch_counts().values())


@pytest.fixture
def compiled_kernels():
    """compiled_kernels() -> kernels compiled since the test began."""
    before = COMPILES.kernels
    return lambda: COMPILES.kernels - before


# compilations ------------------------------------------------------------------------------------
def test_a_second_call_compiles_nothing(compiled_kernels):
    @stax.jit(backend="c")
    def f(x):
        return x * 3 + 1.25

    f(ROWS)
    assert compiled_kernels() == 1
    before = launches()
    for _ in range(3):
        f(ROWS)
    f(ROWS.copy())
    assert compiled_kernels() == 1
    assert launches() == before + 4, "native code ran"


@pytest.mark.parametrize(
    "other",
    [ROWS[:3], ROWS.astype(np.float64), ROWS.T, ROWS[::-1], 1.0, np.float32(1)],
    ids=["shape", "dtype", "layout", "strides", "python number", "0-d"],
)
def test_another_type_is_another_program(other, compiled_kernels):
    @stax.jit(backend="c")
    def f(x):
        return x * 3 + 1.5

    f(ROWS)
    before = compiled_kernels()
    np.testing.assert_array_equal(f(other), other * 3 + 1.5)
    assert compiled_kernels() == before + 1
    f(other)
    f(ROWS)
    assert compiled_kernels() == before + 1


def test_the_same_program_is_found_in_the_cache(compiled_kernels):
    def make():
        def f(x):
            return x * 3 + 1.75

        return stax.jit(f, backend="c")

    make()(ROWS)
    hits = cache.stats.hits
    make()(ROWS)
    assert compiled_kernels() == 1
    assert cache.stats.hits == hits + 1


def test_threads_compile_once(compiled_kernels):
    @stax.jit(backend="c")
    def f(x):
        return x * 3 + 2.25

    results = []
    threads = [threading.Thread(target=lambda: results.append(f(ROWS))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert compiled_kernels() == 1
    assert all(np.array_equal(r, ROWS * 3 + 2.25) for r in results)
    assert len(results) == 6


# arguments ---------------------------------------------------------------------------------------
def test_decorator_with_and_without_parentheses():
    @stax.jit
    def f(x):
        """Doc."""
        return x + 1

    @stax.jit()
    def g(x):
        return x + 1

    assert np.array_equal(f(ROWS), g(ROWS))
    assert (f.__name__, f.__doc__) == ("f", "Doc.")
    assert "f" in repr(f)


def test_keywords_and_defaults():
    @stax.jit
    def f(x, y=2.0, *, z=3):
        return x * y + z

    np.testing.assert_array_equal(f(ROWS), ROWS * 2 + 3)
    np.testing.assert_array_equal(f(ROWS, 4.0), ROWS * 4 + 3)
    np.testing.assert_array_equal(f(x=ROWS, z=5), ROWS * 2 + 5)
    np.testing.assert_array_equal(f(ROWS, z=1, y=0.5), ROWS * 0.5 + 1)
    np.testing.assert_array_equal(f(ROWS), ROWS * 2 + 3)


def test_any_number_of_positional_arguments():
    @stax.jit
    def f(x, *rest):
        for r in rest:
            x = x + r
        return x

    np.testing.assert_array_equal(f(ROWS, ROWS, ROWS), ROWS * 3)
    np.testing.assert_array_equal(f(ROWS), ROWS)


def test_static_arguments():
    runs = []

    @stax.jit(static_argnames="kind")
    def f(x, kind):
        runs.append(kind)
        return np.sum(x, -1) if kind == "sum" else np.max(x, -1)

    for _ in range(2):
        np.testing.assert_array_equal(f(ROWS, "sum"), ROWS.sum(-1))
        np.testing.assert_array_equal(f(ROWS, kind="max"), ROWS.max(-1))
    assert runs == ["sum", "max"]


def test_a_static_number_is_a_python_number():
    @stax.jit(static_argnames=("n",))
    def f(x, n):
        for _ in range(n):
            x = x * 2
        return x

    np.testing.assert_array_equal(f(ROWS, 3), ROWS * 8)
    np.testing.assert_array_equal(f(ROWS, 0), ROWS)


@pytest.mark.parametrize("value", [2, 2.5, True, False, -3])
def test_python_numbers(value):
    @stax.jit
    def f(x, s):
        return x * s

    expected = ROWS * value
    got = f(ROWS, value)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_the_type_of_a_number_counts_and_its_value_does_not(compiled_kernels):
    @stax.jit(backend="c")
    def f(x, s):
        return x * s + 2.75

    integers = ROWS.astype(np.int32)
    f(integers, 2)
    one = compiled_kernels()
    np.testing.assert_array_equal(f(integers, 5), integers * 5 + 2.75)
    assert compiled_kernels() == one
    assert f(integers, 2.5).dtype == np.float64
    assert compiled_kernels() == one + 1


def test_lists_are_arrays():
    got = stax.jit(lambda x: x + 1)([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(got, [[2, 3], [4, 5]])


def test_methods():
    class Model:
        def __init__(self, w):
            self.w = w

        @functools.partial(stax.jit, static_argnames="self")
        def apply(self, x):
            return x * self.w

    a, b = Model(2.0), Model(5.0)
    np.testing.assert_array_equal(a.apply(ROWS), ROWS * 2)
    np.testing.assert_array_equal(b.apply(ROWS), ROWS * 5)


def test_static_methods():
    class Model:
        @staticmethod
        @stax.jit
        def double(x):
            return x * 2

    np.testing.assert_array_equal(Model.double(ROWS), ROWS * 2)
    np.testing.assert_array_equal(Model().double(ROWS), ROWS * 2)


def test_jitted_functions_call_jitted_functions():
    @stax.jit
    def inner(x):
        return np.exp(x)

    @stax.jit
    def outer(x):
        return inner(x) + inner(x)

    assert outer.lower(ROWS).plan.kernels == 1
    np.testing.assert_allclose(outer(ROWS), 2 * np.exp(ROWS), rtol=1e-6)


# configuration -----------------------------------------------------------------------------------
def test_configured_is_honoured_after_the_fast_path(compiled_kernels):
    @stax.jit
    def f(x):
        return x * 3 + 3.25

    for _ in range(3):
        f(ROWS)
    native, before = compiled_kernels(), launches()
    assert native == 1
    with stax.configured(backend="ref"):
        np.testing.assert_array_equal(f(ROWS), ROWS * 3 + 3.25)
        assert launches() == before, "the interpreter ran"
    f(ROWS)
    assert launches() == before + 1
    assert compiled_kernels() == native


def test_configured_blocks_nest_and_end():
    from stax_ref.config import current

    with stax.configured(max_nodes=3) as outer:
        with stax.configured(check=0) as inner:
            assert (inner.max_nodes, inner.check) == (3, 0)
            assert current() is inner
        assert current() is outer
        with pytest.raises(ZeroDivisionError), stax.configured(check=2):
            raise ZeroDivisionError
        assert current() is outer
    assert current().max_nodes == stax.Config().max_nodes


def test_options_of_the_decorator_win():
    x = np.zeros((64, 128), np.float32)

    @stax.jit(max_nodes=1)
    def f(x):
        return x / np.sum(x, -1, keepdims=True)

    with stax.configured(max_nodes=128):
        assert f.lower(x).plan.kernels == 2


# results -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", ["c", "ref"])
def test_results_have_the_structure_of_the_function(backend):
    def jit(f):
        return stax.jit(f, backend=backend)

    assert isinstance(jit(lambda x: x + 1)(ROWS), np.ndarray)
    assert type(jit(lambda x: (x + 1, x))(ROWS)) is tuple
    assert type(jit(lambda x: (x + 1,))(ROWS)) is tuple
    assert type(jit(lambda x: [x + 1, x])(ROWS)) is list
    for _ in range(2):
        assert type(jit(lambda x: np.sum(x))(ROWS)) is np.float32
        total, rows = jit(lambda x: (np.sum(x), np.sum(x, -1)))(ROWS)
        assert type(total) is np.float32
        assert rows.shape == (4,)
        assert type(jit(lambda s: s * 2)(2.5)) is float
        assert type(jit(lambda s: s * 2)(2)) is int


@pytest.mark.parametrize("backend", ["c", "ref"])
def test_results_are_fresh_arrays_in_c_order(backend):
    f = stax.jit(lambda x: (x, x.T, x[1:]), backend=backend)
    first, second = f(ROWS), f(ROWS)
    for a, b in zip(first, second, strict=True):
        assert a.flags.c_contiguous
        assert a.flags.writeable
        assert not np.shares_memory(a, ROWS)
        assert not np.shares_memory(a, b)
    np.testing.assert_array_equal(first[1], ROWS.T)
    first[0][:] = -1
    np.testing.assert_array_equal(f(ROWS)[0], ROWS)


# the staged API ----------------------------------------------------------------------------------
def test_the_steps_in_between():
    @stax.jit
    def f(x):
        return x / np.sum(x, -1, keepdims=True)

    x = np.ones((8, 32), np.float32)
    staged = f.lower(x)
    assert str(f.trace(x)) == staged.text("trace")
    assert staged.plan.kernels == len(staged.plan.steps) == 1
    assert staged.plan.bytes_moved == 2 * x.nbytes
    assert staged.plan.arena_bytes == 0
    assert [node.name for node in staged.nodes] == ["sum", "out"]
    for backend in ("c", "ref", None):
        np.testing.assert_array_equal(staged.compile(backend)(x), f(x))
    assert staged.compile("ref").source == ""
    assert "static void k0" in staged.compile("c").source
    assert staged.compile("c").backend == "c"


def test_an_edited_source_is_what_runs():
    staged = stax.jit(lambda x: x + 1).lower(ROWS)
    wrong = staged.compile("c", edit=lambda text: text.replace("+ splat_", "- splat_"))
    np.testing.assert_array_equal(wrong(ROWS), ROWS - 1)
    np.testing.assert_array_equal(staged.compile("c")(ROWS), ROWS + 1)


def test_check_climbs_to_native_code():
    report = stax.jit(lambda x: np.exp(x) / np.sum(x, -1, keepdims=True)).check(ROWS + 1)
    assert report.ok, str(report)
    rungs = ["nodes", "nests", *(f"points (shuffle {k})" for k in range(3)), "c"]
    assert list(report.rungs) == rungs
    assert report.first_failure is None


def test_check_sees_a_wrong_kernel():
    from stax_ref import ladder

    f = stax.jit(lambda x: x + 1)
    staged = f.lower(ROWS)
    wrong = staged.compile("c", edit=lambda text: text.replace("+ splat_", "- splat_"))
    report = ladder.climb(staged.program, [ROWS], wrong)
    assert not report.ok
    assert report.first_failure.rung == "c"
    assert "24 of 24 elements differ, first at [0, 0]" in str(report)


def test_explain_says_what_was_fused_and_why():
    f = stax.jit(lambda x: (np.exp(x), np.exp(x)[::-1] * 2))
    text = f.explain(np.zeros((64, 128), np.float32))
    for part in (
        "2 nodes before fusion",
        "keep apart",
        "another iteration",
        "bytes moved",
        "k0",
        "k1",
    ):
        assert part in text, text
    assert "test_jit.py" in text
