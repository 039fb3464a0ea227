"""inplace: a kernel writes over the last thing it reads, under every condition of §7.5.

takes: programs whose intermediates lie between two external calls
gives: a failure for storage taken over that is still needed, or not taken over though it is dead
holds: the rung that runs points in shuffled order, in the planned arena
not here: injected faults (``spec_tests/faults``)
"""

import numpy as np
import pytest

import stax_ref as stax

X = np.linspace(-2, 2, 16 * 12, dtype=np.float32).reshape(16, 12)


def slots(function, *arguments, **options):
    jitted = stax.jit(function, **options)
    report = jitted.check(*arguments)
    assert report.ok, report
    # the ladder feeds every rung the recorded results of external calls, here the last to be made
    results, expected = (call(*arguments) for call in (jitted, function))
    for result, right in zip(*map(as_tuple, (results, expected)), strict=True):
        assert np.allclose(result, right, rtol=1e-4, atol=1e-4)
    plan = jitted.lower(*arguments).plan
    plan.check()
    return {slot.buffer: slot for slot in plan.slots}


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def taken(function, *arguments, **options) -> dict[str, str]:
    found = slots(function, *arguments, **options).values()
    return {slot.buffer: slot.takes for slot in found if slot.how == "in place"}


def between(middle):
    """A program with one kernel between two external calls."""

    def program(x):
        a = np.sort(x, -1)
        b = middle(a)
        return np.sort(b, -1)

    return program


def test_the_result_takes_the_storage_of_what_is_read_for_the_last_time():
    program = between(lambda a: np.exp(a) + 1)
    found = slots(program, X)
    assert found["b"].takes == "a"
    assert found["b"].offset == found["a"].offset
    assert stax.jit(program).lower(X).plan.arena_bytes == X.nbytes


def test_the_seed_prints_it():
    plan = stax.jit(between(lambda a: np.exp(a) + 1), schedule="seed").lower(X).plan
    lines = [line.strip() for line in plan.wrapper_text().splitlines()]
    assert "buf2 = buf1  # in place" in lines
    assert lines.index("buf2 = buf1  # in place") < lines.index("del buf1")


def test_it_can_be_turned_off():
    program = between(lambda a: np.exp(a) + 1)
    assert taken(program, X, in_place_percent=101) == {}
    assert stax.jit(program, in_place_percent=101).lower(X).plan.arena_bytes == 2 * X.nbytes


@pytest.mark.parametrize(
    "middle",
    [
        lambda a: a[::-1] * 2,
        lambda a: a[:, ::-1] + a,
        lambda a: a.reshape(12, 16).T * 1,
        lambda a: np.sum(a, -1, keepdims=True) + np.zeros_like(a),
    ],
    ids=["reversed", "both ways", "transposed", "rows"],
)
def test_another_index_keeps_the_storage(middle):
    assert "b" not in taken(between(middle), X)


def test_another_dtype_keeps_the_storage():
    assert taken(between(lambda a: a.astype(np.int32)), X) == {}


def test_a_later_reader_keeps_the_storage():
    def program(x):
        a = np.sort(x, -1)
        b = np.sort(np.exp(a), -1)
        return b + a[::-1]

    assert all(old != "a" for old in taken(program, X).values())


def test_a_reader_in_a_later_segment_keeps_the_storage():
    """The row is read again, after the loop that would overwrite it."""

    def program(x):
        a = np.sort(x, -1)
        b = np.exp(a)
        total = np.sum(b, -1, keepdims=True)
        return np.sort(b, -1), np.sum(a * total, -1)

    assert all(old != "a" for old in taken(program, X).values())


def test_an_earlier_reader_in_the_same_kernel_does_not():
    def program(x):
        a = np.sort(x, -1)
        top = np.max(a, -1, keepdims=True)
        return np.sort(a - top, -1)

    assert set(taken(program, X).values()) == {"a"}


def test_inputs_and_outputs_keep_theirs():
    def program(x):
        a = np.sort(x, -1)
        return a, np.sort(np.exp(a), -1), np.exp(x)

    before = X.copy()
    assert taken(program, X) == {}
    assert np.array_equal(before, X)


@pytest.mark.parametrize(("percent", "found"), [(93, {"b": "a"}), (94, {})])
def test_a_little_smaller_is_enough(percent, found):
    """15 of 16 rows: 93.75 per cent of the bytes."""
    assert taken(between(lambda a: a[:15] * 2), X, in_place_percent=percent) == found


def test_one_storage_is_taken_once():
    def program(x):
        a = np.sort(x, -1)
        return np.sort(np.exp(a), -1), np.sort(np.tanh(a), -1)

    found = list(taken(program, X).values())
    assert len(found) == len(set(found)) == 1


def test_storage_is_taken_over_again_and_again():
    def program(x):
        for _ in range(4):
            x = np.exp(-np.sort(x, -1))
        return np.sort(x, 0)

    assert len(taken(program, X)) == 4
    assert stax.jit(program).lower(X).plan.arena_bytes == 2 * X.nbytes
