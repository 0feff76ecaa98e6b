"""SQLite's log of changes, which goes into the file on a thread of its own.

A change is written to the log first. Once that is long, somebody has to put it into the file and
wait for the disk; were it a writer, it and all others would wait for a tenth of a second or more.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LOG_PAGES", "Log"]

LOG_ROWS = 1 << 14
"""Rows changed by this process after which the log goes into the file. What is changed again and
again until then is written once."""
LOG_PAGES = 1 << 17
"""Pages of the log after which the writer itself does it: no thread came to it, or readers that
stay long kept it from beginning the log again."""
RESTART_WAIT_MS = 20
"""How long the log waits for a writer to begin it again: as long as some small changes take."""
ROUNDS = 2
"""How often the log goes into the file, and that to the disk, before writers have to wait: what is
left for that time is what they wrote during the last round, which takes a fraction of the first."""
DESCRIPTORS = Path("/proc/self/fd")


class Log:
    """The log of one file, as far as this process has written it."""

    def __init__(self, path: Path) -> None:
        """Take the file, by the name that the system has for it."""
        self._path = path
        self._lock = threading.Lock()
        self._closed = False
        self._rows = 0
        self._thread: threading.Thread | None = None

    def count(self, rows: int, connect: Callable[[], sqlite3.Connection]) -> None:
        """Have the log put into the file, once enough rows were changed, by what opens that."""
        with self._lock:
            self._rows += rows
            busy = self._thread is not None and self._thread.is_alive()
            if self._rows < LOG_ROWS or busy or self._closed:
                return
            self._rows = 0
            thread = threading.Thread(
                target=self._put, args=(connect,), name="lookalike-checkpoint"
            )
            # None can be had when the interpreter ends: the last connection does it then.
            with suppress(RuntimeError):
                thread.start()
                self._thread = thread

    def end(self) -> None:
        """Wait for the thread."""
        with self._lock:
            running, self._thread = self._thread, None
        if running is not None:
            running.join()

    def close(self) -> None:
        """Wait for the thread, and let no other begin."""
        with self._lock:
            self._closed = True
        self.end()

    def forget(self) -> None:
        """Begin anew in a copy of the process, which has no such thread."""
        self._lock, self._thread = threading.Lock(), None

    def _put(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Put the log into the file, while others write; what cannot be done now waits."""
        # What fails here is tried again after later changes, at last by the writer itself.
        with suppress(sqlite3.Error), closing(connect()) as connection:
            for _ in range(ROUNDS):
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
                # SQLite itself does this only once nothing is left, when writers wait for it.
                _write_to_disk(self._path)
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            connection.execute(f"PRAGMA busy_timeout = {RESTART_WAIT_MS}")
            # Only a log that is in the file to its end is begun again.
            connection.execute("PRAGMA wal_checkpoint(RESTART)")


def _write_to_disk(path: Path) -> None:
    """Have the system write a file to the disk, where it tells by which descriptor it is open.

    It has to be one of SQLite's: to open and close another would end its locks on the file.
    """
    with suppress(OSError):
        for descriptor in DESCRIPTORS.iterdir():
            with suppress(OSError):
                if descriptor.readlink() == path:
                    os.fsync(int(descriptor.name))
                    return
