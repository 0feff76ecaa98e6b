"""Curves as SVG, written without any library: for notebooks and pages.

Lines and texts have the colour of the text around, so that a dark page shows them too.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.plots.shapes import positions, ticks
from lookalike.base.wording import in_full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.base.plots.shapes import Curve, Histogram

__all__ = ["curve_svg"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#888888")
"""Of Okabe and Ito; in place of black a grey, which is seen on dark pages too."""
DASHES = ("", "7 3", "2 2", "7 3 2 3", "4 2 1 2")
LEFT, RIGHT, TOP, BOTTOM = 36, 12, 10, 34
"""Around the curves, for the names of numbers."""
LINE = 16
"""Between two lines of the legend."""


def curve_svg(
    curves: Sequence[Curve],
    histogram: Histogram | None = None,
    *,
    threshold: float | None = None,
    width: int = 560,
    height: int = 240,
) -> str:
    """Draw curves, over the pairs of a corpus if there is a histogram of them."""
    area = _Area(width - LEFT - RIGHT, height - TOP - BOTTOM)
    metric = curves[0].metric
    parts = [*_grid(area, metric)]
    if histogram is not None:
        parts.append(_bars(area, histogram, metric))
    if threshold is not None:
        x = area.x(float(positions(threshold, metric)))
        parts.append(
            f'<path d="M{x} {TOP}V{area.y(0)}" stroke="currentColor" stroke-dasharray="8 3"/>'
        )
    for number, curve in enumerate(curves):
        parts += _curve(area, curve, number)
    rows = _legend(curves, histogram, threshold)
    for row, (mark, text) in enumerate(rows):
        y = height + LINE * row + LINE // 2
        parts.append(f'<g transform="translate({LEFT} {y})">{mark}{_text(30, 4, text)}</g>')
    title = html.escape("; ".join(text for _, text in rows))
    total = height + LINE * len(rows) + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{title}" fill="none" '
        f'font-family="sans-serif" font-size="11">{"".join(parts)}</svg>'
    )


class _Area:
    """Where curves are drawn, in the units of the picture."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height

    def x(self, position: float) -> str:
        return _number(LEFT + position * self.width)

    def y(self, chance: float) -> str:
        return _number(TOP + (1 - chance) * self.height)

    def path(self, places: Sequence[float], chances: Sequence[float]) -> str:
        points = [f"{self.x(p)} {self.y(c)}" for p, c in zip(places, chances, strict=True)]
        return "M" + "L".join(points)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(x: float | str, y: float | str, text: str, anchor: str = "start") -> str:
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x}" y="{y}" fill="currentColor"{where}>{html.escape(text)}</text>'


def _grid(area: _Area, metric: str) -> list[str]:
    parts = []
    for chance in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = area.y(chance)
        strong = "0.45" if chance in (0.0, 0.5) else "0.15"
        parts.append(
            f'<path d="M{LEFT} {y}H{LEFT + area.width}" stroke="currentColor" '
            f'stroke-opacity="{strong}"/>'
        )
        if chance in (0.0, 0.5, 1.0):
            parts.append(_text(LEFT - 6, _number(float(y) + 4), f"{chance:.1f}", "end"))
    for similarity in ticks(metric):
        x = area.x(float(positions(similarity, metric)))
        bottom = TOP + area.height
        parts.append(f'<path d="M{x} {bottom}v5" stroke="currentColor"/>')
        parts.append(_text(x, bottom + 18, in_full(similarity), "middle"))
    return parts


def _bars(area: _Area, histogram: Histogram, metric: str) -> str:
    """Draw the logarithm of each count, the largest as high as the picture."""
    heights = np.log10(np.maximum(histogram.counts, 0) + 1)
    heights /= max(float(heights.max(initial=0)), 1e-9)
    places = positions(histogram.edges, metric)
    bars = [
        f"M{area.x(left)} {area.y(0)}V{area.y(high)}H{area.x(right)}V{area.y(0)}"
        for left, right, high in zip(places[:-1], places[1:], heights, strict=True)
        if high > 0
    ]
    return f'<path d="{"".join(bars)}" fill="currentColor" fill-opacity="0.22"/>'


def _curve(area: _Area, curve: Curve, number: int) -> list[str]:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    places, chances = curve.positions, curve.chances
    parts = []
    if curve.shaded and curve.split is not None:
        split = float(positions(curve.split, curve.metric))
        below, above = places <= split, places >= split
        bottom = area.path([*places[below], split, 0.0], [*chances[below], 0.0, 0.0])
        top = area.path([*places[above], 1.0, split], [*chances[above], 1.0, 1.0])
        parts.append(f'<path d="{bottom}Z{top}Z" fill="{colour}" fill-opacity="0.2"/>')
    line = area.path([*places], [*chances])
    style = f' stroke-dasharray="{dash}"' if dash else ""
    parts.append(f'<path d="{line}" stroke="{colour}" stroke-width="2"{style}/>')
    for similarity, fill in ((curve.half, colour), (curve.estimate, "none")):
        if similarity is not None:
            x = area.x(float(positions(similarity, curve.metric)))
            y = area.y(curve.chance(similarity))
            look = f'fill="{fill}" stroke="{colour}" stroke-width="2"'
            parts.append(f'<circle cx="{x}" cy="{y}" r="5" {look}/>')
    return parts


def _legend(
    curves: Sequence[Curve], histogram: Histogram | None, threshold: float | None
) -> list[tuple[str, str]]:
    """Give what stands for each part of the picture, and what it is."""
    rows = []
    for number, curve in enumerate(curves):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        style = f' stroke-dasharray="{dash}"' if dash else ""
        mark = f'<path d="M0 0h24" stroke="{colour}" stroke-width="2"{style}/>'
        rows.append((mark, curve.label))
        told = []
        if curve.half is not None:
            told.append(f"P = 1/2 at {curve.half:.4f} (full circle)")
        if curve.estimate is not None:
            told.append(f"(1/b)^(1/r) = {curve.estimate:.4f} (hollow)")
        if told:
            rows.append(("", "; ".join(told)))  # on a line of its own, as both are too wide for one
    if threshold is not None:
        mark = '<path d="M0 0h24" stroke="currentColor" stroke-dasharray="8 3"/>'
        rows.append((mark, f"threshold {in_full(threshold)}"))
    if histogram is not None:
        mark = '<path d="M0 4h24v-8h-24z" fill="currentColor" fill-opacity="0.22"/>'
        rows.append((mark, f"{histogram.label} (logarithmic)"))
    return rows
