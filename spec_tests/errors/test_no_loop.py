"""Operations NumPy itself has no loop for: subtraction of bools, for one."""

import numpy as np
import pytest

import stax_ref as stax

from .refusal import as_numpy, refused


def subtract(x):
    return x - x  # refused


def negative(x):
    return -x  # refused


@pytest.mark.parametrize("function", [subtract, negative])
def test_refused(function):
    bools = np.ones(3, np.bool_)
    error = refused(
        stax.DtypeError,
        function,
        bools,
        says=f"np.{function.__name__}",
        instead="convert the operands first",
    )
    as_numpy(error, function, bools)
