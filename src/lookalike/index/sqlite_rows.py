"""The tables of an index in a file of SQLite, and what is asked of them in a transaction."""

from __future__ import annotations

import json
import sqlite3
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.base.threads import pieces
from lookalike.base.wording import quoted
from lookalike.index.store import Block, Body, Document, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from lookalike.index.store import Entries

__all__ = ["SCHEMA", "Rows"]

CONTENT_BYTES = 16
NUMBER_BITS = 16
STATEMENT_ENTRIES = 1 << NUMBER_BITS
"""Rows that go in by one statement, at the most."""
STATEMENT_BYTES = 1 << 26
"""Bytes of bodies that do."""
SCHEMA = """
CREATE TABLE fact (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    content BLOB NOT NULL,
    length INTEGER NOT NULL,
    empty INTEGER NOT NULL,
    sketch BLOB NOT NULL
);
CREATE UNIQUE INDEX entry_content ON entry (content);
CREATE TABLE body (entry INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE document (
    id TEXT PRIMARY KEY,
    entry INTEGER NOT NULL,
    run INTEGER NOT NULL,
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
PARTS = ("documents", "entries", "texts", "bands", "crowds")
"""What takes room, as a user is told."""


class Rows:
    """The rows of a file, in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take a connection that is in a transaction."""
        self._run = connection.execute
        self._many: Callable[..., sqlite3.Cursor] = connection.executemany

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
        rows = self._run(
            "SELECT key, entry FROM loose WHERE key IN (SELECT value FROM json_each(?))",
            (_listed(keys),),
        ).fetchall()
        try:
            found = np.array(rows, np.int64).reshape(-1, 2)
        except (OverflowError, TypeError, ValueError):
            raise _no_such_row() from None
        return found[:, 0], found[:, 1]

    def blocks(self, keys: NDArray[np.int64]) -> Iterator[Block]:
        """Give the blocks of the crowds among buckets."""
        for key, entries, sketches in self._run(
            "SELECT key, entries, sketches FROM crowd"
            " WHERE key IN (SELECT value FROM json_each(?)) ORDER BY block",
            (_listed(keys),),
        ):
            yield _block(key, entries, sketches)

    def sketches(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Give sketches."""
        rows = self._run(
            "SELECT number, sketch FROM entry WHERE number IN (SELECT value FROM json_each(?))",
            (_listed(entries),),
        ).fetchall()
        numbers = np.array([number for number, _ in rows], np.int64)
        return numbers, _sketch_rows([sketch for _, sketch in rows])

    def bodies(self, entries: NDArray[np.int64]) -> list[Body]:
        """Give bodies."""
        rows = self._run(
            "SELECT e.number, e.content, e.length, b.body FROM entry e JOIN body b "
            "ON b.entry = e.number WHERE e.number IN (SELECT value FROM json_each(?))",
            (_listed(entries),),
        )
        return [Body(*_typed(row, int, bytes, int, bytes)) for row in rows]

    def contents(self, contents: Sequence[bytes]) -> dict[bytes, int]:
        """Give the entries that have these contents."""
        places = range(1, CONTENT_BYTES * len(contents), CONTENT_BYTES)
        rows = self._run(
            "SELECT e.content, e.number FROM json_each(?) asked CROSS JOIN entry e"
            " ON e.content = substr(?, asked.value, ?)",
            (json.dumps([*places]), b"".join(contents), CONTENT_BYTES),
        )
        return dict(rows.fetchall())

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Give those documents that there are."""
        rows = self._run(
            "SELECT id, entry, metadata, run FROM document"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([*ids]),),
        )
        return [_document(row) for row in rows]

    def documents_of(self, entries: NDArray[np.int64]) -> list[Document]:
        """Give the documents of entries."""
        rows = self._run(
            "SELECT id, entry, metadata, run FROM document"
            " WHERE entry IN (SELECT value FROM json_each(?))",
            (_listed(entries),),
        )
        return [_document(row) for row in rows]

    def next_documents(self, after: str | None, most: int) -> list[Document]:
        """Give documents in the order of their ids."""
        columns = "SELECT id, entry, metadata, run FROM document"
        if after is None:
            rows = self._run(f"{columns} ORDER BY id LIMIT ?", (most,))
        else:
            rows = self._run(f"{columns} WHERE id > ? ORDER BY id LIMIT ?", (after, most))
        return [_document(row) for row in rows]

    def next_entries(self, after: int, most: int) -> list[Entry]:
        """Give entries in the order of their numbers."""
        rows = self._run(
            "SELECT e.number, e.content, e.sketch, e.length, e.empty, b.body"
            " FROM entry e LEFT JOIN body b ON b.entry = e.number "
            "WHERE e.number > ? ORDER BY e.number LIMIT ?",
            (after, most),
        )
        return [_entry(row) for row in rows]

    def entries(self, numbers: NDArray[np.int64]) -> list[Entry]:
        """Give entries."""
        rows = self._run(
            "SELECT e.number, e.content, e.sketch, e.length, e.empty, b.body"
            " FROM entry e LEFT JOIN body b ON b.entry = e.number "
            "WHERE e.number IN (SELECT value FROM json_each(?))",
            (_listed(numbers),),
        )
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

    def set_fact(self, name: str, text: str | None) -> None:
        """Note a fact, or forget it."""
        if text is None:
            self._run("DELETE FROM fact WHERE name = ?", (name,))
        else:
            self._run("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, text))

    def claim(
        self,
        contents: Sequence[bytes],
        others: Sequence[int],
        known: dict[bytes, int] | None = None,
    ) -> dict[bytes, int]:
        """Give the entries that have these contents; nobody else writes meanwhile."""
        del others
        return self.contents(contents) if known is None else known

    def count_up(self, name: str, by: int, *, gaps: bool = False) -> int:
        """Raise a counter, which leaves no gaps."""
        del gaps
        try:
            before = int(self.fact(name) or 0)
        except ValueError:
            raise _no_such_row() from None
        self.set_fact(name, str(before + by))
        return before

    def put_entries(self, entries: Entries) -> None:
        """Add entries, and their loose rows in the order in which the table has them.

        Many rows go in by one statement, which other threads do not have to wait for: row by row,
        the lock of the interpreter would be given away and taken back for each.
        """
        for begin in range(0, len(entries.rows), STATEMENT_ENTRIES):
            self._put_rows(entries.rows[begin : begin + STATEMENT_ENTRIES])
        if not len(entries.keys):
            return
        first = int(entries.of_key.min())
        for low in range(first, int(entries.of_key.max()) + 1, STATEMENT_ENTRIES):
            mine = (entries.of_key >= low) & (entries.of_key < low + STATEMENT_ENTRIES)
            # A key has 48 bits, so that the number within the statement fits beside it.
            packed = (entries.keys[mine] << NUMBER_BITS) | (entries.of_key[mine] - low)
            self._run(
                "INSERT OR IGNORE INTO loose SELECT value >> ?, ? + (value & ?) FROM json_each(?)",
                (NUMBER_BITS, low, STATEMENT_ENTRIES - 1, _listed(np.sort(packed))),
            )

    def _put_rows(self, rows: Sequence[Entry]) -> None:
        """Add entries by one statement: their blobs as one, and where each begins in it."""
        width = len(rows[0].sketch)
        self._run(
            "INSERT INTO entry (number, content, length, empty, sketch)"
            " SELECT json_extract(value, '$[0]'), substr(?, 1 + key * ?, ?),"
            " json_extract(value, '$[1]'), json_extract(value, '$[2]'),"
            " coalesce(substr(?, 1 + key * ?, ?), x'') FROM json_each(?)",
            (
                b"".join(row.content for row in rows),
                *(CONTENT_BYTES, CONTENT_BYTES),
                b"".join(row.sketch for row in rows),
                *(width, width),
                json.dumps([(row.number, row.length, int(row.empty)) for row in rows]),
            ),
        )
        kept = [row for row in rows if row.body is not None]
        for some in _of_size(kept):
            bodies = [row.body or b"" for row in some]
            ends = [*accumulate(map(len, bodies))]
            spans = [
                (row.number, end - len(body) + 1, len(body))
                for row, body, end in zip(some, bodies, ends, strict=True)
            ]
            self._run(
                # Of a blob without bytes a part is null, and an empty document has no other.
                "INSERT INTO body SELECT json_extract(value, '$[0]'), coalesce("
                "substr(?, json_extract(value, '$[1]'), json_extract(value, '$[2]')), x'')"
                " FROM json_each(?)",
                (b"".join(bodies), json.dumps(spans)),
            )

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Add or replace documents, in the order in which the table has them."""
        for one in documents:
            if "\0" in one.id:
                raise SourceError(f"the id {quoted(one.id)} holds a NUL: give it another")
        for begin in range(0, len(documents), STATEMENT_ENTRIES):
            some = documents[begin : begin + STATEMENT_ENTRIES]
            self._run(
                "INSERT OR REPLACE INTO document (id, entry, metadata, run)"
                " SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'),"
                " json_extract(value, '$[2]'), json_extract(value, '$[3]') FROM json_each(?)"
                " ORDER BY 1, key",
                (json.dumps([*some]),),
            )

    def drop_documents(self, ids: Sequence[str]) -> None:
        """Remove documents."""
        self._many("DELETE FROM document WHERE id = ?", [(name,) for name in ids])

    def drop_unused(self, entries: NDArray[np.int64]) -> int:
        """Remove entries that no document is a copy of."""
        unused = self._run(
            "SELECT value FROM json_each(?) WHERE value IN (SELECT number FROM entry) "
            "AND NOT EXISTS (SELECT 1 FROM document WHERE entry = value)",
            (_listed(np.unique(entries)),),
        ).fetchall()
        self._many("DELETE FROM entry WHERE number = ?", unused)
        self._many("DELETE FROM body WHERE entry = ?", unused)
        return len(unused)

    def take_loose(self, key: int) -> NDArray[np.int64]:
        """Remove the loose rows of a bucket."""
        rows = self._run("SELECT entry FROM loose WHERE key = ?", (key,)).fetchall()
        self._run("DELETE FROM loose WHERE key = ?", (key,))
        return np.array(rows, np.int64).reshape(-1)

    def put_blocks(self, blocks: Sequence[Block]) -> None:
        """Add blocks to crowds."""
        self._many(
            "INSERT INTO crowd (key, entries, sketches) VALUES (?, ?, ?)",
            [
                (one.key, one.entries.astype("<i8").tobytes(), one.sketches.tobytes())
                for one in blocks
            ],
        )

    def sweep(self) -> None:
        """Remove what names entries that are gone."""
        self._run("DELETE FROM loose WHERE entry NOT IN (SELECT number FROM entry)")
        crowds = self._run("SELECT block FROM crowd").fetchall()
        for (number,) in crowds:
            row = self._run(
                "SELECT key, entries, sketches FROM crowd WHERE block = ?", (number,)
            ).fetchone()
            if row is None:
                raise _no_such_row()
            block = _block(*row)
            there, _ = self.sketches(block.entries)
            left = np.isin(block.entries, there)
            if not left.all():
                self._run("DELETE FROM crowd WHERE block = ?", (number,))
                if left.any():
                    self.put_blocks([Block(block.key, block.entries[left], block.sketches[left])])


