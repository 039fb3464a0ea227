"""External calls of NumPy's own functions, alone and inside fused surroundings.

takes: every function of the table on ordinary, empty and strided arrays
gives: a failure where a rung or a public call differs from NumPy, or an error is not NumPy's
holds: nothing
not here: matrix products (test_matmul), the user's functions (test_own_functions)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.harness import Case, backend_name, check_all
from stax_ref.functions import externs

from .calls import as_numpy_does
from .values import ordinary

MATRIX = ordinary(np.float64, 5, 7)
VECTOR = ordinary(np.float64, 40)
SQUARE = ordinary(np.float64, 4, 4) + 8 * np.eye(4)
SYMMETRIC = SQUARE @ SQUARE.T
WHOLE = np.arange(35).reshape(5, 7) % 11 - 4

ON_ROWS = {
    "sort": lambda x: (np.sort(x), np.sort(x, axis=0)[::-1] * 2, np.sort(x, axis=None)),
    "stable sort": lambda x: np.sort(x, kind="stable", axis=1),
    "argsort": lambda x: (x.argsort(0), np.argsort(-x, axis=None, kind="stable")),
    "partition": lambda x: np.partition(x, 3)[:, 3],
    "partition at two places": lambda x: np.partition(x, (1, 4), axis=None)[1],
    "argpartition": lambda x: np.argpartition(x, 6)[:, 6],
    "searchsorted": lambda x: np.searchsorted(np.sort(x[0]), x, side="right"),
    "digitize": lambda x: np.digitize(x, [-1.0, 0.0, 1.0]),
    "lexsort": lambda x: np.lexsort((x[0] > 0, x[1])),
    "median": lambda x: (np.median(x), np.median(x, axis=1, keepdims=True) + x),
    "percentile": lambda x: np.percentile(x, [25, 50], axis=0),
    "quantile": lambda x: np.quantile(x, 0.3, axis=(0, 1), method="nearest"),
    "interp": lambda x: np.interp(x[0], [-1.0, 0.0, 1.0], [0.0, 5.0, 2.0]),
    "cumsum": lambda x: (np.cumsum(x), np.cumsum(x, 1) - x, x.cumsum(axis=0, dtype=np.float64)),
    "cumprod": lambda x: (x.cumprod(axis=1), np.cumprod(x)),
    "nancumsum": lambda x: (np.nancumsum(x, axis=1), np.nancumprod(x, axis=0)),
    "cumulative_sum": lambda x: np.cumulative_sum(x, axis=1, include_initial=True),
    "cumulative_prod": lambda x: np.cumulative_prod(x, axis=0),
    "accumulate": lambda x: (np.add.accumulate(x), np.multiply.accumulate(x, axis=1)),
    "running extremes": lambda x: np.maximum.accumulate(x, 1) - np.minimum.accumulate(x, 1),
    "logical accumulate": lambda x: np.logical_or.accumulate(x > 1, axis=1),
    "reduceat": lambda x: np.add.reduceat(x, [0, 2, 3], axis=1),
    "ediff1d": lambda x: np.ediff1d(x),
}
"""Functions whose result follows from the values of any number dtype."""

ON_FLOATS = {
    "nanmedian": (lambda x: (np.nanmedian(x), np.nanpercentile(x, 30, axis=1)), MATRIX),
    "nanquantile": (lambda x: np.nanquantile(np.where(x > 0, x, np.nan), 0.5, axis=0), MATRIX),
    "gradient": (lambda x: np.gradient(x), MATRIX),
    "gradient of one axis": (lambda x: np.gradient(x, 0.5, axis=1), MATRIX),
    "convolve": (lambda v: np.convolve(v, [1.0, 2.0, 1.0]), VECTOR),
    "convolve two long ones": (lambda v: np.convolve(v, v[:21] * 2, "valid"), VECTOR),
    "correlate": (lambda v: np.correlate(v, v, "full"), VECTOR),
    "cov": (lambda x: (np.cov(x), np.corrcoef(x, rowvar=False)), MATRIX),
    "vander": (lambda v: np.vander(v, 3), VECTOR),
    "polyval": (lambda v: np.polyval([1.0, -2.0, 0.5], v), VECTOR),
    "unwrap": (lambda v: np.unwrap(9 * v), VECTOR),
    "histogram": (lambda v: np.histogram(v, 10, range=(-1, 1)), VECTOR),
    "histogram over edges": (lambda v: np.histogram(v, [-1.0, 0.0, 1.0])[0], VECTOR),
    "histogram_bin_edges": (lambda v: np.histogram_bin_edges(v, 5), VECTOR),
    "histogram2d": (lambda v: np.histogram2d(v, -v, bins=3), VECTOR),
    "inv": (np.linalg.inv, SQUARE),
    "inverses": (lambda a: np.linalg.inv(a[None] + np.arange(3.0)[:, None, None]), SQUARE),
    "solve": (lambda a: (np.linalg.solve(a, a[0]), np.linalg.solve(a, a[:, :2])), SQUARE),
    "det": (np.linalg.det, SQUARE),
    "slogdet": (lambda a: tuple(np.linalg.slogdet(a)), SQUARE),
    "cholesky": (np.linalg.cholesky, SYMMETRIC),
    "eigh": (lambda a: np.linalg.eigh(a).eigenvalues[::-1] + 1, SYMMETRIC),
    "eigvalsh": (np.linalg.eigvalsh, SYMMETRIC),
    "svd": (lambda x: np.linalg.svd(x, full_matrices=False).S * 2, MATRIX),
    "singular values": (lambda x: np.linalg.svd(x, compute_uv=False), MATRIX),
    "svdvals": (np.linalg.svdvals, MATRIX),
    "qr": (lambda x: (lambda q, r: np.abs(q @ r))(*np.linalg.qr(x)), MATRIX),
    "r alone": (lambda x: np.abs(np.linalg.qr(x, mode="r")), MATRIX),
    "pinv": (np.linalg.pinv, MATRIX),
    "matrix_rank": (np.linalg.matrix_rank, MATRIX),
    "matrix_power": (lambda a: np.linalg.matrix_power(a, -3), SQUARE),
    "cond": (np.linalg.cond, SQUARE),
    "multi_dot": (lambda x: np.linalg.multi_dot([x, x.T, x]), MATRIX),
    "tensorsolve": (lambda a: np.linalg.tensorsolve(a.reshape(2, 2, 4), a[:2, :2]), SQUARE),
    "tensorsolve over other axes": (
        lambda a: np.linalg.tensorsolve(a.reshape(2, 4, 2), a[0], axes=(0, 2)),
        SQUARE,
    ),
    "norms": (
        lambda x: [np.linalg.norm(x, k, axis=(1, 0), keepdims=True) for k in (2, -2, "nuc")],
        MATRIX,
    ),
    "norms of a stack": (lambda a: np.linalg.matrix_norm(a.reshape(2, 2, 4), ord=2), SQUARE),
    "polyadd": (lambda v: np.polysub(np.polyadd(v, v[:3]), v[:5]), VECTOR),
    "polyder": (lambda v: (np.polyder(v, 2), np.polyint(v[:5], k=1.0)), VECTOR),
    "i0": (np.i0, VECTOR),
    "resize": (lambda x: np.resize(x, (3, 20)), MATRIX),
    "insert": (lambda x: np.insert(x, 2, x[0], axis=0), MATRIX),
    "trapezoid": (lambda x: (np.trapezoid(x), np.trapezoid(x, x[0], axis=1)), MATRIX),
    "trapezoid of columns": (lambda x: np.trapezoid(x, x + 1, axis=0) * 2, MATRIX),
    "trapezoid of one distance": (lambda x: np.trapezoid(x, dx=2), MATRIX),
    "tensorinv": (lambda a: np.linalg.tensorinv(a.reshape(2, 2, 4), ind=2), SQUARE),
    "cross": (lambda x: np.cross(x[:, :3], x[:, 3:6]), MATRIX),
    "linalg.cross": (lambda x: np.linalg.cross(x[:, :3], x[:, 3:6]), MATRIX),
    "irfft": (np.fft.irfft, VECTOR),
    "hfft": (np.fft.hfft, VECTOR),
    "irfft2": (lambda x: (np.fft.irfft2(x), np.fft.irfftn(x)), MATRIX),
    "fftshift": (lambda v: np.fft.ifftshift(np.fft.fftshift(v)[1:]), VECTOR),
}


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
)
def test_functions_of_the_values_alone(dtype):
    x = (3 * ordinary(np.float64, 5, 7)).astype(dtype)
    layouts = [x, x[::-1, ::-1], np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]]
    turn = np.dtype(dtype).itemsize  # every dtype in two layouts, every layout with some dtype
    chosen = layouts[turn % 4], layouts[(turn + 1) % 4]
    check_all([Case(f, (layout,), name) for name, f in ON_ROWS.items() for layout in chosen])
    for function in ON_ROWS.values():
        for layout in chosen:
            as_numpy_does(function, layout, backend=None if dtype == "f8" else "ref")


def test_functions_of_floats():
    check_all([Case(function, (x,), name) for name, (function, x) in ON_FLOATS.items()])


@pytest.mark.parametrize("name", ON_FLOATS)
def test_a_public_call_gives_what_numpy_gives(name):
    function, argument = ON_FLOATS[name]
    as_numpy_does(function, argument)
    as_numpy_does(function, np.asfortranarray(argument))


def test_the_tables_here_know_every_function_of_the_table():
    text = " ".join(f"{name} {inspect_text(f)}" for name, f in ON_ROWS.items())
    text += " ".join(f"{name} {inspect_text(f)}" for name, (f, _) in ON_FLOATS.items())
    missing = [f.__name__ for f in externs.FUNCTIONS if f.__name__ not in text]
    elsewhere = {"packbits", "unpackbits", "isin", "unravel_index", "ravel_multi_index"}
    assert set(missing) <= elsewhere, missing


def inspect_text(function) -> str:
    """The names a function uses, or its own."""
    code = getattr(function, "__code__", None)
    return function.__name__ if code is None else " ".join(names_of(code))


def names_of(code):
    """Names in a code object and in those it makes."""
    inner = [name for c in code.co_consts if hasattr(c, "co_names") for name in names_of(c)]
    return [*code.co_names, *inner]


# shapes -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("extent", [0, 1, 2, 15, 16, 17, 18, 33])
def test_lengths_around_those_that_stand_in_for_others(extent):
    """The length of a result is read from short stand-ins when axes are long."""
    v = ordinary(np.float64, extent)
    functions = [
        lambda v: np.cumulative_sum(v, include_initial=True),
        lambda v: np.sort(v),
        lambda v: np.ediff1d(v),
        lambda v: np.searchsorted(v[:0], v),
        lambda v: np.digitize(v, [0.5]),
    ]
    if extent > 2:
        functions += [lambda v: np.convolve(v, v), lambda v: np.convolve(v, v[:2], "valid")]
    check_all([Case(function, (v,)) for function in functions])
    for function in functions:
        as_numpy_does(function, v)


def test_long_axes_of_matrices():
    x = ordinary(np.float64, 20, 31)
    for function in (
        lambda x: np.linalg.svd(x, full_matrices=False)[1],
        lambda x: np.abs(np.linalg.qr(x)[1]),
        lambda x: np.abs(np.linalg.qr(x.T, mode="complete")[1]),
        lambda x: np.linalg.pinv(x),
        lambda x: np.cov(x),
        lambda x: np.linalg.solve(x[:, :20] + 40 * np.eye(20), x),
    ):
        as_numpy_does(function, x)


def test_empty_operands_that_are_computed():
    x = ordinary(np.float64, 4, 3)
    functions = [
        lambda x: np.searchsorted((x[0] * 2)[:0], x),
        lambda x: np.cumsum(x[:0] + 1),
        lambda x: (np.sort(x[:, :0] * 2), x * 2),
        lambda x: np.linalg.det((x + 1)[:0, :0]),
        lambda x: np.histogram((x - 1)[:0], 3, range=(0, 1))[0],
    ]
    check_all([Case(function, (x,)) for function in functions])
    for function in functions:
        as_numpy_does(function, x)


# several results ----------------------------------------------------------------------------------
def test_one_call_gives_every_result():
    def f(a):
        u, s, vh = np.linalg.svd(a)
        return u * 2, s, vh

    plan = stax.jit(f).lower(SQUARE).plan
    assert [len(step.buffers) for step in plan.steps if hasattr(step, "call")] == [3]
    as_numpy_does(f, SQUARE)


def test_results_that_nobody_uses_are_not_kept():
    plan = stax.jit(lambda a: np.linalg.svd(a).S).lower(SQUARE).plan
    (step,) = plan.steps
    assert (step.results, len(step.buffers)) == ((1,), 1)


def test_the_tuple_is_numpys_own():
    def f(a):
        result = np.linalg.eigh(a)
        assert type(result).__name__ == "EighResult"
        return result.eigenvectors @ np.linalg.inv(result.eigenvectors), result.eigenvalues

    as_numpy_does(f, SYMMETRIC)


def test_arrays_made_in_the_function():
    def f(x):
        start = np.zeros(5)
        start[1] = x[0, 0]
        solved = np.linalg.solve(np.eye(5) * 3 + x @ x.T, start)
        return solved, np.interp(x, np.linspace(0, 1, 5), np.arange(5)), np.cumsum(start)

    check_all([Case(f, (MATRIX,))])
    as_numpy_does(f, MATRIX)


def test_calls_on_arrays_that_change_around_them():
    def f(x):
        y = x * 2
        first = np.sort(y)
        y[0] = 5
        second = np.sort(y, axis=0)
        y[1:, ::2] = second[1:, ::2]
        y[:2].sort()
        return first, y, second, np.cumsum(y[:2], 1)

    check_all([Case(f, (MATRIX,))])
    as_numpy_does(f, MATRIX)


def test_numbers_of_elements():
    x = np.array([[3, 1, 2], [0, 2, 1]])
    bits = np.array([[1, 0, 1], [0, 1, 1]], np.uint8)
    cases = [
        Case(lambda x: np.ravel_multi_index((x[0], x[1]), (4, 5)), (x,)),
        Case(lambda x: np.unravel_index(x, (2, 3)), (x,)),
        Case(lambda x: np.isin(x, [1, 2]), (x,)),
        Case(lambda b: np.unpackbits(np.packbits(b, axis=1), axis=1, count=3), (bits,)),
    ]
    check_all(cases)
    for case in cases:
        as_numpy_does(case.function, *case.args)
    with pytest.raises(ValueError, match="invalid entry"):
        stax.jit(cases[0].function, backend=backend_name())(x + 9)


def test_what_types_alone_decide():
    def f(x, s):
        assert np.result_type(x, s, 1.0) == np.float32
        assert np.result_type(x, s) == np.float32
        assert np.can_cast(x, np.float64)
        assert not np.can_cast(x, np.float16)
        assert np.common_type(x) is np.float32
        rows, columns = np.tril_indices_from(x, k=-1)
        return x[rows, columns] * s

    x = ordinary(np.float32, 5, 7)
    as_numpy_does(f, x, 3)


def test_equal_calls_are_made_once_and_others_are_not():
    plan = stax.jit(lambda x: np.sort(x) + np.sort(x, axis=-1) + np.sort(x)).lower(MATRIX).plan
    assert sum(hasattr(step, "call") for step in plan.steps) == 2
    plan = stax.jit(lambda x: np.percentile(x, 1) + np.percentile(x, 1.0)).lower(MATRIX).plan
    assert sum(hasattr(step, "call") for step in plan.steps) == 2, "1 and 1.0 are two arguments"


def test_results_go_straight_into_their_buffer():
    """A call that takes ``out`` or works in place makes no array of its own."""
    for function in (np.sort, np.cumsum, np.add.accumulate):
        call = stax.jit(lambda x, f=function: f(x)).lower(MATRIX).plan.steps[0].call
        assert call.into is not None
        out = np.empty(MATRIX.shape if function is not np.cumsum else MATRIX.size)
        call.fill([MATRIX], [out], (0,))
        assert np.array_equal(out, function(MATRIX))


# arguments ----------------------------------------------------------------------------------------
def test_python_scalars_arrays_from_outside_and_views_as_operands():
    edges = np.array([-1.0, 0.0, 1.0])
    cases = [
        Case(lambda x, q: np.quantile(x, q), (MATRIX, 0.25)),
        Case(lambda x, k: np.partition(x, k, axis=1)[:, 0] + k, (MATRIX, 2)),
        Case(lambda x: np.searchsorted(edges, x[::2, 1:-1].T), (MATRIX,)),
        Case(lambda x: np.interp(x[0], edges, np.array([1, 2, 3])), (MATRIX,)),
        Case(lambda x: np.cumsum(np.broadcast_to(x[0], (3, 7)), axis=0), (MATRIX,)),
    ]
    check_all(cases)
    for case in cases:
        as_numpy_does(case.function, *case.args)


def test_a_shape_that_a_traced_integer_decides_is_refused():
    with pytest.raises(stax.ValueDependent, match="depends on the value of a traced integer"):
        stax.jit(lambda x, n: np.histogram(x, n)[0], backend="ref")(MATRIX, 4)
    assert stax.jit(lambda x, n: np.histogram(x, n)[0], static_argnames="n")(MATRIX, 4).shape == (
        4,
    )


def test_numpys_errors_while_tracing():
    cases = [
        (lambda x: np.sort(x, axis=2), np.exceptions.AxisError, IndexError),
        (lambda x: np.partition(x, 9), ValueError, ValueError),
        (lambda x: np.linalg.inv(x), np.linalg.LinAlgError, np.linalg.LinAlgError),
        (lambda x: np.linalg.solve(x[:, :5], x[:2]), ValueError, ValueError),
        (lambda x: np.interp(x, x, x), ValueError, ValueError),
        (lambda x: np.linalg.inv(x[:5, :5].astype(np.float16)), TypeError, TypeError),
        (lambda x: np.searchsorted(x, x), ValueError, ValueError),
    ]
    for function, numpys, ours in cases:
        with pytest.raises(numpys):
            function(MATRIX)
        with pytest.raises(ours) as caught:
            stax.jit(function, backend="ref").trace(MATRIX)
        assert caught.value.where.file == __file__


def test_an_error_while_running_reaches_the_user_and_changes_nothing():
    x = np.zeros((3, 3))
    jitted = stax.jit(lambda x: np.linalg.inv(x) * 2, backend=backend_name())
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
        jitted(x)
    assert type(caught.value) is np.linalg.LinAlgError
    assert not x.any()
    assert np.allclose(jitted(np.eye(3)), 2 * np.eye(3)), "the next call works"


# what is shown ------------------------------------------------------------------------------------
def test_calls_are_shown():
    magnitudes = stax.extern(lambda x: np.abs(np.fft.fft(x)), lambda x: x)

    def f(x):
        values, vectors = np.linalg.eigh(x @ x.T)
        return magnitudes(np.sort(values, kind="stable")), vectors

    staged = stax.jit(f).lower(MATRIX)
    explained = stax.jit(f).explain(MATRIX)
    assert "linalg.eigh(matmul) (external call: NumPy)" in explained
    assert "sort(values, kind='stable') (external call: NumPy)" in explained
    assert "<lambda>(sort) (external call: Python)" in explained
    assert "4 external calls" in explained
    text = staged.plan.wrapper_text()
    assert "# linalg.eigh(matmul)" in text
    assert "eigh" in staged.text("trace")
    assert "extern sort = sort(values, kind='stable')" in staged.text("lower")
