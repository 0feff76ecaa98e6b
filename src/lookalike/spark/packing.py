"""Rows of buckets, many in one value: Spark moves a few large values, not millions of small rows.

A bucket is of one slice, and a task takes one slice after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.spark.arrow import NODE_BYTES, bytes_column, fixed_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Batches = Iterable[pa.RecordBatch]

__all__ = ["PACKED", "Rows", "pack", "packed", "unpacked"]

PACKED = "slice int, width int, rows binary"
PACK_ROWS = 1 << 19
"""Rows that a task gathers before it hands them on: the more, the fewer values there are."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without a pattern, which spreads keys over slices."""
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


def pack(slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Pack rows of buckets that come one by one."""
    yield from packed(slices, map(Rows.of, batches))


def packed(slices: int, parts: Iterable[Rows]) -> Iterator[pa.RecordBatch]:
    """Pack rows of buckets by slice."""
    held: list[Rows] = []
    for part in parts:
        if len(part.keys):
            held.append(part)
        if sum(len(one.keys) for one in held) >= PACK_ROWS:
            yield _packed(slices, held)
            held = []
    if held:
        yield _packed(slices, held)


def _packed(slices: int, held: list[Rows]) -> pa.RecordBatch:
    columns: list[Any] = [np.concatenate(column) for column in zip(*held, strict=True)]
    rows = Rows(*columns)
    mixed = (rows.keys.view(np.uint64) + rows.bands.astype(np.uint64)) * MIX
    places = ((mixed >> np.uint64(32)) % np.uint64(slices)).astype(np.int32)
    order = np.argsort(places, kind="stable")
    width = CHECK + rows.checks.shape[1]
    data = np.empty((len(order), width), np.uint8)
    for start, column in ((BAND, rows.bands), (KEY, rows.keys), (SIZE, rows.sizes)):
        raw = np.ascontiguousarray(column[order]).view(np.uint8).reshape(len(order), -1)
        data[:, start : start + raw.shape[1]] = raw
    data[:, NODE:SIZE] = rows.nodes[order]
    data[:, CHECK:] = rows.checks[order]
    found, counts = np.unique(places, return_counts=True)
    ends = np.append(0, np.cumsum(counts)) * width
    return pa.RecordBatch.from_pydict(
        {
            "slice": pa.array(found),
            "width": pa.array(np.full(len(found), width, np.int32)),
            "rows": bytes_column(data.reshape(-1), ends),
        }
    )


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
