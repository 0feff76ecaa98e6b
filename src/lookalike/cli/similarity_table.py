"""The similarities of several documents, each with each, as a table for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from lookalike.base.wording import similarity_text, visible
from lookalike.cli.screen import simple_table

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.score.comparison import Comparisons

__all__ = ["show_similarities"]

CELL = 8
"""Columns of a similarity with the blanks before it."""
STRONG = 0.8
"""From which similarity on a number stands out."""


def show_similarities(out: Console, found: Comparisons) -> None:
    """Show a row and a column for each document; columns that do not fit come below."""
    numbers = [str(at) for at in range(1, len(found.names) + 1)]
    names = [visible(name) for name in found.names]
    beside = max(map(cell_len, names)) + len(numbers[-1]) + 3
    # A row begins with its name where half of the width is left for numbers.
    is_named = beside <= out.width // 2
    if not is_named:
        for number, name in zip(numbers, names, strict=True):
            out.print(Text(f"{number:>{len(numbers[-1])}}  {name}"), soft_wrap=True)
        out.print()
    used = beside if is_named else len(numbers[-1]) + 1
    fitting = max(1, (out.width - used) // CELL)
    similarity = {(pair.a, pair.b): pair.similarity for pair in found.pairs}
    for first in range(0, len(names), fitting):
        if first:
            out.print()
        chosen = range(first, min(first + fitting, len(names)))
        heads = [f"{numbers[at]}>" for at in chosen]
        table = simple_table(">", *([""] if is_named else []), *heads)
        for row, name in enumerate(names):
            cells = [_cell(similarity, row, column) for column in chosen]
            table.add_row(numbers[row], *([Text(name)] if is_named else []), *cells)
        out.print(table)


def _cell(similarity: dict[tuple[int, int], float], row: int, column: int) -> Text:
    if row == column:
        return Text("-", "dim")
    value = similarity[min(row, column), max(row, column)]
    return Text(similarity_text(value), "bold" if value >= STRONG else "")
