"""Pairs to clusters: connected components, and stars around the documents that are kept.

In a component each document is similar to some other, but the two ends of a chain need not be
alike. In a star each member was compared with the one that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.threads import pieces
from lookalike.candidates.identical import pairs_within
from lookalike.kernels import components as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from lookalike.score.jaccard import Scored

__all__ = ["Stars", "grouped_stars", "smallest_similarities", "stars"]

COMPARED_MEMBERS = 200
"""Members up to which every pair of a cluster is compared for its smallest similarity."""
PIECE_PAIRS = 1 << 15


def smallest_similarities(
    labels: NDArray[np.int64],
    links: Iterable[Scored],
    prints: NDArray[np.uint64],
    compare: Callable[[NDArray[np.int64], NDArray[np.int64]], Scored],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.float64]:
    """Give the smallest similarity between any two members of each cluster, 1 for one member.

    It shows a chain for what it is: its ends may be far below the threshold. A cluster in which
    every two are linked needs no more comparing. Of another with more than 200 members it is the
    smallest among 200 of them, those with the smallest `prints`. `compare` scores any two.
    """
    clusters = int(labels.max(initial=-1)) + 1
    smallest = np.ones(clusters)
    linked = np.zeros(clusters, np.int64)
    for block in links:
        of_link = labels[block.first]
        np.minimum.at(smallest, of_link, block.similarity)
        linked += np.bincount(of_link, minlength=clusters)
    sizes = np.bincount(labels, minlength=clusters)
    loose = np.flatnonzero(linked < sizes * (sizes - 1) // 2)
    members, starts = _members(labels, loose, prints)
    compared = np.minimum(np.diff(starts), COMPARED_MEMBERS)
    for piece in pieces(compared * (compared - 1) // 2, PIECE_PAIRS):
        which, first, second = pairs_within(compared[piece])
        begins = starts[:-1][piece][which]
        first, second = members[begins + first], members[begins + second]
        scored = compare(first, second)
        np.minimum.at(smallest, labels[scored.first], scored.similarity)
        if progress is not None:
            progress(piece.stop, len(compared))
    return smallest


def _members(
    labels: NDArray[np.int64],
    chosen: NDArray[np.int64],
    prints: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the members of some clusters one after the other, by fingerprint, and where each begins.

    The order of fingerprints is the same whatever the order of input.
    """
    is_chosen = np.zeros(int(labels.max(initial=-1)) + 1, np.bool_)
    is_chosen[chosen] = True
    members = np.flatnonzero(is_chosen[labels]) if len(labels) else np.empty(0, np.int64)
    members = members[np.lexsort((prints[members], labels[members]))]
    sizes = np.bincount(labels[members], minlength=len(is_chosen))[chosen]
    return members, np.append(0, np.cumsum(sizes))


@dataclass(frozen=True)
class Stars:
    """Which documents are kept, and for each other the nearest of the kept ones before it."""

    kept: NDArray[np.bool_]
    nearest: NDArray[np.int64]
    similarity: NDArray[np.float64]


def stars(
    order: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    similarity: NDArray[np.float64],
) -> Stars:
    """Keep documents, best first by `order`, so that each other one is similar to a kept one.

    No two kept documents are a pair, and every document that is not kept is one with a kept one
    that stands before it; the most similar of those is named.
    """
    documents = len(order)
    starts, neighbours, scores = _neighbours(documents, first, second, similarity)
    places = np.empty(documents, np.int64)
    places[order] = np.arange(documents)
    kept = np.zeros(documents, np.bool_)
    kernels.keep_stars(order, starts, neighbours, kept)
    nearest = np.arange(documents, dtype=np.int64)
    nearest_similarity = np.ones(documents)
    kernels.nearest_kept(places, starts, neighbours, scores, kept, nearest, nearest_similarity)
    return Stars(kept, nearest, nearest_similarity)


def grouped_stars(
    order: NDArray[np.int64],
    fixed: int,
    texts: NDArray[np.int64],
    labels: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    similarity: NDArray[np.float64],
    *,
    directed: bool = False,
) -> Stars:
    """Keep cells as `stars` keeps documents, where two of one label are no pair.

    A cell is of a text; the pairs are of texts, and the cells of one text are wholly similar. Of
    directed pairs only the second speaks for the first. The first `fixed` in the order are kept.
    """
    count = int(texts.max(initial=-1)) + 1
    linked = _neighbours(count, first, second, similarity, directed=directed)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    kept = np.zeros(len(order), np.bool_)
    speaking = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    kernels.keep_cells(order, fixed, texts, labels, *linked[:2], kept, *speaking)
    nearest = np.arange(len(order), dtype=np.int64)
    nearest_similarity = np.ones(len(order))
    kernels.nearest_kept_cells(
        places, texts, labels, *linked, kept, *speaking, nearest, nearest_similarity
    )
    return Stars(kept, nearest, nearest_similarity)


def _neighbours(
    count: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    similarity: NDArray[np.float64],
    *,
    directed: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Give where the neighbours of each begin, and all neighbours and their similarities.

    Of a directed pair the second is a neighbour of the first, and not the other way round.
    """
    ends, others, scores = first, second, similarity
    if not directed:
        ends, others = np.concatenate([first, second]), np.concatenate([second, first])
        scores = np.concatenate([similarity, similarity])
    by_end = np.argsort(ends, kind="stable")
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=count), out=starts[1:])
    return starts, others[by_end], scores[by_end]
