"""Columns of fixed width between Arrow, in which Spark hands over rows, and NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = [
    "NODE_BYTES",
    "bytes_column",
    "bytes_of",
    "every_two",
    "fingerprints_of_nodes",
    "fixed_column",
    "fixed_of",
    "gathered",
    "heads_of",
    "nodes_of_fingerprints",
    "numbers_of",
    "packed_rows",
    "places_of",
    "ranks",
    "shortened",
    "unique_nodes",
    "unpacked_rows",
]

NODE_BYTES = 16
"""Of the content fingerprint, which names a distinct document."""


def fixed_column(rows: NDArray[Any]) -> pa.Array:
    """Make a binary column of an array with a row of as many bytes for each."""
    data = np.ascontiguousarray(rows)
    width = data.dtype.itemsize * int(np.prod(data.shape[1:], dtype=np.int64))
    offsets = np.arange(len(data) + 1, dtype=np.int64) * width
    return _binary(data.reshape(-1).view(np.uint8), offsets)


def bytes_column(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.Array:
    """Make a binary column of bytes that stand one after the other."""
    return _binary(np.ascontiguousarray(data), offsets)


def _binary(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> pa.Array:
    large = int(offsets[-1]) > np.iinfo(np.int32).max
    kind = pa.large_binary() if large else pa.binary()
    ends = pa.py_buffer(np.ascontiguousarray(offsets, np.int64 if large else np.int32))
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, ends, pa.py_buffer(data)])


def shortened(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], most: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give at most so many of the first bytes of each value."""
    starts, lengths = offsets[:-1], np.minimum(np.diff(offsets), most)
    parts = [data[start : start + n] for start, n in zip(starts, lengths, strict=True)]
    return np.concatenate([np.empty(0, np.uint8), *parts]), np.append(0, np.cumsum(lengths))


def bytes_of(column: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Give the bytes of a binary column without nulls, and where each begins."""
    column = column.cast(pa.large_binary())
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, np.int64)[column.offset : column.offset + len(column) + 1]
    if data is None:
        return np.empty(0, np.uint8), offsets - offsets[0]
    # A copy, so that kernels see one kind of array and are compiled once.
    whole = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]].copy()
    return whole, offsets - offsets[0]


def fixed_of(column: pa.Array, dtype: Any) -> NDArray[Any]:
    """Give a binary column of one width as an array with a row for each."""
    data, offsets = bytes_of(column)
    if not len(column):
        return np.empty((0, 0), dtype)
    return data.reshape(len(column), int(offsets[1])).view(dtype)


def nodes_of_fingerprints(fingerprints: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Name distinct documents by their fingerprints: bytes that sort as the two words do."""
    words = np.ascontiguousarray(fingerprints).astype(">u8")
    return words.view(np.uint8).reshape(len(words), NODE_BYTES)


def fingerprints_of_nodes(nodes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Give the fingerprints that names were made of, two words each."""
    words = np.ascontiguousarray(nodes.reshape(len(nodes), NODE_BYTES)).view(">u8")
    return words.astype(np.uint64)


def heads_of(nodes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Give the first eight bytes of names as numbers: nearly as distinct, and soon compared."""
    return np.ascontiguousarray(nodes[:, :8]).view(np.int64).reshape(-1)


def numbers_of(nodes: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Give names of documents as values that NumPy sorts and compares."""
    return np.ascontiguousarray(nodes).view(f"S{NODE_BYTES}").reshape(-1)


def places_of(wanted: NDArray[np.uint8], among: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Give the rows at which names stand among others, each of which is there once."""
    heads = _first_words(among)
    order = np.argsort(heads)
    heads = heads[order]
    if (heads[1:] != heads[:-1]).all():
        return order[np.searchsorted(heads, _first_words(wanted))]
    names = numbers_of(among)
    order = np.argsort(names)
    return order[np.searchsorted(names, numbers_of(wanted), sorter=order)]


def unique_nodes(nodes: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the first row of each name, in the order of names, and of each row the place of its
    name in that order.
    """
    heads = _first_words(nodes)
    order = np.argsort(heads, kind="stable")
    new = np.ones(len(order), np.bool_)
    new[1:] = heads[order[1:]] != heads[order[:-1]]
    tails = np.ascontiguousarray(nodes[:, 8:]).view(np.uint64).reshape(-1)
    if (~new[1:] & (tails[order[1:]] != tails[order[:-1]])).any():
        # Two names begin alike: whole ones tell them apart, and take ten times as long to sort.
        _, first, places = np.unique(numbers_of(nodes), return_index=True, return_inverse=True)
        return first.astype(np.int64), places.astype(np.int64)
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(new) - 1
    return order[new], places


def ranks(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count each member of a group among those before it."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    counted = np.arange(len(groups)) - np.repeat(starts, np.diff(np.append(starts, len(groups))))
    ranks = np.empty(len(groups), np.int64)
    ranks[order] = counted
    return ranks


def every_two(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the places of every two values that are the same; these stand together."""
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1])[: len(labels)])
    sizes = np.diff(np.append(starts, len(labels)))
    ends = [np.triu_indices(size, 1) for size in sizes]
    none = np.empty(0, np.int64)
    first, second = (
        np.concatenate([none, *(start + end[i] for start, end in zip(starts, ends, strict=True))])
        for i in (0, 1)
    )
    return first, second


def _first_words(nodes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Give the first eight bytes of names as numbers that sort as they do."""
    return np.ascontiguousarray(nodes[:, :8]).view(">u8").reshape(-1).astype(np.uint64)


def gathered(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """Put batches together until so many rows are there, and leave out empty ones."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if len(batch):
            held.append(batch)
        if sum(map(len, held)) >= most:
            yield _together(held)
            held = []
    if held:
        yield _together(held)


def _together(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    (whole,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return whole


def packed_rows(rows: pa.RecordBatch, compression: str | None = "lz4") -> bytes:
    """Write a batch into one value, compressed unless it has nothing to compress."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write_batch(rows)
    return bytes(sink.getvalue())


def unpacked_rows(value: pa.Scalar) -> pa.RecordBatch:
    """Give the batch that was written into a value."""
    options = pa.ipc.IpcReadOptions(use_threads=False)
    with pa.ipc.open_stream(value.as_buffer(), options=options) as reader:
        return reader.read_next_batch()
