"""Shingles to signatures: K numbers that two documents share as often as they share shingles.

Row i of a signature is the minimum over the document of the random hash function
`h_i(x) = a_i * x + b_i mod 2^32`, which stands in for a random permutation. The share of rows in
which two signatures are equal estimates the Jaccard similarity J without bias, with a variance of
J(1-J)/K.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.errors import SettingsError
from lookalike.kernels import sketch as kernels
from lookalike.randomness import random_words
from lookalike.shingle import PIECE
from lookalike.threads import in_order, pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lookalike.normalise import Canonical
    from lookalike.shingle import Sets, Shingling

__all__ = ["hash_functions", "sign_sets", "sign_texts", "similarity"]

_VECTOR = 32
"""Rows that the compiled loop takes at a time, on the widest machines."""


def hash_functions(rows: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Give the factors a_i (odd) and the terms b_i of the first rows' hash functions."""
    if rows < 1:
        raise SettingsError(f"a signature of {rows} rows: use at least 1")
    values = random_words(seed, 0, 2 * rows)
    lower = (values & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return lower[0::2] | np.uint32(1), lower[1::2].copy()


def _in_vectors(rows: int, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    return hash_functions(-(-rows // _VECTOR) * _VECTOR, seed)


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
    a, b = _in_vectors(rows, seed)
    lengths = documents.lengths(chosen)
    signatures = np.empty((len(chosen), rows), np.uint32)
    counts = np.empty(len(chosen), np.int64)
    arguments = shingling.arguments()

    def sign(piece: slice) -> int:
        room = int(lengths[piece].max(initial=0)) + 1
        texts = documents.data, documents.offsets, chosen[piece]
        kernels.sign_texts(
            *texts, *arguments, shingling.multiset, a, b, room, signatures[piece], counts[piece]
        )
        return int(piece.stop)

    for done in in_order(sign, pieces(lengths, PIECE), threads):
        if progress:
            progress(done)
    return signatures, counts


def sign_sets(sets: Sets, *, rows: int, seed: int) -> NDArray[np.uint32]:
    """Give the signatures of sets of elements already made."""
    a, b = _in_vectors(rows, seed)
    signatures = np.empty((len(sets), rows), np.uint32)
    kernels.sign_elements(sets.elements, sets.offsets, a, b, signatures)
    return signatures


def similarity(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Estimate similarities: the share of equal rows, along the last axis."""
    if first.shape[-1] != second.shape[-1]:
        raise SettingsError(
            f"signatures of {first.shape[-1]} and {second.shape[-1]} rows cannot be compared: "
            "make both with the same settings"
        )
    equal: NDArray[np.float64] = np.mean(first == second, axis=-1)
    return equal
