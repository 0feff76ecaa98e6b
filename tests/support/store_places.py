"""Where stores are made in tests: one suite goes over all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.index.postgres import PostgresStore
from lookalike.index.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lookalike.index.store import Store

CREATING = """
from pathlib import Path
from lookalike.index.{module} import {name}
store = {name}({place}, wait=20)
"""


class StorePlace:
    """An index of one kind, made, opened, and closed in the end."""

    def __init__(self, kind: str, place: Any) -> None:
        self.kind, self.place = kind, place
        self._made: Callable[..., Store]
        self._opened: Callable[..., Store]
        if kind == "sqlite":
            self._made, self._opened = SqliteStore.create, SqliteStore
        else:
            self._made, self._opened = PostgresStore.create, PostgresStore
        self._stores: list[Store] = []

    def create(self, facts: dict[str, str] | None = None, **options: Any) -> Store:
        store = self._made(self.place, facts or {}, **options)
        self._stores.append(store)
        return store

    def open(self, **options: Any) -> Store:
        store = self._opened(self.place, **options)
        self._stores.append(store)
        return store

    def close(self) -> None:
        for store in self._stores:
            store.close()
        self._stores.clear()

    def code(self) -> str:
        """Give the code that opens it in another process, as `store`."""
        if self.kind == "sqlite":
            return CREATING.format(
                module="sqlite", name="SqliteStore", place=f"Path({str(self.place)!r})"
            )
        return CREATING.format(module="postgres", name="PostgresStore", place=repr(self.place))


def sqlite_place(path: Path) -> StorePlace:
    return StorePlace("sqlite", path)


def postgres_place(address: str) -> StorePlace:
    return StorePlace("postgres", address)
