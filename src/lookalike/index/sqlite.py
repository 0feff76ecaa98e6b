"""A store in one file: SQLite, many readers and one writer at a time, no server."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode
from weakref import WeakSet

from lookalike.base import index_files
from lookalike.base.errors import OutputError, SourceError, UnreadableError
from lookalike.base.lock import Lock
from lookalike.base.wording import quoted
from lookalike.index.packed import damaged
from lookalike.index.read_only import unchangeable
from lookalike.index.sqlite_changes import Changes
from lookalike.index.sqlite_log import LOG_PAGES, Log
from lookalike.index.sqlite_rows import SCHEMA, Rows
from lookalike.index.sqlite_whole import WholeRows
from lookalike.index.store import FORMAT, Made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from lookalike.index.store import Sought, Writer

__all__ = ["SqliteStore"]

AnyRows = TypeVar("AnyRows", bound=Rows)
APPLICATION = int.from_bytes(index_files.APPLICATION, "big")
PAGE_BYTES = 4096
MODE = urlencode({"mode": "rw"})
"""A file that is not there is not made."""
UNCHANGING = urlencode({"mode": "ro", "immutable": "1"})
"""Where nothing can be written, neither the file nor SQLite's own files beside it."""
STATEMENTS = 512
"""Statements that a connection keeps ready; one for few values has a form for each number."""
CACHE_BYTES = 1 << 26
"""Pages that a connection holds; the system holds others."""


class SqliteStore:
    """One file; beside it, while it is open, SQLite's own -wal and -shm."""

    on_server = False

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
        # SQLite's own files stand beside the file that a link leads to, and to go to another folder
        # later must not change which file this is.
        self._path = Path(os.path.realpath(path))
        self._durable = durable
        self._wait = wait
        self._read_only = read_only
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._unchanging = False
        self._log = Log(self._path)
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
        if not _can_be_written(self._path):
            _check_no_log(self._path, self.address)
            self._unchanging = True
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
            f"{self._path.as_uri()}?{UNCHANGING if self._unchanging else MODE}",
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENTS,
        )

    def _connect(self) -> sqlite3.Connection:
        connection = self._opened()
        try:
            if self._read_only or self._unchanging:
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

    def read(self, sought: Sought | None = None) -> AbstractContextManager[Rows]:
        """Look at the file as it is now, which nothing makes quicker that is known before."""
        del sought
        return self._reading(Rows)

    def read_whole(self) -> AbstractContextManager[WholeRows]:
        """Look at all of the file as it is now."""
        return self._reading(WholeRows)

    @contextmanager
    def _reading(self, rows: type[AnyRows]) -> Iterator[AnyRows]:
        with self._failures(), self._connected() as connection:
            connection.execute("BEGIN")
            # The moment that is looked at is that of the first statement.
            connection.execute("SELECT 1 FROM fact LIMIT 1")
            yield rows(connection)
            connection.execute("COMMIT")

    @contextmanager
    def write(
        self, locks: NDArray[np.int64] | None = None, sought: Sought | None = None
    ) -> Iterator[Changes]:
        """Change the file: one writer at a time, whatever the locks."""
        del locks, sought
        if self._read_only:
            raise unchangeable(self.address)
        with self._failures(), self._connected() as connection:
            before = connection.total_changes
            connection.execute("BEGIN IMMEDIATE")
            yield Changes(connection)
            connection.execute("COMMIT")
            self._log.count(connection.total_changes - before, self._connect)

    def change(
        self,
        work: Callable[[Writer], Made],
        locks: NDArray[np.int64] | None = None,
        sought: Sought | None = None,
    ) -> Made:
        """Change the file by a function."""
        with self.write(locks, sought) as rows:
            return work(rows)

    def turn(self) -> FileTurn | None:
        """Give the right to be the one job; None while another has it."""
        turn = FileTurn(self._path.with_name(f"{self._path.name}-job"))
        return turn if turn.acquired else None

    def compact(self) -> None:
        """Write the file anew, without gaps."""
        self._log.end()
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
        self._log.close()
        self._close_idle()

    def _close_idle(self) -> None:
        self._log.end()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(sqlite3.Error):
                connection.close()

    def _unlock(self) -> None:
        self._lock = threading.Lock()
        self._log.forget()


class FileTurn:
    """The right to be the one job, by a file beside the index that is there as long as it is."""

    def __init__(self, path: Path) -> None:
        """Try to have it; `acquired` tells whether no other has."""
        try:
            self._lock = Lock(path)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}") from None
        # One that another job has removed meanwhile keeps nobody off.
        self.acquired = self._lock.acquired and self._lock.is_there()
        if not self.acquired:
            self._lock.release()

    def check(self) -> None:
        """Be sure of it: the system keeps it as long as this process lives."""

    def release(self) -> None:
        """Let another have it."""
        self._lock.remove()


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


def _can_be_written(path: Path) -> bool:
    """Tell whether a file can be changed, and others made beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _check_no_log(path: Path, address: str) -> None:
    """Refuse a file that cannot be changed while some of its changes are not in it yet."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise SourceError(
            f"{address} cannot be written, and {log.name} beside it has changes that are not in "
            "it: open it once with the right to write, or give a copy by lookalike index copy"
        )


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
