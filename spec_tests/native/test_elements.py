"""Elements of every dtype on their way between memory and registers, at every vector level.

takes: copies with every stride on either side, of every dtype, around every vector width
gives: a failure where an element is lost, changed, or written beside its place
holds: the layouts a kernel may meet: contiguous, strided, reversed, broadcast, digits, scattered
not here: what is computed in registers (``test_operations``)
"""

import numpy as np
import pytest

from spec_tests.native.kernels import kernel, mismatches, specials
from stax_ref.dtypes import SHORT

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33)

READS = {
    "contiguous": (lambda i, n: i + 2, lambda n: n + 3),
    "strided": (lambda i, n: 3 * i + 1, lambda n: 3 * n + 2),
    "reversed": (lambda i, n: -1 * i + (n + 1), lambda n: n + 4),
    "broadcast": (lambda i, n: 2, lambda n: 4),
    "digits": (lambda i, n: i // 3 + 1, lambda n: n // 3 + 3),
}
WRITES = {
    "contiguous": (lambda i, n: i + 3, lambda n: n + 40),
    "scattered": (lambda i, n: 2 * i + 1, lambda n: 2 * n + 40),
}


def copy(dtype, size, read, write):
    """The plan of a copy, its argument, and the elements it writes."""
    index, extent = READS[read]
    place, room = WRITES[write]
    source = np.resize(specials(dtype), extent(size))
    made = kernel(
        "",
        (dtype,),
        dtype,
        size,
        [lambda i: index(i, size)],
        lambda i: place(i, size),
        [source.size, room(size)],
    )
    inside = [place(k, size) for k in range(size)]
    label = f"{SHORT[dtype]} {read} to {write}, {size} elements"
    return made, [source], label, inside


@pytest.mark.parametrize("dtype", SHORT, ids=SHORT.values())
def test_copies(dtype):
    plain = [("contiguous", "contiguous", size) for size in SIZES]
    others = [(read, write) for read in READS for write in WRITES]
    others = [pair for pair in others[1:] if "contiguous" in pair]  # else no loop of vectors
    turns = [(*pair, size) for k, pair in enumerate(others) for size in SIZES[k % 3 :: 3]]
    batch = [copy(dtype, size, read, write) for read, write, size in plain + turns]
    found = mismatches(batch)
    assert not found, f"{len(found)} of {len(batch)}\n" + "\n".join(found[:40])
