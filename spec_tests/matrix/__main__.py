"""``python -m spec_tests.matrix``: the full product, with progress; hours on two cores.

takes: which part of the rows
gives: exit status 0 when every row climbed the whole ladder, 1 otherwise
holds: the command line
not here: the rows
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Sequence

from spec_tests import harness

from .rows import product


def main(argv: Sequence[str] | None = None) -> int:
    """Run; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m spec_tests.matrix", description=__doc__)
    parser.add_argument("--part", default="1/1", help="k/n: every n-th row, from the k-th (1/1)")
    options = parser.parse_args(argv)
    part, parts = map(int, options.part.split("/"))
    rows = list(itertools.islice(product(), part - 1, None, parts))
    start, failed = time.monotonic(), 0
    for first in range(0, len(rows), harness.UNIT):
        batch = rows[first : first + harness.UNIT]
        for case, message in harness.failures_of([row.case() for row in batch]):
            failed += 1
            print(f"\n{case}\n    {message}")
        done, seconds = first + len(batch), time.monotonic() - start
        print(f"\r{done}/{len(rows)} rows, {failed} failed, {seconds:.0f} s", end="", flush=True)
    print()
    print("\n".join(harness.summary_lines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
