"""Every scalar operation and reduction in every dtype it takes, around the vector widths.

``pairs`` chooses few rows that hold every pair of levels; ``subjects`` says what is computed and on
which values; ``rows`` lays a row's arguments out and makes a case of it. CI climbs with the rows of
the pairwise cover; ``python -m spec_tests.matrix`` climbs with the full product.
"""
