"""The standard's Fourier transform extension.

Takes arrays and axes; gives transforms (NumPy's own: their values are complex), frequencies and
shifted arrays. Not here: which of them run as jitted programs (``table``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .program import Array, standard

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Axes = int | Sequence[int]
_extension = functools.partial(standard, prefix="fft.")


def _along_one_axis(transform: Any) -> Any:
    def function(
        x: Array, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward"
    ) -> Array:
        return transform(x, n=n, axis=axis, norm=norm)

    return _named(function, transform)


def _along_axes(transform: Any) -> Any:
    def function(
        x: Array,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: Any = "backward",
    ) -> Array:
        return transform(x, s=s, axes=axes, norm=norm)

    return _named(function, transform)


def _named(function: Any, transform: Any) -> Any:
    function.__name__ = function.__qualname__ = transform.__name__
    function.__doc__ = f"``np.fft.{transform.__name__}``."
    return _extension(function)


fft = _along_one_axis(np.fft.fft)
hfft = _along_one_axis(np.fft.hfft)
ifft = _along_one_axis(np.fft.ifft)
ihfft = _along_one_axis(np.fft.ihfft)
irfft = _along_one_axis(np.fft.irfft)
rfft = _along_one_axis(np.fft.rfft)
fftn = _along_axes(np.fft.fftn)
ifftn = _along_axes(np.fft.ifftn)
irfftn = _along_axes(np.fft.irfftn)
rfftn = _along_axes(np.fft.rfftn)


@_extension
def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of a transform of ``n`` samples at distance ``d``."""
    return np.fft.fftfreq(n, d=d, device=device).astype(dtype or np.float64, copy=False)


@_extension
def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of a transform of ``n`` real samples at distance ``d``."""
    return np.fft.rfftfreq(n, d=d, device=device).astype(dtype or np.float64, copy=False)


@_extension
def fftshift(x: Array, /, *, axes: Axes | None = None) -> Array:
    """The array with frequency zero moved to the middle of the axes."""
    return np.fft.fftshift(x, axes=axes)


@_extension
def ifftshift(x: Array, /, *, axes: Axes | None = None) -> Array:
    """The array with frequency zero moved from the middle of the axes to their beginning."""
    return np.fft.ifftshift(x, axes=axes)
