"""nest: the records of a kernel, their checks and texts, and what filling a tree promises.

takes: hand-written nests and traced programs
gives: a failure for a broken nest that passes its check
holds: every rule of ``Nest.check`` on both sides
not here: running nests (``test_interpret``), filling every accepted pair (``test_fuse``)
"""

from dataclasses import replace

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.golden import programs
from stax_ref.dtypes import BOOL, F32
from stax_ref.errors import InvariantError
from stax_ref.graph import literal
from stax_ref.index import Symbol, variable
from stax_ref.nest import (
    Accumulate,
    Accumulator,
    Assume,
    If,
    Let,
    Local,
    Loop,
    Nest,
    Store,
    arguments,
    rewrite,
    walk,
)
from stax_ref.node import Access, Buffer, computed
from stax_ref.ops import planned_order

AXIS = Symbol("i", 8)
OTHER = Symbol("r", 8)
HERE = Access("x", (variable(AXIS),))
THERE = Access("y", (variable(AXIS),))
LOAD = Let("t", F32, "load", (), HERE)
STORE = Store(THERE, "t")
ZERO = literal(0, F32)


def nest_of(*body) -> Nest:
    return Nest("k0", ("y",), (computed("x", (8,), F32), computed("y", (8,), F32)), body)


def test_a_good_nest_passes_and_prints():
    nest = nest_of(Loop(AXIS, "parallel", (LOAD, STORE)))
    nest.check()
    assert str(nest).splitlines() == [
        "kernel k0  (y)",
        "  x: f32[8]",
        "  y: f32[8]",
        "  for i in 8 parallel",
        "    t: f32 = load x[i]",
        "    y[i] = t",
    ]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ((Loop(AXIS, "parallel", (STORE, LOAD)),), "t is used before it is defined"),
        ((Loop(AXIS, "parallel", (LOAD, LOAD, STORE)),), "t is defined twice"),
        ((LOAD, STORE), "uses a loop variable out of scope"),
        ((Loop(OTHER, "parallel", (LOAD, STORE)),), "uses a loop variable out of scope"),
        ((Loop(AXIS, "parallel", (LOAD,)), Loop(AXIS, "parallel", (STORE,))), "t is used before"),
        ((Loop(AXIS, "parallel", (If("c", (LOAD,)),)),), "c is used before"),
        ((Loop(AXIS, "parallel", (Assume("c"),)),), "c is used before"),
        (
            (Loop(AXIS, "parallel", (LOAD, Accumulate("a", "t"), Let("u", F32, "exp", ("v",)))),),
            "v is",
        ),
    ],
)
def test_a_broken_nest_is_found(body, complaint):
    with pytest.raises(InvariantError, match=complaint):
        nest_of(*body).check()


ONE = Let("one", BOOL, "equal", (ZERO, ZERO))


@pytest.mark.parametrize("wrap", [lambda *b: b, lambda *b: (Loop(AXIS, "parallel", b),)])
def test_what_a_conditional_defines_stays_in_it(wrap):
    inside = Let("u", F32, "exp", (ZERO,))
    store = Store(Access("y", (variable(Symbol("one", 1)),)), "u")
    nest_of(*wrap(ONE, If("one", (inside, store)))).check()
    with pytest.raises(InvariantError, match="u is used before"):
        nest_of(*wrap(ONE, If("one", (inside,)), store)).check()


def test_an_accumulator_is_visible_after_its_loop_only():
    total = Accumulator("a", "sum", F32, planned_order(F32, True))
    loop = Loop(AXIS, "reduced", (LOAD, Accumulate("a", "t")), (total,))
    after = Store(Access("y", (variable(Symbol("one", 1)),)), "a")
    nest_of(loop, after).check()
    with pytest.raises(InvariantError, match="a is used before"):
        nest_of(after, loop).check()


def test_every_statement_prints():
    total = Accumulator("a", "sum", F32, planned_order(F32, True))
    local = Local(computed("row", (4,), F32))
    body = (
        local,
        Loop(AXIS, "reduced", (LOAD, Accumulate("a", "t")), (total,)),
        Let("g", BOOL, "greater", ("a", ZERO)),
        Let("u", F32, "undef"),
        Assume("g"),
        If("g", (Store(Access("y", (variable(Symbol("one", 1)),)), "u"),)),
    )
    assert str(nest_of(*body)).splitlines()[3:] == [
        "  local row: f32[4]",
        "  for i in 8 reduced",
        "      a: f32 = sum, lanes 32 chunk 4096",
        "    t: f32 = load x[i]",
        "    a <- t",
        "  g: bool = greater a, 0.0",
        "  u: f32 = undef",
        "  assume g",
        "  if g",
        "    y[0] = u",
    ]


