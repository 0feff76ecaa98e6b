"""Documents on their way into a store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import DamagedError, SourceError
from lookalike.base.wording import quoted, setting
from lookalike.index import crowded
from lookalike.index.store import Document
from lookalike.index.unread import NotRead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lookalike.index.prepared import Prepared, Put
    from lookalike.index.store import Reader, Writer
    from lookalike.recipe.stored_sketches import StoredSketches

__all__ = ["ENTRY_COUNTER", "GONE_COUNTER", "Added", "counter", "drop_unused", "locks_of", "put"]

ENTRY_COUNTER, GONE_COUNTER = "counter.entries", "counter.gone"
"""Facts: entries that were ever numbered, and those gone whose rows wait to be swept."""


def counter(reader: Reader, name: str) -> int:
    """Give what a counter has come to."""
    text = reader.fact(name) or "0"
    if not text.isdecimal():
        raise DamagedError(
            f"the index is damaged, it has counted {quoted(text)} documents: restore a copy of it, "
            "or make it again"
        )
    return int(text)


def drop_unused(writer: Writer, entries: Sequence[int]) -> None:
    """Remove those entries, of some, that no document is a copy of."""
    if entries and (gone := writer.drop_unused(np.array(entries, np.int64))):
        writer.count_up(GONE_COUNTER, gone)


@dataclass
class Added:
    """What became of documents that were brought."""

    documents: int = 0
    """Added, those included that took the place of others."""
    replaced: int = 0
    """Of them, those whose ids were there before."""
    identical: int = 0
    """Of them, those whose text was there before, under whatever id."""
    empty: int = 0
    """Of them, those with nothing that counts; they are similar to nothing."""
    similar: int = 0
    """Not added, as one that is similar was there before."""
    unread: NotRead = field(default_factory=NotRead)
    """What of the source was not read, and why."""

    def __iadd__(self, other: Added) -> Added:
        """Count others too."""
        for name in ("documents", "replaced", "identical", "empty", "similar"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.unread.add(other.unread)
        return self


def locks_of(prepared: Prepared) -> NDArray[np.int64]:
    """Give what two changes have in common that must not be made at once.

    Similar documents that could find each other share a key; and one id is one document.
    """
    ids = [hashlib.blake2b(one.id.encode(), digest_size=6).digest() for one in prepared.puts]
    of_ids = np.array([int.from_bytes(one, "little") for one in ids], np.int64)
    contents = [int.from_bytes(content[:6], "little") for content in prepared.contents]
    keys = prepared.asked.stored.keys.reshape(-1)
    return np.concatenate([keys, of_ids, np.array(contents, np.int64)])


def put(
    writer: Writer,
    prepared: Prepared,
    sketches: StoredSketches,
    rows: Sequence[int] | None = None,
    *,
    run: int = 0,
    known: dict[bytes, int] | None = None,
) -> Added:
    """Add documents, or some of them, each in the place of one with its id.

    An id that the same run has brought before is refused: what it replaced would be lost. Which
    entries have their contents is asked for where it is not `known`.
    """
    rows = range(len(prepared)) if rows is None else rows
    puts = [prepared.puts[row] for row in rows]
    before = {one.id: one for one in writer.documents([one.id for one in puts])}
    _check_repeats(puts, before, run)
    contents = [prepared.contents[row] for row in rows]
    others = [one.entry for one in before.values()]
    known = {**writer.claim(sorted(set(contents)), others, known)}
    fresh: dict[bytes, int] = {}
    for row, content in zip(rows, contents, strict=True):
        if content not in known:
            fresh.setdefault(content, row)
    identical = len(contents) - len(fresh)
    if fresh:
        first = writer.count_up(ENTRY_COUNTER, len(fresh), gaps=True) + 1
        # Numbered in the order of their contents, so that a store finds the places of both in turn.
        entries = prepared.entries([fresh[content] for content in sorted(fresh)], first)
        writer.put_entries(entries)
        known.update(zip(entries.contents, entries.numbers, strict=True))
        crowded.pack(writer, crowded.suspects(entries), sketches)
    # Of several with one id, which only those that come alone may be, the last one stays.
    documents = {
        one.id: Document(one.id, known[content], one.metadata, run)
        for one, content in zip(puts, contents, strict=True)
    }
    writer.put_documents([*documents.values()])
    left = [one.entry for one in before.values() if documents[one.id].entry != one.entry]
    if len(documents) < len(puts):
        left += [known[content] for content in fresh]
    drop_unused(writer, left)
    empty = prepared.asked.stored.empty
    return Added(
        documents=len(puts),
        replaced=len(before) + len(puts) - len(documents),
        identical=identical,
        empty=sum(bool(empty[row]) for row in rows),
    )


def _check_repeats(puts: Sequence[Put], before: dict[str, Document], run: int) -> None:
    if not run:
        return
    seen: set[str] = {name for name, one in before.items() if one.run == run}
    for one in puts:
        if one.id in seen:
            raise SourceError(
                f"the id {quoted(one.id)} is there twice in the source: name a column that tells "
                f"documents apart in {setting('id')}, or use {setting('id', 'none')}"
            )
        seen.add(one.id)
