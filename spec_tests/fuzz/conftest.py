"""A kernel cache of their own for these tests, and what the ladder did at the end of a session.

takes: ``spec_tests.harness``
gives: pytest's hook and a fixture that every test here uses
holds: nothing
not here: anything about programs
"""

from spec_tests.harness import own_cache, pytest_terminal_summary

__all__ = ["own_cache", "pytest_terminal_summary"]
