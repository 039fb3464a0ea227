"""Host runtime shared by the native backends. Nothing is imported here.

``toolchain`` finds and runs the C compiler, ``cache`` keeps the libraries it makes, ``runtime``
(Cython) loads them, checks arguments, holds memory and runs a plan. ``files`` says which files may
be believed. ``include`` holds the C headers of generated code.
"""
