"""Numbers and names as people read them."""

import math

__all__ = ["count", "floor", "visible", "visible_lines"]


def count(number: int, what: str) -> str:
    """Write a number of things: `1 band`, `2,000 bands`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def floor(value: float, digits: int) -> str:
    """Write a number to so many digits after the point, never above what it is."""
    scale = 10**digits
    return f"{math.floor(value * scale + 1e-9) / scale:.{digits}f}"


def visible(text: object) -> str:
    """Write what is not printable as the escapes of Python, for a screen and on one line.

    Control characters command a terminal, those of direction reorder what is read, line breaks
    make two of one name, and lone surrogates, which stand for bytes of file names, cannot be
    encoded.
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)


def visible_lines(text: str) -> str:
    """Write the same of a text of several lines, which stay so."""
    return "\n".join(map(visible, text.split("\n")))
