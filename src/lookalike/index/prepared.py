"""Documents with all that is stored of them, before a store is touched."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.index.asked import Asked
from lookalike.index.packed import packed
from lookalike.index.store import Entries
from lookalike.recipe.stored_sketches import Stored
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lookalike.recipe.stored_sketches import StoredSketches

__all__ = ["Prepared", "Put", "no_documents"]


class Put(NamedTuple):
    """What is to be added: an id, and its metadata as JSON."""

    id: str
    metadata: str | None


def no_documents(count: int) -> Canonical:
    """Stand for documents that are not looked at any more."""
    return Canonical(
        np.empty(0, np.uint8), np.zeros(count + 1, np.int64), np.zeros((count, 2), np.uint64)
    )


@dataclass(frozen=True)
class Prepared:
    """Documents with all that is stored of them."""

    puts: Sequence[Put]
    asked: Asked
    lengths: list[int] = field(repr=False)
    """Bytes of their canonical form."""
    bodies: list[bytes] | None = field(repr=False)
    packs_later: bool = False
    """The bodies are still to be made, of those documents that turn out to be new."""

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
        lengths = np.diff(documents.offsets).tolist()
        bodies = packed(documents) if with_text else None
        if not keep:
            asked = replace(asked, documents=no_documents(len(puts)))
        return cls(puts, asked, lengths, bodies)

    @classmethod
    def of_one(cls, put: Put, asked: Asked, *, with_text: bool) -> Prepared:
        """Take one document, which is compressed only if it is new."""
        return cls([put], asked, [len(asked.documents.data)], None, packs_later=with_text)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.puts)

    @property
    def contents(self) -> list[bytes]:
        """The fingerprints of their contents."""
        return self.asked.contents

    @classmethod
    def joined(cls, parts: Sequence[Prepared]) -> Prepared:
        """Put several one after the other."""
        if len(parts) == 1:
            return parts[0]
        stored = [part.asked.stored for part in parts]
        asked = Asked(
            Canonical.joined([part.asked.documents for part in parts]),
            Stored(*(np.concatenate(columns) for columns in zip(*stored, strict=True))),
            [*chain.from_iterable(part.contents for part in parts)],
        )
        bodies = [part.bodies for part in parts if part.bodies is not None]
        return cls(
            [*chain.from_iterable(part.puts for part in parts)],
            asked,
            [*chain.from_iterable(part.lengths for part in parts)],
            [*chain.from_iterable(bodies)] if bodies else None,
        )

    def entries(self, rows: list[int], first: int) -> Entries:
        """Number some of the documents as new entries, and lay out what is stored of them."""
        if len(rows) == 1:
            return self._one_entry(rows[0], first)
        stored, chosen = self.asked.stored, np.array(rows, np.int64)
        empty = stored.empty[chosen]
        keys, of_key = stored.keys[chosen], np.arange(first, first + len(rows))
        if empty.any():
            keys, of_key = keys[~empty], of_key[~empty]
        return Entries(
            range(first, first + len(rows)),
            [self.contents[row] for row in rows],
            stored.sketches[chosen],
            [self.lengths[row] for row in rows],
            empty.tolist(),
            self._bodies(rows),
            keys.reshape(-1),
            np.repeat(of_key, keys.shape[1]),
        )

    def _one_entry(self, row: int, number: int) -> Entries:
        stored, empty = self.asked.stored, bool(self.asked.stored.empty[row])
        keys = stored.keys[row, :0] if empty else stored.keys[row]
        return Entries(
            [number],
            [self.contents[row]],
            stored.sketches[row : row + 1],
            [self.lengths[row]],
            [empty],
            self._bodies([row]),
            keys,
            np.full(len(keys), number),
        )

    def _bodies(self, rows: list[int]) -> Sequence[bytes | None]:
        if self.packs_later:
            return packed(self.asked.documents, rows)
        bodies = self.bodies
        return [None] * len(rows) if bodies is None else [bodies[row] for row in rows]
