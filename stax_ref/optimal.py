"""optimal: the exact answers to small fusion and ordering problems, by branch and bound.

Takes a ``Problem``; gives a partition of least cost (seed Definition 7.3, NP-hard by Theorem 7.1)
and an order of least peak (Definition 7.5, NP-hard by Proposition 7.4). Kernels run one after the
other, so what has run is always closed under reading: a *downset*. Both searches walk from the
empty downset to the full one, the most promising first, and hold one best way to each. Times grow
exponentially; 14 nodes take seconds at most. Not here: what the scheduler does (``greedy``,
``order``).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from .peak import Tasks, of_problem
from .problem import Partition, Problem


def best_fusion(problem: Problem) -> tuple[Partition, int]:
    """A fusion scheme of least cost (Definition 7.3).

    A partition has an acyclic quotient exactly when its blocks can run one after the other, so the
    search appends a block at a time and no cycle is ever built. What a block moves depends on the
    block alone. Three things keep the search small: of two ways to one downset the dearer is
    dropped; a way is dropped when its cost and a lower bound of what is left reach the best scheme
    known; and a block in two parts that share nothing is never tried, since the parts cost the same
    one after the other.

    Args:
        problem: any; its nodes are few.

    Returns:
        the blocks, each ascending, by their first nodes; and their cost.

    Raises:
        InvariantError: the problem is nonsense (``Problem.check``).
    """
    problem.check()
    search = _Blocks(problem)
    everything = (1 << problem.count) - 1
    costs, last = {0: 0}, {0: 0}
    heap = [(search.least(0), 0)]
    while heap:
        promised, done = heapq.heappop(heap)
        if done == everything:
            break
        if promised > costs[done] + search.least(done):
            continue  # a cheaper way to this downset came later
        for block in search.extensions(done):
            own = search.cost(block)
            if own is None:
                continue
            reached, cost = done | block, costs[done] + own
            if cost >= costs.get(reached, cost + 1):
                continue
            bound = cost + search.least(reached)
            if bound < costs.get(everything, bound + 1):
                costs[reached], last[reached] = cost, block
                heapq.heappush(heap, (bound, reached))
    blocks = []
    done = everything
    while done:
        blocks.append(tuple(_bits(last[done])))
        done &= ~last[done]
    return tuple(sorted(blocks)), costs[everything]


class _Blocks:
    """What one search asks about sets of nodes, as bit sets; every answer is remembered."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.everything = (1 << problem.count) - 1
        self.reads = [_mask(read) for read in problem.reads]
        self.external = [_mask(read) for read in problem.external]
        self.users = [_mask(users) for users in problem.users()]
        self.readers = _transposed(self.external, len(problem.inputs))
        self.outputs = _mask(problem.outputs)
        self.apart = [0] * problem.count
        for a, b in problem.forbidden:
            self.apart[a] |= 1 << b
            self.apart[b] |= 1 << a
        self.below = _descendants(self.users)
        self.partners = [self._partners(node) for node in range(problem.count)]
        self.cost: Callable[[int], int | None] = cache(self._cost)
        self.crowd: Callable[[int], int] = cache(self._crowd)
        self.least: Callable[[int], int] = cache(self._least)

    def extensions(self, done: int) -> Iterator[int]:
        """Every block that may run next: closed under reading given ``done``, no forbidden pair."""
        stack = [(self.everything & ~done, 0)]
        while stack:
            open_nodes, block = stack.pop()
            if not open_nodes:
                if block:
                    yield block
                continue
            node = (open_nodes & -open_nodes).bit_length() - 1
            without = open_nodes & ~self.below[node] & ~(1 << node)
            stack.append((without, block))
            inside = open_nodes & ~(1 << node)
            for other in _bits(self.apart[node] & inside):
                inside &= ~self.below[other] & ~(1 << other)
            stack.append((inside, block | 1 << node))

    def _partners(self, node: int) -> int:
        """Nodes whose place matters to this one: neighbours, and those that read what it reads."""
        found = self.reads[node] | self.users[node]
        for producer in _bits(self.reads[node]):
            if self.problem.sizes[producer]:
                found |= self.users[producer]
        for number in _bits(self.external[node]):
            if self.problem.inputs[number]:
                found |= self.readers[number]
        return found

    def _cost(self, block: int) -> int | None:
        """Bytes that a block reads and writes; None for a block in two parts that share nothing."""
        seen, border = 0, block & -block
        while border:
            seen |= border
            near = 0
            for node in _bits(border):
                near |= self.partners[node]
            border = near & block & ~seen
        if seen != block:
            return None
        read = inputs = written = 0
        for node in _bits(block):
            read |= self.reads[node]
            inputs |= self.external[node]
            if self.users[node] & ~block or self.outputs >> node & 1:
                written |= 1 << node
        moved = _total(self.problem.sizes, read & ~block) + _total(self.problem.sizes, written)
        return moved + _total(self.problem.inputs, inputs)

    def _least(self, done: int) -> int:
        """Bytes that must still move after ``done``, whatever the blocks.

        Users among which k are pairwise forbidden are in at least k blocks: a buffer written before
        is read k times, one not written yet is written once and read at least k - 1 times.
        """
        left = self.everything & ~done
        total = 0
        for node, size in enumerate(self.problem.sizes):
            if done >> node & 1:
                total += size * self.crowd(self.users[node] & left)
                continue
            blocks = self.crowd(self.users[node] | 1 << node)
            if blocks > 1 or self.outputs >> node & 1:
                total += size * blocks
        for size, readers in zip(self.problem.inputs, self.readers, strict=True):
            total += size * self.crowd(readers & left)
        return total

    def _crowd(self, nodes: int) -> int:
        """The most nodes among these that are pairwise forbidden."""
        if not nodes:
            return 0
        first = (nodes & -nodes).bit_length() - 1
        rest = nodes & ~(1 << first)
        if not self.apart[first] & rest:
            return max(1, self.crowd(rest))
        return max(1 + self.crowd(rest & self.apart[first]), self.crowd(rest))


