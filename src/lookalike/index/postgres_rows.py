"""The rows of an index in PostgreSQL, and the statements that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.index.postgres_arrays import of_bytes, of_numbers, of_texts
from lookalike.index.postgres_library import errors
from lookalike.index.store import Block, Body, Document, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psycopg import Connection, Cursor

    from lookalike.index.postgres_ahead import Ahead

__all__ = ["PARTS", "Reading", "block_of", "one_row"]

BLOCKS_AT_ONCE = 32
PARTS = {
    "document": "documents",
    "entry": "entries",
    "body": "texts",
    "loose": "bands",
    "crowd": "crowds",
}
"""What the tables hold, as a user is told."""


def one_row(connection: Connection[Any], statement: str, *values: Any) -> Any:
    """Give the one row that a statement has."""
    # Without values no sign of a name is taken for a place of one.
    return connection.execute(statement, values or None).fetchone()


class Reading:
    """The rows of an index, in one transaction."""

    def __init__(self, connection: Connection[Any], ahead: Ahead | None = None) -> None:
        """Take a connection that is in a transaction, and what is known already."""
        self.connection = connection
        self._ahead = ahead

    def _run(self, statement: str, *values: Any) -> Cursor[Any]:
        return self.connection.execute(statement, values, binary=True)

    def fact(self, name: str) -> str | None:
        """Give a fact."""
        if self._ahead is not None and self._ahead.has_fact(name):
            return self._ahead.fact(name)
        row = self._run("SELECT text FROM fact WHERE name = %s", name).fetchone()
        return None if row is None else str(row[0])

    def facts(self, begin: str) -> dict[str, str]:
        """Give all facts whose names begin so."""
        return dict(
            self._run("SELECT name, text FROM fact WHERE starts_with(name, %s)", begin).fetchall()
        )

    def loose(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the loose rows of buckets."""
        known = None if self._ahead is None else self._ahead.loose(keys)
        if known is not None:
            return known
        rows = self._run(
            "SELECT key, entry FROM loose WHERE key = ANY(%s::bigint[])", of_numbers(keys.tolist())
        ).fetchall()
        found = np.array(rows, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def near(self, keys: NDArray[np.int64]) -> dict[int, bytes]:
        """Give the entries of loose rows, and their sketches."""
        known = None if self._ahead is None else self._ahead.near(keys)
        if known is not None:
            return known
        _, entries = self.loose(keys)
        numbers, sketches = self.sketches(np.unique(entries))
        return dict(zip(numbers.tolist(), map(bytes, sketches), strict=True))

    def blocks(self, keys: NDArray[np.int64]) -> Iterator[Block]:
        """Give the blocks of the crowds among buckets, some in memory at a time."""
        numbers = None if self._ahead is None else self._ahead.blocks(keys)
        if numbers is None:
            statement = "SELECT block FROM crowd WHERE key = ANY(%s::bigint[]) ORDER BY block"
            numbers = [
                number for (number,) in self._run(statement, of_numbers(keys.tolist())).fetchall()
            ]
        for begin in range(0, len(numbers), BLOCKS_AT_ONCE):
            for row in self._run(
                "SELECT key, entries, sketches FROM crowd WHERE block = ANY(%s::bigint[])"
                " ORDER BY block",
                of_numbers(numbers[begin : begin + BLOCKS_AT_ONCE]),
            ):
                yield block_of(*row)

    def sketches(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Give sketches."""
        found = None if self._ahead is None else self._ahead.sketches(entries)
        if found is not None:
            return found
        rows = self._run(
            "SELECT number, sketch FROM entry WHERE number = ANY(%s::bigint[])",
            of_numbers(entries.tolist()),
        ).fetchall()
        numbers = np.array([number for number, _ in rows], np.int64)
        return numbers, _rows_of(b"".join(sketch for _, sketch in rows), len(rows))

    def bodies(self, entries: NDArray[np.int64]) -> list[Body]:
        """Give bodies."""
        rows = self._run(
            # No join, of which the server may read a whole table that it knows too little of.
            "SELECT number, content, length, body FROM (SELECT number, content, length,"
            " (SELECT body FROM body WHERE entry = number) AS body FROM entry"
            " WHERE number = ANY(%s::bigint[])) AS found WHERE body IS NOT NULL",
            of_numbers(entries.tolist()),
        )
        return [Body(*row) for row in rows]

    def contents(self, contents: Sequence[bytes]) -> dict[bytes, int]:
        """Give the entries that have these contents."""
        known = None if self._ahead is None else self._ahead.contents(contents)
        if known is not None:
            return known
        rows = self._run(
            "SELECT content, number FROM entry WHERE content = ANY(%s::bytea[])",
            of_bytes(contents),
        )
        return dict(rows.fetchall())

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Give those documents that there are."""
        known = None if self._ahead is None else self._ahead.documents(ids)
        if known is not None:
            return known
        there = of_texts(name for name in ids if "\0" not in name)
        rows = self._run(
            "SELECT id, entry, metadata, run FROM document WHERE id = ANY(%s::text[])", there
        )
        return [Document(*row) for row in rows]

    def documents_of(self, entries: NDArray[np.int64]) -> list[Document]:
        """Give the documents of entries."""
        rows = self._run(
            "SELECT id, entry, metadata, run FROM document WHERE entry = ANY(%s::bigint[])",
            of_numbers(entries.tolist()),
        )
        return [Document(*row) for row in rows]

    def next_documents(self, after: str | None, most: int) -> list[Document]:
        """Give documents in the order of their ids."""
        where, values = ("", ()) if after is None else ("WHERE id > %s", (after,))
        rows = self._run(
            f"SELECT id, entry, metadata, run FROM document {where} ORDER BY id LIMIT %s",  # noqa: S608
            *values,
            most,
        )
        return [Document(*row) for row in rows]

    def next_entries(self, after: int, most: int) -> list[Entry]:
        """Give entries in the order of their numbers."""
        rows = self._run(
            "SELECT e.number, e.content, e.sketch, e.length, e.empty, b.body"
            " FROM entry e LEFT JOIN body b ON b.entry = e.number"
            " WHERE e.number > %s ORDER BY e.number LIMIT %s",
            after,
            most,
        )
        return [Entry(*row) for row in rows]

    def entries(self, numbers: NDArray[np.int64]) -> list[Entry]:
        """Give entries."""
        rows = self._run(
            "SELECT e.number, e.content, e.sketch, e.length, e.empty, b.body"
            " FROM entry e LEFT JOIN body b ON b.entry = e.number"
            " WHERE e.number = ANY(%s::bigint[])",
            of_numbers(numbers.tolist()),
        )
        return [Entry(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Count the rows of each kind."""
        counts = self._run(
            "SELECT (SELECT count(*) FROM document), (SELECT count(*) FROM entry),"
            " (SELECT count(*) FROM loose), (SELECT count(*) FROM crowd),"
            " (SELECT count(*) FROM body)"
        ).fetchone()
        names = ("documents", "entries", "loose", "blocks", "bodies")
        return dict(zip(names, counts or (), strict=True))

    def bytes_by_part(self) -> dict[str, int]:
        """Tell how much room the tables take with all that belongs to them."""
        return {
            part: int(
                one_row(self.connection, "SELECT pg_total_relation_size(%s::regclass)", name)[0]
            )
            for name, part in PARTS.items()
        }

    def largest_buckets(self, most: int) -> list[tuple[int, int]]:
        """Give the largest buckets."""
        rows = self._run(
            "SELECT key, sum(size)::bigint AS all_of_it FROM ("
            " SELECT key, count(*) AS size FROM loose GROUP BY key"
            " UNION ALL SELECT key, sum(octet_length(entries) / 8) FROM crowd GROUP BY key"
            ") AS parts GROUP BY key ORDER BY all_of_it DESC, key LIMIT %s",
            most,
        )
        return [(int(key), int(size)) for key, size in rows]


def block_of(key: int, entries: bytes, sketches: bytes) -> Block:
    """Give a block of a crowd as it is stored."""
    if len(entries) % 8:
        raise errors.DataCorrupted("a row is not what was written")
    numbers = np.frombuffer(entries, "<i8")
    return Block(key, numbers, _rows_of(sketches, len(numbers)))


def _rows_of(joined: bytes, many: int) -> NDArray[np.uint8]:
    """Give sketches that stand one after the other, as many as there are."""
    if not many:
        return np.empty((0, 0), np.uint8)
    if len(joined) % many:
        raise errors.DataCorrupted("a row is not what was written")
    return np.frombuffer(joined, np.uint8).reshape(many, -1)
