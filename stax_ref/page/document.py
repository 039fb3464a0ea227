"""document: the page.

Takes ``Facts``: a program, its generated code, the user's source and what was measured; gives one
HTML text that needs no other file, no script and no network, readable on light and dark screens.
Holds the sections and their order. The same facts give the same text; what was measured stands in
elements of class ``time`` alone. Not here: pictures (``drawing``, ``timeline``), the style
(``style``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..compile import TEXTS, Program
from ..explain import headline, kernel_members, least_bytes, plural, summary
from ..plan import Plan
from . import drawing, timeline
from .markup import Markup, element, joined, size_text
from .measure import Times, time_text
from .style import STYLE


@dataclass(frozen=True, slots=True)
class Facts:
    """What a page shows.

    Args:
        program: what every stage made.
        backend: what runs it.
        code: the generated program; empty for the interpreter.
        source: lines of the user's function, empty where they are not known.
        file: the file they stand in.
        first: number of the first of them.
        seed: the plan of the seed's schedule, for comparison; None where it is the program's own.
        history: why the function has the programs it has.
        seconds: what was done once and how long it took, in order.
        stax, numpy: a call of the compiled function, and of the plain one.
    """

    program: Program
    backend: str
    code: str
    source: tuple[str, ...]
    file: str
    first: int
    seed: Plan | None
    history: tuple[str, ...]
    seconds: tuple[tuple[str, float], ...]
    stax: Times
    numpy: Times


def page(facts: Facts) -> str:
    """The whole page."""
    sections = {
        "Graph": _graphs(facts),
        "Kernels": _kernels(facts),
        "Decisions": _decisions(facts),
        "Order": _pre(facts.program.text("order")),
        "Memory": _memory(facts),
        "Source": _source(facts),
        "Stages": _stages(facts),
        "Generated code": _code(facts),
        "Timings": _timings(facts),
    }
    links = [element("a", title, href=f"#{_anchor(title)}") for title in sections]
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        element("title", f"Stax: {facts.program.plan.name}"),
        element("style", Markup(STYLE)),
    )
    body = joined(
        element("h1", headline(facts.program)),
        _cards(facts),
        element("nav", joined(*links)),
        *(
            element("section", element("h2", title), content, id=_anchor(title))
            for title, content in sections.items()
        ),
    )
    parts = (element("head", head), element("body", element("main", body)))
    return f"<!doctype html>\n{element('html', joined(*parts), lang='en')}\n"


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _cards(facts: Facts) -> Markup:
    """The four numbers that matter, and the sentence behind each."""
    plan, program = facts.program.plan, facts.program
    gain = facts.numpy.median / facts.stax.median
    fused, traffic, memory = summary(program, facts.seed)
    times = f"{time_text(facts.stax.median)} a call; NumPy {time_text(facts.numpy.median)}"
    over = plan.bytes_moved / plan.least_bytes if plan.least_bytes else 1.0
    cards = (
        (f"{len(program.lowered.nodes)} → {len(plan.steps)}", fused, None),
        (f"{over:.2f} × the bound", traffic, None),
        (size_text(plan.peak_bytes), memory, None),
        (f"{gain:.1f} × NumPy", times, "time"),
    )
    return element(
        "div",
        *(
            element("p", element("strong", big), element("span", small), class_=kind)
            for big, small, kind in cards
        ),
        class_="cards",
    )


def _graphs(facts: Facts) -> Markup:
    before, after = drawing.before(facts.program), drawing.after(facts.program)
    figures = (
        _figure(before, "Before fusion. Below a node stands what it writes."),
        _figure(after, "After fusion. A frame is a kernel; at its top stands what it reads."),
    )
    return joined(drawing.legend(), element("div", *figures, class_="pair"))


def _figure(drawn: Markup, caption: str) -> Markup:
    scroll = element("div", drawn, class_="scroll", tabindex="0")
    return element("figure", element("figcaption", caption), scroll)


def _kernels(facts: Facts) -> Markup:
    plan = facts.program.plan
    rows = [
        (
            step.name,
            kernel_members(step),
            f"{plan.moved_by(step):,}",
            f"{least_bytes(plan, step):,}",
        )
        for step in plan.steps
    ]
    total = ("all", "", f"{plan.bytes_moved:,}", f"{plan.least_bytes:,}")
    note = (
        "The bound of a kernel: what it needs from before, read once, and what others need, "
        "written once. The bound of all: every input and every output once."
    )
    heads = ("kernel", "nodes", "bytes moved", "at least")
    return joined(_table(heads, [*rows, total], numbers=(2, 3)), element("p", note, class_="note"))


def _decisions(facts: Facts) -> Markup:
    rows = [
        (
            " + ".join(decision.pair),
            "fuse" if decision.verdict else "keep apart",
            decision.reason,
            f"{decision.bytes_saved:,}",
        )
        for decision in facts.program.groups.decisions
    ]
    if not rows:
        return element("p", "No two nodes share a buffer, so nothing was to be decided.")
    return _table(("pair", "decision", "reason", "bytes shared"), rows, numbers=(3,))


def _memory(facts: Facts) -> Markup:
    program = facts.program
    free = sum(1 for slot in program.plan.slots if not slot.nbytes)
    if not timeline.stored(program):
        return element("p", "No buffer beside the inputs takes memory.")
    unseen = f" In registers, without memory: {plural(free, 'buffer')}." if free else ""
    figures = [
        _figure(
            timeline.lifetimes(program),
            "Bytes of arena and outputs that live at each step, and the life of each buffer. Rows "
            f"lie on the stack of their kernel and are not counted.{unseen}",
        )
    ]
    drawn = timeline.arena_map(program)
    if drawn is not None:
        figures.append(
            _figure(
                drawn,
                "The arena: byte offsets of buffers over the steps.",
            )
        )
    return joined(*figures)


def _source(facts: Facts) -> Markup:
    """The user's lines, each with the nodes that come from it."""
    found: dict[tuple[str, int], list[str]] = {}
    texts: dict[tuple[str, int], tuple[str, str]] = {}
    for node in facts.program.lowered.nodes:
        if node.where is not None:
            key = (node.where.file, node.where.line)
            found.setdefault(key, []).append(node.name)
            texts[key] = (node.where.short, node.where.text)
    rows = [
        (str(number), line.rstrip(), ", ".join(found.pop((facts.file, number), [])))
        for number, line in enumerate(facts.source, facts.first)
    ]
    rows += [(texts[key][0], texts[key][1], ", ".join(names)) for key, names in found.items()]
    if not rows:
        return element("p", "The source is not known.")
    return _table(("line", "source", "nodes"), rows, code=True)


