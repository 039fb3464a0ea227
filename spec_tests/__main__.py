"""``python -m spec_tests --backend NAME``: the conformance suite for the author of a backend.

takes: the name of a backend, built in or of the entry-point group ``stax.backends``
gives: pytest's exit status; prints which groups ran, which did not and why, and the compiles
holds: which groups apply to which backend
not here: the tests
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

try:
    import pytest
except ModuleNotFoundError:
    raise SystemExit(
        "the conformance suite needs pytest: pip install 'stax-compiler[test]'"
    ) from None

from spec_tests import harness
from stax_ref.errors import StaxError

HERE = Path(__file__).parent
GROUPS = {
    "tiny": ("test_tiny.py", "a dozen end-to-end tests"),
    "spec": ("spec", "meaning: every operation, dtype, size, layout and special value"),
    "fuzz": ("fuzz", "random programs"),
    "bits": ("native/test_bits.py", "vector levels, threads, float environment, stores"),
    "native": ("native", "toolchain, cache and runtime of compiled code"),
}
ONLY_C = ("bits", "native")


def applicable(backend: str, tiny: bool) -> tuple[list[str], dict[str, str]]:
    """Names of the groups to run, and for each other group why it is left out."""
    left_out: dict[str, str] = {}
    for group in GROUPS:
        if tiny and group != "tiny":
            left_out[group] = "--tiny"
        elif group in ONLY_C and backend != "c":
            left_out[group] = "tests the C backend and its runtime"
        elif group == "bits" and backend == "c":
            left_out[group] = "is part of native"
    return [group for group in GROUPS if group not in left_out], left_out


def main(argv: Sequence[str] | None = None) -> int:
    """Run the suite; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m spec_tests", description=__doc__)
    parser.add_argument("--backend", default="c", help="the backend on trial (c)")
    parser.add_argument("--tiny", action="store_true", help="a dozen tests in a few seconds")
    options, rest = parser.parse_known_args(argv)
    os.environ["STAX_TEST_BACKEND"] = options.backend
    if options.backend != "ref":
        from stax_native import backend

        try:
            backend.find(options.backend)
        except StaxError as error:
            parser.error(str(error))
    groups, left_out = applicable(options.backend, options.tiny)
    print(f"conformance of the backend {options.backend!r}")
    for group in groups:
        print(f"  runs     {group}: {GROUPS[group][1]}")
    for group, reason in left_out.items():
        print(f"  left out {group}: {reason}")
    sys.stdout.flush()
    paths = [str(HERE / GROUPS[group][0]) for group in groups]
    flags = ["-q", "-rs", "-p", "no:cacheprovider"]
    return int(pytest.main([*paths, *flags, *rest], plugins=[harness]))


if __name__ == "__main__":
    sys.exit(main())
