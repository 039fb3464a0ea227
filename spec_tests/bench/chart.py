"""chart: lines over two logarithmic axes, as an SVG file.

takes: series of points, a title and labels
gives: the text of a picture for light and dark pages, and its file
holds: ticks, the places of the lines' names beside their ends
not here: what is measured
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 78, 170, 52, 58
LABEL_HEIGHT = 17

LIGHT = ("#2a78d6", "#eb6834", "#0f8a5f", "#7a4fc4", "#c9353b", "#a87400")
DARK = ("#6ea8f0", "#f08a5d", "#3cc795", "#b296ea", "#f0797c", "#e0b040")

Points = Sequence[tuple[float, float]]


def line_chart(
    series: Mapping[str, Points], title: str, x_label: str, y_label: str, path: str | Path
) -> None:
    """Write a chart with logarithmic axes.

    Args:
        series: name → points, all above zero.
        title: what the picture shows.
        x_label, y_label: what the axes measure, with the unit.
        path: the SVG file.

    Raises:
        ValueError: no points, a point that has no logarithm, or more series than colours.
    """
    Path(path).write_text(line_chart_text(series, title, x_label, y_label), encoding="utf-8")


def line_chart_text(series: Mapping[str, Points], title: str, x_label: str, y_label: str) -> str:
    """The text of the picture; arguments as for :func:`line_chart`."""
    points = [point for line in series.values() for point in line]
    if not points or not all(series.values()):
        raise ValueError("a series has no points")
    if not all(0 < v < math.inf for point in points for v in point):
        raise ValueError("logarithmic axes need finite numbers above zero")
    if len(series) > len(LIGHT):
        raise ValueError(f"{len(series)} series, but {len(LIGHT)} colours that can be told apart")
    xs, ys = _Axis([x for x, _ in points]), _Axis([y for _, y in points])
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + xs.part(x) * (right - LEFT), bottom - ys.part(y) * (bottom - TOP)

    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">',
        f"<style>{_style(len(series))}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT}" y="28">{escape(title)}</text>',
    ]
    for tick in xs.ticks():
        x = place(tick, ys.low)[0]
        out.append(f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>')
        out.append(f'<text class="middle" x="{x:.1f}" y="{bottom + 20}">{_number(tick)}</text>')
    for tick in ys.ticks():
        y = place(xs.low, tick)[1]
        out.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
        out.append(f'<text class="end" x="{LEFT - 8}" y="{y + 4:.1f}">{_number(tick)}</text>')
    turned = f"translate(18 {(TOP + bottom) / 2}) rotate(-90)"
    across = (LEFT + right) / 2
    out += [
        f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>',
        f'<text class="middle" x="{across}" y="{HEIGHT - 14}">{escape(x_label)}</text>',
        f'<text class="middle" transform="{turned}">{escape(y_label)}</text>',
    ]
    ends = []
    for number, line in enumerate(series.values()):
        spots = [place(x, y) for x, y in sorted(line)]
        ends.append(spots[-1])
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
        out.append(f'<path class="line s{number}" d="M{path}"/>')
        out += [
            f'<circle class="dot s{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in spots
        ]
    heights = spread([y for _, y in ends], LABEL_HEIGHT, TOP, bottom)
    for number, (name, (x, y), height) in enumerate(zip(series, ends, heights, strict=True)):
        lead = f"M{x + 5:.1f} {y:.1f}L{right + 8} {height:.1f}H{right + 18}"
        out.append(f'<path class="lead s{number}" d="{lead}"/>')
        out.append(f'<text x="{right + 23}" y="{height + 4:.1f}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>", ""])


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights near the wanted ones, at least a gap apart and, where they fit, within the limits."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    found = [0.0] * len(wanted)
    before = low - gap
    for k in order:
        before = found[k] = max(wanted[k], before + gap)
    after = max(high, low + gap * (len(wanted) - 1)) + gap
    for k in reversed(order):
        after = found[k] = min(found[k], after - gap)
    return found


class _Axis:
    """One logarithmic axis: its ends and its ticks."""

    def __init__(self, values: Sequence[float]) -> None:
        low, high = math.log10(min(values)), math.log10(max(values))
        margin = 0.03 * (high - low) or 0.5
        self._low, self._high = low - margin, high + margin
        self.low = 10**self._low

    def part(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
        return (math.log10(value) - self._low) / (self._high - self._low)

    def ticks(self) -> list[float]:
        """Powers of ten, with 2 and 5 times them where there would be few."""
        decades = range(math.floor(self._low), math.ceil(self._high) + 1)
        steps = (1, 2, 5) if self._high - self._low < 2.5 else (1,)
        known = [step * 10.0**power for power in decades for step in steps]
        return [tick for tick in known if self._low <= math.log10(tick) <= self._high]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.10f}".rstrip("0")


def _style(count: int) -> str:
    def colours(palette: Sequence[str]) -> str:
        return "".join(f".s{k}{{--c:{palette[k]}}}" for k in range(count))

    return (
        "svg{--page:#fff;--ink:#222;--soft:#767676;--grid:#e4e4e4;"
        "font:13px system-ui,sans-serif}"
        f"{colours(LIGHT)}"
        f"@media(prefers-color-scheme:dark){{svg{{--page:#161616;--ink:#eee;--soft:#999;"
        f"--grid:#333}}{colours(DARK)}}}"
        ".page{fill:var(--page)}text{fill:var(--ink)}.title{font-size:16px;font-weight:600}"
        ".middle{text-anchor:middle}.end{text-anchor:end}path{fill:none}"
        ".grid{stroke:var(--grid)}.axis{stroke:var(--soft)}"
        ".line{stroke:var(--c);stroke-width:2}.lead{stroke:var(--c);stroke-width:1}"
        ".dot{fill:var(--c)}"
    )
