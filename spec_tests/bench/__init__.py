"""Figures, by pytest-benchmark: ``pytest -m bench spec_tests/bench``. No time is asserted."""
