"""measure: the seconds of a call, several times, as a median with its spread.

Takes calls; gives ``Times``. Holds how often: batches long enough for the clock, until enough of
them or enough seconds. Not here: what is compared (``Jitted.report``), how it is shown
(``document``).
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

import numpy as np

BATCHES = 15
BATCH_SECONDS = 0.002
ALL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one call in each of several batches."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle of them."""
        return median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The quartiles: half of the batches lie between them."""
        if len(self.seconds) < 2:
            return self.median, self.median
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return low, high


def measure(call: Callable[..., Any], fresh: Callable[[], Any] | None = None) -> Times:
    """Time a call.

    Args:
        call: what is timed; it has been called before, so that nothing is compiled now.
        fresh: makes what it is called with, once per call and outside the clock; for calls that
            change their arguments.

    Returns:
        between 3 and ``BATCHES`` batches.
    """
    count, found = 1, []  # type: int, list[float]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if fresh is None:
            count = max(1, int(BATCH_SECONDS / max(_seconds(call, 1), 1e-9)))
        begin = time.perf_counter()
        while len(found) < BATCHES:
            if len(found) >= 3 and time.perf_counter() - begin > ALL_SECONDS:
                break
            if fresh is None:
                found.append(_seconds(call, count) / count)
            else:
                given = fresh()
                found.append(_seconds(functools.partial(call, given), 1))
    return Times(tuple(found))


def _seconds(call: Callable[[], Any], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start


def time_text(seconds: float) -> str:
    """``12.3 µs``, ``4.56 ms``, ``1.20 s``: three digits."""
    unit, scale = next(
        (pair for pair in (("s", 1.0), ("ms", 1e3)) if seconds * pair[1] >= 1), ("µs", 1e6)
    )
    amount = seconds * scale
    return f"{amount:.{max(0, 3 - len(str(int(amount))))}f} {unit}"
