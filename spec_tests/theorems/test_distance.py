"""Propositions 7.2 and 7.3: which loops may be fused, by running them in every order that counts.

takes: every injective write and every read over small ranges; every index form over small loops
gives: a failure where a distance and a run disagree, or the scheduler's test accepts too much
holds: what the fused loops compute, element by element, with plain lists
not here: which loop trees are chosen (``stages/test_looptree``); overwriting (``faults``)

A run writes ``100 + i`` in iteration ``i`` of ``a`` over a buffer that held ``-1 - k`` at place
``k``, so that no value read is right by accident.
"""

import itertools
import math

import numpy as np
import pytest

from stax_ref.index import Symbol, constant, variable
from stax_ref.looptree import LoopTree, loop_tree
from stax_ref.node import Access, Body, Instr, Node, computed

F32 = np.dtype(np.float32)


def injective(count, places):
    """Every injective map from ``range(count)`` to ``range(places)``."""
    return itertools.permutations(range(places), count)


def maps(count, places):
    """Every map from ``range(count)`` to ``range(places)``."""
    return itertools.product(range(places), repeat=count)


def run(steps, write, read, places):
    """What ``b`` reads when steps ``("a", i)`` and ``("b", j)`` run in this order."""
    buffer = [-1 - k for k in range(places)]
    seen = {}
    for which, number in steps:
        if which == "a":
            buffer[write[number]] = 100 + number
        else:
            seen[number] = buffer[read[number]]
    return seen


def apart(first, second):
    """The original order: all of ``a``, then all of ``b``."""
    return [*(("a", i) for i in range(first)), *(("b", j) for j in range(second))]


def blocks(order, first, second):
    """Fused: for each outer iteration its part of ``a``, then its part of ``b``."""
    steps = []
    for outer in order:
        steps += [("a", i) for i in range(outer * first, (outer + 1) * first)]
        steps += [("b", j) for j in range(outer * second, (outer + 1) * second)]
    return steps


def interleavings(chains):
    """Every order of all steps that keeps the order inside each chain."""
    if not any(chains):
        yield []
    for k, chain in enumerate(chains):
        if chain:
            rest = [*chains[:k], chain[1:], *chains[k + 1 :]]
            for tail in interleavings(rest):
                yield [chain[0], *tail]


def distances(write, read, first=1, second=1):
    """Definition 7.4 on the shared outer loop, where the element read is one that ``a`` writes."""
    place = {element: i for i, element in enumerate(write)}
    return [
        place[element] // first - j // second for j, element in enumerate(read) if element in place
    ]


