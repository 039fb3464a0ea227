"""What the ladder did, printed at the end of a session.

takes: the counters of ``spec_tests.harness``
gives: pytest's hook
holds: nothing
not here: the rows
"""

from spec_tests.harness import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]