def test_layouts_print():
    turned = Buffer("x", (2, 4), F32, (1, 2), "input")
    assert "x: f32[2,4] strides (1, 2)" in str(Nest("k0", (), (turned,), ()))


def test_walk_and_rewrite():
    nest = nest_of(Loop(AXIS, "parallel", (LOAD, If("t", (STORE,)))))
    assert [type(s).__name__ for s in walk(nest.body)] == ["Loop", "Let", "If", "Store"]
    doubled = rewrite(nest.body, lambda s: replace(s, op="abs") if isinstance(s, Let) else s)
    assert [s.op for s in walk(doubled) if isinstance(s, Let)] == ["abs"]
    emptied = rewrite(nest.body, lambda s: None if isinstance(s, Store) else s)
    assert not any(isinstance(s, Store) for s in walk(emptied))
    assert [arguments(s) for s in walk(nest.body)] == [(), (), ("t",), ("t",)]


# filling -----------------------------------------------------------------------------------------
def steps(function, *arguments, **options):
    return stax.jit(function, **options).lower(*arguments).program.steps


ROWS = np.zeros((64, 128), np.float32)


def test_a_value_is_computed_in_the_outermost_loop_that_can():
    """The deviation of a row is one square root a row, not one an element."""
    (kernel,) = steps(*_program("layernorm"))
    (outer,) = kernel.body
    per_row = [s.op for s in outer.body if isinstance(s, Let)]
    assert per_row.count("sqrt") == 1
    inner = outer.body[-1]
    assert "sqrt" not in [s.op for s in walk(inner.body) if isinstance(s, Let)]


def test_a_stored_value_is_used_from_its_register():
    def f(x):
        b = x + 1
        return b, b * 2, np.abs(b)

    (kernel,) = steps(f, ROWS)
    loads = [s.access.buffer for s in walk(kernel.body) if isinstance(s, Let) and s.op == "load"]
    assert loads == ["x"]


def test_a_buffer_only_its_kernel_uses_is_not_stored():
    (kernel,) = steps(programs.rownorm, ROWS)
    assert [s.access.buffer for s in walk(kernel.body) if isinstance(s, Store)] == ["out"]
    (seed,) = steps(programs.rownorm, ROWS, schedule="seed")
    stored = [s.access.buffer for s in walk(seed.body) if isinstance(s, Store)]
    assert stored == ["buf1", "buf2"]


def test_merged_loops():
    """Loops merge where every address allows it, and only there."""
    (kernel,) = steps(lambda x: x + 1, ROWS)
    assert [loop.symbol.extent for loop in walk(kernel.body) if isinstance(loop, Loop)] == [8192]
    (kernel,) = steps(lambda x, w: x + w, ROWS, ROWS[0])
    assert [s.symbol.extent for s in walk(kernel.body) if isinstance(s, Loop)] == [64, 128]


def test_the_lines_of_the_user_are_kept():
    (kernel,) = steps(programs.softmax, ROWS)
    lines = [line.split(":")[0] for line in kernel.lines]
    assert set(lines) == {"programs.py"}
    assert len(kernel.lines) == 3


def _program(name):
    function, arguments, _ = programs.DEFAULT[name]
    return (function, *arguments)


def test_a_row_is_read_inside_its_loop():
    """A short sum over the row reads it at constant places; they belong to this iteration."""

    def f(x):
        e = np.exp(x)
        return e / np.sum(e, axis=-1, keepdims=True)

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    (kernel,) = steps(f, x)
    outside = [s for s in kernel.body if not isinstance(s, Loop)]
    assert not any(getattr(s, "access", None) for s in outside), str(kernel)
    assert stax.jit(f, backend="ref").check(x).ok


def test_a_row_outside_its_loop_is_found():
    row = computed("row", (4,), F32)
    first = Access("row", (variable(Symbol("one", 1)),))
    read, write = Let("u", F32, "load", (), first), Store(first, ZERO)
    nest_of(Loop(AXIS, "parallel", (Local(row), write, read))).check()
    for body in (
        (read, Loop(AXIS, "parallel", (Local(row), write))),
        (Loop(AXIS, "parallel", (Local(row), write)), read),
        (Loop(AXIS, "parallel", (write, read)),),
    ):
        with pytest.raises(InvariantError, match="row"):
            nest_of(*body).check()
