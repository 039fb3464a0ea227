"""What each NumPy function becomes: equations of the graph.

One file per family; ``namespace`` is the table of them all. Not here: recording (``tracer``), loops
(``lower``).
"""