def _stages(facts: Facts) -> Markup:
    """Every stage as it prints, folded away."""
    return joined(
        *(
            element("details", element("summary", word), _pre(facts.program.text(word)))
            for word in TEXTS
        )
    )


def _code(facts: Facts) -> Markup:
    if not facts.code:
        return element("p", "The interpreter ran this program; nothing was generated.")
    return _pre(facts.code)


def _timings(facts: Facts) -> Markup:
    calls = []
    for name, times in ((f"Stax ({facts.backend})", facts.stax), ("NumPy", facts.numpy)):
        low, high = times.spread
        spread = f"{time_text(low)} to {time_text(high)}"
        calls.append((name, time_text(times.median), spread, str(len(times.seconds))))
    stages = [(word, time_text(seconds)) for word, seconds in facts.seconds]
    return joined(
        _table(("one call", "median", "quartiles", "batches"), calls, (1, 2, 3), kind="time"),
        _table(("done once", "time"), stages, (1,), kind="time"),
        *([element("h3", "Programs"), _pre("\n".join(facts.history))] if facts.history else []),
    )


def _pre(text: str) -> Markup:
    return element("pre", text, tabindex="0")


def _table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int] = (),
    code: bool = False,
    kind: str | None = None,
) -> Markup:
    """A table that scrolls; columns of numbers are set to the right."""

    def cell(name: str, k: int, text: str) -> Markup:
        return element(name, text, class_="number" if k in numbers else None)

    head = element("tr", *(cell("th", k, text) for k, text in enumerate(heads)))
    body = [element("tr", *(cell("td", k, text) for k, text in enumerate(row))) for row in rows]
    classes = " ".join(word for word in ("code" if code else "", kind or "") if word)
    table = element(
        "table", element("thead", head), element("tbody", joined(*body)), class_=classes or None
    )
    return element("div", table, class_="scroll", tabindex="0")
