"""acyclic: which fusions would make two kernels wait for each other (seed §7.2, Proposition 7.1).

Takes the predecessors of every node; gives ``Ancestry``: per unit of fused nodes the bit sets of
the nodes above and below it in the quotient graph. They change only where nodes are fused, so a
test is two intersections and the transitive closure is never computed again. ``find_cycle`` names
the culprits of a graph that has a cycle all the same. Not here: what may be fused for other reasons
(``legality``), which fusion comes first (``greedy``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Ancestry:
    """Ancestors and descendants of units of nodes, as bit sets of node numbers.

    Args:
        predecessors: per node the numbers of the nodes that must run before it, weak dependences
            included; every number is smaller than the node's own.
    """

    def __init__(self, predecessors: Sequence[Sequence[int]]) -> None:
        count = len(predecessors)
        self.members = {number: 1 << number for number in range(count)}
        self.above = dict.fromkeys(range(count), 0)
        self.below = dict.fromkeys(range(count), 0)
        for number, before in enumerate(predecessors):
            for other in before:
                self.above[number] |= self.above[other] | 1 << other
        for number in reversed(range(count)):
            for other in predecessors[number]:
                self.below[other] |= self.below[number] | 1 << number
        self._next = count

    def copy(self) -> Ancestry:
        """One that goes on by itself."""
        other = Ancestry(())
        other.members, other.above = dict(self.members), dict(self.above)
        other.below, other._next = dict(self.below), self._next
        return other

    def reaches(self, first: int, second: int) -> bool:
        """True when something in unit ``second`` must run after something in ``first``."""
        return bool(self.above[second] & self.members[first])

    def makes_cycle(self, first: int, second: int) -> bool:
        """Proposition 7.1 on the quotient graph: a path from one to the other through a third.

        A unit between them lies below one and above the other.
        """
        own = ~(self.members[first] | self.members[second])
        up, down = self.above, self.below
        return bool((down[first] & up[second] | down[second] & up[first]) & own)

    def merge(self, first: int, second: int) -> int:
        """Fuse two units; the number of the new one. What lies above and below it is told so."""
        members = self.members.pop(first) | self.members.pop(second)
        above = (self.above.pop(first) | self.above.pop(second)) & ~members
        below = (self.below.pop(first) | self.below.pop(second)) & ~members
        for unit, own in self.members.items():
            if own & below:
                self.above[unit] |= above | members
            elif own & above:
                self.below[unit] |= below | members
        made = self._next
        self._next += 1
        self.members[made], self.above[made], self.below[made] = members, above, below
        return made


def find_cycle(predecessors: Sequence[Iterable[int]]) -> tuple[int, ...]:
    """Vertices that wait for each other, each for the next and the last for the first.

    Args:
        predecessors: per vertex the vertices that must come before it.

    Returns:
        one cycle, from its smallest vertex on; empty where there is none.
    """
    state = [0] * len(predecessors)  # 0 not seen, 1 on the path, 2 on no cycle
    for root in range(len(predecessors)):
        if state[root]:
            continue
        state[root] = 1
        path, pending = [root], [iter(sorted(predecessors[root]))]
        while path:
            for vertex in pending[-1]:
                if state[vertex] == 1:
                    found = path[path.index(vertex) :]
                    start = found.index(min(found))
                    return tuple(found[start:] + found[:start])
                if state[vertex] == 0:
                    state[vertex] = 1
                    path.append(vertex)
                    pending.append(iter(sorted(predecessors[vertex])))
                    break
            else:
                state[path.pop()] = 2
                pending.pop()
    return ()
