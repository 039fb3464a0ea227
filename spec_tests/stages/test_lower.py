"""lower: which values become buffers, what their bodies do, and the order of their reductions.

takes: small NumPy functions under both cost models
gives: a failure when a value is materialised that should be inlined, or the other way round
holds: every materialisation rule on both sides of its limit (seed 6.6, 7.4)
not here: dependences and fusion (``test_depend``, ``test_fuse``)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.golden import programs
from stax_ref.compose import Builder
from stax_ref.composites import COMPOSITES, HEAVY, MOST_OPERATIONS
from stax_ref.functions.contractions import MATMUL
from stax_ref.node import Instr, run
from stax_ref.ops import CHUNK, LANES, OPS, ROWS, Order

ROWS_64 = np.zeros((64, 128), np.float32)


def lowered(function, *arguments, **options):
    return stax.jit(function, **options).lower(*arguments).program.lowered


def names(function, *arguments, **options) -> list[str]:
    return [node.name for node in lowered(function, *arguments, **options).nodes]


def body_ops(node) -> list[str]:
    return [instr.op for instr in node.body.instrs]


@pytest.mark.parametrize(
    ("function", "dear"),
    [
        (stax.sigmoid, True),
        (np.sin, True),
        (lambda x: np.logaddexp(x, 1), True),
        (lambda x: np.frexp(x)[0], True),
        (lambda x: x**2.5, True),
        (lambda x: x**3, False),
        (np.square, False),
        (np.deg2rad, False),
    ],
)
def test_a_dear_function_is_computed_once(function, dear):
    def used_twice(x):
        e = function(x)
        return e / np.sum(e, axis=1, keepdims=True)

    assert ("e" in names(used_twice, ROWS_64)) == dear


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint64])
@pytest.mark.parametrize("name", sorted(COMPOSITES))
def test_no_equation_has_more_operations_than_its_bound(name, dtype):
    dtype = np.dtype(dtype)
    builder = Builder({})
    arity = 2 if name.startswith("logaddexp") else 1
    arguments = [builder.emit(Instr("load", (), dtype, k)) for k in range(arity)]
    out = np.dtype(np.int32) if name == "frexp_exponent" else dtype
    if dtype.kind == "f" or name in ("square", "reciprocal"):
        COMPOSITES[name](builder, arguments, out)
    count = sum(instr.op in OPS for instr in builder.instrs)
    heavy = any(instr.op in OPS and OPS[instr.op].heavy for instr in builder.instrs)
    assert count <= MOST_OPERATIONS[name]
    assert heavy == (name in HEAVY) or dtype.kind != "f"


# composition -------------------------------------------------------------------------------------
def test_pointwise_functions_compose_into_one_node():
    (node,) = lowered(lambda x: np.sqrt(np.abs(x) + 1) * 2, ROWS_64).nodes
    assert body_ops(node) == [
        "load",
        "absolute",
        "constant",
        "add",
        "sqrt",
        "constant",
        "multiply",
        "store",
    ]


def test_a_pointwise_operand_is_inlined_into_its_reduction():
    (node,) = lowered(lambda x: np.sum(x * x, -1), ROWS_64).nodes
    assert body_ops(node) == ["load", "multiply", "reduce", "store"]
    assert (node.outer_sizes, node.inner_sizes) == ((64,), (128,))


def test_equal_instructions_are_joined():
    (node,) = lowered(lambda x: (x + 1) * (x + 1), ROWS_64).nodes
    assert body_ops(node).count("load") == 1
    assert body_ops(node).count("add") == 1


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x.reshape(128, 64),
        lambda x: x[::2, 1:],
        lambda x: x[:, None],
        lambda x: np.broadcast_to(x[0], (3, 128)),
    ],
)
def test_views_are_index_rewrites(view):
    program = lowered(lambda x: view(x) + 1, ROWS_64)
    assert len(program.nodes) == 1
    assert [b.kind for b in program.buffers] == ["input", "computed"]


def test_seed_names():
    program = lowered(
        lambda a, b: np.sum(a * b, -1) / np.sum(b, -1), ROWS_64, ROWS_64, schedule="seed"
    )
    assert [b.name for b in program.buffers] == ["primals_1", "primals_2", "buf2", "buf3", "buf4"]
    assert [n.name for n in program.nodes] == ["op0", "op1", "op2"]


# materialisation (seed 6.6) ----------------------------------------------------------------------
def test_a_dear_value_with_two_users_is_materialised_on_a_cpu_only():
    def m(x):
        e = np.exp(x)
        return e.sum(-1), e.max(-1)

    assert names(m, ROWS_64) == ["e", "out", "out_1"]
    assert names(m, ROWS_64, device="gpu") == ["out", "out_1"]


def test_a_dear_value_with_one_user_is_inlined():
    assert names(lambda x: np.exp(x).sum(-1), ROWS_64) == ["out"]


def test_a_cheap_value_with_two_users_is_inlined():
    def m(x):
        s = x * 2
        return s.sum(-1), s.max(-1)

    assert names(m, ROWS_64) == ["out", "out_1"]


def test_a_dear_value_that_is_broadcast_is_materialised():
    """It would be computed again for every element it is spread over."""

    def m(x, w):
        return x * np.exp(w)

    assert len(names(m, ROWS_64, ROWS_64[0])) == 2
    assert len(names(m, ROWS_64, ROWS_64[0], device="gpu")) == 1


def test_a_reduction_is_a_node_of_its_own():
    assert names(programs.rownorm, ROWS_64) == ["sum", "out"]


def test_max_reads():
    def total(*xs):
        s = xs[0]
        for x in xs[1:]:
            s = s + x
        return s

    for count, most, nodes in ((5, 5, 1), (6, 5, 2)):
        arrays = [np.zeros((8, 8), np.float32) for _ in range(count)]
        found = lowered(lambda *xs: total(*xs) * 2, *arrays, max_reads=most)
        assert len(found.nodes) == nodes, (count, most)


def test_max_reads_reused():
    def m(a, b, c):
        s = a + b + c
        return np.sum(s, 0), np.max(s, 0)

    arrays = [np.zeros((16, 16), np.float32)] * 3
    arrays = [a.copy() for a in arrays]
    assert len(names(m, *arrays, max_reads_reused=3)) == 2
    assert len(names(m, *arrays, max_reads_reused=2)) == 3


def test_max_ops():
    def m(x):
        for _ in range(10):
            x = np.sqrt(np.abs(x))
        return np.sum(x, -1)

    assert len(names(m, ROWS_64, max_ops=20)) == 1
    assert len(names(m, ROWS_64, max_ops=19)) == 2


def test_max_ops_reused():
    def m(x):
        s = np.sqrt(np.abs(x) + 1)
        return np.sum(s, -1), np.max(s, -1)

    assert len(names(m, ROWS_64, max_ops_reused=3)) == 2
    assert len(names(m, ROWS_64, max_ops_reused=2)) == 3


def test_every_output_has_a_buffer_of_its_own():
    def m(x):
        y = x + 1
        return y, y, x, x.T

    program = lowered(m, ROWS_64)
    assert len(set(program.outputs)) == 4
    kinds = {b.name: b.kind for b in program.buffers}
    assert all(kinds[name] == "computed" for name in program.outputs)


def test_a_matrix_product_is_an_external_call_on_buffers():
    program = lowered(lambda x, w: (x + 1) @ w, ROWS_64, ROWS_64.T)
    kinds = [node.kind for node in program.nodes]
    assert kinds == ["pointwise", "extern"]
    assert program.nodes[1].call == MATMUL


def test_an_empty_result_has_no_node():
    assert names(lambda x: x[:0] + 1, ROWS_64) == []


# reductions --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("axis", "order"),
    [
        (-1, Order("lanes", LANES[np.dtype(np.float32)], CHUNK)),
        (0, Order("rows", 1, ROWS)),
        (None, Order("lanes", LANES[np.dtype(np.float32)], CHUNK)),
        ((0, 1), Order("lanes", LANES[np.dtype(np.float32)], CHUNK)),
    ],
)
def test_the_order_belongs_to_the_node(axis, order):
    (node,) = lowered(lambda x: np.sum(x, axis), ROWS_64).nodes
    assert node.order == order


def test_the_order_does_not_depend_on_layout_or_fusion():
    def f(x):
        return np.sum(x, -1)

    orders = {
        lowered(f, a, **options).nodes[0].order
        for a in (ROWS_64, ROWS_64[::-1], np.zeros((128, 64), np.float32).T, ROWS_64[:, ::2])
        for options in ({}, {"max_nodes": 1}, {"schedule": "seed"}, {"device": "gpu"})
    }
    assert len(orders) == 1


def test_strict_order_on_request():
    (node,) = lowered(lambda x: np.sum(x, -1), ROWS_64, strict=True).nodes
    assert node.order.form == "strict"


def test_variance_takes_two_passes():
    nodes = lowered(programs.variance, ROWS_64).nodes
    assert [node.kind for node in nodes].count("reduction") == 2
    deviations = body_ops(nodes[1])
    assert deviations.index("subtract") < deviations.index("multiply")


def test_layernorm_adds_up_its_rows_twice_not_three_times():
    """The mean and the one inside the variance are the same sum."""
    function, arguments, _ = programs.DEFAULT["layernorm"]
    nodes = lowered(function, *arguments).nodes
    assert [node.kind for node in nodes].count("reduction") == 2


@pytest.mark.parametrize(("extent", "nodes"), [(8, 1), (9, 2)])
def test_short_reductions_become_pointwise(extent, nodes):
    x = np.zeros((64, extent), np.float32)
    assert len(lowered(lambda a: a - np.max(a, -1, keepdims=True), x).nodes) == nodes


def test_reduced_axes_are_flattened_in_logical_order():
    x = np.zeros((4, 5, 6), np.float32)
    (node,) = lowered(lambda a: np.sum(a, (0, 2)), x).nodes
    assert (node.outer_sizes, node.inner_sizes) == ((5,), (4, 6))


# bodies ------------------------------------------------------------------------------------------
def test_a_body_runs_under_any_handler():
    class Depth:
        """How many operations stand on the longest path to each value."""

        def load(self, access, dtype):
            return 0

        def store(self, access, value):
            self.stored = value

        def constant(self, value):
            return 0

        def apply(self, op, args, dtype):
            return 1 + max(args)

        def reduce(self, kind, value, dtype):
            return value

    (node,) = lowered(lambda x: np.sum(np.sqrt(x * x + 1), -1), ROWS_64).nodes
    handler = Depth()
    run(node.body, handler)
    assert handler.stored == 3


def test_nodes_know_the_users_lines():
    (first, second) = lowered(programs.rownorm, ROWS_64).nodes
    assert first.where.text == "return x / np.sum(x, axis=-1, keepdims=True)"
    assert second.where == first.where


def test_a_long_chain_is_cut():
    """Composition is recursive; its depth is bounded whatever the limits of operations say."""

    def f(x):
        for _ in range(2000):
            x = x + 1
        return x

    x = np.zeros((2, 3), np.float32)
    jitted = stax.jit(f, backend="ref", max_ops=10**6, max_reads=10**6)
    assert len(jitted.lower(x).nodes) > 1
    np.testing.assert_array_equal(jitted(x), 2000)
