"""The speed of whole jobs by the size of the corpus, with the accuracy beside each point."""

import math
from collections import defaultdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.table import RESULTS, kept_results
from lookalike.base.plots.figures import axes_or_new, picture_bytes
from lookalike.base.plots.pictures import COLOURS, DASHES, MARKS

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "benchmarks.svg"
OWN, *OTHERS = (COLOURS[1], *(one for one in COLOURS if one != COLOURS[1]))
Point = tuple[int, float, str, bool]
"""Documents, documents a second, recall and precision, whether it is an estimate."""
Label = tuple[float, int, str, str]
"""Height, place, text, colour."""


def draw(results: Path = RESULTS, picture: Path = PICTURE) -> None:
    """Draw the results of `texts` that are kept: documents a second, of every contestant."""
    lines = _lines(kept_results(results))
    if not lines:
        raise SystemExit(f"{results} has no results of texts: run python -m benchmarks texts")
    axes = axes_or_new(None, (8.5, 8.5))
    axes.set_xscale("log")
    axes.set_yscale("log")
    names: list[Label] = []
    figures: dict[int, list[Label]] = defaultdict(list)
    others = iter(range(len(lines)))
    for title, points in lines.items():
        is_own = title.startswith("Lookalike")
        number = 0 if is_own else next(others)
        color = OWN if is_own else OTHERS[number % len(OTHERS)]
        # Our own line is the only solid one, and the only one with a circle.
        dash = DASHES[0] if is_own else DASHES[1 + number % (len(DASHES) - 1)]
        mark = MARKS[0] if is_own else MARKS[1 + number % (len(MARKS) - 1)]
        x, y, _, _ = zip(*points, strict=True)
        axes.plot(x, y, color=color, linestyle=dash, linewidth=2.2 if is_own else 1.2)
        for count, speed, accuracy, is_estimate in points:
            fill = "white" if is_estimate else color
            axes.plot([count], [speed], marker=mark, color=color, markerfacecolor=fill)
            figures[count].append((speed, count, accuracy, color))
        names.append((y[-1], x[-1], title, color))
    _write(axes, names, 1.27, xytext=(7, -3), fontsize=9)
    for some in figures.values():
        _write(axes, some, 1.21, xytext=(-6, 2), fontsize=7.5, ha="right")
    counts = sorted({point[0] for points in lines.values() for point in points})
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.set_xlim(counts[0] / 2.5, counts[-1] * 6)
    axes.set_yticks(_decades(lines), [f"{tick:,}" for tick in _decades(lines)])
    axes.set_xlabel("documents")
    axes.set_ylabel("documents a second, from the file to the pairs")
    axes.set_title("Whole jobs: speed, with recall / precision beside each point", loc="left")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    below = {"xycoords": "figure points", "fontsize": 7.5}
    axes.annotate("A hollow point is an estimate, where time ran out.", (6, 4), **below)
    picture.parent.mkdir(parents=True, exist_ok=True)
    picture.write_bytes(picture_bytes(axes, "svg"))


def _lines(kept: list[dict[str, Any]]) -> dict[str, list[Point]]:
    """Gather the points of each contestant from the runs with the settings that most have.

    Of several runs on as many documents, one to the end counts, and of those the slowest.
    """
    lines: dict[str, dict[int, Point]] = {}
    for one in kept:
        asked = one["arguments"]
        usual = asked.get("shingle") == "words:5" and asked.get("format") == "parquet"
        if asked["benchmark"] != "texts" or not usual or asked.get("memory"):
            continue
        for row in one["rows"]:
            if row["seconds"] and row["recall"] is not None:
                accuracy = f"{_down(row['recall'])} / {_down(row['precision'])}"
                point = asked["documents"], row["per_second"], accuracy, bool(row["estimated"])
                mine = lines.setdefault(row["title"], {})
                known = mine.get(point[0], point)
                mine[point[0]] = min(known, point, key=itemgetter(3, 1))
    return {title: sorted(points.values()) for title, points in lines.items()}


def _down(share: float) -> str:
    """Set a share, rounded down: 1 is all."""
    return f"{math.floor(share * 1000) / 1000:.3f}"


def _write(axes: Any, labels: list[Label], apart: float, **how: Any) -> None:
    """Write beside points, those of near ones above each other."""
    # Lines that cross a label do not strike it out.
    behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.8}
    how = {"textcoords": "offset points", "bbox": behind} | how
    last = 0.0
    for speed, count, text, color in sorted(labels):
        last = max(speed, last * apart)
        axes.annotate(text, (count, last), color=color, **how)


def _decades(lines: dict[str, list[Point]]) -> list[int]:
    speeds = [point[1] for points in lines.values() for point in points]
    return [10**power for power in range(8) if min(speeds) / 10 < 10**power < max(speeds) * 10]


if __name__ == "__main__":
    draw()
