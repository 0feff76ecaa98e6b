"""Documents as vectors of weighted shingles: how often each occurs, and what that counts for."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.threads import in_order, pieces
from lookalike.base.wording import setting
from lookalike.kernels import sets as kernels
from lookalike.kernels import weighted_shingles
from lookalike.settings import WEIGHTS
from lookalike.text.document_frequencies import HashIndex, shared_by_two
from lookalike.text.shingles import PIECE_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.text.document_frequencies import Parts
    from lookalike.text.normalise import Canonical
    from lookalike.text.shingles import Shingling

__all__ = ["Rarity", "WeightedSets", "Weighting", "weighted_sets_of", "weighted_sets_of_sparse"]


@dataclass(frozen=True)
class WeightedSets:
    """Weighted sets of 64-bit features, each sorted by feature, one after the other."""

    features: NDArray[np.uint64]
    weights: NDArray[np.float64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the sets."""
        return len(self.offsets) - 1

    def sizes(self) -> NDArray[np.int64]:
        """Give the number of features of each set."""
        return np.diff(self.offsets)

    def squares(self) -> NDArray[np.float64]:
        """Give the square of each one's length."""
        out = np.empty(len(self), np.float64)
        weighted_shingles.squares(self.weights, self.offsets, out)
        return out

    @classmethod
    def joined(cls, parts: list[WeightedSets]) -> WeightedSets:
        """Put several one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([np.empty(0, np.uint64), *(part.features for part in parts)]),
            np.concatenate([np.empty(0, np.float64), *(part.weights for part in parts)]),
            np.concatenate([np.zeros(1, np.int64), *(part.sizes() for part in parts)]).cumsum(),
        )


class Rarity:
    """How rare each shingle of a corpus is: ln((1 + n) / (1 + df)) + 1 for one in df of n texts."""

    def __init__(
        self, documents: int, shared: NDArray[np.uint64], counts: NDArray[np.int64]
    ) -> None:
        """Take the shingles that two documents or more share, and in how many each stands."""
        self.documents = documents
        self.counts = counts.astype(np.uint32)
        """Of the shared shingles, in their order."""
        self._table = HashIndex(shared)
        # The last is for all other shingles, which stand in one document each.
        self._values = _logarithms((1 + documents) / (1 + np.append(counts, 1))) + 1

    @classmethod
    def of(cls, parts: Parts, shingling: Shingling, documents: int, threads: int) -> Rarity:
        """Count the shingles of a corpus, in passes of their own."""
        return cls(documents, *shared_by_two(parts, shingling, threads=threads))

    @property
    def shared(self) -> NDArray[np.uint64]:
        """The shingles that two documents or more share, in their order."""
        return self._table.hashes()

    @cached_property
    def digest(self) -> str:
        """The name of these counts, in 16 hexadecimal digits."""
        digest = hashlib.sha256(str(self.documents).encode())
        digest.update(self.shared.astype("<u8").tobytes())
        digest.update(self.counts.astype("<u4").tobytes())
        return digest.hexdigest()[:16]

    def __call__(self, features: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Give the rarity of each shingle."""
        found: NDArray[np.float64] = self._values[self._table.places(features)]
        return found


@dataclass(frozen=True)
class Weighting:
    """What a shingle that occurs so often in a document counts for."""

    name: str = "counts"
    rarity: Rarity | None = field(default=None, compare=False, repr=False)
    """Of the shingles of this corpus, for tf-idf."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.name not in WEIGHTS:
            raise SettingsError(
                f"{setting('weights', self.name)} is unknown: use {', '.join(WEIGHTS)}"
            )

    def __call__(
        self, features: NDArray[np.uint64], counts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Give the weights of shingles that occur so often in their documents."""
        if self.name == "binary":
            return np.ones(len(counts))
        if self.name == "log":
            return 1 + _logarithms(counts)
        if self.name == "tf-idf":
            if self.rarity is None:
                raise SettingsError(
                    f"{setting('weights', 'tf-idf')} weighs by a corpus: two texts alone have none"
                )
            return counts * self.rarity(features)
        return counts


def _logarithms(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give natural logarithms by the C library, the same on every processor; NumPy's are not."""
    distinct, places = np.unique(numbers, return_inverse=True)
    found: NDArray[np.float64] = np.array([math.log(x) for x in distinct.tolist()])[places]
    return found


def weighted_sets_of(
    documents: Canonical,
    shingling: Shingling,
    weighting: Weighting,
    *,
    rows: NDArray[np.int64] | None = None,
    threads: int = 1,
) -> WeightedSets:
    """Give the weighted shingles of the documents in `rows`, by default of all."""
    if rows is None:
        rows = np.arange(len(documents), dtype=np.int64)
    lengths = documents.lengths(rows)

    def build(piece: slice) -> WeightedSets:
        size = int(lengths[piece].sum()) + 1
        features, counts = np.empty(size, np.uint64), np.empty(size, np.float64)
        offsets = np.zeros(piece.stop - piece.start + 1, np.int64)
        kernels.weighted_sets(
            *(documents.data, documents.offsets, rows[piece], *shingling.arguments()),
            *(int(lengths[piece].max(initial=0)) + 1, features, counts, offsets),
        )
        features, counts = features[: offsets[-1]].copy(), counts[: offsets[-1]].copy()
        return WeightedSets(features, weighting(features, counts), offsets)

    return WeightedSets.joined(list(in_order(build, pieces(lengths, PIECE_BYTES), threads)))


def weighted_sets_of_sparse(
    documents: Canonical, rows: NDArray[np.int64] | None = None
) -> WeightedSets:
    """Take apart documents that are lists of features and weights, as `canonical_sparse` makes."""
    if rows is not None:
        documents = documents.chosen(rows)
    words = documents.data.view(np.uint64).reshape(-1, 2)
    weights = np.ascontiguousarray(words[:, 1]).view(np.float64)
    return WeightedSets(np.ascontiguousarray(words[:, 0]), weights, documents.offsets // 16)
