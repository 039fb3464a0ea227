"""Special values of every elementwise function: NumPy's results, signs of zeros included.

takes: infinities, NaN, both zeros, subnormal and largest numbers, small integers and halves, for
    two arguments every pair of them
gives: a failure where Stax's program and NumPy's expression differ
holds: the one exemption: which zero maximum, minimum and clip return (NumPy's depends on position)
not here: ordinary values (``test_values``)
"""

import numpy as np
import pytest

import stax_ref as stax
from spec_tests.xp import inputs
from spec_tests.xp.judge import allowed, function, near
from stax_ref import xp
from stax_ref.xp.table import NATIVE

ELEMENTWISE = [
    name
    for name in inputs.ARGUMENTS
    if hasattr(xp.elementwise, name) and "float32" in inputs.DTYPES[name] and name in NATIVE
]
EITHER_ZERO = {"maximum", "minimum", "clip"}


def special(dtype: str) -> np.ndarray:
    info = np.finfo(dtype)
    positive = [
        *(0.0, info.smallest_subnormal, info.tiny, info.eps, 0.5, 1 - info.epsneg, 1.0),
        *(1 + info.eps, 1.5, np.pi / 4, 2.0, np.pi, 2.5, 3.0, 4.0, 88.0, 1e9, 2.0**52),
        *(info.max, np.inf, np.nan),
    ]
    return np.asarray([*positive, *(-v for v in positive)], dtype)


@pytest.mark.parametrize("backend", ["ref", "c"])
@pytest.mark.parametrize("dtype", inputs.FLOATS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_special_values_are_numpys(name, dtype, backend):
    x = special(dtype)
    run = function(xp, name)
    binary = inputs.ARGUMENTS[name] in (inputs.binary, inputs.power)
    operands = (x[:, None], x[None, :]) if binary else (x,)
    with np.errstate(all="ignore"), stax.configured(backend=backend):
        expected, actual = run.__wrapped__(*operands), run(*operands)
    assert actual.dtype == expected.dtype
    near(actual, expected, allowed(name, operands, expected))
    if expected.dtype.kind == "f" and name not in EITHER_ZERO:
        zeros = expected == 0
        np.testing.assert_array_equal(np.signbit(actual[zeros]), np.signbit(expected[zeros]))
