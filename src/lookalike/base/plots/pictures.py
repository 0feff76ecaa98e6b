"""Curves and counts on the axes of Matplotlib.

Each curve has a colour that the colour-blind tell apart, and a dash and a mark of its own, so that
a print in grey is read as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.plots.figures import OWN_AXES, SIZE, axes_or_new, matplotlib
from lookalike.base.plots.shapes import positions, ticks
from lookalike.base.wording import in_full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lookalike.base.plots.shapes import Curve, Histogram

    Style = dict[str, Any]

__all__ = [
    "COLOURS",
    "DASHES",
    "MARKS",
    "draw_counts",
    "draw_curves",
    "draw_error",
    "draw_histogram",
    "draw_plan",
    "draw_sizes",
    "draw_threshold",
]

# Of Okabe and Ito, the darker first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1)))
MARKS = ("o", "s", "^", "D", "v", "P", "X")
CURVE, HALF, ESTIMATE = "lookalike curve", "lookalike half", "lookalike estimate"
POSITIVES, NEGATIVES = "lookalike false positives", "lookalike false negatives"
THRESHOLD, BARS = "lookalike threshold", "lookalike histogram"
"""By these ids the parts of a picture are found in it, and in an SVG."""
WHAT = {"jaccard": "Jaccard similarity", "cosine": "cosine similarity (spaced by the angle)"}


def draw_curves(curves: Sequence[Curve], ax: Any = None) -> Any:
    """Draw curves, each with the place where its chance is one half, its estimate and its areas.

    Onto axes that have some already, further ones are drawn in the next styles.
    """
    # The legend below has some lines for each.
    ax = axes_or_new(ax, (SIZE[0], SIZE[1] + 0.4 * max(len(curves) - 2, 0)))
    _frame(ax, curves[0].metric)
    for curve in curves:
        _draw_curve(ax, curve)
    _legend(ax)
    return ax


def _draw_curve(ax: Any, curve: Curve) -> None:
    number = sum(line.get_gid() == CURVE for line in ax.lines)
    colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
    x, y = curve.similarities, curve.chances
    if curve.shaded and curve.split is not None:
        below, above = x <= curve.split, x >= curve.split
        _shade(ax, colour, "///", POSITIVES, x[below], 0.0, y[below])
        _shade(ax, colour, "\\\\\\", NEGATIVES, x[above], y[above], 1.0)
    marks: Style = {"marker": mark, "markersize": 5, "markevery": _spread(curve, number)}
    dash = DASHES[number % len(DASHES)]
    name = _named(curve)
    ax.plot(x, y, color=colour, linestyle=dash, linewidth=2, label=name, gid=CURVE, **marks)
    if curve.half is not None:
        ax.vlines(curve.half, 0, 0.5, color=colour, linewidth=0.9, linestyle=(0, (2, 2)))
        large: Style = {
            "marker": mark,
            "markersize": 10,
            "markeredgecolor": _ink(ax),
            "zorder": 5,
        }
        ax.plot([curve.half], [0.5], color=colour, linestyle="none", gid=HALF, **large)
    if curve.estimate is not None:
        hollow: Style = {
            "marker": mark,
            "markersize": 10,
            "markerfacecolor": "none",
            "zorder": 5,
        }
        at = [curve.estimate], [curve.chance(curve.estimate)]
        ax.plot(*at, color=colour, markeredgewidth=1.6, linestyle="none", gid=ESTIMATE, **hollow)


def _shade(ax: Any, colour: str, hatch: str, gid: str, *edges: Any) -> None:
    """Shade an area and hatch it, which in one some viewers of SVG do in one colour."""
    ax.fill_between(*edges, facecolor=colour, linewidth=0, alpha=0.22, gid=gid)
    ax.fill_between(*edges, facecolor="none", edgecolor=colour, linewidth=0, alpha=0.5, hatch=hatch)


def _named(curve: Curve) -> str:
    """Name a curve in the legend, with where it is one half, and its areas."""
    parts = [curve.label]
    told = []
    if curve.half is not None:
        told.append(f"P = 1/2 at {curve.half:.4f}")
    if curve.estimate is not None:
        told.append(f"(1/b)^(1/r) = {curve.estimate:.4f}")
    if told:
        parts.append(", ".join(told))
    if curve.shaded and curve.split is not None:
        parts.append(curve.areas_text())
    return "\n".join(parts)


def _spread(curve: Curve, number: int) -> list[int]:
    """Choose the points that bear a mark: some on the way along, others for each curve."""
    steps = np.linspace(0, 1, 8)[1:-1] + 0.02 * number
    # Along the line itself: by its width alone a steep curve would have none on its rise.
    way = np.cumsum(np.hypot(np.diff(curve.positions), np.diff(curve.chances)))
    return [int(one) for one in np.searchsorted(way / way[-1], steps)]


def _frame(ax: Any, metric: str) -> None:
    """Name the axes, and space cosines by their angles; axes that have curves stay as they are."""
    if any(line.get_gid() == CURVE for line in ax.lines):
        return
    if metric == "cosine":
        ax.set_xscale(
            "function",
            functions=(
                lambda x: positions(x, "cosine"),
                lambda p: np.cos(np.pi * (1 - np.clip(p, 0, 1))),
            ),
        )
    named = ticks(metric)
    ax.set_xticks(named, [in_full(one) for one in named])
    ax.set_xlim(named[0], named[-1])
    # A hair more at both ends, so that a line along them is seen as a whole.
    ax.set_ylim(-0.015, 1.015)
    ax.set_xlabel(WHAT[metric])
    ax.set_ylabel("probability of becoming a candidate")
    ax.grid(color="#888888", alpha=0.25, linewidth=0.6)
    ax.axhline(0.5, color="#888888", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def _ink(ax: Any) -> str:
    colour: str = ax.xaxis.label.get_color()
    return colour


def _legend(ax: Any) -> None:
    """Explain the curves, and what marks and areas mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles, _ = ax.get_legend_handles_labels()
    handles.sort(key=lambda one: one.get_gid() != CURVE)
    ids = {one.get_gid() for one in (*ax.lines, *ax.collections)}
    ink = _ink(ax)
    marker: Style = {"marker": "o", "linestyle": "none", "markersize": 8, "color": ink}
    if HALF in ids:
        handles.append(Line2D([], [], label="P = 1/2", **marker))
    if ESTIMATE in ids:
        hollow: Style = {"markerfacecolor": "none", "markeredgewidth": 1.6}
        handles.append(Line2D([], [], label="rule of thumb (1/b)^(1/r)", **marker, **hollow))
    if POSITIVES in ids:
        shade: Style = {
            "facecolor": "none",
            "edgecolor": ink,
            "linewidth": 0,
            "alpha": 0.7,
        }
        handles.append(Patch(hatch="//////", label="false positives", **shade))
        handles.append(Patch(hatch="\\\\\\\\\\\\", label="false negatives", **shade))
    if ax.get_gid() == OWN_AXES:
        # Below the axes, where it covers nothing.
        below: Style = {
            "loc": "upper left",
            "bbox_to_anchor": (0.0, -0.13),
            "frameon": False,
        }
        ax.legend(handles=handles, fontsize=8, ncols=2, borderaxespad=0, **below)
    else:
        ax.legend(handles=handles, loc="best", fontsize=8, framealpha=0.85)


