"""peak: four orders of one set of tasks, and the memory each of them needs (seed §7.5).

Takes tasks with the buffers they make and read; gives candidate orders, each with its simulated
peak (Definition 7.5). Works on numbers alone, so kernels and abstract problems run through the same
code. Every strategy is near-linear: heaps and counters, nothing is scanned twice. Not here: what
the tasks are (``order``), where buffers lie (``memory``).
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .problem import Problem


@dataclass(frozen=True, slots=True)
class Tasks:
    """What an order is chosen by. Tasks and buffers are numbered from 0.

    Args:
        before: per task the tasks that must run before it.
        made: per task the buffers it makes, each made by one task.
        read: per task the buffers of other tasks it reads.
        sizes: per buffer its bytes; 0 for one that takes no memory of its own.
        kept: per buffer, True when it lives to the end.
        inputs: per task the bytes of the caller's arrays it reads.
    """

    before: tuple[tuple[int, ...], ...]
    made: tuple[tuple[int, ...], ...]
    read: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    kept: tuple[bool, ...]
    inputs: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of tasks."""
        return len(self.before)

    def after(self) -> list[list[int]]:
        """Per task the tasks that wait for it."""
        found: list[list[int]] = [[] for _ in self.before]
        for task, before in enumerate(self.before):
            for other in before:
                found[other].append(task)
        return found

    def readers(self) -> list[set[int]]:
        """Per buffer the tasks that read it, without its maker."""
        found: list[set[int]] = [set() for _ in self.sizes]
        for task, read in enumerate(self.read):
            for buffer in read:
                found[buffer].add(task)
        return found

    def lower_bound(self) -> int:
        """Bytes that every order needs: of each task what it makes and reads; in the end what is
        kept."""
        kept = sum(size for size, stays in zip(self.sizes, self.kept, strict=True) if stays)
        steps = (
            sum(self.sizes[buffer] for buffer in (*made, *read))
            for made, read in zip(self.made, self.read, strict=True)
        )
        return max(kept, *steps, 0)


def of_problem(problem: Problem) -> Tasks:
    """The nodes of an abstract problem as tasks: a buffer each."""
    return Tasks(
        problem.reads,
        tuple((node,) for node in range(problem.count)),
        problem.reads,
        problem.sizes,
        tuple(node in problem.outputs for node in range(problem.count)),
        tuple(sum(problem.inputs[k] for k in read) for read in problem.external),
    )


@dataclass(frozen=True, slots=True)
class Candidate:
    """One order: which strategy made it, the tasks in order, and its peak in bytes."""

    name: str
    order: tuple[int, ...]
    peak: int

    def __str__(self) -> str:
        return f"{self.name}: peak {self.peak} bytes"


def candidates(tasks: Tasks) -> tuple[Candidate, ...]:
    """The four orders of §7.5 with their peaks, the original first.

    Args:
        tasks: without a cycle.
    """
    orders = {name: strategy(tasks) for name, strategy in STRATEGIES.items()}
    return tuple(Candidate(name, order, simulate(tasks, order)) for name, order in orders.items())


def best(found: Sequence[Candidate]) -> int:
    """The place of the candidate with the smallest peak; of equals, the first."""
    return min(range(len(found)), key=lambda k: found[k].peak)


def simulate(tasks: Tasks, order: Sequence[int]) -> int:
    """The peak of an order: one scan that allocates and frees (Definition 7.5).

    A buffer is allocated when its maker starts and freed after the step of its last reader; one
    that nobody else reads, after its own.
    """
    waiting = [len(readers) for readers in tasks.readers()]
    live = peak = 0
    for task in order:
        live += sum(tasks.sizes[buffer] for buffer in tasks.made[task])
        peak = max(peak, live)
        for buffer in tasks.read[task]:
            waiting[buffer] -= 1
        for buffer in (*tasks.made[task], *tasks.read[task]):
            if not waiting[buffer] and not tasks.kept[buffer]:
                live -= tasks.sizes[buffer]
    return peak


# The strategies -----------------------------------------------------------------------------------
def original(tasks: Tasks) -> tuple[int, ...]:
    """The order of the numbers, wherever dependences allow it."""
    return _by_key(tasks, lambda task, places: ())


def breadth_first(tasks: Tasks) -> tuple[int, ...]:
    """Ready tasks by the places at which what they wait for has run, earliest first."""
    return _by_key(tasks, lambda task, places: tuple(sorted(places[k] for k in tasks.before[task])))


def _by_key(tasks: Tasks, key: Callable[[int, Sequence[int]], tuple[int, ...]]) -> tuple[int, ...]:
    """Ready tasks by a key that is known once they are ready; ties by number."""
    after, waiting = tasks.after(), [len(before) for before in tasks.before]
    places = [0] * tasks.count
    heap = [(key(task, places), task) for task, count in enumerate(waiting) if not count]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        _, task = heapq.heappop(heap)
        places[task] = len(order)
        order.append(task)
        for other in after[task]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(heap, (key(other, places), other))
    return tuple(order)


