"""Which entries of a store are similar to documents: buckets, sketches, then the exact check."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.wording import setting
from lookalike.index.packed import content_of, unpacked
from lookalike.settings.settings import check_share
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.index.store import Reader
    from lookalike.recipe.stored_sketches import Stored, StoredSketches

__all__ = ["Asked", "Similar", "check_threshold", "most_similar_of", "similar_entries"]

BODIES = 128
"""Entries whose bodies are unpacked at a time."""


@dataclass(frozen=True)
class Asked:
    """Documents that are looked for."""

    documents: Canonical
    stored: Stored

    @classmethod
    def of(cls, documents: Canonical, sketches: StoredSketches) -> Asked:
        """Take canonical documents."""
        return cls(documents, sketches.of(documents))

    def contents(self) -> list[bytes]:
        """Give the fingerprints of their contents."""
        return content_of(self.documents.fingerprints)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.documents)


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


def similar_entries(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    *,
    threshold: float,
    address: str,
    threads: int = 1,
) -> Similar:
    """Find the entries that are similar to documents, each pair once, in no order.

    Identical ones are told by their fingerprints, and are 1 alike without more.
    """
    filled = np.flatnonzero(~asked.stored.empty)
    same = _identical(reader, asked, filled)
    rows, entries = _candidates(reader, asked.stored, filled, sketches)
    if len(same) and len(rows):
        known = _pair_codes(same.row, same.entry)
        codes = _pair_codes(rows, entries)
        left = codes != known[0] if len(known) == 1 else ~np.isin(codes, known)
        rows, entries = rows[left], entries[left]
    if sketches.recipe.by_sketches:
        found = _estimated(reader, asked, sketches, rows, entries, threshold)
    else:
        found = _compared(reader, asked, sketches, rows, entries, threshold, address, threads)
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


def _identical(reader: Reader, asked: Asked, filled: NDArray[np.int64]) -> Similar:
    contents = asked.contents()
    known = reader.contents(sorted({contents[row] for row in filled.tolist()}))
    pairs = [(row, known[contents[row]]) for row in filled.tolist() if contents[row] in known]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    ones = np.ones(len(found))
    return Similar(found[:, 0], found[:, 1], ones, ones, ones)


def _pair_codes(rows: NDArray[np.int64], entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number pairs, each by itself; of a few thousand documents and as many entries as can be."""
    return (rows << 44) + entries


def _candidates(
    reader: Reader, stored: Stored, filled: NDArray[np.int64], sketches: StoredSketches
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the entries in the buckets of documents whose sketches are near theirs."""
    bands = stored.keys.shape[1]
    keys, of_row = stored.keys[filled].reshape(-1), np.repeat(filled, bands)
    order = np.argsort(keys, kind="stable")
    keys, of_row = keys[order], of_row[order]
    if len(filled) == 1:
        distinct = keys
        entries = np.array(sorted(set(reader.loose(keys)[1].tolist())), np.int64)
        rows = np.repeat(filled, len(entries))
    else:
        distinct = np.unique(keys)
        found_keys, found_entries = reader.loose(distinct)
        begin = np.searchsorted(keys, found_keys, "left")
        many = np.searchsorted(keys, found_keys, "right") - begin
        places = np.repeat(begin, many) + _counted(many)
        rows, entries = _distinct_pairs(of_row[places], np.repeat(found_entries, many))
    rows, entries = _near(reader, stored, sketches, rows, entries)
    crowded = []
    for block in reader.blocks(distinct):
        begin, end = np.searchsorted(keys, [block.key, block.key + 1])
        for row in of_row[begin:end].tolist():
            members = np.arange(len(block.entries))
            mine = stored.sketches[row : row + 1]
            passing = sketches.near(mine, block.sketches, np.zeros_like(members), members)
            near = block.entries[passing]
            crowded.append((np.full(len(near), row), near))
    if not crowded:
        return rows, entries
    return _distinct_pairs(
        np.concatenate([rows, *(row for row, _ in crowded)]),
        np.concatenate([entries, *(entry for _, entry in crowded)]),
    )


def _near(
    reader: Reader,
    stored: Stored,
    sketches: StoredSketches,
    rows: NDArray[np.int64],
    entries: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keep the candidates whose entries are there and whose sketches are near."""
    if not len(rows) or sketches.recipe.by_sketches:
        return rows, entries
    kept, places, known = _sketches_of(reader, entries)
    rows, entries = rows[kept], entries[kept]
    passing = sketches.near(stored.sketches, known, rows, places)
    return rows[passing], entries[passing]


def _sketches_of(
    reader: Reader, entries: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.uint8]]:
    """Tell which entries are there, where the sketch of each of those is, and the sketches."""
    numbers, known = reader.sketches(np.unique(entries))
    order = np.argsort(numbers)
    numbers, known = numbers[order], known[order]
    places = np.searchsorted(numbers, entries)
    there = np.zeros(len(entries), np.bool_)
    inside = places < len(numbers)
    there[inside] = numbers[places[inside]] == entries[inside]
    return there, places[there], known


def _estimated(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    rows: NDArray[np.int64],
    entries: NDArray[np.int64],
    threshold: float,
) -> list[Similar]:
    if not len(rows):
        return []
    kept, places, known = _sketches_of(reader, entries)
    rows, entries = rows[kept], entries[kept]
    if not len(rows):
        return []
    similarity = sketches.estimates(asked.stored.sketches, known, rows, places)
    high = similarity >= threshold
    unknown = np.full(int(np.count_nonzero(high)), np.nan)
    return [Similar(rows[high], entries[high], similarity[high], unknown, unknown)]


def _compared(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    rows: NDArray[np.int64],
    entries: NDArray[np.int64],
    threshold: float,
    address: str,
    threads: int,
) -> list[Similar]:
    """Compare candidates exactly, some entries at a time."""
    if not len(rows):
        return []
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


def _counted(many: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count from 0 within each of several runs."""
    ends = np.cumsum(many)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - many, many)


def _distinct_pairs(
    rows: NDArray[np.int64], entries: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not len(rows):
        return rows, entries
    _, chosen = np.unique(_pair_codes(rows, entries), return_index=True)
    return rows[chosen], entries[chosen]
