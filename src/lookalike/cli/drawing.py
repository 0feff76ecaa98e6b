"""Pictures of the commands: drawn in the terminal, or written to a file by Matplotlib."""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lookalike.cli.command import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from lookalike.base.plots.shapes import Curve, Histogram

__all__ = ["PICTURE", "ascii_only", "check_picture", "show_curves", "show_pairs_by_similarity"]

PICTURE = click.Option(
    ["--out", "-o"],
    type=file_name(Path),
    metavar="FILE",
    help="Draw to a .png, .svg or .pdf, not in the terminal; replaces a file. Needs "
    "lookalike[plot].",
)
PLAIN_TERMINALS = ("dumb", "linux")
"""Terminals whose fonts have little more than ASCII."""
STYLES = ("bright_blue", "bright_red", "green", "magenta", "yellow", "cyan")


def ascii_only() -> bool:
    """Tell whether a drawing is to be of ASCII alone; ask before anything is printed.

    What is printed is UTF-8 whatever the locale, as ids are, but a drawing can do without.
    """
    try:
        unicode = codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name == "utf-8"
    except LookupError:
        unicode = False
    on_plain = sys.stdout.isatty() and os.environ.get("TERM") in PLAIN_TERMINALS
    return not unicode or on_plain


def show_curves(
    console: Console,
    curves: Sequence[Curve],
    *,
    plain: bool,
    threshold: float | None = None,
) -> None:
    """Draw curves in the terminal, in colours where it has some."""
    from rich.text import Text

    from lookalike.base.plots.terminal import curve_key, curve_lines

    for line in curve_lines(curves, console.width, ascii_only=plain, threshold=threshold):
        drawn = Text()
        for text, number in line:
            drawn.append(text, "" if number is None else STYLES[number % len(STYLES)])
        console.print(drawn, soft_wrap=True)
    key = curve_key(curves, ascii_only=plain, threshold=threshold)
    if key:
        console.print(f"\n     {key}")


def show_pairs_by_similarity(console: Console, histogram: Histogram, *, plain: bool) -> None:
    """Draw how many pairs of a corpus there are of each similarity."""
    from lookalike.base.plots.terminal import bar_lines

    label = histogram.label[:1].upper() + histogram.label[1:]
    console.print(f"{label}; the bars are logarithmic.\n")
    for line in bar_lines(histogram, console.width, ascii_only=plain):
        console.print(line, soft_wrap=True)


def check_picture(
    out: Path | None, read: Sequence[str] = ()
) -> Callable[[Callable[[], Any], Console], None]:
    """Refuse a name that is not of a picture, and give what writes one: axes to the file."""
    from lookalike.base.plots.figures import matplotlib, picture_bytes, picture_kind
    from lookalike.base.wording import visible
    from lookalike.write.files import check_targets, write_atomically

    if out is None:
        return lambda _draw, _console: None
    kind = picture_kind(out)
    matplotlib()
    check_targets([out], read)

    def write(draw: Callable[[], Any], console: Console) -> None:
        content = picture_bytes(draw(), kind)
        write_atomically(out, lambda stream: stream.write(content))
        console.print(f"Drawn in {visible(out)}.", soft_wrap=True)

    return write
