"""steps: what a plan runs, one after another: kernels, external calls, templates.

Takes ordered groups and slots; gives the steps. Holds which buffers a step touches and writes in
memory. Not here: the records of kernels (``nest``), the wrapper around the steps (``plan``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .calls import Call
from .config import Config
from .errors import Where
from .group import Group
from .memory import Memory
from .nest import Nest, Store, walk
from .nesting import nest as fill
from .node import Buffer, Node, View


@dataclass(frozen=True, slots=True)
class Extern:
    """One external call: ``buffers = call(operands)``; ``results`` numbers what it keeps."""

    name: str
    call: Call
    buffers: tuple[str, ...]
    results: tuple[int, ...]
    operands: tuple[View, ...]
    line: str = ""

    @property
    def text(self) -> str:
        """The call as the user would write it."""
        return self.call.text(list(map(str, self.operands)))

    def __str__(self) -> str:
        return f"extern {self.name}  {', '.join(self.buffers)} = {self.text}"


@dataclass(frozen=True, slots=True)
class Template:
    """A product that is made some rows at a time, and its epilogue, which runs on each tile.

    Args:
        name: of the step.
        product: the call; its first operand and its result are cut into tiles of rows.
        nest: the epilogue over all rows; its outermost loop runs over those of a tile at a time.
        rows: of a tile; the last one may have fewer.
        count: rows of the product.
    """

    name: str
    product: Extern
    nest: Nest
    rows: int
    count: int

    @property
    def tile(self) -> str:
        """The buffer of the product, of which only a tile has storage."""
        return self.product.buffers[0]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes it computes; the product's is that of its buffer."""
        return (self.tile, *self.nest.nodes)

    @property
    def places(self) -> tuple[Where, ...]:
        """The user's lines of the epilogue."""
        return self.nest.places

    @property
    def lines(self) -> tuple[str, ...]:
        """The user's lines, ``file:line``, each once."""
        return tuple(dict.fromkeys(filter(None, (self.product.line, *self.nest.lines))))

    def tiles(self) -> Iterator[tuple[int, int]]:
        """First row and end of every tile."""
        for first in range(0, self.count, self.rows):
            yield first, min(first + self.rows, self.count)

    def bounds(self, extent: int, first: int, end: int) -> tuple[int, int]:
        """The iterations of an outermost loop of this extent that belong to some rows."""
        return first * extent // self.count, end * extent // self.count

    def __str__(self) -> str:
        return f"template {self.name}, {self.rows} rows a tile\n{self.product}\n{self.nest}"


Step = Nest | Extern | Template


def touched(step: Step) -> tuple[str, ...]:
    """Buffers a step reads or writes in memory."""
    if isinstance(step, Template):
        both = dict.fromkeys((*touched(step.product), *touched(step.nest)))
        return tuple(name for name in both if name != step.tile)
    if isinstance(step, Nest):
        return tuple(buffer.name for buffer in step.buffers)
    return tuple(dict.fromkeys((*(view.buffer for view in step.operands), *step.buffers)))


def writes(step: Step) -> set[str]:
    """Buffers a step writes in memory."""
    if isinstance(step, Extern):
        return set(step.buffers)
    if isinstance(step, Template):
        return writes(step.nest)
    return {s.access.buffer for s in walk(step.body) if isinstance(s, Store)}


def build_steps(
    sequence: Sequence[Group], buffers: dict[str, Buffer], memory: Memory, config: Config
) -> tuple[Step, ...]:
    """nest: ordered groups → kernels and external calls."""
    by_name = {slot.buffer: slot for slot in memory.slots}
    steps: list[Step] = []
    for number, group in enumerate(sequence):
        if group.is_extern:
            steps.append(_call(group.nodes[0], f"x{number}"))
            continue
        kernel = fill(group.epilogue, f"k{number}", buffers, by_name, config.seed)
        if group.rows:
            product = _call(group.nodes[0], f"x{number}")
            count = buffers[product.buffers[0]].shape[0]
            steps.append(Template(f"t{number}", product, kernel, group.rows, count))
        else:
            steps.append(kernel)
    return tuple(steps)


def _call(node: Node, name: str) -> Extern:
    line = node.where.short if node.where is not None else ""
    assert node.call is not None
    return Extern(name, node.call, node.buffers, node.results, node.operands, line)
