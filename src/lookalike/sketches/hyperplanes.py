"""Weighted shingles or vectors to bits: on which side of random hyperplanes a document lies.

Two vectors at an angle of a lie on the same side of a random hyperplane with probability
1 - a/pi, so that the share of differing bits, times pi, estimates the angle without bias, and its
cosine the similarity. The classic 64-bit fingerprint takes the bits of the shingles' own hashes
for the signs of 64 hyperplanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.randomness import check_seed, mixed, random_words
from lookalike.kernels import hyperplanes as kernels
from lookalike.kernels import sketch, weighted_shingles
from lookalike.text.weighted_shingles import weighted_sets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.text.normalise import Canonical
    from lookalike.text.shingles import Shingling
    from lookalike.text.weighted_shingles import WeightedSets, Weighting

__all__ = [
    "FINGERPRINT_BITS",
    "FOLDED_SIZE",
    "ROUNDS",
    "WORD_BITS",
    "bit_keys",
    "cosine_at",
    "differing",
    "fingerprints",
    "sketch_texts",
    "sketch_vectors",
    "sketch_weighted_sets",
    "transform_size",
]

FINGERPRINT_BITS = 64
WORD_BITS = 32
"""Bits of a sketch that stand in one word."""
FOLDED_SIZE = 1 << 12
"""Numbers of the vector into which weighted shingles are folded."""
MIN_TRANSFORM_SIZE = 1 << 11
"""Hyperplanes that are made at a time, at the least."""
ROUNDS = 3
_PLANE_STREAM = 0xA0761D6478BD642F
"""Sets the stream of the hyperplanes apart from that of the minhash rows."""
BATCH_DOCUMENTS = 64
"""Documents that are folded before their bits are made, while they are still in the cache."""


def transform_size(dimension: int) -> int:
    """Give the size of the transform for vectors of so many numbers: a power of two."""
    return max(MIN_TRANSFORM_SIZE, 1 << (dimension - 1).bit_length())


def _stream(seed: int) -> int:
    check_seed(seed)
    return (seed + _PLANE_STREAM) % (1 << 64)


def _flips(words: int, size: int, seed: int) -> NDArray[np.float32]:
    """Give the random signs behind so many words of bits: by block, round and place."""
    blocks = -(-words * WORD_BITS // size)
    stream = random_words(_stream(seed), 0, blocks * ROUNDS * size)
    upper = (stream >> np.uint64(63)).astype(np.float32)
    return (1 - 2 * upper).reshape(blocks, ROUNDS, size)


def _fold_word(seed: int) -> np.uint64:
    word: np.uint64 = mixed(np.array([_stream(seed)], np.uint64))[0]
    return word


def sketch_vectors(vectors: NDArray[np.float32], *, words: int, seed: int) -> NDArray[np.uint32]:
    """Give the bits of vectors, 32 to a word."""
    out = np.empty((len(vectors), words), np.uint32)
    kernels.signs(vectors, _flips(words, transform_size(vectors.shape[1]), seed), out)
    return out


def sketch_weighted_sets(
    weighted_sets: WeightedSets, *, words: int, seed: int
) -> NDArray[np.uint32]:
    """Give the bits of weighted sets, 32 to a word."""
    out = np.empty((len(weighted_sets), words), np.uint32)
    flips, word = _flips(words, FOLDED_SIZE, seed), _fold_word(seed)
    for start in range(0, len(weighted_sets), BATCH_DOCUMENTS):
        stop = min(start + BATCH_DOCUMENTS, len(weighted_sets))
        folded = np.zeros((stop - start, FOLDED_SIZE), np.float32)
        weighted_shingles.fold(
            weighted_sets.features,
            weighted_sets.weights,
            weighted_sets.offsets[start : stop + 1],
            word,
            folded,
        )
        kernels.signs(folded, flips, out[start:stop])
    return out


def sketch_texts(
    documents: Canonical,
    shingling: Shingling,
    weighting: Weighting,
    *,
    words: int,
    seed: int,
    chosen: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Give the bits of the chosen documents (by default, of all) and their shingle counts."""
    if chosen is None:
        chosen = np.arange(len(documents), dtype=np.int64)
    if weighting.name != "counts":
        weighted_sets = weighted_sets_of(documents, shingling, weighting, rows=chosen)
        return sketch_weighted_sets(weighted_sets, words=words, seed=seed), weighted_sets.sizes()
    # Counts add up as the shingles come, so that nothing need be sorted.
    out = np.empty((len(chosen), words), np.uint32)
    counts = np.empty(len(chosen), np.int64)
    flips, word = _flips(words, FOLDED_SIZE, seed), _fold_word(seed)
    lengths = documents.lengths(chosen)
    for start in range(0, len(chosen), BATCH_DOCUMENTS):
        piece = slice(start, min(start + BATCH_DOCUMENTS, len(chosen)))
        folded = np.zeros((piece.stop - start, FOLDED_SIZE), np.float32)
        sketch.fold_texts(
            *(documents.data, documents.offsets, chosen[piece], *shingling.arguments()),
            *(word, int(lengths[piece].max(initial=0)) + 1, folded, counts[piece]),
        )
        kernels.signs(folded, flips, out[piece])
    return out, counts


def fingerprints(
    documents: Canonical,
    shingling: Shingling,
    weighting: Weighting,
    *,
    chosen: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Give the 64-bit fingerprints of the chosen documents and their shingle counts.

    Bit i is 1 where shingles of more than half of the weight have a hash with bit i.
    """
    if chosen is None:
        chosen = np.arange(len(documents), dtype=np.int64)
    out = np.empty(len(chosen), np.uint64)
    if weighting.name != "counts":
        weighted_sets = weighted_sets_of(documents, shingling, weighting, rows=chosen)
        weighted_shingles.fingerprints(
            weighted_sets.features, weighted_sets.weights, weighted_sets.offsets, out
        )
        return out, weighted_sets.sizes()
    counts = np.empty(len(chosen), np.int64)
    longest = int(documents.lengths(chosen).max(initial=0)) + 1
    texts = documents.data, documents.offsets, chosen
    sketch.print_texts(*texts, *shingling.arguments(), longest, out, counts)
    return out, counts


def bit_keys(sketches: NDArray[np.uint32], *, bands: int, rows: int) -> NDArray[np.uint64]:
    """Give the keys of all documents, a row a band of so many bits."""
    if bands * rows > sketches.shape[1] * WORD_BITS:
        raise SettingsError(
            f"{bands} bands of {rows} bits need sketches of {bands * rows} bits; "
            f"these have {sketches.shape[1] * WORD_BITS}"
        )
    keys = np.empty((bands, len(sketches)), np.uint64)
    kernels.bit_keys(sketches, rows, keys)
    return keys


def differing(
    sketches: NDArray[np.uint32],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    words: int | None = None,
) -> NDArray[np.int64]:
    """Count the bits in which the sketches of each pair differ, in the first so many words."""
    counts = np.empty(len(first), np.int64)
    kernels.differing(sketches, words or sketches.shape[1], first, second, counts)
    return counts


def cosine_at(differing: NDArray[np.int64], bits: int) -> NDArray[np.float64]:
    """Estimate the cosine from the number of bits that differ: cos(pi * share)."""
    found: NDArray[np.float64] = np.cos(np.pi * (differing / bits))
    return found
