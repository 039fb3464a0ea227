"""Sliding windows: overlapping views, alone and under reductions.

takes: windows of one and several axes, longer and shorter than a vector
gives: a failure where a rung differs
holds: nothing
not here: other views (test_view), windows that are refused (spec_tests.errors)
"""

import numpy as np
import pytest

from spec_tests.harness import Case, check_all

from .values import ALL, laid_out, ordinary

windows = np.lib.stride_tricks.sliding_window_view


@pytest.mark.parametrize("dtype", ALL)
def test_windows_of_every_dtype(dtype):
    x, y = ordinary(dtype, 37), ordinary(dtype, 6, 19)
    check_all(
        [
            *(Case(lambda x, n=n: windows(x, n), (x,)) for n in (1, 3, 16, 17, 37)),
            Case(lambda x: windows(x, 4)[::2, ::-1], (x,)),
            Case(lambda x: windows(x + x, 5).max(-1), (x,)),
            Case(lambda x: windows(x, (3, 4)), (y,)),
            Case(lambda x: windows(x, 2, axis=-1).T, (y,)),
            Case(lambda x: windows(x, (2, 3), axis=(0, 0)), (y,)),
            Case(lambda x: windows(x, (2, 2)).sum((2, 3)), (laid_out("strided", dtype, (6, 19)),)),
            Case(lambda x: windows(windows(x, 3), 2, axis=0), (x,)),
            Case(lambda x: windows(x[:0], 0), (x,)),
        ]
    )
