"""The derived bounds: never too small, zero where results must be equal, small enough to be of use.

takes: ``stax_ref.rounding``, ``stax_ref.interval``, and the two evaluators that they bound
gives: a failure where the planned meaning, or any other evaluation that keeps the promises of the
       semantics page, leaves the bound; and where a mistake in the planned meaning stays inside
holds: the other evaluations: sums and products in any order, functions pushed as far as their ulp
       allows
not here: the rungs above the planned meaning (``ladder``), the published ulp (``test_elementary``)
"""

import functools
import math

import numpy as np
import pytest

from stax_ref import elementary, interpret, ops
from stax_ref.config import Config
from stax_ref.enclosures import cast, pointwise, power, where
from stax_ref.errors import InvariantError
from stax_ref.evaluate import run_graph
from stax_ref.graph import Eqn, Graph, Input, Value
from stax_ref.interpret import Recording, run_nodes
from stax_ref.interval import Interval
from stax_ref.lower import lower
from stax_ref.rounding import error_bounds
from stax_ref.trace import trace

DTYPES = [np.float32, np.float64]


def parameter(position, argument):
    """What ``trace`` wants to know of an argument."""
    if not isinstance(argument, np.ndarray):
        return f"x{position}", ("scalar", type(argument))
    strides = None
    if not argument.flags.c_contiguous:
        strides = tuple(step // argument.itemsize for step in argument.strides)
    return f"x{position}", ("array", argument.shape, argument.dtype, strides)


def evaluate(function, *args, config=None):
    """The outputs by plain NumPy, by the planned meaning, and the bounds."""
    config = config or Config()
    graph = trace(function, "f", [parameter(k, arg) for k, arg in enumerate(args)])
    plain = run_graph(graph, args)
    planned = run_nodes(lower(graph, config), graph, args, Recording())
    return plain, planned, error_bounds(graph, args, config.strict)


def beyond(plain, planned, bound):
    """Where two outputs are further apart than the bound; NaN is one class."""
    with np.errstate(invalid="ignore"):
        a, b = plain.astype(np.float64), planned.astype(np.float64)
        equal = (plain == planned) | (np.isnan(a) & np.isnan(b))
        return ~(equal | (np.abs(a - b) <= bound) | np.isposinf(bound))


def assert_bounded(function, *args, config=None):
    """Every output within its bound; returns the bounds."""
    plain, planned, bounds = evaluate(function, *args, config=config)
    for a, b, bound in zip(plain, planned, bounds, strict=True):
        assert bound.shape == a.shape
        assert bound.dtype == np.float64
        assert not np.any(bound < 0)
        wrong = beyond(a, b, bound)
        assert not wrong.any(), (np.argwhere(wrong)[0], a[wrong][0], b[wrong][0], bound[wrong][0])
    return bounds


# ---- programs and inputs ------------------------------------------------------------------------


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x):
    mean = np.mean(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)


def quantised(x):
    levels = (np.tanh(x) * 100).astype(np.int32)
    return levels // 7 + levels % 5 - levels * levels, np.sum(levels, axis=0), np.max(levels)


def decisions(x):
    e = np.exp(x)
    above = e > np.mean(e)
    return above, np.where(above & (e != 1), x, -e), np.logical_xor(e - 1, above)


def masked_attention(x):
    return softmax(np.where(x > 0, np.tanh(x) @ x, -np.inf))


PROGRAMS = {
    "softmax": softmax,
    "layer_norm": layer_norm,
    "quantised": quantised,
    "decisions": decisions,
    "masked_attention": masked_attention,
    "logsumexp": lambda x: np.log(np.sum(np.exp(x), axis=-1)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(0.797 * (x + 0.0447 * x**3))),
    "moments": lambda x: (np.std(x, axis=0, ddof=1), np.var(x), np.mean(x, axis=1)),
    "columns": lambda x: np.sum(x * x, axis=0) - np.prod(x, axis=0),
    "powers": lambda x: x**7 / (np.exp(x) ** -3 + 1),
    "cancelled": lambda x: 1 / (np.sum(x, axis=1) + np.sum(-1 * x, axis=0)),
    "gram": lambda x: np.abs(x @ x.T) - np.square(np.exp(x) @ x),
    "entropy": lambda x: -np.sum(np.where(x > 0, x * np.log(x), 0), axis=-1),
    "extremes": lambda x: (x - np.min(x)) / (np.max(np.exp(x)) - 1) + 1 / np.maximum(x, 0),
    "views": lambda x: np.exp(x)[::-2, None, 1].reshape(-1).T - np.sum(x.T[1:], axis=-1)[:1],
}

