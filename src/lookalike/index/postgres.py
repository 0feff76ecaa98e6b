"""A store in PostgreSQL: many writers at once, each index a schema of its own.

Writers that have no lock in common go on side by side, under advisory locks of the database: each
has a share of the whole index, and a few of its slots for itself. The counters that number entries
are raised in transactions of their own, so that no writer waits for the end of another.

What a transaction is known to ask for is asked for as it begins, in one statement, and its changes
are sent with its end: two waits for the server, however many statements there are.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import OutputError
from lookalike.index.postgres_address import PostgresAddress
from lookalike.index.postgres_ahead import LOOK_AHEAD, Ahead
from lookalike.index.postgres_arrays import of_numbers, of_texts
from lookalike.index.postgres_changes import Writing, count_up
from lookalike.index.postgres_connections import Connections, piped
from lookalike.index.postgres_errors import LostError, explained, is_lost, was_undone
from lookalike.index.postgres_library import psycopg
from lookalike.index.postgres_rows import PARTS, Reading, one_row
from lookalike.index.postgres_schema import create_schema, is_older, upgrade, version_of
from lookalike.index.postgres_whole import WholeReading
from lookalike.index.read_only import unchangeable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray
    from psycopg import Connection

    from lookalike.index.store import Made, Sought, Writer

__all__ = ["PostgresStore"]

WAIT_SECONDS = 60.0
"""How long a writer waits for another."""
SLOTS = 256
"""Locks of an index: writers with none in common do not wait for each other."""
AGAIN = (0.01, 0.05, 0.2, 0.5, 1.0)
"""Seconds, more or less, before a change that was undone is made again."""
SPARE = 63
"""Numbers that are counted with one, and given out later without asking the server."""
UNDONE = ", and what was under way was undone"
ENDING = " as a change ended, which may be there or not"
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
SET = "(SELECT count(set_config(name, value, true))"
SET += " FROM unnest(%s::text[], %s::text[]) AS settings (name, value)) AS settings"
PLANNED_ONCE = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    # Of a large table that was just filled the server expects many rows, and would start workers
    # for each question, which takes longer than the answer.
    "max_parallel_workers_per_gather": "0",
}
"""For statements that go by the index of a table in any case, however small it was at first."""
LOCK_ALL = "SELECT pg_advisory_xact_lock(%s)"
LOCK_SOME = "SELECT pg_advisory_xact_lock_shared(%s),"
LOCK_SOME += " (SELECT count(pg_advisory_xact_lock(slot)) FROM unnest(%s::bigint[]) AS slot)"


class PostgresStore:
    """A schema of a database; `address` is `postgresql://user@host/database?index=name`."""

    on_server = True

    def __init__(
        self,
        address: str,
        *,
        durable: bool = False,
        wait: float = WAIT_SECONDS,
        read_only: bool = False,
    ) -> None:
        """Open an index that there is.

        What is done is on the disk of the server as its own settings say; with `durable` each
        change is there when it is done, whatever they say. Of one that is `read_only` no document
        is changed; an older format becomes the newest all the same, as no other is read.
        """
        self._prepare(PostgresAddress.parse(address), durable=durable, wait=wait)
        self._read_only = read_only
        with self._failures():
            self._check_format()

    def _prepare(self, place: PostgresAddress, *, durable: bool, wait: float) -> None:
        self.address = place.shown
        self._schema = '"' + place.index.replace('"', '""') + '"'
        self._wait = wait
        self._read_only = False
        self._connections = Connections(place)
        self._numbers = _Numbers(self._counted)
        self._settings = {
            "search_path": self._schema,
            "jit": "off",
            "lock_timeout": str(max(1, int(wait * 1000))),
        }
        if durable:
            self._settings["synchronous_commit"] = "on"
        digest = hashlib.blake2b(f"lookalike {place.index}".encode(), digest_size=6).digest()
        self._base_lock = int.from_bytes(digest, "little") << 12

    @classmethod
    def create(cls, address: str, facts: dict[str, str], **options: Any) -> PostgresStore:
        """Make a schema, which appears with its first facts or not at all."""
        store = cls.__new__(cls)
        given = {"durable": False, "wait": WAIT_SECONDS} | options
        store._prepare(PostgresAddress.parse(address), **given)
        with store._failures(), store._connected() as connection:
            create_schema(connection, store.address, store._schema, facts)
        return store

    def _check_format(self) -> None:
        """Refuse what is no index of a known format; bring an older one up to this one."""
        with self._connected() as connection:
            older = is_older(self._version(connection), self.address)
        if older:
            with self._changing(None, None) as writer:
                upgrade(writer.connection, self._version(writer.connection))

    def _version(self, connection: Connection[Any]) -> int:
        return version_of(connection, self.address, self._schema)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Say in a line what PostgreSQL refuses."""
        try:
            yield
        except psycopg.Error as error:
            raise explained(error, self.address, self._wait) from None

    @contextmanager
    def _connected(self) -> Iterator[Connection[Any]]:
        """Lend a connection that is in no transaction."""
        with self._connections.lent(lambda one: one.execute("SELECT 1")) as (connection, _):
            yield connection

    @contextmanager
    def _transaction(
        self,
        begin: str,
        settings: dict[str, str],
        lock: str = "SELECT 1",
        *locked: Any,
        sought: Sought | None = None,
    ) -> Iterator[tuple[Connection[Any], Ahead | None]]:
        """Begin a transaction, with its locks; one that seeks something is piped to its end."""

        def start(connection: Connection[Any]) -> tuple[ExitStack, Ahead | None]:
            with ExitStack() as stack:
                stack.enter_context(piped(connection))
                connection.execute(begin)
                # What waits for others is by itself: what is asked then sees what those did.
                set_now = of_texts(settings), of_texts(settings.values())
                connection.execute(f"{lock} FROM {SET}", (*locked, *set_now))
                if sought is None:
                    return ExitStack(), None
                rows = connection.execute(LOOK_AHEAD, Ahead.values(sought), binary=True)
                return stack.pop_all(), Ahead(sought, rows)

        with self._connections.lent(start) as (connection, (stack, ahead)), stack:
            yield connection, ahead

    def _settings_for(self, sought: Sought | None) -> dict[str, str]:
        return self._settings if sought is None else self._settings | PLANNED_ONCE

    @contextmanager
    def read(self, sought: Sought | None = None) -> Iterator[Reading]:
        """Look at the index as it is now."""
        with self._reading(sought) as (connection, ahead):
            yield Reading(connection, ahead)

    @contextmanager
    def read_whole(self) -> Iterator[WholeReading]:
        """Look at all of the index as it is now."""
        with self._reading(None) as (connection, _):
            yield WholeReading(connection)

    @contextmanager
    def _reading(self, sought: Sought | None) -> Iterator[tuple[Connection[Any], Ahead | None]]:
        connection: Connection[Any] | None = None
        begun = self._transaction(READ, self._settings_for(sought), sought=sought)
        with self._failures():
            try:
                with begun as (connection, ahead):
                    yield connection, ahead
                    connection.execute("COMMIT")
            except psycopg.Error as error:
                if is_lost(error, connection):
                    raise LostError(error) from None
                raise

    @contextmanager
    def write(
        self, locks: NDArray[np.int64] | None = None, sought: Sought | None = None
    ) -> Iterator[Writing]:
        """Change the index, beside others that have no lock in common."""
        self._check_changeable()
        with self._failures(), self._changing(locks, sought) as writer:
            yield writer

    def change(
        self,
        work: Callable[[Writer], Made],
        locks: NDArray[np.int64] | None = None,
        sought: Sought | None = None,
    ) -> Made:
        """Change the index by a function, which is called again where the server undid it."""
        self._check_changeable()
        pauses = iter(AGAIN)
        with self._failures():
            while True:
                try:
                    with self._changing(locks, sought) as writer:
                        return work(writer)
                except psycopg.Error as error:
                    pause = next(pauses, None)
                    if pause is None or not was_undone(error):
                        raise
                # Of two that were in each other's way, one comes first the next time.
                time.sleep(pause * secrets.SystemRandom().uniform(0.5, 1.5))

    def _check_changeable(self) -> None:
        if self._read_only:
            raise unchangeable(self.address)

    @contextmanager
    def _changing(
        self, locks: NDArray[np.int64] | None, sought: Sought | None
    ) -> Iterator[Writing]:
        if locks is None:
            locking: tuple[Any, ...] = LOCK_ALL, self._base_lock
        else:
            # In one order everywhere, so that none waits for one that waits for it.
            slots = self._base_lock + 1 + np.unique(np.asarray(locks) % SLOTS)
            locking = LOCK_SOME, self._base_lock, of_numbers(slots.tolist())
        connection: Connection[Any] | None = None
        begun = self._transaction(WRITE, self._settings_for(sought), *locking, sought=sought)
        undone = True
        try:
            with begun as (connection, ahead):
                apart = None if locks is None else self._numbers.count_up
                yield Writing(connection, ahead, apart, piped=sought is not None)
                undone = False
                ended = connection.execute("COMMIT")
        except psycopg.Error as error:
            if is_lost(error, connection):
                raise LostError(error, UNDONE if undone else ENDING, undone=undone) from None
            raise
        if ended.statusmessage != "COMMIT":
            # So answers the server where a statement has failed and was passed over.
            raise OutputError(f"{self.address}: a change failed, and nothing of it was made")

    def turn(self) -> ServerTurn | None:
        """Give the right to be the one job; None while another has it."""
        connection = self._connections.connect()
        turn = ServerTurn(connection, self._failures)
        try:
            with self._failures():
                # Behind those of the slots.
                lock = self._base_lock + 1 + SLOTS
                (acquired,) = one_row(connection, "SELECT pg_try_advisory_lock(%s)", lock)
        except BaseException:
            turn.release()
            raise
        if acquired:
            return turn
        turn.release()
        return None

    def _counted(self, name: str, by: int) -> int:
        """Raise a counter at once, whatever becomes of the change that it is for."""
        # Its record stands in the log before that of any change that uses it.
        settings = self._settings | {"synchronous_commit": "off"}
        with self._transaction("BEGIN", settings) as (connection, _):
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
        self._connections.close()


