"""A lesson on a characteristic matrix: minhashes by given permutations and hash functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from lookalike.base.errors import SettingsError
from lookalike.base.wording import count, setting, visible
from lookalike.learn import textbook
from lookalike.learn.facts import matrix_facts, signature_facts
from lookalike.learn.matrices import (
    check_first_row,
    first_row_of,
    parse_hash,
    parse_permutation,
    read_matrix,
)
from lookalike.learn.page import (
    Page,
    Shown,
    check_columns,
    formula,
    show_estimates,
    show_minhashes,
    show_similarities,
    show_steps,
    written,
)
from lookalike.learn.textbook import HashFunction, SignatureMatrix
from lookalike.learn.web_page import web_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from lookalike.learn.textbook import CharacteristicMatrix, Pair, Step

__all__ = ["MatrixLesson", "matrix_lesson"]

MAX_ROWS, MAX_GIVEN = 100, 20
"""Rows of a matrix; hash functions, or permutations: tables of more cannot be read."""
LABEL_WIDTH = 6


@dataclass(frozen=True, repr=False)
class MatrixLesson(Shown):
    """What permutations and hash functions make of a characteristic matrix."""

    matrix: CharacteristicMatrix
    first_row: int
    """0 or 1: from where rows are counted."""
    similarities: dict[Pair, float]
    """Exact, of every two columns."""
    permutations: tuple[tuple[int, ...], ...]
    minhashes: SignatureMatrix
    """By permutations: for each the place of the first 1, counted as rows are."""
    functions: tuple[HashFunction, ...]
    steps: tuple[Step, ...]
    """The signatures by hash functions before the first row, and after each."""
    signatures: SignatureMatrix
    """After the last row."""

    def show(self, console: Console) -> None:
        """Show every step on a console."""
        names, last = self.matrix.columns, self.first_row + len(self.matrix.cells) - 1
        page = Page(console, _labels(names), element="element" if self._has_names else None)
        called = f" called {', '.join(page.labels)}" if page.labels == [*names] else ""
        page.say(f"{count(len(names), 'set')}{called}, rows {self.first_row} to {last}.")
        if not called:
            page.table(["", "set"], [[page.label(name), visible(name)] for name in names])
        _show_matrix(page, self)
        show_similarities(page, self.matrix, self.similarities)
        for order, minhashes in zip(self.permutations, _by_row(self.minhashes), strict=True):
            _show_permutation(page, self, order, minhashes)
        if len(self.permutations) > 1:
            _show_signatures(page, self.minhashes, "p", "permutation")
            show_estimates(page, self.minhashes, self.similarities)
        if self.functions:
            _show_row_by_row(page, self, self._collided())
            _show_signatures(page, self.signatures, "h", "hash function")
            show_estimates(page, self.signatures, self.similarities)

    def html(self) -> str:
        """Give the lesson as one HTML page, on which it can be played with."""
        last = self.first_row + len(self.matrix.cells) - 1
        made = [("p", self.minhashes)] if self.permutations else []
        made += [("h", self.signatures)] if self.functions else []
        sets = count(len(self.matrix.columns), "set")
        facts = {
            "kind": "matrix",
            "settings": f"{sets}, rows {self.first_row} to {last}.",
            "drawSeed": 1,
            "collisions": [*self._collided()],
            "orders": [list(order) for order in self.permutations],
            **matrix_facts(
                self.matrix,
                [*_labels(self.matrix.columns).values()],
                self.similarities,
                first_row=self.first_row,
                element="element" if self._has_names else None,
            ),
            **signature_facts(made, self.functions),
        }
        return web_page(f"A lesson on {sets}", facts)

    def _collided(self) -> Iterator[str]:
        """Say of each function that is no permutation which rows it sends to one number."""
        for number, function in enumerate(self.functions, start=1):
            if met := self.collisions(function):
                collided = "; ".join(" and ".join(map(str, rows)) for rows in met)
                yield f"h{number} sends rows to one number, and is no permutation: {collided}."

    @property
    def _has_names(self) -> bool:
        numbers = range(self.first_row, self.first_row + len(self.matrix.cells))
        return self.matrix.shingles != tuple(map(str, numbers))

    def collisions(self, function: HashFunction) -> list[tuple[int, ...]]:
        """Give the rows that a function sends to one number: of a permutation, none."""
        rows = defaultdict(list)
        for row in range(self.first_row, self.first_row + len(self.matrix.cells)):
            rows[function(row)].append(row)
        return [tuple(met) for met in rows.values() if len(met) > 1]


def matrix_lesson(
    matrix: Any,
    *,
    hash: str | HashFunction | Sequence[str | HashFunction] | None = None,
    permutation: str | Sequence[Any] | None = None,
    first_row: int | None = None,
) -> MatrixLesson:
    """Compute the minhash signatures of a characteristic matrix by what is given, step by step.

    The matrix is a small file of zeros and ones, with a row for each element and a column for each
    set, or a dict of sets. `hash` is a function of the number of a row, as "3x+1 mod 5", or several
    in a list; `permutation` an order of the rows, as "4,3,1,2", or several. Rows are counted from
    1, or from 0 where `first_row` or the names of the rows say so. The tables are data, and printed
    they are what `lookalike learn --matrix` shows.
    """
    check_first_row(first_row)
    characteristic = read_matrix(matrix, 1 if first_row is None else first_row)
    first = first_row_of(characteristic, first_row)
    check_columns(len(characteristic.columns), "set")
    _check_rows(len(characteristic.cells))
    functions = tuple(parse_hash(one) for one in _several("hash", hash))
    given = _several("permutation", permutation)
    orders = tuple(parse_permutation(one, characteristic, first) for one in given)
    if not functions and not orders:
        raise SettingsError(
            f"{setting('matrix')} needs hash functions, as {setting('hash', '3x+1 mod 5')}, or an "
            f"order of its rows, as {setting('permutation', '2,1,3')}"
        )
    found = [textbook.minhash_by_permutation(characteristic, order, first) for order in orders]
    steps = tuple(textbook.row_by_row(characteristic, functions, first))
    names = characteristic.columns
    return MatrixLesson(
        matrix=characteristic,
        first_row=first,
        similarities={pair: characteristic.jaccard(*pair) for pair in combinations(names, 2)},
        permutations=orders,
        minhashes=SignatureMatrix({name: tuple(one[name] for one in found) for name in names}),
        functions=functions,
        steps=steps,
        signatures=steps[-1].signatures,
    )


def _check_rows(number: int) -> None:
    if not number:
        raise SettingsError("learn was given sets without elements: give one an element")
    if number > MAX_ROWS:
        raise SettingsError(
            f"learn was given {count(number, 'row')} and shows at most {MAX_ROWS}: give fewer"
        )


def _several(name: str, given: Any) -> list[Any]:
    """Give what was given once or several times; of numbers alone, an order of rows is made."""
    if given is None:
        return []
    is_one = isinstance(given, (str, bytes, HashFunction)) or not isinstance(given, Iterable)
    listed = [given] if is_one else list(given)
    if not is_one and listed and all(isinstance(part, Integral) for part in listed):
        listed = [listed]
    if len(listed) > MAX_GIVEN:
        raise SettingsError(
            f"{setting(name)} was given {len(listed):,} times, and at most {MAX_GIVEN} are shown: "
            "give fewer"
        )
    return listed


def _labels(names: Sequence[str]) -> dict[str, str]:
    """Call short sets by their names, and long ones S1, S2, and so on."""
    if all(cell_len(visible(name)) <= LABEL_WIDTH for name in names):
        return {name: visible(name) for name in names}
    return {name: f"S{number}" for number, name in enumerate(names, start=1)}


def _by_row(signatures: SignatureMatrix) -> Iterator[dict[str, float]]:
    """Give the rows of a signature matrix, each with the names of the columns."""
    for values in zip(*signatures.columns.values(), strict=True):
        yield dict(zip(signatures.columns, values, strict=True))


def _show_matrix(page: Page, taught: MatrixLesson) -> None:
    page.step(
        "Characteristic matrix",
        "One row for each element, one column for each set; 1 where the set has the element.",
    )
    rows = zip(taught.matrix.shingles, taught.matrix.cells, strict=True)
    lines = [
        [row, *page.element_cell(name), *cells]
        for row, (name, cells) in enumerate(rows, start=taught.first_row)
    ]
    page.table(["row", *page.element_title, *page.labels], lines)


def _show_permutation(
    page: Page, taught: MatrixLesson, order: Sequence[int], minhashes: dict[str, float]
) -> None:
    page.step(
        "A permutation",
        f"Read the rows in the order {', '.join(map(str, order))}. A column's minhash is the place "
        f"in this order, counted from {taught.first_row}, of the first row where the column has a "
        "1; the textbook also calls the row itself so.",
    )
    show_minhashes(page, taught.matrix, order, minhashes, taught.first_row)


def _show_row_by_row(page: Page, taught: MatrixLesson, collided: Iterable[str]) -> None:
    formulas = [formula(i, h) for i, h in enumerate(taught.functions, start=1)]
    page.step(
        "Row by row, with hash functions",
        f"{', '.join(formulas)}. Each value begins at infinity (inf); where a column has a 1, "
        "a smaller hash of the row replaces it (marked *).",
    )
    show_steps(page, taught.steps)
    for line in collided:
        page.say(line)


def _show_signatures(page: Page, signatures: SignatureMatrix, letter: str, made_by: str) -> None:
    page.step(
        "Signature matrix",
        f"Each set has a column of minhashes, its signature: a row for each {made_by}.",
    )
    rows = enumerate(_by_row(signatures), start=1)
    page.table(["", *page.labels], [[f"{letter}{at}", *row.values()] for at, row in rows])
    columns = signatures.columns.items()
    tuples = (f"{page.label(name)} = ({', '.join(map(written, one))})" for name, one in columns)
    page.say(f"{', '.join(tuples)}.")
