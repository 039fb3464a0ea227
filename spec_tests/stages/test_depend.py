"""depend: what is recorded, its normal form, and the seed's listings word for word.

takes: bodies and traced functions
gives: a failure when two accesses compare equal and touch other elements, or in another order
holds: normal forms are checked by enumerating addresses
not here: what fuses (``test_fuse``)
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stax_ref as stax
from spec_tests.golden.programs import SEED
from stax_ref.depend import (
    Edges,
    MemoryDep,
    Record,
    WeakDep,
    WholeDep,
    depend,
    merge_axes,
    merged_sizes,
    normal_form,
)
from stax_ref.functions.contractions import MATMUL
from stax_ref.graph import literal
from stax_ref.index import ZERO, Symbol, constant, variable
from stax_ref.lower import Lowered
from stax_ref.node import Access, Body, Buffer, Instr, Node, View, computed

QUICK = settings(derandomize=True, deadline=None, max_examples=150)
F32 = np.dtype(np.float32)

EXAMPLE_1 = """\
op0: SchedulerNode(ComputedBuffer)
op0.writes = [MemoryDep('buf1', c0, {c0: 64})]
op0.met_dependencies = [MemoryDep('primals_1', c0, {c0: 8192})]
op0.group.iteration = ((64,), (128,))

