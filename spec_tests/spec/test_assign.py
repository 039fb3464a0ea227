"""Writing into arrays: arguments, temporaries, views of both, arrays made inside the function.

takes: functions that assign, and a way to call them: each is run on copies by NumPy, by the
    interpreter and by forced native code
gives: a failure where a result, or what a caller's argument holds afterwards, differs from NumPy
holds: nothing
not here: the public reports on mutation (spec_tests/public)
"""

import copy

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, check_all

from .values import ordinary

F32 = np.float32


def whole(x):
    x[:] = x * 2
    return x


def part(x):
    x[1:] = x[:-1] * 2
    return x.sum()


def steps(x):
    x[::-2] = 0
    x[1::3] += 5
    return x + 1


def element(x):
    x[2] = x[0] + x[1]
    x[-1] = 7
    return x


def mask(x):
    y = x * 2
    y[y > 1] = 0
    x[x < 0] = x.max()
    return y


def mask_of_rows(x):
    m = x.reshape(-1, 3)
    y = m * 1
    y[y[:, 0] > 0] = np.arange(3)
    return y


def gathered(x):
    x[[0, 3, 0]] = np.array([1, 2, 3], F32)
    return x


def traced_positions(x):
    i = np.argsort(x)
    x[i] = np.arange(x.size)
    return x


def accumulated(x):
    o = np.zeros(4, F32)
    np.add.at(o, np.array([0, 1, 0, 3, 0]), x[:5])
    np.multiply.at(x, [1, 1], 2)
    return o


def views(x):
    y = x + 0
    v = y[::2]
    w = v[1:]
    w += 10
    y[0] = 3
    return v, w, y


def transposed(x):
    z = x.reshape(3, -1) * 1
    z.T[1] = 0
    z[:, 0] = -1
    return z.T * 2, z


def reshaped(x):
    y = x + 1
    y.reshape(3, -1)[1, 1] = 99
    np.ravel(y)[0] = 98
    return y


def copied(x):
    y = x.copy()
    y[0] = 5
    z = y.flatten()
    z[1] = 6
    return x, y, z


def scalars(x):
    s = x.sum()
    t = s
    s += 1
    first = x[0]
    x[0] = 100
    return s, t, first


def operators(x):
    x += 1
    x -= 0.5
    x *= 2
    x /= 3
    x **= 2
    x //= 0.25
    x %= 7
    return x


def out_of_ufuncs(x):
    out = np.empty_like(x)
    np.multiply(x, 3, out=out)
    np.exp(out / 9, out=out)
    np.maximum(x, 0, out=x)
    return out


def out_of_functions(x):
    total = np.zeros((), F32)
    np.sum(x, out=total)
    y = np.zeros(x.shape, F32)
    np.clip(x, -1, 1, out=y)
    return total, y


def helpers(x):
    m = x.reshape(3, -1) * 1
    np.fill_diagonal(m, 5)
    np.copyto(m[0], 2)
    np.putmask(m, m > 4, 4)
    m.sort(axis=0)
    x.fill(8)
    np.put(x, [0, -1], 1)
    return m


def made_inside(x):
    o = np.zeros(x.shape)
    for k in range(3):
        o[k] = x[k] * k
    o[3:] = 7
    table = np.arange(6)
    table[2] = 50
    return o * 2, x[:6] * table + np.linspace(0, 1, 6) + np.eye(6)[0]


def known_alone(x):
    k = np.ones(4)
    k[1] = 3
    k += 1
    n = int(k[1])
    return x[:n] * k.sum(), [np.arange(3)[i] for i in range(3)]


def lists(x):
    return np.array([x[0], x[1] * 2, 3.0]), np.asarray([[x[0], 1], [2, x[1]]])


def filled(x):
    return np.full(4, x[0]), np.ascontiguousarray(x.reshape(3, -1).T), np.linspace(x[0], x[1], 5)


def bits(x):
    v = x.view(np.int32)
    y = v + 1
    x += 1
    return y, v.copy()


PROGRAMS = [
    whole,
    part,
    steps,
    element,
    mask,
    mask_of_rows,
    gathered,
    traced_positions,
    accumulated,
    views,
    transposed,
    reshaped,
    copied,
    scalars,
    operators,
    out_of_ufuncs,
    out_of_functions,
    helpers,
    made_inside,
    known_alone,
    lists,
    filled,
    bits,
]


