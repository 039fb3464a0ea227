"""layout: boxes of a graph without cycles in layers, and the wires between them.

Takes sizes and edges; gives places. Layers follow the longest path from a source. A wire that
crosses layers passes between the boxes of each; wires of one start share their way. Holds the two
classical steps: boxes of a layer ordered by the middle of their neighbours, then moved as near to
that middle as their order and distances allow (isotonic regression, so the distances are the least
possible in squares). Not here: what a box shows (``drawing``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 8
GAP_ACROSS, GAP_DOWN = 26.0, 46.0
_WIRE = 6.0


@dataclass(frozen=True, slots=True)
class Edge:
    """A wire from the lower side of one box to the upper side of a later one.

    Args:
        source, target: numbers of boxes, ascending.
        kind: edges of one source, kind and start share a wire.
        start: where it leaves, from the middle of the source.
        end: where it arrives, from the middle of the target; None where it may be anywhere.
    """

    source: int
    target: int
    kind: str = ""
    start: float = 0.0
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Wire:
    """One wire: pieces ``(x, y, x, y)`` from above to below, and where it arrives at a box.

    A box without height is a door in the lower side of a frame: nothing arrives there.
    """

    edge: Edge
    pieces: tuple[tuple[float, float, float, float], ...]
    ends: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Upper left corners of the boxes, the wires, and the size of it all."""

    corners: tuple[tuple[float, float], ...]
    wires: tuple[Wire, ...]
    width: float
    height: float


class _Item:
    """A box, or the place where a wire passes a layer."""

    __slots__ = ("above", "below", "height", "layer", "number", "width", "x")

    def __init__(self, number: int, layer: int, width: float, height: float) -> None:
        self.number = number
        self.layer = layer
        self.width = width
        self.height = height
        self.x = 0.0
        self.above: list[tuple[_Item, float]] = []
        self.below: list[tuple[_Item, float]] = []


def layered(
    sizes: Sequence[tuple[float, float]], edges: Sequence[Edge], lowest: Sequence[int] = ()
) -> Layout:
    """Places for boxes of these sizes (width, height).

    Args:
        sizes: per box, sources before what they lead to.
        edges: each from a box to one with a larger number.
        lowest: boxes that stand together below all others.
    """
    levels = _levels(len(sizes), edges)
    bottom = max((level for k, level in enumerate(levels) if k not in lowest), default=0) + 1
    for number in lowest:
        levels[number] = bottom
    items = [_Item(k, levels[k], *size) for k, size in enumerate(sizes)]
    layers: list[list[_Item]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for item in items:
        layers[item.layer].append(item)
    trunks = _trunks(items, layers, edges)
    for layer in layers:
        _pack(layer)
    for sweep in range(SWEEPS):
        downward = sweep % 2 == 0
        for layer in layers if downward else reversed(layers):
            _reorder(layer, downward)
    for sweep in range(SWEEPS + 1):
        downward = sweep % 2 == 0
        for layer in layers if downward else reversed(layers):
            _settle(layer, downward, both=sweep == SWEEPS)
    return _placed(items, layers, edges, trunks)


def _levels(count: int, edges: Sequence[Edge]) -> list[int]:
    """Layers by the longest path; a source stands right above the first box it leads to."""
    levels = [0] * count
    led, leads = set(), {}  # type: set[int], dict[int, int]
    for edge in sorted(edges, key=lambda e: e.source):
        assert edge.source < edge.target, edge
        levels[edge.target] = max(levels[edge.target], levels[edge.source] + 1)
        led.add(edge.target)
    for edge in edges:
        before = leads.get(edge.source, levels[edge.target])
        leads[edge.source] = min(before, levels[edge.target])
    for source, first in leads.items():
        if source not in led:
            levels[source] = first - 1
    return levels


_Key = tuple[int, str, float]


def _key(edge: Edge) -> _Key:
    return edge.source, edge.kind, edge.start


def _trunks(
    items: Sequence[_Item], layers: list[list[_Item]], edges: Sequence[Edge]
) -> dict[_Key, list[_Item]]:
    """Per wire the places where it passes layers; connects every item with its neighbours."""
    trunks: dict[_Key, list[_Item]] = {}
    for edge in edges:
        source, target = items[edge.source], items[edge.target]
        trunk = trunks.setdefault(_key(edge), [])
        while source.layer + len(trunk) + 1 < target.layer:
            bend = _Item(-1, source.layer + len(trunk) + 1, _WIRE, 0)
            before, start = (trunk[-1], 0.0) if trunk else (source, edge.start)
            _connect(before, bend, start, 0.0)
            layers[bend.layer].append(bend)
            trunk.append(bend)
        reached = target.layer - source.layer - 1
        before, start = (trunk[reached - 1], 0.0) if reached else (source, edge.start)
        _connect(before, target, start, edge.end or 0.0)
    return trunks


def _connect(upper: _Item, lower: _Item, start: float, end: float) -> None:
    """Each learns where the other would like it: right below or above the wire's other end."""
    upper.below.append((lower, end - start))
    lower.above.append((upper, start - end))


def _pack(layer: list[_Item]) -> None:
    """Side by side in their order, around 0."""
    x = 0.0
    for item in layer:
        item.x = x + item.width / 2
        x += item.width + GAP_ACROSS
    for item in layer:
        item.x -= (x - GAP_ACROSS) / 2


def _wish(item: _Item, downward: bool, both: bool = False) -> float:
    near = item.above if downward else item.below
    if both:
        near = item.above + item.below
    return sum(other.x + shift for other, shift in near) / len(near) if near else item.x


def _reorder(layer: list[_Item], downward: bool) -> None:
    layer.sort(key=lambda item: _wish(item, downward))
    _pack(layer)


def _settle(layer: list[_Item], downward: bool, both: bool) -> None:
    """Move the items of a layer towards their wishes; order and distances stay.

    With the distances subtracted, the nearest places in squares are an isotonic regression: runs
    whose wishes would cross share their mean (pool adjacent violators).
    """
    offsets = [0.0]
    for left, right in pairwise(layer):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + GAP_ACROSS)
    pools: list[tuple[float, float, int]] = []  # weighted sum, weight, how many
    for item, offset in zip(layer, offsets, strict=True):
        weight = 4.0 if item.number < 0 else 1.0  # wires that pass stay straight
        pool = (weight * (_wish(item, downward, both) - offset), weight, 1)
        while pools and pools[-1][0] / pools[-1][1] > pool[0] / pool[1]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    means = [total / weight for total, weight, count in pools for _ in range(count)]
    for item, mean, offset in zip(layer, means, offsets, strict=True):
        item.x = mean + offset


