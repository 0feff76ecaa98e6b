"""The statements that change the rows of an index in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted
from lookalike.index import marks
from lookalike.index.postgres_arrays import of_bytes, of_numbers, of_texts
from lookalike.index.postgres_rows import Reading, block_of, one_row
from lookalike.index.store import Block, Document

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from psycopg import Connection, Cursor

    from lookalike.index.postgres_ahead import Ahead
    from lookalike.index.store import Entries

__all__ = ["Writing", "count_up"]

PAIR = np.dtype(
    [("fields", ">i2"), ("size", ">i4"), ("key", ">i8"), ("size_too", ">i4"), ("entry", ">i8")]
)
"""A row of two numbers, as COPY takes it."""
PUT_ENTRIES = """
WITH entries AS (
    INSERT INTO entry (number, content, sketch, length, empty, mark) SELECT * FROM
    unnest(%s::bigint[], %s::bytea[], %s::bytea[], %s::bigint[], %s::boolean[], %s::bigint[])
), bodies AS (
    INSERT INTO body (entry, body) SELECT * FROM unnest(%s::bigint[], %s::bytea[])
)
INSERT INTO loose (key, entry) SELECT * FROM unnest(%s::bigint[], %s::bigint[])
"""
"""The columns of an entry in their order, then bodies, then the rows of buckets."""
COPY_HEAD, COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"


def count_up(connection: Connection[Any], name: str, by: int) -> int:
    """Raise a counter, and give what it has come to."""
    (text,) = one_row(
        connection,
        "INSERT INTO fact VALUES (%s, %s) ON CONFLICT (name)"
        " DO UPDATE SET text = (fact.text::bigint + excluded.text::bigint)::text RETURNING text",
        name,
        str(by),
    )
    return int(text)


class Writing(Reading):
    """The rows of an index, in a transaction that changes them."""

    def __init__(
        self,
        connection: Connection[Any],
        ahead: Ahead | None = None,
        count_apart: Callable[[str, int, bool], int] | None = None,
        *,
        piped: bool = False,
    ) -> None:
        """Take a connection that has its locks, and where others write too, how to count apart.

        Where statements are `piped`, rows go in by statements whose answers nobody waits for, and
        not by COPY, which has to be waited for.
        """
        super().__init__(connection, ahead)
        self._count_apart = count_apart
        self._piped = piped
        self._noted: set[str] = set()

    def _change(self, statement: str, *values: Any) -> Cursor[Any]:
        """Run a statement after which what was known may not be so any more."""
        if self._ahead is not None:
            self._ahead.forget_rows()
        return self._run(statement, *values)

    def claim(
        self,
        contents: Sequence[bytes],
        others: Sequence[int],
        known: dict[bytes, int] | None = None,
    ) -> dict[bytes, int]:
        """Give the entries that have these contents; nobody else removes them, nor the others."""
        known = self.contents(contents) if known is None else known
        if self._count_apart is None or not (known or others):
            # Nobody else writes; or nobody else brings these contents, which it has locks on.
            return known
        # In one order everywhere, so that none waits for one that waits for it.
        left = self._run(
            "SELECT content, number FROM entry WHERE number = ANY(%s::bigint[])"
            " ORDER BY number FOR UPDATE",
            of_numbers({*known.values(), *others}),
        ).fetchall()
        # One that was removed while it was waited for is not there any more.
        return {content: number for content, number in left if content in known}

    def set_fact(self, name: str, text: str | None) -> None:
        """Note a fact, or forget it."""
        self._noted.add(name)
        self._forget_fact(name)
        if text is None:
            self._change("DELETE FROM fact WHERE name = %s", name)
        else:
            self._change(
                "INSERT INTO fact VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET text = excluded.text",
                name,
                text,
            )

    def count_up(self, name: str, by: int, *, gaps: bool = False) -> int:
        """Raise a counter."""
        # One that this change has set itself would wait for the end of it.
        self._forget_fact(name)
        if self._count_apart is not None and name not in self._noted:
            return self._count_apart(name, by, gaps)
        return count_up(self.connection, name, by) - by

    def _forget_fact(self, name: str) -> None:
        if self._ahead is not None:
            self._ahead.forget_fact(name)

    def put_entries(self, entries: Entries) -> None:
        """Add entries, and their loose rows in the order in which the table has them."""
        if not entries.numbers:
            return
        keys, numbers = _distinct(entries)
        sketches = [*map(bytes, entries.sketches)]
        columns = entries.numbers, entries.contents, sketches, entries.lengths, entries.empty
        marked = [*map(marks.of_entry, *columns)]
        bodies = [
            (number, body)
            for number, body in zip(entries.numbers, entries.bodies, strict=True)
            if body is not None
        ]
        if self._piped:
            self._change(
                PUT_ENTRIES,
                of_numbers(entries.numbers),
                of_bytes(entries.contents),
                of_bytes(sketches),
                of_numbers(entries.lengths),
                of_numbers(entries.empty),
                of_numbers(marked),
                of_numbers(number for number, _ in bodies),
                of_bytes(body for _, body in bodies),
                of_numbers(keys.tolist()),
                of_numbers(numbers.tolist()),
            )
            return
        self._copy(
            "entry (number, content, sketch, length, empty, mark)",
            ("int8", "bytea", "bytea", "int8", "bool", "int8"),
            [*zip(*columns, marked, strict=True)],
        )
        self._copy(
            "body (entry, body)",
            ("int8", "bytea"),
            bodies,
        )
        if not len(keys):
            return
        laid_out = np.empty(len(keys), PAIR)
        laid_out["fields"], laid_out["size"], laid_out["size_too"] = 2, 8, 8
        laid_out["key"], laid_out["entry"] = keys, numbers
        with self.connection.cursor().copy("COPY loose FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(COPY_HEAD + laid_out.tobytes() + COPY_END)

    def _copy(self, table: str, types: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        if not rows:
            return
        with self.connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for one in rows:
                copy.write_row(one)

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Add or replace documents."""
        if not documents:
            return
        for one in documents:
            if "\0" in one.id:
                raise SourceError(
                    f"the id {quoted(one.id)} holds a NUL, which PostgreSQL has no place for: give "
                    "another"
                )
        last = {one.id: one for one in documents}
        rows = [last[name] for name in sorted(last)]
        self._change(
            "INSERT INTO document (id, entry, metadata, run, mark)"
            " SELECT * FROM"
            " unnest(%s::text[], %s::bigint[], %s::text[], %s::bigint[], %s::bigint[])"
            " ON CONFLICT (id) DO UPDATE SET entry = excluded.entry,"
            " metadata = excluded.metadata, run = excluded.run, mark = excluded.mark",
            of_texts(one.id for one in rows),
            of_numbers(one.entry for one in rows),
            of_texts(one.metadata for one in rows),
            of_numbers(one.run for one in rows),
            of_numbers(marks.of_document(*one) for one in rows),
        )

    def drop_documents(self, ids: Sequence[str]) -> None:
        """Remove documents."""
        self._change(
            "DELETE FROM document WHERE id = ANY(%s::text[])",
            of_texts(name for name in ids if "\0" not in name),
        )

    def drop_unused(self, entries: NDArray[np.int64]) -> int:
        """Remove entries that no document is a copy of."""
        # Another writer that is about to give one of them a document is waited for.
        self._run(
            "SELECT 1 FROM entry WHERE number = ANY(%s::bigint[]) ORDER BY number FOR UPDATE",
            of_numbers(entries.tolist()),
        )
        gone = self._change(
            "DELETE FROM entry WHERE number = ANY(%s::bigint[])"
            " AND NOT EXISTS (SELECT 1 FROM document WHERE document.entry = number)"
            " RETURNING number",
            of_numbers(entries.tolist()),
        ).fetchall()
        numbers = [number for (number,) in gone]
        self._change("DELETE FROM body WHERE entry = ANY(%s::bigint[])", of_numbers(numbers))
        return len(numbers)

    def take_loose(self, key: int) -> NDArray[np.int64]:
        """Remove the loose rows of a bucket."""
        rows = self._change("DELETE FROM loose WHERE key = %s RETURNING entry", key).fetchall()
        return np.array(rows, np.int64).reshape(-1)

    def put_blocks(self, blocks: Sequence[Block]) -> None:
        """Add blocks to crowds."""
        rows = [
            (one.key, one.entries.astype("<i8").tobytes(), one.sketches.tobytes()) for one in blocks
        ]
        if self._piped:
            for row in rows:
                self._change("INSERT INTO crowd (key, entries, sketches) VALUES (%s, %s, %s)", *row)
        else:
            self._copy("crowd (key, entries, sketches)", ("int8", "bytea", "bytea"), rows)

    def sweep(self) -> None:
        """Remove what names entries that are gone."""
        self._change(
            "DELETE FROM loose"
            " WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.number = loose.entry)"
        )
        for (number,) in self._run("SELECT block FROM crowd ORDER BY block").fetchall():
            row = self._run("SELECT key, entries, sketches FROM crowd WHERE block = %s", number)
            block = block_of(*(row.fetchone() or ()))
            there, _ = self.sketches(block.entries)
            left = np.isin(block.entries, there)
            if not left.all():
                self._change("DELETE FROM crowd WHERE block = %s", number)
                if left.any():
                    self.put_blocks([Block(block.key, block.entries[left], block.sketches[left])])


def _distinct(entries: Entries) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the keys of entries, and the entry of each, sorted and none twice."""
    order = np.lexsort((entries.of_key, entries.keys))
    keys, numbers = entries.keys[order], entries.of_key[order]
    repeated = (keys[1:] == keys[:-1]) & (numbers[1:] == numbers[:-1])
    first = np.flatnonzero(np.append(True, ~repeated)[: len(keys)])
    return keys[first], numbers[first]
