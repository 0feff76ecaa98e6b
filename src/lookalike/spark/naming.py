"""Documents by the names of their contents, many in one value.

The first pass packs the documents of a batch. Their names then come together by slice, each content
once, and so do their ids, which must not repeat. A slice is made of names alone, so that what is
asked for by name is found in the slice of that name.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.spark.arrow import (
    NODE_BYTES,
    bytes_column,
    bytes_of,
    fixed_column,
    fixed_of,
    gathered,
    heads_of,
    numbers_of,
    packed_rows,
    places_of,
    unique_nodes,
    unpacked_rows,
)
from lookalike.spark.numbering import order_of_ids
from lookalike.text.normalise import fingerprints_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "CONTENTS",
    "FIRST",
    "LISTED_COPIES",
    "NAMES",
    "SLICED",
    "first_names",
    "gather",
    "ids_of_needed",
    "needed_in_slices",
    "pack_contents",
    "pack_needed",
    "slice_named",
    "unpack_contents",
    "unpack_named",
]

CONTENTS = (
    "slice int, distinct bigint, most_copies bigint, repeated bigint, contents binary, "
    "copied binary"
)
"""Of a slice: how many contents it has, the most documents that have one of them, how many ids are
there again, and the contents, packed: node, id, copies, bytes. The id is that of the first document
of a content. In `copied` are the documents of contents that several have, but
of those that too many have: node, id."""
LISTED_COPIES = 64
"""Documents of one content that are listed; of one that has more, none are."""
HELD_VALUES = 256
"""Values of a slice that are held one by one: each takes some kilobytes beside its rows."""
HELD_DOCUMENTS = 1 << 19
"""Documents whose names a task gathers before it hands them on by slice, some 20 MB."""
SLICED = "slice int, kind int, rows binary"
NAMES, IDS, NEEDED = range(3)
"""Kinds of what comes together in a slice: contents, ids, and the contents that chunks need."""
NEED = np.dtype([("node", np.uint8, NODE_BYTES), ("chunk", np.int64)])
FIRST = ("node", "id", "copies", "bytes")
"""The columns of contents."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without a pattern, which spreads ids over slices."""


