"""What the first pass makes of documents beside their names, so that texts need not be read again.

Sketches by a guessed recipe, which serve where the chosen one makes the same, and the documents
that a choice may look at. Both are packed: one value for each batch, and for each partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.planning import sampling
from lookalike.sketches.prefilter import PREFILTER_BITS
from lookalike.spark.arrow import (
    NODE_BYTES,
    bytes_column,
    fixed_column,
    nodes_of_fingerprints,
    packed_rows,
    unique_nodes,
)
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.recipe import Recipe

__all__ = [
    "SKETCH_ROWS",
    "FirstDocuments",
    "distinct_rows",
    "packed_documents",
    "sampled_documents",
    "sketches_packed",
    "sketches_unpacked",
]

SKETCH_ROWS = 64
"""Rows of each signature that are kept: bands seldom need more."""
SKETCH = np.dtype(
    [
        ("node", np.uint8, NODE_BYTES),
        ("bytes", np.int64),
        ("bits", np.uint32, PREFILTER_BITS // 32),
        ("rows", np.uint32, SKETCH_ROWS),
    ]
)
"""A document whose sketch is kept."""
SAMPLED_BYTES = sampling.CLOSE_BYTES * 9 // 8
"""Bytes of documents, at the most, that a partition keeps for the sample: some more than the sample
has, so that of as many documents none is left out here that is not left out there."""
SPARE_DOCUMENTS = 64
"""More documents than are needed on average from a partition: by chance it may have more."""


def distinct_rows(documents: Canonical) -> NDArray[np.int64]:
    """Give the documents that are not empty, of identical ones the first."""
    filled = np.flatnonzero(np.diff(documents.offsets))
    first, _ = unique_nodes(nodes_of_fingerprints(documents.fingerprints[filled]))
    return filled[np.sort(first)]


def sketches_packed(recipe: Recipe, documents: Canonical, rows: NDArray[np.int64]) -> bytes:
    """Sketch some documents of a batch."""
    made = recipe.encode(documents, rows)
    counted = np.flatnonzero(~made.empty)
    rows = rows[counted]
    packed = np.empty(len(rows), SKETCH)
    packed["node"] = nodes_of_fingerprints(documents.fingerprints[rows])
    packed["bytes"] = documents.lengths(rows)
    packed["bits"] = made.prefilter[counted]
    packed["rows"] = made.sketches[counted, :SKETCH_ROWS]
    return packed.tobytes()


def sketches_unpacked(value: pa.Scalar) -> NDArray[np.void]:
    """Give the sketches that were packed into a value."""
    return np.frombuffer(value.as_buffer(), SKETCH)


def packed_documents(documents: Canonical) -> bytes:
    """Write documents with their names into one value, as the texts of candidates are."""
    nodes = fixed_column(nodes_of_fingerprints(documents.fingerprints))
    data = bytes_column(documents.data, documents.offsets)
    return packed_rows(pa.RecordBatch.from_pydict({"node": nodes, "data": data}))


def sampled_documents(partition: int) -> int:
    """Tell how many documents a partition keeps, so that all kept ones hold the sample of all.

    Fingerprints are spread evenly, and there are more partitions than the number of one.
    """
    share = 2 * sampling.MAX_CLOSE_DOCUMENTS // (partition + 1)
    return min(sampling.CLOSE_DOCUMENTS, share) + SPARE_DOCUMENTS


class FirstDocuments:
    """The documents of a partition with the smallest fingerprints, as its batches come."""

    def __init__(self, most: int) -> None:
        """Hold none yet, and later at most so many."""
        self._most = most
        self._held: list[Canonical] = []
        self._words = np.empty(0, np.uint64)
        """The first words of the smallest fingerprints, those of long documents too."""

    def add(self, documents: Canonical, rows: NDArray[np.int64]) -> None:
        """Look at the distinct documents of a batch."""
        words = documents.fingerprints[rows, 0]
        self._words = np.unique(np.concatenate([self._words, words]))[: self._most]
        rows = rows[words <= self._words[-1]] if len(rows) else rows
        if not len(rows):
            return
        joined = Canonical.joined([*self._held, documents.chosen(rows)])
        distinct = distinct_rows(joined)
        first = distinct[joined.fingerprints[distinct, 0] <= self._words[-1]]
        how = {"max_documents": self._most, "max_bytes": SAMPLED_BYTES}
        self._held = [joined.chosen(sampling.sample(joined, first, **how))]

    def held(self) -> Canonical | None:
        """Give those that fit, of all that came; None where there are none."""
        return self._held[0] if self._held and len(self._held[0]) else None
