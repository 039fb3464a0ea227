"""Windows that do not fit, that would be written, or that are laid over memory by hand.

takes: bad windows
gives: ShapeError as NumPy's ValueError, UnsupportedOperation
holds: nothing
not here: windows that work (spec_tests.spec)
"""

import numpy as np

from stax_ref.errors import ShapeError, UnsupportedOperation

from .refusal import as_numpy, floats, refused

tricks = np.lib.stride_tricks


def too_long(x):
    return tricks.sliding_window_view(x, 6)  # refused


def writeable(x):
    return tricks.sliding_window_view(x, 2, writeable=True)  # refused


def strides(x):
    return tricks.as_strided(x, (2, 2), (4, 4))  # refused


def test_a_window_longer_than_the_array():
    error = refused(ShapeError, too_long, floats(5), says="window shape", instead="fit")
    as_numpy(error, too_long, floats(5))


def test_windows_that_would_be_written():
    refused(UnsupportedOperation, writeable, floats(5), says="overlap", instead="compute")


def test_strides_by_hand():
    says, instead = "a traced array has none", "sliding_window_view"
    refused(UnsupportedOperation, strides, floats(5), says=says, instead=instead)
