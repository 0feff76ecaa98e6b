"""What the commands on an index say at their end, one fact a line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from lookalike.index.index import Index
    from lookalike.index.unread import NotRead

__all__ = ["made_lines", "say_facts", "seconds_fact", "unread_facts", "unread_lines"]


def say_facts(console: Console, lines: Iterable[str]) -> None:
    """Print facts, each a word and what is to say of it."""
    from lookalike.cli.summary import wrapped

    for line in lines:
        console.print(wrapped(line, console.width, indent=11), soft_wrap=True)


def seconds_fact() -> str:
    """Say how long the command took until now."""
    from lookalike.cli import clock

    return f"Seconds    {time.perf_counter() - clock.began():.1f}"


def unread_lines(unread: NotRead) -> list[str]:
    """Say how many files and records were not read, and why; they were named before."""
    from lookalike.base.wording import counted_reasons, skipped_by_kind

    lines = [
        f"Skipped    {counted_reasons(kind, reasons)}"
        for kind, reasons in skipped_by_kind(unread.skipped).items()
    ]
    if unread.bad_count:
        lines.append(f"Bad        {unread.bad_count:,} skipped, as asked")
    return lines


def unread_facts(unread: NotRead) -> dict[str, Any]:
    """Give what was not read, for JSON."""
    return {
        "skipped": unread.skipped,
        "unread": [{"path": one.path, "reason": one.reason} for one in unread.unread()],
        "bad_count": unread.bad_count,
        "bad": unread.bad,
    }


def made_lines(index: Index) -> list[str]:
    """Say how the documents of an index are compared, why, and what it keeps of them."""
    plan = index.plan
    reason = plan.shingle_reason
    why = f": {reason}" if reason and reason != "as given" else ""
    keeps = "documents too, compressed: scores are exact"
    if not index.keeps_text:
        keeps = "sketches alone: scores are estimated"
    return [
        f"Score      {plan.compared}{why}",
        f"Plan       {plan.sentence()}",
        f"Keeps      {keeps}",
    ]