HARD = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-45,
    -1e-40,
    3e38,
    88.72,
    88.73,
    -103.5,
    1e-20,
    709.78,
]


def matrix(kind, dtype, size=37):
    """A square matrix of one of the kinds of numbers."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(size, size))
    if kind == "offset":
        x += 1e4
    elif kind == "scales":
        x *= 10.0 ** rng.integers(-18, 18, x.shape)
    elif kind == "cancelling":
        x[:, 1::2] = -x[:, :-1:2] * (1 + 1e-6)
    elif kind == "integers":
        x = np.rint(3 * x)
    elif kind == "hard":
        chosen = rng.random(x.shape) < 0.1
        x[chosen] = rng.choice(HARD, int(chosen.sum()))
    return x.astype(dtype)


KINDS = ["normal", "offset", "scales", "cancelling", "integers", "hard"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_planned_meaning_within_bound(name, kind):
    for dtype in DTYPES:
        x = matrix(kind, dtype)
        for bound in assert_bounded(PROGRAMS[name], x):
            assert np.isfinite(bound).all() or kind != "normal"
        assert_bounded(PROGRAMS[name], x[::-1, ::-1], config=Config(strict=True))


# ---- every evaluation that keeps the promises ---------------------------------------------------


def shuffled_reduction(rng, kind, values, order, dtype):
    """The planned tree over the elements in another order: no deeper, other roundings."""
    values = np.asarray(values, dtype=dtype)
    return ops.reduce_planned(kind, values[..., rng.permutation(values.shape[-1])], order, dtype)


def pushed_function(rng, steps, name, x):
    """A function as far from the exact value as ``steps`` and its published ulp allow."""
    exact = getattr(np, name)(x.astype(np.longdouble))
    value = exact.astype(x.dtype)
    step = rng.choice(steps, x.shape) * np.spacing(np.abs(value))
    pushed = (value + step).astype(x.dtype)
    allowed = elementary.ULP[name, x.dtype.name] * np.spacing(np.abs(value)).astype(np.longdouble)
    inside = (np.abs(pushed - exact) <= allowed) | (max(steps) > 1)
    special = ~np.isfinite(x) | ~np.isfinite(value) | (value == 0)
    return np.where(inside & ~special, pushed, value)


@pytest.mark.parametrize("kind", KINDS)
def test_any_promised_evaluation_within_bound(kind, monkeypatch):
    rng = np.random.default_rng(6)
    monkeypatch.setattr(interpret, "reduce_planned", functools.partial(shuffled_reduction, rng))
    monkeypatch.setattr(elementary, "evaluate", functools.partial(pushed_function, rng, (-1, 0, 1)))
    for function in PROGRAMS.values():
        for dtype in DTYPES:
            assert_bounded(function, matrix(kind, dtype))


# ---- mistakes are found -------------------------------------------------------------------------


def found(function, *args):
    """True when some output is beyond its bound."""
    return any(beyond(*three).any() for three in zip(*evaluate(function, *args), strict=True))


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "logsumexp", "gelu", "moments", "gram"])
def test_one_element_off_by_four_bounds_is_found(name):
    for dtype in DTYPES:
        plain, planned, bounds = evaluate(PROGRAMS[name], matrix("normal", dtype))
        changed = planned[0].copy()
        place = (0,) * changed.ndim
        changed[place] += dtype(4 * bounds[0][place])
        assert changed[place] != planned[0][place]
        assert np.argwhere(beyond(plain[0], changed, bounds[0])).tolist() == [list(place)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_forgotten_element_is_found(dtype, monkeypatch):
    x = np.random.default_rng(7).uniform(0.5, 1, (3, 1000)).astype(dtype)
    assert not found(lambda x: np.sum(x, axis=1), x)

    def forgets(kind, values, order, dtype):
        return ops.reduce_planned(kind, np.asarray(values)[..., :-1], order, dtype)

    monkeypatch.setattr(interpret, "reduce_planned", forgets)
    assert found(lambda x: np.sum(x, axis=1), x)
    assert found(lambda x: np.std(x, axis=0), np.ascontiguousarray(x.T))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_an_inaccurate_function_is_found(name, dtype, monkeypatch):
    x = np.random.default_rng(8).uniform(0.1, 2, 500).astype(dtype)
    assert not found(getattr(np, name), x)
    worse = functools.partial(pushed_function, np.random.default_rng(9), (-16, 16))
    monkeypatch.setattr(elementary, "evaluate", worse)
    assert found(getattr(np, name), x)


def test_variance_in_one_pass_is_found():
    x = matrix("offset", np.float32)
    plain, _, bounds = evaluate(lambda x: np.var(x, axis=1), x)
    one_pass = np.mean(x * x, axis=1) - np.mean(x, axis=1) ** 2
    assert beyond(plain[0], one_pass, bounds[0]).any()


def test_a_contracted_multiply_is_found():
    x = matrix("normal", np.float32)
    plain, _, bounds = evaluate(lambda x: x * x + x, x)
    contracted = (x.astype(np.float64) * x + x).astype(np.float32)
    assert beyond(plain[0], contracted, bounds[0]).any()


# ---- zero where results must be identical -------------------------------------------------------

IDENTICAL = {
    "arithmetic": lambda x: (x * 3 - x / 7 + np.sqrt(np.abs(x))) / (x - 1),
    "casts": lambda x: (x.astype(np.float64) * 2).astype(np.float32) + x.astype(np.int64) % 3,
    "integers": lambda x: np.sum((x * 1e9).astype(np.int32) * 7, axis=0) // 3,
    "comparisons": lambda x: np.where((x > 0) ^ (x == 1), np.maximum(x, 0.5), -x),
    "extremes": lambda x: np.max(x, axis=0) - np.min(x, axis=1),
    "pairs": lambda x: (
        np.sum(x[:, :2], axis=1) * np.prod(x[:2], axis=0) - np.mean(x[:, :1], axis=1)
    ),
    "counts": lambda x: np.mean((x > 0).astype(np.float32), axis=1),
    "matmul": lambda x: (x + 1) @ x,
    "views": lambda x: x[::-2].T.reshape(-1)[None, 3:],
    "square": lambda x: (x**2, np.reciprocal(x), np.square(x)),
}


@pytest.mark.parametrize("kind", ["normal", "scales", "integers"])
@pytest.mark.parametrize("name", IDENTICAL)
def test_zero_for_what_rounds_once(name, kind):
    for bound in assert_bounded(IDENTICAL[name], matrix(kind, np.float32)):
        assert not bound.any()


def test_zero_beside_nan_and_infinity():
    x = matrix("hard", np.float32)
    (bound,) = assert_bounded(lambda x: (x * 2 + 1) / (x - x), x)
    assert not bound.any()
    with np.errstate(all="ignore"):
        (bound,) = assert_bounded(lambda x: np.exp(np.where(x > 0, np.log(x), -np.inf)), x)
        assert not bound[~(x > 0)].any()


# ---- small enough -------------------------------------------------------------------------------


def test_bounds_are_tight():
    x = np.random.default_rng(10).uniform(0, 1, 1_000_000).astype(np.float32)
    relative = {}
    for name, function in [("sum", np.sum), ("var", np.var), ("exp", np.exp)]:
        plain, _, bounds = evaluate(function, x)
        relative[name] = np.max(bounds[0] / plain[0])
    assert relative["sum"] < 2e-5
    assert relative["var"] < 1e-4
    assert relative["exp"] < 2e-6
    (bound,) = assert_bounded(softmax, matrix("normal", np.float32, 200))
    assert 0 < bound.max() < 1e-5


# ---- nothing promised, or both sides of a branch ------------------------------------------------


def test_a_branch_that_rounding_decides_covers_both_sides():
    x = np.array([1, 1e-8, -1, -1e-8] * 4, np.float32)
    (plain,), _, (bound,) = evaluate(lambda x: np.where(np.sum(x) > 0, 5.0, -3.0) + x, x)
    assert bound.min() >= 8
    (_, bound) = assert_bounded(lambda x: (np.sum(x), np.sum(x) > 0), x)
    assert bound == 1
    assert np.isfinite(plain).all()


def test_nothing_is_promised_at_a_pole_or_an_edge():
    x = np.array([1, 1e-8, -1, -1e-8] * 4, np.float32)
    assert np.isinf(assert_bounded(lambda x: 1 / np.sum(x), x)[0])
    assert np.isinf(assert_bounded(lambda x: np.log(np.sum(x)), x)[0])
    edge = np.array([88.7228, 88.72284, 200.0], np.float32)
    (bound,) = assert_bounded(np.exp, edge)
    assert np.isfinite(bound[0])
    assert bound[1:].tolist() == [math.inf, 0.0]
    huge = np.full(8, 2e38, np.float32)
    huge[1::2] *= -1
    assert np.isinf(assert_bounded(np.sum, huge)[0])


def test_matmul_of_another_layout_is_not_promised_equal():
    x = matrix("normal", np.float32)
    assert not assert_bounded(lambda x: x @ x, x)[0].any()
    assert (assert_bounded(lambda x: x @ x.T, x)[0] > 0).all()
    assert (assert_bounded(lambda x: x @ x, x[::-1])[0] > 0).all()


def test_matmul_passes_on_the_error_of_its_operands():
    x = matrix("cancelling", np.float32)
    assert_bounded(lambda x: np.sum(x, axis=1, keepdims=True) @ x[:1], x)
    assert_bounded(lambda x: x[:, :1] @ np.sum(x.T, axis=0, keepdims=True), x)


def test_calls_on_the_same_operands_are_promised_equal():
    x = matrix("normal", np.float32)
    for function in (
        np.sort,
        np.argsort,
        np.cumprod,
        np.median,
        lambda x: np.searchsorted(x[0], x),
    ):
        for argument in (x, x[::-1], np.asfortranarray(x)):
            assert not assert_bounded(function, argument)[0].any()
    square = x[:, : len(x)] if x.shape[1] >= len(x) else x[: x.shape[1]]
    assert not assert_bounded(np.linalg.svdvals, np.ascontiguousarray(square))[0].any()
    (bound,) = evaluate(np.linalg.svdvals, np.asfortranarray(square))[2]
    assert np.isinf(bound).all(), "another layout, another path of LAPACK"


def test_calls_that_keep_the_order_pass_on_the_error_of_their_operands():
    x = matrix("cancelling", np.float32)
    for function in (
        lambda x: np.sort(np.sum(x, axis=1)),
        lambda x: np.cumsum(np.sum(x, axis=1)),
        lambda x: np.maximum.accumulate(np.sum(x, axis=1)),
        lambda x: np.partition(np.exp(x), 2, axis=1),
    ):
        (bound,) = assert_bounded(function, x)
        assert bound.any()
        assert np.isfinite(bound).all()


def test_nothing_is_promised_of_other_calls_on_operands_that_differ():
    x = matrix("cancelling", np.float32)
    for function in (
        lambda x: np.argsort(np.sum(x, axis=1)),
        lambda x: np.cumprod(np.sum(x, axis=1)),
        lambda x: np.interp(np.sum(x, axis=1), [0.0, 1.0], [1.0, 0.0]),
    ):
        assert np.isinf(assert_bounded(function, x)[0]).all()


def test_products_round_at_every_factor():
    x = np.random.default_rng(12).uniform(0.9, 1.1, (3000, 64)).astype(np.float32)
    assert_bounded(lambda x: np.prod(x, axis=1), x)
    # Planned: the first by the third and the second by the fourth; NumPy: from left to right.
    underflow = np.array([[1e-25, 1e18, 3.3e-20, 1e18], [1.0, np.nan, 2.0, 3.0]], np.float32)
    bound = assert_bounded(lambda x: np.prod(x, axis=1), underflow)[0]
    assert 0 < bound[0] < math.inf
    assert bound[1] == 0


def test_what_cannot_be_negative_has_a_root():
    constant = np.full((3, 37), 0.1, np.float32)
    assert np.isfinite(assert_bounded(lambda x: np.std(x, axis=1), constant)[0]).all()
    assert np.isfinite(assert_bounded(lambda x: np.sqrt(np.sum(np.exp(x - 110))), constant)[0])


def test_the_zero_of_an_extreme_has_either_sign():
    x = np.array([[0.0, -0.0], [-0.0, 0.0]] * 9, np.float32)
    (bound,) = assert_bounded(lambda x: 1 / np.max(x, axis=0), x)
    assert np.isinf(bound).all()


def test_uncertain_integers_that_may_wrap():
    x = np.full(37, 2.0)
    (bound,) = assert_bounded(lambda x: np.sum((np.exp(x) * 1e18).astype(np.int64)), x)
    assert np.isinf(bound)


def test_scalars_empty_and_zero_dimensional_arguments():
    assert_bounded(lambda x, s, n: np.exp(x * s) + n, matrix("normal", np.float32), 0.3, 2)
    (bound,) = assert_bounded(lambda s: np.sum(np.exp(s)), np.array(0.5))
    assert bound > 0
    (bound,) = assert_bounded(lambda x: np.sum(x, axis=0) + np.prod(x, axis=0), np.ones((0, 3)))
    assert not bound.any()


def test_an_operation_without_a_rule_is_refused():
    value, out = (Value(name, (2,), np.dtype(np.float64)) for name in ("x", "y"))
    graph = Graph("f", (Input(value, "array"),), (Eqn(out, "sinc", (value,)),), (out,))
    with pytest.raises(InvariantError, match="sinc"):
        error_bounds(graph, [np.ones(2)])


# ---- the rules alone, against points inside -----------------------------------------------------

UNARY = "negative positive absolute square sqrt reciprocal logical_not".split()
BINARY = (
    "add subtract multiply true_divide maximum minimum less less_equal greater greater_equal "
    "equal not_equal logical_and logical_or logical_xor"
).split()
INTEGER = "add subtract multiply maximum minimum floor_divide remainder less equal".split()


def intervals(rng, dtype, count=4000):
    """Intervals, some of them points or without limits, and three points of each."""
    if np.dtype(dtype).kind == "f":
        pool = np.concatenate([rng.normal(size=40), HARD, [1, -1, 2, -3, 1e30]])
        with np.errstate(over="ignore"):
            pool = pool.astype(dtype)
    else:
        info = np.iinfo(dtype)
        pool = np.r_[rng.integers(-20, 20, 40), info.min, info.max, 2**30, 0, 1, -1].astype(dtype)
    a, b = rng.choice(pool, count), rng.choice(pool, count)
    b = np.where(np.isnan(a) | np.isnan(b) | (rng.random(count) < 0.3), a, b)
    swap = (a > b) | ((a == b) & (b == 0) & np.signbit(b))
    low, high = np.where(swap, b, a), np.where(swap, a, b)
    if np.dtype(dtype).kind == "i":
        return Interval(low, high), [low, high, np.clip(low // 2 + high // 2, low, high)]
    with np.errstate(invalid="ignore"):
        between = np.where(np.isfinite(low) & np.isfinite(high), low / 2 + high / 2, high)
    says_nothing = np.isneginf(low) & np.isposinf(high)
    between = np.where(says_nothing, np.nan, np.clip(between, low, high))
    return Interval(low, high), [low, high, between.astype(dtype)]


def assert_inside(interval, value):
    """A value lies in its interval, or the interval says nothing, or both are NaN."""
    low, high = interval
    inside = (low <= value) & (value <= high)
    if value.dtype.kind == "f":
        inside |= (np.isneginf(low) & np.isposinf(high)) | (
            np.isnan(low) & np.isnan(high) & np.isnan(value)
        )
    assert inside.all(), (low[~inside][0], high[~inside][0], value[~inside][0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_rules_contain_every_result(dtype):
    rng = np.random.default_rng(11)
    x, inside_x = intervals(rng, dtype)
    y, inside_y = intervals(rng, dtype)
    floats = np.dtype(dtype).kind == "f"
    with np.errstate(all="ignore"):
        for name in UNARY if floats else ("negative", "absolute", "square"):
            values = [getattr(np, name)(a) for a in inside_x]
            for value in values:
                assert_inside(pointwise(name, [x], value.dtype), value)
        for name in BINARY if floats else INTEGER:
            for a in inside_x:
                for b in inside_y:
                    value = getattr(ops, f"_{name}", getattr(np, name))(a, b)
                    result = pointwise(name, [x, y], value.dtype)
                    assert_inside(result, value)
                    if value.dtype.kind == "f":  # the sign of a zero is seen here
                        assert_inside(pointwise("reciprocal", [result], value.dtype), 1 / value)
                    mask = Interval(x.low > 0, x.high > 0)
                    assert_inside(where(mask, y, x), np.where(a > 0, b, a))
        for a in inside_x:
            assert_inside(power(x, 3), a * (a * a))
            for target in (np.float32, np.float64, np.int32, np.int64, np.bool_):
                assert_inside(cast(x, np.dtype(target)), ops.cast(a, np.dtype(target)))
