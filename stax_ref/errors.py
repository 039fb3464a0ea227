"""Every exception Stax raises on purpose, and where in the user's code it happened.

::

    StaxError
    ├── TraceError (TypeError)       the function does something that a trace cannot follow
    │   ├── ValueDependent           a branch, loop or conversion needs a value not known yet
    │   └── UnsupportedOperation     NumPy has it, Stax does not
    ├── ShapeError (ValueError)      shapes or axes that NumPy refuses too
    │   ├── AxisError (IndexError)   an axis the array does not have, as NumPy's AxisError
    │   └── LinAlgError              a matrix that NumPy's linear algebra refuses, as NumPy's own
    ├── IndexingError (IndexError)   indices that NumPy refuses too
    ├── DtypeError (TypeError)       dtypes that NumPy refuses too, or that Stax does not carry
    ├── ConfigError (ValueError)     an option, variable or argument of Stax itself is wrong
    ├── InvariantError               a stage broke its own contract: a bug in Stax
    ├── FailedCall                   a kernel raised a flag; the caller repeats it with NumPy
    └── BackendError                 a backend cannot build or run the plan
        └── Unsupported              a backend refuses one operation of the plan

Takes a sentence about what is wrong, the place in the user's code and what to write instead; gives
one message with all three. Not here: Python warnings and NumPy's floating point errors.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

_OWN_DIRECTORY = os.path.dirname(os.path.abspath(__file__)) + os.sep


@dataclass(frozen=True, slots=True)
class Where:
    """A place in the user's code: file, line (from 1), function; equal to any other place."""

    file: str = field(compare=False)
    line: int = field(compare=False)
    function: str = field(compare=False)

    @property
    def text(self) -> str:
        """The source text of the line, stripped; empty when the source cannot be read."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def short(self) -> str:
        """File name without its folders, and the line: what stage texts print."""
        return f"{os.path.basename(self.file)}:{self.line}"


NOWHERE = Where("<unknown>", 0, "?")


def user_frame() -> tuple[Where, dict[str, object]]:
    """The innermost frame outside Stax and NumPy: its place and its local variables."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        module = frame.f_globals.get("__name__", "")
        inside = file.startswith(_OWN_DIRECTORY) or module.split(".")[0] == "numpy"
        if not inside and not file.startswith("<frozen"):
            return Where(file, frame.f_lineno, frame.f_code.co_name), frame.f_locals
        if frame.f_back is None:
            break
        frame = frame.f_back
    return NOWHERE, {}


def note(error: BaseException, text: str) -> None:
    """Add a line to an exception of NumPy's or the user's, where Python can (3.11)."""
    if text and hasattr(error, "add_note"):
        error.add_note(text)


def around(lines: Sequence[str], culprits: Collection[int], reach: int = 5) -> str:
    """The lines near the culprits, one below the other.

    Args:
        lines: a printed record, entry by entry.
        culprits: numbers of the entries at fault; they are marked with ``>``.
        reach: entries shown before and after each of them; what is left out shows as ``...``.
    """
    shown: list[str] = []
    for number, line in enumerate(lines):
        if any(abs(number - culprit) <= reach for culprit in culprits):
            shown.append(("> " if number in culprits else "  ") + line)
        elif not shown or shown[-1] != "  ...":
            shown.append("  ...")
    return "\n".join(shown)


class StaxError(Exception):
    """What is wrong, where in the user's code, and what to write instead.

    Args:
        what: one sentence.
        where: place in the user's code, if one is known.
        instead: what the user can write instead.
    """

    def __init__(self, what: str, where: Where | None = None, instead: str = "") -> None:
        self.what = what
        self.where = where
        self.instead = instead
        lines = [what]
        if where is not None and where is not NOWHERE:
            lines.append(f"  at {where} in {where.function}")
            if where.text:
                lines.append(f"      {where.text}")
        if instead:
            lines.append(f"  instead: {instead}")
        super().__init__("\n".join(lines))


class TraceError(StaxError, TypeError):
    """The function does something that a trace cannot follow."""


class ValueDependent(TraceError):
    """A branch, loop or conversion needs the value of an array that is not computed yet."""


class UnsupportedOperation(TraceError):
    """NumPy knows this operation, Stax does not."""


class ShapeError(StaxError, ValueError):
    """Shapes or axes that do not fit; NumPy refuses them too."""


class AxisError(ShapeError, IndexError):
    """An axis the array does not have."""


class LinAlgError(ShapeError, np.linalg.LinAlgError):
    """A shape that NumPy's linear algebra refuses."""


class IndexingError(StaxError, IndexError):
    """An index out of bounds or too many indices; NumPy refuses it too."""


class DtypeError(StaxError, TypeError):
    """A dtype that NumPy refuses for this operation, or that Stax does not carry."""


class ConfigError(StaxError, ValueError):
    """An option, environment variable or argument of Stax itself is wrong."""


class InvariantError(StaxError):
    """A stage broke its own contract. This is a bug in Stax, not in the user's code."""


class FailedCall(StaxError):
    """A kernel met an index out of range or the like; nothing was written to any input.

    Never reaches a user: the caller that knows the arguments repeats the call with plain NumPy,
    which raises its own exception (``staged.raise_as_numpy``).
    """


class BackendError(StaxError):
    """A backend cannot build or run the plan."""


class Unsupported(BackendError):
    """A backend refuses one operation of the plan, at emit time."""
