"""Anything NumPy reads as an array is an argument: buffers, DLPack, protocols, lists, scalars.

takes: the same values in every wrapping Python and NumPy know, and in every layout of memory
gives: a failure where a result is not that of ``np.asarray`` of the argument, bit for bit
holds: the backend on trial beside the interpreter; native code is counted
not here: containers of arrays (``test_trees``), refusals (errors/)
"""

import array
import ctypes
import enum
import functools
import mmap

import array_api_strict as strict
import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import backend_name
from stax_ref import dtypes

BACKENDS = sorted({"ref", backend_name()})
CARRIED = [dtype for dtype in dtypes.SHORT if dtype.kind != "b"]


def launches() -> int:
    from stax_native.runtime import launch_counts

    return sum(launch_counts().values())


def agrees(function, *arguments):
    """Every backend gives what NumPy gives for ``np.asarray`` of the arguments, twice."""
    expected = function(*[np.asarray(getattr(a, "held", a)) for a in arguments])
    for backend in BACKENDS:
        jitted = stax.jit(function, backend=backend)
        for _ in range(3):  # compiled, then found by its leaves
            before = launches() if backend == "c" and expected.size else -1
            got = jitted(*arguments)
            assert type(got) is type(expected)
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)
            assert launches() > before


class Dlpack:
    """An array of another library: DLPack and nothing else."""

    def __init__(self, held):
        self.held = held

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)


class Pinned(Dlpack):
    """Memory of the host that belongs to CUDA."""

    def __dlpack_device__(self):
        return (3, 0)


class Protocol:
    """An object with one of NumPy's protocols."""

    def __init__(self, name, held):
        setattr(self, name, getattr(held, name))
        self.held = held


class Array:
    """As a pandas Series is one."""

    def __init__(self, held):
        self.held = held

    def __array__(self, dtype=None, copy=None):
        return np.array(self.held, dtype, copy=copy)


def double(x):
    return x + x


WRAPPINGS = {
    "memoryview": memoryview,
    "DLPack": Dlpack,
    "__array__": Array,
    "__array_interface__": lambda a: Protocol("__array_interface__", a),
    "__array_struct__": lambda a: Protocol("__array_struct__", a),
    "nested list": lambda a: a.tolist(),
    "nested tuple": lambda a: tuple(map(tuple, a.tolist())),
    "list of scalars": lambda a: [list(row) for row in a],
}


