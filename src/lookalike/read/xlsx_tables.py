"""The sheets of a workbook as tables: which of them are read, and the documents of their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.read.batches import listed
from lookalike.read.content import NO_COLUMN
from lookalike.read.delimited import choose_columns
from lookalike.read.fields import Rows, from_rows
from lookalike.read.files import Unread
from lookalike.read.xlsx import MAX_ROWS, Cell, Sheet, Workbook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from lookalike.read.fields import Choice, Piece, ReadOptions
    from lookalike.read.files import Shard

__all__ = ["Table", "documents", "place_in", "tables_of"]

NO_COLUMN_IN_SHEET = f"sheet {NO_COLUMN}"
ROW_BYTES = 512
"""Of memory for a row until it is in a column, beside its texts."""


@dataclass(frozen=True)
class Table:
    """A sheet that is read."""

    sheet: Sheet
    place: int
    """Among the sheets of the workbook."""
    header: int
    """Number of the row with the names of the columns."""
    columns: dict[str, int]
    """Where those with a name stand."""
    choice: Choice
    label: str
    """What is added to the name of the file in ids and messages, where several sheets are read."""

    @property
    def before(self) -> int:
        """How many rows are counted before its own: as many as other sheets could have."""
        return self.place * MAX_ROWS


def place_in(record: int) -> str:
    """Say where a record stands, for a message: its row, and its sheet unless that is the first."""
    sheet, row = divmod(record - 1, MAX_ROWS)
    return f"{row + 1}" if not sheet else f"sheet {sheet + 1}:{row + 1}"


def tables_of(
    shard: Shard, book: Workbook, options: ReadOptions
) -> tuple[list[Table], list[Unread]]:
    """Choose the sheets that have the columns asked for, and name those that hold other rows.

    A workbook that was named must have one; of others, found in a folder, it is said.
    """
    headers = [
        (place, sheet, next(book.rows(sheet), None)) for place, sheet in enumerate(book.sheets)
    ]
    filled = [(place, sheet, *first) for place, sheet, first in headers if first is not None]
    tables: list[Table] = []
    problems: list[tuple[Sheet, SourceError, str]] = []
    for place, sheet, header, cells in filled:
        names = {column: book.text(cell) for column, cell in sorted(cells.items())}
        try:
            choice = choose_columns(shard, list(names.values()), options)
        except SourceError as error:
            problems.append((sheet, error, f"it has {listed([*names.values()])}"))
            continue
        columns = {name: column for column, name in names.items()}
        tables.append(Table(sheet, place, header, columns, choice, ""))
    if len(filled) > 1:
        tables = [replace(table, label=f":{table.sheet.name}") for table in tables]
    if problems and not tables:
        if options.vector is not None or not shard.within:
            raise problems[0][1]
        return [], [Unread.of(shard.name, NO_COLUMN, problems[0][2])]
    return tables, [
        Unread.of(f"{shard.name}:{sheet.name}", NO_COLUMN_IN_SHEET, columns)
        for sheet, _, columns in problems
    ]


def documents(
    shard: Shard,
    number: int,
    book: Workbook,
    table: Table,
    options: ReadOptions,
    *,
    after: int,
    size: int,
    wanted: AbstractSet[int] | None,
) -> Iterator[tuple[int, Piece]]:
    """Give documents of a sheet in pieces of about a size, each with the last record in it.

    Those up to a record are skipped, and where some are wanted all others.
    """
    needed = _needed(table, options)
    rows, broken, weight, record = _rows(table, options), list[Unread](), 0, after
    for row, cells in book.rows(table.sheet):
        record = table.before + row
        if row == table.header or record <= after or (wanted is not None and record not in wanted):
            continue
        try:
            found = _values(shard, book, table, row, cells, needed, options)
            where = f"{shard.name}{table.label}:{row}"
            rows.add(found, row, where, f"{shard.label}{table.label}")
            weight += sum(map(len, found.values()))
        except SourceError as error:
            if not options.skip_bad:
                raise
            broken.append(Unread(shard.name, error.raw))
        if weight + len(rows.ids) * ROW_BYTES >= size:
            yield record, _piece(rows, number, broken, table, weight)
            rows, broken, weight = _rows(table, options), [], 0
    yield record, _piece(rows, number, broken, table, weight)


def _needed(table: Table, options: ReadOptions) -> dict[str, int]:
    """Give the columns that are looked at."""
    if options.columns is None:
        return table.columns
    choice = table.choice
    names = [path[0] for path in (*choice.texts, *choice.columns.values())]
    names += [] if choice.id is None else [choice.id[0]]
    return {name: table.columns[name] for name in names if name in table.columns}


def _values(
    shard: Shard,
    book: Workbook,
    table: Table,
    row: int,
    cells: dict[int, Cell],
    needed: dict[str, int],
    options: ReadOptions,
) -> dict[str, str]:
    where = f"{shard.name}{table.label}:{row}"
    found, length = {}, 0
    for name, column in needed.items():
        found[name] = book.text(cells[column]) if column in cells else ""
        length += len(found[name])
        if length > options.bounds.record:  # many cells may share one long text
            raise options.bounds.too_long(where)
    if table.choice.id is not None and not found[table.choice.id[0]]:
        raise SourceError(f"{where}: the id in {quoted(table.choice.id[0])} is empty")
    return found


def _rows(table: Table, options: ReadOptions) -> Rows:
    return Rows(table.choice, options.columns is None)


def _piece(rows: Rows, number: int, broken: Sequence[Unread], table: Table, weight: int) -> Piece:
    piece = from_rows(rows, number, broken)
    return replace(piece, records=piece.records + table.before, weight=weight)
