"""The report page of the demonstration: one HTML file with its pictures inside.

takes: the photograph as PNG bytes and the outcomes of the pipelines
gives: the text of a page that needs no other file and no network
holds: numbers come from the outcomes; nothing is judged here
not here: what counts as a failure (run.py)
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spec_tests.demo.run import Outcome

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em;
       color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0 } caption { text-align: left }
th, td { border-bottom: 1px solid #ccc; padding: .3em .9em .3em 0; text-align: right }
th:first-child, td:first-child { text-align: left }
figure { display: inline-block; margin: 0 1em 1em 0; vertical-align: top }
img { max-width: 36em; width: 100% } figcaption { color: #555 }
pre { background: #f4f4f4; overflow: auto; padding: 1em; max-height: 32em; font-size: 13px }
.failed { color: #b00020; font-weight: bold }
"""

INTRODUCTION = (
    "Each pipeline is a plain NumPy function. Times are the best of several calls; the oracle is "
    "the interpreter that defines what the compiled C must compute."
)

COLUMNS = (
    "pipeline",
    "kernels before",
    "after",
    "NumPy ms",
    "oracle ms",
    "C ms",
    "NumPy / C",
    "C against oracle",
    "largest distance from NumPy",
    "stated",
)


def html(photograph: bytes, outcomes: Sequence[Outcome]) -> str:
    """The whole page. `photograph` is a PNG file."""
    head = "".join(f"<th>{column}</th>" for column in COLUMNS)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><title>Stax: demonstration</title>',
            f"<style>{STYLE}</style></head><body>",
            "<h1>Stax: three image pipelines</h1>",
            f"<p>{INTRODUCTION}</p>",
            f"<table><tr>{head}</tr>",
            *(_row(outcome) for outcome in outcomes),
            "</table>",
            _figure(photograph, "the photograph"),
            *(_section(outcome) for outcome in outcomes),
            "</body></html>",
            "",
        ]
    )


def _row(outcome: Outcome) -> str:
    o = outcome
    cells = [
        o.pipeline.title,
        str(o.nodes),
        str(o.kernels),
        f"{o.numpy_time * 1e3:.2f}",
        f"{o.oracle_time * 1e3:.1f}",
        f"{o.c_time * 1e3:.2f}",
        f"{o.numpy_time / o.c_time:.1f}",
        "equal bits" if not o.unequal else f"{o.unequal} elements differ",
        f"{o.difference:.2g}",
        f"{o.stated:.2g}",
    ]
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _section(outcome: Outcome) -> str:
    failures = "".join(f'<p class="failed">{escape(text)}</p>' for text in outcome.failures)
    figures = [_figure(png, _caption(name, outcome)) for name, png in outcome.pictures.items()]
    texts = [
        f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
        for title, text in outcome.texts.items()
    ]
    return "\n".join([f"<h2>{escape(outcome.pipeline.title)}</h2>", failures, *figures, *texts])


def _caption(name: str, outcome: Outcome) -> str:
    short = name.removeprefix(outcome.pipeline.name + "_")
    if short != "difference":
        return short
    if outcome.difference == 0:
        return "C against NumPy: no difference anywhere"
    return f"C against NumPy, amplified {1 / outcome.difference:.2g} times"


def _figure(png: bytes, caption: str) -> str:
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
