"""page: one program as a page of HTML that needs nothing beside itself.

``markup`` writes elements, ``layout`` places boxes in layers, ``drawing`` draws the graph before
and after fusion, ``timeline`` the memory; ``measure`` runs the clock, ``gather`` collects what is
known of a function, ``document`` puts all of it on a page in the ``style``. Nothing here decides
anything about a program.
"""