def _of_size(rows: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """Cut entries into runs whose bodies are not too large together."""
    lengths = np.array([len(row.body or b"") for row in rows], np.int64)
    for piece in pieces(lengths, STATEMENT_BYTES):
        yield rows[piece]


def _listed(numbers: NDArray[np.int64]) -> str:
    return json.dumps(numbers.tolist())


def _no_such_row() -> sqlite3.Error:
    return sqlite3.DatabaseError("a row is not what was written")


def _typed(row: tuple[Any, ...], *types: type | tuple[type, ...]) -> tuple[Any, ...]:
    """Give a row whose values are of types; SQLite has no types of its own."""
    for value, kind in zip(row, types, strict=True):
        if not isinstance(value, kind):
            raise _no_such_row()
    return row


MAYBE_TEXT, MAYBE_BYTES = (str, type(None)), (bytes, type(None))


def _document(row: tuple[Any, ...]) -> Document:
    return Document(*_typed(row, str, int, MAYBE_TEXT, int))


def _entry(row: tuple[Any, ...]) -> Entry:
    number, content, sketch, length, empty, body = _typed(
        row, int, bytes, bytes, int, int, MAYBE_BYTES
    )
    return Entry(number, content, sketch, length, bool(empty), body)


def _sketch_rows(sketches: list[Any]) -> NDArray[np.uint8]:
    if not sketches:
        return np.empty((0, 0), np.uint8)
    width = len(sketches[0]) if isinstance(sketches[0], bytes) else 0
    if not all(isinstance(one, bytes) and len(one) == width for one in sketches):
        raise _no_such_row()
    return np.frombuffer(b"".join(sketches), np.uint8).reshape(len(sketches), -1)


def _block(key: Any, entries: Any, sketches: Any) -> Block:
    _typed((key, entries, sketches), int, bytes, bytes)
    if not entries or len(entries) % 8 or len(sketches) % (len(entries) // 8):
        raise _no_such_row()
    numbers = np.frombuffer(entries, "<i8")
    return Block(key, numbers, np.frombuffer(sketches, np.uint8).reshape(len(numbers), -1))
