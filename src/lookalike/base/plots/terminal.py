"""Curves and counts as characters, for a terminal.

A line of a drawing is made of pieces, each a text and the number of the curve that it is of, or
None, so that who prints it may colour it. Braille has eight dots to a character; where a terminal
has no more than ASCII, a character is one dot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.plots.shapes import positions, ticks
from lookalike.base.wording import in_full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.base.plots.shapes import Curve, Floats, Histogram

    Piece = tuple[str, int | None]

__all__ = ["bar_lines", "curve_key", "curve_lines", "curve_names", "labelled_bars", "plain"]

HEIGHT = 13
"""Lines of the curves themselves: odd, so that one half has a line of its own."""
MIN_WIDTH, MAX_WIDTH = 24, 96
LABEL = 5
"""Characters before the first of a curve: a number and the axis."""
BRAILLE = 0x2800
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a character, by line and column."""
ASCII_CURVES = "*ox#%@"
EIGHTHS = " ▏▎▍▌▋▊▉█"
SIGNS = {
    False: {"up": "┤", "side": "│", "corner": "└", "line": "─", "tick": "┬", "at": "┊"},
    True: {"up": "+", "side": "|", "corner": "+", "line": "-", "tick": "+", "at": ":"},
}
FULL, HOLLOW = {False: "●", True: "O"}, {False: "○", True: "o"}
"""Where the chance is one half, and where the rule of thumb has that."""


def curve_names(number: int) -> list[str]:
    """Name curves by letters, as they are marked where several are drawn."""
    return [chr(ord("A") + one % 26) for one in range(number)]


