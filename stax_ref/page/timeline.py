"""timeline: how long buffers live, how much lives at once, and where in the arena.

Takes a ``Program``'s slots; gives two pictures over its steps: lifetimes as bars under the bytes
that live at each step, and the arena as a map of byte offsets. Not here: how offsets were chosen
(``memory``), the graph (``drawing``).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..compile import Program
from ..memory import Slot
from .markup import Markup, box, element, joined, label, picture, shortened, size_text, text_width

ROW = 22.0
CHART = 90.0
HEAD = 22.0
MARGIN = 16.0
NARROW, WIDE, ACROSS = 34.0, 110.0, 660.0
MAP = 220.0


def live_bytes(slots: Sequence[Slot], steps: int) -> list[int]:
    """Per step the bytes of arena and outputs that live then; bytes shared in the arena once."""
    found = []
    for step in range(steps):
        alive = [slot for slot in slots if slot.first <= step <= slot.last]
        total = sum(slot.nbytes for slot in alive if slot.kind == "output" and not slot.takes)
        end = 0
        ranges = ((s.offset, s.offset + s.nbytes) for s in alive if s.in_arena)
        for low, high in sorted(ranges):
            total += max(0, high - max(low, end))
            end = max(end, high)
        found.append(total)
    return found


def stored(program: Program) -> list[Slot]:
    """The slots that take memory, in order of definition."""
    return [slot for slot in program.plan.slots if slot.nbytes]


def lifetimes(program: Program) -> Markup:
    """Bars over the steps, and above them what lives at each."""
    slots, names = stored(program), [step.name for step in program.plan.steps]
    live = live_bytes(slots, len(names))
    peak = live.index(max(live))
    column = _column(len(names))
    left = MARGIN + max(map(text_width, (_row_text(slot) for slot in slots))) + 8
    top = MARGIN + HEAD
    low = top + CHART
    right = left + column * len(names)
    first_row = low + HEAD + 10
    bottom = first_row + ROW * len(slots)
    out = [
        box(left + column * peak, MARGIN, column, bottom - MARGIN, "peak"),
        label(left - 8, top + 8, size_text(live[peak]), "end"),
        label(left - 8, low, "0 B", "end"),
        element("path", d=f"M{left} {top}H{right}M{left} {low}H{right}", class_="grid"),
    ]
    for k, (name, nbytes) in enumerate(zip(names, live, strict=True)):
        high = CHART * nbytes / live[peak]
        title = element("title", f"{name}: {nbytes} bytes")
        bar = box(left + column * k + 2, low - high, column - 4, high, "live", title, rx=1)
        out += [bar, label(left + column * (k + 0.5), low + 16, name, "middle")]
    words = f"peak {size_text(live[peak])}"
    half, middle = text_width(words) / 2, left + column * (peak + 0.5)
    wide = max(right, left + 2 * half) + MARGIN
    middle = min(max(middle, left + half), wide - MARGIN - half)
    out.append(label(middle, MARGIN + 13, words, "middle title"))
    for k, slot in enumerate(slots):
        y = first_row + ROW * k
        x = left + column * slot.first
        length = column * (min(slot.last, len(names) - 1) - slot.first + 1)
        out.append(box(x + 2, y + 3, length - 4, ROW - 6, f"bar {slot.kind}", _title(slot)))
        out.append(label(x - 6, y + 15, _row_text(slot), "end"))
    return picture(wide, bottom + MARGIN, "lifetimes of buffers", joined(*out))


def arena_map(program: Program) -> Markup | None:
    """Byte offsets over the steps; None where no buffer lies in the arena."""
    slots = [slot for slot in stored(program) if slot.in_arena]
    if not slots:
        return None
    names = [step.name for step in program.plan.steps]
    live = live_bytes(stored(program), len(names))
    size = program.plan.arena_bytes
    column = _column(len(names))
    left, top = MARGIN + text_width(size_text(size)) + 8, MARGIN
    right, bottom = left + column * len(names), top + MAP
    peak = live.index(max(live))
    out = [
        box(left + column * peak, top, column, MAP + HEAD, "peak"),
        label(left - 8, top + 10, size_text(size), "end"),
        label(left - 8, bottom, "0 B", "end"),
        element("path", d=f"M{left} {top}H{right}M{left} {bottom}H{right}", class_="grid"),
    ]
    given = {slot.takes for slot in slots if slot.how == "in place"}
    for slot in slots:
        high = MAP * slot.nbytes / size
        first = slot.first + 0.5 * (slot.how == "in place")  # both hold the bytes in that step
        last = slot.last + 1 - 0.5 * (slot.buffer in given)
        x, y = left + column * first, bottom - MAP * slot.offset / size - high
        length = column * (last - first)
        out.append(box(x + 1, y, length - 2, max(high, 1.0), "bar arena", _title(slot), rx=2))
        room = int((length - 8) / text_width("x"))
        if high >= 15 and room >= 3:
            words = shortened(f"{slot.buffer} {size_text(slot.nbytes)}", room)
            out.append(label(x + length / 2, y + high / 2 + 4, words, "middle"))
    for k, name in enumerate(names):
        out.append(label(left + column * (k + 0.5), bottom + 16, name, "middle"))
    return picture(right + MARGIN, bottom + HEAD + MARGIN, "the arena", joined(*out))


def _column(steps: int) -> float:
    return min(WIDE, max(NARROW, ACROSS / steps))


def _row_text(slot: Slot) -> str:
    return f"{shortened(slot.buffer, 24)} {size_text(slot.nbytes)}"


def _title(slot: Slot) -> Markup:
    return element("title", str(slot))
