"""The exact cosine of candidates: of weighted shingles, or of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.threads import in_order, pieces
from lookalike.kernels import hyperplanes, weighted_shingles
from lookalike.score.jaccard import PIECE_PAIRS, Scored, in_pieces, known_scores
from lookalike.text.vectors import matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lookalike.score.nearest import Below
    from lookalike.text.documents import Texts
    from lookalike.text.normalise import Canonical
    from lookalike.text.weighted_shingles import WeightedSets

    Vectors = tuple[NDArray[np.float32], NDArray[np.int64]]

ROUNDING = 1e-12
"""How far below a threshold, in parts of it, a score may be whose sums were rounded down."""

__all__ = [
    "compare_vectors",
    "compare_weighted_sets",
    "cosines_of_vectors",
    "cosines_of_weighted_sets",
]


def cosines_of_weighted_sets(
    weighted_sets: WeightedSets,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    threshold: float,
    threads: int = 1,
    below: Below | None = None,
) -> Scored:
    """Compare each pair of weighted sets exactly, and keep those at or above the threshold."""

    def multiply(piece: slice, out: NDArray[np.float64]) -> None:
        sets = weighted_sets.features, weighted_sets.weights, weighted_sets.offsets
        weighted_shingles.dots(*sets, first[piece], second[piece], out)

    products = _products(len(first), multiply, threads)
    return _scored(first, second, products, weighted_sets.squares(), threshold, below)


def cosines_of_vectors(
    vectors: NDArray[np.float32],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    threshold: float,
    places: NDArray[np.int64] | None = None,
    threads: int = 1,
    below: Below | None = None,
) -> Scored:
    """Compare each pair of vectors exactly, and keep those at or above the threshold.

    `places` are the rows of the vectors, by default each one's own.
    """
    places = np.arange(len(vectors)) if places is None else places
    left, right = places[first], places[second]

    def multiply(piece: slice, out: NDArray[np.float64]) -> None:
        hyperplanes.dots(vectors, left[piece], right[piece], out)

    products = _products(len(first), multiply, threads)
    squares = np.empty(len(places), np.float64)
    hyperplanes.dots(vectors, places, places, squares)
    return _scored(first, second, products, squares, threshold, below)


def compare_weighted_sets(
    documents: Canonical | Texts,
    build: Callable[[Canonical, NDArray[np.int64], int], WeightedSets],
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    threshold: float,
    threads: int = 1,
    below: Below | None = None,
) -> Scored:
    """Compare pairs of documents, by their places in `rows`, as the weighted sets they are."""

    def score(
        weighted_sets: WeightedSets,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        threads: int,
        below: Below | None,
    ) -> Scored:
        return cosines_of_weighted_sets(
            weighted_sets, left, right, threshold=threshold, threads=threads, below=below
        )

    return in_pieces(documents, rows, first, second, build, score, threads=threads, below=below)


def compare_vectors(
    documents: Canonical | Texts,
    dimension: int,
    rows: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    threshold: float,
    threads: int = 1,
    below: Below | None = None,
) -> Scored:
    """Compare pairs of documents that are vectors, by their places in `rows`."""

    def build(part: Canonical, mine: NDArray[np.int64], _threads: int) -> Vectors:
        return matrix(part, dimension), part.offsets[mine] // (4 * dimension)

    def score(
        vectors: Vectors,
        left: NDArray[np.int64],
        right: NDArray[np.int64],
        threads: int,
        below: Below | None,
    ) -> Scored:
        every, places = vectors
        return cosines_of_vectors(
            every, left, right, places=places, threshold=threshold, threads=threads, below=below
        )

    return in_pieces(documents, rows, first, second, build, score, threads=threads, below=below)


def _products(
    count: int, multiply: Callable[[slice, NDArray[np.float64]], None], threads: int
) -> NDArray[np.float64]:
    products = np.empty(count, np.float64)
    cut = pieces(np.ones(count, np.int64), PIECE_PAIRS)
    for _ in in_order(lambda piece: multiply(piece, products[piece]), cut, threads):
        pass
    return products


def _scored(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    products: NDArray[np.float64],
    squares: NDArray[np.float64],
    threshold: float,
    below: Below | None,
) -> Scored:
    # One root of one product: of whole numbers, 4 of 5 is the 0.8 that a user writes.
    lengths = np.sqrt(squares[first] * squares[second])
    similarity = np.clip(products / np.where(lengths > 0, lengths, 1), -1, 1)
    return known_scores(first, second, similarity, threshold - ROUNDING * abs(threshold), below)
