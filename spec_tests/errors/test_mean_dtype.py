"""The mean or variance in an integer dtype."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import floats, refused


def mean(x):
    return np.mean(x, dtype=np.int64)  # refused


def var(x):
    return x.var(axis=0, dtype=np.int32)  # refused


def std(x):
    return np.std(x, dtype=bool)  # refused


@pytest.mark.parametrize("function", [mean, var, std])
def test_refused(function):
    refused(
        stax.DtypeError,
        function,
        floats(3),
        says=f"np.{function.__name__} with dtype=",
        instead="a float dtype, then .astype",
    )