def close(got, wanted):
    """Equal kinds of containers, dtypes and shapes, and values but for the order of sums."""
    if isinstance(wanted, (tuple, list)):
        assert type(got) is type(wanted)
        for a, b in zip(got, wanted, strict=True):
            close(a, b)
        return
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["ref", "c"])
@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("layout", ["plain", "strided", "negative"])
def test_as_numpy(function, backend, layout):
    base = ordinary(F32, 30)
    x = {"plain": base[:15].copy(), "strided": base[::2], "negative": base[14::-1]}[layout]
    jitted = stax.jit(function, backend=backend)
    for _ in range(2):
        theirs, ours = layout_copy(x), layout_copy(x)
        wanted = function(theirs)
        got = jitted(ours)
        close(got, wanted)
        close(ours, theirs)


def layout_copy(x):
    """A copy with the same strides."""
    owner = np.zeros(60, x.dtype)
    step = x.strides[0] // x.itemsize
    view = owner[30:][::step][: x.size] if step > 0 else owner[:31][::step][: x.size]
    view[:] = x
    return view


def test_rungs():
    cases = [Case(f, (ordinary(F32, 15),), f.__name__) for f in PROGRAMS]
    check_all([c for c in cases if c.function not in (operators,)])


def test_results_alias_nothing():
    x = ordinary(F32, 6)
    y = stax.jit(whole, backend="ref")(x)
    assert not np.shares_memory(x, y)
    y[0] = 77
    assert x[0] != 77


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_a_failed_call_changes_nothing(backend):
    def f(x, i):
        x[1:] = 0
        return x[i]

    x = ordinary(F32, 6)
    before = x.copy()
    with pytest.raises(IndexError):
        stax.jit(f, backend=backend)(x, np.array([7]))
    assert np.array_equal(x, before)

    def g(x, n):
        x += 1
        return n // (n - n)

    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        stax.jit(g, backend=backend)(x, np.array([7]))
    assert np.array_equal(x, before)


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_read_only_arguments(backend):
    x = ordinary(F32, 6)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        stax.jit(whole, backend=backend)(x)


def test_arguments_that_share_memory_are_refused():
    def f(x, y):
        x += 1
        return x + y

    base = ordinary(F32, 9)
    with pytest.raises(stax.ConfigError, match="shares memory with y"):
        stax.jit(f, backend="ref")(base[1:], base[:-1])
    assert np.array_equal(base, ordinary(F32, 9))
    np.testing.assert_array_equal(
        stax.jit(f, backend="ref")(base[1:5], base[5:]), base[1:5] + base[5:]
    )


def test_other_byte_order_is_written_back():
    x = ordinary(F32, 6).astype(">f4")
    wanted = x * 2
    stax.jit(whole, backend="ref")(x)
    np.testing.assert_array_equal(x, wanted)


def test_trees_are_written():
    def f(state):
        state["x"] += 1
        return state["y"] * 2

    state = {"x": ordinary(F32, 4), "y": ordinary(F32, 4)}
    wanted = copy.deepcopy(state)
    f(wanted)
    stax.jit(f, backend="ref")(state)
    np.testing.assert_array_equal(state["x"], wanted["x"])


def test_numpy_is_whole_again_after_a_trace():
    zeros, array = np.zeros, np.array
    stax.jit(made_inside, backend="ref").trace(ordinary(F32, 15))
    assert np.zeros is zeros
    assert np.array is array


@pytest.mark.parametrize("backend", ["ref", "c"])
def test_arrays_made_inside_go_to_other_jitted_functions(backend):
    inner = stax.jit(lambda a: a * 2 + 1, backend=backend)

    def outer(x):
        assert isinstance(inner(np.zeros(3)), np.ndarray)
        return x[:3] * inner(np.arange(3.0)) + inner(np.zeros(3))

    x = ordinary(np.float64, 5)
    close(stax.jit(outer, backend=backend)(x), outer(x))


def test_the_plan_shows_the_write():
    plan = stax.jit(part, backend="ref").lower(ordinary(F32, 15)).plan
    assert plan.written == (0,)
    assert "x[...] = " in plan.wrapper_text()


def test_compiled_code_may_ask_numpy_for_memory():
    """NumPy's generators call ``np.empty`` and write into what they get, without looking."""

    def f(x):
        table = np.random.default_rng(3).standard_normal(4)
        return x * table.shape[0]

    x = ordinary(F32, 3)
    with pytest.raises(stax.TraceError):  # numbers drawn while tracing are refused
        stax.jit(f, backend="ref")(x)


def test_an_array_made_inside_is_an_ndarray():
    def f(x):
        o = np.zeros(3)
        assert isinstance(o, np.ndarray)
        assert isinstance(o[1:], np.ndarray)
        assert memoryview(o).nbytes == 24
        v = o[1:]
        v += 1
        o.sort()
        o[0] = x[0]
        return o, v

    close(stax.jit(f, backend="ref")(ordinary(F32, 2)), f(ordinary(F32, 2)))
