"""renaming: nodes that may write into the storage of the array they replace (seed §7.1).

Takes lowered nodes; gives them with ``Node.mutates`` where that is allowed. A trace has only values
that never change, so an array that the user's function writes into is an old value and a new one,
and the new one's buffer is the old one's name from then on. Two kinds of node take the old storage:
the last writer of an argument, and an external call that assigns into a copy of an intermediate
(scatter, ``np.add.at``). Here it is decided whether they may; ``depend`` adds the weak dependences
that let every reader of the old contents run before, ``looptree`` asks the same inside one kernel,
``memory`` hands over the storage. Not here: outputs of kernels in dead intermediates (``inplace``).

The last writer of an argument may only do so where the call cannot fail once a kernel has begun
(semantics §7: a failed call changes no input): no external call, no runtime position, no division
or power of integers anywhere in the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .config import Config
from .depend import accesses_of
from .graph import Graph
from .lower import Lowered
from .node import Access, Buffer, Node
from .ops import FLAGGED


def renamed(lowered: Lowered, graph: Graph, config: Config) -> Lowered:
    """The same nodes, with what they overwrite.

    Args:
        lowered: nodes in program order; the contents written arguments get are the last outputs.
        graph: says which inputs are written.
        config: the seed's schedule gives every new value a buffer of its own.
    """
    scatters = any(n.call is not None and n.call.overwrites is not None for n in lowered.nodes)
    writes = bool(graph.written) and not any(map(_can_fail, lowered.nodes))
    if config.seed or not (scatters or writes):
        return lowered
    buffers = {buffer.name: buffer for buffer in lowered.buffers}
    place = {name: k for k, node in enumerate(lowered.nodes) for name in node.buffers}
    readers: dict[str, list[int]] = {}
    reads: list[tuple[Access, ...]] = []
    for number, node in enumerate(lowered.nodes):
        reads.append(() if node.is_extern else tuple(accesses_of(node.body)[0]))
        for name in {access.buffer for access in reads[-1]} | {v.buffer for v in node.operands}:
            readers.setdefault(name, []).append(number)
    found: dict[int, str] = {}
    for number, node in enumerate(lowered.nodes):
        old = _assigned_into(node, buffers, lowered.outputs)
        if old and readers[old][-1] == number and readers.get(node.buffer):
            found[number] = old
    if writes:
        for old, new in _written(lowered, graph, buffers):
            number = place.get(new, -1)
            earlier = all(reader <= number for reader in readers.get(old, ()))
            if (
                number >= 0
                and earlier
                and _reads_where_it_writes(lowered.nodes[number], reads[number], old, buffers)
            ):
                found[number] = old
    nodes = [
        replace(node, mutates=found[number]) if number in found else node
        for number, node in enumerate(lowered.nodes)
    ]
    return Lowered(lowered.buffers, tuple(nodes), lowered.outputs)


def _assigned_into(node: Node, buffers: dict[str, Buffer], outputs: Sequence[str]) -> str:
    """The intermediate whose storage an external call may take, empty for none.

    It is read once and whole, so nothing else that NumPy reads is overwritten while it works.
    """
    if not node.is_extern or node.call is None or node.call.overwrites is None:
        return ""
    view = node.operands[node.call.overwrites]
    old, new = buffers[view.buffer], buffers[node.buffer]
    once = sum(other.buffer == old.name for other in node.operands) == 1
    kept = old.name in outputs or new.name in outputs
    if not once or kept or old.kind != "computed" or not view.is_whole(old.shape):
        return ""
    return old.name if (old.shape, old.dtype) == (new.shape, new.dtype) else ""


def _can_fail(node: Node) -> bool:
    """True when a call may end in an exception after this node has run, or because it has."""
    return node.is_extern or any(
        instr.op == "position" or (instr.op in FLAGGED and instr.dtype.kind in "iu")
        for instr in node.body.instrs
    )


def _written(
    lowered: Lowered, graph: Graph, buffers: dict[str, Buffer]
) -> Iterator[tuple[str, str]]:
    """Arguments in C order that are written, each with the buffer of what it holds at the end."""
    inputs = [buffer for buffer in lowered.buffers if buffer.kind != "computed"]
    kept = len(lowered.outputs) - len(graph.written)
    for number, new in zip(graph.written, lowered.outputs[kept:], strict=True):
        old = inputs[number]
        same = (old.shape, old.dtype) == (buffers[new].shape, buffers[new].dtype)
        if old.kind == "input" and old.is_contiguous and old.size and same:
            yield old.name, new


def _reads_where_it_writes(
    node: Node, reads: Sequence[Access], old: str, buffers: dict[str, Buffer]
) -> bool:
    """True when each element is overwritten by the iteration that reads it, or is never read."""
    writes = accesses_of(node.body)[1]
    if len(writes) != 1:
        return False
    here = writes[0].flat(buffers[node.buffer])
    own = [access for access in reads if access.buffer == old]
    return not (own and node.is_reduction) and all(
        access.flat(buffers[old]) == here for access in own
    )
