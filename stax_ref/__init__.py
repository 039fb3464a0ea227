"""Stax: a tensor-kernel compiler for NumPy functions, in pure Python up to the plan.

    import stax_ref as stax

    @stax.jit
    def normalise(x):
        return x / np.sum(x, axis=-1, keepdims=True)

Reading order: ``compile`` (the list of stages), ``ops`` (the semantics page), ``graph``, ``node``,
``nest``, ``plan`` (the four representations), then any stage by its word: ``trace lower depend fuse
order memory nesting plan``, and ``interpret``, the oracle. The stages are loaded at the first call.
"""

from __future__ import annotations

import importlib
from typing import Any

from .config import Config, configured
from .containers import register_container
from .donation import donate
from .errors import (
    BackendError,
    ConfigError,
    DtypeError,
    InvariantError,
    ShapeError,
    StaxError,
    TraceError,
    Unsupported,
    UnsupportedOperation,
    ValueDependent,
)
from .extern import Spec, extern
from .jit import Jitted, jit

__version__ = "0.1.0"

__all__ = [
    "BackendError",
    "Config",
    "ConfigError",
    "DtypeError",
    "InvariantError",
    "Jitted",
    "ShapeError",
    "Spec",
    "StaxError",
    "TraceError",
    "Unsupported",
    "UnsupportedOperation",
    "ValueDependent",
    "__version__",
    "configured",
    "donate",
    "erf",
    "extern",
    "fallbacks",
    "jit",
    "logsumexp",
    "register_container",
    "sigmoid",
]


_LAZY = {"logsumexp": "stax_ref.functions.norms"}
"""Functions NumPy does not have, and the modules they are in."""


def __getattr__(name: str) -> Any:
    """The array API namespace and functions of Stax's own, loaded when first asked for."""
    if name == "xp":
        return importlib.import_module("stax_ref.xp")
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'stax_ref' has no attribute {name!r}")


def erf(x: Any) -> Any:
    """The error function, element by element.

    Args:
        x: an array, a number, or a traced array; of any real dtype and any shape.

    Returns:
        an array of the same shape, in the float dtype that ``np.tanh`` would give; traced if
        ``x`` is. The value is the C library's, the same on every backend.

    Raises:
        DtypeError: ``x`` is not of a real dtype.
    """
    return _special("erf", x)


def sigmoid(x: Any) -> Any:
    """The logistic function ``1 / (1 + exp(-x))``, element by element.

    Args:
        x: an array, a number, or a traced array; of any real dtype and any shape.

    Returns:
        an array of the same shape, in the float dtype that ``np.tanh`` would give; traced if
        ``x`` is. It has the same bits on every backend, and neither end overflows.

    Raises:
        DtypeError: ``x`` is not of a real dtype.
    """
    return _special("sigmoid", x)


def _special(name: str, x: Any) -> Any:
    return importlib.import_module("stax_ref.functions.special").apply(name, x)


def fallbacks() -> int:
    """How often ``backend="auto"`` fell back to the interpreter in this process."""
    module: Any = importlib.import_module("stax_ref.staged")
    return int(module.fallbacks)
