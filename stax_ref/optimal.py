"""optimal: the exact answers to small fusion and ordering problems, by branch and bound.

Takes a ``Problem``; gives a partition of least cost (seed Definition 7.3, NP-hard by Theorem 7.1)
and an order of least peak (Definition 7.5, NP-hard by Proposition 7.4). Kernels run one after the
other, so what has run is always closed under reading: a *downset*. Both searches walk from the
empty downset to the full one, the most promising first, and hold one best way to each. Times grow
exponentially; 14 nodes take seconds. Not here: what the scheduler does (``greedy``, ``order``).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import cache

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

    The bytes live between two steps depend on what has run, not on its order, so the search holds
    the least peak with which each downset can be reached. A node that fits under the peak so far
    and leaves no more bytes than it found runs at once: moved to the front of any continuation, it
    only makes room for what follows.

    Args:
        problem: any; its nodes are few.

    Returns:
        the order and its peak.

    Raises:
        InvariantError: the problem is nonsense (``Problem.check``).
    """
    problem.check()
    sizes, outputs = problem.sizes, _mask(problem.outputs)
    reads = [_mask(read) for read in problem.reads]
    users = [_mask(users) for users in problem.users()]
    everything = (1 << problem.count) - 1

    @cache
    def live(done: int) -> int:
        held = (k for k in _bits(done) if users[k] & ~done or outputs >> k & 1)
        return sum(sizes[k] for k in held)

    peaks, last = {0: 0}, {0: 0}
    heap = [(0, 0)]
    while heap:
        peak, done = heapq.heappop(heap)
        if done == everything:
            break
        if peak > peaks[done]:
            continue
        ready = [k for k in _bits(everything & ~done) if not reads[k] & ~done]
        for node in ready:
            if live(done) + sizes[node] <= peak and live(done | 1 << node) <= live(done):
                ready = [node]
                break
        for node in ready:
            reached = done | 1 << node
            needed = max(peak, live(done) + sizes[node])
            if needed < peaks.get(reached, needed + 1):
                peaks[reached], last[reached] = needed, node
                heapq.heappush(heap, (needed, reached))
    order = []
    done = everything
    while done:
        order.append(last[done])
        done &= ~(1 << last[done])
    return tuple(reversed(order)), peaks[everything]


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
