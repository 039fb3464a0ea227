"""Boxes in layers: none overlap, wires go down and pass no box, the same graph looks the same.

takes: random graphs without cycles
gives: checks of every place
holds: what a reader of the picture relies on, measured from the layout's own figures
not here: what boxes show (test_page.py)
"""

import itertools
import random

import pytest

from stax_ref.page.layout import GAP_ACROSS, Edge, layered


def random_graph(number):
    rng = random.Random(f"layout {number}")
    count = rng.randint(1, 40)
    sizes = [(rng.uniform(40, 240), rng.choice((20, 70))) for _ in range(count)]
    pairs = {(rng.randrange(b), b) for b in range(1, count) for _ in range(rng.randint(0, 3))}
    return sizes, [Edge(a, b, rng.choice(("", "weak"))) for a, b in sorted(pairs)]


@pytest.mark.parametrize("number", range(30))
def test_no_two_boxes_overlap(number):
    sizes, edges = random_graph(number)
    corners = layered(sizes, edges).corners
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(corners, sizes, strict=True)]
    for a, b in itertools.combinations(boxes, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (a, b)


@pytest.mark.parametrize("number", range(30))
def test_wires_go_down_from_the_source_to_every_target_and_pass_no_box(number):
    sizes, edges = random_graph(number)
    layout = layered(sizes, edges)
    assert sum(len(wire.ends) for wire in layout.wires) == len(edges)
    for wire in layout.wires:
        x, y = layout.corners[wire.edge.source]
        width, height = sizes[wire.edge.source]
        assert wire.pieces[0][:2] == pytest.approx((x + width / 2, y + height))
        for x1, top, x2, bottom in wire.pieces:
            assert top <= bottom
            if top == bottom or x1 != x2:
                continue
            for (left, up), (w, h) in zip(layout.corners, sizes, strict=True):
                within = left < x1 < left + w
                assert not (within and up < bottom - 0.01 and top + 0.01 < up + h)


def test_ends_that_are_given_are_kept():
    layout = layered(
        [(100, 20), (100, 20), (200, 60)], [Edge(0, 2, "", 0, -50), Edge(1, 2, "", 0, 50)]
    )
    x = layout.corners[2][0] + 100
    assert sorted(end[0] - x for wire in layout.wires for end in wire.ends) == [-50, 50]


def test_the_lowest_boxes_stand_below_all_others():
    sizes = [(50, 20)] * 5
    edges = [Edge(0, 1), Edge(0, 3), Edge(1, 2), Edge(2, 4)]
    corners = layered(sizes, edges, lowest=(3, 4)).corners
    assert corners[3][1] == corners[4][1] > corners[2][1]


def test_a_chain_is_straight():
    corners = layered([(50, 20)] * 6, [Edge(k, k + 1) for k in range(5)]).corners
    assert len({x for x, _ in corners}) == 1


def test_boxes_of_one_layer_keep_their_distance():
    layout = layered([(50, 20)] * 9, [Edge(0, k) for k in range(1, 9)])
    xs = sorted(x for x, _ in layout.corners[1:])
    assert all(b - a >= 50 + GAP_ACROSS - 1e-6 for a, b in itertools.pairwise(xs))


def test_nothing_is_drawn_of_nothing():
    assert layered([], []).corners == ()
