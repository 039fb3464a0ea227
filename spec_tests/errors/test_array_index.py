"""An array of integers as an index."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused

ORDER = np.array([2, 0, 1])


def traced(x, k):
    return x[k]  # refused


def captured(x, k):
    return x[ORDER] + k  # refused


def listed(x, k):
    return x[[0, 2]] + k  # refused


@pytest.mark.parametrize(
    ("function", "kind"), [(traced, "traced array"), (captured, "ndarray"), (listed, "list")]
)
def test_refused(function, kind):
    refused(
        stax.UnsupportedOperation,
        function,
        floats(3),
        np.array([0, 1, 1]),
        says=f"indexing with a {kind} is not supported",
        instead="integers, slices, None and ...",
    )
