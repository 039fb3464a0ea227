"""problem: fusion and order as the seed's theorems state them, without index expressions.

Takes sizes, who reads what, and which pairs may never share a kernel; gives what a fusion costs
(seed Definition 7.3 and the proof of Theorem 7.1) and the memory an order needs (Definition 7.5).
The theorems, the exact answers (``optimal``) and the measured distance of the scheduler from them
all speak about this record. Not here: how a partition or an order is found (``greedy``, ``order``,
``optimal``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from .acyclic import find_cycle
from .errors import InvariantError, around

Partition = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A fusion problem (seed Definition 7.3, Theorem 7.1). Nodes and inputs are numbered from 0.

    Args:
        sizes: per node the bytes of its output.
        inputs: per external input its bytes.
        reads: per node the nodes whose output it reads, all of smaller number.
        external: per node the external inputs it reads.
        outputs: nodes whose output the caller gets.
        forbidden: pairs (smaller, larger) of nodes that may not share a block.
        kinds: per node 0 where it is pointwise, 1 where it reduces.
    """

    sizes: tuple[int, ...]
    inputs: tuple[int, ...]
    reads: tuple[tuple[int, ...], ...]
    external: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]
    forbidden: frozenset[tuple[int, int]]
    kinds: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.sizes)

    def users(self) -> tuple[tuple[int, ...], ...]:
        """Per node the nodes that read its output, ascending."""
        found: list[list[int]] = [[] for _ in self.sizes]
        for node, read in enumerate(self.reads):
            for producer in dict.fromkeys(read):
                found[producer].append(node)
        return tuple(map(tuple, found))

    def check(self) -> None:
        """Every number names something, reads go backwards, and no forbidden pair is nonsense.

        Raises:
            InvariantError: with the culprit and the lines around it.
        """
        count = self.count
        if not count == len(self.reads) == len(self.external) == len(self.kinds):
            lengths = (count, len(self.reads), len(self.external), len(self.kinds))
            raise InvariantError(
                f"sizes, reads, external and kinds have {lengths} entries",
                instead="one entry per node in each",
            )
        for node, read in enumerate(self.reads):
            for producer in read:
                if not 0 <= producer < count:
                    raise self._wrong(f"n{node} reads n{producer}, which does not exist", node)
        cycle = find_cycle(self.reads)
        if cycle:
            path = " reads ".join(f"n{node}" for node in (*cycle, cycle[0]))
            raise self._wrong(f"the reads form a cycle: {path}", *cycle)
        for node in range(count):
            self._check_node(node)
        for node in self.outputs:
            if not 0 <= node < count:
                raise self._wrong(f"the output n{node} does not exist", count - 1)
        for a, b in sorted(self.forbidden):
            if not (0 <= a < count and 0 <= b < count):
                at = [node for node in (a, b) if 0 <= node < count] or [count - 1]
                raise self._wrong(f"the forbidden pair ({a}, {b}) names a missing node", *at)
            if a == b:
                raise self._wrong(f"the forbidden pair ({a}, {b}) is n{a} with itself", a)
            if a > b:
                raise self._wrong(f"the forbidden pair ({a}, {b}) is not in ascending order", a, b)

    def _check_node(self, node: int) -> None:
        for producer in self.reads[node]:
            if producer > node:
                raise self._wrong(f"n{node} reads n{producer}, which comes later", node, producer)
        for number in self.external[node]:
            if not 0 <= number < len(self.inputs):
                raise self._wrong(f"n{node} reads input {number}, which does not exist", node)
        if self.sizes[node] < 0 or self.kinds[node] not in (0, 1):
            size, kind = self.sizes[node], self.kinds[node]
            raise self._wrong(f"n{node} has {size} bytes and kind {kind}", node)

    def _wrong(self, what: str, *nodes: int) -> InvariantError:
        return InvariantError(f"{what}, in\n{around(self._lines(), nodes)}")

    def cost(self, partition: Partition) -> int:
        """Bytes that kernels read from and write to main memory (Definition 7.3).

        A buffer with a user outside its producer's block is written once and read once by each
        other block with a user; an input is read once by each block with a user; an output is
        written in any case.

        Args:
            partition: every node in one block.
        """
        block_of = {node: number for number, block in enumerate(partition) for node in block}
        users = self.users()
        total = 0
        for node, size in enumerate(self.sizes):
            others = {block_of[user] for user in users[node]} - {block_of[node]}
            written = bool(others) or node in self.outputs
            total += size * (len(others) + written)
        for block in partition:
            total += sum(self.inputs[k] for k in {k for node in block for k in self.external[node]})
        return total

    def quotient(self, partition: Partition) -> tuple[tuple[int, ...], ...]:
        """Per block the other blocks it reads from, ascending: D / P of Definition 7.3."""
        block_of = {node: number for number, block in enumerate(partition) for node in block}
        found: list[set[int]] = [set() for _ in partition]
        for node, read in enumerate(self.reads):
            found[block_of[node]] |= {block_of[producer] for producer in read} - {block_of[node]}
        return tuple(tuple(sorted(blocks)) for blocks in found)

    def is_scheme(self, partition: Partition) -> bool:
        """True for a fusion scheme (Definition 7.3): every node in one block, no forbidden pair in
        a block, and a quotient graph without a cycle."""
        if sorted(node for block in partition for node in block) != list(range(self.count)):
            return False
        for block in partition:
            if any((a, b) in self.forbidden for a in block for b in block):
                return False
        return not find_cycle(self.quotient(partition))

    def peak(self, order: Sequence[int]) -> int:
        """Bytes live at the fullest moment, M* of Definition 7.5.

        A buffer lives from its producer's step to its last user's, both included; an output to the
        end. Inputs are the caller's and do not count.

        Args:
            order: the nodes, each after what it reads.
        """
        step = {node: number for number, node in enumerate(order)}
        change = [0] * (len(order) + 1)
        for node, users in enumerate(self.users()):
            last = max((step[user] for user in users), default=step[node])
            change[step[node]] += self.sizes[node]
            change[len(order) if node in self.outputs else last + 1] -= self.sizes[node]
        return max(accumulate(change[:-1]), default=0)

    def _lines(self) -> list[str]:
        lines = []
        for node, size in enumerate(self.sizes):
            what = "reduction" if self.kinds[node] else "pointwise"
            sources = [f"in{k}" for k in self.external[node]] + [f"n{k}" for k in self.reads[node]]
            text = f"n{node}: {what}, {size} bytes, reads {', '.join(sources) or 'nothing'}"
            apart = sorted({a + b - node for a, b in self.forbidden if node in (a, b)})
            if apart:
                text += f", never with {', '.join(f'n{other}' for other in apart)}"
            lines.append(text + (", output" if node in self.outputs else ""))
        return lines

    def __str__(self) -> str:
        heads = [f"in{k}: {size} bytes" for k, size in enumerate(self.inputs)]
        return "\n".join([*heads, *self._lines()])
