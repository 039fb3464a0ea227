"""index: expressions are right for every value of their symbols, and equal ones are one object.

takes: random expressions over small ranges
gives: a failure for an expression that differs from Python, from its own text, or from sympy
holds: brute force over all points; sympy judges the canonical form (nothing else may use it)
not here: accesses and their normal form (``test_depend``)
"""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stax_ref.errors import InvariantError
from stax_ref.index import (
    ZERO,
    Div,
    Index,
    Mod,
    Symbol,
    c_strides,
    constant,
    digits,
    flatten,
    to_sympy,
    variable,
)

QUICK = settings(derandomize=True, deadline=None, max_examples=100)
A, B, C = Symbol("a", 5), Symbol("b", 6), Symbol("c", 4)
LEAVES = st.sampled_from([A, B, C]) | st.integers(-7, 30)


def grow(inner):
    """Sums, multiples, quotients and remainders of smaller expressions, as nested tuples."""
    return (
        st.tuples(st.just("+"), inner, inner)
        | st.tuples(st.just("-"), inner, inner)
        | st.tuples(st.just("*"), inner, st.integers(-4, 6))
        | st.tuples(st.just("//"), inner, st.integers(1, 13))
        | st.tuples(st.just("%"), inner, st.integers(1, 13))
    )


TREES = st.recursive(LEAVES, grow, max_leaves=6)


def build(tree) -> Index:
    """The tree in the canonical form; a negative operand of a division is moved up first."""
    if isinstance(tree, Symbol):
        return variable(tree)
    if isinstance(tree, int):
        return constant(tree)
    op, left, right = tree
    a = build(left)
    if op == "+":
        return a + build(right)
    if op == "-":
        return a - build(right)
    if op == "*":
        return a * right
    a = a + lift(a)
    return a // right if op == "//" else a % right


def lift(index: Index) -> int:
    """What to add so that the expression is nowhere negative."""
    return max(0, -index.bounds()[0])


def value(tree, at) -> int:
    """The tree in Python's integers, with the lifts of ``build``."""
    if isinstance(tree, Symbol):
        return at[tree.name]
    if isinstance(tree, int):
        return tree
    op, left, right = tree
    a = value(left, at)
    if op in ("+", "-"):
        b = value(right, at)
        return a + b if op == "+" else a - b
    if op == "*":
        return a * right
    a += lift(build(left))
    return a // right if op == "//" else a % right


def points(*symbols: Symbol):
    for values in itertools.product(*(range(s.extent) for s in symbols)):
        yield {s.name: v for s, v in zip(symbols, values, strict=True)}


def atoms(index: Index):
    for atom, _ in index.terms:
        yield atom
        if isinstance(atom, Div | Mod):
            yield from atoms(atom.operand)


@QUICK
@given(TREES)
def test_value_bounds_and_text(tree):
    index = build(tree)
    low, high = index.bounds()
    text, c_text = index.text(), index.text("/")
    for at in points(A, B, C):
        expected = value(tree, at)
        assert index.evaluate(at) == expected
        assert low <= expected <= high
        assert eval(text, {}, at) == expected
        assert eval(c_text.replace("/", "//"), {}, at) == expected


@QUICK
@given(TREES)
def test_canonical_form(tree):
    index = build(tree)
    assert all(factor for _, factor in index.terms), "a zero coefficient"
    assert len({atom for atom, _ in index.terms}) == len(index.terms), "an atom twice"
    assert index == build(tree)
    assert hash(index) == hash(build(tree))
    for atom in atoms(index):
        if isinstance(atom, Div | Mod):
            assert atom.divisor > 1
            assert atom.operand.bounds()[0] >= 0, "C's / and % would disagree"


@QUICK
@given(TREES)
def test_a_stride_is_the_difference_of_neighbours(tree):
    index = build(tree)
    for symbol in (A, B, C):
        stride = index.coefficient(symbol)
        if stride is None:
            assert any(symbol in a.operand.symbols() for a in atoms(index) if not _plain(a))
            continue
        for at in points(A, B, C):
            if at[symbol.name] + 1 < symbol.extent:
                following = {**at, symbol.name: at[symbol.name] + 1}
                assert index.evaluate(following) - index.evaluate(at) == stride


def _plain(atom) -> bool:
    return isinstance(atom, Symbol)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(TREES)
def test_sympy_agrees(tree):
    sympy = pytest.importorskip("sympy")
    names = {s.name: sympy.Symbol(s.name, integer=True, nonnegative=True) for s in (A, B, C)}
    judged = to_sympy(build(tree))
    for at in list(points(A, B, C))[::17]:
        assert judged.subs({names[k]: v for k, v in at.items()}) == value(tree, at)


