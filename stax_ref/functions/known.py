"""Arrays known while tracing: NumPy itself computes with them.

Takes the arguments of a call; gives NumPy's own result when no traced array is among them. Not
here: when a known array becomes part of the graph (``cells``), where they are made (``creation``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..nested import mapped
from ..tracer import Trace, Tracer


class Traced(LookupError):
    """A traced array is among the arguments."""


def known_of(thing: Any) -> Any:
    """Arguments with known arrays in the place of tracers.

    Raises:
        Traced: one of them is traced.
    """

    def content(entry: Any) -> Any:
        if not isinstance(entry, Tracer):
            return entry
        known = entry._known
        if known is None:
            raise Traced
        return known

    return mapped(content, thing)


def evaluated(recording: Trace, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """NumPy's result when every array is known while tracing; ``NotImplemented`` otherwise."""
    try:
        result = function(*known_of(tuple(args)), **known_of(dict(kwargs)))
    except Traced:
        return NotImplemented
    return as_known(recording, result)


def as_known(recording: Trace, result: Any) -> Any:
    """NumPy's result with its arrays as known ones; scalars stay NumPy's."""

    def known(entry: Any) -> Any:
        carried = type(entry) is np.ndarray and dtypes.is_supported(entry.dtype)
        return Tracer(recording, None, entry) if carried else entry

    return mapped(known, result)
