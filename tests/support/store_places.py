"""Where stores are made in tests: one suite goes over all kinds."""

from __future__ import annotations

import subprocess
import sys
import threading
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


def in_threads(*work: Callable[[], None]) -> None:
    """Run functions side by side, and raise what one of them raises."""
    failed: list[BaseException] = []

    def run(function: Callable[[], None]) -> None:
        try:
            function()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in failed:
        raise error


def in_processes(place: StorePlace, code: str, many: int) -> list[str]:
    """Run code that has the store in several processes at once, and give their outputs."""
    source = f"import sys, json, numpy as np{place.code()}{code}\nstore.close()"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", source, str(number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(many)
    ]
    try:
        told = [process.communicate(timeout=60) for process in started]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    assert [errors for _, errors in told] == [""] * many
    return [output for output, _ in told]
