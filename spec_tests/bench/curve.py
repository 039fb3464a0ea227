"""curve: seconds of the stages depend to plan as programs grow, as a table and a picture.

    python -m spec_tests.bench.curve [--out docs/scheduling.svg] [--schedule default]

takes: numbers of nodes
gives: median seconds per shape and size, the exponent of their growth, an SVG file
holds: nothing else runs while it measures, which is the caller's promise
not here: the programs (``shapes``), the drawing (``chart``)
"""

import argparse
import math
import statistics
import sys
import time

from stax_ref.compile import STAGES
from stax_ref.config import Config

from .chart import line_chart
from .shapes import KINDS, graph_of, shape

SIZES = (100, 200, 500, 1000, 2000, 3000)
REPEATS = 3


def seconds(kind: str, count: int, config: Config) -> float:
    """Seconds of all stages after lowering, once."""
    lowered = shape(kind, count)
    made = {"trace": graph_of(lowered), "lower": lowered}
    start = time.perf_counter()
    for word, stage in STAGES[1:]:
        made[word] = stage(made, config)
    return time.perf_counter() - start


def curve(kind: str, config: Config, sizes=SIZES) -> list[tuple[float, float]]:
    """(nodes, median seconds) per size."""
    found = []
    for count in sizes:
        taken = [seconds(kind, count, config) for _ in range(REPEATS)]
        found.append((float(count), statistics.median(taken)))
        print(f"{kind:10} {count:5} nodes {found[-1][1]:8.3f} s", flush=True)
    return found


def exponent(points: list[tuple[float, float]]) -> float:
    """k of time ~ n^k between the first and the last point."""
    (n0, t0), (n1, t1) = points[0], points[-1]
    return math.log(t1 / t0) / math.log(n1 / n0)


def main(arguments: list[str]) -> int:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(prog="python -m spec_tests.bench.curve")
    parser.add_argument("--out", default="scheduling.svg", help="the picture")
    parser.add_argument("--schedule", default="default", choices=["default", "seed"])
    options = parser.parse_args(arguments)
    config = Config(schedule=options.schedule)
    seconds("random", 100, config)  # imports and caches are not measured
    series = {kind: curve(kind, config) for kind in KINDS}
    for kind, points in series.items():
        print(f"{kind:10} grows as n^{exponent(points):.2f}")
    line_chart(
        series, "From dependences to the plan", "nodes", "seconds, depend to plan", options.out
    )
    print(f"wrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