@pytest.mark.parametrize("dtype", CARRIED, ids=str)
@pytest.mark.parametrize("name", WRAPPINGS)
def test_every_dtype_in_every_wrapping(name, dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    agrees(double, WRAPPINGS[name](values))


@pytest.mark.parametrize("name", ["memoryview", "DLPack", "__array__"])
@pytest.mark.parametrize("layout", ["transposed", "reversed", "strided", "empty", "0-d"])
def test_layouts_of_other_libraries(name, layout):
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    values = {
        "transposed": base.T,
        "reversed": base[:, ::-1],
        "strided": base[1::2, ::3],
        "empty": base[:0],
        "0-d": base[2:3, 3].reshape(()),
    }[layout]
    agrees(double, WRAPPINGS[name](values))


@pytest.mark.parametrize("code", "bBhHiIlLqQfd")
def test_array_array(code):
    agrees(double, array.array(code, [1, 2, 3]))


@pytest.mark.parametrize(
    "kind",
    [
        ctypes.c_double,
        ctypes.c_float,
        ctypes.c_int32,
        ctypes.c_int64,
        ctypes.c_uint8,
        ctypes.c_bool,
    ],
)
def test_ctypes(kind):
    values = (kind * 3)(1, 0, 1)
    agrees(lambda x: x | x if x.dtype == bool else x + x, values)
    agrees(lambda x: x == x, ((kind * 2) * 2)())
    agrees(lambda x: x == x, kind(1))


def test_bytes_that_can_change():
    agrees(double, bytearray(b"stax"))
    with mmap.mmap(-1, 16) as shared:
        shared[:4] = b"stax"
        agrees(double, shared)
    agrees(double, memoryview(b"stax"))


@pytest.mark.parametrize("dtype", [d for d in CARRIED if d.kind != "f" or d.itemsize > 2], ids=str)
def test_arrays_of_the_standard(dtype):
    values = strict.asarray([[1, 2], [3, 4]], dtype=getattr(strict, dtype.name))
    expected = np.from_dlpack(values) * 2
    for backend in BACKENDS:
        got = stax.jit(double, backend=backend)(values)
        assert got.dtype == expected.dtype == dtype
        np.testing.assert_array_equal(got, expected)


def test_pinned_memory_is_read():
    agrees(double, Pinned(np.arange(3.0)))


def test_no_hold_on_a_buffer_after_the_call():
    for backend in BACKENDS:
        jitted = stax.jit(double, backend=backend)
        for _ in range(3):
            growing = array.array("d", [1, 2])
            jitted(growing)
            growing.append(3)  # BufferError while somebody looks at it


def first_set(x):
    x[0] = 9
    return x * 2


WRITABLE = {
    "ndarray": lambda a: a,
    "reversed": lambda a: a[::-1],
    "swapped": lambda a: a.astype(">f8"),
    "memoryview": memoryview,
    "array.array": lambda a: array.array("d", a),
    "DLPack": Dlpack,
    "__array_interface__": lambda a: Protocol("__array_interface__", a),
    "ctypes": lambda a: (ctypes.c_double * len(a))(*a),
}


@pytest.mark.parametrize("name", WRITABLE)
def test_what_the_function_writes_reaches_the_caller(name):
    for backend in BACKENDS:
        jitted = stax.jit(first_set, backend=backend)
        for _ in range(3):
            value = WRITABLE[name](np.arange(1.0, 4.0))
            got = jitted(value)
            seen = np.asarray(getattr(value, "held", value))
            np.testing.assert_array_equal(got, seen * 2)
            assert seen[0] == 9
            other = WRITABLE[name](np.arange(1.0, 4.0))
            stax.jit(lambda p: first_set(p["x"]), backend=backend)({"x": other})
            assert np.asarray(getattr(other, "held", other))[0] == 9


@pytest.mark.parametrize(
    "value", [[1.0, 2.0], (1, 2), Array([1.0, 2.0]), b"12"], ids=lambda v: type(v).__name__
)
def test_what_would_not_reach_the_caller_is_not_written(value):
    value = memoryview(value) if isinstance(value, bytes) else value
    for backend in BACKENDS:
        jitted = stax.jit(first_set, backend=backend)
        for _ in range(2):
            with pytest.raises(ValueError, match="destination is read-only: the argument x"):
                jitted(value)


def test_a_buffer_is_read_at_each_call():
    for backend in BACKENDS:
        jitted = stax.jit(double, backend=backend)
        values = array.array("d", [1, 2])
        for k in range(4):
            values[0] = k
            np.testing.assert_array_equal(jitted(values), [2 * k, 4])
        values.append(5)
        np.testing.assert_array_equal(jitted(values), [2 * k, 4, 10])


@pytest.mark.parametrize(
    "value", [np.float32(2), np.float64(2.5), np.int32(-3), np.True_], ids=repr
)
def test_numpy_scalars_are_strong(value):
    agrees(lambda x: x == x, value)
    agrees(lambda x, y: x * y, np.arange(3, dtype=np.float32), value)


def test_lists_mean_what_asarray_says():
    for value in (
        [1, 2],
        [1, 2.5],
        [True, 2],
        [[1.0], [2.0]],
        (1, 2),
        ([1, 2], (3, 4)),
        [np.int8(1), 2],
    ):
        agrees(lambda x: x * 2, value)


LAYOUTS = {
    "swapped": np.arange(6.0).astype(">f8").reshape(2, 3),
    "unaligned": np.frombuffer(bytes(1) + np.arange(6.0).tobytes(), np.uint8)[1:].view(np.float64),
    "a field": np.zeros(5, [("a", np.int8), ("b", np.float64)])["b"],
    "a field at an odd stride": np.zeros(4, [("a", np.float32), ("b", np.int16)])["a"],
    "read only": np.broadcast_to(np.arange(3.0), (2, 3)),
    "reversed": np.arange(6.0)[::-2],
    "no elements": np.zeros((3, 0, 2)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_memory_no_kernel_reads_in_place_is_copied(name):
    before = LAYOUTS[name].copy()
    agrees(double, LAYOUTS[name])
    np.testing.assert_array_equal(LAYOUTS[name], before)


class Mode(enum.Enum):
    SUM = 1
    MAX = 2


class Doubling:
    def apply(self, x):
        return x * 2


def test_values_that_are_no_arrays_are_static():
    runs = []

    def f(x, how):
        runs.append(how)
        if how is None:
            return x
        if how is Mode.SUM or how == "sum":
            return x.sum()
        if how in (np.float32, np.dtype("f4")):
            return x.astype(how)
        return how(x)

    x = np.arange(5, dtype=np.float64)
    for backend in BACKENDS:
        jitted = stax.jit(f, backend=backend)
        runs.clear()
        kinds = [None, "sum", Mode.SUM, np.float32, np.dtype("f4"), np.exp, np.max, abs]
        kinds += [lambda x: x + 1, stax.jit(lambda x: x - 1), Doubling().apply]
        kinds += [functools.partial(np.sum, axis=0)]
        for _ in range(3):
            for how in kinds:
                expected = f(x, how)
                del runs[-1]
                got = jitted(x, how)
                assert got.dtype == expected.dtype
                np.testing.assert_allclose(got, expected, rtol=1e-15)
        assert runs == kinds, "traced once for each value"


def test_static_values_compare_by_type_too():
    def f(x, key):
        return x + (10 if key == ("a", 1) and type(key[1]) is int else 20)

    jitted = stax.jit(f, backend="ref", static_argnames="key")
    for key in (("a", 1), ("a", True), ("a", 1.0)):
        assert jitted(1.0, key) == f(1.0, key)
