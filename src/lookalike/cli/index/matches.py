"""What a person sees of the documents that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

__all__ = ["show_matches"]

METADATA = "metadata."
UNBOUNDED = 1_000_000
"""Columns of a screen on which everything has room."""
INDENT = 9
"""Columns that a score takes."""
SHARES = {"query_in_match": "of document", "match_in_query": "of match"}
"""Columns of containment, and what they are called: a share of the one that the other has."""


def show_matches(console: Console, rows: Sequence[dict[str, Any]], *, one_document: bool) -> None:
    """Show matches in columns, or, where these are too wide, each on lines of its own."""
    from rich.text import Text

    from lookalike.cli.screen import scores_of, simple_table

    scores = scores_of([*rows])
    names = [name for name in rows[0] if name.startswith(METADATA)]
    shares = [name for name in SHARES if name in rows[0]]
    documents = [] if one_document else ["document"]
    table = simple_table(
        "similarity>",
        *(f"{SHARES[name]}>" for name in shares),
        *documents,
        "match",
        *(name.removeprefix(METADATA) for name in names),
    )
    for score, row in zip(scores, rows, strict=True):
        named = [row["match"]] if one_document else [row["id"], row["match"]]
        cells = [*named, *(row[name] for name in names)]
        table.add_row(score, *_shares(row, shares), *(Text(_shown(cell)) for cell in cells))
    unbounded = console.options.update(max_width=UNBOUNDED)
    if console.measure(table, options=unbounded).maximum <= console.width:
        console.print(table)
    else:
        _show_stacked(console, rows, scores, shares, names, one_document=one_document)


def _show_stacked(
    console: Console,
    rows: Sequence[dict[str, Any]],
    scores: Sequence[str],
    shares: Sequence[str],
    names: Sequence[str],
    *,
    one_document: bool,
) -> None:
    from rich.text import Text

    from lookalike.cli.summary import wrapped

    if not one_document:
        console.print("similarity, document, and match below it\n")
    for score, row in zip(scores, rows, strict=True):
        lines = (
            [_shown(row["match"])] if one_document else [_shown(row["id"]), _shown(row["match"])]
        )
        told = [
            f"{SHARES[name]} {share}"
            for name, share in zip(shares, _shares(row, shares), strict=True)
            if share
        ]
        told += [
            f"{name.removeprefix(METADATA)}: {_shown(row[name])}"
            for name in names
            if row[name] is not None
        ]
        if told:
            lines += wrapped(", ".join(told), console.width - INDENT).split("\n")
        shown = f"\n{'':{INDENT}}".join(lines)
        console.print(Text(f"{score:>7}  {shown}"), soft_wrap=True)


def _shares(row: dict[str, Any], shares: Sequence[str]) -> list[str]:
    from lookalike.base.wording import percent

    return ["" if row[name] is None else percent(row[name]) for name in shares]


def _shown(value: Any) -> str:
    """Write an id or a value of metadata on one line; a missing one as nothing."""
    from lookalike.base.wording import visible

    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return visible(value.isoformat() if hasattr(value, "isoformat") else value)