def _placed(
    items: Sequence[_Item],
    layers: Sequence[Sequence[_Item]],
    edges: Sequence[Edge],
    trunks: dict[_Key, list[_Item]],
) -> Layout:
    left = min((item.x - item.width / 2 for layer in layers for item in layer), default=0.0)
    for layer in layers:
        for item in layer:
            item.x -= left
    tops, bottoms, y = [], [], 0.0
    for layer in layers:
        tops.append(y)
        bottoms.append(y + max(item.height for item in layer))
        y = bottoms[-1] + GAP_DOWN
    arrivals = _arrivals(items, edges)
    sharing: dict[_Key, list[Edge]] = {}
    for edge in edges:
        sharing.setdefault(_key(edge), []).append(edge)
    wires = []
    for key, trunk in trunks.items():
        own = sharing[key]
        source = items[key[0]]
        spots = [(source.x + key[2], tops[source.layer] + source.height)]
        pieces = []
        for bend in trunk:
            pieces.append((*spots[-1], bend.x, tops[bend.layer]))
            if tops[bend.layer] < bottoms[bend.layer]:
                pieces.append((bend.x, tops[bend.layer], bend.x, bottoms[bend.layer]))
            spots.append((bend.x, bottoms[bend.layer]))
        ends = []
        for edge in own:
            target = items[edge.target]
            arrival = (arrivals[edge], tops[target.layer])
            pieces.append((*spots[target.layer - source.layer - 1], *arrival))
            ends += [arrival] if target.height else []
        wires.append(Wire(own[0], tuple(pieces), tuple(ends)))
    corners = tuple((item.x - item.width / 2, tops[item.layer]) for item in items)
    width = max((item.x + item.width / 2 for layer in layers for item in layer), default=0.0)
    return Layout(corners, tuple(wires), width, bottoms[-1] if bottoms else 0.0)


def _arrivals(items: Sequence[_Item], edges: Sequence[Edge]) -> dict[Edge, float]:
    """Where each edge arrives; those free to choose share the upper side in the order they come."""
    found: dict[Edge, float] = {}
    free: dict[int, list[Edge]] = {}
    for edge in edges:
        if edge.end is None:
            free.setdefault(edge.target, []).append(edge)
        else:
            found[edge] = items[edge.target].x + edge.end
    for number, arriving in free.items():
        target = items[number]
        arriving.sort(key=lambda edge: items[edge.source].x + edge.start)
        step = min(24.0, 0.8 * target.width / len(arriving))
        for k, edge in enumerate(arriving):
            found[edge] = target.x + step * (k - (len(arriving) - 1) / 2)
    return found
