"""The ways to compare documents: what is made of each, and what of two of them is scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.memory import size
from lookalike.base.wording import setting
from lookalike.candidates import exact_join, hamming
from lookalike.candidates.buckets import band_keys
from lookalike.score import jaccard
from lookalike.score.cosine import (
    compare_vectors,
    compare_weighted_sets,
    cosines_of_vectors,
    cosines_of_weighted_sets,
)
from lookalike.score.jaccard import Scored, known_scores
from lookalike.sketches import hyperplanes, minhash
from lookalike.sketches.prefilter import PREFILTER_BITS, PREFILTER_ROWS
from lookalike.text.shared_counts import shared_counts
from lookalike.text.shingles import element_sets
from lookalike.text.vectors import matrix
from lookalike.text.weighted_shingles import Weighting, weighted_sets_of, weighted_sets_of_sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from lookalike.candidates.buckets import Layout
    from lookalike.score.nearest import Below
    from lookalike.text.documents import Texts
    from lookalike.text.normalise import Canonical
    from lookalike.text.shingles import Sets, Shingling
    from lookalike.text.weighted_shingles import WeightedSets

    Documents = Canonical | Texts
    Rows = NDArray[np.int64]
    Sides = NDArray[np.uint8] | None
    Compare = Callable[[Rows, Rows, Below | None], Scored]
    Blocks = Iterable[tuple[Rows, Rows]]

__all__ = [
    "PREFILTER_WORDS",
    "Cosine",
    "Fingerprints",
    "Jaccard",
    "Join",
    "JoinResources",
    "Metric",
]

PREFILTER_WORDS = PREFILTER_BITS // hyperplanes.WORD_BITS
SIGNATURE_STEP_ROWS = 32
"""Rows by which stored signatures grow."""
BLOCK_WORDS = hyperplanes.MIN_TRANSFORM_SIZE // hyperplanes.WORD_BITS
"""Words by which stored bits grow: as many are made at a time."""

WHOLE_DOCUMENTS = 256
"""Vectors and weighted sets of which every two are multiplied, to find the most similar pair that
is below the threshold."""


@dataclass(frozen=True)
class JoinResources:
    """What the exact join may use, and who hears how far it is."""

    memory: int
    threads: int = 1
    progress: Callable[[int, int], None] | None = None


class Join(NamedTuple):
    """How every similar pair is found."""

    blocks: Blocks
    """Pairs among which all similar ones are."""
    compare: Compare
    offer_all: Callable[[Below], None] | None
    """Looks at every pair for the most similar below the threshold; None where those are many."""


class Metric(Protocol):
    """How documents are sketched, and how two of them are compared."""

    name: str
    lowest: float
    """The smallest similarity that there is."""
    always_stored: int
    """Words of each sketch that are kept whatever the job."""
    prefiltered: bool
    """Some bits of two sketches are looked at before the documents are compared."""
    estimates: bool
    """Two documents are compared by their sketches alone."""

    @property
    def seed(self) -> int:
        """Of the random hash functions."""

    @property
    def shingling(self) -> Shingling | None:
        """What a shingle is; None for vectors."""

    def decides(self) -> dict[str, Any]:
        """Give all that decides a sketch or a score, as plain values; tables by their digests."""

    def banding(self, layout: Layout) -> str:
        """Name what decides the keys of a sketch."""

    def words(self, rows: int) -> int:
        """Tell in how many 32-bit words a sketch of so many rows stands."""

    def stored(self, rows: int) -> int:
        """Tell how many words are best stored, to serve other plans too."""

    def sketch(
        self, documents: Canonical, rows: Rows, words: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Give the sketches of some documents, and which of them have nothing that counts."""

    def keys(self, sketches: NDArray[np.uint32], layout: Layout) -> NDArray[np.uint64]:
        """Give the band keys of sketches, a row a band."""

    def key_bits(self, layout: Layout, documents: int) -> int:
        """Tell how many bits of a key, the lowest, tell the buckets of so many documents apart."""

    def prefilter(self, sketches: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Give the bits of sketches that are looked at first, in `PREFILTER_WORDS` words each."""

    def compare(
        self,
        documents: Documents,
        rows: Rows,
        first: Rows,
        second: Rows,
        threshold: float,
        threads: int,
        below: Below | None = None,
    ) -> Scored:
        """Compare pairs of documents, by their places in `rows`, exactly.

        `below` hears of the most similar ones below the threshold.
        """

    def estimate(
        self,
        sketches: NDArray[np.uint32],
        rows: int,
        first: Rows,
        second: Rows,
        threshold: float,
        threads: int,
        below: Below | None = None,
    ) -> Scored:
        """Compare pairs by so many rows of their sketches."""

    def every(
        self,
        documents: Documents,
        rows: Rows,
        threshold: float,
        resources: JoinResources,
        sides: Sides = None,
    ) -> Join:
        """Make ready to find every similar pair.

        With `sides`, the corpora in which each document stands, every pair across the two.
        """


@dataclass(frozen=True)
class Jaccard:
    """Sets of shingles, sketched by minhash."""

    shingling: Shingling
    seed: int
    name = "jaccard"
    lowest = 0.0
    always_stored = 0
    prefiltered = True
    estimates = False

    def decides(self) -> dict[str, Any]:
        """Give what decides a signature."""
        return {"metric": self.name, "seed": self.seed, **_plain_shingling(self.shingling)}

    def banding(self, layout: Layout) -> str:
        """Name the cascade."""
        return str(layout.cascade)

    def words(self, rows: int) -> int:
        """Tell in how many words a signature stands: one a row; those looked at first always do."""
        return max(rows, PREFILTER_ROWS)

    def stored(self, rows: int) -> int:
        """Round up, so that a plan of a few rows more finds them."""
        return -(-self.words(rows) // SIGNATURE_STEP_ROWS) * SIGNATURE_STEP_ROWS

    def sketch(
        self, documents: Canonical, rows: Rows, words: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Give signatures, and which documents have no shingle that counts."""
        sketches, counts = minhash.sign_texts(
            documents, self.shingling, rows=words, seed=self.seed, chosen=rows
        )
        return sketches, counts == 0

    def keys(self, sketches: NDArray[np.uint32], layout: Layout) -> NDArray[np.uint64]:
        """Give the keys of bands of rows."""
        return band_keys(sketches, bands=layout.bands, rows=layout.rows)

    def key_bits(self, _layout: Layout, documents: int) -> int:
        """Take as many as make it unlikely that any two buckets fall together; all are alike."""
        return min(64, 2 * documents.bit_length() + 8)

    def prefilter(self, sketches: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Give two bits of each of the first rows."""
        return minhash.checks(sketches)

    def compare(
        self,
        documents: Documents,
        rows: Rows,
        first: Rows,
        second: Rows,
        threshold: float,
        threads: int,
        below: Below | None = None,
    ) -> Scored:
        """Compare the sets of shingles."""
        return jaccard.verify_texts(
            documents,
            self.shingling,
            rows,
            first,
            second,
            threshold=threshold,
            threads=threads,
            below=below,
        )

    def estimate(
        self,
        sketches: NDArray[np.uint32],
        rows: int,
        first: Rows,
        second: Rows,
        threshold: float,
        threads: int,
        below: Below | None = None,
    ) -> Scored:
        """Score by the share of equal rows."""
        signatures = np.ascontiguousarray(sketches[:, :rows])
        return jaccard.estimate(
            signatures, first, second, threshold=threshold, threads=threads, below=below
        )

    def every(
        self,
        documents: Documents,
        rows: Rows,
        threshold: float,
        resources: JoinResources,
        sides: Sides = None,
    ) -> Join:
        """Count what every two of a few sets share; join more by their rarest shingles."""
        _refuse_if_large(24 * int(documents.lengths(rows).sum()), resources.memory, "every shingle")
        part, mine = documents.part(rows)
        sets = element_sets(part, self.shingling, rows=mine, threads=resources.threads)
        counts: list[NDArray[np.int64]] = []

        def count(sets: Sets) -> NDArray[np.int64]:
            counts.extend([] if counts else [shared_counts(sets)])
            return counts[0]

        blocks = exact_join.similar_sets(
            sets, threshold=threshold, sides=sides, progress=resources.progress, count=count
        )

        def compare(first: Rows, second: Rows, below: Below | None) -> Scored:
            return jaccard.verify(
                sets, first, second, threshold=threshold, threads=resources.threads, below=below
            )

        def offer_all(below: Below) -> None:
            shared, sizes = count(sets), sets.sizes()
            similarity = shared / np.maximum(sizes[:, None] + sizes - shared, 1)
            first, second = np.nonzero((shared > 0) & (similarity < threshold))
            below.offer(first, second, similarity[first, second])

        return Join(blocks, compare, offer_all if exact_join.are_few(sets) else None)


@dataclass(frozen=True)
class Cosine:
    """Vectors, given or of weighted shingles, sketched by the sides of random hyperplanes."""

    seed: int
    shingling: Shingling | None = None
    """Of text; None where the documents are vectors."""
    weighting: Weighting = field(default_factory=Weighting)
    dimension: int = 0
    """The numbers of a vector; 0 for text, and for the rows of sparse matrices."""
    name = "cosine"
    lowest = -1.0
    always_stored = 0
    prefiltered = True
    estimates = False

    def decides(self) -> dict[str, Any]:
        """Give what decides the bits."""
        plain: dict[str, Any] = {"metric": self.name, "seed": self.seed}
        if self.shingling is None:
            return plain | {"dimension": self.dimension}
        rarity = self.weighting.rarity
        return plain | {
            **_plain_shingling(self.shingling),
            "weights": self.weighting.name,
            "frequencies": None if rarity is None else rarity.digest,
        }

    def banding(self, layout: Layout) -> str:
        """Name the cascade."""
        return str(layout.cascade)

    def words(self, rows: int) -> int:
        """Tell in how many words the bits stand; those that are looked at first always do."""
        return max(-(-rows // hyperplanes.WORD_BITS), PREFILTER_WORDS)

    def stored(self, rows: int) -> int:
        """Round up to a whole block, which is made anyway."""
        return -(-self.words(rows) // BLOCK_WORDS) * BLOCK_WORDS

    def weighted_sets(self, documents: Canonical, rows: Rows, threads: int = 1) -> WeightedSets:
        """Give documents as weighted sets."""
        if self.shingling is None:
            return weighted_sets_of_sparse(documents, rows)
        return weighted_sets_of(
            documents, self.shingling, self.weighting, rows=rows, threads=threads
        )

    def sketch(
        self, documents: Canonical, rows: Rows, words: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Give the bits, and which documents have nothing that counts."""
        how = {"words": words, "seed": self.seed}
        if self.dimension:
            vectors = matrix(documents, self.dimension)
            chosen = vectors[documents.offsets[rows] // (4 * self.dimension)]
            return hyperplanes.sketch_vectors(chosen, **how), np.zeros(len(rows), np.bool_)
        if self.shingling is None:
            weighted_sets = weighted_sets_of_sparse(documents, rows)
            return hyperplanes.sketch_weighted_sets(weighted_sets, **how), np.zeros(
                len(rows), np.bool_
            )
        sketches, counts = hyperplanes.sketch_texts(
            documents, self.shingling, self.weighting, chosen=rows, **how
        )
        return sketches, counts == 0

    def keys(self, sketches: NDArray[np.uint32], layout: Layout) -> NDArray[np.uint64]:
        """Give the keys of bands of bits."""
        return hyperplanes.bit_keys(sketches, bands=layout.bands, rows=layout.rows)

    def key_bits(self, layout: Layout, _documents: int) -> int:
        """Take those of the band."""
        return layout.rows

    def prefilter(self, sketches: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Give the first bits."""
        return sketches[:, :PREFILTER_WORDS]

    def compare(
        self,
        documents: Documents,
        rows: Rows,
        first: Rows,
        second: Rows,
        threshold: float,
        threads: int,
        below: Below | None = None,
    ) -> Scored:
        """Compare the vectors, or the weighted shingles."""
        pairs = rows, first, second
        if self.dimension:
            return compare_vectors(
                documents, self.dimension, *pairs, threshold=threshold, threads=threads, below=below
            )
        return compare_weighted_sets(
            documents, self.weighted_sets, *pairs, threshold=threshold, threads=threads, below=below
        )

    def estimate(
        self,
        sketches: NDArray[np.uint32],
        rows: int,
        first: Rows,
        second: Rows,
        threshold: float,
        _threads: int,
        below: Below | None = None,
    ) -> Scored:
        """Score by the cosine of the angle that the share of differing bits tells."""
        bits = self.words(rows) * hyperplanes.WORD_BITS
        differing = hyperplanes.differing(sketches, first, second, words=self.words(rows))
        similarity = hyperplanes.cosine_at(differing, bits)
        return known_scores(first, second, similarity, threshold, below)

    def every(
        self,
        documents: Documents,
        rows: Rows,
        threshold: float,
        resources: JoinResources,
        sides: Sides = None,
    ) -> Join:
        """Multiply every two vectors, or join weighted sets by their rarest features."""
        taken = int(documents.lengths(rows).sum())
        threads = resources.threads
        if self.dimension:
            _refuse_if_large(3 * taken, resources.memory, "every vector")
            vectors = matrix(documents.chosen(rows), self.dimension)
            units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            blocks = exact_join.near_vectors(
                units, threshold=threshold, sides=sides, progress=resources.progress
            )
            return _join(
                blocks,
                lambda first, second, below: cosines_of_vectors(
                    vectors, first, second, threshold=threshold, threads=threads, below=below
                ),
                len(rows),
            )
        what = "every vector" if self.shingling is None else "every shingle"
        _refuse_if_large(48 * taken, resources.memory, what)
        part, mine = documents.part(rows)
        weighted_sets = self.weighted_sets(part, mine, threads)
        blocks = exact_join.near_weighted_sets(
            weighted_sets, threshold=threshold, sides=sides, progress=resources.progress
        )
        return _join(
            blocks,
            lambda first, second, below: cosines_of_weighted_sets(
                weighted_sets, first, second, threshold=threshold, threads=threads, below=below
            ),
            len(rows),
        )


@dataclass(frozen=True)
class Fingerprints(Cosine):
    """The classic 64-bit fingerprints, searched for within a Hamming distance."""

    distance: int = 0
    masks: tuple[int, ...] = ()
    """The bits that each table looks at."""
    name = "simhash"
    always_stored = hamming.BITS // hyperplanes.WORD_BITS
    prefiltered = False
    estimates = True

    def banding(self, _layout: Layout) -> str:
        """Name the bits that the tables look at."""
        return f"{self.distance} bits by " + " ".join(f"{mask:016x}" for mask in self.masks)

    def words(self, _rows: int) -> int:
        """Tell in how many words a fingerprint stands."""
        return self.always_stored

    def stored(self, rows: int) -> int:
        """Store them whole."""
        return self.words(rows)

    def sketch(
        self, documents: Canonical, rows: Rows, _words: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Give the fingerprints in two words each, and which documents have no shingle."""
        if self.shingling is None:
            raise SettingsError("fingerprints are of text: vectors have none")
        sketches, counts = hyperplanes.fingerprints(
            documents, self.shingling, self.weighting, chosen=rows
        )
        return sketches.astype("<u8").view("<u4").reshape(-1, 2), counts == 0

    def keys(self, sketches: NDArray[np.uint32], _layout: Layout) -> NDArray[np.uint64]:
        """Give the bits that each table looks at."""
        masks = [np.uint64(mask) for mask in self.masks]
        return hamming.block_keys(_as_fingerprints(sketches), masks)

    def estimate(
        self,
        sketches: NDArray[np.uint32],
        _rows: int,
        first: Rows,
        second: Rows,
        threshold: float,
        _threads: int,
        below: Below | None = None,
    ) -> Scored:
        """Score by the distance, and keep those within the one that is asked for.

        With the lowest threshold all are kept.
        """
        apart = hamming.distances(_as_fingerprints(sketches), first, second)
        similarity = hyperplanes.cosine_at(apart, hamming.BITS)
        near = apart <= (self.distance if threshold > self.lowest else hamming.BITS)
        if below is not None:
            below.offer(first[~near], second[~near], similarity[~near])
        return known_scores(first[near], second[near], similarity[near], self.lowest)


def _plain_shingling(shingling: Shingling) -> dict[str, Any]:
    return {
        "shingle": str(shingling),
        "multiset": shingling.multiset,
        "ignored": shingling.ignored_digest,
    }


def _as_fingerprints(sketches: NDArray[np.uint32]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(sketches[:, :2], "<u4").view("<u8").reshape(-1)


def _join(blocks: Blocks, compare: Compare, documents: int) -> Join:
    """Make a join whose pairs are looked at one by one where all of them are."""

    def offer_all(below: Below) -> None:
        first, second = np.triu_indices(documents, 1)
        compare(first, second, below)

    return Join(blocks, compare, offer_all if documents <= WHOLE_DOCUMENTS else None)


def _refuse_if_large(needed: int, memory: int, what: str) -> None:
    if needed > memory:
        raise SettingsError(
            f"{setting('recall', 1)} holds {what} in memory, about {size(needed)} of the "
            f"{size(memory)} allowed: raise {setting('memory')}, or use {setting('recall', 0.999)}"
        )
