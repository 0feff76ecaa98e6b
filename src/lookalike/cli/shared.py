"""`lookalike find --boilerplate`: the passages that most documents share."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from rich.console import Console

    from lookalike.results import Summary
    from lookalike.text.boilerplate import SharedPassage

__all__ = ["show_shared"]

SHOWN_TEXT = 200
"""Characters of a passage that are shown on a screen."""


def show_shared(
    passages: list[SharedPassage],
    summary: Summary,
    distinct: int,
    empty: pa.Array,
    kind: str,
    out: Path | None,
    console: Console,
) -> None:
    """Show passages, or write them with their whole text."""
    from rich.text import Text

    from lookalike.base.wording import count, visible
    from lookalike.cli import screen
    from lookalike.cli.summary import say_warnings, summarise

    say_warnings(console, summary.warnings)
    if kind != "table":
        import pyarrow as pa

        from lookalike.cli.output import write_out

        table = pa.table(
            {
                "documents": pa.array([one.documents for one in passages], pa.int64()),
                "share": pa.array([one.documents / distinct for one in passages], pa.float64()),
                "words": pa.array([one.words for one in passages], pa.int64()),
                "text": pa.array([one.text for one in passages], pa.string()),
            }
        )
        write_out(iter([table]), kind, out)
    elif passages:
        shown = screen.results()
        title = f"The passages shared by the most of {count(distinct, 'distinct document')}"
        shown.print(f"{title}\n")
        rows = screen.simple_table("documents>", "share>", "words>", "passage")
        for one in passages:
            text = textwrap.shorten(one.text, SHOWN_TEXT, placeholder=" …")
            share = f"{one.documents / distinct:.0%}"
            rows.add_row(f"{one.documents:,}", share, f"{one.words:,}", Text(visible(text)))
        shown.print(rows)
        shown.print()
    else:
        screen.results().print("No passage is shared by two documents.")
    facts = [f"Found      {count(len(passages), 'shared passage')}"]
    summarise(console, summary, facts, empty)