def best_order(problem: Problem) -> tuple[tuple[int, ...], int]:
    """A topological order of least peak (Definition 7.5).

    Args:
        problem: any; its nodes are few.

    Returns:
        the order and its peak.

    Raises:
        InvariantError: the problem is nonsense (``Problem.check``).
    """
    problem.check()
    found = least_peak(of_problem(problem))
    assert found is not None, "some order exists: the reads form no cycle"
    return found


def least_peak(
    tasks: Tasks, below: int | None = None, states: int | None = None
) -> tuple[tuple[int, ...], int] | None:
    """An order of least peak, by branch and bound over downsets.

    The bytes live between two steps depend on what has run, not on its order, so the search holds
    the least peak with which each downset can be reached, and follows the least first. A task that
    fits under the peak so far and leaves no more bytes than it found runs at once: moved to the
    front of any continuation, it only makes room for what follows.

    Args:
        tasks: without a cycle.
        below: a peak that is known to be possible; only a smaller one is of interest.
        states: give up after so many states; None for never.

    Returns:
        the order and its peak; None where no order stays below ``below``, or after giving up.
    """
    walk = _Walk(tasks)
    everything = (1 << tasks.count) - 1
    start = _State(0, sum(1 << k for k, before in enumerate(tasks.before) if not before), 0)
    peaks, last, seen = {0: 0}, {0: 0}, 0
    heap = [(0, 0, start)]
    while heap:
        peak, _, state = heapq.heappop(heap)
        if state.done == everything:
            return _unwound(everything, last), peak
        if peak > peaks[state.done]:
            continue
        for task, needed, following in walk.steps(state, peak):
            known = peaks.get(following.done, below)
            if known is None or needed < known:
                peaks[following.done], last[following.done] = needed, task
                seen += 1
                heapq.heappush(heap, (needed, -seen, following))
        if states is not None and seen > states:
            break
    return None


@dataclass(frozen=True, slots=True)
class _State:
    """The tasks that have run, those that may run next (bit sets), and the bytes live between."""

    done: int
    ready: int
    live: int


class _Walk:
    """The steps from one downset of tasks to the next."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks
        self.allocation = [sum(tasks.sizes[buffer] for buffer in made) for made in tasks.made]
        self.before = [_mask(before) for before in tasks.before]
        self.after = tasks.after()
        self.readers = [_mask(sorted(readers)) for readers in tasks.readers()]

    def steps(self, state: _State, peak: int) -> list[tuple[int, int, _State]]:
        """Tasks that may run next, each with the peak it needs and what follows.

        One that needs no more than ``peak`` and leaves no more than it found is the only answer.
        """
        found = []
        for task in _bits(state.ready):
            needed = max(peak, state.live + self.allocation[task])
            following = self._after(state, task)
            found.append((task, needed, following))
            if needed == peak and following.live <= state.live:
                return found[-1:]
        return found

    def _after(self, state: _State, task: int) -> _State:
        done = state.done | 1 << task
        live = state.live + self.allocation[task]
        for buffer in (*self.tasks.made[task], *self.tasks.read[task]):
            if not self.tasks.kept[buffer] and not self.readers[buffer] & ~done:
                live -= self.tasks.sizes[buffer]
        ready = state.ready & ~(1 << task)
        for other in self.after[task]:
            if not self.before[other] & ~done:
                ready |= 1 << other
        return _State(done, ready, live)


def _unwound(done: int, last: Mapping[int, int]) -> tuple[int, ...]:
    order = []
    while done:
        order.append(last[done])
        done &= ~(1 << last[done])
    return tuple(reversed(order))


def _mask(nodes: Sequence[int]) -> int:
    bits = 0
    for node in nodes:
        bits |= 1 << node
    return bits


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _total(sizes: Sequence[int], mask: int) -> int:
    return sum(sizes[k] for k in _bits(mask))


def _transposed(masks: Sequence[int], count: int) -> list[int]:
    """Per column the rows that have it."""
    return [_mask([row for row, mask in enumerate(masks) if mask >> k & 1]) for k in range(count)]


def _descendants(users: Sequence[int]) -> list[int]:
    """Per node everything that runs after it because of it; users have larger numbers."""
    found = [0] * len(users)
    for node in reversed(range(len(users))):
        for user in _bits(users[node]):
            found[node] |= found[user] | 1 << user
    return found
