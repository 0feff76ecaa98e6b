"""Identical documents, collapsed before anything is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
        """Collapse by the content fingerprint; groups are numbered by it, whatever the order."""
        filled = np.flatnonzero(np.diff(documents.offsets))
        prints = documents.fingerprints[filled]
        order = np.lexsort((prints[:, 1], prints[:, 0]))
        members, prints = filled[order], prints[order]
        new = np.ones(len(members), np.bool_)
        new[1:] = (prints[1:] != prints[:-1]).any(axis=1)
        of_document = np.full(len(documents), -1, np.int64)
        of_document[members] = np.cumsum(new) - 1
        starts = np.append(np.flatnonzero(new), len(members)).astype(np.int64)
        return cls(of_document, members, starts)


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
    many = np.flatnonzero(sizes > 1)
    which, first, second = pairs_between(sizes[many], sizes[many])
    once = np.flatnonzero(first < second)
    return many[which[once]], first[once], second[once]
