"""A public call against NumPy, within a tolerance: for what BLAS and LAPACK compute.

takes: a function and arguments
gives: a failure where values, dtypes or shapes differ
holds: the tolerances of results that nobody promises bits for
not here: the ladder, which compares bits (harness)
"""

import numpy as np

import stax_ref as stax
from spec_tests.harness import backend_name

TOLERANCE = {np.dtype(np.float16): 1e-2, np.dtype(np.float32): 1e-3}


def leaves(result):
    """Results in a row, whatever tuple NumPy put them in."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def as_numpy_does(function, *arguments, backend=None):
    """The public call gives NumPy's values, dtypes and shapes; native code is forced.

    ``backend="ref"`` asks the interpreter, which costs no compilation: for programs that climb the
    ladder in a batch as well.
    """
    with np.errstate(all="ignore"):
        expected = leaves(function(*arguments))
    got = leaves(stax.jit(function, backend=backend or backend_name())(*arguments))
    for one, other in zip(got, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        tolerance = TOLERANCE.get(one.dtype, 1e-9 if one.dtype.kind == "f" else 0)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
