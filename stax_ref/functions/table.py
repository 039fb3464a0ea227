"""The one table of NumPy's names: supported natively, through a call of NumPy, or refused.

Takes the tables of the families; gives one :class:`Entry` per public function of ``numpy``,
``numpy.linalg`` and ``numpy.fft`` and per array method, and its text for the documentation. It
stands here and not in ``ops``, which knows nothing of the front end; ``ops.OPS`` is the table of
what the native ones are made of. Not here: what a call becomes (the families).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from .. import intercept
from . import assign, contractions, einsum, externs, namespace, refused
from .ufuncs import UFUNCS

NATIVE, EXTERN, KNOWN, REFUSED = "native", "extern", "known", "refused"

HOW = {
    NATIVE: "loops of the program's own kernels",
    EXTERN: "a call of NumPy inside the plan, which `explain` shows",
    KNOWN: "computed by NumPy while the function is traced: it takes no traced array",
    REFUSED: "an error with the reason and the way out",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One name of NumPy.

    Args:
        name: ``np.linalg.norm``, ``ndarray.sum``.
        how: one of :data:`HOW`.
        note: why it is refused, or what is special.
        instead: the way out of a refusal.
    """

    name: str
    how: str
    note: str = ""
    instead: str = ""

    def __str__(self) -> str:
        tail = f": {self.note}" if self.note else ""
        way = f"; instead: {self.instead}" if self.instead else ""
        return f"{self.name}  {self.how}{tail}{way}"


def public(module: ModuleType, prefix: str) -> Iterator[tuple[str, Any]]:
    """Name and function of everything callable that a module of NumPy offers, classes left out."""
    for name in sorted(dir(module)):
        if name.startswith("_") or name in ("test", "row_stack"):  # row_stack warns when looked at
            continue
        thing = getattr(module, name)
        if callable(thing) and not isinstance(thing, type):
            yield f"{prefix}.{name}", thing


def functions() -> dict[str, Entry]:
    """Every function of ``numpy``, ``numpy.linalg`` and ``numpy.fft``.

    Raises:
        LookupError: NumPy has one that no table knows.
    """
    modules = ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft"))
    named = (pair for module, prefix in modules for pair in public(module, prefix))
    return {name: _entry(name, function) for name, function in named}


def _entry(name: str, function: Any) -> Entry:
    if isinstance(function, np.ufunc):
        how, note = UFUNCS[function.__name__]
        return Entry(name, how, note)
    if function in refused.REFUSED:
        return Entry(name, REFUSED, *refused.REFUSED[function])
    if function in externs.FUNCTIONS or function in assign.BY_CALL:
        return Entry(name, EXTERN)
    if function in contractions.FUNCTIONS or function in einsum.FUNCTIONS:
        return Entry(name, EXTERN, "products of arrays through BLAS, the rest native")
    if function in namespace.FUNCTIONS or function in assign.FUNCTIONS:
        return Entry(name, NATIVE)
    short = name.rpartition(".")[2]
    if short in (*intercept.MAKERS, *intercept.CONVERTERS):
        return Entry(name, NATIVE, "known while tracing; part of the program where it is used")
    if short in UNDISPATCHED:
        return Entry(name, KNOWN)
    raise LookupError(f"{name} stands in no table")


UNDISPATCHED = frozenset(
    """
    asarray_chkfinite asmatrix bartlett base_repr binary_repr blackman bmat broadcast_shapes
    datetime_data diag_indices fftfreq format_float_positional format_float_scientific from_dlpack
    frombuffer fromfile fromfunction fromiter frompyfunc fromregex fromstring genfromtxt
    get_include get_printoptions getbufsize geterr geterrcall hamming hanning info isdtype
    isfortran isscalar issubdtype iterable kaiser load loadtxt mask_indices mintypecode
    nested_iters printoptions promote_types require rfftfreq set_printoptions setbufsize seterr
    seterrcall show_config show_runtime tril_indices triu_indices typename
    """.split()
)
"""Functions that NumPy never hands to another library's arrays."""


def methods() -> dict[str, Entry]:
    """Every method and attribute of an array.

    Raises:
        LookupError: NumPy has one that no table knows.
    """
    names = (name for name in dir(np.ndarray) if not name.startswith("_"))
    return {f"ndarray.{name}": _method(name) for name in names}


ATTRIBUTES = frozenset(
    "T device dtype imag itemsize mT nbytes ndim real shape size to_device".split()
)
OF_KNOWN = frozenset(("item", "tolist"))


def _method(name: str) -> Entry:
    full = f"ndarray.{name}"
    if name in externs.METHODS_OF_FAMILY or name in ("sort", "partition"):
        return Entry(full, EXTERN)
    if name in contractions.METHODS_OF_FAMILY:
        return Entry(full, EXTERN, "products of arrays through BLAS, the rest native")
    if name in namespace.METHODS or name in ATTRIBUTES:
        return Entry(full, NATIVE)
    if name in refused.METHODS:
        return Entry(full, REFUSED, *refused.METHODS[name])
    if name in OF_KNOWN:
        why = "the value is not known while tracing, except of arrays made inside the function"
        return Entry(full, REFUSED, why, "keep it an array and convert after the call")
    raise LookupError(f"{full} stands in no table")


def text() -> str:
    """The whole table as Markdown."""
    lines = [
        "# What of NumPy is supported",
        "",
        "Written from the tables of the compiler; a test holds this page to them and the tables to",
        "NumPy: every function of `numpy`, `numpy.linalg` and `numpy.fft` and every array method",
        "stands here.",
        "",
        *(f"* **{how}**: {meaning}." for how, meaning in HOW.items()),
    ]
    for title, entries in (("Functions", functions()), ("Array methods", methods())):
        lines += ["", f"## {title}"]
        for how in HOW:
            found = [entry for entry in entries.values() if entry.how == how]
            if not found:
                continue
            lines += ["", f"### {how.capitalize()} ({len(found)})", ""]
            if how == REFUSED:
                lines += ["| name | reason | instead |", "|---|---|---|"]
                lines += [f"| `{e.name}` | {e.note} | {e.instead} |" for e in found]
            else:
                lines.append(", ".join(f"`{e.name}`" for e in found))
    return "\n".join(lines) + "\n"
