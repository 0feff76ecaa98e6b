"""What is an index, and which store an address stands for; a store loads when it is opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.base.errors import SettingsError
from lookalike.base.index_files import SERVERS, Opened

if TYPE_CHECKING:
    from lookalike.index.store import Store

__all__ = [
    "WAIT_SECONDS",
    "create_store",
    "identity",
    "indexes_among",
    "is_index",
    "open_store",
]

WAIT_SECONDS = 60.0
"""How long a writer waits for another, where nothing else is said."""
ENDING = ".lookalike"


def indexes_among(given: Any) -> tuple[list[Any], Any]:
    """Give the indexes, open or named, among what a function is given, and the rest of it."""
    if isinstance(given, Opened) or is_index(given):
        return [given], None
    listed = isinstance(given, (list, tuple)) and len(given) > 0
    # A list of strings is one of texts.
    if not listed or not all(isinstance(one, (os.PathLike, Opened)) for one in given):
        return [], given
    indexes = [one for one in given if isinstance(one, Opened) or is_index(one)]
    rest = [one for one in given if not any(one is index for index in indexes)]
    return (indexes, rest or None) if indexes else ([], given)


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

        return PostgresStore(name, durable=durable, wait=wait, read_only=read_only)
    from lookalike.index.sqlite import SqliteStore

    return SqliteStore(Path(name), durable=durable, wait=wait, read_only=read_only)


def create_store(address: Any, facts: dict[str, str]) -> None:
    """Make the store of a new index, with what it says of itself."""
    name = _name(address)
    if name.startswith(SERVERS):
        from lookalike.index.postgres import PostgresStore

        PostgresStore.create(name, facts).close()
        return
    from lookalike.index.sqlite import SqliteStore

    SqliteStore.create(Path(name), facts).close()


def identity(address: str) -> str:
    """Name an index so that two names of one file are the same, wherever a program runs."""
    return address if address.startswith(SERVERS) else os.path.realpath(address)


def _name(address: Any) -> str:
    if not isinstance(address, (str, os.PathLike)) or not os.fspath(address):
        raise SettingsError(
            "an index is named by a file, as pages.lookalike, or an address, as postgresql://host/"
        )
    return os.fspath(address)
