"""A row of the matrix as a case of the ladder: arrays of one size and layout.

takes: a subject, a dtype, a size, a layout, the vector level whose width the size is measured in
gives: cases; the factors with their levels; the rows of the pairwise cover
holds: sizes relative to a vector, how values are laid out
not here: what is computed (``subjects``)
"""

from __future__ import annotations

import functools
import itertools
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spec_tests.harness import Case

from .pairs import cover
from .subjects import DTYPES, SUBJECTS

SIZES = ("0", "1", "W-1", "W", "W+1", "2W+1")
LAYOUTS = ("contiguous", "strided", "negative", "broadcast", "transposed")
WIDTHS = {"avx512": 64, "avx2": 32, "scalar": 16}
"""Bytes of a vector; the scalar level gets the tails of a small one."""

OTHER, REDUCED = 3, 11
"""Extent of the axis that is not measured in vectors; 11 where it is reduced, so that there is a
loop: at most 8 elements are written out."""


@dataclass(frozen=True, slots=True)
class Row:
    """One cell of the matrix: names of its levels, and the dtype."""

    subject: str
    dtype: np.dtype
    size: str
    layout: str
    level: str

    @property
    def extent(self) -> int:
        """Elements along the measured axis."""
        width = WIDTHS[self.level] // (8 if self.dtype.itemsize == 8 else 4)
        known = {"0": 0, "1": 1, "W-1": width - 1, "W": width, "W+1": width + 1}
        return known.get(self.size, 2 * width + 1)

    def case(self) -> Case:
        """What the ladder climbs with."""
        subject = SUBJECTS[self.subject]
        label = f"{self.subject} {self.dtype} {self.size} of {self.level} {self.layout}"
        seed = zlib.crc32(label.encode()) % 1000
        shape = (REDUCED if subject.reduces == 0 else OTHER, self.extent)
        if subject.reduces == 1 and not self.extent and subject.op in NO_IDENTITY:
            shape = (0, OTHER)
        arrays = (
            laid_out(fill(self.dtype, math.prod(shape), seed + k).reshape(shape), self.layout)
            for k, fill in enumerate(subject.fills)
        )
        return Case(subject.function, tuple(arrays), label)


NO_IDENTITY = ("max", "min", "fmax", "fmin")
"""Reductions NumPy refuses on an empty axis: the other axis is empty instead."""


def laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """The same shape and, but for a broadcast, the same values, with other strides."""
    if layout == "strided":
        wide = np.zeros((array.shape[0], 2, 3 * array.shape[1] + 1), array.dtype)
        view = wide[:, 1, 1::3]
        view[...] = array
        return view
    if layout == "negative":
        return np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]
    if layout == "broadcast":
        return np.broadcast_to(array[:, :1] if array.shape[1] % 2 else array[:1], array.shape)
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    return array


def legal(subject: str, dtype: np.dtype) -> bool:
    """The operation takes this dtype."""
    return dtype in SUBJECTS[subject].dtypes


@functools.cache
def pairwise() -> tuple[Row, ...]:
    """Rows in which any two levels of any two factors meet; every operation meets every dtype."""
    factors = {
        "subject": list(SUBJECTS),
        "dtype": list(DTYPES),
        "size": SIZES,
        "layout": LAYOUTS,
        "level": list(WIDTHS),
    }
    return tuple(Row(**row) for row in cover(factors, legal))


def product() -> Iterator[Row]:
    """Every cell of the matrix; an extent that several levels share stands once."""
    for subject, dtype in itertools.product(SUBJECTS, DTYPES):
        if legal(subject, dtype):
            for layout in LAYOUTS:
                sizes = itertools.product(SIZES, WIDTHS)
                rows = (Row(subject, dtype, size, layout, level) for size, level in sizes)
                yield from {row.extent: row for row in rows}.values()
