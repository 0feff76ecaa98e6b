"""A store in PostgreSQL: many writers at once, each index a schema of its own.

Writers that have no lock in common go on side by side, under advisory locks of the database: each
has a share of the whole index, and a few of its slots for itself. The counters that number entries
are raised in transactions of their own, so that no writer waits for the end of another.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import MissingExtraError, OutputError, SourceError, UnreadableError
from lookalike.base.wording import shortened
from lookalike.index.postgres_address import PostgresAddress
from lookalike.index.postgres_rows import PARTS, Reading, Writing, count_up, listed, one_row
from lookalike.index.store import FORMAT

try:
    import psycopg
    from psycopg import errors
except ImportError:
    raise MissingExtraError("indexes in PostgreSQL", "postgres") from None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psycopg import Connection

__all__ = ["PostgresStore"]

WAIT_SECONDS = 60.0
"""How long a writer waits for another."""
SLOTS = 256
"""Locks of an index: writers with none in common do not wait for each other."""
MOST_IDLE = 8
"""Connections that are kept for later."""
PAUSES = (0.1, 0.4, 1.0)
"""Seconds before a server that did not answer is tried again."""
MOST_SAID = 300
"""Characters of what the server says."""
CONNECTING = {
    "connect_timeout": "10",
    "fallback_application_name": "lookalike",
    # A connection that a firewall has dropped is noticed within a minute.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
STEPS = (
    """
