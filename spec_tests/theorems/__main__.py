"""``python -m spec_tests.theorems``: the scheduler's distance from the optimum, with progress.

takes: how many problems of each size
gives: the table of ``docs/yardsticks.md`` for them, and the problems on which a schedule is worst;
    exit status 1 when the default is further from the optimum than promised
holds: the command line
not here: the measurement (``yardsticks``)
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from spec_tests.theorems import yardsticks
from spec_tests.theorems.generator import random_problem


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m spec_tests.theorems", description=__doc__)
    for nodes, count in yardsticks.FULL.items():
        parser.add_argument(
            f"--of-{nodes}", type=int, default=count, help=f"problems of {nodes} nodes ({count})"
        )
    parser.add_argument("--first", type=int, default=0, help="number of the first problem (0)")
    parser.add_argument("--worst", action="store_true", help="print the worst problem of each kind")
    options = parser.parse_args(argv)
    rows = {}
    for nodes in yardsticks.FULL:
        count, start = getattr(options, f"of_{nodes}"), time.monotonic()

        def tell(done: int, nodes: int = nodes, count: int = count, start: float = start) -> None:
            seconds = time.monotonic() - start
            print(f"\r{nodes} nodes: {done}/{count} problems, {seconds:.0f} s", end="", flush=True)

        if count:
            numbers = range(options.first, options.first + count)
            rows[nodes] = yardsticks.measured(nodes, numbers, tell)
            print()
    print(yardsticks.text(rows))
    for nodes, found in rows.items() if options.worst else ():
        for what in ("bytes", "peak"):
            for schedule in yardsticks.SCHEDULES:
                worst = max(found, key=lambda row: getattr(row, what)[schedule])
                ratio = getattr(worst, what)[schedule]
                print(f"{what}, {schedule}: {ratio:.3f} on problem {worst.number} of {nodes} nodes")
                print(random_problem(worst.number, nodes), end="\n\n")
    broken = [sentence for found in rows.values() for sentence in yardsticks.broken(found)]
    print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
