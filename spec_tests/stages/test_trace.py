"""trace: what the user writes becomes equations, with NumPy's dtypes and the user's names.

takes: small NumPy functions
gives: a failure when a graph's text, type or line is not what was written
holds: every equation's dtype and shape against NumPy itself
not here: what is refused (``errors``)
"""

import inspect
import sys

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.errors import InvariantError
from stax_ref.graph import Graph, simplify

ROWS = np.zeros((4, 6), np.float32)


def graph_of(function, *arguments, **options) -> Graph:
    return stax.jit(function, **options).trace(*arguments).graph


def lines(graph: Graph) -> list[str]:
    """Equations without their places."""
    return [str(eqn) for eqn in graph.eqns]


def test_names_are_the_users_variables():
    def f(x, w):
        shifted = x - 1
        scale = np.exp(shifted)
        return scale * w

    assert str(graph_of(f, ROWS, ROWS[0])).splitlines()[0] == (
        "graph f(x: f32[4,6], w: f32[6]) -> out"
    )
    assert lines(graph_of(f, ROWS, ROWS[0])) == [
        "shifted: f32[4,6] = subtract x, 1.0",
        "scale: f32[4,6] = exp shifted",
        "out: f32[4,6] = multiply scale, w",
    ]


def test_a_keyword_or_a_taken_name_is_changed():
    def f(x):
        y = x + 1
        y2 = y * 2
        y = y2 - 1
        return y, np.abs(y)

    graph = graph_of(f, ROWS)
    names = [eqn.out.name for eqn in graph.eqns]
    assert len(set(names)) == len(names)
    assert "y2" in names


def test_every_equation_knows_its_line():
    def f(x):
        a = np.exp(x)
        return a + 1

    graph = graph_of(f, ROWS)
    source, first = inspect.getsourcelines(f)
    for eqn, offset in zip(graph.eqns, (1, 2), strict=True):
        assert eqn.where.file == __file__
        assert eqn.where.line == first + offset
        assert eqn.where.function == "f"
        assert eqn.where.text == source[offset].strip()
    assert f"# test_trace.py:{first + 1}" in str(graph)


def test_names_and_lines_inside_helpers():
    def helper(t):
        return np.exp(t)

    def f(x):
        return helper(x) * 2

    graph = graph_of(f, ROWS)
    assert graph.eqns[0].where.function == "helper"
    assert graph.eqns[1].where.function == "f"


def test_common_subexpressions_join():
    def f(x):
        return np.exp(x) + np.exp(x), np.exp(x + 0 * x)

    ops = [eqn.op for eqn in graph_of(f, ROWS).eqns]
    assert ops.count("exp") == 2


def test_unused_equations_go():
    def f(x):
        np.exp(x)
        return x * 2

    assert [eqn.op for eqn in graph_of(f, ROWS).eqns] == ["multiply"]


def test_nothing_to_simplify_is_the_same_object():
    graph = graph_of(lambda x: x * 2, ROWS)
    assert simplify(graph) is graph


def test_the_protocols_reach_the_trace():
    def ufunc(x):
        return np.add(x, 1)

    def function(x):
        return np.sum(x, axis=0)

    def namespace(x):
        xp = x.__array_namespace__()
        return xp.exp(x)

    def operators(x):
        return -(abs(x) ** 2) / (1 + x) @ x.T

    def reflected(x):
        return (2.0 - x) * np.float32(3)

    ops = [[e.op for e in graph_of(f, ROWS).eqns] for f in (ufunc, function, namespace)]
    assert ops == [["add"], ["sum"], ["exp"]]
    assert [e.op for e in graph_of(operators, ROWS).eqns] == [
        "absolute",
        "power",
        "negative",
        "add",
        "true_divide",
        "transpose",
        "extern",
    ]
    assert lines(graph_of(reflected, ROWS))[0].endswith("subtract 2.0, x")


def test_a_tracer_looks_like_its_array():
    seen = {}

    def f(x):
        for name in ("shape", "dtype", "ndim", "size", "nbytes", "itemsize"):
            seen[name] = getattr(x, name)
        seen["len"] = len(x)
        seen["repr"] = repr(x)
        return x + 1

    graph_of(f, ROWS)
    for name in ("shape", "dtype", "ndim", "size", "nbytes", "itemsize"):
        assert seen[name] == getattr(ROWS, name)
    assert seen["len"] == 4
    assert "f32[4,6]" in seen["repr"]


