"""The abstract fusion problem: what a partition costs, what an order needs, what is nonsense.

takes: hand-made problems
gives: a failure for a cost or a peak that differs from the sum written out, and for nonsense that
    ``check`` does not name
holds: every expected number is written out by hand from Definitions 7.3 and 7.5
not here: the best partition and order (``test_optimal``), the scheduler's (``theorems``)
"""

from dataclasses import replace

import pytest

from stax_ref.acyclic import find_cycle
from stax_ref.errors import InvariantError
from stax_ref.problem import Problem

# in0 → n0 → n1 → n3, n0 → n2 → n3; n3 is the output
DIAMOND = Problem(
    sizes=(100, 10, 20, 1),
    inputs=(1000,),
    reads=((), (0,), (0,), (1, 2)),
    external=((0,), (), (), (0,)),
    outputs=(3,),
    forbidden=frozenset({(1, 2)}),
    kinds=(0, 1, 0, 0),
)


def test_apart_every_buffer_is_written_once_and_read_by_every_user():
    expected = (100 + 2 * 100) + (10 + 10) + (20 + 20) + 1 + 2 * 1000
    assert DIAMOND.cost(((0,), (1,), (2,), (3,))) == expected


def test_a_block_reads_a_buffer_once_and_keeps_what_only_it_uses():
    assert DIAMOND.cost(((0, 1), (2, 3))) == (100 + 100) + (10 + 10) + 1 + 2 * 1000
    assert DIAMOND.cost(((0,), (1, 2), (3,))) == (100 + 100) + 20 + 40 + 1 + 2 * 1000


def test_in_one_block_only_inputs_and_outputs_move():
    assert DIAMOND.cost(((0, 1, 2, 3),)) == 1000 + 1


def test_an_output_is_written_even_where_all_its_users_share_its_block():
    both = replace(DIAMOND, outputs=(0, 3))
    assert both.cost(((0, 1, 2, 3),)) == 1000 + 1 + 100
    assert both.cost(((0,), (1, 2, 3))) == 2 * 1000 + 1 + 100 + 100


def test_a_forbidden_pair_is_no_scheme():
    assert DIAMOND.is_scheme(((0, 1), (2,), (3,)))
    assert not DIAMOND.is_scheme(((0,), (1, 2), (3,)))


def test_a_cycle_of_blocks_is_no_scheme():
    assert not DIAMOND.is_scheme(((0, 3), (1,), (2,)))
    assert DIAMOND.is_scheme(((2, 3), (0, 1)))


def test_a_node_left_out_or_in_two_blocks_is_no_scheme():
    assert not DIAMOND.is_scheme(((0, 1), (2,)))
    assert not DIAMOND.is_scheme(((0, 1), (1, 2), (3,)))


def test_a_buffer_lives_until_its_last_user_has_run():
    assert DIAMOND.peak((0, 1, 2, 3)) == 100 + 10 + 20
    assert DIAMOND.peak((0, 2, 1, 3)) == 100 + 10 + 20
    assert replace(DIAMOND, sizes=(1, 10, 20, 500)).peak((0, 1, 2, 3)) == 10 + 20 + 500


def test_an_output_lives_to_the_end_and_a_value_nobody_reads_for_its_step():
    alone = Problem((5, 7, 3), (), ((), (), ()), ((), (), ()), (0,), frozenset(), (0, 0, 0))
    assert alone.peak((0, 1, 2)) == 5 + 7
    assert alone.peak((1, 2, 0)) == 7


def test_a_problem_prints():
    assert str(DIAMOND).splitlines() == [
        "in0: 1000 bytes",
        "n0: pointwise, 100 bytes, reads in0",
        "n1: reduction, 10 bytes, reads n0, never with n2",
        "n2: pointwise, 20 bytes, reads n0, never with n1",
        "n3: pointwise, 1 bytes, reads in0, n1, n2, output",
    ]


NONSENSE = {
    "n1 reads n9, which does not exist": {"reads": ((), (9,), (0,), (1, 2))},
    "n0 reads n2 reads n1 reads n0": {"reads": ((2,), (0,), (1,), (1, 2))},
    "n1 reads n1": {"reads": ((), (1,), (0,), (1, 2))},
    "n1 reads n2, which comes later": {"reads": ((), (2,), (0,), (1,))},
    "n3 reads input 4, which does not exist": {"external": ((0,), (), (), (4,))},
    "the output n7 does not exist": {"outputs": (7,)},
    "n2 has -1 bytes": {"sizes": (1, 1, -1, 1)},
    "n0 has 100 bytes and kind 2": {"kinds": (2, 0, 0, 0)},
    r"pair \(2, 5\) names a missing node": {"forbidden": frozenset({(2, 5)})},
    r"pair \(1, 1\) is n1 with itself": {"forbidden": frozenset({(1, 1)})},
    r"pair \(2, 1\) is not in ascending order": {"forbidden": frozenset({(2, 1)})},
    "sizes, reads, external and kinds have": {"kinds": (0,)},
}


@pytest.mark.parametrize("message", NONSENSE)
def test_check_names_nonsense(message: str):
    DIAMOND.check()
    with pytest.raises(InvariantError, match=message):
        replace(DIAMOND, **NONSENSE[message]).check()


def test_check_shows_the_lines_around_the_culprit():
    chain = Problem(
        sizes=(1,) * 20,
        inputs=(),
        reads=((), *((k,) for k in range(19))),
        external=((),) * 20,
        outputs=(19,),
        forbidden=frozenset({(9, 9)}),
        kinds=(0,) * 20,
    )
    with pytest.raises(InvariantError) as caught:
        chain.check()
    lines = str(caught.value).splitlines()
    assert lines[1] == lines[-1] == "  ..."
    assert [line for line in lines if line.startswith("> n9:")] == [lines[7]]
    assert len(lines) == 1 + 1 + 11 + 1


def test_find_cycle_gives_the_vertices_on_it_and_no_others():
    assert find_cycle([[], [0, 3], [1], [2], [1]]) == (1, 3, 2)
    assert find_cycle([[], [0], [0, 1]]) == ()
    assert find_cycle([[0]]) == (0,)