@pytest.mark.parametrize(("count", "inner", "places"), [(2, 2, 3), (3, 1, 4), (3, 2, 3)])
def test_proposition_7_2_reads_at_the_write_index_may_be_fused(count, inner, places):
    """Every read is ``w(i)``, ``i`` a prefix of the reader's iteration: fused is as before."""
    for write in injective(count, places):
        read = [write[j // inner] for j in range(count * inner)]
        steps = blocks(range(count), 1, inner)
        before = run(apart(count, count * inner), write, read, places)
        assert run(steps, write, read, places) == before


def test_proposition_7_2_needs_an_injective_write():
    """Two iterations write one place: the reader of the first sees it too early or too late."""
    write, read = [0, 0], [0, 0]
    assert run(blocks(range(2), 1, 1), write, read, 1) != run(apart(2, 2), write, read, 1)


@pytest.mark.parametrize(("count", "places"), [(2, 3), (3, 3), (3, 5), (4, 4)])
def test_proposition_7_3_1_sequential_iff_no_distance_is_positive(count, places):
    legal = illegal = 0
    for write in injective(count, places):
        for read in maps(count, places):
            same = run(blocks(range(count), 1, 1), write, read, places) == run(
                apart(count, count), write, read, places
            )
            assert same == all(d <= 0 for d in distances(write, read)), (write, read)
            legal, illegal = legal + same, illegal + (not same)
    assert legal > illegal / 10
    assert illegal > legal / 10


@pytest.mark.parametrize(("count", "places"), [(2, 2), (2, 4), (3, 3), (3, 4)])
def test_proposition_7_3_2_parallel_iff_every_distance_is_zero(count, places):
    """Every interleaving of the outer iterations, steps of one in their order."""
    orders = list(interleavings([[("a", k), ("b", k)] for k in range(count)]))
    assert len(orders) == math.factorial(2 * count) // 2**count
    verdicts = set()
    for write in injective(count, places):
        for read in maps(count, places):
            before = run(apart(count, count), write, read, places)
            same = all(run(order, write, read, places) == before for order in orders)
            assert same == all(d == 0 for d in distances(write, read)), (write, read)
            verdicts.add(same)
    assert verdicts == {True, False}


@pytest.mark.parametrize(("outer", "first", "second"), [(2, 2, 1), (2, 1, 2), (2, 2, 2), (3, 1, 2)])
def test_proposition_7_3_with_inner_loops_of_their_own(outer, first, second):
    """Distances are taken on the shared outer loop only; inside it all of ``a`` runs first."""
    places = outer * first
    for write in injective(places, places):
        for read in maps(outer * second, places):
            found = distances(write, read, first, second)
            before = run(apart(places, outer * second), write, read, places)

            def same(order, write=write, read=read, before=before):
                return run(blocks(order, first, second), write, read, places) == before

            assert same(range(outer)) == all(d <= 0 for d in found), (write, read)
            assert all(map(same, itertools.permutations(range(outer)))) == (not any(found))


def test_proposition_7_3_distances_of_two_outer_loops_compare_lexicographically():
    """Outer loops (2, 2): the pair of distances against the order in which numbers run."""
    pairs = list(itertools.product(range(2), repeat=2))
    for write in injective(4, 4):
        place = {element: pairs[i] for i, element in enumerate(write)}
        for read in maps(4, 4):
            delta = [
                tuple(p - q for p, q in zip(place[element], pairs[j], strict=True))
                for j, element in enumerate(read)
            ]
            before = run(apart(4, 4), write, read, 4)
            same = run(blocks(range(4), 1, 1), write, read, 4) == before
            assert same == all(d <= (0, 0) for d in delta), (write, read)


# the scheduler's own test ------------------------------------------------------------------------
def loops(sizes):
    return tuple(Symbol(f"i{k}", extent) for k, extent in enumerate(sizes))


def node(name, sizes, source, read, write=None):
    """A pointwise node that reads ``source`` at ``read`` and writes its buffer in order."""
    symbols = loops(sizes)
    here = tuple(map(variable, symbols)) if write is None else (write,)
    load = Instr("load", (), F32, Access(source, (read,)))
    store = Instr("store", (0,), F32, Access(name, here))
    return Node(name, "pointwise", name, symbols, (), Body((load, store)))


def in_order(index, sizes):
    """The values of an index in every iteration, outermost loop first."""
    names = [symbol.name for symbol in loops(sizes)]
    return [
        index.evaluate(dict(zip(names, values, strict=True)))
        for values in itertools.product(*map(range, sizes))
    ]


def forms(sizes, limit):
    """Affine, divided and remaindered indices over these loops that stay inside the buffer."""
    found = {}
    for strides in itertools.product((-1, 0, 1, 2, 3, 4, 6), repeat=len(sizes)):
        affine = constant(0)
        for symbol, stride in zip(loops(sizes), strides, strict=True):
            affine = affine + variable(symbol) * stride
        for offset in range(limit) if limit < 12 else (0, 1, 6, 11):
            shifted = affine + offset
            if shifted.bounds()[0] < 0:
                continue
            digits = [shifted // d for d in (2, 3, 4)] + [shifted % d for d in (2, 3, 4, 6, limit)]
            swapped = [shifted % d * (limit // d) + shifted // d % (limit // d) for d in (2, 3)]
            for form in (shifted, *digits, *swapped):
                if form not in found:
                    values = in_order(form, sizes)
                    if 0 <= min(values) and max(values) < limit:
                        found[form] = values
    return found


OUTER = [(), (2,), (3,), (4,), (6,), (12,), (2, 2), (2, 3), (3, 2), (2, 6), (6, 2)]


@pytest.mark.parametrize(
    ("sizes", "extent"),
    [
        *(((n,), extent) for n in (4, 6, 12) for extent in (4, 6, 12)),
        *((sizes, extent) for sizes in ((2, 2), (2, 3)) for extent in (4, 6)),
        *((sizes, extent) for sizes in ((3, 4), (2, 6)) for extent in (6, 12)),
    ],
    ids=str,
)
def test_the_scheduler_never_accepts_another_distance_than_zero(sizes, extent):
    """Every small index form: a tree is given only if each element is written where it is read."""
    first = node("a", (extent,), "x", variable(loops((extent,))[0]))
    accepted = {True: 0, False: 0}
    for form, elements in forms(sizes, extent).items():
        second = node("b", sizes, "a", form)
        buffers = {
            "x": computed("x", (extent,), F32),
            "a": computed("a", (extent,), F32),
            "b": computed("b", sizes, F32),
        }
        for outer in OUTER:
            shared = math.prod(outer)
            if extent % shared or len(elements) % shared:
                continue
            tree = loop_tree([first, second], buffers, outer)
            per_first, per_second = extent // shared, len(elements) // shared
            zero = all(e // per_first == j // per_second for j, e in enumerate(elements))
            if isinstance(tree, str):
                accepted[False] += 1
                continue
            accepted[True] += 1
            assert zero, f"{form} under {outer}: {tree}"
            together = any({"a", "b"} <= set(segment.nodes) for segment in tree.segments)
            if together:
                assert elements == list(range(extent)), f"{form} under {outer}: {tree}"
    assert accepted[True]
    assert accepted[False]


def test_distance_zero_of_a_plain_index_is_accepted():
    """The other direction where it is promised: the writer's own index, with inner loops or not."""
    for extent, inner in itertools.product((2, 3, 4, 6), (1, 2, 5)):
        sizes = (extent, inner) if inner > 1 else (extent,)
        first = node("a", (extent,), "x", variable(loops((extent,))[0]))
        second = node("b", sizes, "a", variable(loops(sizes)[0]))
        buffers = {
            "x": computed("x", (extent,), F32),
            "a": computed("a", (extent,), F32),
            "b": computed("b", sizes, F32),
        }
        assert isinstance(loop_tree([first, second], buffers, (extent,)), LoopTree)


@pytest.mark.parametrize("extent", [4, 6])
def test_a_writer_that_is_not_injective_is_refused(extent):
    """Every small form of a write, read back at exactly that index (Proposition 7.2's premise)."""
    buffers = {name: computed(name, (extent,), F32) for name in ("x", "a", "b")}
    verdicts = set()
    for form, elements in forms((extent,), extent).items():
        first = node("a", (extent,), "x", variable(loops((extent,))[0]), write=form)
        second = node("b", (extent,), "a", form)
        tree = loop_tree([first, second], buffers, (extent,))
        if len(set(elements)) < extent:
            assert isinstance(tree, str), f"{form} writes {elements}: {tree}"
            assert "does not write a in order" in tree
        verdicts.add((len(set(elements)) == extent, isinstance(tree, LoopTree)))
    assert (True, True) in verdicts
    assert (False, False) in verdicts
