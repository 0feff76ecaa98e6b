"""Which store an address stands for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.index.sqlite import SqliteStore

if TYPE_CHECKING:
    from lookalike.index.store import Store

__all__ = ["WAIT_SECONDS", "create_store", "is_index", "open_store"]

WAIT_SECONDS = 60.0
"""How long a writer waits for another, where nothing else is said."""
SERVERS = ("postgresql://", "postgres://")
ENDING = ".lookalike"


def is_index(address: object) -> bool:
    """Tell whether a name is that of an index: it ends so, or is on a server."""
    if not isinstance(address, (str, os.PathLike)):
        return False
    name = os.fspath(address)
    return name.startswith(SERVERS) or name.endswith(ENDING)


def open_store(address: Any, *, durable: bool, wait: float, read_only: bool = False) -> Store:
    """Open the store of an index that there is; one that is read only is not changed by it."""
    name = _name(address)
    if name.startswith(SERVERS):
        from lookalike.index.postgres import PostgresStore

        return PostgresStore(name, durable=durable, wait=wait)
    return SqliteStore(Path(name), durable=durable, wait=wait, read_only=read_only)


def create_store(address: Any, facts: dict[str, str]) -> None:
    """Make the store of a new index, with what it says of itself."""
    name = _name(address)
    if name.startswith(SERVERS):
        from lookalike.index.postgres import PostgresStore

        PostgresStore.create(name, facts).close()
        return
    SqliteStore.create(Path(name), facts).close()


def _name(address: Any) -> str:
    if not isinstance(address, (str, os.PathLike)) or not os.fspath(address):
        raise SettingsError(
            "an index is named by a file, as pages.lookalike, or an address, as postgresql://host/"
        )
    return os.fspath(address)