def curve_lines(
    curves: Sequence[Curve], width: int, *, ascii_only: bool = False, threshold: float | None = None
) -> list[list[Piece]]:
    """Draw curves within so many columns, with marks where the chance is one half.

    One curve has a full circle there, and a hollow one at its estimate; several have their letters.
    """
    canvas = _Canvas(min(max(width, MIN_WIDTH), MAX_WIDTH) - LABEL, ascii_only=ascii_only)
    metric = curves[0].metric
    signs = SIGNS[ascii_only]
    if threshold is not None:
        column = canvas.column(float(positions(threshold, metric)))
        for row in range(HEIGHT):
            canvas.put(row, column, signs["at"], None)
    for number, curve in enumerate(curves):
        canvas.draw(curve, number)
    names = curve_names(len(curves))
    for number, curve in enumerate(curves):
        alone = len(curves) == 1
        if alone and curve.estimate is not None:
            canvas.mark(curve, curve.estimate, HOLLOW[ascii_only], number)
        if curve.half is not None:
            sign = FULL[ascii_only] if alone else names[number]
            canvas.mark(curve, curve.half, sign, number)
    lines = []
    for row in range(HEIGHT):
        named = row % (HEIGHT // 2) == 0
        value = f"{1 - row / (HEIGHT - 1):.1f}" if named else ""
        label = f"{value:3} {signs['up' if named else 'side']}"
        lines.append([(label, None), *canvas.pieces(row)])
    return [*lines, *_axis(canvas.width, metric, signs)]


def curve_key(
    curves: Sequence[Curve], *, ascii_only: bool = False, threshold: float | None = None
) -> str:
    """Say what the signs in a drawing of curves mean."""
    names = [
        name
        for name, curve in zip(curve_names(len(curves)), curves, strict=True)
        if curve.half is not None
    ]
    parts = []
    if names:
        sign = FULL[ascii_only] if len(curves) == 1 else f"{', '.join(names)}:"
        parts.append(f"{sign} P = 1/2")
    if len(curves) == 1 and curves[0].estimate is not None:
        parts.append(f"{HOLLOW[ascii_only]} (1/b)^(1/r)")
    if threshold is not None:
        parts.append(f"{SIGNS[ascii_only]['at']} threshold {in_full(threshold)}")
    return "   ".join(parts)


@dataclass
class _Canvas:
    """Dots of curves, and signs that stand before them."""

    width: int
    ascii_only: bool
    bits: dict[tuple[int, int], int] = field(default_factory=dict)
    owner: dict[tuple[int, int], int | None] = field(default_factory=dict)
    signs: dict[tuple[int, int], str] = field(default_factory=dict)

    def column(self, position: float) -> int:
        """Give the column of a place between 0 and 1."""
        return round(position * (self.width - 1))

    def put(self, row: int, column: int, sign: str, number: int | None) -> None:
        """Put a sign at a place, whatever is drawn there."""
        self.signs[row, column], self.owner[row, column] = sign, number

    def mark(self, curve: Curve, similarity: float, sign: str, number: int) -> None:
        """Put a sign on a curve."""
        row = round((1 - curve.chance(similarity)) * (HEIGHT - 1))
        self.put(row, self.column(float(positions(similarity, curve.metric))), sign, number)

    def draw(self, curve: Curve, number: int) -> None:
        """Draw a curve, without gaps where it is steep."""
        across, down = (1, 1) if self.ascii_only else (2, 4)
        columns, rows = self.width * across, HEIGHT * down
        places = np.linspace(0, 1, columns)
        chances = np.interp(places, curve.positions, curve.chances)
        heights = np.rint((1 - chances) * (rows - 1)).astype(int)
        for column, height in enumerate(heights):
            before = heights[column - 1] if column else height
            # Half of a rise is drawn with the column before, half with this one.
            middle = (int(before) + int(height)) // 2
            self._run(column, middle, int(height), number)
            if column:
                self._run(column - 1, int(before), middle, number)

    def _run(self, column: int, begin: int, end: int, number: int) -> None:
        across, down = (1, 1) if self.ascii_only else (2, 4)
        for height in range(min(begin, end), max(begin, end) + 1):
            cell = height // down, column // across
            bit = DOTS[height % down][column % across]
            self.bits[cell] = self.bits.get(cell, 0) | bit
            self.owner[cell] = number
            self.signs.pop(cell, None)

    def pieces(self, row: int) -> list[Piece]:
        """Give a line, in pieces of one curve each."""
        places = [(row, column) for column in range(self.width)]
        cells = [(self._sign(place), self.owner.get(place)) for place in places]
        while cells and cells[-1][0] == " ":
            cells.pop()
        return [
            ("".join(sign for sign, _ in some), number)
            for number, some in groupby(cells, key=lambda cell: cell[1])
        ]

    def _sign(self, place: tuple[int, int]) -> str:
        if place in self.signs:
            return self.signs[place]
        bits = self.bits.get(place)
        if bits is None:
            return " "
        if self.ascii_only:
            return ASCII_CURVES[(self.owner[place] or 0) % len(ASCII_CURVES)]
        return chr(BRAILLE | bits)


def _axis(width: int, metric: str, signs: dict[str, str]) -> list[list[Piece]]:
    """Draw the axis of similarities, and name as many of them as there is space for."""
    line, names = [signs["line"]] * width, [" "] * (width + LABEL)
    free = 0
    for tick in ticks(metric):
        column = round(float(positions(tick, metric)) * (width - 1))
        text = in_full(tick)
        begin = min(max(column + LABEL - len(text) // 2, 0), width + LABEL - len(text))
        if begin < free:
            continue
        line[column] = signs["tick"]
        names[begin : begin + len(text)] = text
        free = begin + len(text) + 1
    return [[(f"    {signs['corner']}{''.join(line)}", None)], [("".join(names).rstrip(), None)]]


def bar_lines(histogram: Histogram, width: int, *, ascii_only: bool = False) -> list[str]:
    """Draw counts as bars, a line for each bin, as long as the logarithm of its count.

    The first line is of the first bin that has pairs: of a result, none is below the threshold.
    """
    filled = np.flatnonzero(histogram.counts)
    first = int(filled[0]) if len(filled) else 0
    begin = [f"{low:.2f} to {high:.2f}" for low, high in pairwise(histogram.edges[first:])]
    return labelled_bars(begin, histogram.counts[first:], width, ascii_only=ascii_only)


def labelled_bars(
    labels: Sequence[str], given: Sequence[float] | Floats, width: int, *, ascii_only: bool = False
) -> list[str]:
    """Draw counts as bars, each with its label."""
    counts = np.asarray(given, np.float64)
    texts = [_count_text(float(one)) for one in counts]
    longest = max(map(len, texts), default=0)
    label = max(map(len, labels), default=0)
    space = min(max(width, MIN_WIDTH), MAX_WIDTH) - label - longest - 4
    logarithms = np.log10(np.maximum(counts, 0) + 1)
    most = max(float(logarithms.max(initial=0)), 1e-9)
    return [
        f"{name:>{label}}  {text:>{longest}}  {_bar(one / most * space, ascii_only)}".rstrip()
        for name, text, one in zip(labels, texts, logarithms, strict=True)
    ]


def _count_text(count: float) -> str:
    if 0 < count < 1:
        return "<1"
    return f"{count:,.0f}"


def _bar(length: float, ascii_only: bool) -> str:
    if length <= 0:
        return ""
    if ascii_only:
        return "#" * max(round(length), 1)
    eighths = max(round(length * 8), 1)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def plain(lines: Sequence[Sequence[Piece]]) -> str:
    """Give a drawing without colours."""
    return "\n".join("".join(text for text, _ in line) for line in lines)
