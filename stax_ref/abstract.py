"""abstract: the scheduler's algorithms on a ``Problem``, where only forbidden pairs keep apart.

Takes an abstract fusion problem; gives the partition that the scheduler would choose. The
algorithms are the ones nodes get (``greedy``, ``bestfirst``); only the rules differ. So the
distance from the optimum (``optimal``) is measured on the code that runs. Not here: real nodes
(``legality``).
"""

from __future__ import annotations

from .acyclic import Ancestry
from .bestfirst import Traffic, fewest_bytes
from .config import Config
from .greedy import Run, Unit, in_rounds, shared_bytes
from .problem import Partition, Problem


class _Answer:
    """Yes or no."""

    def __init__(self, verdict: bool) -> None:
        self.verdict = verdict


class ProblemRules:
    """The rules of ``greedy`` for a problem: forbidden pairs alone."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.forbidden = [0] * len(problem.sizes)
        for a, b in problem.forbidden:
            self.forbidden[a] |= 1 << b
            self.forbidden[b] |= 1 << a

    def can_fuse(self, first: Unit, second: Unit) -> _Answer:
        """No node of one is forbidden beside a node of the other."""
        inside = sum(1 << node for node in second.group)
        return _Answer(not any(self.forbidden[node] & inside for node in first.group))

    def refused(self, answer: _Answer, reason: str) -> _Answer:
        """No."""
        return _Answer(False)

    def fused(
        self, first: Unit, second: Unit, answer: _Answer
    ) -> tuple[tuple[int, ...], str, tuple[str, ...]]:
        """The nodes of both."""
        group = tuple(sorted((*first.group, *second.group)))
        return group, "_".join(map(str, group)), (f"score {shared_bytes(first, second)}",)


def _run_of(problem: Problem, config: Config) -> tuple[Run, Traffic]:
    """The state in which the scheduler's algorithm starts on this problem."""
    count = len(problem.sizes)
    units, readers = [], {}  # type: list[Unit], dict[str, int]
    for node in range(count):
        touches = {other: problem.sizes[other] for other in (*problem.reads[node], node)}
        touches |= {count + number: problem.inputs[number] for number in problem.external[node]}
        near = frozenset(map(_name, touches))
        for other in problem.reads[node]:
            readers[_name(other)] = readers.get(_name(other), 0) | 1 << node
        reduces = bool(problem.kinds[node])
        own = frozenset({_name(node)})
        units.append(Unit(node, (node,), str(node), touches, near, own, node, node, reduces))
    run = Run(units, Ancestry(problem.reads), ProblemRules(problem), config)
    sizes = {_name(node): size for node, size in enumerate(problem.sizes)}
    names = {number: _name(number) for number in range(count + len(problem.inputs))}
    return run, Traffic(readers, sizes, frozenset(map(_name, problem.outputs)), names)


def _name(number: int) -> str:
    return f"buf{number:04d}"


def fuse_problem(problem: Problem, config: Config) -> Partition:
    """The partition that the scheduler of this configuration chooses.

    Args:
        problem: checked with :meth:`Problem.check`.
        config: ``schedule``, rounds and candidates; limits on nodes and buffers do not apply.
    """
    run, traffic = _run_of(problem, config)
    if config.seed:
        in_rounds(run)
    else:
        run = fewest_bytes(run, traffic)
    return tuple(sorted(unit.group for unit in run.units))
