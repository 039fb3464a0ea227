"""order: the sequence in which kernels run (seed §7.5, §7.6 step 5).

Takes fused groups; gives ``Orders``: candidate sequences that respect every dependence, weak ones
included, each with its simulated peak, and which was taken. Holds what a kernel allocates as far as
it is known here: nothing for registers and rows of its own (``private``), nothing for writing over
an old buffer, nothing for the caller's arrays. Not here: the strategies (``peak``), storage
(``memory``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .acyclic import find_cycle
from .config import Config
from .errors import InvariantError, Where, around
from .group import Group, Groups
from .optimal import least_peak
from .peak import Candidate, Tasks, best, candidates
from .private import private_storage


@dataclass(frozen=True, slots=True)
class Orders:
    """The candidates, and which was taken.

    Args:
        groups: in program order; candidates name them by number.
        candidates: the program's own order first.
        chosen: the place of the candidate that was taken: the first of the smallest peak.
    """

    groups: tuple[Group, ...]
    candidates: tuple[Candidate, ...]
    chosen: int

    @property
    def taken(self) -> Candidate:
        """The candidate that was taken."""
        return self.candidates[self.chosen]

    @property
    def sequence(self) -> tuple[Group, ...]:
        """The groups in the order they run."""
        return tuple(self.groups[number] for number in self.taken.order)

    def __str__(self) -> str:
        heads = [
            f"{candidate}, taken" if place == self.chosen else str(candidate)
            for place, candidate in enumerate(self.candidates)
        ]
        steps = [f"{step}: {group.name}" for step, group in enumerate(self.sequence)]
        return "\n".join([*heads, "", *steps])


def order(groups: Groups, config: Config) -> Orders:
    """Groups → orders.

    Raises:
        InvariantError: the kernels wait for each other; the message names those on the cycle and
            shows the lines around them.
    """
    tasks = tasks_of(groups, config)
    cycle = find_cycle(tasks.before)
    if cycle:
        raise _cyclic(groups.groups, tasks, cycle)
    found = considered(tasks, config)
    return Orders(groups.groups, found, best(found))


def considered(tasks: Tasks, config: Config) -> tuple[Candidate, ...]:
    """The candidate orders of this configuration.

    The seed has four. The default also looks for a better one by an exact search that gives up
    after ``order_states`` states, unless one of the four is known to be optimal.

    Args:
        tasks: without a cycle.
        config: ``schedule`` and ``order_states``.
    """
    found = candidates(tasks)
    least = found[best(found)].peak
    if config.seed or least == tasks.lower_bound():
        return found
    exact = least_peak(tasks, least, config.order_states)
    return found if exact is None else (*found, Candidate("exact search", *exact))


def tasks_of(groups: Groups, config: Config) -> Tasks:
    """The kernels as tasks: what they wait for, and the memory they allocate, read and free.

    Buffers that share storage, as one overwrites the other, are one buffer here.

    Args:
        groups: the kernels.
        config: decides which buffers are stored at all (``private_storage``).
    """
    edges, named = groups.edges, groups.edges.named
    owner = {node.name: number for number, g in enumerate(groups.groups) for node in g.nodes}
    predecessors = edges.predecessors()
    root: dict[str, str] = {}
    for record in edges.records:
        if record.node.mutates is not None:
            root[record.node.buffer] = root.get(record.node.mutates, record.node.mutates)
    maker = {
        name: owner[record.node.name]
        for record in edges.records
        for name in record.node.buffers
        if name not in root
    }
    number = {name: k for k, name in enumerate(maker)}
    kept = {root.get(name, name) for name in edges.outputs}
    shared = set(kept)
    before, made, read, inputs = [], [], [], []
    for place, group in enumerate(groups.groups):
        waits = {owner[name] for node in group.nodes for name in predecessors[node.name]}
        before.append(tuple(sorted(waits - {place})))
        names = [dep.buffer for record in group.records for dep in record.reads]
        names += [node.mutates for node in group.nodes if node.mutates is not None]
        used = dict.fromkeys(root.get(name, name) for name in names)
        others = [name for name in used if maker.get(name) not in (None, place)]
        shared.update(others)
        read.append(tuple(number[name] for name in others))
        inputs.append(sum(named[name].nbytes for name in used if name not in maker))
        made.append(tuple(number[n] for node in group.nodes for n in node.buffers if n in number))
    sizes = {name: named[name].nbytes for name in maker}
    for group in groups.groups:
        inside = [n for node in group.nodes for n in node.buffers if n in maker and n not in shared]
        for name, (kind, nbytes) in private_storage(group, inside, named, config).items():
            sizes[name] = nbytes if kind in ("arena", "tile") else 0
    return Tasks(
        tuple(before),
        tuple(made),
        tuple(read),
        tuple(sizes.values()),
        tuple(name in kept for name in maker),
        tuple(inputs),
    )


def _cyclic(groups: Sequence[Group], tasks: Tasks, cycle: Sequence[int]) -> InvariantError:
    """Who waits for whom, and the groups around with the users' lines."""
    names = [groups[number].name for number in (*cycle, cycle[0])]
    lines = []
    for group, before in zip(groups, tasks.before, strict=True):
        waits = ", ".join(groups[other].name for other in before) or "nothing"
        written = (_source(node.where) for node in group.nodes if node.where is not None)
        comment = "".join(f"  # {source}" for source in dict.fromkeys(written))
        lines.append(f"{group.name} waits for {waits}{comment}")
    return InvariantError(
        f"kernels form a cycle: {' waits for '.join(names)}, in\n{around(lines, cycle)}"
    )


def _source(where: Where) -> str:
    return f"{where.short}: {where.text}" if where.text else where.short
