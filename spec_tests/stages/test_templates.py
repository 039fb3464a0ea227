"""templates: a product whose pointwise epilogue runs on its output tiles.

takes: products with epilogues, both sides of every condition
gives: a failure for a tile that is not made, one that reads another tile, or a missing reason
holds: the rungs that run tiles in a shuffled order with everything else poisoned
not here: how fast it is (``bench``)
"""

import numpy as np
import pytest

import stax_ref as stax
from stax_ref.nest import Nest
from stax_ref.plan import Extern, Template
from stax_ref.pools import aligned

RNG = np.random.default_rng(11)
X = RNG.standard_normal((38, 7)).astype(np.float32)
W = RNG.standard_normal((7, 5)).astype(np.float32)
BIAS = RNG.standard_normal(5).astype(np.float32)
ROWS = 16


def dense(x, w, bias):
    return np.maximum(x @ w + bias, 0)


def compiled(function, *arguments, template_rows=ROWS, **options):
    return stax.jit(function, template_rows=template_rows, **options).lower(*arguments).program


def reasons(program) -> list[str]:
    said = [d.reason for d in program.groups.decisions]
    return [reason for reason in said if "template" in reason or "tiles" in reason]


@pytest.mark.parametrize("schedule", ["default", "seed"])
def test_the_epilogue_is_fused_into_tiles(schedule):
    jitted = stax.jit(dense, template_rows=ROWS, schedule=schedule)
    program = jitted.lower(X, W, BIAS).program
    (step,) = program.plan.steps
    assert isinstance(step, Template)
    assert list(step.tiles()) == [(0, 16), (16, 32), (32, 38)]
    assert reasons(program) == ["epilogue in tiles of 16 rows"]
    assert program.plan.kernels == 1
    report = jitted.check(X, W, BIAS)
    assert report.ok, report
    assert "template(" in program.plan.wrapper_text()


def test_the_product_is_never_stored_as_a_whole():
    tiled, whole = (compiled(dense, X, W, BIAS, template_rows=n).plan for n in (ROWS, 0))
    assert tiled.arena_bytes == ROWS * 5 * 4
    assert whole.arena_bytes == aligned(38 * 5 * 4)
    assert whole.bytes_moved - tiled.bytes_moved == 2 * 38 * 5 * 4
    assert [type(step) for step in whole.steps] == [Extern, Nest]


@pytest.mark.parametrize(("template_rows", "found"), [(19, True), (20, False), (0, False)])
def test_template_rows(template_rows, found):
    """A product of fewer than two tiles is no template: 38 rows."""
    program = compiled(dense, X, W, BIAS, template_rows=template_rows)
    assert any(isinstance(step, Template) for step in program.steps) == found
    if not found:
        assert reasons(program) == [
            f"no template: the product has fewer than two tiles of {template_rows} rows"
        ]


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x, w: (x @ w).sum(-1), "other loops than the product"),
        (lambda x, w: np.exp((x @ w).T), "the epilogue has other loops than the product"),
        (lambda x, w: np.exp((x @ w)[::-1]), "reads the product at other places than it runs"),
        (lambda x, w: np.exp(np.tile(x @ w, (1, 2))), "other loops than the product"),
    ],
    ids=["rows", "transposed", "reversed", "tiled"],
)
def test_what_is_no_epilogue(function, reason):
    program = compiled(function, X, W)
    assert not any(isinstance(step, Template) for step in program.steps)
    assert any(reason in said for said in reasons(program)), reasons(program)
    assert stax.jit(function, template_rows=ROWS).check(X, W).ok


def test_a_number_among_the_arguments():
    def scaled(x, w, s):
        return (x @ w) * s

    program = compiled(scaled, X, W, 2.0)
    assert not any(isinstance(step, Template) for step in program.steps)
    assert any("reads a number" in said for said in reasons(program))


def test_an_epilogue_that_may_fail():
    def powers(x, w, k):
        return x.astype(np.int32) @ w.astype(np.int32) // k

    program = compiled(powers, X, W, np.ones(5, np.int32))
    assert not any(isinstance(step, Template) for step in program.steps)


def test_a_product_that_others_need_is_stored():
    def twice(x, w):
        y = x @ w
        return np.exp(y), np.sort(y, -1)

    def returned(x, w):
        y = x @ w
        return y, np.exp(y)

    for function in (twice, returned):
        program = compiled(function, X, W)
        assert not any(isinstance(step, Template) for step in program.steps)
        assert stax.jit(function, template_rows=ROWS).check(X, W).ok


def test_layers_one_after_another():
    def model(x, w, v):
        h = np.tanh(x @ w)
        return np.exp(h @ v) + x[:, :1]

    v = RNG.standard_normal((5, 6)).astype(np.float32)
    program = compiled(model, X, W, v)
    assert [type(step) for step in program.steps] == [Template, Template]
    assert stax.jit(model, template_rows=ROWS).check(X, W, v).ok


def test_a_loop_that_comes_between_keeps_them_apart():
    """The epilogue needs the sum of a sorted product: a third step would have to run between."""

    def f(x, w):
        y = x @ w
        return np.exp(y + np.sort(y, -1))

    program = compiled(f, X, W)
    assert not any(isinstance(step, Template) for step in program.steps)
    assert stax.jit(f, template_rows=ROWS).check(X, W).ok


def test_explain_names_the_tiles():
    text = stax.jit(dense, template_rows=ROWS).explain(X, W, BIAS)
    assert "in tiles of 16 rows, then" in text
