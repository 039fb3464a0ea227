"""looptree: a tree is only ever given when every element read was written before, in its iteration.

takes: a producer, and consumers that read it shifted, reversed, strided, transposed, reshaped
gives: a failure for every tree under which a parallel order could read an unwritten element
holds: Propositions 7.2 and 7.3(2), by enumerating iterations; the numbering of iterations is redone
    here with plain integers
not here: which pairs are looked at, and reasons of the scheduler (``test_fuse``)
"""

import itertools
import math

import numpy as np
import pytest

from stax_ref.functions.contractions import MATMUL
from stax_ref.index import (
    ZERO,
    Index,
    Symbol,
    c_strides,
    constant,
    digits,
    flatten,
    variable,
)
from stax_ref.looptree import LoopTree, Segment, linear, loop_tree, place
from stax_ref.node import Access, Body, Buffer, Instr, Node, View, computed
from stax_ref.ops import planned_order

F32 = np.dtype(np.float32)
SHAPE = (4, 6)


def symbols(prefix, sizes):
    return tuple(Symbol(f"{prefix}{k}", extent) for k, extent in enumerate(sizes))


def producer(shape=SHAPE, reduced=None) -> Node:
    """Writes buffer ``b``; a reduction over an axis of ``x`` when ``reduced`` is its extent."""
    outer = symbols("i", shape)
    here = tuple(variable(s) for s in outer)
    if reduced is None:
        load = Instr("load", (), F32, Access("x", here))
        body = Body((load, Instr("store", (0,), F32, Access("b", here))))
        return Node("b", "pointwise", "b", outer, (), body)
    inner = symbols("r", (reduced,))
    read = Access("x", (*here, variable(inner[0])))
    body = (
        Instr("load", (), F32, read),
        Instr("reduce", (0,), F32, kind="sum"),
        Instr("store", (1,), F32, Access("b", here)),
    )
    order = planned_order(F32, True)
    return Node("b", "reduction", "b", outer, inner, Body(body), order)


def consumer(sizes, read, reduced=None) -> Node:
    """Writes ``c`` with loops of these sizes; reads ``b`` at ``read(loops)``."""
    outer = symbols("i", sizes)
    inner = symbols("r", () if reduced is None else (reduced,))
    index = tuple(read(*(variable(s) for s in (*outer, *inner))))
    store = Access("c", tuple(variable(s) for s in outer))
    instrs = [Instr("load", (), F32, Access("b", index))]
    if reduced is not None:
        instrs.append(Instr("reduce", (0,), F32, kind="max"))
    instrs.append(Instr("store", (len(instrs) - 1,), F32, store))
    kind, order = "pointwise", None
    if reduced is not None:
        kind, order = "reduction", planned_order(F32, True)
    return Node("c", kind, "c", outer, inner, Body(tuple(instrs)), order)


def buffers_of(first: Node, second: Node, shape) -> dict[str, Buffer]:
    source = (*shape, *(s.extent for s in first.inner))
    return {
        "x": computed("x", source, F32),
        "b": computed("b", shape, F32),
        "c": computed("c", second.outer_sizes, F32),
    }


def illegal_reads(tree: LoopTree, first: Node, second: Node, shape) -> list[str]:
    """Every read that some order of the parallel loops makes too early."""
    shared = math.prod(tree.outer)
    where = {name: k for k, segment in enumerate(tree.segments) for name in segment.nodes}
    read = next(i.access for i in second.body.instrs if i.op == "load")
    flat = flatten(read.index, c_strides(shape))
    per_first = math.prod(first.outer_sizes) // shared
    per_second = math.prod(second.outer_sizes) // shared
    found = []
    ranges = [range(s.extent) for s in (*second.outer, *second.inner)]
    names = [s.name for s in (*second.outer, *second.inner)]
    for values in itertools.product(*ranges):
        element = flat.evaluate(dict(zip(names, values, strict=True)))
        number, inside = position(values, second)
        if element // per_first != number // per_second:
            found.append(f"{values} reads element {element} of another outer iteration")
        elif where["b"] > where["c"]:
            found.append(f"{values} runs before its producer")
        elif where["b"] == where["c"]:
            width = math.prod(second.inner_sizes)
            if first.is_reduction:
                found.append(f"{values} reads a reduction that is not finished")
            elif element % per_first != (number % per_second) * width + inside:
                found.append(f"{values} reads another inner iteration of its own loop")
    return found


def position(values, node: Node) -> tuple[int, int]:
    """The number of a pointwise iteration and of the reduced one, in C order."""
    count = len(node.outer)
    sizes = (*node.outer_sizes, *node.inner_sizes)
    number = inside = 0
    for k, (v, extent) in enumerate(zip(values, sizes, strict=True)):
        if k < count:
            number = number * extent + v
        else:
            inside = inside * extent + v
    return number, inside


