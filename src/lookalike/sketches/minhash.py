"""Shingles to signatures: K numbers that two documents share as often as they share shingles.

Row i of a signature is the minimum over the document of a random hash function, which stands in
for a random permutation: the least element of two documents together is one that both have with
the probability of their Jaccard similarity J. The share of rows in which two signatures are equal
estimates J without bias, with a variance of J(1-J)/K at the most.

The functions of 128 rows are made so that one of them decides for most elements: an element is
thrown to one row, where its value is small; in the other rows of the block it counts only where
nothing was thrown. Each row is a minimum over all elements as before, but a document's elements are
looked at once a block, not once a row, and a row rarely repeats what another said.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.errors import SettingsError
from lookalike.base.randomness import random_words
from lookalike.base.threads import in_order, pieces
from lookalike.kernels import sketch as kernels
from lookalike.sketches.prefilter import PREFILTER_BITS
from lookalike.text.shingles import PIECE_BYTES, element_sets

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from lookalike.text.normalise import Canonical
    from lookalike.text.shingles import Sets, Shingling

__all__ = [
    "BLOCK_ROWS",
    "checks",
    "functions_of",
    "hash_functions",
    "maybe_similar",
    "row_bytes",
    "sign_sets",
    "sign_texts",
    "similarity",
    "similarity_by_bytes",
    "two_bits",
]

BLOCK_ROWS = kernels.BLOCK_ROWS
"""Rows of a signature for which a document's elements are looked at once."""

_BYTE_FACTOR = 0x9E3779B1
"""What a row is multiplied by before its highest byte is taken, so that all its bits decide."""
_BYTE_CHANCE = 1 / 256
"""That two rows which differ have the same byte."""
_ROUNDING = 1e-6
_ROUND_STREAM = 0xE7037ED1A0B428DB
"""What is added to the seed for the stream that the functions of the rounds are made of."""


def hash_functions(rows: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Give the factors a_i (odd) and the terms b_i of the first rows' own hash functions."""
    if rows < 1:
        raise SettingsError(f"a signature of {rows} rows: use at least 1")
    values = random_words(seed, 0, 2 * rows)
    lower = (values & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return lower[0::2] | np.uint32(1), lower[1::2].copy()


def round_functions(blocks: int, seed: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Give the factors (odd) and the terms of the functions of rounds, three to a block of rows."""
    values = random_words((seed + _ROUND_STREAM) % 2**64, 0, 2 * kernels.ROUNDS * blocks)
    return values[0::2] | np.uint64(1), values[1::2].copy()


@lru_cache(maxsize=8)
def functions_of(rows: int, seed: int) -> tuple[NDArray[Any], ...]:
    """Give the functions of rounds and of rows, for whole blocks of rows."""
    blocks = -(-rows // kernels.BLOCK_ROWS)
    row_functions = hash_functions(rows if rows < 1 else blocks * kernels.BLOCK_ROWS, seed)
    return *round_functions(blocks, seed), *row_functions


def sign_texts(
    documents: Canonical,
    shingling: Shingling,
    *,
    rows: int,
    seed: int,
    chosen: NDArray[np.int64] | None = None,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Give the signatures of the chosen documents (by default, of all) and their shingle counts.

    `progress` is told how many are done.
    """
    if chosen is None:
        chosen = np.arange(len(documents), dtype=np.int64)
    functions = functions_of(rows, seed)
    lengths = documents.lengths(chosen)
    signatures = np.empty((len(chosen), rows), np.uint32)
    counts = np.empty(len(chosen), np.int64)
    arguments = shingling.arguments()

    def sign(piece: slice) -> int:
        longest = int(lengths[piece].max(initial=0)) + 1
        texts = documents.data, documents.offsets, chosen[piece]
        kernels.sign_texts(
            *(*texts, *arguments, *functions, longest), *(signatures[piece], counts[piece])
        )
        return int(piece.stop)

    def sign_elements(piece: slice) -> int:
        sets = element_sets(documents, shingling, rows=chosen[piece])
        signatures[piece], counts[piece] = sign_sets(sets, rows=rows, seed=seed), sets.sizes()
        return int(piece.stop)

    # Of a set the repeats change no minimum, so that its shingles need not be sorted.
    work = sign_elements if shingling.multiset else sign
    for done in in_order(work, pieces(lengths, PIECE_BYTES), threads):
        if progress:
            progress(done)
    return signatures, counts


def sign_sets(sets: Sets, *, rows: int, seed: int) -> NDArray[np.uint32]:
    """Give the signatures of sets of elements already made."""
    functions = functions_of(rows, seed)
    signatures = np.empty((len(sets), rows), np.uint32)
    longest = int(sets.sizes().max(initial=0))
    kernels.sign_elements(sets.elements, sets.offsets, *functions, longest, signatures)
    return signatures


def checks(signatures: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Give two bits, mixed, of each of the first 128 rows of each signature, in eight words."""
    words = np.empty((len(signatures), PREFILTER_BITS // 32), np.uint32)
    kernels.prefilter_bits(signatures, words)
    return words


def similarity(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Estimate similarities: the share of equal rows, along the last axis."""
    if first.shape[-1] != second.shape[-1]:
        raise SettingsError(
            f"signatures of {first.shape[-1]} and {second.shape[-1]} rows cannot be compared: "
            "make both with the same settings"
        )
    equal: NDArray[np.float64] = np.mean(first == second, axis=-1)
    return equal


def row_bytes(signatures: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Give a byte of each row of signatures, for estimates that take a quarter of the room."""
    found: NDArray[np.uint8] = ((signatures * np.uint32(_BYTE_FACTOR)) >> np.uint32(24)).astype(
        np.uint8
    )
    return found


def similarity_by_bytes(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Estimate similarities by the bytes of rows: their equal share, less what chance gives."""
    equal = np.mean(first == second, axis=-1)
    found: NDArray[np.float64] = np.maximum((equal - _BYTE_CHANCE) / (1 - _BYTE_CHANCE), 0.0)
    return found


def two_bits(row_bytes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give the highest two bits of each row's byte: a quarter of the room, in whole words."""
    rows = row_bytes.shape[1]
    padded = np.zeros((len(row_bytes), -(-rows // 16) * 16), np.uint8)
    padded[:, :rows] = row_bytes >> np.uint8(6)
    shifted = padded.reshape(len(row_bytes), -1, 4) << np.array([0, 2, 4, 6], np.uint8)
    found: NDArray[np.uint8] = np.bitwise_or.reduce(shifted, axis=2)
    return found


def maybe_similar(
    asked: NDArray[np.uint32], stored: NDArray[np.uint32], rows: int, similarity: float
) -> NDArray[np.int64]:
    """Tell which of many are not ruled out to be so similar to one, by two bits of each row.

    Rows that have the same byte have the same two bits, so that none is ruled out whose estimate by
    the bytes is as high.
    """
    equal = rows * (similarity * (1 - _BYTE_CHANCE) + _BYTE_CHANCE)
    # What rounding may have added to an estimate must not rule it out.
    most = rows - math.ceil(equal - _ROUNDING)
    differing = np.empty(len(stored), np.int64)
    kernels.differing_rows(asked[0], stored, differing)
    return np.flatnonzero(differing <= most)
