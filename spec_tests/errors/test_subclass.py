"""Array subclasses whose operations mean something else than an ndarray's."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import refused


def square(x):
    return x * x


@pytest.mark.parametrize(
    "value",
    [np.ma.masked_array([1.0, 2.0], [True, False]), np.ones(2).view(np.recarray)],
    ids=["masked", "recarray"],
)
def test_refused(value):
    refused(
        stax.DtypeError,
        square,
        value,
        says=f"the argument x is a {type(value).__name__}",
        instead="np.asarray of it",
    )


def test_a_memory_map_is_an_array(tmp_path):
    array = np.memmap(tmp_path / "weights", np.float32, "w+", shape=(3,))
    array[:] = 3
    np.testing.assert_array_equal(stax.jit(square, backend="ref")(array), 9)
