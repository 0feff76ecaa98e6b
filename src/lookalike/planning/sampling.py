"""How alike random documents of a corpus are, and the shingle that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.wording import setting
from lookalike.kernels import near_bands
from lookalike.sketches import hyperplanes, minhash
from lookalike.sketches.prefilter import PREFILTER_BITS, PREFILTER_ROWS
from lookalike.text.shared_counts import shared_counts
from lookalike.text.shingles import (
    ALPHABETIC,
    Shingling,
    element_sets,
    shingle_hashes,
    usual_size,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lookalike.text.documents import Texts
    from lookalike.text.normalise import Canonical
    from lookalike.text.weighted_shingles import WeightedSets

__all__ = [
    "TYPICAL",
    "Background",
    "choose_shingle",
    "close_pairs",
    "close_sample",
    "measure",
    "measure_vectors",
    "measure_weighted_sets",
    "sample",
    "shingle_warnings",
    "smallest_fingerprints",
    "with_close_pairs",
]

SAMPLE_DOCUMENTS = 200
SAMPLE_BYTES = 4 << 20

MIN_UNRELATED_PAIRS = 10
"""Pairs of random documents by which a shingle is chosen, at the least: one may be of kin."""
CLOSE_DOCUMENTS, MAX_CLOSE_DOCUMENTS = 4096, 16384
CLOSE_BYTES = 32 << 20
"""The sample that tells how many pairs are far from random."""
CLOSE_SIMILARITY = 0.4
"""Similarity that signatures of 128 rows do not show by chance."""
UNLIKE_SIMILARITY = 0.05
"""Mean similarity under which random documents count as unlike."""
RELATED_SIMILARITY = 0.2
"""Similarity of long shingles above which two documents are not random to each other."""
DOUBTFUL_SIMILARITY = 0.2
"""Mean similarity of random documents above which a shingle is doubtful."""
LONG_WORD_CHARACTERS = 20
"""Characters a word, on average, above which words are doubtful."""
MAX_SHINGLE_CHARACTERS = 12
"""Characters of a shingle at the most."""


@dataclass(frozen=True)
class Background:
    """How alike random documents of a corpus are, and how long."""

    similarities: NDArray[np.float64]
    """Of the pairs in the sample."""
    shingles: float
    """Distinct shingles of a document, on average; of a vector, its numbers."""
    dense: bool = False
    """The documents are vectors."""
    close: NDArray[np.float64] | None = None
    """Of a larger sample, the similarities of the pairs that are far from random, estimated."""
    close_pairs: int = 0
    """All pairs of that sample."""
    crowded: tuple[float, ...] = ()
    """The share of meetings in buckets that takes place in crowds, for bands of 1, 2, … rows; none
    where it was not measured."""

    @property
    def mean(self) -> float:
        """The mean similarity of two random documents."""
        return float(self.similarities.mean()) if len(self.similarities) else 0.0

    def of_more(self, times: float) -> Background:
        """Give the background of a corpus that is so many times as large as this one.

        Chance makes as large a share of its pairs similar; of copies a document has as many as
        before, so that their share is as many times smaller.
        """
        chance = self.similarities[self.similarities < CLOSE_SIMILARITY]
        if len(chance) < MIN_UNRELATED_PAIRS:
            return self
        return replace(self, similarities=chance, close_pairs=int(self.close_pairs * times))

    def as_dict(self) -> dict[str, Any]:
        """Give plain values: how many pairs of the sample are how alike, to three digits."""
        alike, pairs = np.unique(np.round(self.similarities, 3), return_counts=True)
        plain: dict[str, Any] = {
            "shingles": self.shingles,
            "dense": self.dense,
            "similarities": {f"{s:g}": int(n) for s, n in zip(alike, pairs, strict=True)},
        }
        if self.close is not None:
            near, counts = np.unique(np.round(self.close, 3), return_counts=True)
            plain["close_pairs"] = self.close_pairs
            plain["close"] = {f"{s:g}": int(n) for s, n in zip(near, counts, strict=True)}
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Background:
        """Make the background that `as_dict` gave, to three digits."""
        close = plain.get("close")
        return cls(
            _expanded(plain["similarities"]),
            plain["shingles"],
            plain["dense"],
            None if close is None else _expanded(close),
            plain.get("close_pairs", 0),
        )

    def weighed(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give similarities of pairs, and the share of all pairs that each stands for.

        In a small sample one pair that is not random stands for millions, and is there or not by
        chance: of those the larger sample tells.
        """
        near, close = self.similarities, np.empty(0)
        if self.close is not None:
            near, close = near[near < CLOSE_SIMILARITY], self.close
        shares = [
            np.full(len(near), 1 / max(len(near), 1)),
            np.full(len(close), 1 / max(self.close_pairs, 1)),
        ]
        # Most are the same few: nothing, and shares of round numbers of shingles.
        points, where = np.unique(np.concatenate([near, close]), return_inverse=True)
        weights: NDArray[np.float64] = np.zeros(len(points))
        np.add.at(weights, where, np.concatenate(shares))
        return points, weights


