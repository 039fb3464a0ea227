"""The pairwise cover climbs the whole ladder; it has no hole; what a row names is what runs.

takes: the rows
gives: pass or fail
holds: how many programs CI may compile
not here: the full product: ``python -m spec_tests.matrix``
"""

import itertools

import pytest

import stax_ref as stax
from spec_tests import harness
from spec_tests.matrix.pairs import cover
from spec_tests.matrix.rows import LAYOUTS, SIZES, WIDTHS, Row, legal, pairwise, product
from spec_tests.matrix.subjects import DTYPES, SUBJECTS
from stax_ref import ops

COMPILES = 4000
PARTS = 11


@pytest.mark.parametrize("part", range(PARTS))
def test_rows_climb_the_whole_ladder(part):
    harness.check_all([row.case() for row in pairwise()[part::PARTS]])


def test_no_cell_is_empty():
    """Every operation and reduction of the tables, in every dtype it takes, on every backend."""
    rows = {(SUBJECTS[row.subject].op, row.dtype) for row in pairwise()}
    cells = {(name, d) for name, op in ops.OPS.items() for d in DTYPES if d.kind in op.dtypes}
    cells |= {(name, dtype) for name in ops.REDUCTIONS for dtype in DTYPES}
    cells -= {(name, d) for name in ("and", "or", "xor") for d in DTYPES if d.kind == "f"}
    assert cells - rows == set()
    targets = {row.subject for row in pairwise() if SUBJECTS[row.subject].op == "cast"}
    assert targets == {f"cast to {dtype}" for dtype in DTYPES}
    if harness.backend_name() == "c":
        assert "avx2" in harness.variants()
        assert "scalar" in harness.variants()


def test_ci_compiles_few_programs():
    assert len(pairwise()) * len(WIDTHS) <= COMPILES


def test_every_two_levels_meet():
    rows = [
        {
            "subject": row.subject,
            "dtype": row.dtype,
            "size": row.size,
            "layout": row.layout,
            "level": row.level,
        }
        for row in pairwise()
    ]
    levels = {
        "subject": SUBJECTS,
        "dtype": DTYPES,
        "size": SIZES,
        "layout": LAYOUTS,
        "level": WIDTHS,
    }
    for a, b in itertools.combinations(levels, 2):
        met = {(row[a], row[b]) for row in rows}
        wanted = set(itertools.product(levels[a], levels[b]))
        if (a, b) == ("subject", "dtype"):
            wanted = {pair for pair in wanted if legal(*pair)}
        assert met == wanted, f"{a} and {b}"


def test_a_cover_of_small_factors_is_small():
    """Four factors of three levels need nine rows at least; a greedy choice needs a few more."""
    rows = cover(dict.fromkeys("abcd", (0, 1, 2)), lambda a, b: True)
    assert 9 <= len(rows) <= 14
    rows = cover({"a": range(3), "b": range(3), "c": range(2)}, lambda a, b: a <= b)
    assert {(row["a"], row["b"]) for row in rows} == {
        (a, b) for b in range(3) for a in range(b + 1)
    }


def test_the_full_product_holds_the_cover():
    full, chosen = (
        {(row.subject, row.dtype, row.extent, row.layout) for row in rows}
        for rows in (product(), pairwise())
    )
    assert chosen <= full


ON_BOOLS = {"not_equal": "logical_xor", "fmax": "max", "fmin": "min", "or": "max", "and": "min"}
"""On booleans these are written as another operation of the same meaning."""


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_row_runs_the_operation_it_names(name):
    """Else a cell would count as tested that never reached the operation."""
    for dtype in SUBJECTS[name].dtypes:
        op = SUBJECTS[name].op
        if dtype.kind == "b" and (name.endswith((" 0", " 1")) or op == "not_equal"):
            op = ON_BOOLS.get(op, op)
        case = Row(name, dtype, "2W+1", "contiguous", "avx512").case()
        program = stax.jit(case.function, backend="ref").lower(*case.args).program
        assert op in _operations(program), f"{name} of {dtype}"


def _operations(program):
    instrs = [instr for node in program.lowered.nodes for instr in node.body.instrs]
    return {instr.kind if instr.op == "reduce" else instr.op for instr in instrs}
