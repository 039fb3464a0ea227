"""The rules of functions: every planned value lies in the interval, and points are tight.

takes: intervals of every float dtype, and points inside them
gives: a failure for a rule that leaves out the planned value or NumPy's
holds: the list of rules, checked against the table of operations
not here: arithmetic and reductions (test_rounding)
"""

import numpy as np
import pytest

from stax_ref import functionbounds, libm, ops, plain
from stax_ref.compose import Builder
from stax_ref.composites import COMPOSITES
from stax_ref.dtypes import BOOL, F16, F32, F64
from stax_ref.enclosures import _FLOATS, _PREDICATES, cast, pointwise
from stax_ref.functions.ufuncs import UFUNCS
from stax_ref.interval import Interval, known
from stax_ref.node import Body, Instr, run

from .test_rounding import assert_inside, intervals

KINDS = ("arithmetic", "bitwise", "compare", "libm")
FLOATS = [np.float16, np.float32, np.float64]
RULES = {**_FLOATS, **functionbounds.FUNCTIONS}
UNARY = sorted(name for name in RULES if name in plain.CALLS or getattr(np, name).nin == 1)
BINARY = sorted(set(RULES) - set(UNARY) - {"ldexp"})


class _Values:
    """The handler that evaluates a body on arrays."""

    def __init__(self, arrays):
        self.arrays = arrays

    def load(self, access, dtype):
        return self.arrays[access]

    def constant(self, value):
        return value.value

    def apply(self, op, args, dtype):
        return ops.apply(op, args, dtype)


def planned(name, *arrays):
    """The planned value of an equation of this name."""
    dtype = arrays[0].dtype
    renamed = {"true_divide": "divide", "float_power": "power", "fabs": "absolute"}.get(name, name)
    if name in ("positive", "conjugate"):
        return arrays[0]
    if name not in COMPOSITES:
        return ops.apply(renamed, arrays, dtype)
    builder = Builder({})
    args = [builder.emit(Instr("load", (), dtype, k)) for k in range(len(arrays))]
    result = COMPOSITES[name](builder, args, dtype)
    return run(Body(tuple(builder.instrs)), _Values(arrays))[result]


def test_every_ufunc_of_floats_has_a_rule():
    native = {name for name, (kind, _) in UFUNCS.items() if kind == "native"}
    one = {"divide": "true_divide"}
    pairs = {"divmod", "modf", "frexp"}
    known_names = {*RULES, *_PREDICATES}
    for name in native - pairs:
        if "dd->d" in getattr(np, name).types or "d->d" in getattr(np, name).types:
            assert one.get(name, name) in known_names, name


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name, dtype):
    rng = np.random.default_rng(5)
    x, inside = intervals(rng, dtype)
    with np.errstate(all="ignore"):
        result = pointwise(name, [x], np.dtype(dtype))
        for a in inside:
            assert_inside(result, planned(name, a))
            assert_inside(result, plain.call(name)(a))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name, dtype):
    rng = np.random.default_rng(6)
    (x, inside_x), (y, inside_y) = (intervals(rng, dtype) for _ in range(2))
    with np.errstate(all="ignore"):
        result = pointwise(name, [x, y], np.dtype(dtype))
        for a in inside_x:
            for b in inside_y:
                assert_inside(result, planned(name, a, b))
                assert_inside(result, plain.call(name)(a, b))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", sorted(_PREDICATES))
def test_predicates(name, dtype):
    x, inside = intervals(np.random.default_rng(7), dtype)
    result = pointwise(name, [x], BOOL)
    for a in inside:
        value = plain.call(name)(a)
        free = np.isnan(a) & (name == "signbit")
        assert (result.low <= value).all() or free[result.low > value].all()
        assert (result.high >= value)[~free].all()


@pytest.mark.parametrize("name", sorted(set(functionbounds.FUNCTIONS) & set(libm.SYMBOLS)))
def test_a_point_is_as_tight_as_the_stated_errors(name):
    rng = np.random.default_rng(8)
    arity = libm.SYMBOLS[name][1]
    for dtype in (F32, F64):
        args = [known(rng.uniform(0.1, 0.9, 500).astype(dtype), dtype) for _ in range(arity)]
        if name == "arccosh":
            args = [known(1 + args[0].low, dtype)]
        low, high = pointwise(name, args, dtype)
        value = plain.call(name)(*(a.low for a in args))
        allowed = 2 * (functionbounds.NUMPY_ULP + functionbounds.planned_ulp(name, dtype)) + 4
        assert ((high - low) <= 2 * allowed * np.spacing(np.abs(value))).all()


def test_stated_errors_of_narrow_results_are_little_more_than_a_rounding():
    for name in libm.SYMBOLS:
        assert 0.5 < functionbounds.planned_ulp(name, F32) < 0.5001
        assert 0.5 < functionbounds.planned_ulp(name, F16) < 0.5002


@pytest.mark.parametrize("target", [t for t in np.typecodes["AllInteger"] if t not in "qQpP"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_casts_to_every_integer(dtype, target):
    x, inside = intervals(np.random.default_rng(9), dtype)
    with np.errstate(all="ignore"):
        result = cast(x, np.dtype(target))
        points = cast(Interval(inside[2], inside[2]), np.dtype(target))
        for a in inside:
            assert_inside(result, ops.cast(a, np.dtype(target)))
        np.testing.assert_array_equal(points.low, ops.cast(inside[2], np.dtype(target)))


INTEGERS = [np.dtype(kind + size) for kind in "iu" for size in "1248"]
OF_INTEGERS = sorted(op.name for op in ops.OPS.values() if "u" in op.dtypes and op.kind in KINDS)


def integer_intervals(rng, dtype, count=2000):
    """Intervals of small and of extreme integers, some of them points, and three points of each."""
    info = np.iinfo(dtype)
    pool = [info.min, info.max, info.max // 2, 0, 1, 2, 3, *rng.integers(max(info.min, -9), 60, 20)]
    ends = np.sort(rng.choice(np.array(pool, dtype), (2, count)), axis=0)
    ends[1] = np.where(rng.random(count) < 0.3, ends[0], ends[1])
    low, high = ends
    middle = low + ((high - low).astype(np.uint64) // 2).astype(dtype)
    return Interval(low, high), [low, high, np.clip(middle, low, high)]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_integers(name, dtype):
    rng = np.random.default_rng(10)
    (x, inside_x), (y, inside_y) = (integer_intervals(rng, dtype) for _ in range(2))
    op = ops.OPS[name]
    with np.errstate(all="ignore"):
        if name == "power":
            y = Interval(*(np.maximum(end, 0) for end in y))
            inside_y = [np.maximum(b, 0) for b in inside_y]
        args = [x, y][: op.arity]
        result = pointwise(name, args, op.result(dtype))
        known_result = pointwise(name, [known(a.low, dtype) for a in args], op.result(dtype))
        assert known_result.low is known_result.high or op.kind == "compare"
        for a in inside_x:
            for b in inside_y if op.arity == 2 else [None]:
                assert_inside(result, ops.apply(name, (a, b)[: op.arity], op.result(dtype)))
