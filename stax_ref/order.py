"""order: the sequence in which kernels run (seed §7.6).

Takes fused groups; gives them in an order that respects every dependence, weak ones included. Ties
go to the group whose first member comes first in the program, so the order is that of the program
wherever fusion allows. Not here: storage (``memory``).
"""

from __future__ import annotations

from .errors import InvariantError
from .group import Group, Groups


def order(groups: Groups) -> tuple[Group, ...]:
    """Groups → sequence.

    Raises:
        InvariantError: the quotient graph has a cycle; the message names a group on it.
    """
    owner = {node.name: number for number, g in enumerate(groups.groups) for node in g.nodes}
    predecessors = groups.edges.predecessors()
    waiting: dict[int, set[int]] = {}
    for number, group in enumerate(groups.groups):
        before = {owner[name] for node in group.nodes for name in predecessors[node.name]}
        waiting[number] = before - {number}
    done: list[int] = []
    while waiting:
        ready = [number for number, before in waiting.items() if not before - set(done)]
        if not ready:
            stuck = groups.groups[min(waiting)]
            raise InvariantError(f"the kernels form a cycle through {stuck.name}")
        done.append(min(ready))
        del waiting[done[-1]]
    return tuple(groups.groups[number] for number in done)