N, M = SHAPE
FLAT = N * M
READS = {
    "same": (SHAPE, lambda i, j: (i, j)),
    "shifted row": (SHAPE, lambda i, j: ((i + 1) % N, j)),
    "shifted column": (SHAPE, lambda i, j: (i, (j + 1) % M)),
    "previous row": ((N - 1, M), lambda i, j: (i, j)),
    "next row": ((N - 1, M), lambda i, j: (i + 1, j)),
    "reversed rows": (SHAPE, lambda i, j: (i * -1 + (N - 1), j)),
    "reversed columns": (SHAPE, lambda i, j: (i, j * -1 + (M - 1))),
    "strided rows": ((N // 2, M), lambda i, j: (i * 2, j)),
    "strided columns": ((N, M // 2), lambda i, j: (i, j * 2)),
    "odd columns": ((N, M // 2), lambda i, j: (i, j * 2 + 1)),
    "transposed": ((M, N), lambda i, j: (j, i)),
    "first column": ((N,), lambda i: (i, constant(0))),
    "first row": ((M,), lambda j: (constant(0), j)),
    "one element": (SHAPE, lambda i, j: (constant(2), constant(3))),
    "flat": ((FLAT,), lambda k: digits(k, SHAPE)),
    "flat reversed": ((FLAT,), lambda k: (k // M * -1 + (N - 1), k % M)),
    "in threes": ((N * 2, 3), lambda i, j: digits(i * 3 + j, SHAPE)),
    "in eights": ((3, 8), lambda i, j: digits(i * 8 + j, SHAPE)),
    "rows twice": ((2, N, M), lambda k, i, j: (i, j)),
    "every row against one": ((N, N, M), lambda k, i, j: (k, j)),
    "reshaped": ((2, 2, 6), lambda a, b, j: (a * 2 + b, j)),
}
REDUCED = {
    "rows": ((N,), lambda i, r: (i, r), M),
    "columns": ((M,), lambda j, r: (r, j), N),
    "rows reversed": ((N,), lambda i, r: (i * -1 + (N - 1), r), M),
    "rows inside out": ((N,), lambda i, r: (i, r * -1 + (M - 1)), M),
    "whole": ((), lambda r: digits(r, SHAPE), FLAT),
    "halves": ((2,), lambda i, r: digits(i * 12 + r, SHAPE), 12),
}
OUTER = sorted(
    {
        (),
        (N,),
        SHAPE,
        (2,),
        (M,),
        (FLAT,),
        (N, 2),
        (2, 2),
        (3,),
        (8,),
        (2, 2, 6),
        (N, N),
        (1,),
        (N * 2,),
        (12,),
    }
)
CASES = [(name, consumer(*entry)) for name, entry in READS.items()]
CASES += [(f"reduced {name}", consumer(*entry)) for name, entry in REDUCED.items()]


@pytest.mark.parametrize("outer", OUTER, ids=str)
@pytest.mark.parametrize(("name", "second"), CASES, ids=[name for name, _ in CASES])
@pytest.mark.parametrize("reduced", [None, 5], ids=["pointwise", "reduction"])
def test_no_tree_reads_what_is_not_written(name, second, outer, reduced):
    first = producer(SHAPE, reduced)
    tree = loop_tree([first, second], buffers_of(first, second, SHAPE), outer)
    if isinstance(tree, LoopTree):
        assert illegal_reads(tree, first, second, SHAPE) == []
    else:
        assert tree, "a refusal has a reason"


ACCEPTED = [
    ("same", None, SHAPE, "4 x 6 { b, c }"),
    ("same", None, (N,), "4 { [6] b, c }"),
    ("reversed columns", None, (N,), "4 { [6] b ; [6] c }"),
    ("shifted column", None, (N,), "4 { [6] b ; [6] c }"),
    ("strided columns", None, (N,), "4 { [6] b ; [3] c }"),
    ("first column", None, (N,), "4 { [6] b ; c }"),
    ("every row against one", None, (N,), "4 { [6] b ; [4 x 6] c }"),
    ("flat", None, SHAPE, "4 x 6 { b, c }"),
    ("reduced rows", None, (N,), "4 { [6!] b, c }"),
    ("reduced rows inside out", None, (N,), "4 { [6] b ; [6!] c }"),
    ("in eights", None, (N,), "4 { [6] b, c }"),
    ("strided rows", None, (2,), "2 { [12] b ; [6] c }"),
    ("reduced whole", None, (), "one iteration { [24!] b, c }"),
    ("same", 5, SHAPE, "4 x 6 { [5!] b ; c }"),
    ("reduced rows", 5, (N,), "4 { [6 x 5!] b ; [6!] c }"),
]


@pytest.mark.parametrize(("name", "reduced", "outer", "text"), ACCEPTED)
def test_distance_zero_is_accepted(name, reduced, outer, text):
    second = dict(CASES)[name]
    first = producer(SHAPE, reduced)
    assert str(loop_tree([first, second], buffers_of(first, second, SHAPE), outer)) == text


REFUSED = [
    ("shifted row", (N,), "another iteration"),
    ("next row", (N - 1,), "another iteration"),
    ("next row", (N,), "18 iterations, not a multiple of 4"),
    ("reversed rows", (N,), "another iteration"),
    ("strided rows", (N,), "another iteration"),
    ("transposed", (M,), "another iteration"),
    ("first row", (M,), "another iteration"),
    ("one element", (N,), "another iteration"),
    ("flat reversed", (N,), "another iteration"),
    ("reduced columns", (M,), "another iteration"),
    ("reduced rows reversed", (N,), "another iteration"),
    ("reduced whole", (N,), "not a multiple of 4"),
    ("every row against one", (), "no outer loop is shared"),
]


@pytest.mark.parametrize(("name", "outer", "reason"), REFUSED)
def test_other_distances_are_refused_with_the_reason(name, outer, reason):
    second, first = dict(CASES)[name], producer()
    answer = loop_tree([first, second], buffers_of(first, second, SHAPE), outer)
    assert isinstance(answer, str), str(answer)
    assert reason in answer


@pytest.mark.parametrize(
    ("name", "segments", "complaint"),
    [
        ("reversed rows", (("b",), ("c",)), "another outer iteration"),
        ("reversed columns", (("b", "c"),), "another inner iteration"),
        ("same", (("c",), ("b",)), "before its producer"),
    ],
)
def test_the_enumeration_sees_illegal_trees(name, segments, complaint):
    second, first = dict(CASES)[name], producer()
    tree = LoopTree((N,), tuple(Segment(nodes, (M,), None) for nodes in segments))
    assert complaint in illegal_reads(tree, first, second, SHAPE)[0]


def test_figure_7_1():
    """Left: b[i] reads a[i], distance 0. Right: b[i] reads a[i + 1], distance +1."""
    first = producer((8,))
    left, right = consumer((7,), lambda i: (i,)), consumer((7,), lambda i: (i + 1,))
    whole = consumer((8,), lambda i: (i,))
    assert str(loop_tree([first, whole], buffers_of(first, whole, (8,)), (8,))) == "8 { b, c }"
    for second in (left, right):
        assert isinstance(loop_tree([first, second], buffers_of(first, second, (8,)), (7,)), str)


def test_negative_distance_is_refused_too():
    """Legal when run in order (Proposition 7.3(1)), refused because outer loops are parallel."""
    first, second = producer((8,)), consumer((8,), lambda i: ((i + 7) % 8,))
    answer = loop_tree([first, second], buffers_of(first, second, (8,)), (8,))
    assert isinstance(answer, str)


def test_a_write_out_of_order_is_refused():
    """Injectivity is checked, not assumed: a producer must write element k in iteration k."""
    i, j = symbols("i", SHAPE)
    here = (variable(i), variable(j))
    turned = Access("b", (variable(j), variable(i)))
    body = Body((Instr("load", (), F32, Access("x", here)), Instr("store", (0,), F32, turned)))
    first = Node("b", "pointwise", "b", (i, j), (), body)
    second = consumer((M, N), lambda a, b: (a, b))
    buffers = {**buffers_of(first, second, SHAPE), "b": computed("b", (M, N), F32)}
    answer = loop_tree([first, second], buffers, (N,))
    assert answer == "b does not write b in order"


def test_an_external_call_has_no_tree():
    operand = View("x", (8,), (None,), (ZERO,))
    call = Node("m", "extern", "m", (), call=MATMUL, operands=(operand,))
    assert loop_tree([call], {}, ()) == "m is an external call"


def test_two_orders_of_reduction_do_not_share_a_loop():
    first = producer((N,), M)
    rows = Node(
        "c", "reduction", "c", symbols("i", (N,)), symbols("r", (M,)), Body(()), _rows_order()
    )
    tree = loop_tree([first, rows], buffers_of(first, rows, (N,)), (N,))
    assert str(tree) == "4 { [6!] b ; [6!] c }"


def _rows_order():
    return planned_order(F32, False)


def test_place_numbers_iterations_in_c_order():
    node = consumer((2, 3, 4), lambda a, b, c: (a, b))
    outer = symbols("o", (6,))
    loops = place(node, outer, Segment(("c",), (4,), None))
    joined = [loops.replacement[s] for s in node.outer]
    expected = digits(linear((*outer, Symbol("j0", 4))), (2, 3, 4))
    assert joined == list(expected)
    assert all(isinstance(entry, Index) for entry in joined)
