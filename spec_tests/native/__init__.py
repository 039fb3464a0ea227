"""The native runtime: toolchain, cache, and what runs a plan."""
