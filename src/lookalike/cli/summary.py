"""What `find` and `dedup` say at their end."""

from __future__ import annotations

import itertools
import textwrap
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow as pa
    from rich.console import Console

    from lookalike.planning.plan import Plan
    from lookalike.results import Summary

__all__ = [
    "compared_line",
    "plan_lines",
    "say_warnings",
    "score_lines",
    "seconds_line",
    "seconds_text",
    "sizes_text",
    "summarise",
    "wrapped",
]

SHOWN_BAD = 5
MIN_WIDTH = 40
"""Columns in which a line is set, at the least."""


def summarise(
    console: Console,
    summary: Summary,
    facts: list[str],
    empty: pa.Array,
    out: Path | None = None,
) -> None:
    """Say what was read, skipped and found, and the seconds of each stage, one fact a line.

    `out` is where the result was written.
    """
    from lookalike.base.wording import (
        count,
        counted_reasons,
        on_command_line,
        shortened,
        skipped_by_kind,
        visible,
    )

    references = summary.references
    lines = [f"Read       {count(summary.documents - references, 'document')}"]
    if references:
        lines.append(f"Against    {count(references, 'reference document')}")
    for kind, reasons in skipped_by_kind(summary.skipped).items():
        lines.append(f"Skipped    {counted_reasons(kind, reasons)}")
    if summary.bad_count:
        lines.append(f"Bad        {summary.bad_count:,} skipped, as asked:")
        named = map(on_command_line, summary.bad[:SHOWN_BAD])
        lines += [f"           {visible(line)}" for line in named]
        if summary.bad_count > SHOWN_BAD:
            lines.append(f"           and {summary.bad_count - SHOWN_BAD:,} more")
    if summary.empty:
        names = ", ".join(shortened(name) for name in empty[:3].to_pylist())
        more = ", …" if summary.empty > 3 else ""
        lines.append(f"Empty      {summary.empty:,}, similar to nothing: {names}{more}")
    if summary.identical:
        lines.append(f"Identical  {summary.identical:,} to another, compared as one")
    lines += facts
    if out is not None:
        lines.append(f"Written    to {visible(out)}")
    lines.append(seconds_line(summary))
    for line in lines:
        console.print(wrapped(line, console.width, indent=11), soft_wrap=True)


def seconds_line(summary: Summary) -> str:
    """Say how long the command took until now, and of which stages that is made up."""
    from lookalike.cli import clock

    start, total = summary.seconds.began - clock.began(), time.perf_counter() - clock.began()
    return f"Seconds    {seconds_text(summary.seconds, start, total)}"


def seconds_text(stages: Mapping[str, float], start: float, total: float) -> str:
    """Write the seconds that passed, and of which stages they are; as printed they add up.

    `start` went by before the first stage. What is of no stage is called other, if it shows.
    """
    from lookalike.base.wording import adding_up

    parts = {"start": start, **stages}
    rest = max(0.0, total - sum(parts.values()))
    for whole in (parts | {"other": rest}, parts):
        written, digits = adding_up(list(whole.values()), 1)
        if len(whole) == len(parts) or float(digits[-1]):
            break
    named = ", ".join(f"{name} {spent}" for name, spent in zip(whole, digits, strict=True))
    return f"{written}: {named}"


def wrapped(line: str, width: int, *, indent: int = 0) -> str:
    """Set a line in so many columns, with names unbroken."""
    return "\n".join(
        textwrap.wrap(
            line,
            max(width, MIN_WIDTH),
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def compared_line(summary: Summary) -> str:
    """Say how many candidates there were, and what became of them."""
    return f"Compared   {summary.compared_text()}"


def plan_lines(plan: Plan, summary: Summary) -> list[str]:
    """Say in a sentence how the pairs were found, and by what they were compared, and why."""
    if not summary.documents:
        return []
    lines = [f"Plan       {plan.sentence()}", *score_lines(summary)]
    if plan.shingle_reason and plan.shingle_reason != "as given":
        lines[-1] += f": {plan.shingle_reason}"
    return lines


def score_lines(summary: Summary) -> list[str]:
    """Say by what documents were compared."""
    return [f"Score      {summary.score}"] if summary.documents and summary.score else []


def say_warnings(console: Console, warnings: tuple[str, ...]) -> None:
    """Say what a user should know before trusting a result."""
    from lookalike.base.wording import on_command_line, visible

    for warning in warnings:
        console.print(f"Warning: {visible(on_command_line(warning))}.\n")


def sizes_text(clusters: pa.Table) -> str:
    """Say how many clusters there are of each size: of 2, 3 to 9, 10 to 99, and so on."""
    import numpy as np

    number, size = (clusters[name].to_numpy() for name in ("cluster", "size"))
    sizes = size[np.unique(number, return_index=True)[1]]
    bounds = [2, 3]
    while bounds[-1] <= sizes.max():
        bounds.append(10 ** len(str(bounds[-1])))
    parts = []
    for low, high in itertools.pairwise(bounds):
        count = int(np.count_nonzero((sizes >= low) & (sizes < high)))
        if count:
            parts.append(f"{count:,} of {low:,}" + (f" to {high - 1:,}" if high - low > 1 else ""))
    return ", ".join(parts)