PAIRS = [
    (np.float32, np.float64),
    (np.int32, np.int64),
    (np.int32, np.float32),
    (np.bool_, np.int32),
    (np.bool_, np.float32),
    (np.int64, np.float32),
]
BINARY = ["add", "multiply", "subtract", "maximum", "true_divide", "less", "where"]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(("left", "right"), PAIRS, ids=lambda t: np.dtype(t).name)
def test_promotion_is_numpys(name, left, right):
    a, b = np.ones((4, 1), left), np.ones(6, right)

    def f(x, y):
        return np.where(x > 0, x, y) if name == "where" else getattr(np, name)(x, y)

    expected = f(a, b)
    out = graph_of(f, a, b).outputs[0]
    assert (out.shape, out.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize("scalar", [2, 2.5, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.bool_])
def test_python_scalars_are_weak(scalar, dtype):
    """NEP 50, as a constant in the function and as an argument."""
    a = np.ones(6, dtype)
    expected = (a * scalar).dtype
    assert graph_of(lambda x: x * scalar, a).outputs[0].dtype == expected
    assert graph_of(lambda x, s: x * s, a, scalar).outputs[0].dtype == expected


REDUCTIONS = ["sum", "prod", "max", "min", "mean", "var", "std"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_have_numpys_type(name, dtype, axis, keepdims):
    a = np.ones((2, 3, 4), dtype)

    def f(x):
        return getattr(np, name)(x, axis=axis, keepdims=keepdims)

    expected = np.asarray(f(a))
    out = graph_of(f, a).outputs[0]
    assert (out.shape, out.dtype) == (expected.shape, expected.dtype)


VIEWS = {
    "reshape": lambda x: x.reshape(6, -1),
    "reshape tuple": lambda x: np.reshape(x, (4, 6)),
    "ravel": lambda x: x.ravel(),
    "flatten": lambda x: x.flatten(),
    "T": lambda x: x.T,
    "transpose": lambda x: x.transpose(1, 0, 2),
    "np.transpose": lambda x: np.transpose(x, (2, 0, 1)),
    "swapaxes": lambda x: x.swapaxes(0, -1),
    "expand": lambda x: np.expand_dims(x, (0, 2)),
    "squeeze": lambda x: x[:1].squeeze(0),
    "newaxis": lambda x: x[:, None, ..., np.newaxis],
    "slice": lambda x: x[1:, ::2, ::-1],
    "integers": lambda x: x[-1, 2],
    "ellipsis": lambda x: x[..., 0],
    "empty slice": lambda x: x[2:1],
    "broadcast": lambda x: np.broadcast_to(x[0, 0], (5, 4)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_have_numpys_values(name):
    a = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)

    def f(x):
        return VIEWS[name](x) + 1

    got = stax.jit(f, backend="ref")(a)
    np.testing.assert_array_equal(got, f(a))


def test_strides_of_an_argument_are_part_of_its_type():
    turned = ROWS.T
    assert "strides (1, 6)" in str(graph_of(lambda x: x + 1, turned))
    assert "strides" not in str(graph_of(lambda x: x + 1, ROWS))
    assert graph_of(lambda x: x + 1, ROWS[::-1]).inputs[0].strides == (-6, 1)
    assert graph_of(lambda x: x + 1, ROWS[:1, ::6]).inputs[0].strides is None


def test_a_captured_array_is_an_input():
    table = np.arange(6, dtype=np.float32)

    def f(x):
        return x * table + table

    graph = graph_of(f, ROWS)
    assert [entry.kind for entry in graph.inputs] == ["array", "captured"]
    assert graph.inputs[1].array is table


def test_structure_of_results():
    assert str(graph_of(lambda x: x + 1, ROWS).structure) == "*"
    assert str(graph_of(lambda x: (x + 1,), ROWS).structure) == "(*,)"
    assert str(graph_of(lambda x: [x + 1, x], ROWS).structure) == "[*, *]"
    graph = graph_of(lambda x: {"a": x + 1, "rest": (None, [x])}, ROWS)
    assert str(graph.structure) == "{'a': *, 'rest': (None, [*])}".replace("'", '"')
    assert str(graph).splitlines()[0].endswith('-> {"a": out, "rest": (None, [x])}')


def test_check_finds_an_undefined_operand():
    graph = graph_of(lambda x: np.exp(x) + 1, ROWS)
    broken = Graph(graph.name, graph.inputs, graph.eqns[1:], graph.outputs)
    with pytest.raises(InvariantError, match="is not defined in"):
        broken.check()
    twice = Graph(graph.name, graph.inputs, (*graph.eqns, graph.eqns[0]), graph.outputs)
    with pytest.raises(InvariantError, match="twice"):
        twice.check()


def test_the_trace_is_the_only_run_of_the_function():
    runs = []

    @stax.jit(backend="ref")
    def f(x):
        runs.append(1)
        return x + 1

    f(ROWS)
    f(ROWS)
    assert len(runs) == 1
    f(ROWS[:2])
    assert len(runs) == 2


def test_the_frames_of_the_caller_are_not_kept():
    array = np.zeros(3, np.float32)
    before = sys.getrefcount(array)
    stax.jit(lambda x: x + 1, backend="ref").trace(array)
    assert sys.getrefcount(array) == before
