"""Which entries may be similar to documents: those in their buckets, if sketches allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.index.store import Reader
    from lookalike.recipe.stored_sketches import Stored, StoredSketches

    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

__all__ = ["Candidates", "candidates"]


class Candidates(NamedTuple):
    """Pairs of a document and an entry, each once, in the order of documents and entries."""

    row: NDArray[np.int64]
    entry: NDArray[np.int64]
    similarity: NDArray[np.float64] | None
    """Where scores are estimated: sketches alone tell it."""


def candidates(
    reader: Reader,
    stored: Stored,
    filled: NDArray[np.int64],
    sketches: StoredSketches,
    threshold: float,
    identical: Pairs | None,
) -> Candidates | None:
    """Give the entries in the buckets of documents whose sketches are near theirs.

    Identical ones, which are known by themselves, are left out. None where there is no other.
    """
    rows, entries = _in_buckets(reader, stored, filled, sketches, threshold)
    if identical is not None and len(rows):
        known, codes = _pair_codes(*identical), _pair_codes(rows, entries)
        left = ~np.isin(codes, known)
        rows, entries = rows[left], entries[left]
    if not len(rows):
        return None
    there, places, known_sketches = _sketches_of(reader, entries)
    rows, entries = rows[there], entries[there]
    if not len(rows):
        return None
    passing, similarity = sketches.judged(stored.sketches, known_sketches, rows, places, threshold)
    if not len(passing):
        return None
    return Candidates(rows[passing], entries[passing], similarity)


def _in_buckets(
    reader: Reader,
    stored: Stored,
    filled: NDArray[np.int64],
    sketches: StoredSketches,
    threshold: float,
) -> Pairs:
    """Give all pairs of the loose rows of buckets, and those of crowds that are not dismissed."""
    keys, of_row = stored.keys[filled].reshape(-1), np.repeat(filled, stored.keys.shape[1])
    order = np.argsort(keys, kind="stable")
    keys, of_row = keys[order], of_row[order]
    found_keys, found_entries = reader.loose(np.unique(keys))
    begin = np.searchsorted(keys, found_keys, "left")
    many = np.searchsorted(keys, found_keys, "right") - begin
    places = np.repeat(begin, many) + _counted(many)
    pairs = _distinct_pairs(of_row[places], np.repeat(found_entries, many))
    crowded = _in_crowds(reader, stored, sketches, threshold, (keys, of_row))
    if not crowded:
        return pairs
    return _distinct_pairs(
        np.concatenate([pairs[0], *(rows for rows, _ in crowded)]),
        np.concatenate([pairs[1], *(entries for _, entries in crowded)]),
    )


def _in_crowds(
    reader: Reader, stored: Stored, sketches: StoredSketches, threshold: float, asked: Pairs
) -> list[Pairs]:
    keys, of_row = asked
    found = []
    brief: dict[int, NDArray[np.uint8]] = {}
    for block in reader.blocks(np.unique(keys)):
        begin, end = np.searchsorted(keys, [block.key, block.key + 1])
        for row in of_row[begin:end].tolist():
            if row not in brief:
                brief[row] = sketches.brief(stored.sketches[row : row + 1])
            passing = sketches.maybe_similar(brief[row], block.sketches, threshold)
            if len(passing):
                found.append((np.full(len(passing), row), block.entries[passing]))
    return found


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


def _pair_codes(rows: NDArray[np.int64], entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number pairs, each by itself; of a few thousand documents and as many entries as can be."""
    return (rows << 44) + entries


def _counted(many: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count from 0 within each of several runs."""
    ends = np.cumsum(many)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - many, many)


def _distinct_pairs(rows: NDArray[np.int64], entries: NDArray[np.int64]) -> Pairs:
    if not len(rows):
        return rows, entries
    _, chosen = np.unique(_pair_codes(rows, entries), return_index=True)
    return rows[chosen], entries[chosen]
