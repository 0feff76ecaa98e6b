"""Documents that are added only if none like them is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.index import adding
from lookalike.index.adding import Added
from lookalike.index.querying import hits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.index.prepared import Prepared
    from lookalike.index.store import Writer
    from lookalike.recipe.stored_sketches import StoredSketches

__all__ = ["Found", "admit"]


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
    known = writer.contents(sorted(set(prepared.contents)))
    found: list[list[Found]] = [[] for _ in range(len(prepared))]
    for row, entry, *scores in hits(
        writer,
        prepared.asked,
        sketches,
        threshold=threshold,
        address=address,
        threads=threads,
        known=known,
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
    added = adding.put(writer, prepared, sketches, kept, run=run, known=known) if kept else Added()
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
        passing, similarity = sketches.judged(mine, theirs, first, second, self._threshold)
        if similarity is not None:
            unknown = np.full(len(passing), np.nan)
            columns = [others[passing], similarity, unknown, unknown]
        else:
            near = others[passing]
            scored = sketches.recipe.score(
                asked.documents, np.full(len(near), row), near, threshold=self._threshold
            )
            shares = scored.first_in_second, scored.second_in_first
            columns = [scored.second, scored.similarity, *shares]
        found = zip(*(column.tolist() for column in columns), strict=True)
        return [Found(None, *one) for one in found]
