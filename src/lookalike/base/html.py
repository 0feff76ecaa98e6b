"""Small pieces of HTML for notebooks: text that is text, tables, and parts that fold."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from lookalike.base.wording import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["block", "escaped", "folded", "paragraph", "table"]

MAX_CELL = 300
"""Characters of a cell: a passage may be as long as a document."""


def escaped(text: object) -> str:
    """Write a text so that a page shows it as it is, whatever it holds."""
    return html.escape(visible(text))


def paragraph(text: object) -> str:
    """Write a paragraph."""
    return f"<p>{escaped(text)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table; numbers stand to the right, and long texts are cut."""
    head = "".join(f"<th>{escaped(one)}</th>" for one in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, (int, float)):
        text = f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
        return f'<td style="text-align:right">{text}</td>'
    text = "" if value is None else str(value)
    cut = text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…"
    return f'<td style="text-align:left">{escaped(cut)}</td>'


def folded(title: str, content: str, *, is_open: bool = False) -> str:
    """Write a part that is shown when its title is clicked."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escaped(title)}</summary>{content}</details>"


def block(*parts: str) -> str:
    """Put parts together."""
    return f"<div>{''.join(parts)}</div>"
