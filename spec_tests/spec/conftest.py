"""Prints at the end of a session what the ladder did; see ``spec_tests.harness``.

takes: the counters of the harness
gives: pytest's hook
holds: nothing
not here: fixtures; the tests of this folder call the harness
"""

from spec_tests.harness import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]
