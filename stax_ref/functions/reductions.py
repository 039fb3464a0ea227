"""Reductions as equations: kinds, dtypes, axes.

Takes operands of a traced call; gives one equation with NumPy's shape and dtype, or NumPy's refusal
with the user's line. Not here: the planned order (``ops``), loops (``lower``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..errors import (
    DtypeError,
    ShapeError,
    user_frame,
)
from ..tracer import Trace, Tracer
from .operands import carried, no_options, normal_axes, traced


def reduce(
    recording: Trace,
    kind: str,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    **kwargs: Any,
) -> Tracer:
    """sum, prod, max, min, mean, var and std over an axis, a tuple of axes or all."""
    ddof = kwargs.pop("ddof", 0) or 0
    correction = kwargs.pop("correction", ddof)
    if ddof and correction not in (np._NoValue, ddof):
        raise ShapeError("ddof and correction can't be provided simultaneously.", user_frame()[0])
    ddof = ddof if correction is np._NoValue else correction
    if not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise DtypeError(f"ddof={ddof!r}", user_frame()[0], "a number")
    no_options(f"np.{kind}", {"out": out, **kwargs})
    keep = bool(keepdims) and keepdims is not np._NoValue
    value = traced(recording, a, f"np.{kind}")
    axes = normal_axes(axis, len(value.shape))
    target = _reduced_dtype(kind, value.dtype, dtype)
    count = math.prod(value.shape[k] for k in axes)
    if kind in ("max", "min") and count == 0:
        raise ShapeError(
            f"zero-size array to reduction operation {kind}imum which has no identity",
            user_frame()[0],
            "an axis with at least one element",
        )
    shape = tuple(
        1 if k in axes else extent for k, extent in enumerate(value.shape) if keep or k not in axes
    )
    params: dict[str, Any] = {"axis": None if axis is None else axes, "keepdims": keep}
    if value.dtype != target:
        params["dtype"] = target
    if kind in ("var", "std"):
        params["ddof"] = ddof
    return recording.record(kind, (value,), shape, target, **params)


def _reduced_dtype(kind: str, have: np.dtype, asked: Any) -> np.dtype:
    if asked is not None and asked is not np._NoValue:
        target = carried(np.dtype(asked), f"np.{kind}")
        if kind in ("mean", "var", "std") and target.kind != "f":
            raise DtypeError(
                f"np.{kind} with dtype={target}", user_frame()[0], "a float dtype, then .astype"
            )
        return target
    if kind in ("mean", "var", "std"):
        return have if have.kind == "f" else dtypes.F64
    if kind in ("sum", "prod") and have.kind in "bi":
        return dtypes.I64
    return have
