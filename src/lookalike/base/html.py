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
    listed = [*rows]
    first = listed[0] if listed else [None] * len(columns)
    heads = zip(columns, map(_side, first), strict=True)
    head = "".join(f'<th style="text-align:{side}">{escaped(one)}</th>' for one, side in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in listed)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _side(value: Any) -> str:
    """Say on which side a value stands; its heading stands there too."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "right" if is_number else "left"


def _cell(value: Any) -> str:
    side = _side(value)
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, int):
        text = f"{value:,}"
    elif isinstance(value, float):
        # Shares and similarities below each other have as many digits.
        text = f"{value:.6f}" if 0 <= value <= 1 else f"{value:.6g}"
    else:
        text = "" if value is None else str(value)
    cut = text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}…"
    return f'<td style="text-align:{side}">{escaped(cut)}</td>'


def folded(title: str, content: str, *, is_open: bool = False) -> str:
    """Write a part that is shown when its title is clicked."""
    state = " open" if is_open else ""
    return f"<details{state}><summary>{escaped(title)}</summary>{content}</details>"


def block(*parts: str) -> str:
    """Put parts together."""
    return f"<div>{''.join(parts)}</div>"
