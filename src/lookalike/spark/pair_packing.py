"""Pairs that met in buckets, many in one value, and each of them once.

A pair that meets in several bands comes as often, from several tasks, in the same slice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.spark.arrow import NODE_BYTES, bytes_column, bytes_of, fixed_column, heads_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "PACKED_PAIRS",
    "PACK_PAIRS",
    "PAIRS",
    "PAIR_BYTES",
    "Pairs",
    "packed_in_slices",
    "packed_pairs",
    "unique_pairs",
    "unpack_pairs",
]

PAIRS = "a binary, b binary, home bigint, a_bytes bigint, b_bytes bigint"
PACKED_PAIRS = "slice bigint, rows binary"
NUMBERS = 2 * NODE_BYTES
PAIR_BYTES = NUMBERS + 3 * 8
PACK_PAIRS = 1 << 18
"""Pairs that a task gathers before it hands them on."""


class Pairs(NamedTuple):
    """Pairs of documents."""

    a: NDArray[np.uint8]
    b: NDArray[np.uint8]
    homes: NDArray[np.int64]
    """A number of the first document of a bucket in which both are."""
    a_bytes: NDArray[np.int64]
    b_bytes: NDArray[np.int64]

    def batch(self) -> pa.RecordBatch:
        """Give a row for each."""
        return pa.RecordBatch.from_pydict(
            {
                "a": fixed_column(self.a),
                "b": fixed_column(self.b),
                "home": pa.array(self.homes),
                "a_bytes": pa.array(self.a_bytes),
                "b_bytes": pa.array(self.b_bytes),
            }
        )


def packed_pairs(slices: int, held: list[Pairs]) -> tuple[NDArray[np.int64], pa.Array]:
    """Pack pairs by slice: the slices, and the bytes of the pairs of each."""
    a, b, *numbers = (np.concatenate(column) for column in zip(*held, strict=True))
    places = (heads_of(a) ^ heads_of(b)).view(np.uint64) % np.uint64(slices)
    order = np.argsort(places, kind="stable")
    data = np.empty((len(order), PAIR_BYTES), np.uint8)
    data[:, :NODE_BYTES], data[:, NODE_BYTES:NUMBERS] = a[order], b[order]
    data[:, NUMBERS:] = np.column_stack(numbers)[order].view(np.uint8)
    found, counts = np.unique(places, return_counts=True)
    ends = np.append(0, np.cumsum(counts)) * PAIR_BYTES
    return found.astype(np.int64), bytes_column(data.reshape(-1), ends)


def packed_in_slices(slices: int, parts: Iterable[Pairs]) -> Iterator[pa.RecordBatch]:
    """Pack pairs by slice as they come, many at a time."""
    held: list[Pairs] = []
    for part in parts:
        held.append(part)
        if sum(len(one.homes) for one in held) >= PACK_PAIRS:
            yield _in_slices(slices, held)
            held = []
    if held:
        yield _in_slices(slices, held)


def _in_slices(slices: int, held: list[Pairs]) -> pa.RecordBatch:
    places, rows = packed_pairs(slices, held)
    return pa.RecordBatch.from_pydict({"slice": pa.array(places), "rows": rows})


def unpack_pairs(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give packed pairs one by one."""
    for batch in batches:
        yield _unpacked(bytes_of(batch.column("rows"))[0]).batch()


def unique_pairs(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give each pair once, by the first of its homes; packed pairs come sorted by slice."""
    held: list[NDArray[np.uint8]] = []
    current: int | None = None
    for batch in batches:
        slices = batch.column("slice").to_pylist()
        for place, value in zip(slices, batch.column("rows"), strict=True):
            if held and place != current:
                yield _unique(held).batch()
                held = []
            current = place
            held.append(np.frombuffer(value.as_buffer(), np.uint8))
    if held:
        yield _unique(held).batch()


def _unpacked(data: NDArray[np.uint8]) -> Pairs:
    rows = data.reshape(-1, PAIR_BYTES)
    numbers = np.ascontiguousarray(rows[:, NUMBERS:]).view(np.int64)
    a, b = (np.ascontiguousarray(rows[:, i * NODE_BYTES :][:, :NODE_BYTES]) for i in (0, 1))
    return Pairs(a, b, numbers[:, 0], numbers[:, 1], numbers[:, 2])


def _unique(held: list[NDArray[np.uint8]]) -> Pairs:
    pairs = _unpacked(np.concatenate(held))
    words = np.column_stack([pairs.a.view(np.int64), pairs.b.view(np.int64)])
    order = np.lexsort((pairs.homes, *words.T))
    words = words[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (words[1:] != words[:-1]).any(axis=1)
    chosen = order[new]
    columns: list[Any] = [column[chosen] for column in pairs]
    return Pairs(*columns)
