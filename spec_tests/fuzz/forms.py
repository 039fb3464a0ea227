"""Every kind of equation that programs are made of.

takes: the families
gives: ``FORMS``
holds: nothing
not here: the families themselves
"""

from __future__ import annotations

from . import indexing, pointwise, reducing, shaping
from .pool import Form

FORMS: dict[str, Form] = {
    **pointwise.FORMS,
    **reducing.FORMS,
    **shaping.FORMS,
    **indexing.FORMS,
}
