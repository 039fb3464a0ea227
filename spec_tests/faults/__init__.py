"""Faults put into the compiler from outside: what catches each, and that nothing else does.

A fault lives in a test that patches a function or edits a generated text; product code has no
switch for it. Every test shows three things: without the fault all groups of checks agree, with it
the named group objects, and with that group left out nobody does.
"""