@QUICK
@given(TREES)
def test_substitution_of_digits(tree):
    joined = Symbol("ab", A.extent * B.extent)
    linear = variable(joined)
    moved = build(tree).subs({A: linear // B.extent, B: linear % B.extent})
    assert moved.symbols() <= {joined, C}
    for at in points(joined, C):
        old = {"a": at["ab"] // B.extent, "b": at["ab"] % B.extent, "c": at["c"]}
        assert moved.evaluate(at) == value(tree, old)


@pytest.mark.parametrize("stride", range(1, 9))
def test_two_loops_divided_by_anything(stride):
    """Every stride, extent, offset and divisor about the size at which a loop fills a digit."""
    for extent in range(2, 8):
        p, q = Symbol("p", 4), Symbol("q", extent)
        for offset in range(3):
            index = variable(p) * stride + variable(q) + offset
            for divisor in range(2, 13):
                quotient, rest = index // divisor, index % divisor
                for at in points(p, q):
                    whole, left = divmod(stride * at["p"] + at["q"] + offset, divisor)
                    assert (quotient.evaluate(at), rest.evaluate(at)) == (whole, left)


@QUICK
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_digits_recombine(shape):
    linear = variable(Symbol("x", math.prod(shape)))
    parts = digits(linear, shape)
    assert flatten(parts, c_strides(shape)) == linear
    assert all(p.bounds()[1] < extent for p, extent in zip(parts, shape, strict=True))


@QUICK
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_reshape_there_and_back_has_the_same_value(shape, random):
    other = list(shape)
    random.shuffle(other)
    symbols = [Symbol(f"i{k}", extent) for k, extent in enumerate(shape)]
    there = digits(flatten([variable(s) for s in symbols], c_strides(shape)), other)
    back = digits(flatten(there, c_strides(other)), shape)
    for at in points(*symbols):
        assert [entry.evaluate(at) for entry in back] == list(at.values())


@pytest.mark.parametrize(
    ("shape", "other"),
    [((6, 4), (24,)), ((24,), (2, 3, 4)), ((2, 3, 4), (6, 4)), ((64, 128), (8, 8, 128))],
)
def test_a_split_or_merge_there_and_back_is_nothing(shape, other):
    index = tuple(variable(Symbol(f"i{k}", extent)) for k, extent in enumerate(shape))
    there = digits(flatten(index, c_strides(shape)), other)
    assert digits(flatten(there, c_strides(other)), shape) == index


X = variable(Symbol("x", 100))
P, Q = variable(Symbol("p", 10)), variable(Symbol("q", 10))


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((X // 4) * 4 + X % 4, X),
        ((X // 10) % 100, X // 10),
        (X // 100, ZERO),
        (X % 100, X),
        ((X % 20) % 5, X % 5),
        ((X // 3) // 4, X // 12),
        ((X % 24) // 4, (X // 4) % 6),
        ((P * 10 + Q) // 10, P),
        ((P * 10 + Q) % 10, Q),
        ((P * 20 + Q * 2) // 20, P),
        ((P * 20 + 7) % 20, constant(7)),
        ((X % 6) + ((X // 6) % 5) * 6, X % 30),
        (P - P, ZERO),
        (variable(Symbol("one", 1)), ZERO),
    ],
)
def test_spellings_of_one_index_are_equal(index, expected):
    assert index == expected


@pytest.mark.parametrize("divisor", [2, 3, 4, 7])
@pytest.mark.parametrize(
    "operand", [P * -1 + 9, P * -1 + 7, P * -2 + 19, P - Q + 9, P * -3 + Q + 27]
)
def test_a_reversed_axis_divides(operand, divisor):
    """What the reshape of a reversed array needs: non-negative, with negative strides."""
    quotient, rest = operand // divisor, operand % divisor
    for at in points(Symbol("p", 10), Symbol("q", 10)):
        at_value = operand.evaluate(at)
        if at_value >= 0:
            assert quotient.evaluate(at) == at_value // divisor
            assert rest.evaluate(at) == at_value % divisor


@pytest.mark.parametrize("divisor", [0, -2])
def test_a_divisor_is_positive(divisor):
    for attempt in (lambda: P // divisor, lambda: P % divisor):
        with pytest.raises(InvariantError):
            attempt()


def test_a_negative_operand_that_is_a_multiple_divides():
    assert (P * 4 - 8) // 4 == P - 2
    assert (P * 4 - 8) % 4 == ZERO


def test_text_reads_like_an_address():
    assert str(P * 128 + Q + 3) == "128*p + q + 3"
    assert str(Q * -1 + 7) == "-q + 7"
    assert str(ZERO) == "0"
    assert (X // 3).text("/") == "((x)/3)"
