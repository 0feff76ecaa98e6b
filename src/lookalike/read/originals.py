"""Some documents as their files hold them, read without the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.base.errors import SourceError
from lookalike.read.batches import Documents
from lookalike.read.fields import TEXT, joined, joined_columns, no_ids, taken
from lookalike.read.files import BATCHES
from lookalike.read.shard_tasks import BATCH_BYTES, BATCH_FILES, Part, in_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.read.fields import Piece
    from lookalike.read.marks import Marks
    from lookalike.read.shard_tasks import Reading, ShardReader

__all__ = ["Places", "read_originals"]

SEEK_BYTES = 1 << 20
"""Bytes read at once on the way to a record."""


@dataclass(frozen=True)
class Places:
    """Where documents stand: each place once, by shard and record."""

    shards: NDArray[np.int64]
    records: NDArray[np.int64]
    of_asked: NDArray[np.int64]
    """For each that was asked for, its place here."""

    @classmethod
    def of(cls, shards: NDArray[np.int32], records: NDArray[np.int64]) -> Places:
        """Sort places that come in any order, and again and again."""
        order = np.lexsort((records, shards))
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(shards[order]) != 0) | (np.diff(records[order]) != 0)
        of_asked = np.empty(len(order), np.int64)
        of_asked[order] = np.cumsum(first) - 1
        chosen = order[first]
        return cls(shards[chosen].astype(np.int64), records[chosen].astype(np.int64), of_asked)

    def by_shard(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Give each shard with its records, in order."""
        numbers, starts = np.unique(self.shards, return_index=True)
        return zip(numbers.tolist(), np.split(self.records, starts[1:]), strict=False)


def read_originals(reader: ShardReader, marks: Marks, places: Places) -> Documents:
    """Read documents by their places, in the order in which they were asked for."""
    last = int(places.shards.max(initial=-1))
    if last >= len(reader.shards):
        raise SourceError(
            f"a document of file {last + 1:,} is asked for, and there are {len(reader.shards):,}: "
            "files went away since they were read; put them back, or run again"
        )
    pieces = [piece for piece in _found(reader, marks, places) if len(piece.ids)]
    columns = joined_columns(pieces, reader.options.columns)
    if not pieces:
        _check_found(reader, places, np.empty((2, 0), np.int64))
        return Documents(no_ids(), pa.array([], TEXT), columns)
    shards = np.concatenate([piece.shards for piece in pieces])
    found = np.array([shards, np.concatenate([piece.records for piece in pieces])])
    order = np.lexsort(found[::-1])
    _check_found(reader, places, found[:, order])
    rows = order[places.of_asked]
    return Documents(
        taken(joined([piece.ids for piece in pieces]), rows),
        taken(joined([piece.texts for piece in pieces]), rows),
        {name: taken(column, rows) for name, column in columns.items()},
    )


def _check_found(reader: ShardReader, places: Places, found: NDArray[np.int64]) -> None:
    """Refuse to give fewer documents than asked for, or others."""
    expected = np.array([places.shards, places.records])
    if np.array_equal(expected, found):
        return
    known = set(zip(*found.tolist(), strict=True))
    number, record = next(one for one in zip(*expected.tolist(), strict=True) if one not in known)
    name = reader.shards[number].name
    raise SourceError(
        f"{name} has no document as its record {record:,} any more: it was changed since it was "
        "read; run again on the files as they are"
    )


def _found(reader: ShardReader, marks: Marks, places: Places) -> Iterator[Piece]:
    """Read pieces that hold the documents, and no others."""
    reading = reader.begin()
    single: list[int] = []
    for number, records in places.by_shard():
        if reader.shards[number].is_one_document:
            single.append(number)
            continue
        for piece in _near(reader, marks, number, records, reading):
            at = np.searchsorted(records, piece.records).clip(max=len(records) - 1)
            yield piece.take(np.flatnonzero(records[at] == piece.records))
    for begin in range(0, len(single), BATCH_FILES):
        yield reader.single_files(single[begin : begin + BATCH_FILES], 0, reading)


def _near(
    reader: ShardReader,
    marks: Marks,
    number: int,
    records: NDArray[np.int64],
    reading: Reading,
) -> Iterator[Piece]:
    """Read a shard near some of its records, and from one to the next by the marks."""
    shard = reader.shards[number]
    # A row group that is damaged gives the same rows only if it is read in the same pieces.
    size = BATCH_BYTES if shard.kind in BATCHES.values() else SEEK_BYTES

    def entry() -> tuple[int, int]:
        if shard.kind == "npy":
            row = max(int(records[0]) - 1, 0)
            return row, row
        return marks.nearest(number, int(records[0]))

    while len(records):
        part = Part(number, *entry(), size, records=records)
        for piece in in_turn(task() for task in reader.tasks(part, reading)):
            yield piece
            after, start, passed = piece.next
            if after > number:
                return
            records = records[np.searchsorted(records, passed, side="right") :]
            if not len(records):
                return
            if not shard.packed and not shard.is_streamed and entry()[0] > start:
                break  # to go on there is less to read