CREATE TABLE format (version integer NOT NULL);
INSERT INTO format VALUES (0);
CREATE TABLE fact (name text COLLATE "C" PRIMARY KEY, text text NOT NULL);
CREATE TABLE entry (
    number bigint PRIMARY KEY,
    content bytea NOT NULL,
    length bigint NOT NULL,
    empty boolean NOT NULL,
    sketch bytea NOT NULL
);
CREATE UNIQUE INDEX entry_content ON entry (content);
CREATE TABLE body (entry bigint PRIMARY KEY, body bytea NOT NULL);
ALTER TABLE body ALTER body SET STORAGE EXTERNAL;
CREATE TABLE document (
    id text COLLATE "C" PRIMARY KEY,
    entry bigint NOT NULL,
    run bigint NOT NULL,
    metadata text
);
CREATE INDEX document_entry ON document (entry);
CREATE TABLE loose (key bigint, entry bigint, PRIMARY KEY (key, entry));
CREATE TABLE crowd (
    block bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key bigint NOT NULL,
    entries bytea NOT NULL,
    sketches bytea NOT NULL
);
CREATE INDEX crowd_key ON crowd (key);
ALTER TABLE crowd ALTER entries SET STORAGE EXTERNAL, ALTER sketches SET STORAGE EXTERNAL;
""",
)
"""What makes each format of the one before it; the first, of nothing."""


class PostgresStore:
    """A schema of a database; `address` is `postgresql://user@host/database?index=name`."""

    def __init__(self, address: str, *, durable: bool = False, wait: float = WAIT_SECONDS) -> None:
        """Open an index that there is.

        What is done is on the disk of the server as its own settings say; with `durable` each
        change is there when it is done, whatever they say.
        """
        self._prepare(PostgresAddress.parse(address), durable=durable, wait=wait)
        with self._failures():
            self._check_format()

    def _prepare(self, place: PostgresAddress, *, durable: bool, wait: float) -> None:
        self.address = place.shown
        self._place = place
        self._schema = '"' + place.index.replace('"', '""') + '"'
        self._durable = durable
        self._wait = wait
        self._idle: list[Connection[Any]] = []
        self._inherited: list[Connection[Any]] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        digest = hashlib.blake2b(f"lookalike {place.index}".encode(), digest_size=6).digest()
        self._base_lock = int.from_bytes(digest, "little") << 12

    @classmethod
    def create(cls, address: str, facts: dict[str, str], **options: Any) -> PostgresStore:
        """Make a schema, which appears with its first facts or not at all."""
        store = cls.__new__(cls)
        given = {"durable": False, "wait": WAIT_SECONDS} | options
        store._prepare(PostgresAddress.parse(address), **given)
        with store._failures(), store._connected() as connection:
            (encoding,) = one_row(connection, "SHOW server_encoding")
            if encoding != "UTF8":
                raise OutputError(
                    f"the database of {store.address} is in {encoding}: make one in UTF8"
                )
            connection.execute("BEGIN")
            try:
                connection.execute(f"CREATE SCHEMA {store._schema}")
            except (errors.DuplicateSchema, errors.UniqueViolation):
                raise OutputError(
                    f"{store.address} is there already: give another name, or drop the schema "
                    f"{store._schema}"
                ) from None
            connection.execute(f"SET LOCAL search_path TO {store._schema}")
            _upgrade(connection, 0)
            connection.cursor().executemany("INSERT INTO fact VALUES (%s, %s)", [*facts.items()])
            connection.execute("COMMIT")
        return store

    def _check_format(self) -> None:
        """Refuse what is no index of a known format; bring an older one up to this one."""
        with self._connected() as connection:
            version = self._version(connection)
            if version > FORMAT:
                raise SourceError(
                    f"{self.address} is an index of a newer format, {version}, and this version "
                    f"reads {FORMAT}: use the version of Lookalike that made it, or make it again"
                )
        if version < FORMAT:
            with self.write() as writer:
                _upgrade(writer.connection, self._version(writer.connection))

    def _version(self, connection: Connection[Any]) -> int:
        schema, table = one_row(
            connection,
            "SELECT to_regnamespace(%s)::text, to_regclass(%s)::text",
            self._schema,
            f"{self._schema}.format",
        )
        if schema is None:
            raise SourceError(
                f"there is no index {self.address}: make one by lookalike index create"
            )
        if table is None:
            raise SourceError(
                f"{self.address} is no index of Lookalike: its schema {schema} holds something else"
            )
        (version,) = one_row(connection, f"SELECT version FROM {self._schema}.format")  # noqa: S608
        return int(version)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Say in a line what PostgreSQL refuses."""
        try:
            yield
        except psycopg.Error as error:
            raise self._explained(error) from None

    def _explained(self, error: psycopg.Error) -> Exception:  # noqa: PLR0911 - a line for each reason
        said = _said(error)
        if isinstance(error, errors.LockNotAvailable):
            return UnreadableError(
                f"{self.address} was locked by another writer for {self._wait:g} seconds: "
                "try again when that is done"
            )
        if isinstance(error, (errors.DeadlockDetected, errors.SerializationFailure)):
            return UnreadableError(
                f"{self.address}: another writer was in the way, and nothing of this change was "
                "made; run it again"
            )
        if isinstance(error, errors.DiskFull):
            return OutputError(f"{self.address}: the disk is full; what was done before is kept")
        if isinstance(error, (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)):
            return OutputError(f"{self.address} cannot be used so by this user: {said}")
        if isinstance(error, (errors.UndefinedTable, errors.InvalidSchemaName)):
            return SourceError(f"{self.address} is not there any more, or lacks a part: {said}")
        if isinstance(error, errors.ProgramLimitExceeded):
            return SourceError(
                f"{self.address} cannot take an id of more than 2,704 bytes: give shorter ids "
                f"({said})"
            )
        if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
            return SourceError(f"{self.address} is damaged ({said}): restore a copy of it")
        if isinstance(error, psycopg.DataError):
            return SourceError(f"{self.address} cannot take a value: {said}")
        return UnreadableError(f"{self.address} cannot be used now: {said}")

    def _lost(self, error: psycopg.Error, change: str) -> UnreadableError:
        return UnreadableError(
            f"the connection to {self.address} was lost{change} ({_said(error)}): run it again"
        )

    def _connect(self) -> Connection[Any]:
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
                        f"{self.address} cannot be reached: {_said(error)}; see that the server "
                        "runs, and that the address is right"
                    ) from None
            time.sleep(pause)

    def _lent(self) -> Connection[Any] | None:
        """Take a connection that is idle."""
        with self._lock:
            if self._closed:
                raise SourceError(f"the index {self.address} is closed: open it again")
            if self._process != os.getpid():
                # Those of the process that this one is a copy of are neither used nor closed here.
                self._inherited += self._idle
                self._idle = []
                self._process = os.getpid()
            return self._idle.pop() if self._idle else None

    def _begun(self, first: str) -> Connection[Any]:
        """Give a connection on which first statements were run.

        One that was lost while it was idle is noticed by those, when nothing has been done yet.
        """
        while True:
            idle = self._lent()
            connection = self._connect() if idle is None else idle
            try:
                connection.execute(first)
            except BaseException as error:
                lost = connection.closed
                connection.close()
                if idle is None or not lost or not isinstance(error, psycopg.OperationalError):
                    raise
            else:
                return connection

    @contextmanager
    def _connected(self, *first: str) -> Iterator[Connection[Any]]:
        """Lend a connection, which one thread has at a time."""
        connection = self._begun("; ".join(first) or "SELECT 1")
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            kept = not self._closed and len(self._idle) < MOST_IDLE
            if kept:
                self._idle.append(connection)
        if not kept:
            connection.close()

    def _first_statements(self) -> tuple[str, ...]:
        settings = [f"SET LOCAL search_path TO {self._schema}", "SET LOCAL jit TO off"]
        settings.append(f"SET LOCAL lock_timeout TO {max(1, int(self._wait * 1000))}")
        if self._durable:
            settings.append("SET LOCAL synchronous_commit TO on")
        return tuple(settings)

    @contextmanager
    def read(self) -> Iterator[Reading]:
        """Look at the index as it is now."""
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        first = begin, *self._first_statements(), "SELECT 1"
        with self._failures(), self._connected(*first) as connection:
            try:
                yield Reading(connection)
                connection.execute("COMMIT")
            except psycopg.Error as error:
                if connection.closed:
                    raise self._lost(error, "") from None
                raise

    @contextmanager
    def write(self, locks: NDArray[np.int64] | None = None) -> Iterator[Writing]:
        """Change the index, beside others that have no lock in common."""
        first = "BEGIN ISOLATION LEVEL READ COMMITTED", *self._first_statements()
        with (
            self._failures(),
            self._connected(*first, *self._locking(locks)) as connection,
        ):
            change = ", and what was under way was undone"
            try:
                yield Writing(connection, self.count_apart if locks is not None else None)
                change = " as a change ended, which may be there or not"
                ended = connection.execute("COMMIT").statusmessage
            except psycopg.Error as error:
                if connection.closed:
                    raise self._lost(error, change) from None
                raise
            if ended != "COMMIT":
                # So answers the server where a statement has failed and was passed over.
                raise OutputError(f"{self.address}: a change failed, and nothing of it was made")

    def _locking(self, locks: NDArray[np.int64] | None) -> list[str]:
        """Give the statements that wait for others: each sees what those did that it waited for."""
        if locks is None:
            return [f"SELECT pg_advisory_xact_lock({self._base_lock})"]
        slots = listed(self._base_lock + 1 + np.unique(np.asarray(locks) % SLOTS))
        # In one order everywhere, so that none waits for one that waits for it.
        return [
            f"SELECT pg_advisory_xact_lock_shared({self._base_lock})",
            f"SELECT pg_advisory_xact_lock(slot) FROM unnest('{slots}'::bigint[]) AS slot",  # noqa: S608
        ]

    def count_apart(self, name: str, by: int) -> int:
        """Raise a counter at once, whatever becomes of the change that it is for."""
        # Its record stands in the log before that of any change that uses it.
        quickly = "SET LOCAL synchronous_commit TO off"
        with self._connected("BEGIN", *self._first_statements(), quickly) as connection:
            after = count_up(connection, name, by)
            connection.execute("COMMIT")
        return after - by

    def compact(self) -> None:
        """Let the server use the room again that removed rows stood in."""
        tables = ", ".join(f"{self._schema}.{name}" for name in ("fact", *PARTS))
        with self._failures(), self._connected() as connection:
            connection.execute(f"VACUUM (ANALYZE) {tables}")

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            mine = self._process == os.getpid()
            if not mine:
                self._inherited += idle
        for connection in idle if mine else []:
            connection.close()


def _upgrade(connection: Connection[Any], version: int) -> None:
    """Take an index from one format to the newest, within a transaction."""
    for step in STEPS[version:FORMAT]:
        connection.execute(step)
    connection.execute("UPDATE format SET version = %s", (FORMAT,))


def _said(error: psycopg.Error) -> str:
    """Give what the server or the library says, on a line."""
    lines = (error.diag.message_primary or str(error)).split()
    return shortened(" ".join(lines), MOST_SAID)
