"""Refusals, one a file: what is wrong, where in the user's code, and what to write instead."""