def _expanded(counts: Mapping[str, int]) -> NDArray[np.float64]:
    """Give each similarity as often as it was counted."""
    alike = np.array([float(s) for s in counts], np.float64)
    return np.repeat(alike, np.array(list(counts.values()), np.int64))


TYPICAL = Background(np.array([UNLIKE_SIMILARITY]), 1000.0)
"""What is assumed where no corpus was measured."""


def sample(
    documents: Canonical | Texts,
    distinct: NDArray[np.int64],
    *,
    max_documents: int = SAMPLE_DOCUMENTS,
    max_bytes: int = SAMPLE_BYTES,
) -> NDArray[np.int64]:
    """Choose documents by what they say: those with the smallest content fingerprints.

    The choice is the same whatever the order of input. Of a few megabytes at the most: where the
    documents are long, the longest of the choice are left out, and it may be none.
    """
    chosen = smallest_fingerprints(documents.fingerprints, distinct, max_documents)
    lengths = documents.lengths(chosen)
    by_length = np.argsort(lengths, kind="stable")
    fitting = np.cumsum(lengths[by_length]) <= max_bytes
    return chosen[np.sort(by_length[fitting])]


def smallest_fingerprints(
    fingerprints: NDArray[np.uint64], rows: NDArray[np.int64], max_documents: int
) -> NDArray[np.int64]:
    """Give the rows with the smallest fingerprints, in their order."""
    if len(rows) > max_documents:
        first = fingerprints[rows, 0]
        rows = rows[first <= np.partition(first, max_documents - 1)[max_documents - 1]]
    prints = fingerprints[rows]
    return rows[np.lexsort((prints[:, 1], prints[:, 0]))[:max_documents]]


def measure(documents: Canonical, chosen: NDArray[np.int64], shingling: Shingling) -> Background:
    """Compare every two documents of a sample."""
    sets = element_sets(documents, shingling, rows=chosen)
    if not len(sets):
        return Background(np.empty(0), TYPICAL.shingles)
    sizes = sets.sizes()
    first, second = np.triu_indices(len(sets), 1)
    shared = shared_counts(sets)[first, second]
    # Two documents of nothing but what is ignored share nothing, and have nothing.
    similarities = shared / np.maximum(sizes[first] + sizes[second] - shared, 1)
    return Background(similarities, float(sizes.mean()))


