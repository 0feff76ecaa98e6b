"""A store in one file: SQLite, many readers and one writer at a time, no server."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from weakref import WeakSet

import numpy as np

from lookalike.base import index_files
from lookalike.base.errors import OutputError, SourceError, UnreadableError
from lookalike.base.threads import pieces
from lookalike.base.wording import quoted
from lookalike.index.packed import damaged
from lookalike.index.store import FORMAT, Block, Body, Document, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from lookalike.index.store import Entries

__all__ = ["SqliteStore"]

APPLICATION = int.from_bytes(index_files.APPLICATION, "big")
PAGE_BYTES = 4096
LOG_PAGES = 1 << 14
"""Pages of the log after which it goes into the file: what is changed again and again until then
is written there once."""
CONTENT_BYTES = 16
NUMBER_BITS = 16
STATEMENT_ENTRIES = 1 << NUMBER_BITS
"""Rows that go in by one statement, at the most."""
STATEMENT_BYTES = 1 << 26
"""Bytes of bodies that do."""
MODE = urlencode({"mode": "rw"})
"""A file that is not there is not made."""
CACHE_BYTES = 1 << 26
"""Pages that a connection holds; the system holds others."""
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


class SqliteStore:
    """One file; beside it, while it is open, SQLite's own -wal and -shm."""

    def __init__(
        self,
        path: Path,
        *,
        durable: bool = False,
        wait: float = 60.0,
        read_only: bool = False,
    ) -> None:
        """Open a file that there is. With `durable` each change is on the disk when it is done.

        One that is `read_only` stays as it is, byte for byte.
        """
        self.address = os.fspath(path)
        self._path = path
        self._durable = durable
        self._wait = wait
        self._read_only = read_only
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        STORES.add(self)
        with self._failures():
            self._check_file()
            with self._connected():
                pass

    @classmethod
    def create(cls, path: Path, facts: dict[str, str], **options: Any) -> SqliteStore:
        """Make a new file, which appears with its first facts or not at all."""
        partial = _beside(path)
        with _explained_failures(os.fspath(path)):
            try:
                with closing(sqlite3.connect(partial, isolation_level=None)) as connection:
                    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
                    # From the first on: to change it later, nobody else may have the file open.
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute(f"PRAGMA application_id = {APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {FORMAT}")
                    connection.executescript(SCHEMA)
                    connection.executemany("INSERT INTO fact VALUES (?, ?)", facts.items())
                _give_name(partial, path)
            finally:
                with suppress(FileNotFoundError):
                    partial.unlink()
        return cls(path, **options)

    def _check_file(self) -> None:
        """Refuse what is no index of a known format, before anything is asked of it."""
        if not self._path.is_file():
            raise SourceError(
                f"there is no index {self.address}: make one by lookalike index create"
            )
        # By SQLite: to close the file otherwise would end the locks of this process on it. And
        # before anything is set, which would change the file of another program.
        connection = self._opened()
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        finally:
            connection.close()
        if application != APPLICATION:
            raise SourceError(f"{self.address} is no index of Lookalike: give another file")
        if version != FORMAT:
            newer = "a newer" if version > FORMAT else "an older"
            raise SourceError(
                f"{self.address} is an index of {newer} format, {version}, and this version "
                f"reads {FORMAT}: use the version of Lookalike that made it, or make it again"
            )

    def _failures(self) -> AbstractContextManager[None]:
        return _explained_failures(self.address, self._wait)

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._path.absolute().as_uri()}?{MODE}",
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
        )

    def _connect(self) -> sqlite3.Connection:
        connection = self._opened()
        try:
            if self._read_only:
                connection.execute("PRAGMA query_only = ON")
            else:
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            connection.execute(f"PRAGMA cache_size = -{CACHE_BYTES >> 10}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        except BaseException:
            # One that stays open would spoil the next, of a copy in the place of this file too.
            connection.close()
            raise
        return connection

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection, which one thread has at a time."""
        with self._lock:
            if self._closed:
                raise SourceError(f"the index {self.address} is closed: open it again")
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            closed = self._closed
            if not closed:
                self._idle.append(connection)
        if closed:
            connection.close()

    @contextmanager
    def read(self) -> Iterator[Rows]:
        """Look at the file as it is now."""
        with self._failures(), self._connected() as connection:
            connection.execute("BEGIN")
            # The moment that is looked at is that of the first statement.
            connection.execute("SELECT 1 FROM fact LIMIT 1")
            yield Rows(connection)
            connection.execute("COMMIT")

    @contextmanager
    def write(self, locks: NDArray[np.int64] | None = None) -> Iterator[Rows]:
        """Change the file: one writer at a time, whatever the locks."""
        del locks
        with self._failures(), self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield Rows(connection)
            connection.execute("COMMIT")

    def compact(self) -> None:
        """Write the file anew, without gaps."""
        with self._failures(), self._connected() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def copy(self, path: Path) -> None:
        """Copy the index as it is at one moment, while others write."""
        partial = _beside(path)
        with self._failures(), self._connected() as connection:
            try:
                target = sqlite3.connect(partial)
                try:
                    connection.backup(target)
                finally:
                    target.close()
                _give_name(partial, path)
            finally:
                with suppress(FileNotFoundError):
                    partial.unlink()

    def close(self) -> None:
        """Close every connection; the last one of all puts the log into the file."""
        with self._lock:
            self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(sqlite3.Error):
                connection.close()

    def _unlock(self) -> None:
        self._lock = threading.Lock()


STORES: WeakSet[SqliteStore] = WeakSet()


def _close_all_idle() -> None:
    for store in list(STORES):
        store._close_idle()


def _unlock_all() -> None:
    for store in list(STORES):
        store._unlock()


if hasattr(os, "register_at_fork"):
    # A copy of this process would take the locks of its connections to be its own.
    os.register_at_fork(before=_close_all_idle, after_in_child=_unlock_all)


def _beside(path: Path) -> Path:
    """Name a file that will be moved to another once it is whole, unless that is there."""
    if not path.parent.is_dir():
        raise OutputError(f"there is no folder {path.parent}: make it first")
    if path.exists():
        raise _is_there(path)
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")


def _give_name(partial: Path, path: Path) -> None:
    """Give a file its name, in the place of no other."""
    try:
        # Unlike a move, this never takes the place of a file that is there.
        os.link(partial, path)
    except FileExistsError:
        raise _is_there(path) from None
    except OSError:
        # Some file systems have no links.
        if path.exists():
            raise _is_there(path) from None
        partial.rename(path)


def _is_there(path: Path) -> OutputError:
    return OutputError(f"{path} is there already: give another name, or remove it")


@contextmanager
def _explained_failures(address: str, wait: float = 0.0) -> Iterator[None]:
    """Say in a line what SQLite refuses."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(error, address, wait) from None
    except UnicodeDecodeError:
        # So are the messages of SQLite on names that are none.
        raise damaged(address, "a text in it is not in UTF-8") from None


def _explained(error: sqlite3.Error, address: str, wait: float) -> Exception:
    # Some quote what they do not understand, whatever is in it.
    name, said = getattr(error, "sqlite_errorname", ""), str(error).partition(" with text ")[0]
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return UnreadableError(
            f"{address} was locked by another writer for {wait:g} seconds: try again when that is "
            "done"
        )
    if name.startswith("SQLITE_FULL"):
        return OutputError(f"{address}: the disk is full; what was done before is kept")
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return OutputError(f"{address} cannot be opened for writing, nor its folder: {said}")
    if name.startswith("SQLITE_IOERR"):
        return UnreadableError(f"{address} cannot be read or written now: {said}")
    if name.startswith("SQLITE_NOTADB"):
        return SourceError(f"{address} is no index of Lookalike: give another file")
    return damaged(address, f"SQLite says {quoted(said)}")


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

    def count_up(self, name: str, by: int) -> int:
        """Raise a counter."""
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
