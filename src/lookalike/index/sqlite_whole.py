"""All rows of an index in a file of SQLite, and what SQLite itself finds wrong with the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.wording import quoted
from lookalike.index.sqlite_rows import (
    DOCUMENT_TYPES,
    ENTRY_TYPES,
    SCHEMA,
    Rows,
    block_of,
    typed,
)
from lookalike.index.store import Document, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.index.store import Block

__all__ = ["WholeRows"]

ROWS = 1 << 16
"""Loose rows that are given at a time."""
TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_master"
ODD = "SELECT 1 FROM loose WHERE typeof(key) <> 'integer' OR typeof(entry) <> 'integer' LIMIT 1"
"""Whether a row has what is no whole number, and would be read as one."""
BEGIN = "*** in database main ***"
"""How SQLite begins what it says."""


class WholeRows(Rows):
    """The rows of a file, in one transaction that goes through all of them."""

    def faults(self) -> list[str]:
        """Tell what SQLite finds damaged of pages, trees, and the indexes of tables."""
        (said,) = self._run("PRAGMA integrity_check(1)").fetchone()
        if said != "ok":
            return [f"SQLite says {quoted(' '.join(said.removeprefix(BEGIN).split()))}"]
        # A type that is spelled otherwise would change how values are compared.
        if not _tables() <= {*self._run(TABLES).fetchall()}:
            return ["its tables are not as they were made"]
        return ["a row of a band is no row of numbers"] if self._run(ODD).fetchone() else []

    def every_document(self) -> Iterator[tuple[Document, int | None]]:
        """Give all documents."""
        for row in self._run("SELECT id, entry, metadata, run, mark FROM document"):
            *document, mark = typed(row, *DOCUMENT_TYPES, int)
            yield Document(*document), mark

    def every_entry(self, begin: int, end: int) -> Iterator[tuple[Entry, int | None]]:
        """Give the entries with some numbers."""
        rows = self._run(
            "SELECT number, content, sketch, length, empty, body, mark"
            " FROM entry LEFT JOIN body ON body.entry = number"
            " WHERE number >= ? AND number < ? ORDER BY number",
            (begin, end),
        )
        for row in rows:
            *entry, mark = typed(row, *ENTRY_TYPES, int)
            yield Entry(*entry), mark

    def every_loose(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Give all loose rows."""
        found = self._run("SELECT key, entry FROM loose")
        while rows := found.fetchmany(ROWS):
            columns = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows))
            yield columns[::2], columns[1::2]

    def every_block(self) -> Iterator[Block]:
        """Give all blocks."""
        for row in self._run("SELECT key, entries, sketches FROM crowd"):
            yield block_of(*row)

    def ids_of(self, entry: int, most: int) -> list[str]:
        """Give ids of an entry."""
        select = "SELECT id FROM document WHERE entry = ? ORDER BY id LIMIT ?"
        return [id for (id,) in self._run(select, (entry, most))]


def _tables() -> set[tuple[str | None, ...]]:
    """Give the tables and indexes of a new file."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        return {*connection.execute(TABLES)}
