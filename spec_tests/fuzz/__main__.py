"""``python -m spec_tests.fuzz --seed N --count M``: random programs, progress, small failures.

takes: a seed, a number of programs, perhaps the name of a backend
gives: exit status 0 when every program climbed the whole ladder, 1 otherwise
holds: the command line
not here: anything else
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from spec_tests import harness

from .forms import FORMS, WRITING
from .run import BATCH, coverage, failures, refused


def main(argv: Sequence[str] | None = None) -> int:
    """Run; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m spec_tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the whole run (0)")
    parser.add_argument("--count", type=int, default=500, help="number of programs (500)")
    parser.add_argument("--first", type=int, default=0, help="number of the first program (0)")
    parser.add_argument("--backend", default="c", help="the backend on trial (c)")
    parser.add_argument("--writes", action="store_true", help="programs that change arrays")
    options = parser.parse_args(argv)
    os.environ["STAX_TEST_BACKEND"] = options.backend
    start, failed = time.monotonic(), 0
    stop = options.first + options.count
    for first in range(options.first, stop, BATCH):
        numbers = range(first, min(first + BATCH, stop))
        turn = first // BATCH if options.writes else None  # one vector level in turn
        for failure in failures(options.seed, numbers, writes=options.writes, turn=turn):
            failed += 1
            print(f"\n{failure}")
        seconds = time.monotonic() - start
        done = numbers[-1] + 1 - options.first
        print(f"\r{done}/{options.count} programs, {failed} failed, {seconds:.0f} s", end="")
        sys.stdout.flush()
    print()
    counts = coverage(options.seed, range(options.first, stop), options.writes)
    forms = WRITING if options.writes else FORMS
    print("operations: " + ", ".join(f"{op} {counts[op]}" for op in forms))
    print(f"{len(refused)} refused, as their meaning hangs on a layout in memory")
    print("\n".join(harness.summary_lines()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
