"""Where the documents of a result came from, and how they are read again as they were."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lookalike.base.columns import Column
    from lookalike.read import Corpus
    from lookalike.read.batches import Documents
    from lookalike.read.source import InMemory
    from lookalike.results.ids import Ids

__all__ = ["Origin"]

CORPORA = pa.array(["source", "reference"])
"""What a document can be of."""


@dataclass(frozen=True)
class Origin:
    """The sources of a result, the corpus itself last, and where the documents stand in them."""

    sources: list[Corpus | InMemory]
    ids: Ids
    counts: list[int]
    """Documents of each source."""
    shards: Column = field(repr=False)
    records: Column = field(repr=False)
    skip_bad: bool = False
    """Files that could not be read were skipped, as asked."""

    @property
    def before(self) -> int:
        """Documents of a reference corpus, which come first."""
        return sum(self.counts[:-1])

    def corpora(self, rows: NDArray[np.int64]) -> pa.Array:
        """Name the corpus of each document, the source or the reference: an id may be in both."""
        return CORPORA.take(pa.array((rows < self.before).astype(np.int8)))

    @property
    def in_memory(self) -> bool:
        """Whether the documents of the corpus are in memory, not in files."""
        return self.sources[-1].identity() is None

    def as_given(self, rows: NDArray[np.int64]) -> Any:
        """Give some documents of the corpus in the kind that it was given in."""
        return self.sources[-1].as_given(self.ids.take(rows), *self.places(rows))

    def originals(self, rows: NDArray[np.int64], columns: Sequence[str] | None = ()) -> Documents:
        """Read some documents of the corpus again, as they were before they were normalised.

        Only what is near them is read. `columns` None stands for all but the text or vector.
        """
        return self.sources[-1].originals(*self.places(rows), columns)

    def places(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Give the file of each document, and the number of its record there."""
        return self.shards.read()[rows], self.records.read()[rows]
