"""The tables of an index in PostgreSQL, and how an older format becomes the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lookalike.base.errors import OutputError, SourceError
from lookalike.index.postgres_library import errors
from lookalike.index.postgres_rows import one_row
from lookalike.index.store import FORMAT

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["create_schema", "is_older", "upgrade", "version_of"]

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
    # Blocks had whole sketches: their entries are loose again, until they are packed anew. A number
    # stands in eight bytes, the lowest first.
    """
INSERT INTO loose
SELECT key, sum(get_byte(entries, 8 * place + byte)::bigint << (8 * byte))::bigint
FROM crowd, generate_series(0, length(entries) / 8 - 1) AS place, generate_series(0, 7) AS byte
GROUP BY block, key, place
ON CONFLICT DO NOTHING;
DELETE FROM crowd;
""",
    # Rows that were there have no checksum, and are checked without.
    """
ALTER TABLE entry ADD mark bigint;
ALTER TABLE document ADD mark bigint;
""",
)
"""What makes each format of the one before it; the first, of nothing."""


def create_schema(
    connection: Connection[Any], address: str, schema: str, facts: dict[str, str]
) -> None:
    """Make the schema of a new index, which appears with its first facts or not at all."""
    (encoding,) = one_row(connection, "SHOW server_encoding")
    if encoding != "UTF8":
        raise OutputError(f"the database of {address} is in {encoding}: make one in UTF8")
    connection.execute("BEGIN")
    try:
        connection.execute(f"CREATE SCHEMA {schema}")
    except (errors.DuplicateSchema, errors.UniqueViolation):
        raise OutputError(
            f"{address} is there already: give another name, or drop the schema {schema}"
        ) from None
    connection.execute(f"SET LOCAL search_path TO {schema}")
    upgrade(connection, 0)
    connection.cursor().executemany("INSERT INTO fact VALUES (%s, %s)", [*facts.items()])
    connection.execute("COMMIT")


def upgrade(connection: Connection[Any], version: int) -> None:
    """Take an index from one format to the newest, within a transaction."""
    for step in STEPS[version:FORMAT]:
        connection.execute(step)
    connection.execute("UPDATE format SET version = %s", (FORMAT,))


def version_of(connection: Connection[Any], address: str, schema: str) -> int:
    """Give the format of an index; refuse what is none."""
    found, table = one_row(
        connection,
        "SELECT to_regnamespace(%s)::text, to_regclass(%s)::text",
        schema,
        f"{schema}.format",
    )
    if found is None:
        raise SourceError(f"there is no index {address}: make one by lookalike index create")
    if table is None:
        raise SourceError(
            f"{address} is no index of Lookalike: its schema {found} holds something else"
        )
    (version,) = one_row(connection, f"SELECT version FROM {schema}.format")  # noqa: S608
    return int(version)


def is_older(version: int, address: str) -> bool:
    """Tell whether an index is of an older format; refuse a newer one."""
    if version > FORMAT:
        raise SourceError(
            f"{address} is an index of a newer format, {version}, and this version reads {FORMAT}: "
            "use the version of Lookalike that made it, or make it again"
        )
    return version < FORMAT
