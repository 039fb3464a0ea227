"""Which function of the standard runs as a jitted program, and which is NumPy's own call, and why.

Takes nothing; gives ``FUNCTIONS`` (every name of the standard, with ``linalg.`` or ``fft.`` before
those of the extensions), ``DELEGATED`` (name → reason), ``NATIVE`` (the others), ``EXTERNAL``
(native ones with a call of NumPy inside) and ``LIMITS`` (what a native function hands to NumPy for
one call). This is the one place that decides: to move a
name, move it here. Not here: how a program is run (``program``), the page printed from it
(``page``).
"""

from __future__ import annotations

MAIN = (
    "__array_namespace_info__ abs acos acosh add all any arange argmax argmin argsort asarray asin "
    "asinh astype atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or "
    "bitwise_right_shift bitwise_xor broadcast_arrays broadcast_shapes broadcast_to can_cast ceil "
    "clip concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum diff divide "
    "empty empty_like equal exp expand_dims expm1 eye finfo flip floor floor_divide from_dlpack "
    "full full_like greater greater_equal hypot iinfo imag isdtype isfinite isin isinf isnan less "
    "less_equal linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or "
    "logical_xor matmul matrix_transpose max maximum mean meshgrid min minimum moveaxis multiply "
    "negative nextafter nonzero not_equal ones ones_like permute_dims positive pow prod real "
    "reciprocal remainder repeat reshape result_type roll round searchsorted sign signbit sin sinh "
    "sort sqrt square squeeze stack std subtract sum take take_along_axis tan tanh tensordot tile "
    "tril triu trunc unique_all unique_counts unique_inverse unique_values unstack var vecdot "
    "where zeros zeros_like"
).split()
LINALG = (
    "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
    "matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"
).split()
FFT = (
    "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"
).split()

FUNCTIONS = (*MAIN, *(f"linalg.{name}" for name in LINALG), *(f"fft.{name}" for name in FFT))

_REASONS = {
    "asks about types or devices; there is nothing to compute": (
        "__array_namespace_info__ broadcast_shapes can_cast finfo iinfo isdtype result_type"
    ),
    "makes an array from no array: there is no argument to specialise on": (
        "arange asarray empty eye from_dlpack full linspace ones zeros fft.fftfreq fft.rfftfreq"
    ),
    "its elements are not set; there is nothing to compute": "empty_like",
    "the shape of the result depends on values": (
        "nonzero unique_all unique_counts unique_inverse unique_values"
    ),
    "complex values, which Stax does not carry": (
        "imag fft.fft fft.fftn fft.hfft fft.ifft fft.ifftn fft.ihfft fft.irfft "
        "fft.irfftn fft.rfft fft.rfftn"
    ),
    "LAPACK computes it; a program around the call would add nothing": (
        "linalg.cholesky linalg.det linalg.eigh linalg.eigvalsh linalg.inv linalg.matrix_norm "
        "linalg.matrix_power linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.solve "
        "linalg.svd linalg.svdvals"
    ),
}

DELEGATED: dict[str, str] = {
    name: reason for reason, names in _REASONS.items() for name in names.split()
}
"""Name → why NumPy's own function is called."""

NATIVE = frozenset(FUNCTIONS) - frozenset(DELEGATED)
"""Names that run as jitted programs."""

EXTERNAL = frozenset(
    (
        "argsort cumulative_prod cumulative_sum isin matmul searchsorted sort tensordot vecdot "
        "linalg.matmul linalg.tensordot linalg.vecdot"
    ).split()
)
"""Native functions whose program holds a call of NumPy's own routine, and loops around it."""

LIMITS: dict[str, str] = {
    "astype": "copy=False on an array of that dtype returns the array itself",
    "clip": "a Python integer beyond the dtype of the array: it is no limit",
    "repeat": "an array of repeats: the shape depends on its values",
    "reshape": "copy=False asks for a view of the argument",
}
"""Name of a native function → which of its calls NumPy answers, besides those on complex data."""
