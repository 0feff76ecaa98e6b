"""The tables of an index in a file of SQLite, and what is asked of them in a transaction."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.index.store import Block, Body, Document, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


__all__ = [
    "CONTENT_BYTES",
    "DOCUMENT_TYPES",
    "ENTRY_TYPES",
    "FEW",
    "SCHEMA",
    "Rows",
    "block_of",
    "no_such_row",
    "typed",
]

CONTENT_BYTES = 16
FEW = 16
"""Values that stand in a statement themselves, and rows that go in one by one: of those of a single
document, to write and read JSON takes longer than the rest."""
MARKS = [", ".join("?" * count) for count in range(FEW + 1)]
SCHEMA = """
CREATE TABLE fact (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    content BLOB NOT NULL,
    length INTEGER NOT NULL,
    empty INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    sketch BLOB NOT NULL
);
CREATE UNIQUE INDEX entry_content ON entry (content);
CREATE TABLE body (entry INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE document (
    id TEXT PRIMARY KEY,
    entry INTEGER NOT NULL,
    run INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    metadata TEXT
) WITHOUT ROWID;
CREATE INDEX document_entry ON document (entry);
CREATE TABLE loose (key INTEGER, entry INTEGER, PRIMARY KEY (key, entry)) WITHOUT ROWID;
CREATE TABLE crowd (
    block INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    entries BLOB NOT NULL,
    sketches BLOB NOT NULL
);
CREATE INDEX crowd_key ON crowd (key);
"""
DOCUMENTS = "SELECT id, entry, metadata, run FROM document"
ENTRIES = (
    "SELECT e.number, e.content, e.sketch, e.length, e.empty, b.body"
    " FROM entry e LEFT JOIN body b ON b.entry = e.number"
)
PARTS = ("documents", "entries", "texts", "bands", "crowds")
"""What takes room, as a user is told."""


class Rows:
    """The rows of a file, in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take a connection that is in a transaction."""
        self._run = connection.execute
        self._many: Callable[..., sqlite3.Cursor] = connection.executemany

    def _among(self, select: str, values: Sequence[Any], then: str = "") -> sqlite3.Cursor:
        """Ask for the rows in which what a statement ends with is one of some values."""
        if len(values) <= FEW:
            return self._run(f"{select} IN ({MARKS[len(values)]}) {then}", values)
        listed = json.dumps([*values])
        among = " IN (SELECT value FROM json_each(?)) "
        return self._run(select + among + then, (listed,))

    def fact(self, name: str) -> str | None:
        """Give a fact."""
        row = self._run("SELECT text FROM fact WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def facts(self, begin: str) -> dict[str, str]:
        """Give all facts whose names begin so."""
        rows = self._run(
            "SELECT name, text FROM fact WHERE substr(name, 1, ?) = ?", (len(begin), begin)
        )
        return dict(rows.fetchall())

    def loose(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the loose rows of buckets."""
        rows = self._among("SELECT key, entry FROM loose WHERE key", keys.tolist()).fetchall()
        try:
            found = np.array(rows, np.int64).reshape(-1, 2)
        except (OverflowError, TypeError, ValueError):
            raise no_such_row() from None
        return found[:, 0], found[:, 1]

    def near(self, keys: NDArray[np.int64]) -> dict[int, bytes]:
        """Give the entries of loose rows, and their sketches."""
        # Buckets first, whatever SQLite takes the tables to be like.
        select = "SELECT l.entry, e.sketch FROM loose l CROSS JOIN entry e ON e.number = l.entry"
        return dict(self._among(f"{select} WHERE l.key", keys.tolist()).fetchall())

    def blocks(self, keys: NDArray[np.int64]) -> Iterator[Block]:
        """Give the blocks of the crowds among buckets."""
        select = "SELECT key, entries, sketches FROM crowd WHERE key"
        for key, entries, sketches in self._among(select, keys.tolist(), "ORDER BY block"):
            yield block_of(key, entries, sketches)

    def sketches(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Give sketches."""
        select = "SELECT number, sketch FROM entry WHERE number"
        rows = self._among(select, entries.tolist()).fetchall()
        numbers = np.array([number for number, _ in rows], np.int64)
        return numbers, _sketch_rows([sketch for _, sketch in rows])

    def bodies(self, entries: NDArray[np.int64]) -> list[Body]:
        """Give bodies."""
        select = "SELECT e.number, e.content, e.length, b.body FROM entry e JOIN body b"
        rows = self._among(f"{select} ON b.entry = e.number WHERE e.number", entries.tolist())
        return [Body(*typed(row, int, bytes, int, bytes)) for row in rows]

    def contents(self, contents: Sequence[bytes]) -> dict[bytes, int]:
        """Give the entries that have these contents."""
        if len(contents) <= FEW:
            select = "SELECT content, number FROM entry WHERE content"
            return dict(self._among(select, contents).fetchall())
        places = range(1, CONTENT_BYTES * len(contents), CONTENT_BYTES)
        rows = self._run(
            "SELECT e.content, e.number FROM json_each(?) asked CROSS JOIN entry e"
            " ON e.content = substr(?, asked.value, ?)",
            (json.dumps([*places]), b"".join(contents), CONTENT_BYTES),
        )
        return dict(rows.fetchall())

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Give those documents that there are."""
        rows = self._among(f"{DOCUMENTS} WHERE id", ids)
        return [_document(row) for row in rows]

    def documents_of(self, entries: NDArray[np.int64]) -> list[Document]:
        """Give the documents of entries."""
        rows = self._among(f"{DOCUMENTS} WHERE entry", entries.tolist())
        return [_document(row) for row in rows]

    def next_documents(self, after: str | None, most: int) -> list[Document]:
        """Give documents in the order of their ids."""
        if after is None:
            rows = self._run(f"{DOCUMENTS} ORDER BY id LIMIT ?", (most,))
        else:
            rows = self._run(f"{DOCUMENTS} WHERE id > ? ORDER BY id LIMIT ?", (after, most))
        return [_document(row) for row in rows]

    def next_entries(self, after: int, most: int) -> list[Entry]:
        """Give entries in the order of their numbers."""
        rows = self._run(f"{ENTRIES} WHERE e.number > ? ORDER BY e.number LIMIT ?", (after, most))
        return [_entry(row) for row in rows]

    def entries(self, numbers: NDArray[np.int64]) -> list[Entry]:
        """Give entries."""
        rows = self._among(f"{ENTRIES} WHERE e.number", numbers.tolist())
        return [_entry(row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Count the rows of each kind."""
        counts = self._run(
            "SELECT (SELECT count(*) FROM document), (SELECT count(*) FROM entry),"
            " (SELECT count(*) FROM loose), (SELECT count(*) FROM crowd),"
            " (SELECT count(*) FROM body)"
        ).fetchone()
        names = ("documents", "entries", "loose", "blocks", "bodies")
        return dict(zip(names, counts, strict=True))

    def bytes_by_part(self) -> dict[str, int]:
        """Tell how much room each part takes: the pages in use, shared out by what is in them."""
        sizes = self._run(
            "SELECT (SELECT coalesce(sum(2 * length(id) + coalesce(length(metadata), 0) + 16), 0)"
            " FROM document),"
            " (SELECT coalesce(sum(2 * length(content) + length(sketch) + 20), 0) FROM entry),"
            " (SELECT coalesce(sum(length(body) + 8), 0) FROM body),"
            " (SELECT count(*) * 16 FROM loose),"
            " (SELECT coalesce(sum(length(entries) + length(sketches) + 30), 0) FROM crowd)"
        ).fetchone()
        pages, free, page_bytes = (
            int(self._run(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        known, room = max(sum(sizes), 1), (pages - free) * page_bytes
        return {part: size * room // known for part, size in zip(PARTS, sizes, strict=True)}

    def largest_buckets(self, most: int) -> list[tuple[int, int]]:
        """Give the largest buckets."""
        rows = self._run(
            "SELECT key, sum(size) AS all_of_it FROM ("
            " SELECT key, count(*) AS size FROM loose GROUP BY key"
            " UNION ALL SELECT key, sum(length(entries) / 8) FROM crowd GROUP BY key"
            ") GROUP BY key ORDER BY all_of_it DESC, key LIMIT ?",
            (most,),
        )
        return [(int(key), int(size)) for key, size in rows]


def no_such_row() -> sqlite3.Error:
    """Give what is raised where a row has what was never written."""
    return sqlite3.DatabaseError("a row is not what was written")


def typed(row: tuple[Any, ...], *types: type | tuple[type, ...]) -> tuple[Any, ...]:
    """Give a row whose values are of types; SQLite has no types of its own."""
    for value, kind in zip(row, types, strict=True):
        if not isinstance(value, kind):
            raise no_such_row()
    return row


MAYBE_TEXT, MAYBE_BYTES = (str, type(None)), (bytes, type(None))
DOCUMENT_TYPES = (str, int, MAYBE_TEXT, int)
ENTRY_TYPES = (int, bytes, bytes, int, int, MAYBE_BYTES)


def _document(row: tuple[Any, ...]) -> Document:
    return Document(*typed(row, *DOCUMENT_TYPES))


def _entry(row: tuple[Any, ...]) -> Entry:
    number, content, sketch, length, empty, body = typed(row, *ENTRY_TYPES)
    return Entry(number, content, sketch, length, bool(empty), body)


def _sketch_rows(sketches: list[Any]) -> NDArray[np.uint8]:
    if not sketches:
        return np.empty((0, 0), np.uint8)
    width = len(sketches[0]) if isinstance(sketches[0], bytes) else 0
    if not all(isinstance(one, bytes) and len(one) == width for one in sketches):
        raise no_such_row()
    return np.frombuffer(b"".join(sketches), np.uint8).reshape(len(sketches), -1)


def block_of(key: Any, entries: Any, sketches: Any) -> Block:
    """Give a block as it was put."""
    typed((key, entries, sketches), int, bytes, bytes)
    if not entries or len(entries) % 8 or len(sketches) % (len(entries) // 8):
        raise no_such_row()
    numbers = np.frombuffer(entries, "<i8")
    return Block(key, numbers, np.frombuffer(sketches, np.uint8).reshape(len(numbers), -1))
