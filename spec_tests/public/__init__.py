"""Inputs that broke other compilers, as NumPy programs with the value NumPy gives.

``cases`` runs one program everywhere; each ``test_*`` file is one kind of mistake. The number in a
test's docstring is that of the public report (pytorch/pytorch); *own* marks a neighbour of one.
"""
