"""The page of a lesson: headings, sentences and tables, and the tables that every lesson has."""

from __future__ import annotations

from io import StringIO
from itertools import combinations, pairwise
from math import inf
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lookalike.base.errors import SettingsError
from lookalike.base.wording import count, similarity_text, visible
from lookalike.write.html_pages import write_html

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from lookalike.learn.textbook import (
        CharacteristicMatrix,
        HashFunction,
        Pair,
        SignatureMatrix,
        Step,
    )

__all__ = [
    "MAX_COLUMNS",
    "MAX_LINES",
    "Page",
    "Shown",
    "by_similarity",
    "check_columns",
    "formula",
    "shortened",
    "show_estimates",
    "show_minhashes",
    "show_similarities",
    "show_steps",
    "written",
]

MIN_COLUMNS, MAX_COLUMNS = 2, 8
"""Documents, or sets, that are shown side by side."""
MAX_LINES = 12
PAGE_WIDTH = 80
NAME_WIDTH = 28
NARROW_NAME_WIDTH = 9


class Shown:
    """What a console shows as a page, and Python as the same page."""

    def show(self, console: Console) -> None:
        """Show every step on a console."""
        raise NotImplementedError

    def html(self) -> str:
        """Give the lesson as one HTML page, on which it can be played with."""
        raise NotImplementedError

    def write(self, out: str | os.PathLike[str]) -> None:
        """Write the HTML page to a file, whole or not at all."""
        write_html(out, self.html())

    def __repr__(self) -> str:
        """Give the page as text, in lines of 80 columns at the most."""
        page = StringIO()
        # A notebook would take what is printed for itself, and print it before it is asked for.
        plain = Console(
            file=page,
            width=PAGE_WIDTH,
            color_system=None,
            force_terminal=False,
            force_jupyter=False,
            legacy_windows=False,
        )
        self.show(plain)
        return page.getvalue().removesuffix("\n")


class Page:
    """Headings, sentences and tables on a console, with short labels for the columns."""

    def __init__(
        self, console: Console, labels: Mapping[str, str], *, element: str | None = "shingle"
    ) -> None:
        """Begin a page; `element` is what a row of the matrix is called, where rows have names."""
        self._console = console
        self._width = min(console.width, PAGE_WIDTH)
        self._labels = dict(labels)
        self._steps = 0
        self.element = element

    @property
    def labels(self) -> list[str]:
        """The labels of all columns, in their order."""
        return list(self._labels.values())

    def label(self, *names: str) -> str:
        """Give the labels of some columns in a row."""
        return " ".join(self._labels[name] for name in names)

    @property
    def element_title(self) -> list[str]:
        """The head of the column of elements, if there is one."""
        return [self.element] if self.element else []

    def element_cell(self, name: str, width: int = NAME_WIDTH) -> list[str]:
        """Give an element for its column, if there is one.

        In quotes, because a blank at the end of a shingle is part of it and would not be seen.
        """
        return [f"'{shortened(name, width)}'"] if self.element else []

    def step(self, title: str, sentences: str) -> None:
        """Begin a step with its number and title."""
        self._steps += 1
        self._console.print()
        self.say(f"{self._steps}. {title}", style="bold")
        self.say(sentences)

    def say(self, sentences: str, style: str = "") -> None:
        """Print a paragraph."""
        # As Text, so that brackets and colons in documents are not taken for markup or emoji.
        self._console.print(Text(sentences, style), width=self._width)

    def say_more(self, left: int, noun: str) -> None:
        """Say how many lines were left out, if any were."""
        if left > 0:
            self.say(f"... and {count(left, f'more {noun}')}.")

    def table(self, header: Sequence[str], lines: Sequence[Sequence[object]]) -> None:
        """Print a table, if it has lines."""
        if not lines:
            return
        table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for title, cells in zip(header, zip(*lines, strict=True), strict=True):
            number = title in self.labels or not all(isinstance(cell, str) for cell in cells)
            table.add_column(
                Text(title), justify="right" if number else "left", no_wrap=number, overflow="fold"
            )
        for line in lines:
            table.add_row(*(Text(written(cell)) for cell in line))
        # A measure is never above the width it is given: give it one that no table has.
        roomy = self._console.options.update(width=1000)
        if self._console.measure(table, options=roomy).maximum > self._width:
            table.padding = 0
        self._console.print(table, width=self._width)