class ServerTurn:
    """The right to be the one job, as long as a connection lasts."""

    def __init__(
        self,
        connection: Connection[Any],
        failures: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Take the connection that has the lock, and what says in a line that it was lost."""
        self._connection, self._failures = connection, failures

    def check(self) -> None:
        """Refuse to go on where the connection was lost, and another may have had it since."""
        with self._failures():
            try:
                self._connection.execute("SELECT 1")
            except psycopg.Error as error:
                raise LostError(error, ", and with it the turn of this job") from None

    def release(self) -> None:
        """Let another have it."""
        self._connection.close()


class _Numbers:
    """Counters of an index, some of whose numbers are in this process, to be given out."""

    def __init__(self, counted: Callable[[str, int], int]) -> None:
        self._counted = counted
        self._lock = threading.Lock()
        self._spare: dict[tuple[int, str], range] = {}

    def count_up(self, name: str, by: int, gaps: bool) -> int:
        """Raise a counter, and give what it was; with gaps, some numbers may never be given."""
        if not gaps:
            return self._counted(name, by)
        # A copy of this process has numbers of its own.
        mine = os.getpid(), name
        with self._lock:
            spare = self._spare.get(mine, range(0))
            if len(spare) >= by:
                self._spare[mine] = spare[by:]
                return spare[0]
        first = self._counted(name, by + SPARE)
        with self._lock:
            self._spare[mine] = range(first + by, first + by + SPARE)
        return first
