"""What ``explain`` says about a program, checked against the program itself.

takes: small functions with every kind of dependence and storage
gives: the sections of the text
holds: numbers are recomputed here from shapes, not copied from the output
not here: why it was compiled (test_recompile.py)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.report.programs import large, overwriting
from stax_ref.compile import Program
from stax_ref.explain import explain, least_bytes, read_text

X = np.ones((64, 128), np.float32)


def sections(text):
    """Title → entries."""
    head, *rest = text.split("\n\n")
    found = {"": head.splitlines()}
    for part in rest:
        title, *entries = part.splitlines()
        found[title] = [entry.strip() for entry in entries]
    return found


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def around_a_call(x):
    return np.sort(x * 2, axis=-1) + 1


def test_the_sections_are_there_in_the_order_of_the_stages():
    found = sections(stax.jit(softmax).explain(X))
    assert list(found) == ["", "nodes", "dependences", "decisions", "order", "kernels", "storage"]
    assert all(found.values())


def test_every_dependence_is_shown():
    program = stax.jit(softmax).lower(X).program
    shown = sections(explain(program))["dependences"]
    expected = [
        f"{record.node.name} reads {read_text(dep)}"
        for record in program.edges.records
        for dep in record.reads
    ]
    assert shown == expected
    assert any(line.endswith("x at c0 for c0 < 8192") for line in shown)


def test_a_call_reads_a_buffer_as_a_whole():
    shown = sections(stax.jit(around_a_call).explain(X))["dependences"]
    assert any(line.endswith("as a whole") for line in shown)


def test_a_weak_dependence_says_what_is_overwritten():
    found = sections(explain(overwriting()))
    assert "t2 after t1, weak: it overwrites t0" in found["dependences"]
    assert any(line.startswith("t2: pointwise, overwrites t0") for line in found["nodes"])


def test_both_answers_show_with_reason_and_bytes():
    f = stax.jit(lambda x: (np.exp(x), np.exp(x)[::-1] * 2, np.sum(x, axis=-1)))
    program = f.lower(X).program
    shown = sections(explain(program))["decisions"]
    assert shown == list(map(str, program.groups.decisions))
    assert any(": fuse, " in line for line in shown)
    assert any(": keep apart, " in line for line in shown)
    assert all("bytes" in line for line in shown)


def test_kernels_show_their_traffic_and_its_bound():
    shown = sections(stax.jit(around_a_call).explain(X))["kernels"]
    both = 2 * X.nbytes
    assert len(shown) == 3
    assert all(line.endswith(f", {both} bytes moved, at least {both}") for line in shown)
    assert "external call: NumPy" in shown[1]


def test_a_buffer_of_its_own_kernel_is_above_the_bound():
    """A row too long for the stack goes through memory, though nobody else reads it."""
    program: Program = stax.jit(softmax, local_bytes=64).lower(X).program
    (step,) = program.plan.steps
    assert least_bytes(program.plan, step) == 2 * X.nbytes
    assert program.plan.moved_by(step) == 3 * X.nbytes


def test_the_traffic_of_the_seed_s_schedule_stands_beside_the_program_s():
    f = stax.jit(softmax)
    with stax.configured(schedule="seed"):
        seed = f.lower(X).plan.bytes_moved
        assert "by the seed's schedule" not in f.explain(X)
    assert f.lower(X).plan.bytes_moved < seed
    assert f"65536 bytes moved, {seed} by the seed's schedule; each" in f.explain(X)


def test_the_order_is_what_its_stage_prints():
    program = stax.jit(around_a_call).lower(X).program
    assert sections(explain(program))["order"] == [
        line.strip() for line in program.text("order").splitlines() if line
    ]


@pytest.mark.parametrize("kind", ["ladder", "random"])
def test_a_program_of_many_nodes_is_explained(kind):
    program = large(kind, 60)
    shown = sections(explain(program))
    assert len(shown["nodes"]) == 60
    assert len(shown["kernels"]) == program.plan.kernels