def check_columns(number: int, what: str) -> None:
    """Refuse more columns than fit side by side, and fewer than can be compared."""
    if not MIN_COLUMNS <= number <= MAX_COLUMNS:
        raise SettingsError(
            f"learn was given {count(number, what)} and shows {MIN_COLUMNS} to {MAX_COLUMNS} "
            "side by side: give so many"
        )


def by_similarity(similarities: Mapping[Pair, float]) -> list[tuple[Pair, float]]:
    """Give pairs with the most similar first."""
    return sorted(similarities.items(), key=lambda item: -item[1])


def show_similarities(
    page: Page, matrix: CharacteristicMatrix, similarities: Mapping[Pair, float]
) -> None:
    """Show what the rows of two columns say about their similarity, for each pair."""
    page.step(
        "Exact similarity",
        "For two columns, count the rows with 1 and 1 (a), 1 and 0 (b), 0 and 1 (c). "
        "Their Jaccard similarity is a / (a + b + c).",
    )
    exact = by_similarity(similarities)
    lines = [[page.label(*pair), *matrix.row_types(*pair), s] for pair, s in exact]
    page.table(["pair", "a", "b", "c", "similarity"], lines)


def show_minhashes(
    page: Page,
    matrix: CharacteristicMatrix,
    order: Sequence[int],
    minhashes: Mapping[str, float],
    first_row: int = 1,
) -> None:
    """Show where each column has its first 1 in an order of the rows."""
    lines = []
    for name, place in minhashes.items():
        found = place < inf
        row = order[int(place) - first_row] if found else ""
        element = matrix.shingles[int(row) - first_row] if found else ""
        shingle = page.element_cell(element) if found else ["none" for _ in page.element_title]
        lines.append([page.label(name), place, row, *shingle])
    page.table(["", "minhash", "row", *page.element_title], lines)
    pairs = combinations(minhashes.items(), 2)
    equal = [page.label(one, other) for (one, x), (other, y) in pairs if x == y < inf]
    page.say(
        f"Equal here: {', '.join(equal) or 'no two columns'}. Over all orders, two columns are "
        "equal as often as their Jaccard similarity says."
    )


def formula(place: int, function: HashFunction) -> str:
    """Write a hash function as an equation, by its place from 1."""
    times = "" if function.a == 1 else f"{function.a} "
    return f"h{place}(r) = ({times}r + {function.b}) mod {function.p}"


def show_steps(page: Page, steps: Sequence[Step]) -> None:
    """Show the signatures before and after each row, a value that the row lowered marked."""
    width = NAME_WIDTH if len(page.labels) <= MAX_COLUMNS // 2 else NARROW_NAME_WIDTH
    lines = []
    for before, after in pairwise(steps):
        old, new = before.signatures.columns, after.signatures.columns
        for i, value in enumerate(after.hashes):
            marked = ["*" * (new[c][i] < old[c][i]) + written(new[c][i]) for c in new]
            element = page.element_cell(after.shingle, width)
            row: list[object] = [""] * (1 + len(element)) if i else [after.row, *element]
            lines.append([*row, f"h{i + 1}", value, *marked])
    page.table(["row", *page.element_title, "", "hash", *page.labels], lines)


def show_estimates(
    page: Page, signatures: SignatureMatrix, similarities: Mapping[Pair, float]
) -> None:
    """Show the estimate of each pair beside its exact similarity."""
    length = len(next(iter(signatures.columns.values())))
    page.step(
        "Estimated and exact similarity",
        "The share of rows in which two signatures are equal estimates the similarity; with "
        f"{count(length, 'row')} the standard error is up to {0.5 / length**0.5:.2f}.",
    )
    lines = []
    for pair, exact in by_similarity(similarities):
        estimate = signatures.similarity(*pair)
        # The difference of what is shown, so that the row adds up.
        error = float(written(float(estimate))) - float(written(float(exact)))
        lines.append([page.label(*pair), estimate, exact, f"{error:+.4f}"])
    page.table(["pair", "estimated", "exact", "error"], lines[:MAX_LINES])
    page.say_more(len(lines) - MAX_LINES, "pair")


def written(value: object) -> str:
    """Write a cell of a table: four digits of a share, all of a whole number."""
    return similarity_text(value) if isinstance(value, float) and value < inf else str(value)


def shortened(text: str, width: int) -> str:
    """Cut a text to so many columns, with dots where something is missing."""
    text = visible(text)
    return text if cell_len(text) <= width else set_cell_size(text, width - 3) + "..."
