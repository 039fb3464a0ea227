"""depend's normal form over everything that ``index`` can hold: addresses in order, nothing else.

takes: random affine, divided and remaindered indices; programs of every supported view
gives: a failure where the original and the normal form do not touch the same elements in order
holds: enumeration of both; sympy judges the rules of simplification (in tests only)
not here: what a single access of a buffer looks like (``test_depend``)

Equal means: the list of addresses of the original loops is the list of the normal form's with each
entry repeated by the extents of the trailing variables that were dropped.
"""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stax_ref as stax
from stax_ref.depend import MemoryDep, WholeDep, accesses_of, merge_axes, normal_form
from stax_ref.index import Symbol, constant, to_sympy, variable
from stax_ref.node import Access, computed

QUICK = settings(derandomize=True, deadline=None, max_examples=200)
F32 = np.dtype(np.float32)


def addresses(symbols, index):
    """The values of an index over loops, outermost first, in the order they are run."""
    names = [symbol.name for symbol in symbols]
    return [
        int(index.evaluate(dict(zip(names, values, strict=True))))
        for values in itertools.product(*(range(symbol.extent) for symbol in symbols))
    ]


def same_addresses(symbols, index, dep):
    """The statement of this file, for one access with this linear address."""
    kept = tuple(Symbol(f"c{k}", size) for k, size in enumerate(dep.sizes))
    short = addresses(kept, dep.index)
    dropped = math.prod(symbol.extent for symbol in symbols) // max(len(short), 1)
    assert addresses(symbols, index) == [a for a in short for _ in range(dropped)]
    assert not kept or kept[-1] in dep.index.symbols(), "a trailing variable is unused"
    assert dep.index.symbols() <= set(kept)


