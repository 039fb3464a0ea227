"""The four strategies of seed §7.5 on bare numbers, and the simulated peak.

takes: hand-made and random tasks
gives: a failure where a strategy does not do what its sentence says, where a peak is not
    Definition 7.5's, and where time grows faster than it may
holds: the increments of minimum-peak-first are recomputed from scratch at every step
not here: kernels (``test_order``), the distance from the optimum (``theorems``)
"""

import random
import sys
from dataclasses import replace

import pytest

from spec_tests.theorems.generator import random_problem
from stax_ref.peak import (
    STRATEGIES,
    Candidate,
    Tasks,
    best,
    breadth_first,
    candidates,
    depth_first,
    minimum_peak_first,
    of_problem,
    original,
    simulate,
)
from stax_ref.problem import Problem


def tasks(*rows, kept=()):
    """Tasks that make a buffer each; a row is (bytes, numbers of the tasks it reads)."""
    reads = tuple(tuple(read) for _, read in rows)
    return Tasks(
        reads,
        tuple((k,) for k in range(len(rows))),
        reads,
        tuple(size for size, _ in rows),
        tuple(k in kept for k in range(len(rows))),
        (0,) * len(rows),
    )


def wide(count: int, seed: int = 0) -> Problem:
    """A long program: every node reads two of the thirty before it."""
    draw = random.Random(seed)
    reads = [()] + [
        tuple(sorted({draw.randrange(max(0, node - 30), node) for _ in range(2)}))
        for node in range(1, count)
    ]
    sizes = tuple(draw.choice((4, 64, 1024)) for _ in range(count))
    return Problem(
        sizes, (4,), tuple(reads), ((0,),) * count, (count - 1,), frozenset(), (0,) * count
    )


def test_original_is_the_order_of_the_numbers_where_it_can_be():
    assert original(tasks((1, []), (1, []), (1, []))) == (0, 1, 2)
    assert original(tasks((1, [2]), (1, []), (1, []))) == (1, 2, 0)


def test_minimum_peak_first_takes_what_leaves_least():
    made = tasks((100, []), (50, []), (1, [0]), (1, [1]))
    assert minimum_peak_first(made) == (1, 3, 0, 2)


def test_minimum_peak_first_prefers_what_fits_under_the_peak_so_far():
    """After 0 has run, 1 would leave less than 2 does, but raises the peak above 100."""
    made = tasks((100, []), (0, [0]), (140, [1]), (30, [1]), (1, [2]))
    order = minimum_peak_first(made)
    assert order.index(3) < order.index(2)


def test_breadth_first_goes_by_the_places_of_the_predecessors():
    """3 reads what ran first, so it runs before 2, which reads what ran second."""
    made = tasks((1, []), (1, []), (1, [1]), (1, [0]))
    assert breadth_first(made) == (0, 1, 3, 2)


def test_depth_first_goes_from_the_lightest_and_runs_what_it_needs_just_before():
    made = tasks((50, []), (9, []), (50, [0]), (1, [1]))
    assert depth_first(made) == (1, 3, 0, 2)


def test_depth_first_counts_the_callers_arrays_that_are_read():
    light = tasks((1, []), (1, []))
    heavy = Tasks(light.before, light.made, light.read, light.sizes, light.kept, (100, 0))
    assert depth_first(light) == (0, 1)
    assert depth_first(heavy) == (1, 0)


@pytest.mark.parametrize(("inputs", "expected"), [((200, 100), (1, 0, 2)), ((100, 200), (0, 1, 2))])
def test_depth_first_visits_light_predecessors_first(inputs, expected):
    """The last task is the lightest, so it is where the walk begins."""
    reads = ((), (), (0, 1))
    made = Tasks(reads, ((0,), (1,), (2,)), reads, (1, 1, 1), (False,) * 3, (*inputs, 0))
    assert depth_first(made) == expected


def test_a_long_chain_needs_no_recursion():
    chain = tasks((1, []), *((1, [k]) for k in range(5000)))
    assert depth_first(chain) == tuple(range(5001))


def test_of_equal_peaks_the_first_is_best():
    assert best([Candidate("a", (), 5), Candidate("b", (), 3), Candidate("c", (), 3)]) == 1


@pytest.mark.parametrize("count", [1, 2, 5, 9, 20])
def test_every_strategy_gives_an_order_and_its_peak(count: int):
    for number in range(60):
        problem = random_problem(number, count)
        for candidate in candidates(of_problem(problem)):
            place = {task: k for k, task in enumerate(candidate.order)}
            assert sorted(place) == list(range(count))
            assert all(place[p] < place[n] for n in place for p in problem.reads[n])
            assert candidate.peak == problem.peak(candidate.order)


def by_scanning(problem: Problem) -> tuple[int, ...]:
    """Minimum-peak-first as its definition reads, with every number computed anew."""
    order: list[int] = []
    users = problem.users()
    highest = 0

    def live(done):
        return sum(
            problem.sizes[n]
            for n in done
            if n in problem.outputs or any(user not in done for user in users[n])
        )

    while len(order) < problem.count:
        done = set(order)
        ready = [n for n in range(problem.count) if n not in done and set(problem.reads[n]) <= done]
        room = highest - live(done)

        def key(node, done=done, room=room):
            own = problem.sizes[node]
            growth = live(done | {node}) - live(done)
            return (own if own > room else 0, growth, node)

        node = min(ready, key=key)
        highest = max(highest, live(done) + problem.sizes[node])
        order.append(node)
    return tuple(order)


@pytest.mark.parametrize("count", [4, 10, 25])
def test_minimum_peak_first_is_its_definition(count: int):
    for number in range(60):
        problem = random_problem(number, count)
        assert minimum_peak_first(of_problem(problem)) == by_scanning(problem), number
        unread = replace(problem, outputs=problem.outputs[::2])
        assert minimum_peak_first(of_problem(unread)) == by_scanning(unread), number


def test_a_task_may_make_several_buffers_and_keep_some():
    made = Tasks(
        before=((), (0,)),
        made=((0, 1), (2,)),
        read=((), (0,)),
        sizes=(10, 20, 1),
        kept=(False, True, False),
        inputs=(0, 0),
    )
    assert simulate(made, (0, 1)) == 31
    assert made.lower_bound() == 30


def test_no_order_needs_less_than_the_lower_bound():
    tight = 0
    for number in range(100):
        made = of_problem(random_problem(number, 8))
        peaks = [candidate.peak for candidate in candidates(made)]
        assert min(peaks) >= made.lower_bound()
        tight += min(peaks) == made.lower_bound()
    assert 0 < tight < 100


def calls_of(work) -> int:
    """Calls of functions that some work makes: exact, where seconds are not."""
    count = 0

    def counting(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", STRATEGIES)
def test_work_grows_hardly_faster_than_the_program(name: str):
    """Between 1,000 and 4,000 tasks at most like n^1.5, in calls."""
    made = {count: of_problem(wide(count)) for count in (1000, 4000)}
    calls = {n: calls_of(lambda m=m: simulate(m, STRATEGIES[name](m))) for n, m in made.items()}
    assert calls[4000] <= calls[1000] * 4**1.5
