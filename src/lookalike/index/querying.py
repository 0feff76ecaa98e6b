"""Which entries of a store are similar to documents: candidates, and the exact check of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.index.candidates import candidates
from lookalike.index.packed import unpacked
from lookalike.index.single import BODIES, Hit, similar_to_one
from lookalike.settings.settings import check_share
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from lookalike.index.asked import Asked
    from lookalike.index.store import Reader
    from lookalike.recipe.stored_sketches import StoredSketches

__all__ = ["Similar", "check_threshold", "hits", "most_similar_of", "similar_entries"]


@dataclass(frozen=True)
class Similar:
    """Pairs of a document that was looked for and an entry."""

    row: NDArray[np.int64]
    entry: NDArray[np.int64]
    similarity: NDArray[np.float64]
    asked_in_entry: NDArray[np.float64]
    """The share of the document's shingles that the entry has; NaN where it is not known."""
    entry_in_asked: NDArray[np.float64]

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.row)

    def hits(self) -> Iterator[Hit]:
        """Give the pairs as plain values."""
        columns = (getattr(self, one.name).tolist() for one in fields(self))
        return (Hit(*one) for one in zip(*columns, strict=True))

    @classmethod
    def joined(cls, parts: list[Similar]) -> Similar:
        """Put several one after the other."""
        whole, real = np.empty(0, np.int64), np.empty(0, np.float64)
        return cls(
            np.concatenate([whole, *(part.row for part in parts)]),
            np.concatenate([whole, *(part.entry for part in parts)]),
            np.concatenate([real, *(part.similarity for part in parts)]),
            np.concatenate([real, *(part.asked_in_entry for part in parts)]),
            np.concatenate([real, *(part.entry_in_asked for part in parts)]),
        )


NOTHING = Similar(*(np.empty(0, kind) for kind in (np.int64, np.int64, *3 * [np.float64])))


def hits(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    *,
    threshold: float,
    address: str,
    threads: int = 1,
    known: Mapping[bytes, int] | None = None,
) -> list[Hit]:
    """Find the entries that are similar to documents, one document or many, as plain values."""
    if len(asked) == 1:
        return similar_to_one(
            reader, asked, sketches, threshold=threshold, address=address, known=known
        )
    similar = similar_entries(
        reader,
        asked,
        sketches,
        threshold=threshold,
        address=address,
        threads=threads,
        known=known,
    )
    return [*similar.hits()]


def similar_entries(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    *,
    threshold: float,
    address: str,
    threads: int = 1,
    known: Mapping[bytes, int] | None = None,
) -> Similar:
    """Find the entries that are similar to documents, each pair once, in no order.

    Identical ones are told by their fingerprints, and are 1 alike without more: by the entries that
    are `known` to have these contents, or else are asked for.
    """
    filled = np.flatnonzero(~asked.stored.empty)
    if not len(filled):
        return NOTHING
    if known is None:
        known = reader.contents(sorted({asked.contents[row] for row in filled.tolist()}))
    same = _identical(asked, filled, known)
    pairs = (same.row, same.entry) if len(same) else None
    near = candidates(reader, asked.stored, filled, sketches, threshold, pairs)
    if near is None:
        return same
    if near.similarity is not None:
        unknown = np.full(len(near.row), np.nan)
        found = [Similar(near.row, near.entry, near.similarity, unknown, unknown)]
    else:
        pairs = near.row, near.entry
        found = _compared(reader, asked, sketches, pairs, threshold, address, threads)
    parts = [part for part in (same, *found) if len(part)]
    return parts[0] if len(parts) == 1 else Similar.joined(parts)


def most_similar_of(similar: Similar) -> Similar:
    """Keep the pairs of each document that no other of its pairs is above."""
    order = np.argsort(similar.row, kind="stable")
    rows, similarity = similar.row[order], similar.similarity[order]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if not len(starts):
        return similar
    many = np.diff(np.append(starts, len(rows)))
    best = order[similarity == np.repeat(np.maximum.reduceat(similarity, starts), many)]
    return Similar(*(getattr(similar, one.name)[best] for one in fields(similar)))


def check_threshold(asked: float | None, least: float) -> float:
    """Give the threshold of a query: that of the index, or a higher one."""
    if asked is None:
        return least
    check_share("threshold", asked, "0.9")
    if asked < least:
        raise SettingsError(
            f"{setting('threshold', asked)} is below that of the index, {least:g}: its bands would "
            "miss most of such pairs; ask for more, or make an index with a lower one"
        )
    return float(asked)


def _identical(asked: Asked, filled: NDArray[np.int64], known: Mapping[bytes, int]) -> Similar:
    if not known:
        return NOTHING
    contents = asked.contents
    pairs = [(row, known[contents[row]]) for row in filled.tolist() if contents[row] in known]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    ones = np.ones(len(found))
    return Similar(found[:, 0], found[:, 1], ones, ones, ones)


def _compared(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]],
    threshold: float,
    address: str,
    threads: int,
) -> list[Similar]:
    """Compare candidates exactly, some entries at a time."""
    rows, entries = pairs
    order = np.argsort(entries, kind="stable")
    rows, entries = rows[order], entries[order]
    distinct = np.unique(entries)
    found = []
    for begin in range(0, len(distinct), BODIES):
        mine = distinct[begin : begin + BODIES]
        bodies = reader.bodies(mine)
        if not bodies:
            continue
        texts = unpacked(bodies, address)
        place_of = {body.entry: place for place, body in enumerate(bodies)}
        some = slice(*np.searchsorted(entries, [mine[0], mine[-1] + 1]))
        numbers = entries[some].tolist()
        there = np.array([number in place_of for number in numbers], np.bool_)
        second = np.array([place_of[one] for one in numbers if one in place_of], np.int64)
        wanted, first = np.unique(rows[some][there], return_inverse=True)
        documents = Canonical.joined([asked.documents.chosen(wanted), texts])
        scored = sketches.recipe.score(
            documents, first, second + len(wanted), threshold=threshold, threads=threads
        )
        number_of = np.array([body.entry for body in bodies], np.int64)
        found.append(
            Similar(
                wanted[scored.first],
                number_of[scored.second - len(wanted)],
                scored.similarity,
                scored.first_in_second,
                scored.second_in_first,
            )
        )
    return found
