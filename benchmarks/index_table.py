"""The figures of indexes, for people."""

from dataclasses import dataclass, field
from typing import Any

TO_REACH = {"add": 20_000, "admit": 2_000, "median": 1.0, "p99": 5.0}
ROUND = 100
"""Milliseconds from which on parts of one are not shown."""
COLUMNS = (
    "",
    "documents",
    "added/s",
    "admitted/s",
    "query ms",
    "99 %",
    "cold ms",
    "99 %",
    "bytes each",
    "peak MB",
    "recall",
    "precision",
)


@dataclass
class Row:
    """One contestant's figures."""

    title: str
    problem: str = ""
    """Why there are no figures, or, beside some, why others are not there."""
    note: str = ""
    setting: str = ""
    done: int = 0
    """The documents that were added in bulk, from the first."""
    of: int = 0
    """The documents that there are."""
    adding: float = 0.0
    """The seconds that took, by the clock; of all cores together is `cpu`."""
    cpu: float = 0.0
    added_per_second: float = 0.0
    admitted_per_second: float = 0.0
    warm: dict[str, float] = field(default_factory=dict)
    """How many were looked for, and the median and 99th percentile of their milliseconds."""
    cold: dict[str, float] = field(default_factory=dict)
    admitting: dict[str, float] = field(default_factory=dict)
    bytes_per_document: float = 0.0
    bytes_to_reach: int | None = None
    peak: int = 0
    answered: dict[str, dict[str, float | int]] = field(default_factory=dict)
    """For what was looked for, admitted, and looked for from the disk: recall and precision."""
    versions: dict[str, str] = field(default_factory=dict)


def printed(rows: list[dict[str, Any]]) -> str:
    """Set the rows for a screen, with their notes under them."""
    set_in_line = (
        _line(cells(row)) if row["done"] else f"{row['title']:28}{row['problem']}" for row in rows
    )
    lines = [_line(COLUMNS), *set_in_line, _line(to_reach(rows))]
    return "\n".join([*lines, "", *(note for row in rows for note in notes(row))])


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """Set the rows for a page."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for row in rows:
        if row["done"]:
            lines.append("| " + " | ".join(cells(row)) + " |")
        else:
            lines.append(f"| {row['title']} | {row['problem']} " + "| " * (len(COLUMNS) - 2) + "|")
    lines.append("| " + " | ".join(to_reach(rows)) + " |")
    return "\n".join([*lines, "", *(note for row in rows for note in notes(row))])


def cells(row: dict[str, Any]) -> list[str]:
    """Give the figures of a row as they are shown."""
    query = row["answered"]["query"]
    cold = [_milliseconds(row["cold"][name]) if row["cold"] else "" for name in ("median", "p99")]
    return [
        title(row),
        f"{row['done']:,}",
        f"{row['added_per_second']:,.0f}",
        f"{row['admitted_per_second']:,.0f}",
        *(_milliseconds(row["warm"][name]) for name in ("median", "p99")),
        *cold,
        f"{row['bytes_per_document']:,.0f}",
        f"{row['peak'] / 1e6:,.0f}",
        f"{query['recall']:.4f}",
        f"{query['precision']:.4f}",
    ]


def to_reach(rows: list[dict[str, Any]]) -> list[str]:
    """Give what Lookalike is to reach with a million documents, as a row."""
    sizes = sorted({row["bytes_to_reach"] for row in rows if row["bytes_to_reach"]}, reverse=True)
    return [
        "to reach",
        "",
        f"{TO_REACH['add']:,}",
        f"{TO_REACH['admit']:,}",
        f"{TO_REACH['median']:g}",
        f"{TO_REACH['p99']:g}",
        "",
        "",
        " or ".join(f"{size:,}" for size in sizes),
        "",
        "",
        "",
    ]


def title(row: dict[str, Any]) -> str:
    """Name a contestant with the version that ran."""
    return f"{row['title']} {next(iter(row['versions'].values()), '')}".strip()


def notes(row: dict[str, Any]) -> list[str]:
    """Say under the table what a row has no room for."""
    if not row["done"]:
        return []
    parts = [row["setting"]]
    if row["done"] < row["of"]:
        parts.append(f"time ran out: all figures are of the first {row['done']:,} documents")
    parts.append(f"added in {row['adding']:,.1f} s, {row['cpu']:,.1f} of all cores together")
    parts.append(
        f"admitted one in {_milliseconds(row['admitting']['median'])} ms, 99 % within "
        f"{_milliseconds(row['admitting']['p99'])}"
    )
    names = {"query": "looked for", "admit": "admitted", "cold": "looked for from the disk"}
    timed = {"query": row["warm"], "admit": row["admitting"], "cold": row["cold"]}
    for stage, judged in row["answered"].items():
        parts.append(
            f"{timed[stage]['count']:,} {names[stage]}: recall {judged['recall']:.4f} of "
            f"{judged['sought']:,}, precision {judged['precision']:.4f} of {judged['answered']:,}"
        )
    parts += [row["note"], row["problem"]]
    return [f"- {title(row)}: {'; '.join(part for part in parts if part)}"]


def _line(cells: Any) -> str:
    first, *others = cells
    return f"{first:28}" + "".join(f"{cell:>12}" for cell in others)


def _milliseconds(number: float) -> str:
    return f"{number:,.2f}" if number < ROUND else f"{number:,.0f}"
