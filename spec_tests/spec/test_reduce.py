"""Reductions: the planned order, every axis tuple, special values, the versions that freeze bits.

takes: arrays of every dtype, sizes around lanes and chunks
gives: a failure where a rung, a level or a thread count differs, or where frozen bits have moved
holds: an implementation of the planned order in scalar steps, written from the semantics page alone
not here: fusion of reductions (native/test_bits, stages)
"""

import hashlib
import itertools

import numpy as np
import pytest

from spec_tests.harness import Case, check, check_all
from stax_ref import elementary, ops

from .values import ALL, CHUNK_SIZES, FLOATS, INTEGERS, NUMBERS, SIZES, mixed, ordinary, specials

KINDS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
STATISTICS = {"mean": np.mean, "var": np.var, "std": np.std}
AXES = [
    None,
    *(axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)),
]


def along(reducer, axis, keepdims=False, **options):
    """A function that reduces along one axis, written into it."""
    return lambda a: reducer(a, axis=axis, keepdims=keepdims, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_around_lanes(kind):
    reducer, cases = KINDS[kind], []
    for dtype in ALL:
        sizes = SIZES if dtype in FLOATS else (0, 1, 16, 33)
        for size in sizes:
            if size or kind in ("sum", "prod"):
                cases.append(Case(along(reducer, None), (ordinary(dtype, size),), kind))
                cases.append(Case(along(reducer, -1), (ordinary(dtype, 3, size),), kind))
    check_all(cases)


@pytest.mark.parametrize("kind", [*KINDS, *STATISTICS])
def test_sizes_around_chunks(kind):
    reducer, cases = (KINDS | STATISTICS)[kind], []
    for dtype in FLOATS:
        for size in CHUNK_SIZES:
            x = ordinary(dtype, size)
            if kind == "prod":
                x = (1 + x / 4096).astype(dtype)
            cases.append(Case(along(reducer, None), (x,), kind))
    cases += [
        Case(along(reducer, 1), (ordinary(np.float32, 2, 4097),), f"{kind} of rows"),
        Case(along(reducer, (0, 1)), (ordinary(np.float32, 5, 1025),), f"{kind} of all axes"),
    ]
    if kind in ("sum", "max"):
        cases += [Case(along(reducer, None), (ordinary(d, 4097),), kind) for d in INTEGERS]
    check_all(cases)


@pytest.mark.parametrize("size", [255, 256, 257, 769])
def test_rows_around_their_chunk(size):
    cases = [
        Case(along(reducer, 0), (ordinary(dtype, size, columns),), name)
        for name, reducer in {"sum": np.sum, "max": np.max, "var": np.var}.items()
        for dtype in FLOATS
        for columns in (1, 5, 17)
    ]
    check_all(cases)


@pytest.mark.parametrize("kind", [*KINDS, *STATISTICS])
def test_every_axis_tuple(kind):
    reducer = (KINDS | STATISTICS)[kind]
    cases = []
    for dtype in (np.float32, np.float64, np.int32):
        x = ordinary(dtype, 3, 5, 9)
        if kind == "prod":
            x = (1 + x % 2).astype(dtype)
        cases += [
            Case(along(reducer, axes, keep), (x,), f"{kind} axis={axes} keepdims={keep}")
            for axes in AXES
            for keep in (False, True)
        ]
    check_all(cases)


@pytest.mark.parametrize("dtype", FLOATS)
def test_ddof(dtype):
    x = ordinary(dtype, 4, 7)
    check_all(
        [
            Case(along(reducer, axis, ddof=ddof), (x,), f"ddof={ddof} axis={axis}")
            for reducer in (np.var, np.std)
            for ddof in (0, 1, 2)
            for axis in (None, 0, 1)
        ]
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_as_many_delta_degrees_as_elements(dtype):
    x = ordinary(dtype, 3, 2)
    check(along(np.var, 1, ddof=2), x)
    check(along(np.var, 1, ddof=3), x)
    check(along(np.var, 1, ddof=1), np.ones((3, 1), dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ["max", "min", "sum", "mean"])
def test_special_values_at_every_place(kind, dtype):
    reducer, cases = (KINDS | STATISTICS)[kind], []
    for value in (np.nan, np.inf, -np.inf, -0.0):
        x = np.full((35, 35), -1.0 if kind == "max" else 1.0, dtype)
        np.fill_diagonal(x, value)
        cases.append(Case(along(reducer, 1), (x,), f"{kind} of rows with {value}"))
        cases.append(Case(along(reducer, 0), (x,), f"{kind} of columns with {value}"))
    both = np.where(np.eye(35) > 0, np.nan, np.inf).astype(dtype)
    cases.append(Case(along(reducer, 1), (both,), f"{kind} with nan and inf"))
    cases.append(Case(along(reducer, None), (mixed(dtype, 200),), f"{kind} of a mixture"))
    check_all(cases)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1, 2, 15, 33, 4097])
def test_zeros_of_either_sign(size, dtype):
    """+0.0 > -0.0, and the identity of a sum is -0.0: only negative zeros stay negative."""
    negative = np.full(size, -0.0, dtype)
    both = negative.copy()
    both[size // 2] = 0.0
    for x, sign in ((negative, True), (both, False)):
        check(lambda x: (np.sum(x), np.max(x), np.mean(x)), x)
        assert np.signbit(planned("sum", x)) == sign
        assert np.signbit(planned("max", x)) == sign
    assert np.signbit(planned("min", both)) == (size > 1)


def test_the_sum_of_nothing_is_positive_zero():
    for dtype in FLOATS:
        total = planned("sum", np.empty(0, dtype))
        assert total == 0
        assert not np.signbit(total)


def test_integers_wrap():
    big32, big64 = np.full(9, 2**31 - 1, np.int32), np.full(9, 2**63 - 1, np.int64)
    check_all(
        [
            Case(lambda x: np.sum(x), (big32,), "sum of int32 is int64"),
            Case(lambda x: np.sum(x, dtype=np.int32), (big32,), "sum in int32 wraps"),
            Case(lambda x: np.sum(x), (big64,), "sum of int64 wraps"),
            Case(lambda x: np.prod(x), (big64,), "product wraps"),
            Case(lambda x, y: np.sum(x * y + x, dtype=np.int64), (big32, big32), "wraps inside"),
            Case(lambda x: np.mean(x), (big32,), "mean of int32 is float64"),
            Case(lambda x: np.sum(x > 0), (big32,), "bools are counted"),
            Case(lambda x: np.sum(x, dtype=np.float32), (big32,), "sum in float32"),
        ]
    )


@pytest.mark.parametrize("kind", ["max", "min"])
def test_extremes_of_every_dtype(kind):
    check_all([Case(along(KINDS[kind], None), (specials(dtype)[:4],), kind) for dtype in NUMBERS])
    bools = np.array([[False, False, True], [False, False, False], [True, True, True]])
    check(along(KINDS[kind], 1), bools)


# the order itself ---------------------------------------------------------------------------------
def planned(kind, x, axis_last=True):
    """A reduction of a flat array by the oracle."""
    order = ops.planned_order(x.dtype, axis_last)
    return ops.reduce_planned(kind, x, order, x.dtype)


def scalar_sum(x, last_axis):
    """The planned sum of semantics §3 one addition at a time."""
    chunk = 4096 if last_axis else 256
    lanes = ({4: 32, 8: 16}[x.dtype.itemsize]) if last_axis else 1
    partials = []
    for start in range(0, len(x), chunk):
        accumulators = [x.dtype.type(-0.0)] * lanes
        for position, value in enumerate(x[start : start + chunk]):
            accumulators[position % lanes] = accumulators[position % lanes] + value
        while len(accumulators) > 1:
            half = len(accumulators) // 2
            accumulators = [accumulators[k] + accumulators[k + half] for k in range(half)]
        partials.append(accumulators[0])
    while len(partials) > 1:
        pairs = [partials[k] + partials[k + 1] for k in range(0, len(partials) - 1, 2)]
        partials = pairs + partials[len(pairs) * 2 :]
    return partials[0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1, 31, 33, 256, 257, 4095, 4097, 12289])
def test_the_planned_order_is_the_one_of_the_semantics_page(size, dtype):
    x = ordinary(dtype, size)
    for last_axis in (True, False):
        order = ops.planned_order(np.dtype(dtype), last_axis)
        got = ops.reduce_planned("sum", x, order, np.dtype(dtype))
        assert got.tobytes() == scalar_sum(x, last_axis).tobytes(), str(order)


def test_strict_is_sequential():
    x = ordinary(np.float32, 300)
    total = np.float32(-0.0)
    for value in x:
        total = total + value
    order = ops.planned_order(x.dtype, True, strict=True)
    assert ops.reduce_planned("sum", x, order, x.dtype).tobytes() == total.tobytes()
    check(lambda x: (np.sum(x), np.mean(x)), x, strict=True)
    check(lambda x: np.sum(x, axis=0), ordinary(np.float32, 40, 7), strict=True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_variance_is_two_passes(dtype):
    """Of values with a common offset, where E[x²] - E[x]² has no right digit left."""
    offset = {np.float32: 1e4, np.float64: 1e9}[dtype]
    x = (ordinary(dtype, 1000) + dtype(offset)).astype(dtype)
    mean = planned("sum", x) / dtype(1000)
    away = x - mean
    expected = planned("sum", away * away) / dtype(1000)
    naive = np.mean(x * x) - np.mean(x) ** 2
    exact = float(np.var(x.astype(np.longdouble)))
    assert abs(float(expected) - exact) < 0.01 * exact < abs(float(naive) - exact)

    def variance(x):
        return np.var(x)

    check(variance, x)
    staged = stax_program(variance, x)
    assert staged[0].tobytes() == expected.tobytes()


def stax_program(function, *args):
    """The planned outputs of a function."""
    import stax_ref as stax
    from stax_ref.interpret import Recording, run_nests

    return run_nests(stax.jit(function).lower(*args).plan, args, Recording())


FROZEN = {
    "order 1": "dc1ada41476d550808dcf2b88b41134534b09a95ad8006a344c0ac6881f16663",
    "elementary 1": "7be0ee31a917a5ebfa10e8247f46f496bbd47c9da2e6ed47dbd8f1d4d460b93e",
}


def digest_of_orders():
    """Bits of sums in every planned order over numbers that only exact arithmetic made."""
    digest = hashlib.sha256()
    for dtype in FLOATS:
        x = ((np.arange(12289) * 7919 % 10007 - 5003) / 1024).astype(dtype)
        x = (x * x * x).astype(dtype)
        for last_axis in (True, False):
            digest.update(planned("sum", x, last_axis).tobytes())
    return digest.hexdigest()


def digest_of_elementary():
    """Bits of exp, log and tanh over numbers that only exact arithmetic made."""
    digest = hashlib.sha256()
    for dtype in FLOATS:
        x = ((np.arange(4001) * 7919 % 10007 - 5003) / 128).astype(dtype)
        for name in ("exp", "log", "tanh"):
            values = elementary.evaluate(name, np.abs(x) if name == "log" else x)
            digest.update(np.where(np.isnan(values), dtype(0), values).tobytes())
    return digest.hexdigest()


def test_bits_change_only_with_a_version():
    """A changed lane count, chunk, tree or coefficient needs a new version and changelog line."""
    found = {
        f"order {ops.ORDER_VERSION}": digest_of_orders(),
        f"elementary {elementary.ELEMENTARY_VERSION}": digest_of_elementary(),
    }
    assert found == FROZEN


def test_layout_does_not_touch_the_order():
    """Same values, other strides: same bits."""
    x = ordinary(np.float32, 65, 129)
    for function in (along(np.sum, -1), along(np.sum, 0), along(np.var, None)):
        straight = stax_program(function, x)[0]
        turned = stax_program(function, np.asfortranarray(x))[0]
        spread = np.zeros((65, 258), np.float32)
        spread[:, ::2] = x
        strided = stax_program(function, spread[:, ::2])[0]
        assert straight.tobytes() == turned.tobytes() == strided.tobytes()
    check(along(np.sum, -1), np.asfortranarray(x))
    check(along(np.sum, 0), np.asfortranarray(x))
    check(along(np.sum, None), x[::-1, ::-2])
