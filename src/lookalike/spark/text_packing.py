"""Texts that are scored with each other, many in one value.

Spark keeps, shuffles and sorts a few large values in the place of a row for each text, and they are
compressed once, where they are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from lookalike.spark.arrow import (
    bytes_column,
    bytes_of,
    fixed_of,
    numbers_of,
    packed_rows,
    shortened,
    unpacked_rows,
)
from lookalike.spark.workers import texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from lookalike.recipe import CanonicalForm

    Batches = Iterable[pa.RecordBatch]

__all__ = [
    "PACKED_TEXTS",
    "PICKED_TEXTS",
    "Wanted",
    "pack_texts",
    "pick_sampled",
    "pick_texts",
    "texts_packed",
]

PACKED_TEXTS = "chunk bigint, texts binary"
"""In `texts` are the columns node, id and data."""
PICKED_TEXTS = "chunk binary, node binary, data binary"
COLUMNS = ("node", "data")
LABEL = ">i8"
"""Of texts that are numbered: bytes that sort as the numbers do."""


class Wanted(NamedTuple):
    """Documents that are looked for, in order: a name may be there for several labels."""

    nodes: NDArray[np.uint8]
    labels: NDArray[np.uint8]


def texts_packed(form: CanonicalForm, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the canonical texts of documents, packed by chunk."""
    yield from pack_texts(texts(form, batches))


def pack_texts(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Pack rows by the column chunk, with all others."""
    for batch in batches:
        if not len(batch):
            continue
        names = [name for name in batch.schema.names if name != "chunk"]
        chunks = batch.column("chunk").to_numpy()
        order = np.argsort(chunks, kind="stable")
        found, starts = np.unique(chunks[order], return_index=True)
        rows = batch.select(names).take(pa.array(order))
        stops = np.append(starts[1:], len(order))
        values = [
            packed_rows(rows.slice(int(start), int(stop - start)))
            for start, stop in zip(starts, stops, strict=True)
        ]
        yield pa.RecordBatch.from_pydict(
            {"chunk": pa.array(found), "texts": pa.array(values, pa.binary())}
        )


def pick_sampled(
    wanted: Wanted, most: NDArray[np.int64], batches: Batches
) -> Iterator[pa.RecordBatch]:
    """Give the texts that are wanted, or as many bytes of each: the labels are places in `most`."""
    for batch in pick_texts(wanted, batches):
        places = fixed_of(batch.column("chunk"), LABEL).reshape(-1)
        data, offsets = shortened(*bytes_of(batch.column("data")), most[places])
        yield batch.set_column(2, "data", bytes_column(data, offsets))


def pick_texts(wanted: Wanted, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Give the texts of those that are wanted, for each of their labels: chunk, node, data."""
    names = numbers_of(wanted.nodes)
    for batch in batches:
        for value in batch.column("texts"):
            rows = unpacked_rows(value)
            mine = numbers_of(fixed_of(rows.column("node"), np.uint8))
            first, last = (np.searchsorted(names, mine, side) for side in ("left", "right"))
            counts = last - first
            if not counts.any():
                continue
            every = np.repeat(np.arange(len(mine)), counts)
            among = np.arange(len(every)) - np.repeat(np.cumsum(counts) - counts, counts)
            places = np.repeat(first, counts) + among
            labels = [bytes(label) for label in wanted.labels[places]]
            chosen = rows.take(pa.array(every))
            yield pa.RecordBatch.from_pydict(
                {
                    "chunk": pa.array(labels, pa.binary()),
                    **{name: chosen.column(name) for name in COLUMNS},
                }
            )
