"""markup: elements of HTML and SVG as text, everything in them escaped.

Takes names, attributes and contents; gives strings. Holds the width of a character of the fixed
font that pictures use, so that a box is made as wide as its text. Not here: what is drawn.
"""

from __future__ import annotations

from html import escape

CHARACTER = 7.3
"""Width of a character at the 12 pixels of the pictures' text, in pixels."""


class Markup(str):
    """Text that is markup already; any other text is escaped where it becomes content."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: str | float | None) -> Markup:
    """``<name attributes>content</name>``.

    Args:
        name: of the element.
        *content: markup stands as it is, other text is escaped.
        **attributes: ``class_`` is ``class``, underscores are hyphens; None leaves one out.
    """
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            text = _number(value) if isinstance(value, (int, float)) else escape(value)
            words.append(f'{key.rstrip("_").replace("_", "-")}="{text}"')
    inside = "".join(part if isinstance(part, Markup) else escape(part) for part in content)
    return Markup(f"<{' '.join(words)}>{inside}</{name}>")


def joined(*parts: str) -> Markup:
    """Pieces of markup one below the other."""
    return Markup("\n".join(parts))


def label(x: float, y: float, words: str, class_: str | None = None) -> Markup:
    """A text of a picture, centred or not as its class says."""
    return element("text", words, x=x, y=y, class_=class_)


def box(
    x: float, y: float, width: float, height: float, class_: str, *content: str, rx: float = 4
) -> Markup:
    """A rectangle by its upper left corner."""
    return element("rect", *content, x=x, y=y, width=width, height=height, rx=rx, class_=class_)


def picture(width: float, height: float, title: str, *content: str) -> Markup:
    """An inline picture of this size; ``title`` is read out where it cannot be seen."""
    wide, high = _number(width), _number(height)
    return element(
        "svg",
        *content,
        width=wide,
        height=high,
        viewBox=f"0 0 {wide} {high}",
        role="img",
        aria_label=title,
    )


def shortened(words: str, most: int) -> str:
    """The text, cut to at most so many characters; an ellipsis stands for the rest."""
    return words if len(words) <= most else words[: most - 1] + "…"


def text_width(words: str) -> float:
    """Pixels of a text in a picture."""
    return CHARACTER * len(words)


def size_text(nbytes: int) -> str:
    """``256 B``, ``32 KiB``, ``1.5 MiB``."""
    amount, unit = float(nbytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.1f}".removesuffix(".0") + f" {unit}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
