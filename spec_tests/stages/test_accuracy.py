"""docs/accuracy.md says what is stated and what NumPy's own data measure.

takes: the stated errors, and what spec/test_umath_data measures
gives: a failure where the page says something else
holds: the page is written by ``--update-golden``; its numbers are for one version of the C library,
    with another one only what is stated can be compared
not here: the measurement
"""

import platform
from pathlib import Path

from spec_tests.spec.test_umath_data import NAMES, measured
from stax_ref import elementary, functionbounds, libm
from stax_ref.dtypes import F16, F32, F64

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
STATED = sorted({*libm.SYMBOLS, *(name for name, _ in elementary.ULP)})

HEAD = """# Accuracy of functions

exp, log and tanh are sequences of Stax's own; every other function is the C library's function of
doubles, rounded once. *Stated* is the largest error in units in the last place that the bounds of
the ladder assume, *measured* the largest distance in floats from the correctly rounded result over
NumPy's own validation data. A dash: NumPy has no data. The oracle and every backend give the same
bits. The page is written by `pytest spec_tests/stages/test_accuracy.py --update-golden`.

"""


def library():
    """The C library whose functions were measured."""
    return " ".join(platform.libc_ver()) or platform.system()


def page():
    """The text of docs/accuracy.md."""
    lines = [
        f"Measured with {library()}.",
        "",
        "| function | float16 stated | float32 stated | measured | float64 stated | measured |",
        "|---|---|---|---|---|---|",
    ]
    for name in STATED:
        half, single, double = (functionbounds.planned_ulp(name, d) for d in (F16, F32, F64))
        found = [str(measured(name, d)) if name in NAMES else "–" for d in (F32, F64)]
        cells = [name, f"{half:.4f}", f"{single:.4f}", found[0], f"{double:g}", found[1]]
        lines.append("| " + " | ".join(cells) + " |")
    return HEAD + "\n".join(lines) + "\n"


def test_the_page_says_what_is_measured(update_golden):
    text = page()
    if update_golden:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    kept = PAGE.read_text(encoding="utf-8")
    if f"Measured with {library()}." in kept:
        assert kept == text
    else:  # another library: the same functions with the same stated errors
        assert stated(kept) == stated(text)


def stated(text):
    """The columns that do not depend on the C library."""
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [row[:3] + row[4:5] for row in rows]


def test_a_page_of_another_library_is_compared_in_what_is_stated():
    other = page().replace(f"with {library()}.", "with another.").replace(" | 0 |", " | 1 |")
    assert other != page()
    assert stated(other) == stated(page())
    assert stated(page().replace("| 0.5001 |", "| 0.6 |")) != stated(page())