@st.composite
def indices(draw):
    """Loops and a non-negative index over them: sums of multiples of loops and of their digits."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    symbols = tuple(Symbol(f"i{k}", extent) for k, extent in enumerate(sizes))
    parts = [constant(0)]
    for _ in range(draw(st.integers(1, 3))):
        inner = constant(draw(st.integers(0, 5)))
        for symbol in draw(st.lists(st.sampled_from(symbols), max_size=3, unique=True)):
            inner = inner + variable(symbol) * draw(st.sampled_from([1, 2, 3, 4, 6, 12, -1, -4]))
        inner = inner - min(inner.bounds()[0], 0)
        kind, by = draw(st.sampled_from("+/%")), draw(st.integers(1, 7))
        inner = {"+": inner, "/": inner // by, "%": inner % by}[kind]
        parts.append(inner * draw(st.sampled_from([1, 1, 2, 3, 8])))
    total = sum(parts[1:], parts[0])
    return symbols, total - min(total.bounds()[0], 0)


@QUICK
@given(indices())
def test_affine_and_digit_indices_keep_their_addresses_in_order(case):
    symbols, index = case
    buffer = computed("x", (index.bounds()[1] + 1,), F32)
    dep = normal_form(Access("x", (index,)), {"x": buffer}, symbols, "x")
    assert isinstance(dep, MemoryDep)
    same_addresses(symbols, index, dep)


@QUICK
@given(indices(), indices())
def test_loops_merged_for_two_accesses_keep_both_in_order(first, second):
    symbols, index = first
    moved = dict(zip(second[0], map(variable, symbols), strict=False))
    fits = all(a.extent <= b.extent for a, b in zip(symbols, second[0], strict=False))
    other = (
        second[1].subs(moved) if fits and len(symbols) >= len(second[0]) else variable(symbols[-1])
    )
    merged, (one, two) = merge_axes(symbols, [index, other])
    assert math.prod(s.extent for s in merged) == math.prod(s.extent for s in symbols)
    assert addresses(merged, one) == addresses(symbols, index)
    assert addresses(merged, two) == addresses(symbols, other)


# every view ---------------------------------------------------------------------------------------
VIEWS = {
    "slice": lambda x: x[1:, ::2],
    "reversed": lambda x: x[::-1, ::-1],
    "backwards by three": lambda x: x[:, 10:1:-3],
    "an integer": lambda x: x[2],
    "a new axis": lambda x: x[:, None, 1:],
    "ellipsis": lambda x: x[..., -1],
    "transposed": lambda x: x.T,
    "axes moved": lambda x: np.moveaxis(x.reshape(2, 3, 12), 0, 2),
    "axes swapped": lambda x: np.swapaxes(x.reshape(2, 3, 12), 0, 1),
    "flat": lambda x: x.reshape(-1),
    "split": lambda x: x.reshape(3, 2, 4, 3),
    "reshaped across axes": lambda x: x.reshape(8, 9),
    "transposed and flat": lambda x: x.T.reshape(-1),
    "transposed and reshaped": lambda x: x.T.reshape(9, 8).T,
    "reversed and reshaped": lambda x: x[::-1].reshape(9, 8),
    "strided and reshaped": lambda x: x[::2, 1:11].reshape(5, 6),
    "flipped": lambda x: np.flip(x, 1),
    "turned": np.rot90,
    "rolled": lambda x: np.roll(x, 5, axis=1),
    "rolled flat": lambda x: np.roll(x, 7),
    "rolled twice": lambda x: np.roll(x, (1, -2), axis=(0, 1)),
    "repeated": lambda x: np.repeat(x, 3, axis=1),
    "repeated flat": lambda x: np.repeat(x, 2),
    "tiled": lambda x: np.tile(x, (2, 3)),
    "diagonal": lambda x: np.diagonal(x, 2),
    "diagonal below": lambda x: x.diagonal(-1),
    "broadcast": lambda x: np.broadcast_to(x[0], (4, 12)),
    "squeezed": lambda x: np.squeeze(x[:1]),
    "concatenated": lambda x: np.concatenate([x, x[::-1], x[1:3]], axis=0),
    "concatenated and reshaped": lambda x: np.concatenate([x, x], axis=1).reshape(16, 9),
    "stacked": lambda x: np.stack([x, -x, x * 2], axis=1),
    "columns": lambda x: np.column_stack([x[:, 0], x[:, 3]]),
    "padded": lambda x: np.pad(x, ((1, 2), (0, 3))),
    "padded by the edge": lambda x: np.pad(x, 2, mode="edge"),
    "padded by reflection": lambda x: np.pad(x, 2, mode="reflect"),
    "padded around": lambda x: np.pad(x, 2, mode="wrap"),
    "lower triangle": np.tril,
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, axis=1),
    "split in two": lambda x: np.split(x, 2, axis=1)[1],
    "assigned": lambda x: _assigned(x),
    "assigned through a view": lambda x: _through(x),
}


def _assigned(x):
    y = x * 1
    y[1:-1, ::3] = 0
    return y


def _through(x):
    y = x * 1
    y.T[2:4].reshape(-1)[::2] += 1
    return y


def programs():
    """Every view alone, computed from and into, under a reduction, and over another view."""
    for name, view in VIEWS.items():
        yield name, lambda x, view=view: view(x) + 1
        yield f"{name}, of a sum", lambda x, view=view: view(x * x.sum(-1, keepdims=True))
        yield f"{name}, summed", lambda x, view=view: np.sum(view(x), axis=-1)
    for first, second in itertools.combinations(VIEWS, 2):
        yield (
            f"{first}, {second}",
            lambda x, a=VIEWS[first], b=VIEWS[second]: (a(x), b(x * x.max())),
        )


def staged(function):
    return stax.jit(function).lower(np.zeros((6, 12), np.float32)).program


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_keeps_its_addresses_in_order_and_needs_no_fall_back(name):
    checked = 0
    for label, function in programs():
        if label.split(", ")[0] != name or label.split(", ")[-1] in set(VIEWS) - {name}:
            continue
        program = staged(function)
        buffers = program.edges.named
        assert program.edges.fallbacks == 0
        for record in program.edges.records:
            node = record.node
            assert not node.is_extern
            symbols = (*node.outer, *node.inner)
            reads, writes = accesses_of(node.body)
            for access in (*reads, *writes):
                dep = normal_form(access, buffers, symbols, access.buffer)
                assert dep in record.reads or dep in record.writes
                same_addresses(symbols, access.flat(buffers[access.buffer]), dep)
                checked += 1
    assert checked


def test_no_view_loads_sympy():
    """The grammar of ``index`` is closed over the supported views: nothing else is ever asked."""
    code = (
        "import sys\n"
        "from spec_tests.stages.test_normal_form import programs, staged\n"
        "before = 'sympy' in sys.modules\n"
        "for k, (label, function) in enumerate(programs()):\n"
        "    if k < 130 or k % 5 == 0:\n"
        "        staged(function).text('plan')\n"
        "print(before, 'sympy' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "False False\n", result.stderr


# fall-backs ---------------------------------------------------------------------------------------
def gathered(x, k):
    return x[k] + x[::-1][k] * 2 + x.sum()


def test_runtime_positions_are_counted_and_shown():
    program = stax.jit(gathered).lower(np.zeros(9, np.float32), np.zeros(4, np.int64)).program
    count = program.edges.fallbacks
    assert count == 1
    line = f"fall-back indices: {count} at runtime positions"
    assert program.text("depend").endswith(line)
    assert line in stax.jit(gathered).explain(np.zeros(9, np.float32), np.zeros(4, np.int64))
    assert "fall-back" not in staged(VIEWS["tiled"]).text("depend")


def test_canonical_and_fall_back_forms_never_compare_equal():
    whole = variable(Symbol("c0", 9))
    assert MemoryDep("x", whole, (9,)) != WholeDep("x", 9)
    assert len({MemoryDep("x", whole, (9,)), WholeDep("x", 9)}) == 2
    program = stax.jit(gathered).lower(np.zeros(9, np.float32), np.zeros(4, np.int64)).program
    reads = [dep for record in program.edges.records for dep in record.reads if dep.buffer == "x"]
    assert {type(dep) for dep in reads} == {MemoryDep, WholeDep}
    assert not {d for d in reads if isinstance(d, MemoryDep)} & {
        d for d in reads if isinstance(d, WholeDep)
    }


# rules of simplification, each with any numbers ---------------------------------------------------
NUMBERS = st.integers(2, 6)


@QUICK
@given(NUMBERS, NUMBERS, NUMBERS, st.sampled_from(range(7)))
def test_each_rule_gives_one_form_and_sympy_finds_the_same_values(d, m, k, rule):
    """The rules on divisions and remainders of a non-negative ``b`` with a known range."""
    b = Symbol("b", d * m if rule == 0 else d if rule == 1 else d * m * k + k)
    x = variable(b)
    small = Symbol("s", d)
    left, right = {
        0: lambda: ((x // d) % m, x // d),
        1: lambda: (x // d, constant(0)),
        2: lambda: ((x * d + variable(small)) // (d * m), x // m),
        3: lambda: (((x // d) % (m * k)) // k, (x // (d * k)) % m),
        4: lambda: (x % d + (x // d) % m * d, x % (d * m)),
        5: lambda: (x % d + (x // d) * d, x),
        6: lambda: ((x // d) // m, x // (d * m)),
    }[rule]()
    assert left == right
    sympy = pytest.importorskip("sympy")
    unsimplified = _spelled(sympy, rule, d, m, k)
    for value in range(0, b.extent, max(1, b.extent // 7)):
        at = {sympy.Symbol("b", integer=True, nonnegative=True): value}
        at[sympy.Symbol("s", integer=True, nonnegative=True)] = value % d
        assert unsimplified.subs(at) == to_sympy(right).subs(at)


def _spelled(sympy, rule, d, m, k):
    """The left side of a rule as sympy writes it, nothing of ours in between."""
    b = sympy.Symbol("b", integer=True, nonnegative=True)
    s = sympy.Symbol("s", integer=True, nonnegative=True)

    def over(e, n):
        return sympy.floor(e / sympy.Integer(n))

    return {
        0: lambda: sympy.Mod(over(b, d), m),
        1: lambda: over(b, d),
        2: lambda: over(b * d + s, d * m),
        3: lambda: over(sympy.Mod(over(b, d), m * k), k),
        4: lambda: sympy.Mod(b, d) + d * sympy.Mod(over(b, d), m),
        5: lambda: sympy.Mod(b, d) + d * over(b, d),
        6: lambda: over(over(b, d), m),
    }[rule]()
