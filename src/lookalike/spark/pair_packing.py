"""Pairs that met in buckets, many in one value, and each of them once.

A pair that meets in several bands comes as often, from several tasks, in the same slice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.spark.arrow import (
    NODE_BYTES,
    bytes_column,
    bytes_of,
    fixed_column,
    fixed_of,
    heads_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "CANDIDATES",
    "PACKED_PAIRS",
    "PACK_PAIRS",
    "PAIRS",
    "PAIR_BYTES",
    "Pairs",
    "pack_pairs",
    "packed_in_slices",
    "packed_pairs",
    "unique_pairs",
    "unpack_pairs",
]

PAIRS = "a binary, b binary, home bigint, a_bytes bigint, b_bytes bigint"
PACKED_PAIRS = "slice bigint, rows binary"
CANDIDATES = "pairs bigint, bytes bigint, rows binary"
"""Packed pairs, each once; how many, and the bytes of their texts, as often as they are in one."""
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

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Pairs:
        """Read a batch with a row for each."""
        a, b = (fixed_of(batch.column(name), np.uint8) for name in ("a", "b"))
        names = ("home", "a_bytes", "b_bytes")
        return cls(a, b, *(batch.column(name).to_numpy() for name in names))

    @classmethod
    def unpacked(cls, data: NDArray[np.uint8]) -> Pairs:
        """Read the bytes of packed pairs."""
        rows = data.reshape(-1, PAIR_BYTES)
        numbers = np.ascontiguousarray(rows[:, NUMBERS:]).view(np.int64)
        a, b = (np.ascontiguousarray(rows[:, i * NODE_BYTES :][:, :NODE_BYTES]) for i in (0, 1))
        return cls(a, b, numbers[:, 0], numbers[:, 1], numbers[:, 2])

    def packed(self) -> NDArray[np.uint8]:
        """Give a row of bytes for each."""
        data = np.empty((len(self.homes), PAIR_BYTES), np.uint8)
        data[:, :NODE_BYTES], data[:, NODE_BYTES:NUMBERS] = self.a, self.b
        numbers = np.column_stack([self.homes, self.a_bytes, self.b_bytes])
        data[:, NUMBERS:] = numbers.view(np.uint8)
        return data

    def some(self, chosen: NDArray[np.int64]) -> Pairs:
        """Give some of them."""
        columns: list[Any] = [column[chosen] for column in self]
        return Pairs(*columns)

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
    columns: list[Any] = [np.concatenate(column) for column in zip(*held, strict=True)]
    pairs = Pairs(*columns)
    places = (heads_of(pairs.a) ^ heads_of(pairs.b)).view(np.uint64) % np.uint64(slices)
    data = pairs.some(np.argsort(places, kind="stable")).packed()
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
        yield Pairs.unpacked(bytes_of(batch.column("rows"))[0]).batch()


def pack_pairs(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Pack pairs that come one by one, each once."""
    for batch in batches:
        if len(batch):
            yield _candidates(Pairs.of(batch))


def unique_pairs(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give each pair once, by the first of its homes; packed pairs come sorted by slice."""
    held: list[NDArray[np.uint8]] = []
    current: int | None = None
    for batch in batches:
        slices = batch.column("slice").to_pylist()
        for place, value in zip(slices, batch.column("rows"), strict=True):
            if held and place != current:
                yield _candidates(_unique(held))
                held = []
            current = place
            held.append(np.frombuffer(value.as_buffer(), np.uint8))
    if held:
        yield _candidates(_unique(held))


def _candidates(pairs: Pairs) -> pa.RecordBatch:
    """Give pairs, each of which is there once, as one packed row."""
    data = pairs.packed().reshape(-1)
    return pa.RecordBatch.from_pydict(
        {
            "pairs": pa.array([len(pairs.homes)]),
            "bytes": pa.array([int(pairs.a_bytes.sum() + pairs.b_bytes.sum())]),
            "rows": bytes_column(data, np.array([0, len(data)])),
        }
    )


def _unique(held: list[NDArray[np.uint8]]) -> Pairs:
    pairs = Pairs.unpacked(np.concatenate(held))
    words = np.column_stack([pairs.a.view(np.int64), pairs.b.view(np.int64)])
    order = np.lexsort((pairs.homes, *words.T))
    words = words[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (words[1:] != words[:-1]).any(axis=1)
    return pairs.some(order[new])
