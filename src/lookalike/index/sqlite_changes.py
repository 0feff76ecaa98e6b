"""Changes of the tables of an index in a file of SQLite."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.base.threads import pieces
from lookalike.base.wording import quoted
from lookalike.index import marks
from lookalike.index.sqlite_rows import CONTENT_BYTES, FEW, Rows, block_of, no_such_row
from lookalike.index.store import Block
from lookalike.kernels.decimals import LONGEST, write_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lookalike.index.store import Document, Entries

__all__ = ["Changes"]

NUMBER_BITS = 16
STATEMENT_ENTRIES = 1 << NUMBER_BITS
"""Rows that go in by one statement, at the most."""
STATEMENT_BYTES = 1 << 26
"""Bytes of bodies that do."""
LENGTH_BITS = 31
"""Of the length of a body, beside where it begins: no blob of SQLite is longer."""
DIGITS = 20
"""Of any whole number of 64 bits, with its sign: SQLite cuts a row of such numbers sooner than it
reads JSON."""
NUMBERS = (
    "CAST(substr(?1, 1 + key * ?4, ?4) AS INTEGER), CAST(substr(?2, 1 + key * ?4, ?4) AS INTEGER),"
    " CAST(substr(?3, 1 + key * ?4, ?4) AS INTEGER) FROM json_each(?5)"
)
UNDESCRIBED = f" SELECT value, NULL, {NUMBERS}"
DESCRIBED = f" SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), {NUMBERS}"
"""Documents, of which none or some have metadata."""


class Changes(Rows):
    """The rows of a file, in a transaction that changes them."""

    def set_fact(self, name: str, text: str | None) -> None:
        """Note a fact, or forget it."""
        if text is None:
            self._run("DELETE FROM fact WHERE name = ?", (name,))
        else:
            self._run("INSERT OR REPLACE INTO fact VALUES (?, ?)", (name, text))

    def claim(
        self,
        contents: Sequence[bytes],
        others: Sequence[int],
        known: dict[bytes, int] | None = None,
    ) -> dict[bytes, int]:
        """Give the entries that have these contents; nobody else writes meanwhile."""
        del others
        return self.contents(contents) if known is None else known

    def count_up(self, name: str, by: int, *, gaps: bool = False) -> int:
        """Raise a counter, which leaves no gaps."""
        del gaps
        try:
            before = int(self.fact(name) or 0)
        except ValueError:
            raise no_such_row() from None
        self.set_fact(name, str(before + by))
        return before

    def put_entries(self, entries: Entries) -> None:
        """Add entries, and their loose rows in the order in which the table has them.

        Many rows go in by one statement, which other threads do not have to wait for: row by row,
        the lock of the interpreter would be given away and taken back for each.
        """
        if len(entries.numbers) <= FEW:
            self._put_few(entries)
            return
        for begin in range(0, len(entries.numbers), STATEMENT_ENTRIES):
            self._put_rows(entries, slice(begin, begin + STATEMENT_ENTRIES))
        if not len(entries.keys):
            return
        first = int(entries.of_key.min())
        for low in range(first, int(entries.of_key.max()) + 1, STATEMENT_ENTRIES):
            mine = (entries.of_key >= low) & (entries.of_key < low + STATEMENT_ENTRIES)
            # A key has 48 bits, so that the number within the statement fits beside it.
            packed = (entries.keys[mine] << NUMBER_BITS) | (entries.of_key[mine] - low)
            self._run(
                "INSERT OR IGNORE INTO loose SELECT value >> ?, ? + (value & ?) FROM json_each(?)",
                (NUMBER_BITS, low, STATEMENT_ENTRIES - 1, _listed(np.sort(packed))),
            )

    def _put_few(self, entries: Entries) -> None:
        numbers, sketches = entries.numbers, [*map(bytes, entries.sketches)]
        columns = numbers, entries.contents, sketches, entries.lengths, entries.empty
        self._many(
            "INSERT INTO entry (number, content, sketch, length, empty, mark)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            zip(*columns, map(marks.of_entry, *columns), strict=True),
        )
        bodies = zip(numbers, entries.bodies, strict=True)
        self._many("INSERT INTO body VALUES (?, ?)", [one for one in bodies if one[1] is not None])
        loose = sorted(zip(entries.keys.tolist(), entries.of_key.tolist(), strict=True))
        self._many("INSERT OR IGNORE INTO loose VALUES (?, ?)", loose)

    def _put_rows(self, entries: Entries, some: slice) -> None:
        """Add entries by one statement: their blobs as one, which SQLite cuts by their places."""
        numbers, sketches = entries.numbers[some], entries.sketches[some]
        others = entries.lengths[some], entries.empty[some]
        joined, width = sketches.tobytes(), sketches.shape[1]
        places = range(0, len(joined), width) if width else [0] * len(numbers)
        each = [joined[place : place + width] for place in places]
        self._run(
            "INSERT INTO entry (number, content, length, empty, sketch, mark)"
            " SELECT CAST(substr(?1, 1 + key * ?2, ?2) AS INTEGER), substr(?3, 1 + key * ?4, ?4),"
            " value >> 1, value & 1, coalesce(substr(?5, 1 + key * ?6, ?6), x''),"
            " CAST(substr(?8, 1 + key * ?2, ?2) AS INTEGER) FROM json_each(?7)",
            (
                *(_digits(numbers), DIGITS),
                *(b"".join(entries.contents[some]), CONTENT_BYTES),
                *(joined, width),
                json.dumps([length << 1 | empty for length, empty in zip(*others, strict=True)]),
                _digits(map(marks.of_entry, numbers, entries.contents[some], each, *others)),
            ),
        )
        bodies = zip(numbers, entries.bodies[some], strict=True)
        self._put_bodies([(number, body) for number, body in bodies if body is not None])

    def _put_bodies(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Add bodies by one statement for as many as are not too large together."""
        lengths = np.array([len(body) for _, body in rows], np.int64)
        for piece in pieces(lengths, STATEMENT_BYTES):
            some, ends = rows[piece], np.cumsum(lengths[piece])
            places = (ends - lengths[piece]) << LENGTH_BITS | lengths[piece]
            self._run(
                # Of a blob without bytes a part is null, and an empty document has no other.
                "INSERT INTO body SELECT CAST(substr(?1, 1 + key * ?2, ?2) AS INTEGER), coalesce("
                "substr(?3, 1 + (value >> ?4), value & ((1 << ?4) - 1)), x'') FROM json_each(?5)",
                (
                    *(_digits(number for number, _ in some), DIGITS),
                    b"".join(body for _, body in some),
                    *(LENGTH_BITS, _listed(places)),
                ),
            )

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Add or replace documents, in the order in which the table has them."""
        for one in documents:
            if "\0" in one.id:
                raise SourceError(f"the id {quoted(one.id)} holds a NUL: give it another")
        documents = sorted(documents, key=lambda one: one.id)
        if len(documents) <= FEW:
            self._many(
                "INSERT OR REPLACE INTO document (id, entry, metadata, run, mark)"
                " VALUES (?, ?, ?, ?, ?)",
                [(*one, marks.of_document(*one)) for one in documents],
            )
            return
        for begin in range(0, len(documents), STATEMENT_ENTRIES):
            some = documents[begin : begin + STATEMENT_ENTRIES]
            if any(one.metadata is not None for one in some):
                select, listed = DESCRIBED, json.dumps([(one.id, one.metadata) for one in some])
            else:
                select, listed = UNDESCRIBED, json.dumps([one.id for one in some])
            entries, runs = (one.entry for one in some), (one.run for one in some)
            numbers = entries, runs, (marks.of_document(*one) for one in some)
            self._run(
                "INSERT OR REPLACE INTO document (id, metadata, entry, run, mark)" + select,
                (*map(_digits, numbers), DIGITS, listed),
            )

    def drop_documents(self, ids: Sequence[str]) -> None:
        """Remove documents."""
        self._many("DELETE FROM document WHERE id = ?", [(name,) for name in ids])

    def drop_unused(self, entries: NDArray[np.int64]) -> int:
        """Remove entries that no document is a copy of."""
        unused = self._run(
            "SELECT value FROM json_each(?) WHERE value IN (SELECT number FROM entry) "
            "AND NOT EXISTS (SELECT 1 FROM document WHERE entry = value)",
            (_listed(np.unique(entries)),),
        ).fetchall()
        self._many("DELETE FROM entry WHERE number = ?", unused)
        self._many("DELETE FROM body WHERE entry = ?", unused)
        return len(unused)

    def take_loose(self, key: int) -> NDArray[np.int64]:
        """Remove the loose rows of a bucket."""
        rows = self._run("SELECT entry FROM loose WHERE key = ?", (key,)).fetchall()
        self._run("DELETE FROM loose WHERE key = ?", (key,))
        return np.array(rows, np.int64).reshape(-1)

    def put_blocks(self, blocks: Sequence[Block]) -> None:
        """Add blocks to crowds."""
        self._many(
            "INSERT INTO crowd (key, entries, sketches) VALUES (?, ?, ?)",
            [
                (one.key, one.entries.astype("<i8").tobytes(), one.sketches.tobytes())
                for one in blocks
            ],
        )

    def sweep(self) -> None:
        """Remove what names entries that are gone."""
        self._run("DELETE FROM loose WHERE entry NOT IN (SELECT number FROM entry)")
        crowds = self._run("SELECT block FROM crowd").fetchall()
        for (number,) in crowds:
            row = self._run(
                "SELECT key, entries, sketches FROM crowd WHERE block = ?", (number,)
            ).fetchone()
            if row is None:
                raise no_such_row()
            block = block_of(*row)
            there, _ = self.sketches(block.entries)
            left = np.isin(block.entries, there)
            if not left.all():
                self._run("DELETE FROM crowd WHERE block = ?", (number,))
                if left.any():
                    self.put_blocks([Block(block.key, block.entries[left], block.sketches[left])])


def _digits(numbers: Iterable[int]) -> bytes:
    """Write whole numbers one after the other, each as wide as the others."""
    plain = tuple(numbers)
    return (f"%{DIGITS}d" * len(plain) % plain).encode()


def _listed(numbers: NDArray[np.int64]) -> str:
    """Write whole numbers as a list of JSON; many of them by compiled code."""
    if len(numbers) <= FEW:
        return json.dumps(numbers.tolist())
    text = np.empty(LONGEST * len(numbers) + 2, np.uint8)
    size = write_list(numbers, text)
    return text[:size].tobytes().decode("ascii")