def draw_plan(
    curves: Sequence[Curve],
    histograms: Sequence[Histogram],
    ax: Any = None,
    *,
    threshold: float | None = None,
) -> Any:
    """Draw the curves of a plan over the pairs of a corpus, and the threshold it is for."""
    ax = draw_curves(curves, ax)
    if threshold is not None:
        draw_threshold(ax, threshold)
    if histograms:
        draw_histogram(histograms, ax)
    return ax


def draw_threshold(ax: Any, threshold: float) -> None:
    """Mark the similarity from which two documents are a pair, once."""
    marked = [line.get_xdata()[0] for line in ax.lines if line.get_gid() == THRESHOLD]
    if threshold in marked:
        return
    line: Style = {
        "color": _ink(ax),
        "linewidth": 1.2,
        "linestyle": (0, (8, 3)),
        "gid": THRESHOLD,
    }
    ax.axvline(threshold, label=f"threshold {in_full(threshold)}", **line)
    if ax.get_legend() is not None:
        _legend(ax)


def draw_histogram(histograms: Sequence[Histogram], ax: Any) -> Any:
    """Draw counts of pairs under the curves of axes, on an axis of their own, and give that.

    Most pairs are nothing alike: the axis is logarithmic.
    """
    other = ax.twinx()
    filled = [one.counts[one.counts > 0] for one in histograms]
    least, most = 1.0, 1.0
    for counts in filled:
        if len(counts):
            least, most = min(least, float(counts.min())), max(most, float(counts.max()))
    # Before the scale, which else looks for counts where there may be none.
    other.set_ylim(least / 2, most * 2)
    other.set_yscale("log")
    styles: list[Style] = [
        {"facecolor": "#999999", "alpha": 0.5, "linewidth": 0},
        {"facecolor": "none", "edgecolor": _ink(ax), "linewidth": 1.0},
    ]
    for histogram, style in zip(histograms, styles, strict=False):
        counts = histogram.counts
        other.stairs(counts, histogram.edges, fill=True, baseline=0.0, gid=BARS, **style)
        handle = _bar_handle(histogram.label, style)
        ax.add_artist(handle)
    other.set_ylabel("pairs (logarithmic)")
    other.spines["top"].set_visible(False)
    # Curves stand before the bars.
    ax.set_zorder(other.get_zorder() + 1)
    ax.patch.set_visible(False)
    _legend(ax)
    return other