def close_sample(
    documents: Canonical | Texts, distinct: NDArray[np.int64], total: int
) -> NDArray[np.int64]:
    """Choose the larger sample: one in 250 of more than a million documents, up to a bound.

    `total` is how many distinct documents the corpus has, of which these may be a part.
    """
    max_documents = min(max(total // 250, CLOSE_DOCUMENTS), MAX_CLOSE_DOCUMENTS)
    return sample(documents, distinct, max_documents=max_documents, max_bytes=CLOSE_BYTES)


def with_close_pairs(
    background: Background, documents: Canonical, shingling: Shingling
) -> Background:
    """Add how many pairs are far from random, estimated by the signatures of a larger sample.

    Every two are compared, by 256 bits: that many documents make millions of pairs.
    """
    signatures, counts = minhash.sign_texts(documents, shingling, rows=PREFILTER_ROWS, seed=0)
    _, _, close = close_pairs(signatures, counts == 0)
    filled = int(np.count_nonzero(counts))
    return replace(background, close=close, close_pairs=filled * (filled - 1) // 2)


def close_pairs(
    signatures: NDArray[np.uint32], empty: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Give the pairs that are far from random, the first of each before the second, and how alike
    they are, estimated by 256 bits of each signature."""
    checks = minhash.checks(signatures)
    order = np.arange(len(signatures), dtype=np.uint32)
    one_bucket = np.zeros(len(signatures), np.uint64)
    max_differing = round((1 - CLOSE_SIMILARITY) * PREFILTER_BITS / 2)
    found = [np.empty(0, np.uint64)]
    state = np.array([0, 1, 0])
    while state[0] < len(signatures):
        buffer = np.empty(1 << 16, np.uint64)
        written = near_bands.near_in_buckets(
            one_bucket, order, empty, checks.view(np.uint64), max_differing, state, buffer
        )
        found.append(buffer[:written])
    pairs = np.concatenate(found)
    first = (pairs >> np.uint64(32)).astype(np.int64)
    second = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    # Of rows that differ, half of the two bits do: so many rows differ as bits do.
    return first, second, 1 - hyperplanes.differing(checks, first, second) / PREFILTER_ROWS


def measure_weighted_sets(weighted_sets: WeightedSets) -> Background:
    """Compare every two weighted sets of a sample by their cosine."""
    from scipy.sparse import csr_array

    if not len(weighted_sets):
        return Background(np.empty(0), TYPICAL.shingles)
    distinct, columns = np.unique(weighted_sets.features, return_inverse=True)
    table = csr_array(
        (weighted_sets.weights, columns, weighted_sets.offsets),
        shape=(len(weighted_sets), len(distinct)),
    )
    lengths = np.sqrt(np.maximum(weighted_sets.squares(), np.finfo(np.float64).tiny))
    products = (table @ table.T).toarray() / lengths[:, None] / lengths
    return Background(_upper(products), float(weighted_sets.sizes().mean()))


def measure_vectors(vectors: NDArray[np.float32]) -> Background:
    """Compare every two vectors of a sample by their cosine."""
    wide = vectors.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return Background(_upper(wide @ wide.T), float(vectors.shape[1]), dense=True)


def _upper(products: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.clip(products[np.triu_indices(len(products), 1)], -1, 1)
    return found


def choose_shingle(
    documents: Canonical, chosen: NDArray[np.int64], *, multiset: bool, smallest: int
) -> tuple[Shingling, Background, str]:
    """Choose the shortest shingle that random documents rarely share, and say why.

    Characters, from the smallest size (see `usual_size`) to 12. Pairs of the sample that are
    related do not count: they are what is looked for, and in a small pile they would pass for the
    background.
    """
    unrelated = _unrelated(documents, chosen, smallest)
    for size in range(smallest, MAX_SHINGLE_CHARACTERS + 1):
        shingling = Shingling("chars", size, multiset)
        background = measure(documents, chosen, shingling)
        if np.count_nonzero(unrelated) < MIN_UNRELATED_PAIRS:
            return (
                shingling,
                background,
                "the usual size; too few unrelated documents to measure by",
            )
        mean = float(background.similarities[unrelated].mean())
        if mean < UNLIKE_SIMILARITY:
            break
    alike = f"random documents are {mean:.3f} similar"
    if size == smallest:
        script = "alphabetic" if smallest == ALPHABETIC else "ideographic or syllabic"
        reason = f"the usual size for {script} text; {alike}"
    elif mean < UNLIKE_SIMILARITY:
        reason = f"the smallest size at which {alike}, under {UNLIKE_SIMILARITY:g}"
    else:
        reason = f"the largest tried; {alike} even so (boilerplate may show why)"
    return shingling, background, reason


def _unrelated(documents: Canonical, chosen: NDArray[np.int64], smallest: int) -> NDArray[np.bool_]:
    """Tell which pairs of a sample are no copies of each other.

    Chance makes no two texts share a fifth of their runs of 9 letters, or of 3 ideographs.
    """
    long = Shingling("chars", smallest * 9 // ALPHABETIC)
    return measure(documents, chosen, long).similarities <= RELATED_SIMILARITY


def shingle_warnings(
    documents: Canonical, chosen: NDArray[np.int64], shingling: Shingling, background: Background
) -> list[str]:
    """Say what speaks against a shingle for this corpus, measured on a sample."""
    found = []
    # Without related pairs the mean is no larger, so that most corpora are spared the question.
    if background.mean > DOUBTFUL_SIMILARITY:
        smallest = usual_size(documents, chosen)
        unrelated = background.similarities[_unrelated(documents, chosen, smallest)]
        if len(unrelated) >= MIN_UNRELATED_PAIRS and unrelated.mean() > DOUBTFUL_SIMILARITY:
            remedy = f"use a longer {setting('shingle')}"
            if shingling.unit == "tokens":
                remedy = f"leave out common ones with {setting('max_df')}"
            found.append(
                f"random documents are {unrelated.mean():.2f} similar with {shingling}: similarity "
                f"says little and candidates are many; {remedy}"
            )
    if shingling.unit == "words" and len(chosen):
        words = len(shingle_hashes(documents.chosen(chosen), Shingling("words", 1)).elements)
        length = sum(len(documents.text(int(row))) for row in chosen) / words
        if length > LONG_WORD_CHARACTERS:
            found.append(
                f"words are {length:.0f} characters long on average, as in a script written "
                f"without spaces; use characters, as {setting('shingle', 'chars:5')}"
            )
    return found
