"""The meaning of every operation, on every backend."""
