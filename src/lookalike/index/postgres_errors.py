"""What PostgreSQL refuses, in a line each that says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.base.errors import DamagedError, OutputError, SourceError, UnreadableError
from lookalike.base.wording import shortened
from lookalike.index.postgres_library import errors, psycopg

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["LostError", "explained", "is_lost", "said", "was_undone"]

MOST_SAID = 300
"""Characters of what the server says."""
UNDONE = (errors.DeadlockDetected, errors.SerializationFailure)
LOST = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.IdleInTransactionSessionTimeout,
    errors.IdleSessionTimeout,
)
"""The last words of a server on a connection, which may be read before its end is noticed."""


class LostError(psycopg.OperationalError):
    """A connection that was lost within a transaction."""

    def __init__(self, error: psycopg.Error, change: str = "", *, undone: bool = True) -> None:
        """Take what was said of it, and what became of the change, if there was one."""
        super().__init__(said(error))
        self.change, self.undone = change, undone


def is_lost(error: BaseException, connection: Connection[Any] | None) -> bool:
    """Tell whether the connection was lost, which was not so much as made if there is none."""
    if connection is not None and connection.broken:
        return True
    # What the server refuses has a number; without one the library found no server to talk to.
    of_library = isinstance(error, psycopg.OperationalError) and error.sqlstate is None
    return isinstance(error, LOST) or (of_library and not isinstance(error, errors.PipelineAborted))


def was_undone(error: psycopg.Error) -> bool:
    """Tell whether a change may be made again: nothing of it was made, through no fault of it."""
    return isinstance(error, UNDONE) or (isinstance(error, LostError) and error.undone)


def said(error: psycopg.Error) -> str:
    """Give what the server or the library says, on a line."""
    words = (error.diag.message_primary or str(error)).split()
    return shortened(" ".join(words), MOST_SAID)


def explained(error: psycopg.Error, address: str, wait: float) -> Exception:  # noqa: PLR0911 - a line for each reason
    """Give the error that a user is shown."""
    text = said(error)
    if isinstance(error, LostError):
        return UnreadableError(
            f"the connection to {address} was lost{error.change} ({text}): run it again"
        )
    if isinstance(error, errors.LockNotAvailable):
        return UnreadableError(
            f"{address} was locked by another writer for {wait:g} seconds: try again when that is "
            "done"
        )
    if isinstance(error, UNDONE):
        return UnreadableError(
            f"{address}: another writer was in the way, and nothing of this change was made; run "
            "it again"
        )
    if isinstance(error, errors.DiskFull):
        return OutputError(f"{address}: the disk is full; what was done before is kept")
    if isinstance(error, (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)):
        return OutputError(f"{address} cannot be used so by this user: {text}")
    if isinstance(error, (errors.UndefinedTable, errors.InvalidSchemaName)):
        return SourceError(f"{address} is not there any more, or lacks a part: {text}")
    if isinstance(error, errors.ProgramLimitExceeded):
        return SourceError(
            f"{address} cannot take an id of more than 2,704 bytes: give shorter ids ({text})"
        )
    if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
        return DamagedError(f"{address} is damaged ({text}): restore a copy of it")
    if isinstance(error, psycopg.DataError):
        return SourceError(f"{address} cannot take a value: {text}")
    return UnreadableError(f"{address} cannot be used now: {text}")
