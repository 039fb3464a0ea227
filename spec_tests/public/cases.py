"""One program against NumPy and a stated value: interpreter, forced native code, every level.

takes: a NumPy function, a maker of its arguments, the right results
gives: nothing, or an ``AssertionError`` that says where a result or an argument is wrong
holds: ``holds`` (values), ``raises`` (exceptions), ``divides`` (the three settings of np.errstate)
not here: the programs; how the ladder is climbed (``spec_tests.harness``)

The right result is stated apart from Stax (a literal, or NumPy in float64); plain NumPy must give
it too, so a test cannot state something wrong. Dtype, shape and what the call leaves in its
arguments are those of the plain call.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stax_ref as stax
from spec_tests import harness
from stax_ref import staged

Make = Callable[[], tuple[Any, ...]]


def wave(*shape: int, scale: float = 2.0, dtype: type = np.float32) -> np.ndarray:
    """Fixed numbers between -scale and scale that look random: fractional parts of a fast sine."""
    count = int(np.prod(shape))
    turns = np.sin(np.arange(1, count + 1, dtype=np.float64) * 12.9898 + 0.37) * 43758.5453
    unit = (turns - np.floor(turns)) * 2 - 1
    return unit.reshape(shape).astype(dtype) * dtype(scale)


def leaves(result: Any) -> list[np.ndarray]:
    """The arrays of a result; scalars as 0-d arrays."""
    return [np.asarray(r) for r in (result if isinstance(result, (tuple, list)) else [result])]


def holds(
    program: Callable[..., Any],
    make: Make,
    *right: Any,
    rtol: float = 0.0,
    atol: float = 0.0,
    levels: bool = True,
    **options: Any,
) -> None:
    """The program gives these results, in plain NumPy and in every way Stax can run it.

    Args:
        program: a NumPy function.
        make: gives fresh arguments at each call.
        *right: one array (or nested list) per result.
        rtol, atol: how far a result may be away, as in ``np.testing.assert_allclose``; 0 is exact.
        levels: climb the ladder at every vector level too.
        **options: fields of ``stax.Config``.

    Raises:
        AssertionError: something differs.
    """
    with harness.quiet():
        arguments = make()
        plain = leaves(program(*arguments))
        _values("NumPy", plain, plain, right, rtol, atol)
        for backend in ("ref", harness.backend_name()):
            given = make()
            jitted = stax.jit(program, backend=backend, **options)
            result = leaves(_natively(jitted, given) if backend != "ref" else jitted(*given))
            _values(backend, result, plain, right, rtol, atol)
            _left_behind(backend, given, arguments, rtol, atol)
        with harness.point_limit(0 if levels else harness.POINTS):
            report = stax.jit(program, backend=harness.backend_name(), **options).check(*make())
        assert report.ok, str(report)
    if levels:
        harness.check(program, *make(), **options)


def raises(
    program: Callable[..., Any],
    make: Make,
    exception: type[Exception],
    match: str | None = None,
    refused: bool = False,
) -> None:
    """The call fails with this exception, as in NumPy, and leaves its arguments alone.

    Args:
        program: a NumPy function.
        make: gives fresh arguments at each call.
        exception: NumPy's own, or a refusal of Stax.
        match: pattern in the message of Stax.
        refused: NumPy runs it, Stax says no.
    """
    if not refused:
        with harness.quiet(), pytest.raises(exception):
            program(*make())
    for backend in ("ref", harness.backend_name()):
        given = make()
        with harness.quiet(), pytest.raises(exception, match=match):
            stax.jit(program, backend=backend)(*given)
        assert all(map(_same_bits, given, make())), f"{backend}: a failed call changed an argument"


def divides(program: Callable[..., Any], make: Make, *right: Any) -> None:
    """An integer division by zero: NumPy's value, warning or exception, as np.errstate says.

    Args:
        program: a NumPy function that divides integers by zero.
        make: gives fresh arguments at each call.
        *right: the results while the error is ignored or warned of.
    """
    holds(program, make, *right)
    called = {
        "NumPy": program,
        "ref": stax.jit(program, backend="ref"),
        "native": stax.jit(program, backend=harness.backend_name()),
    }
    for name, function in called.items():
        with (
            np.errstate(divide="warn"),
            pytest.warns(RuntimeWarning, match="divide by zero"),
        ):
            result = leaves(function(*make()))
        _values(name, result, result, right, 0, 0)
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            function(*make())


# what is compared ---------------------------------------------------------------------------------
def _natively(jitted: Any, arguments: tuple[Any, ...]) -> Any:
    """Call it; native code must have run."""
    executable = jitted.lower(*arguments).compile()
    assert executable.backend == harness.backend_name()
    runtime = importlib.import_module("stax_native.runtime")
    launched, fell_back = sum(runtime.launch_counts().values()), staged.fallbacks
    result = jitted(*arguments)
    assert staged.fallbacks == fell_back, "the interpreter ran instead"
    if executable.plan.launches:
        assert sum(runtime.launch_counts().values()) > launched, "nothing was launched"
    return result


def _values(
    who: str,
    got: list[np.ndarray],
    plain: list[np.ndarray],
    right: tuple[Any, ...],
    rtol: float,
    atol: float,
) -> None:
    assert len(got) == len(plain) == len(right), f"{who}: {len(got)} results"
    for k, (value, kind, wanted) in enumerate(zip(got, plain, right, strict=True)):
        where = f"{who}, result {k}"
        assert value.dtype == kind.dtype, f"{where}: {value.dtype} instead of {kind.dtype}"
        assert value.shape == kind.shape == np.shape(wanted), f"{where}: shape {value.shape}"
        _close(where, value, np.asarray(wanted), rtol, atol)


def _left_behind(
    who: str, given: tuple[Any, ...], plain: tuple[Any, ...], rtol: float, atol: float
) -> None:
    """The caller's arrays hold what a plain call leaves in them."""
    for k, (mine, numpys) in enumerate(zip(given, plain, strict=True)):
        if mine is not numpys:
            _close(f"{who}, argument {k} afterwards", np.asarray(mine), numpys, rtol, atol)


def _close(where: str, value: np.ndarray, wanted: np.ndarray, rtol: float, atol: float) -> None:
    np.testing.assert_allclose(value, wanted, rtol=rtol, atol=atol, err_msg=where)


def _same_bits(a: Any, b: Any) -> bool:
    return a is b or np.asarray(a).tobytes() == np.asarray(b).tobytes()