op1: SchedulerNode(ComputedBuffer)
op1.writes = [MemoryDep('buf2', c0, {c0: 8192})]
op1.unmet_dependencies = [MemoryDep('buf1', c0, {c0: 64})]
op1.met_dependencies = [MemoryDep('primals_1', c0, {c0: 8192})]
op1.group.iteration = ((64, 128), ())"""


def staged(name: str):
    function, arguments, options = SEED[name]
    return stax.jit(function, **options).lower(*arguments)


def test_example_7_1_word_for_word():
    assert staged("seed_example_7_1").text("depend") == EXAMPLE_1


@pytest.mark.parametrize(
    ("name", "groupings"),
    [
        ("seed_example_7_2_cpu", [((8192,), ()), ((64,), (128,)), ((64,), (128,))]),
        ("seed_example_7_2_gpu", [((64,), (128,)), ((64,), (128,))]),
    ],
)
def test_example_7_2_groupings(name, groupings):
    assert [r.iteration for r in staged(name).program.edges.records] == groupings


# normal form -------------------------------------------------------------------------------------
def in_order(symbols, index):
    """The values of an index over loops, outermost first, in the order they are run."""
    names = [s.name for s in symbols]
    for values in itertools.product(*(range(s.extent) for s in symbols)):
        yield index.evaluate(dict(zip(names, values, strict=True)))


def loops(sizes):
    return tuple(Symbol(f"i{k}", extent) for k, extent in enumerate(sizes))


SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def accesses(draw):
    """Loops and an affine access of a buffer: any strides, zero and negative among them."""
    symbols = loops(draw(SIZES))
    strides = [draw(st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12, 16, 24, -1, -4])) for _ in symbols]
    if draw(st.booleans()):  # often the strides of a contiguous array, so that axes merge
        block, strides = 1, []
        for symbol in reversed(symbols):
            strides.insert(0, block)
            block *= symbol.extent
    index = constant(draw(st.integers(0, 3)))
    for symbol, stride in zip(symbols, strides, strict=True):
        index = index + variable(symbol) * stride
    return symbols, index - min(index.bounds()[0], 0)


@QUICK
@given(accesses())
def test_normal_form_touches_the_same_elements_in_the_same_order(case):
    symbols, index = case
    buffer = computed("x", (index.bounds()[1] + 1,), F32)
    dep = normal_form(Access("x", (index,)), {"x": buffer}, symbols, "x")
    kept = tuple(Symbol(f"c{k}", size) for k, size in enumerate(dep.sizes))
    short = list(in_order(kept, dep.index))
    repeats = int(np.prod([s.extent for s in symbols])) // max(len(short), 1)
    assert list(in_order(symbols, index)) == [a for a in short for _ in range(repeats)]
    assert dep.elements >= len(set(short))


@QUICK
@given(accesses())
def test_no_trailing_variable_is_unused(case):
    symbols, index = case
    buffer = computed("x", (index.bounds()[1] + 1,), F32)
    dep = normal_form(Access("x", (index,)), {"x": buffer}, symbols, "x")
    assert not dep.sizes or Symbol(f"c{len(dep.sizes) - 1}", dep.sizes[-1]) in dep.index.symbols()


@QUICK
@given(st.lists(accesses(), min_size=1, max_size=1), st.data())
def test_merged_loops_run_in_the_same_order(case, data):
    ((symbols, first),) = case
    strides = [data.draw(st.sampled_from([0, 1, 5, 12])) for _ in symbols]
    second = constant(0)
    for symbol, stride in zip(symbols, strides, strict=True):
        second = second + variable(symbol) * stride
    merged, addresses = merge_axes(symbols, [first, second])
    assert np.prod([s.extent for s in merged]) == np.prod([s.extent for s in symbols])
    for old, new in zip((first, second), addresses, strict=True):
        assert new.is_affine
        assert list(in_order(symbols, old)) == list(in_order(merged, new))


def test_contiguous_axes_merge_and_others_do_not():
    i, j = loops((64, 128))
    address = variable(i) * 128 + variable(j)
    assert merged_sizes((i, j), [address]) == (8192,)
    assert merged_sizes((i, j), [address, variable(i)]) == (64, 128)
    assert merged_sizes((i, j), [variable(i) * 130 + variable(j)]) == (64, 128)
    assert merged_sizes((i, j), [variable(j) * 64 + variable(i)]) == (64, 128)


def test_a_broadcast_counts_each_element_once():
    i, j = loops((64, 128))
    buffer = computed("w", (128,), F32)
    dep = normal_form(Access("w", (variable(j),)), {"w": buffer}, (i, j), "w")
    assert str(dep) == "MemoryDep('w', c1, {c0: 64, c1: 128})"
    assert dep.elements == 128


def test_different_loops_over_the_same_elements_compare_equal():
    i, j, k = *loops((64, 128)), Symbol("k", 8192)
    buffers = {"x": computed("x", (64, 128), F32), "y": computed("y", (8192,), F32)}
    two = normal_form(Access("x", (variable(i), variable(j))), buffers, (i, j), "b")
    one = normal_form(Access("y", (variable(k),)), buffers, (k,), "b")
    assert two == one == MemoryDep("b", variable(Symbol("c0", 8192)), (8192,))


def test_strides_of_an_input_are_part_of_the_dependence():
    i, j = loops((4, 6))
    access = Access("x", (variable(i), variable(j)))
    plain = {"x": computed("x", (4, 6), F32)}
    turned = {"x": Buffer("x", (4, 6), F32, (1, 4), "input")}
    assert normal_form(access, plain, (i, j), "x") != normal_form(access, turned, (i, j), "x")


# records -----------------------------------------------------------------------------------------
def copying(name, source, symbols, shift=0, mutates=None, extent=8):
    """A node that copies a buffer of one axis, elements shifted around."""
    (i,) = symbols
    load = Instr("load", (), F32, Access(source, ((variable(i) + shift) % extent,)))
    store = Instr("store", (0,), F32, Access(name, (variable(i),)))
    body = Body((load, store))
    return Node(name, "pointwise", name, tuple(symbols), (), body, mutates=mutates)


def edges_of(*nodes, outputs=None, extent=8) -> Edges:
    names = ["x", *(n.buffer for n in nodes)]
    buffers = tuple(computed(name, (extent,), F32) for name in names)
    return depend(Lowered(buffers, nodes, tuple(outputs or [nodes[-1].buffer])), False)


def test_reads_and_writes_are_recorded():
    edges = edges_of(copying("a", "x", loops((8,))), copying("b", "a", loops((8,))))
    first, second = edges.records
    whole = variable(Symbol("c0", 8))
    assert first.writes == (MemoryDep("a", whole, (8,)),)
    assert second.reads == (MemoryDep("a", whole, (8,)),)
    assert edges.writer == {"a": "a", "b": "b"}
    assert edges.predecessors() == {"a": (), "b": ("a",)}


def test_an_external_call_depends_on_whole_buffers():
    operands = tuple(View(name, (8,), (None,), (ZERO,)) for name in ("x", "a", "x"))
    call = Node("m", "extern", "m", (), call=MATMUL, operands=operands)
    edges = edges_of(copying("a", "x", loops((8,))), call)
    assert edges.records[1].reads == (WholeDep("x", 8), WholeDep("a", 8))
    assert edges.records[1].writes == (WholeDep("m", 8),)


def test_a_node_nobody_needs_is_dropped():
    unused = copying("u", "x", loops((8,)))
    edges = edges_of(unused, copying("b", "x", loops((8,))))
    assert [record.node.name for record in edges.records] == ["b"]


def test_readers_of_old_contents_come_before_the_one_that_overwrites_them():
    a, reader = copying("a", "x", loops((8,))), copying("reader", "a", loops((8,)))
    over = copying("over", "x", loops((8,)), mutates="a")
    after = copying("after", "a", loops((8,)))
    edges = edges_of(a, reader, over, after, outputs=["reader", "after"])
    records = {record.node.name: record for record in edges.records}
    assert records["over"].weak == (WeakDep("a", "reader"),)
    assert [dep.buffer for dep in records["after"].reads] == ["over"], "renamed as in SSA (7.1)"
    assert set(edges.predecessors()["over"]) == {"reader"}
    assert edges.predecessors()["after"] == ("over",)
    assert "WeakDep('a' read by reader)" in str(edges)


def test_a_second_overwriting_waits_for_readers_of_the_first():
    nodes = [
        copying("a", "x", loops((8,))),
        copying("over", "x", loops((8,)), mutates="a"),
        copying("reader", "a", loops((8,))),
        copying("again", "x", loops((8,)), mutates="a"),
        copying("last", "a", loops((8,))),
    ]
    edges = edges_of(*nodes, outputs=["reader", "last"])
    assert edges.predecessors()["again"] == ("reader",)
    assert edges.predecessors()["last"] == ("again",)


def test_a_constant_reads_nothing():
    (i,) = loops((8,))
    body = Body(
        (
            Instr("constant", (), F32, value=literal(1, F32)),
            Instr("store", (0,), F32, Access("a", (variable(i),))),
        )
    )
    edges = edges_of(Node("a", "pointwise", "a", (i,), (), body))
    assert edges.records[0].reads == ()
    assert isinstance(edges.records[0], Record)
