"""All rows of an index in PostgreSQL, as the server sends them, some in memory at a time."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.index.postgres_rows import Reading, block_of
from lookalike.index.store import Document, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psycopg import ServerCursor

    from lookalike.index.store import Block

__all__ = ["WholeReading"]

ROWS, LOOSE_ROWS = 1000, 1 << 16
LARGE_ROWS = 32
"""Entries with their bodies, and blocks, that the server sends at a time."""


class WholeReading(Reading):
    """The rows of an index, in one transaction that goes through all of them."""

    def faults(self) -> list[str]:
        """Leave its pages and trees to the server, which has checksums and tools of its own."""
        return []

    def _sent(self, statement: str, *values: Any, rows: int) -> ServerCursor[Any]:
        """Ask for rows that the server sends some at a time."""
        cursor = self.connection.cursor("lookalike_whole", binary=True)
        cursor.itersize = rows
        return cursor.execute(statement, values or None)

    def every_document(self) -> Iterator[tuple[Document, int | None]]:
        """Give all documents."""
        statement = "SELECT id, entry, metadata, run, mark FROM document"
        with self._sent(statement, rows=ROWS) as found:
            for *document, mark in found:
                yield Document(*document), mark

    def every_entry(self, begin: int, end: int) -> Iterator[tuple[Entry, int | None]]:
        """Give the entries with some numbers."""
        statement = (
            "SELECT number, content, sketch, length, empty, body, mark"
            " FROM entry LEFT JOIN body ON body.entry = number"
            " WHERE number >= %s AND number < %s ORDER BY number"
        )
        with self._sent(statement, begin, end, rows=LARGE_ROWS) as found:
            for *entry, mark in found:
                yield Entry(*entry), mark

    def every_loose(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Give all loose rows."""
        with self._sent("SELECT key, entry FROM loose", rows=LOOSE_ROWS) as found:
            while rows := found.fetchmany(LOOSE_ROWS):
                columns = np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows))
                yield columns[::2], columns[1::2]

    def every_block(self) -> Iterator[Block]:
        """Give all blocks."""
        statement = "SELECT key, entries, sketches FROM crowd"
        with self._sent(statement, rows=LARGE_ROWS) as found:
            for row in found:
                yield block_of(*row)

    def ids_of(self, entry: int, most: int) -> list[str]:
        """Give ids of an entry."""
        select = "SELECT id FROM document WHERE entry = %s ORDER BY id LIMIT %s"
        return [id for (id,) in self._run(select, entry, most)]
