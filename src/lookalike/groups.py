"""Identical documents, collapsed before anything is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.kernels import normalise as kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.normalise import Canonical

__all__ = ["Groups", "pairs_between", "pairs_within"]


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

    @classmethod
    def of(cls, documents: Canonical) -> Groups:
        """Collapse by the content fingerprint; groups are numbered by it, whatever the order.

        A fingerprint is no proof: each document is also compared with the first of its group, and
        one that differs, by chance or by malice, has a group of its own.
        """
        filled = np.flatnonzero(np.diff(documents.offsets))
        prints = documents.fingerprints[filled]
        order = np.lexsort((prints[:, 1], prints[:, 0]))
        members, prints = filled[order], prints[order]
        new = np.ones(len(members), np.bool_)
        new[1:] = (prints[1:] != prints[:-1]).any(axis=1)
        first = np.maximum.accumulate(np.where(new, np.arange(len(members)), 0))
        repeats = np.flatnonzero(~new)
        same = np.empty(len(repeats), np.bool_)
        kernels.same_texts(
            documents.data, documents.offsets, members[first[repeats]], members[repeats], same
        )
        group = np.cumsum(new) - 1
        other = repeats[~same]
        group[other] = new.sum() + np.arange(len(other))
        by_group = np.argsort(group, kind="stable")
        of_document = np.full(len(documents), -1, np.int64)
        of_document[members] = group
        sizes = np.bincount(group, minlength=int(new.sum()) + len(other))
        return cls(of_document, members[by_group], np.append(0, np.cumsum(sizes)).astype(np.int64))


def pairs_between(
    first_sizes: NDArray[np.int64], second_sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give every pair of a member of one group and a member of another, for many pairs of groups.

    The result is the pair of groups, the place in the first and the place in the second.
    """
    counts = first_sizes * second_sizes
    which = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = second_sizes[which]
    return which, place // width, place % width


def pairs_within(
    sizes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Give every pair of members of each group: the group, the earlier place and the later."""
    # Each member with all that stand after it in its group.
    group = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    after = sizes[group] - 1 - place
    member = np.repeat(np.arange(len(group)), after)
    second = np.arange(len(member)) - np.repeat(np.cumsum(after) - after, after)
    first = place[member]
    return group[member], first, first + 1 + second
