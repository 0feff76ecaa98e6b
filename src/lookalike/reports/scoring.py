"""Exact similarities of documents by the settings of a result: counts, matrices, near misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.string_columns import strings
from lookalike.score.cosine import cosines_of_weighted_sets
from lookalike.text.normalise import Normalisation, normalise
from lookalike.text.shared_counts import shared_counts
from lookalike.text.shingles import Shingling, element_sets
from lookalike.text.weighted_shingles import Weighting, weighted_sets_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from lookalike.settings import Settings

__all__ = ["Counts", "Scorer"]


class Counts(NamedTuple):
    """What every two of some documents share."""

    sizes: NDArray[np.int64]
    """Shingles of each."""
    shared: NDArray[np.int64]
    """A symmetric matrix."""
    similarity: NDArray[np.float64]
    """The same, by the metric."""


@dataclass(frozen=True)
class Scorer:
    """How two documents are compared, where their texts alone tell."""

    normalisation: Normalisation
    shingling: Shingling
    weights: str | None = None
    """Of shingles, for the cosine; None for Jaccard."""

    @classmethod
    def of(cls, settings: Settings) -> Scorer | None:
        """Give what scores as a result did; None where more than two texts decides a score."""
        unknown = settings.ignore is not None or settings.max_df is not None
        unknown |= settings.simhash is not None or settings.weights == "tf-idf"
        if unknown or settings.shingle.partition(":")[0] not in ("chars", "words"):
            return None
        shingling = Shingling.parse(settings.shingle, multiset=settings.multiset)
        cosine = settings.metric == "cosine"
        weights = (settings.weights or "counts") if cosine else None
        return cls(Normalisation.parse(settings.normalise), shingling, weights)

    def sizes(self, texts: pa.Array) -> NDArray[np.int64]:
        """Count the shingles of some texts."""
        return element_sets(normalise(texts, self.normalisation), self.shingling).sizes()

    def counts(self, texts: list[str]) -> Counts:
        """Compare every two of a few texts."""
        documents = normalise(strings(texts), self.normalisation)
        sets = element_sets(documents, self.shingling)
        sizes = sets.sizes()
        shared = shared_counts(sets) if len(texts) else np.zeros((0, 0), np.int64)
        shared = shared + shared.T
        np.fill_diagonal(shared, sizes)
        if self.weights is None:
            similarity = shared / np.maximum(sizes[:, None] + sizes[None, :] - shared, 1)
            return Counts(sizes, shared, similarity)
        weighted = weighted_sets_of(documents, self.shingling, Weighting(self.weights))
        first, second = np.triu_indices(len(texts))
        scored = cosines_of_weighted_sets(weighted, first, second, threshold=-1.0)
        similarity = np.zeros((len(texts), len(texts)))
        similarity[scored.first, scored.second] = scored.similarity
        similarity[scored.second, scored.first] = scored.similarity
        return Counts(sizes, shared, similarity)
