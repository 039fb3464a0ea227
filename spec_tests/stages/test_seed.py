"""The examples of the seed text, to the letter, under ``schedule="seed"``.

takes: Example 7.1 and Example 7.2 on both devices
gives: a failure for any log line, score, grouping, partition or kernel structure that differs
holds: the text's own names and numbers
not here: the listing of dependences (``test_depend``), whole texts (``golden``)
"""

import pytest

import stax_ref as stax
from spec_tests import counting
from spec_tests.golden.programs import SEED
from stax_c.emit import emit
from stax_ref.compile import Program
from stax_ref.nest import Loop


def compiled(name: str, **options) -> Program:
    function, arguments, own = SEED[name]
    return stax.jit(function, **{**own, **options}).lower(*arguments).program


def decision(program: Program, *pair: str):
    (found,) = (d for d in program.groups.decisions if d.pair == pair)
    return found


def test_example_7_1_log():
    groups = compiled("seed_example_7_1").groups
    assert groups.log[:3] == (
        "found 1 possible fusions",
        "fusing op0 with op1",
        "op0_op1: OuterLoopFusedSchedulerNode(SchedulerNode,SchedulerNode)",
    )
    assert groups.decisions[0].bytes_saved == 33024 == 8192 * 4 + 64 * 4
    assert groups.groups[0].depth == 1


def test_example_7_1_kernel_has_the_structure_of_listing_7_1():
    plan = compiled("seed_example_7_1").plan
    (kernel,) = plan.steps
    (outer,) = kernel.body
    assert (outer.symbol.extent, outer.kind) == (64, "parallel")
    inner = [s for s in outer.body if isinstance(s, Loop)]
    assert [(loop.symbol.extent, loop.kind) for loop in inner] == [
        (128, "reduced"),
        (128, "parallel"),
    ]
    names = [buffer.name for buffer in kernel.buffers]
    assert names == ["primals_1", "buf1", "buf2"]
    assert plan.slot("buf1").nbytes == 256, "row sums still have their 64-element buffer"
    scalar = emit(plan, "scalar").text
    assert counting.outermost_loops(scalar) == {"k0": 1}
    assert "k0(b, 0, 64, &flags)" in scalar


@pytest.mark.parametrize("isa", ["avx512", "avx2"])
def test_example_7_1_in_c_is_two_loops_in_one(isa):
    plan = compiled("seed_example_7_1").plan
    text = emit(plan, isa).text
    assert counting.outermost_loops(text) == {"k0": 1}
    function = text[text.index("static void k0") :]
    width = {"avx512": 16, "avx2": 8}[isa]
    assert function.count("for (i64 i0 = begin; i0 < end; i0++)") == 1
    assert function.count("for (; r_0 + 32 <= 128; r_0 += 32)") == 1
    assert function.count(f"for (; j0 + {width} <= 128; j0 += {width})") == 1


def test_example_7_2_on_a_cpu():
    program = compiled("seed_example_7_2_cpu")
    assert [[n.name for n in g.nodes] for g in program.sequence] == [["op0"], ["op1", "op2"]]
    assert decision(program, "op1", "op2").reason == "SAME_VARS_REDUCE"
    for pair in (("op0", "op1"), ("op0", "op2")):
        assert decision(program, *pair).reason == "outer loop fusion depth is 0"
        assert not decision(program, *pair).verdict
    found = [line for line in program.groups.log if line.startswith("found")]
    assert found == ["found 1 possible fusions", "found 0 possible fusions"]
    assert program.plan.kernels == 2
    assert sum(counting.outermost_loops(emit(program.plan, "avx2").text).values()) == 2


def test_example_7_2_on_a_gpu_computes_each_exp_once():
    program = compiled("seed_example_7_2_gpu")
    (kernel,) = program.plan.steps
    counts = counting.operations(kernel)
    assert counts["exp"] == 8192, "16384 before the two reductions shared it"
    assert counts["load"] == 8192
    apart = compiled("seed_example_7_2_gpu", max_nodes=1)
    assert sum(counting.operations(k)["exp"] for k in apart.plan.steps) == 16384
