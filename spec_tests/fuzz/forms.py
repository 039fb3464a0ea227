"""Every kind of equation that programs are made of.

takes: the families
gives: ``FORMS`` of ordinary programs, ``WRITING`` of those that change arrays, ``ALL`` of both
holds: nothing
not here: the families themselves
"""

from __future__ import annotations

from . import indexing, pointwise, reducing, shaping, writing
from .pool import Form

FORMS: dict[str, Form] = {
    **pointwise.FORMS,
    **reducing.FORMS,
    **shaping.FORMS,
    **indexing.FORMS,
}

WRITING: dict[str, Form] = {**writing.FORMS, **writing.READERS}

ALL: dict[str, Form] = {**FORMS, **WRITING}