def depth_first(tasks: Tasks) -> tuple[int, ...]:
    """From the task with the fewest bytes of its own and of what it reads, its predecessors first.

    Predecessors are visited in the same order of bytes.
    """
    weights = [
        sum(tasks.sizes[buffer] for buffer in (*tasks.made[task], *tasks.read[task])) + inputs
        for task, inputs in enumerate(tasks.inputs)
    ]

    def key(task: int) -> tuple[int, int]:
        return weights[task], task

    seen = [False] * tasks.count
    order: list[int] = []
    for root in sorted(range(tasks.count), key=key):
        pending = [(root, False)]
        while pending:
            task, is_ready = pending.pop()
            if is_ready:
                order.append(task)
            elif not seen[task]:
                seen[task] = True
                pending.append((task, True))
                late = sorted(tasks.before[task], key=key, reverse=True)
                pending += [(other, False) for other in late]
    return tuple(order)


def minimum_peak_first(tasks: Tasks) -> tuple[int, ...]:
    """Among the ready tasks, the one with the smallest memory increment.

    A task that fits under the peak so far is preferred to one that does not; among those that fit,
    the smallest change of what is live afterwards; where none fits, the smallest allocation. Ties
    by number. What a task would free changes only when it becomes a buffer's last reader, so every
    buffer moves one key once.
    """
    allocation = [sum(tasks.sizes[buffer] for buffer in made) for made in tasks.made]
    growth = list(allocation)
    readers = tasks.readers()
    for task, made in enumerate(tasks.made):
        for buffer in made:
            if not readers[buffer] and not tasks.kept[buffer]:
                growth[task] -= tasks.sizes[buffer]
    ready = _Ready(allocation)
    after, waiting = tasks.after(), [len(before) for before in tasks.before]

    def last_reader(buffer: int) -> None:
        (task,) = readers[buffer]
        growth[task] -= tasks.sizes[buffer]
        if not waiting[task]:
            ready.put(task, growth[task])

    for buffer, users in enumerate(readers):
        if len(users) == 1 and not tasks.kept[buffer]:
            last_reader(buffer)
    for task, count in enumerate(waiting):
        if not count:
            ready.put(task, growth[task])
    order: list[int] = []
    live = peak = 0
    while len(order) < tasks.count:
        task = ready.take(peak - live)
        order.append(task)
        peak = max(peak, live + allocation[task])
        live += growth[task]
        for other in after[task]:
            waiting[other] -= 1
            if not waiting[other]:
                ready.put(other, growth[other])
        for buffer in tasks.read[task]:
            readers[buffer].discard(task)
            if len(readers[buffer]) == 1 and not tasks.kept[buffer]:
                last_reader(buffer)
    return tuple(order)


class _Ready:
    """Ready tasks: the least (growth, number) among those that allocate at most so much.

    A tree of minima over the tasks in ascending order of allocation; every operation takes
    logarithmic time.
    """

    def __init__(self, allocation: Sequence[int]) -> None:
        self.sorted = sorted(range(len(allocation)), key=lambda task: (allocation[task], task))
        self.allocations = [allocation[task] for task in self.sorted]
        self.place = {task: k for k, task in enumerate(self.sorted)}
        self.width = 1 << max(0, len(self.sorted) - 1).bit_length()
        self.nothing = (1 << 200, -1)
        self.tree = [self.nothing] * (2 * self.width)

    def put(self, task: int, growth: int) -> None:
        """The task is ready, or its growth has changed."""
        self._set(self.place[task], (growth, task))

    def take(self, room: int) -> int:
        """Remove and return the best task that allocates at most ``room``; where there is none,
        the best among those that allocate least."""
        limit = max(room, self.allocations[self._first()])
        node = self._least(bisect.bisect_right(self.allocations, limit))
        self._set(self.place[node[1]], self.nothing)
        return node[1]

    def _set(self, place: int, value: tuple[int, int]) -> None:
        node = self.width + place
        self.tree[node] = value
        while node > 1:
            node //= 2
            self.tree[node] = min(self.tree[2 * node], self.tree[2 * node + 1])

    def _first(self) -> int:
        """The first place with a task."""
        node = 1
        while node < self.width:
            node = 2 * node + (self.tree[2 * node] == self.nothing)
        return node - self.width

    def _least(self, end: int) -> tuple[int, int]:
        """The least entry before ``end``."""
        low, high, found = self.width, self.width + end, self.nothing
        while low < high:
            if low & 1:
                found, low = min(found, self.tree[low]), low + 1
            if high & 1:
                high -= 1
                found = min(found, self.tree[high])
            low, high = low // 2, high // 2
        return found


STRATEGIES: dict[str, Callable[[Tasks], tuple[int, ...]]] = {
    "original": original,
    "minimum peak first": minimum_peak_first,
    "breadth first": breadth_first,
    "depth first": depth_first,
}
"""The four strategies of §7.5; of equal peaks the earlier wins, so nothing moves without a gain."""
