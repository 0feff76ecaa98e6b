"""Identical documents, collapsed before anything is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.threads import in_order, pieces
from lookalike.kernels import components as clusters
from lookalike.kernels import near_bands
from lookalike.kernels import normalise as kernels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.text.documents import Texts
    from lookalike.text.normalise import Canonical

    Places = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

__all__ = ["Groups", "blocks_between", "blocks_within", "pairs_between", "pairs_within"]

PIECE_BYTES = 1 << 20
"""Bytes of text that are compared at a time."""


@dataclass(frozen=True)
class Groups:
    """Documents with the same canonical text are one group; an empty document is in none."""

    of_document: NDArray[np.int64]
    """The group of each document, -1 for an empty one."""
    members: NDArray[np.int64]
    """The documents, group by group, in the order of the source."""
    starts: NDArray[np.int64]
    """Where each group begins among the members, and the end of the last."""

    def __len__(self) -> int:
        """Count the groups."""
        return len(self.starts) - 1

    @property
    def representatives(self) -> NDArray[np.int64]:
        """The first document of each group."""
        return self.members[self.starts[:-1]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of documents in each group."""
        return np.diff(self.starts)

    def members_of(self, group: int) -> NDArray[np.int64]:
        """Give the documents of a group, in the order of the source."""
        return self.members[self.starts[group] : self.starts[group + 1]]

    @classmethod
    def of(cls, documents: Canonical | Texts, threads: int = 1) -> Groups:
        """Collapse by the content fingerprint; groups stand in the order of their first documents.

        A fingerprint is no proof: each document is also compared with the first of its group, and
        one that differs, by chance or by malice, has a group of its own.
        """
        empty = np.diff(documents.offsets) == 0
        alike = _may_be_identical(documents.fingerprints, empty)
        alike = alike[_by_fingerprint(documents.fingerprints, alike)]
        new = np.ones(len(alike), np.bool_)
        for half in (0, 1):
            prints = documents.fingerprints[alike, half]
            new[1:] &= prints[1:] == prints[:-1]
        new[1:] = ~new[1:]
        first = alike[np.maximum.accumulate(np.where(new, np.arange(len(alike)), 0))]
        first, repeats = first[~new], alike[~new]
        same = _same(documents, first, repeats, threads)
        # The first document of each one's group: its own, where none before it is the same.
        leaders = np.arange(len(documents))
        leaders[repeats[same]] = first[same]
        leading = (leaders == np.arange(len(documents))) & ~empty
        of_document = (np.cumsum(leading) - 1)[leaders]
        of_document[empty] = -1
        filled = np.flatnonzero(~empty)
        members = np.empty(len(filled), np.int64)
        starts = np.zeros(np.count_nonzero(leading) + 1, np.int64)
        clusters.order_by_label(of_document, filled, members)
        np.cumsum(np.bincount(of_document[filled], minlength=len(starts) - 1), out=starts[1:])
        return cls(of_document, filled[members], starts)


def _may_be_identical(
    fingerprints: NDArray[np.uint64], empty: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Give the documents, in order, that may have the fingerprint of another."""
    rows = np.empty(len(fingerprints), np.uint32)
    marks = np.zeros((2, near_bands.mark_words(len(fingerprints))), np.uint64)
    count = near_bands.may_share_key(np.ascontiguousarray(fingerprints[:, 0]), empty, marks, rows)
    return rows[:count].astype(np.int64)


def _by_fingerprint(fingerprints: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort rows by fingerprint, those of equal ones in their own order.

    One half nearly always decides, and takes a third of the time of both.
    """
    first = fingerprints[rows, 0]
    order = np.argsort(first, kind="stable")
    equal = np.flatnonzero(first[order[1:]] == first[order[:-1]])
    second = fingerprints[rows, 1]
    if (second[order[equal]] == second[order[equal + 1]]).all():
        return order
    return np.lexsort((second, first))


def _same(
    documents: Canonical | Texts,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    threads: int,
) -> NDArray[np.bool_]:
    """Tell of each pair of documents whether they are the same, byte for byte."""
    same = np.empty(len(first), np.bool_)
    weights = documents.lengths(first) + documents.lengths(second)

    def compare(piece: slice) -> None:
        size = piece.stop - piece.start
        part, rows = documents.part(np.concatenate([first[piece], second[piece]]))
        kernels.same_texts(part.data, part.offsets, rows[:size], rows[size:], same[piece])

    for _ in in_order(compare, pieces(weights, PIECE_BYTES), threads):
        pass
    return same


def pairs_between(first_sizes: NDArray[np.int64], second_sizes: NDArray[np.int64]) -> Places:
    """Give every pair of a member of one group and a member of another, for many pairs of groups.

    The result is the pair of groups, the place in the first and the place in the second.
    """
    counts = first_sizes * second_sizes
    which = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = second_sizes[which]
    return which, place // width, place % width


def pairs_within(sizes: NDArray[np.int64]) -> Places:
    """Give every pair of members of each group: the group, the earlier place and the later."""
    # Each member with all that stand after it in its group.
    group = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    after = sizes[group] - 1 - place
    member = np.repeat(np.arange(len(group)), after)
    second = np.arange(len(member)) - np.repeat(np.cumsum(after) - after, after)
    first = place[member]
    return group[member], first, first + 1 + second


def blocks_between(
    first_sizes: NDArray[np.int64], second_sizes: NDArray[np.int64], max_pairs: int
) -> Iterator[Places]:
    """Give what `pairs_between` does, some pairs at a time, for any number of pairs of groups."""
    for piece in pieces(first_sizes * second_sizes, max_pairs):
        first, second = first_sizes[piece], second_sizes[piece]
        if len(first) > 1 or first[0] * second[0] <= max_pairs:
            which, i, j = pairs_between(first, second)
            yield which + piece.start, i, j
            continue
        # Two groups by themselves with too many pairs: some of the first with all of the second.
        step = max(1, max_pairs // int(second[0]))
        for start in range(0, int(first[0]), step):
            taken = np.array([min(step, int(first[0]) - start)])
            which, i, j = pairs_between(taken, second)
            yield which + piece.start, i + start, j


def blocks_within(sizes: NDArray[np.int64], max_pairs: int) -> Iterator[Places]:
    """Give what `pairs_within` does, some pairs at a time, for any number of groups."""
    crowded = np.flatnonzero(sizes > 1)
    for piece in pieces(sizes[crowded] * (sizes[crowded] - 1) // 2, max_pairs):
        chosen = crowded[piece]
        if len(chosen) > 1 or sizes[chosen[0]] * (sizes[chosen[0]] - 1) // 2 <= max_pairs:
            which, i, j = pairs_within(sizes[chosen])
            yield chosen[which], i, j
            continue
        size = int(sizes[chosen[0]])
        step = max(1, max_pairs // size)
        for start in range(0, size, step):
            rows = np.arange(start, min(start + step, size))
            after = size - 1 - rows
            i = np.repeat(rows, after)
            j = np.arange(len(i)) - np.repeat(np.cumsum(after) - after, after) + i + 1
            yield np.full(len(i), chosen[0]), i, j
