"""Pairs to clusters: connected components, and stars around the documents that are kept.

In a component each document is similar to some other, but the two ends of a chain need not be
alike. In a star each member was compared with the one that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.groups import pairs_within
from lookalike.kernels import cluster as kernels
from lookalike.threads import pieces
from lookalike.verify import estimate, verify_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.normalise import Canonical
    from lookalike.shingle import Shingling
    from lookalike.verify import Scored

__all__ = ["Stars", "components", "smallest_similarities", "stars"]

COMPARED_WHOLE = 200
"""Members up to which every pair of a cluster is compared for its smallest similarity."""
PAIRS_AT_A_TIME = 1 << 15


def components(
    documents: int, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give each document the number of its connected component; one by itself has one too."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = np.ones(len(first), np.int8)
    graph = coo_array((links, (first, second)), shape=(documents, documents))
    labels: NDArray[np.int64] = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def smallest_similarities(
    labels: NDArray[np.int64],
    links: Scored,
    documents: Canonical,
    rows: NDArray[np.int64],
    shingling: Shingling,
    signatures: NDArray[np.uint32] | None,
) -> NDArray[np.float64]:
    """Give the smallest similarity between any two members of each cluster, 1 for one member.

    It shows a chain for what it is: its ends may be far below the threshold. A cluster in which
    every two are linked needs no more comparing. Of another with more than 200 members it is the
    smallest among 200 of them, the first in `rows`. With signatures, it is estimated from them.
    """
    smallest = np.ones(labels.max(initial=-1) + 1)
    of_link = labels[links.first]
    np.minimum.at(smallest, of_link, links.similarity)
    members = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=len(smallest))
    starts = np.cumsum(sizes) - sizes
    linked = np.bincount(of_link, minlength=len(smallest))
    loose = np.flatnonzero(linked < sizes * (sizes - 1) // 2)
    compared = np.minimum(sizes[loose], COMPARED_WHOLE)
    for piece in pieces(compared * (compared - 1) // 2, PAIRS_AT_A_TIME):
        which, first, second = pairs_within(compared[piece])
        of_pair = loose[piece][which]
        first, second = members[starts[of_pair] + first], members[starts[of_pair] + second]
        if signatures is not None:
            scored = estimate(signatures, first, second, threshold=0.0)
        else:
            scored = verify_texts(documents, shingling, rows, first, second, threshold=0.0)
        np.minimum.at(smallest, labels[scored.first], scored.similarity)
    return smallest


@dataclass(frozen=True)
class Stars:
    """Which documents are kept, and for each other the kept one it is nearest to."""

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

    No two kept documents are a pair, and every document that is not kept is one with a kept one.
    """
    documents = len(order)
    ends = np.concatenate([first, second])
    others = np.concatenate([second, first])
    by_end = np.argsort(ends, kind="stable")
    starts = np.zeros(documents + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=documents), out=starts[1:])
    neighbours = others[by_end]
    scores = np.concatenate([similarity, similarity])[by_end]
    places = np.empty(documents, np.int64)
    places[order] = np.arange(documents)
    kept = np.zeros(documents, np.bool_)
    kernels.keep_stars(order, starts, neighbours, kept)
    nearest = np.arange(documents, dtype=np.int64)
    nearest_similarity = np.ones(documents)
    kernels.nearest_kept(places, starts, neighbours, scores, kept, nearest, nearest_similarity)
    return Stars(kept, nearest, nearest_similarity)
