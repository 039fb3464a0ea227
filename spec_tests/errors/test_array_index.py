"""An index that is no integer: an array of floats, a string."""

import numpy as np
import pytest

from stax_ref import errors

from .refusal import floats, refused


def of_floats(x, k):
    return x[k]  # refused


def named(x, k):
    return x["first"] + k  # refused


@pytest.mark.parametrize(("function", "kind"), [(of_floats, "an array of float32"), (named, "str")])
def test_refused(function, kind):
    refused(
        errors.IndexingError,
        function,
        floats(3),
        np.ones(3, np.float32),
        says=f"are valid indices, not {kind}",
        instead=".astype(np.int64)",
    )