def draw_counts(histograms: Sequence[Histogram], ax: Any = None) -> Any:
    """Draw counts of pairs by similarity without a curve over them."""
    ax = axes_or_new(ax)
    ax.set_ylim(0.5, max(2.0, *(2 * float(one.counts.max()) for one in histograms)))
    ax.set_yscale("log")
    for number, histogram in enumerate(histograms):
        style: Style = {"facecolor": COLOURS[number], "alpha": 0.6, "linewidth": 0, "gid": BARS}
        ax.stairs(histogram.counts, histogram.edges, fill=True, label=histogram.label, **style)
    ax.set_xlim(histograms[0].edges[0], histograms[0].edges[-1])
    ax.set_xlabel("similarity")
    ax.set_ylabel("pairs (logarithmic)")
    ax.grid(color="#888888", alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8)
    return ax


def _bar_handle(label: str, style: Style) -> Any:
    """Make what stands for the bars in the legend of the curves: it has no size of its own."""
    from matplotlib.patches import Rectangle

    return Rectangle((0, 0), 0, 0, label=label, **style)


def draw_sizes(sizes: NDArray[np.int64], ax: Any = None, label: str = "clusters") -> Any:
    """Draw how many clusters there are of each size, both logarithmic."""
    ax = axes_or_new(ax)
    of_size, counts = np.unique(sizes, return_counts=True)
    ax.set_xlim(1.5, max(10.0, 1.5 * float(of_size.max(initial=0))))
    ax.set_ylim(0.7, max(10.0, 1.5 * float(counts.max(initial=0))))
    ax.set_xscale("log")
    ax.set_yscale("log")
    style: Style = {
        "marker": "o",
        "markersize": 6,
        "linestyle": "none",
        "color": COLOURS[0],
    }
    ax.plot(of_size, counts, label=label, gid="lookalike sizes", **style)
    ax.set_xlabel("documents of a cluster")
    ax.set_ylabel("clusters of that size")
    ax.grid(color="#888888", alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    _whole_ticks(ax.xaxis)
    _whole_ticks(ax.yaxis)
    return ax


def _whole_ticks(axis: Any) -> None:
    """Write whole numbers along a logarithmic axis, as 1,000."""
    matplotlib()
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else ""))
    axis.set_minor_formatter(NullFormatter())


def draw_error(
    rows: NDArray[np.int64],
    lines: Sequence[tuple[float, NDArray[np.float64], NDArray[np.float64]]],
    ax: Any = None,
) -> Any:
    """Draw the error of estimates by the number of rows: for each similarity theory and measured.

    Theory is a line, what was measured are marks.
    """
    ax = axes_or_new(ax)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    for number, (similarity, theory, measured) in enumerate(lines):
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        dash = DASHES[number % len(DASHES)]
        name = f"similarity {in_full(similarity)}"
        ax.plot(rows, theory, color=colour, linestyle=dash, label=f"{name}: sqrt(s(1 - s)/k)")
        ax.plot(
            rows, measured, color=colour, marker=mark, linestyle="none", label=f"{name}: measured"
        )
    ax.set_xticks(rows, [f"{one:,}" for one in rows])
    ax.minorticks_off()
    ax.set_xlabel("rows of a signature, k")
    ax.set_ylabel("standard error of the estimate")
    ax.grid(color="#888888", alpha=0.25, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8)
    return ax
