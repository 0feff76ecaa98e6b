"""Rows of buckets, many in one value: Spark moves a few large values, not millions of small rows.

A bucket is of one slice, and a task takes one slice after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.kernels import bucket_rows as kernels
from lookalike.spark.arrow import NODE_BYTES, bytes_column, fixed_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Batches = Iterable[pa.RecordBatch]

__all__ = ["PACKED", "Keyed", "Rows", "often", "pack", "packed", "unpacked"]

PACKED = "slice int, width int, rows binary"
PACK_ROWS = 1 << 19
"""Rows that a task gathers before it hands them on: the more, the fewer values there are."""
BAND, KEY, NODE, SIZE = 0, 4, 12, 12 + NODE_BYTES
CHECK = SIZE + 8
"""Where the columns of a packed row begin."""


class Rows(NamedTuple):
    """Rows of buckets, in order."""

    bands: NDArray[np.int32]
    keys: NDArray[np.int64]
    nodes: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    """Bytes of each document."""
    checks: NDArray[np.uint8]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Rows:
        """Read the rows of a batch with a row for each."""
        return cls(
            batch.column("band").to_numpy(),
            batch.column("key").to_numpy(),
            fixed_of(batch.column("node"), np.uint8),
            batch.column("bytes").to_numpy(),
            fixed_of(batch.column("check"), np.uint8),
        )

    def some(self, chosen: slice | NDArray[np.int64]) -> Rows:
        """Give some rows."""
        columns: list[Any] = [column[chosen] for column in self]
        return Rows(*columns)

    def after(self, before: Rows) -> Rows:
        """Give these rows after others."""
        columns: list[Any] = [np.concatenate([b, c]) for b, c in zip(before, self, strict=True)]
        return Rows(*columns)

    def sorted_once(self) -> Rows:
        """Give the rows sorted by bucket and document, each document of a bucket once."""
        order = np.argsort(self.keys)
        # Most keys are of one row, and what else tells rows apart is looked at for the others.
        same = self.keys[order[1:]] == self.keys[order[:-1]]
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        among = order[tied]
        names = self.nodes[among].view(">u8").astype(np.uint64)
        by = np.lexsort((names[:, 1], names[:, 0], self.bands[among], self.keys[among]))
        order[tied] = among = among[by]
        rows = self.some(among)
        again = ~rows.changes() & (rows.nodes[1:] == rows.nodes[:-1]).all(axis=1)
        return self.some(np.delete(order, tied[1:][again]))

    def changes(self) -> NDArray[np.bool_]:
        """Tell of each row but the first whether it is of another bucket than the one before."""
        changes: NDArray[np.bool_] = self.keys[1:] != self.keys[:-1]
        changes |= self.bands[1:] != self.bands[:-1]
        return changes

    def starts(self) -> NDArray[np.int64]:
        """Give where buckets begin, of rows that are sorted."""
        new = np.ones(len(self.keys), np.bool_)
        new[1:] = self.changes()
        return np.flatnonzero(new)


class Keyed(NamedTuple):
    """Documents with their keys in some bands."""

    bands: NDArray[np.int32]
    """Of each key; in both, a row for each document."""
    keys: NDArray[np.int64]
    nodes: NDArray[np.uint8]
    sizes: NDArray[np.int64]
    checks: NDArray[np.uint8]

    @classmethod
    def of(cls, rows: Rows) -> Keyed:
        """Take rows that stand for a bucket each."""
        return cls(rows.bands[:, None], rows.keys[:, None], rows.nodes, rows.sizes, rows.checks)

    def words(self) -> tuple[NDArray[Any], ...]:
        """Give the columns as the kernels lay them out."""
        count = len(self.keys)
        return (
            np.ascontiguousarray(self.bands),
            np.ascontiguousarray(self.keys).view(np.uint64),
            np.ascontiguousarray(self.nodes).view(np.uint32).reshape(count, NODE_BYTES // 4),
            np.ascontiguousarray(self.sizes, np.int64),
            np.ascontiguousarray(self.checks).reshape(-1).view(np.uint32).reshape(count, -1)
            if self.checks.size
            else np.empty((count, 0), np.uint32),
        )


def pack(slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Pack rows of buckets that come one by one."""
    yield from packed(slices, (Keyed.of(Rows.of(batch)) for batch in batches))


def packed(slices: int, parts: Iterable[Keyed]) -> Iterator[pa.RecordBatch]:
    """Pack a row for each key by the slices of the keys."""
    held: list[Keyed] = []
    for part in parts:
        if part.keys.size:
            held.append(part)
        if sum(one.keys.size for one in held) >= PACK_ROWS:
            yield _packed(slices, held)
            held = []
    if held:
        yield _packed(slices, held)


def _packed(slices: int, held: list[Keyed]) -> pa.RecordBatch:
    parts = [one.words() for one in held]
    counts = np.zeros(slices, np.int64)
    for bands, keys, *_ in parts:
        kernels.count_by_slice(bands, keys, counts)
    ends = np.cumsum(counts)
    width = CHECK + held[0].checks.shape[1]
    data = np.empty((int(ends[-1]), width // 4), np.uint32)
    starts = ends - counts
    for words in parts:
        kernels.lay_out(*words, starts, data)
    found = np.flatnonzero(counts)
    return pa.RecordBatch.from_pydict(
        {
            "slice": pa.array(found.astype(np.int32)),
            "width": pa.array(np.full(len(found), width, np.int32)),
            "rows": bytes_column(
                data.reshape(-1).view(np.uint8), np.append(0, ends[found]) * width
            ),
        }
    )


def often(parts: list[NDArray[np.uint8]], width: int) -> Rows:
    """Give the rows of packed bytes whose key is there again: no other can be in a pair."""
    data = np.concatenate(parts).reshape(-1, width)
    keys = np.ascontiguousarray(data[:, KEY:NODE]).view(np.int64).reshape(-1)
    order = np.argsort(keys)
    same = keys[order[1:]] == keys[order[:-1]]
    again = order[np.append(same, False) | np.append(False, same)]
    return unpacked(data[again], width)


def unpacked(data: NDArray[np.uint8], width: int) -> Rows:
    """Give the rows of packed bytes, each so wide."""
    rows = data.reshape(-1, width)

    def column(start: int, stop: int, dtype: Any) -> Any:
        return np.ascontiguousarray(rows[:, start:stop]).view(dtype).reshape(-1)

    return Rows(
        column(BAND, KEY, np.int32),
        column(KEY, NODE, np.int64),
        np.ascontiguousarray(rows[:, NODE:SIZE]),
        column(SIZE, CHECK, np.int64),
        np.ascontiguousarray(rows[:, CHECK:]),
    )
