"""Random typed programs against the whole ladder: ``python -m spec_tests.fuzz --seed N --count M``.

With ``--writes``: programs that change arrays, through views and in arguments too.

``programs`` a program as data and as Python text; ``generate`` makes one from a seed; ``shrink``
makes a failing one small; ``run`` climbs the ladder with many.
"""
