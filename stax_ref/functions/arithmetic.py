"""Functions that NumPy writes in Python out of ufuncs: rounding, closeness, tests, angles.

Takes operands of a traced call; gives the equations of NumPy's own text, in its order. Not here:
ufuncs (``elementwise``), choices (``choices``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import DtypeError, user_frame
from ..graph import literal
from ..tracer import Trace, Tracer
from . import choices
from .elementwise import cast, pointwise
from .operands import describe, no_options, traced

_TO_TEN = 8
"""NumPy has the powers of ten up to this one in a table."""


def _array(recording: Trace, x: Any, what: str) -> Any:
    """A traced array; its type is left open, because NumPy's stubs do not know tracers."""
    return Tracer(recording, traced(recording, x, what))


def around(recording: Trace, a: Any, decimals: int = 0, out: Any = None) -> Tracer:
    """``np.round``: scaled, rounded to nearest even, scaled back; whole numbers stay."""
    no_options("round", {"out": out})
    x = _array(recording, a, "round")
    if decimals >= 0 and dtypes.is_integer(x.dtype):
        return pointwise(recording, np.positive, (x,))
    if decimals == 0:
        return pointwise(recording, np.rint, (x,))
    if x.dtype == dtypes.BOOL:
        raise DtypeError("np.round of bools to decimals", user_frame()[0], "x.astype(np.float64)")
    have = x.dtype
    if dtypes.is_integer(have):
        x = cast(recording, x, dtypes.F64)
    scale = 10.0 ** abs(decimals)
    into, back = (np.multiply, np.true_divide) if decimals > 0 else (np.true_divide, np.multiply)
    rounded = pointwise(recording, np.rint, (pointwise(recording, into, (x, scale)),))
    result = pointwise(recording, back, (rounded, scale))
    return cast(recording, result, have)


def _fix(recording: Trace, x: Any, out: Any = None) -> Tracer:
    no_options("fix", {"out": out})
    return pointwise(recording, np.trunc, (x,))


def _sinc(recording: Trace, x: Any) -> Any:
    scaled = pointwise(recording, np.multiply, (np.pi, x))
    tiny = np.finfo(scaled.dtype).eps
    y: Any = choices.where(recording, scaled, scaled, tiny)
    return pointwise(recording, np.true_divide, (np.sin(y), y))


def isclose(
    recording: Trace, a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> Any:
    """``np.isclose``."""
    x, y = a, b
    operand, kind = describe(recording, b)
    if operand is None:
        y = float(y) if type(y) is int else y
    elif not isinstance(kind, type):
        y = _array(recording, b, "isclose") if not isinstance(b, np.generic) else b
        y = y.astype(np.result_type(operand.dtype, 1.0))
    elif kind is not float:
        y = recording.record("cast", (operand,), (), dtypes.F64, True)
    apart = np.abs(pointwise(recording, np.subtract, (x, y)))
    size = np.abs(y)
    allowed = pointwise(recording, np.add, (atol, _product(recording, rtol, size)))
    result = pointwise(recording, np.less_equal, (apart, allowed)) & np.isfinite(y) | pointwise(
        recording, np.equal, (x, y)
    )
    if equal_nan:
        result = result | np.isnan(x) & np.isnan(y)
    return result


def _product(recording: Trace, a: Any, b: Any) -> Any:
    both_known = not isinstance(a, Tracer) and not isinstance(b, Tracer)
    return a * b if both_known else pointwise(recording, np.multiply, (a, b))


def _allclose(recording: Trace, *args: Any, **kwargs: Any) -> Any:
    return _python_bool(recording, isclose(recording, *args, **kwargs))


def _python_bool(recording: Trace, answers: Any) -> Tracer:
    """Whether all answers are true, as a Python bool."""
    every: Any = np.all(answers)
    return recording.record("cast", (every._value,), (), dtypes.BOOL, True)


def _array_equal(recording: Trace, a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    x, y = (_array(recording, a, "array_equal") for a in (a1, a2))
    if x.shape != y.shape:
        return _python_bool(recording, _constant(recording, False, dtypes.BOOL, ()))
    same = x == y
    if equal_nan and x.dtype.kind == "f" and y.dtype.kind == "f":
        same = same | np.isnan(x) & np.isnan(y)
    return _python_bool(recording, same)


def _array_equiv(recording: Trace, a1: Any, a2: Any) -> Any:
    x, y = (_array(recording, a, "array_equiv") for a in (a1, a2))
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return _python_bool(recording, _constant(recording, False, dtypes.BOOL, ()))
    return _python_bool(recording, x == y)


def _constant(recording: Trace, value: Any, dtype: np.dtype, shape: tuple[int, ...]) -> Tracer:
    return recording.record("broadcast_to", (literal(value, dtype),), shape, dtype)


def _infinite(below: bool) -> Any:
    def handler(recording: Trace, x: Any, out: Any = None) -> Any:
        no_options("isneginf" if below else "isposinf", {"out": out})
        value = _array(recording, x, "isinf")
        sign = np.signbit(value)
        return np.isinf(value) & (sign if below else ~sign)

    return handler


def _everywhere(answer: bool) -> Any:
    """A test of complex numbers on real ones: one answer."""

    def handler(recording: Trace, x: Any) -> Tracer:
        return _constant(recording, answer, dtypes.BOOL, traced(recording, x, "isreal").shape)

    return handler


def real(recording: Trace, val: Any) -> Any:
    """``np.real`` and ``x.real``: real numbers themselves."""
    return _array(recording, val, "real")


def imag(recording: Trace, val: Any) -> Tracer:
    """``np.imag`` and ``x.imag``: zeros."""
    value = traced(recording, val, "imag")
    return _constant(recording, 0, value.dtype, value.shape)


def _angle(recording: Trace, z: Any, deg: bool = False) -> Any:
    value = _array(recording, z, "angle")
    angle: Any = pointwise(recording, np.arctan2, (0, value))
    return angle * (180 / np.pi) if deg else angle


def _conj(recording: Trace, x: Any) -> Any:
    """``x.conj()``, which unlike ``np.conj`` keeps bools."""
    return _array(recording, x, "conj")


def _real_if_close(recording: Trace, a: Any, tol: Any = 100) -> Any:
    return _array(recording, a, "real_if_close")


FUNCTIONS: dict[Any, Any] = {
    np.round: around,
    np.around: around,
    np.fix: _fix,
    np.sinc: _sinc,
    np.isclose: isclose,
    np.allclose: _allclose,
    np.array_equal: _array_equal,
    np.array_equiv: _array_equiv,
    np.isneginf: _infinite(below=True),
    np.isposinf: _infinite(below=False),
    np.isreal: _everywhere(True),
    np.iscomplex: _everywhere(False),
    np.isrealobj: lambda recording, x: True,
    np.iscomplexobj: lambda recording, x: False,
    np.real: real,
    np.imag: imag,
    np.angle: _angle,
    np.real_if_close: _real_if_close,
}

METHODS_OF_FAMILY: dict[str, Any] = {
    "round": around,
    "conj": _conj,
    "conjugate": _conj,
}
