"""drawing: the graph of a program before and after fusion.

Takes a ``Program``; gives two pictures. A node is a box with the buffers it writes below it; a wire
leads from a buffer to whoever reads it, a dashed one orders two nodes and carries nothing. After
fusion a kernel is a box around its nodes, and what it reads from before enters through its upper
side. Not here: where boxes stand (``layout``), memory (``timeline``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..compile import Program
from ..dtypes import short
from ..group import Group
from ..node import Buffer, Node
from .layout import Edge, Layout, Wire, layered
from .markup import Markup, box, element, joined, label, picture, shortened, size_text, text_width

MARGIN = 16.0
LINE = 16.0
CHIP = 20.0
PAD = 10.0
MOST = 30
"""Characters of a name before it is cut; the whole is in the box's title."""

WEAK = "weak"


def before(program: Program) -> Markup:
    """The nodes of ``lower`` and the buffers between them."""
    known, storage = program.edges.named, _storage(program)
    shapes: list[_Shape] = []
    edges: list[Edge] = []
    chips: dict[str, tuple[int, float]] = {}
    where: dict[str, int] = {}

    def read(buffer: str) -> tuple[int, float]:
        if buffer not in chips:
            chips[buffer] = (len(shapes), 0.0)
            shapes.append(_chip_shape(known[buffer], storage))
        return chips[buffer]

    for record in program.edges.records:
        sources = [read(name) for name in dict.fromkeys(dep.buffer for dep in record.reads)]
        number = where[record.node.name] = len(shapes)
        shapes.append(_node_shape(record.node, known, storage))
        chips |= {name: (number, shift) for name, shift in shapes[-1].starts.items()}
        edges += [Edge(source, number, "", start) for source, start in sources]
        edges += [Edge(where[dep.reader], number, WEAK) for dep in record.weak]
    return _picture("the graph before fusion", shapes, edges)


def after(program: Program) -> Markup:
    """The kernels, with their nodes inside."""
    known, storage = program.edges.named, _storage(program)
    shapes: list[_Shape] = []
    edges: list[Edge] = []
    chips: dict[str, tuple[int, float]] = {}
    owner = {n.name: k for k, group in enumerate(program.sequence) for n in group.nodes}
    where: dict[int, int] = {}
    for number, (group, step) in enumerate(zip(program.sequence, program.plan.steps, strict=True)):
        entering = [name for name in _reads(group) if name not in _written(group)]
        for name in entering:
            if name not in chips:
                chips[name] = (len(shapes), 0.0)
                shapes.append(_chip_shape(known[name], storage))
        later = {name for other in program.sequence[number + 1 :] for name in _reads(other)}
        leaving = [name for name in _written(group) if name in later]
        shape = _group_shape(group, step.name, entering, leaving, known, storage)
        where[number] = len(shapes)
        for name in entering:
            source, start = chips[name]
            edges.append(Edge(source, len(shapes), "", start, shape.ends[name]))
        readers = dict.fromkeys(owner[dep.reader] for r in group.records for dep in r.weak)
        edges += [Edge(where[k], where[number], WEAK) for k in readers if k != number]
        chips |= {name: (len(shapes), start) for name, start in shape.starts.items()}
        shapes.append(shape)
    return _picture("the graph after fusion", shapes, edges)


def legend() -> Markup:
    """What the colours and lines mean."""
    kinds = ("input", "register", "row", "tile", "arena", "output")
    items = [element("span", Markup(f'<i class="{kind}"></i>'), kind) for kind in kinds]
    items.append(element("span", Markup('<i class="weak"></i>'), "order only (weak)"))
    return element("p", *items, class_="legend")


@dataclass(frozen=True, slots=True)
class _Shape:
    """A box of a picture, drawn at the origin.

    ``starts`` says per buffer where its wire leaves, ``ends`` where wires arrive, from the middle.
    """

    width: float
    height: float
    drawn: Markup
    starts: dict[str, float] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)


def _storage(program: Program) -> dict[str, str]:
    """Buffer → the class of its chip."""
    kinds = {buffer.name: "input" for buffer in program.edges.buffers}
    return kinds | {slot.buffer: slot.kind for slot in program.plan.slots}


def _reads(group: Group) -> list[str]:
    return list(dict.fromkeys(dep.buffer for record in group.records for dep in record.reads))


def _written(group: Group) -> list[str]:
    return [name for node in group.nodes for name in node.buffers]


# shapes -------------------------------------------------------------------------------------------
def _chip_text(buffer: Buffer) -> str:
    return f"{shortened(buffer.name, MOST)}  {size_text(buffer.nbytes)}"


def _chip_width(buffer: Buffer) -> float:
    return text_width(_chip_text(buffer)) + 2 * PAD


def _chip(x: float, y: float, buffer: Buffer, storage: dict[str, str]) -> Markup:
    """A buffer, named with its bytes; its title has type and storage."""
    kind = storage[buffer.name]
    width = _chip_width(buffer)
    title = element("title", f"{buffer.name}: {_type(buffer)}, {buffer.nbytes} bytes, {kind}")
    middle = label(x + width / 2, y + 14, _chip_text(buffer), "middle")
    return joined(box(x, y, width, CHIP, f"chip {kind}", title, rx=CHIP / 2), middle)


def _type(buffer: Buffer) -> str:
    return f"{short(buffer.dtype)}[{','.join(map(str, buffer.shape))}]"


