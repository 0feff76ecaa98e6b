"""Connections to PostgreSQL: made, lent to one thread at a time, and kept for later."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from lookalike.base.errors import SourceError, UnreadableError
from lookalike.index.postgres_errors import is_lost, said
from lookalike.index.postgres_library import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

    from lookalike.index.postgres_address import PostgresAddress

__all__ = ["Connections", "piped"]

MOST_IDLE = 8
"""Connections that are kept for later."""
PAUSES = (0.1, 0.4, 1.0)
"""Seconds before a server that did not answer is tried again."""
CONNECTING = {
    "connect_timeout": "10",
    "fallback_application_name": "lookalike",
    # A connection that a firewall has dropped is noticed within a minute.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
Begun = TypeVar("Begun")


class Connections:
    """The connections of a process to a database."""

    def __init__(self, place: PostgresAddress) -> None:
        """Take an address; the first connection is made when it is needed."""
        self._place = place
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self.idle: list[Connection[Any]] = []
        self._inherited: list[Connection[Any]] = []

    @contextmanager
    def lent(
        self, begin: Callable[[Connection[Any]], Begun]
    ) -> Iterator[tuple[Connection[Any], Begun]]:
        """Lend a connection on which something was begun; what fails on it ends it."""
        connection, begun = self._begun(begin)
        try:
            yield connection, begun
        except BaseException:
            _close(connection)
            raise
        with self._lock:
            kept = not self._closed and len(self.idle) < MOST_IDLE
            if kept:
                self.idle.append(connection)
        if not kept:
            connection.close()

    def _begun(self, begin: Callable[[Connection[Any]], Begun]) -> tuple[Connection[Any], Begun]:
        """Give a connection on which something was begun.

        One that was lost while it was idle is noticed by that, when nothing has been done yet.
        """
        while True:
            idle = self._taken()
            connection = self.connect() if idle is None else idle
            try:
                return connection, begin(connection)
            except BaseException as error:
                lost = isinstance(error, psycopg.OperationalError) and is_lost(error, connection)
                _close(connection)
                if idle is None or not lost:
                    raise

    def _taken(self) -> Connection[Any] | None:
        """Take a connection that is idle."""
        with self._lock:
            if self._closed:
                raise SourceError(f"the index {self._place.shown} is closed: open it again")
            if self._process != os.getpid():
                # Those of the process that this one is a copy of are neither used nor closed here.
                self._inherited += self.idle
                self.idle = []
                self._process = os.getpid()
            return self.idle.pop() if self.idle else None

    def connect(self) -> Connection[Any]:
        """Connect, and where the server does not answer, some times again."""
        given = CONNECTING | self._place.parameters | {"client_encoding": "UTF8"}
        pauses = iter(PAUSES)
        while True:
            try:
                return psycopg.connect(autocommit=True, **given)  # type: ignore[arg-type]
            except psycopg.OperationalError as error:
                pause = next(pauses, None)
                if pause is None:
                    raise UnreadableError(
                        f"{self._place.shown} cannot be reached: {said(error)}; see that the "
                        "server runs, and that the address is right"
                    ) from None
            time.sleep(pause)

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            self._closed = True
            idle, self.idle = self.idle, []
            mine = self._process == os.getpid()
            if not mine:
                self._inherited += idle
        for connection in idle if mine else []:
            connection.close()


@contextmanager
def piped(connection: Connection[Any]) -> Iterator[None]:
    """Send statements without waiting for the answers to those before; what fails ends it all.

    An answer is waited for when it is asked for, and in the end all of them are.
    """
    if not psycopg.Pipeline.is_supported():
        yield
        return
    pipeline = connection.pipeline()
    pipeline.__enter__()
    try:
        yield
    except BaseException:
        # Closed before it is left: else it would wait for answers, and log what it meets then.
        _close(connection)
        with suppress(psycopg.Error):
            pipeline.__exit__(None, None, None)
        raise
    pipeline.__exit__(None, None, None)


def _close(connection: Connection[Any]) -> None:
    # One that was lost is closed already, and stays known as broken.
    if not connection.closed:
        connection.close()
