"""Documents on their way into a store."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.errors import SourceError
from lookalike.base.wording import quoted, setting
from lookalike.index import crowded
from lookalike.index.packed import packed
from lookalike.index.querying import Asked, similar_entries
from lookalike.index.store import Document, Entries, Entry
from lookalike.index.unread import NotRead
from lookalike.recipe.stored_sketches import Stored
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lookalike.index.store import Reader, Writer
    from lookalike.recipe.stored_sketches import StoredSketches

__all__ = [
    "ENTRY_COUNTER",
    "GONE_COUNTER",
    "Added",
    "Found",
    "Prepared",
    "Put",
    "admit",
    "counter",
    "drop_unused",
    "locks_of",
    "no_documents",
    "put",
]

ENTRY_COUNTER, GONE_COUNTER = "counter.entries", "counter.gone"
"""Facts: entries that were ever numbered, and those gone whose rows wait to be swept."""


def counter(reader: Reader, name: str) -> int:
    """Give what a counter has come to."""
    text = reader.fact(name) or "0"
    if not text.isdecimal():
        raise SourceError(
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


def no_documents(count: int) -> Canonical:
    """Stand for documents that are not looked at any more."""
    return Canonical(
        np.empty(0, np.uint8), np.zeros(count + 1, np.int64), np.zeros((count, 2), np.uint64)
    )


class Put(NamedTuple):
    """What is to be added: an id, and its metadata as JSON."""

    id: str
    metadata: str | None


@dataclass(frozen=True)
class Prepared:
    """Documents with all that is stored of them, before the store is touched."""

    puts: Sequence[Put]
    asked: Asked
    lengths: NDArray[np.int64] = field(repr=False)
    """Bytes of their canonical form."""
    contents: list[bytes] = field(repr=False)
    bodies: list[bytes] | None = field(repr=False)

    @classmethod
    def of(
        cls,
        puts: Sequence[Put],
        documents: Canonical,
        sketches: StoredSketches,
        *,
        with_text: bool,
        keep: bool = True,
    ) -> Prepared:
        """Sketch and compress canonical documents; those to be admitted are kept as they are."""
        asked = Asked.of(documents, sketches)
        contents, lengths = asked.contents(), np.diff(documents.offsets)
        bodies = packed(documents) if with_text else None
        if not keep:
            asked = replace(asked, documents=no_documents(len(puts)))
        return cls(puts, asked, lengths, contents, bodies)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.puts)

    @classmethod
    def joined(cls, parts: Sequence[Prepared]) -> Prepared:
        """Put several one after the other."""
        if len(parts) == 1:
            return parts[0]
        stored = [part.asked.stored for part in parts]
        asked = Asked(
            Canonical.joined([part.asked.documents for part in parts]),
            Stored(*(np.concatenate(columns) for columns in zip(*stored, strict=True))),
        )
        bodies = [part.bodies for part in parts if part.bodies is not None]
        return cls(
            [*chain.from_iterable(part.puts for part in parts)],
            asked,
            np.concatenate([part.lengths for part in parts]),
            [*chain.from_iterable(part.contents for part in parts)],
            [*chain.from_iterable(bodies)] if bodies else None,
        )


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
    writer: Writer, prepared: Prepared, rows: Sequence[int] | None = None, *, run: int = 0
) -> Added:
    """Add documents, or some of them, each in the place of one with its id.

    An id that the same run has brought before is refused: what it replaced would be lost.
    """
    rows = range(len(prepared)) if rows is None else rows
    puts = [prepared.puts[row] for row in rows]
    before = {one.id: one for one in writer.documents([one.id for one in puts])}
    _check_repeats(puts, before, run)
    contents = [prepared.contents[row] for row in rows]
    known = writer.claim(sorted(set(contents)), [one.entry for one in before.values()])
    fresh: dict[bytes, int] = {}
    for row, content in zip(rows, contents, strict=True):
        if content not in known:
            fresh.setdefault(content, row)
    identical = len(contents) - len(fresh)
    if fresh:
        first = writer.count_up(ENTRY_COUNTER, len(fresh), gaps=True) + 1
        entries = _entries(prepared, list(fresh.values()), first)
        writer.put_entries(entries)
        known.update({row.content: row.number for row in entries.rows})
        crowded.pack(writer, crowded.suspects(entries.keys, entries.of_key))
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


def _entries(prepared: Prepared, rows: list[int], first: int) -> Entries:
    """Number new entries, and lay out what is stored of them."""
    stored, lengths = prepared.asked.stored, prepared.lengths
    chosen = np.array(rows, np.int64)
    numbers = np.arange(first, first + len(rows))
    sketches, width = stored.sketches[chosen].tobytes(), stored.sketches.shape[1]
    bodies = prepared.bodies
    made = [
        Entry(
            number,
            prepared.contents[row],
            sketches[place * width : (place + 1) * width],
            length,
            empty,
            None if bodies is None else bodies[row],
        )
        for place, (row, number, length, empty) in enumerate(
            zip(
                rows,
                numbers.tolist(),
                lengths[chosen].tolist(),
                stored.empty[chosen].tolist(),
                strict=True,
            )
        )
    ]
    filled = ~stored.empty[chosen]
    keys = stored.keys[chosen][filled]
    return Entries(made, keys.reshape(-1), np.repeat(numbers[filled], keys.shape[1]))


class Found(NamedTuple):
    """An entry, or before it is one a row of the same batch, that a document is similar to."""

    entry: int | None
    row: int | None
    similarity: float
    asked_in_found: float
    found_in_asked: float


def admit(
    writer: Writer,
    prepared: Prepared,
    sketches: StoredSketches,
    *,
    threshold: float,
    address: str,
    run: int = 0,
    threads: int = 1,
) -> tuple[Added, list[list[Found]]]:
    """Add those documents that are similar to none in the store, nor to one added before them.

    Gives what each was found to be similar to; nothing, of those that were added.
    """
    asked = prepared.asked
    similar = similar_entries(
        writer, asked, sketches, threshold=threshold, address=address, threads=threads
    )
    found: list[list[Found]] = [[] for _ in range(len(prepared))]
    for row, entry, *scores in zip(
        similar.row.tolist(),
        similar.entry.tolist(),
        similar.similarity.tolist(),
        similar.asked_in_entry.tolist(),
        similar.entry_in_asked.tolist(),
        strict=True,
    ):
        found[row].append(Found(entry, None, *scores))
    replaced = _Replaced.of(writer, prepared)
    before = _AddedBefore(prepared, sketches, threshold)
    kept = []
    for row, (id, _) in enumerate(prepared.puts):
        mine = [one for one in found[row] if not replaced.is_gone(one.entry)]
        found[row] = mine or before.similar(row)
        if not found[row]:
            kept.append(row)
            before.add(row)
            replaced.by(id)
    added = put(writer, prepared, kept, run=run) if kept else Added()
    added.similar = len(prepared) - len(kept)
    return added, found


class _Replaced:
    """Entries of a store whose documents are replaced while a batch is admitted."""

    def __init__(self, entry_of: dict[str, int], ids_of: dict[int, set[str]]) -> None:
        self._entry_of, self._ids_of = entry_of, ids_of

    @classmethod
    def of(cls, writer: Writer, prepared: Prepared) -> _Replaced:
        """Look up the documents that those of a batch would replace, and their copies."""
        if len(prepared) == 1:
            # None comes after it, for which it would matter.
            return cls({}, {})
        there = writer.documents([one.id for one in prepared.puts])
        ids_of: dict[int, set[str]] = {}
        entries = np.unique(np.array([one.entry for one in there], np.int64))
        for one in writer.documents_of(entries) if len(entries) else []:
            ids_of.setdefault(one.entry, set()).add(one.id)
        return cls({one.id: one.entry for one in there}, ids_of)

    def by(self, id: str) -> None:
        """Note that a document was replaced, if there was one."""
        if id in self._entry_of:
            self._ids_of[self._entry_of[id]].discard(id)

    def is_gone(self, entry: int | None) -> bool:
        """Tell whether an entry has no document any more."""
        return entry in self._ids_of and not self._ids_of[entry]


class _AddedBefore:
    """The documents of a batch that were added so far, in their buckets.

    Only those are compared, not all that came before: of a thousand pages that are alike, one.
    """

    def __init__(self, prepared: Prepared, sketches: StoredSketches, threshold: float) -> None:
        self._prepared, self._sketches, self._threshold = prepared, sketches, threshold
        self._keys = prepared.asked.stored.keys.tolist() if len(prepared) > 1 else []
        self._empty = prepared.asked.stored.empty
        self._buckets: dict[int, list[int]] = {}
        self._row_of: dict[bytes, int] = {}

    def add(self, row: int) -> None:
        """Note that a document was added."""
        if self._keys and not self._empty[row]:
            self._row_of[self._prepared.contents[row]] = row
            for key in self._keys[row]:
                self._buckets.setdefault(key, []).append(row)

    def similar(self, row: int) -> list[Found]:
        """Give those that a document is similar to."""
        if not self._row_of or self._empty[row]:
            return []
        same = self._row_of.get(self._prepared.contents[row])
        if same is not None:
            return [Found(None, same, 1.0, 1.0, 1.0)]
        met = {one for key in self._keys[row] for one in self._buckets.get(key, ())}
        if not met:
            return []
        return self._compared(row, np.array(sorted(met), np.int64))

    def _compared(self, row: int, others: NDArray[np.int64]) -> list[Found]:
        asked, sketches = self._prepared.asked, self._sketches
        mine, theirs = asked.stored.sketches[row : row + 1], asked.stored.sketches[others]
        first, second = np.zeros(len(others), np.int64), np.arange(len(others))
        if sketches.recipe.by_sketches:
            similarity = sketches.estimates(mine, theirs, first, second)
            high = similarity >= self._threshold
            unknown = np.full(int(np.count_nonzero(high)), np.nan)
            columns = [others[high], similarity[high], unknown, unknown]
        else:
            near = others[sketches.near(mine, theirs, first, second)]
            scored = sketches.recipe.score(
                asked.documents, np.full(len(near), row), near, threshold=self._threshold
            )
            shares = scored.first_in_second, scored.second_in_first
            columns = [scored.second, scored.similarity, *shares]
        found = zip(*(column.tolist() for column in columns), strict=True)
        return [Found(None, *one) for one in found]
