"""capture: what a function reads besides its arguments is never stale.

takes: jitted functions that read globals, closures and captured arrays
gives: a failure for a result made of what such a place held before
holds: every place is changed between calls, and called more than once after each change
not here: arguments and compilation (``test_jit``)
"""

import numpy as np

import stax_ref as stax

ROWS = np.arange(24, dtype=np.float32).reshape(4, 6)
scale = 2.0
table = np.ones(6, np.float32)
pair = (1.0, 3)


def test_a_rebound_global_number_changes_the_result(monkeypatch):
    @stax.jit
    def f(x):
        return x * scale

    for value in (2.0, 5.0, 2.0, -1.0):
        monkeypatch.setitem(globals(), "scale", value)
        for _ in range(3):
            np.testing.assert_array_equal(f(ROWS), ROWS * value)


def test_a_global_tuple_is_guarded_by_value(monkeypatch):
    @stax.jit
    def f(x):
        return x * pair[0] + pair[1]

    for value in ((1.0, 3), (1.0, 4), (1.0, 3)):
        monkeypatch.setitem(globals(), "pair", value)
        for _ in range(2):
            np.testing.assert_array_equal(f(ROWS), ROWS * value[0] + value[1])


def test_zero_and_minus_zero_are_different_values(monkeypatch):
    @stax.jit
    def f(x):
        return np.where(x > 100, x, scale)

    for value in (0.0, -0.0, 0.0):
        monkeypatch.setitem(globals(), "scale", value)
        assert np.signbit(f(ROWS)[0, 0]) == np.signbit(value)


def test_a_nonlocal_number_is_guarded():
    def make():
        factor = 1.0

        @stax.jit
        def f(x):
            return x * factor

        def change(value):
            nonlocal factor
            factor = value

        return f, change

    f, change = make()
    for value in (1.0, 4.0, 1.0):
        change(value)
        for _ in range(2):
            np.testing.assert_array_equal(f(ROWS), ROWS * value)


def _shift(x):
    return x + scale


def test_a_global_of_a_helper_is_guarded(monkeypatch):
    @stax.jit
    def f(x):
        return _shift(x) * 2

    for value in (1.0, 7.0):
        monkeypatch.setitem(globals(), "scale", value)
        np.testing.assert_array_equal(f(ROWS), (ROWS + value) * 2)


def test_a_captured_array_is_read_again(monkeypatch):
    @stax.jit
    def f(x):
        return x * table

    monkeypatch.setitem(globals(), "table", np.ones(6, np.float32))
    np.testing.assert_array_equal(f(ROWS), ROWS)
    table[:] = 3
    for _ in range(2):
        np.testing.assert_array_equal(f(ROWS), ROWS * 3)
    monkeypatch.setitem(globals(), "table", np.full(6, 4, np.float32))
    for _ in range(2):
        np.testing.assert_array_equal(f(ROWS), ROWS * 4)
    monkeypatch.setitem(globals(), "table", np.full((4, 6), 5, np.float64))
    assert f(ROWS).dtype == np.float64


def test_an_array_captured_in_a_closure_is_read_again():
    weights = np.ones(6, np.float32)
    f = stax.jit(lambda x: x * weights)
    np.testing.assert_array_equal(f(ROWS), ROWS)
    weights += 1
    np.testing.assert_array_equal(f(ROWS), ROWS * 2)


def test_a_numpy_scalar_captured_keeps_its_dtype(monkeypatch):
    @stax.jit
    def f(x):
        return x * scale

    monkeypatch.setitem(globals(), "scale", np.float64(2))
    assert f(ROWS).dtype == np.float64
    monkeypatch.setitem(globals(), "scale", 2.0)
    assert f(ROWS).dtype == np.float32
