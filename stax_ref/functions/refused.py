"""NumPy functions that are refused by name, each with the reason and the way out.

Takes nothing; gives :data:`REFUSED`, which every family may add to, and the exception. Not here:
functions nobody thought of (``namespace`` names what is supported instead).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedOperation, user_frame

_SHAPE = "the shape of its result depends on values"
_COMPLEX = "its result is complex, and Stax carries no complex dtype"
_OUTSIDE = "call it outside the jitted function"
_MEMORY = "a traced array has no memory to look at"
_DATES = "it takes dates, which Stax does not carry"


def _spectrum(call: str) -> tuple[str, str]:
    """A transform with a complex result: what stays real inside one call can be kept."""
    way = f"stax.extern(lambda x: np.abs({call}), result_type) for what of it is real"
    return (_COMPLEX, way)


REFUSED: dict[Any, tuple[str, str]] = {
    np.nonzero: (_SHAPE, "np.where(condition, x, y), or np.count_nonzero for their number"),
    np.flatnonzero: (_SHAPE, "np.where(condition, x, y), or np.argmax for the first one"),
    np.argwhere: (_SHAPE, "np.where(condition, x, y)"),
    np.compress: (_SHAPE, "np.where(condition, x, 0)"),
    np.extract: (_SHAPE, "np.where(condition, x, 0)"),
    np.trim_zeros: (_SHAPE, _OUTSIDE),
    np.unique: (_SHAPE, "np.sort(x), or np.unique outside the jitted function"),
    np.unique_values: (_SHAPE, "np.sort(x), or np.unique_values outside the jitted function"),
    np.unique_counts: (_SHAPE, _OUTSIDE),
    np.unique_inverse: (_SHAPE, _OUTSIDE),
    np.unique_all: (_SHAPE, _OUTSIDE),
    np.setdiff1d: (_SHAPE, "np.isin(a, b) as a mask for np.where"),
    np.intersect1d: (_SHAPE, "np.isin(a, b) as a mask for np.where"),
    np.union1d: (_SHAPE, "np.sort of the two concatenated keeps duplicates"),
    np.setxor1d: (_SHAPE, _OUTSIDE),
    np.bincount: (_SHAPE, "np.add.at on np.zeros(n), or np.histogram(x, np.arange(n + 1))[0]"),
    np.histogramdd: ("it returns a list inside a tuple", "np.histogram2d, or stax.extern"),
    np.linalg.eig: (_COMPLEX, "np.linalg.eigh for a symmetric matrix"),
    np.linalg.eigvals: (_COMPLEX, "np.linalg.eigvalsh for a symmetric matrix"),
    np.linalg.lstsq: (
        "the shape of its residuals depends on the rank",
        "np.linalg.pinv(a) @ b, or np.linalg.solve(a.T @ a, a.T @ b)",
    ),
    np.polyfit: (
        "it solves a least squares problem whose rank is looked at",
        "np.linalg.pinv(np.vander(x, degree + 1)) @ y",
    ),
    np.fft.fft: _spectrum("np.fft.fft(x)"),
    np.fft.fft2: _spectrum("np.fft.fft2(x)"),
    np.fft.fftn: _spectrum("np.fft.fftn(x)"),
    np.fft.ifft: _spectrum("np.fft.ifft(x)"),
    np.fft.ifft2: _spectrum("np.fft.ifft2(x)"),
    np.fft.ifftn: _spectrum("np.fft.ifftn(x)"),
    np.fft.rfft: _spectrum("np.fft.rfft(x)"),
    np.fft.rfft2: _spectrum("np.fft.rfft2(x)"),
    np.fft.rfftn: _spectrum("np.fft.rfftn(x)"),
    np.fft.ihfft: _spectrum("np.fft.ihfft(x)"),
    np.apply_along_axis: (
        "the function it calls may return anything",
        "whole-array operations along the axis, or stax.extern",
    ),
    np.piecewise: ("the functions it calls see parts of an array", "np.where or np.select"),
    np.sort_complex: (_COMPLEX, "np.sort"),
    np.polymul: (_SHAPE, "np.convolve keeps leading zeros"),
    np.polydiv: (_SHAPE, _OUTSIDE),
    np.busday_count: (_DATES, _OUTSIDE),
    np.busday_offset: (_DATES, _OUTSIDE),
    np.is_busday: (_DATES, _OUTSIDE),
    np.datetime_as_string: (_DATES, _OUTSIDE),
    np.shares_memory: (_MEMORY, _OUTSIDE),
    np.may_share_memory: (_MEMORY, _OUTSIDE),
    np.place: ("how many values it takes depends on the mask", "np.putmask, or np.where"),
    np.apply_over_axes: (
        "the function it calls may return anything",
        "a reduction with axis=(...)",
    ),
    **dict.fromkeys((np.poly, np.roots), (_COMPLEX, "np.linalg.eigvalsh of a symmetric matrix")),
    np.savez: ("it writes a file", _OUTSIDE),
    np.savez_compressed: ("it writes a file", _OUTSIDE),
    np.save: ("it writes a file", _OUTSIDE),
    np.savetxt: ("it writes a file", _OUTSIDE),
    np.array2string: ("text needs the values of the array", _OUTSIDE),
    np.array_repr: ("text needs the values of the array", _OUTSIDE),
    np.array_str: ("text needs the values of the array", _OUTSIDE),
}
"""NumPy function → why it is refused and what to write instead."""

METHODS: dict[str, tuple[str, str]] = {
    "nonzero": REFUSED[np.nonzero],
    "compress": REFUSED[np.compress],
    "resize": ("it writes into a traced array", "np.resize outside, or np.reshape"),
    "getfield": (_MEMORY, _OUTSIDE),
    "setfield": (_MEMORY, _OUTSIDE),
    "byteswap": (_MEMORY, _OUTSIDE),
    "setflags": (_MEMORY, _OUTSIDE),
    "flags": (_MEMORY, _OUTSIDE),
    "strides": (_MEMORY, _OUTSIDE),
    "base": (_MEMORY, _OUTSIDE),
    "data": (_MEMORY, _OUTSIDE),
    "ctypes": (_MEMORY, _OUTSIDE),
    "flat": ("it walks over values one by one", "x.reshape(-1)"),
    "tobytes": ("it needs the values of the array", _OUTSIDE),
    "tofile": ("it needs the values of the array", _OUTSIDE),
    "dump": ("it needs the values of the array", _OUTSIDE),
    "dumps": ("it needs the values of the array", _OUTSIDE),
}
"""Method or attribute of an array → why it is refused and what to write instead."""


def refusal(name: str, function: Any) -> UnsupportedOperation | None:
    """The exception for a function that is refused by name, None for any other."""
    return _because(name, REFUSED.get(function))


def method_refusal(name: str) -> UnsupportedOperation | None:
    """The exception for a method or attribute that is refused by name, None for any other."""
    return _because(f".{name}", METHODS.get(name))


def _because(what: str, known: tuple[str, str] | None) -> UnsupportedOperation | None:
    if known is None:
        return None
    return UnsupportedOperation(f"{what} is refused: {known[0]}", user_frame()[0], known[1])
