"""What a transaction will ask for, asked for in one statement as it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.index.postgres_arrays import of_bytes, of_numbers, of_texts
from lookalike.index.store import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lookalike.index.store import Sought

__all__ = ["LOOK_AHEAD", "Ahead"]

CONTENT, DOCUMENT, CANDIDATE, BLOCK, FACT = range(5)
# No plan of it has anything to choose: each part goes by the index of its table. A join would: of
# a table that was filled a moment ago the server knows too little, and reads all of its index.
LOOK_AHEAD = f"""
SELECT {CONTENT}, number, content, NULL::bigint[], NULL::text, NULL::text, NULL::bigint
FROM entry WHERE content = ANY(%(contents)s::bytea[])
UNION ALL SELECT {DOCUMENT}, entry, NULL, NULL, id, metadata, run
FROM document WHERE id = ANY(%(ids)s::text[])
UNION ALL SELECT {CANDIDATE}, found.entry, (SELECT sketch FROM entry WHERE number = found.entry),
    found.keys, NULL, NULL, NULL
FROM (SELECT entry, array_agg(key) AS keys FROM loose WHERE key = ANY(%(keys)s::bigint[])
    GROUP BY entry) AS found
UNION ALL SELECT {BLOCK}, block, NULL, NULL, NULL, NULL, NULL
FROM crowd WHERE key = ANY(%(keys)s::bigint[])
UNION ALL SELECT {FACT}, NULL, NULL, NULL, name, text, NULL
FROM fact WHERE name = ANY(%(facts)s::text[])
"""  # noqa: S608 - of numbers


class Ahead:
    """Answers that came as a transaction began; good until it changes something."""

    def __init__(self, sought: Sought, rows: Iterable[tuple[Any, ...]]) -> None:
        """Take what was sought, and the rows of the statement."""
        self._keys: frozenset[int] = frozenset(sought.keys.tolist())
        self._asked_contents: frozenset[bytes] = frozenset(sought.contents)
        self._asked_ids: frozenset[str] = frozenset(sought.ids)
        self._asked_facts = {*sought.facts}
        self._contents: dict[bytes, int] = {}
        self._documents: dict[str, Document] = {}
        self._sketches: dict[int, bytes | None] = {}
        self._loose: list[tuple[int, int]] = []
        self._blocks: list[int] = []
        self._facts: dict[str, str] = {}
        for kind, number, data, keys, name, text, run in rows:
            if kind == CONTENT:
                self._contents[data] = number
            elif kind == DOCUMENT:
                self._documents[name] = Document(name, number, text, run)
            elif kind == CANDIDATE:
                self._sketches[number] = data
                self._loose += [(key, number) for key in keys]
            elif kind == BLOCK:
                self._blocks.append(number)
            else:
                self._facts[name] = text

    @staticmethod
    def values(sought: Sought) -> dict[str, Any]:
        """Give what the statement takes."""
        return {
            "contents": of_bytes(sought.contents),
            "ids": of_texts(name for name in sought.ids if "\0" not in name),
            "keys": of_numbers(sought.keys.tolist()),
            "facts": of_texts(sought.facts),
        }

    def forget_rows(self) -> None:
        """Know nothing of entries, buckets and documents any more."""
        self._keys, self._asked_contents, self._asked_ids = frozenset(), frozenset(), frozenset()
        self._sketches, self._blocks = {}, []

    def forget_fact(self, name: str) -> None:
        """Know nothing of a fact any more."""
        self._asked_facts.discard(name)

    def contents(self, contents: Sequence[bytes]) -> dict[bytes, int] | None:
        """Give the entries that have these contents; None where others were sought, as always."""
        if not self._asked_contents.issuperset(contents):
            return None
        return {one: self._contents[one] for one in contents if one in self._contents}

    def documents(self, ids: Sequence[str]) -> list[Document] | None:
        """Give those documents that there are."""
        if not self._asked_ids.issuperset(ids):
            return None
        return [self._documents[name] for name in {*ids} if name in self._documents]

    def has_fact(self, name: str) -> bool:
        """Tell whether a fact was sought."""
        return name in self._asked_facts

    def fact(self, name: str) -> str | None:
        """Give a fact that was sought."""
        return self._facts.get(name)

    def loose(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Give the loose rows of buckets."""
        asked = set(keys.tolist())
        if not self._keys >= asked:
            return None
        rows = [row for row in self._loose if row[0] in asked]
        found = np.array(rows, np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def near(self, keys: NDArray[np.int64]) -> dict[int, bytes] | None:
        """Give the entries in the buckets that there are, and their sketches, of all keys alone."""
        if self._keys != frozenset(keys.tolist()):
            return None
        found = self._sketches.items()
        return {number: sketch for number, sketch in found if sketch is not None}

    def blocks(self, keys: NDArray[np.int64]) -> list[int] | None:
        """Give the blocks of the crowds among buckets; where there are some, only of all."""
        asked = set(keys.tolist())
        if not (self._keys >= asked if not self._blocks else self._keys == asked):
            return None
        return sorted(self._blocks)

    def sketches(
        self, entries: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]] | None:
        """Give the sketches of entries in the buckets."""
        numbers = entries.tolist()
        if not all(number in self._sketches for number in numbers):
            return None
        found = ((number, self._sketches[number]) for number in numbers)
        there = {number: sketch for number, sketch in found if sketch is not None}
        joined = np.frombuffer(b"".join(there.values()), np.uint8)
        return np.array([*there], np.int64), joined.reshape(len(there), -1 if there else 0)