def slice_named(
    slices: int, counted: bool, with_names: bool, batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Give the ids of documents that were packed, and their contents where asked for, by slice.

    A content that too many documents have to be listed comes once for all of them.
    """
    values = (value for batch in batches for value in batch.column("named"))
    for named in gathered(map(unpacked_rows, values), HELD_DOCUMENTS):
        keys = _id_keys(named.column("id"))
        yield _sliced(IDS, _mixed(keys) % np.uint64(slices), keys)
        if with_names:
            filled = _filled(named)
            columns = {name: filled.column(name) for name in ("node", "id", "bytes")}
            columns["copies"] = pa.array(np.ones(len(filled), np.int64))
            documents = pa.RecordBatch.from_pydict(columns)
            for part in _joined_if_many(documents, counted=counted):
                yield from _sliced_contents(slices, part)


def _joined_if_many(contents: pa.RecordBatch, *, counted: bool) -> Iterator[pa.RecordBatch | None]:
    """Give documents one by one, and those of a content that many have as one."""
    nodes = fixed_of(contents.column("node"), np.uint8)
    _, places = unique_nodes(nodes.reshape(-1, NODE_BYTES))
    many = np.bincount(places)[places] > LISTED_COPIES if len(places) else np.empty(0, np.bool_)
    yield contents.filter(pa.array(~many))
    if many.any():
        yield _each_once([contents.filter(pa.array(many))], counted=counted)


def pack_contents(slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give contents that come one by one, packed by slice."""
    for batch in gathered(batches, HELD_DOCUMENTS):
        yield from _sliced_contents(slices, batch)


def pack_needed(slices: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the names that chunks need, which come one by one, packed by slice."""
    for batch in gathered(batches, HELD_DOCUMENTS):
        nodes = fixed_of(batch.column("node"), np.uint8)
        yield needed_in_slices(slices, nodes, batch.column("chunk").to_numpy())


def needed_in_slices(
    slices: int, nodes: NDArray[np.uint8], chunks: NDArray[np.int64]
) -> pa.RecordBatch:
    """Give the names that chunks need, packed by slice."""
    needed = np.empty(len(nodes), NEED)
    needed["node"], needed["chunk"] = nodes.reshape(-1, NODE_BYTES), chunks
    places = heads_of(nodes.reshape(-1, NODE_BYTES)).view(np.uint64) % np.uint64(slices)
    return _sliced(NEEDED, places, needed)


def _sliced_contents(slices: int, contents: pa.RecordBatch | None) -> Iterator[pa.RecordBatch]:
    if contents is None or not len(contents):
        return
    places = _slices_of(contents.column("node"), slices)
    order = np.argsort(places, kind="stable")
    found, starts = np.unique(places[order], return_index=True)
    values = [
        packed_rows(contents.take(pa.array(rows)), compression=None)
        for rows in np.split(order, starts[1:])
    ]
    yield _rows(NAMES, found, pa.array(values, pa.binary()))


def _sliced(kind: int, places: NDArray[np.uint64], rows: NDArray[Any]) -> pa.RecordBatch:
    """Pack rows of one width by their slices."""
    order = np.argsort(places, kind="stable")
    found, starts = np.unique(places[order], return_index=True)
    ends = np.append(starts, len(order)) * rows.dtype.itemsize
    return _rows(kind, found, bytes_column(rows[order].view(np.uint8).reshape(-1), ends))


def _rows(kind: int, slices: NDArray[np.uint64], rows: pa.Array) -> pa.RecordBatch:
    kinds = pa.array(np.full(len(slices), kind, np.int32))
    places = pa.array(slices.astype(np.int32))
    return pa.RecordBatch.from_pydict({"slice": places, "kind": kinds, "rows": rows})


def _slices_of(nodes: pa.Array, slices: int) -> NDArray[np.uint64]:
    return heads_of(fixed_of(nodes, np.uint8)).view(np.uint64) % np.uint64(slices)


def _id_keys(ids: pa.Array) -> NDArray[Any]:
    """Give what tells ids apart: themselves where they are numbers, else 128 bits of each."""
    ids = ids.drop_null()
    if pa.types.is_integer(ids.type):
        return np.asarray(ids, np.int64)
    return fingerprints_of(*bytes_of(ids.cast(pa.large_binary()))).view("S16").reshape(-1)


def _mixed(keys: NDArray[Any]) -> NDArray[np.uint64]:
    words = keys.view(np.uint64).reshape(len(keys), keys.dtype.itemsize // 8)
    mixed: NDArray[np.uint64] = (words[:, 0] * MIX) >> np.uint64(32)
    return mixed


def gather(counted: bool, key: str, listed: bool, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the contents of each slice, each once, and how many ids are there again.

    Rows come sorted by slice. The keys of ids are of a type that NumPy names. With `listed` the
    documents of contents that several have are given too.
    """
    held = Gathered()
    current: int | None = None
    for batch in batches:
        places, kinds = (batch.column(name).to_pylist() for name in ("slice", "kind"))
        for place, kind, value in zip(places, kinds, batch.column("rows"), strict=True):
            if current is not None and place != current:
                yield held.row(current, key, counted=counted, listed=listed)
                held = Gathered()
            current = place
            held.add(kind, value)
    if current is not None:
        yield held.row(current, key, counted=counted, listed=listed)


class Gathered:
    """The contents and the ids of a slice, as they come."""

    def __init__(self) -> None:
        """Hold none yet."""
        self._contents: list[pa.RecordBatch] = []
        self._ids: list[pa.Scalar] = []

    def add(self, kind: int, value: pa.Scalar) -> None:
        """Hold more of a kind. What comes in many small values is put together soon."""
        if kind == IDS:
            self._ids.append(value)
            return
        self._contents.append(unpacked_rows(value))
        if len(self._contents) > HELD_VALUES:
            # The first holds what was put together before.
            begin = len(self._contents[0]) > sum(map(len, self._contents[1:]))
            self._contents[begin:] = gathered(self._contents[begin:], sys.maxsize)

    def row(self, place: int, key: str, *, counted: bool, listed: bool) -> pa.RecordBatch:
        """Give the contents of the slice, each once, and how many ids are there again."""
        parts = [np.frombuffer(value.as_buffer(), key) for value in self._ids]
        keys = np.sort(np.concatenate([np.empty(0, key), *parts]))
        contents = _each_once(self._contents, counted=counted)
        packed, copied, copies = None, None, pa.array([], pa.int64())
        if contents is not None:
            packed, copies = packed_rows(contents, compression=None), contents.column("copies")
            copied = _listed(self._contents, contents) if listed else None
        return pa.RecordBatch.from_pydict(
            {
                "slice": pa.array([place], pa.int32()),
                "distinct": pa.array([len(copies)]),
                "most_copies": pa.array([pc.max(copies).as_py() or 0]),
                "repeated": pa.array([int((keys[1:] == keys[:-1]).sum())]),
                "contents": pa.array([packed], pa.binary()),
                "copied": pa.array([copied], pa.binary()),
            }
        )


def _each_once(parts: list[pa.RecordBatch], *, counted: bool) -> pa.RecordBatch | None:
    """Give each content once: with the first id, all copies, and in the order of names."""
    some = [part for part in parts if len(part)]
    if not some:
        return None
    (rows,) = pa.Table.from_batches(some).combine_chunks().to_batches()
    nodes = fixed_of(rows.column("node"), np.uint8)
    order = order_of_ids(rows.column("id"), counted=counted)
    first, places = unique_nodes(nodes[order])
    copies = np.zeros(len(first), np.int64)
    np.add.at(copies, places, rows.column("copies").to_numpy()[order])
    chosen = rows.take(pa.array(order[first]))
    return chosen.set_column(chosen.schema.get_field_index("copies"), "copies", pa.array(copies))


def _listed(every: list[pa.RecordBatch], contents: pa.RecordBatch) -> bytes | None:
    """Give the documents of contents that several have."""
    copies = contents.column("copies")
    few = pc.and_(pc.greater(copies, 1), pc.less_equal(copies, LISTED_COPIES))
    several = contents.filter(few)
    if not len(several):
        return None
    names = numbers_of(fixed_of(several.column("node"), np.uint8))
    parts = [
        part.select(["node", "id"]).filter(
            pa.array(np.isin(numbers_of(fixed_of(part.column("node"), np.uint8)), names))
        )
        for part in every
        if len(part)
    ]
    (rows,) = pa.Table.from_batches(parts).combine_chunks().to_batches()
    return packed_rows(rows, compression=None)


def first_names(below: bytes | None, most: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give so many of the first names of each slice, those below a bound alone."""
    for batch in batches:
        for value in batch.column("contents").drop_null():
            rows = unpacked_rows(value)
            names = numbers_of(fixed_of(rows.column("node"), np.uint8))
            chosen = np.arange(len(names)) if below is None else np.flatnonzero(names < below)
            chosen = chosen[np.argsort(names[chosen])[:most]]
            yield rows.take(pa.array(chosen)).select(list(FIRST))


def unpack_contents(several: bool, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give contents one by one, or those alone that several documents have."""
    for batch in batches:
        for value in batch.column("contents").drop_null():
            rows = unpacked_rows(value).select(list(FIRST))
            yield rows.filter(pc.greater(rows.column("copies"), 1)) if several else rows


def unpack_named(names: tuple[str, ...], batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give documents that were packed and are not empty one by one, with some of their columns."""
    for batch in batches:
        for value in batch.column("named"):
            yield _filled(unpacked_rows(value)).select(list(names))


def _filled(named: pa.RecordBatch) -> pa.RecordBatch:
    return named.filter(pc.greater(named.column("bytes"), 0))


def ids_of_needed(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the names that chunks need with their ids: chunk, node, id.

    Rows come sorted by slice, and contents before those that are needed.
    """
    contents: pa.RecordBatch | None = None
    nodes = np.empty((0, NODE_BYTES), np.uint8)
    for batch in batches:
        for kind, value in zip(batch.column("kind"), batch.column("rows"), strict=True):
            if kind.as_py() == NAMES:
                contents, nodes = None, np.empty((0, NODE_BYTES), np.uint8)
                if value.is_valid:
                    contents = unpacked_rows(value)
                    nodes = fixed_of(contents.column("node"), np.uint8)
                continue
            if contents is None:
                continue  # nothing is needed of a slice without contents
            needed = np.frombuffer(value.as_buffer(), NEED)
            wanted = np.ascontiguousarray(needed["node"])
            yield pa.RecordBatch.from_pydict(
                {
                    "chunk": pa.array(np.ascontiguousarray(needed["chunk"])),
                    "node": fixed_column(wanted),
                    "id": contents.column("id").take(pa.array(places_of(wanted, nodes))),
                }
            )
