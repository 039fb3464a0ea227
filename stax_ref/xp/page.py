"""docs/array-api.md, printed from the table.

Takes nothing; gives the page's text. ``python -m stax_ref.xp.page`` writes it; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .table import DELEGATED, EXTERNAL, FUNCTIONS, LIMITS, NATIVE

FILE = Path(__file__).resolve().parents[2] / "docs" / "array-api.md"

_HEAD = """# The array API namespace

<!-- printed by `python -m stax_ref.xp.page`; a test compares -->

`stax_ref.xp` is the namespace of the Python array API standard, version 2024.12 (with
`broadcast_shapes` and `isin` of 2025.12), over NumPy arrays. Of its {total} functions {native} are
tiny jitted programs, compiled once per kind of arguments and run by the backend in force; the
others are NumPy's own, listed below with the reason. Inside `stax.jit` all of them are part of the
traced function, so that `xp.sum(xp.exp(x))` fuses.

* A call on a dtype Stax does not carry (complex) is NumPy's, whatever the function.
* Results are arrays that alias nothing; 0-d results are 0-d arrays.
* `xp.sum.program` is the jitted function behind `xp.sum`, with `explain` and `check`.
* `xp.__native__` is the set of the first, `xp.__delegated__` maps each of the others to its reason.
"""


def text() -> str:
    """The whole page."""
    parts = [_HEAD.format(total=len(FUNCTIONS), native=len(NATIVE))]
    parts.append(
        "\n## Jitted programs\n\n" + _names(n for n in FUNCTIONS if n in NATIVE - EXTERNAL)
    )
    parts.append("\nWith a call of NumPy's own routine inside the program (an external node):\n\n")
    parts.append(_names(n for n in FUNCTIONS if n in EXTERNAL))
    parts.append("\n## NumPy's own\n\n| why | functions |\n|---|---|\n")
    for reason in dict.fromkeys(DELEGATED.values()):
        names = _names(n for n in FUNCTIONS if DELEGATED.get(n) == reason)
        parts.append(f"| {reason} | {names.strip()} |\n")
    parts.append("\n## Calls of native functions that NumPy answers\n\n")
    parts += [f"* `{name}`: {when}\n" for name, when in LIMITS.items() if name in NATIVE]
    return "".join(parts)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