def _chip_shape(buffer: Buffer, storage: dict[str, str]) -> _Shape:
    return _Shape(_chip_width(buffer), CHIP, _chip(0, 0, buffer, storage))


def _loops(node: Node) -> str:
    if node.is_extern:
        assert node.call is not None
        return node.call.text(list(map(str, node.operands)))
    outer = "×".join(map(str, node.outer_sizes)) or "1"
    return f"{outer} | {'×'.join(map(str, node.inner_sizes))}" if node.inner else outer


def _node_shape(node: Node, known: dict[str, Buffer], storage: dict[str, str]) -> _Shape:
    """A node: name, loops and line, and below it the buffers it writes."""
    place = node.where.short if node.where is not None else ""
    words = [node.name, f"{node.kind} {_loops(node)}", place]
    words = [shortened(text, MOST) for text in words if text]
    buffers = [known[name] for name in node.buffers]
    row = sum(map(_chip_width, buffers)) + 8 * (len(buffers) - 1)
    width = max(max(map(text_width, words)) + 2 * PAD + 4, row + 2 * PAD)
    high = LINE * len(words) + 8
    source = f"\n{node.where.text}" if node.where is not None else ""
    drawn = [
        box(0, 0, width, high, "node", element("title", f"{node}{source}")),
        box(0, 0, 5, high, f"stripe {node.kind}", rx=2),
    ]
    for k, text in enumerate(words):
        drawn.append(label(PAD + 4, LINE * (k + 1), text, ("name", "", "place")[k] or None))
    starts = {}
    x = (width - row) / 2
    for buffer in buffers:
        drawn.append(_chip(x, high, buffer, storage))
        starts[buffer.name] = x + _chip_width(buffer) / 2 - width / 2
        x += _chip_width(buffer) + 8
    return _Shape(width, high + CHIP, joined(*drawn), starts)


def _group_shape(
    group: Group,
    name: str,
    entering: Sequence[str],
    leaving: Sequence[str],
    known: dict[str, Buffer],
    storage: dict[str, str],
) -> _Shape:
    """A kernel: its nodes, what it reads from before at its top, what leaves it at its bottom."""
    shapes = [_chip_shape(known[buffer], storage) for buffer in entering]
    chips = {buffer: (k, 0.0) for k, buffer in enumerate(entering)}
    edges: list[Edge] = []
    where: dict[str, int] = {}
    for record in group.records:
        number = where[record.node.name] = len(shapes)
        shapes.append(_node_shape(record.node, known, storage))
        for buffer in dict.fromkeys(dep.buffer for dep in record.reads):
            source, start = chips[buffer]
            edges.append(Edge(source, number, "", start))
        edges += [Edge(where[d.reader], number, WEAK) for d in record.weak if d.reader in where]
        chips |= {buffer: (number, start) for buffer, start in shapes[-1].starts.items()}
    doors = {}
    for buffer in leaving:
        source, start = chips[buffer]
        doors[buffer] = len(shapes)
        edges.append(Edge(source, len(shapes), "", start, 0.0))
        shapes.append(_Shape(4, 0, Markup()))
    sizes = [(shape.width, shape.height) for shape in shapes]
    inside = layered(sizes, edges, tuple(doors.values()))
    title = f"{name}" + (": external call" if group.is_extern else "")
    width = max(inside.width, text_width(title)) + 2 * PAD
    head = LINE + 8
    bottom = head + inside.height + (0 if leaving else PAD)
    shift = (width - inside.width) / 2
    kind = "kernel outside" if group.is_extern else "kernel"
    drawn = joined(
        box(0, 0, width, bottom, kind, rx=8),
        label(PAD, LINE, title, "title"),
        _moved(shift, head, _drawn(shapes, inside)),
    )

    def middle(number: int) -> float:
        return shift + inside.corners[number][0] + shapes[number].width / 2 - width / 2

    ends = {buffer: middle(k) for k, buffer in enumerate(entering)}
    return _Shape(width, bottom, drawn, {b: middle(k) for b, k in doors.items()}, ends)


# pictures -----------------------------------------------------------------------------------------
def _picture(title: str, shapes: Sequence[_Shape], edges: Sequence[Edge]) -> Markup:
    layout = layered([(shape.width, shape.height) for shape in shapes], edges)
    drawn = _moved(MARGIN, MARGIN, _drawn(shapes, layout))
    return picture(layout.width + 2 * MARGIN, layout.height + 2 * MARGIN, title, drawn)


def _drawn(shapes: Sequence[_Shape], layout: Layout) -> Markup:
    """Wires, and boxes above them."""
    boxes = [_moved(x, y, s.drawn) for s, (x, y) in zip(shapes, layout.corners, strict=True)]
    return joined(*map(_wire, layout.wires), *boxes)


def _moved(x: float, y: float, drawn: Markup) -> Markup:
    return element("g", drawn, transform=f"translate({x:.1f} {y:.1f})")


def _wire(wire: Wire) -> Markup:
    """Pieces as one path, arrow heads as another."""
    path = []
    for x1, y1, x2, y2 in wire.pieces:
        middle = (y1 + y2) / 2
        curve = f"C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"
        path.append(f"M{x1:.1f} {y1:.1f}{curve}")
    heads = "".join(f"M{x:.1f} {y:.1f}l-3.5 -7h7z" for x, y in wire.ends)
    return joined(
        element("path", d="".join(path), class_=f"wire {wire.edge.kind}".strip()),
        element("path", d=heads, class_="head"),
    )
