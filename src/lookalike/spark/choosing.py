"""The recipe of a frame, chosen by the same sample as on one machine.

A sample is of the documents with the smallest fingerprints, so that the first of all, sorted by
their names, are all that a choice looks at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 # as everybody names it

from lookalike.planning import sampling
from lookalike.recipe import Sample, choose
from lookalike.spark.arrow import (
    NODE_BYTES,
    bytes_of,
    fingerprints_of_nodes,
    fixed_of,
    nodes_of_fingerprints,
)
from lookalike.spark.frames import mapped
from lookalike.spark.text_packing import LABEL, PICKED_TEXTS, Wanted, pick_sampled
from lookalike.spark.workers import texts
from lookalike.text.normalise import Canonical
from lookalike.text.shingles import HEAD_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.recipe import Chosen
    from lookalike.settings import Settings
    from lookalike.spark.documents import Identified
    from lookalike.spark.frames import Frames

__all__ = ["Choice", "choice_for"]

MEMORY = 1 << 30
"""Memory that a corpus small enough to be compared whole is known to fit in."""


class Choice(NamedTuple):
    """What was chosen, and the documents that it was chosen by."""

    chosen: Chosen
    sample: SampledDocuments
    nodes: NDArray[np.uint8]
    """The names of the sampled documents."""
    ids: pa.Array
    """Their ids: of each content that of the first document."""


class Held(NamedTuple):
    """Texts of a sample, in the order of their places in it."""

    places: NDArray[np.int64]
    data: NDArray[np.uint8]
    ends: NDArray[np.int64]


@dataclass(frozen=True)
class SampledDocuments:
    """The documents with the smallest fingerprints; of those that do not fit, the first bytes."""

    fingerprints: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    """Bytes of each, be they here or not."""
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.sizes)

    def lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the bytes of some documents."""
        return self.sizes[rows]

    def chosen(self, rows: NDArray[np.int64], most: int | None = None) -> Canonical:
        """Give some of the documents, in the given order, or at most so many bytes of each."""
        held = Canonical(self.data, self.offsets, self.fingerprints)
        return held.chosen(rows, most)


def choice_for(settings: Settings, documents: Identified, frames: Frames) -> Choice:
    """Choose the recipe of the documents."""
    limit = sampling.MAX_CLOSE_DOCUMENTS
    table = documents.first(limit)
    distinct = documents.distinct
    nodes = fixed_of(_column(table, "node"), np.uint8).reshape(len(table), NODE_BYTES)
    prints = fingerprints_of_nodes(nodes)
    sizes = _column(table, "bytes").to_numpy().astype(np.int64)
    known = SampledDocuments(prints, sizes, np.empty(0, np.uint8), np.zeros(1, np.int64))
    sampled = _with_texts(known, table, distinct, documents, frames)
    sample = Sample(
        cast("Canonical", sampled),
        np.arange(len(sampled)),
        documents.form,
        distinct,
        documents.read,
        documents.empty,
    )
    chosen = choose(settings, sample, memory=MEMORY)
    return Choice(chosen, sampled, nodes, _column(table, "id"))


def _column(table: pa.Table, name: str) -> pa.Array:
    return pa.concat_arrays(table[name].chunks) if len(table) else pa.array([], table[name].type)


def _with_texts(
    known: SampledDocuments,
    table: pa.Table,
    distinct: int,
    documents: Identified,
    frames: Frames,
) -> SampledDocuments:
    """Add the texts that a choice looks at: whole ones, and at least the heads of the first."""
    every = np.arange(len(known))
    as_documents = cast("Canonical", known)
    whole = np.union1d(
        sampling.sample(as_documents, every),
        sampling.close_sample(as_documents, every, distinct),
    )
    most = np.zeros(len(known), np.int64)
    most[: sampling.SAMPLE_DOCUMENTS] = HEAD_BYTES
    most[whole] = np.iinfo(np.int64).max
    wanted = np.flatnonzero(most)
    if not len(wanted):
        return known
    held = _held(known, wanted, most, documents, distinct)
    if held is None:
        held = _fetched(table, wanted, most[wanted], documents, frames)
    places, data, ends = held
    lengths = np.zeros(len(known), np.int64)
    lengths[places] = np.diff(ends)
    offsets = np.append(0, np.cumsum(lengths))
    return SampledDocuments(known.fingerprints, known.sizes, data, offsets)


def _held(
    known: SampledDocuments,
    wanted: NDArray[np.int64],
    most: NDArray[np.int64],
    documents: Identified,
    distinct: int,
) -> Held | None:
    """Give the texts that are wanted as the first pass kept them; None where it kept not all."""
    nodes = nodes_of_fingerprints(known.fingerprints[wanted])
    asked = Wanted(nodes, wanted.astype(LABEL).view(np.uint8).reshape(len(wanted), -1))
    kept = mapped(documents.first_pass.texts, pick_sampled, PICKED_TEXTS, asked, most)
    if documents.read - documents.empty > distinct:
        # A content that is in several partitions may be kept in each, and comes once.
        kept = kept.dropDuplicates(["chunk"])
    found = kept.toArrow()
    if len(found) < len(wanted):
        return None
    labels = fixed_of(_column(found, "chunk"), LABEL).reshape(-1)
    order = np.argsort(labels)
    data, ends = bytes_of(_column(found, "data").take(pa.array(order)))
    return Held(labels[order].astype(np.int64), data, ends)


def _fetched(
    table: pa.Table,
    wanted: NDArray[np.int64],
    most: NDArray[np.int64],
    documents: Identified,
    frames: Frames,
) -> Held:
    """Read the frame for the texts that are wanted, or for as many bytes of them."""
    source = documents.source
    asked = pa.table(
        {
            "id": _column(table, "id").take(pa.array(wanted)),
            "place": pa.array(wanted),
            "most": pa.array(most),
        }
    )
    frame = frames.of_table(asked, f"id {source.ids.type_name}, place bigint, most bigint")
    rows = source.documents().join(F.broadcast(frame), "id").drop("id")
    found = mapped(rows, texts, "place bigint, data binary", documents.form).toArrow()
    found = found.sort_by("place").combine_chunks()
    data, ends = bytes_of(_column(found, "data"))
    return Held(_column(found, "place").to_numpy(), data, ends)
