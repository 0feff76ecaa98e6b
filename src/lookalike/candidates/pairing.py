"""Which documents are compared with which: all, those of two corpora, or those of different groups.

Identical documents are one text to whatever looks for candidates. A text may stand in both corpora
and in several groups, and two texts are then worth comparing if any two of their documents are;
which of their documents make a pair is told by cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.candidates.identical import Groups, blocks_between, blocks_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

__all__ = ["REFERENCE", "SOURCE", "Cells", "Pairing", "SideOrder", "TextPairing", "other_sides"]

SOURCE, REFERENCE = 1, 2
"""The bits of the corpora in which a text stands."""
SEVERAL = -1
"""The group of a text that stands in more than one."""
NO_LABEL = np.iinfo(np.int64).max
"""More than the number of any group."""


@dataclass(frozen=True)
class Pairing:
    """Which documents may be a pair: without any bound, all."""

    references: int | None = None
    """Documents, the first ones, of a reference corpus: a pair is of one of them and another."""
    labels: NDArray[np.int64] | None = None
    """The group of each document: a pair is of two groups."""

    @property
    def is_bounded(self) -> bool:
        """Whether some pairs are left out."""
        return self.references is not None or self.labels is not None

    def of_texts(self, groups: Groups) -> TextPairing:
        """Tell of which corpora and of which group each distinct text is."""
        members, starts = groups.members, groups.starts[:-1]
        sides = labels = None
        every = np.ones(len(members), np.bool_)
        is_source = every if self.references is None else members >= self.references
        if self.references is not None:
            of_member = np.where(is_source, SOURCE, REFERENCE).astype(np.uint8)
            sides = np.bitwise_or.reduceat(of_member, starts) if len(starts) else of_member
        if self.labels is not None:
            mine = self.labels[members]
            source = _common_labels(mine, is_source, starts)
            labels = (source, source if sides is None else _common_labels(mine, ~is_source, starts))
        return TextPairing(sides, labels)

    def first_pair(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[int, int] | None:
        """Give the first documents of two texts, by all of each, that may be a pair; None if none.

        Across two corpora that of the source comes first.
        """
        if self.references is None:
            return self._first_apart(a, b)
        for source, reference in ((a, b), (b, a)):
            found = self._first_apart(
                source[source >= self.references], reference[reference < self.references]
            )
            if found is not None:
                return found
        return None

    def _first_apart(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[int, int] | None:
        """Give the first document of each that are not of one group."""
        if not len(a) or not len(b):
            return None
        if self.labels is None:
            return int(a[0]), int(b[0])
        others = b[self.labels[b] != self.labels[a[0]]]
        if len(others):
            return int(a[0]), int(others[0])
        # All of the second text are of the group that the first document is of.
        others = a[self.labels[a] != self.labels[b[0]]]
        return (int(others[0]), int(b[0])) if len(others) else None


def _common_labels(
    labels: NDArray[np.int64], counted: NDArray[np.bool_], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give the group of the documents of each text that are counted, or that these are several."""
    if not len(starts):
        return labels
    least = np.minimum.reduceat(np.where(counted, labels, NO_LABEL), starts)
    most = np.maximum.reduceat(np.where(counted, labels, SEVERAL), starts)
    return np.where(least == most, least, SEVERAL)


@dataclass(frozen=True)
class TextPairing:
    """Which distinct texts are worth comparing."""

    sides: NDArray[np.uint8] | None = None
    """In which corpora each stands; None where all are of one."""
    labels: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    """The group of each in the source, and in the reference: -1 of one that stands in several.

    Of one corpus the two are the same; None where there are no groups."""

    def may_pair(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Tell of which pairs of texts some documents may be a pair; None where of all."""
        if self.sides is None:
            return None if self.labels is None else _apart(*self.labels, first, second)
        if self.labels is None:
            both = self.sides[first] & other_sides(self.sides)[second]
            return np.asarray(both != 0, np.bool_)
        is_source, is_reference = (self.sides & SOURCE) != 0, (self.sides & REFERENCE) != 0
        one_way = is_source[first] & is_reference[second]
        other_way = is_source[second] & is_reference[first]
        one_way &= _apart(*self.labels, first, second)
        other_way &= _apart(*self.labels, second, first)
        return np.asarray(one_way | other_way, np.bool_)

    def passing(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Pairs:
        """Give the pairs of texts of which some documents may be a pair."""
        found = self.may_pair(first, second)
        return (first, second) if found is None else (first[found], second[found])


def _apart(
    source: NDArray[np.int64],
    reference: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Tell which texts, one of the source and one of the reference, are not of one group alone."""
    mine = source[first]
    return np.asarray((mine != reference[second]) | (mine == SEVERAL), np.bool_)


def other_sides(sides: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give the corpora with whose texts each text is compared."""
    return np.asarray((sides & SOURCE) << 1 | sides >> 1, np.uint8)


class SideOrder(NamedTuple):
    """Texts in an order in which each meets those of the other corpus, and no others.

    First those of the reference alone, which meet nobody and are met; then those of both; then
    those of the source alone, which nobody meets after them.
    """

    order: NDArray[np.int64]
    """The text at each place."""
    met: int
    """Places before this one are of texts that only are met."""
    meeting: int
    """Places from this one on are of texts that only meet."""

    @classmethod
    def of(cls, sides: NDArray[np.uint8]) -> SideOrder:
        """Put the texts of two corpora in this order, those of each part in their own."""
        parts = [np.flatnonzero(sides == side) for side in (REFERENCE, REFERENCE | SOURCE, SOURCE)]
        met = len(parts[0])
        return cls(np.concatenate(parts), met, met + len(parts[1]))

    @property
    def places(self) -> NDArray[np.int64]:
        """The place of each text."""
        places = np.empty(len(self.order), np.int64)
        places[self.order] = np.arange(len(self.order))
        return places


@dataclass(frozen=True)
class Cells:
    """Identical documents of one corpus and one group: of two cells all documents pair, or none."""

    documents: Groups
    """The documents of each cell."""
    firsts: NDArray[np.int64]
    """The first cell of each text, and the end of the last."""
    splits: NDArray[np.int64] | None
    """The first cell of each text that is of the source; those before are of the reference."""
    labels: NDArray[np.int64] | None
    """The group of each cell."""

    @classmethod
    def of(cls, groups: Groups, pairing: Pairing) -> Cells:
        """Split identical documents by corpus and group, where not all may be a pair."""
        texts = np.repeat(np.arange(len(groups)), groups.sizes)
        members, labels, references = groups.members, pairing.labels, pairing.references
        # Those of the reference come first in a text already: they are the first documents.
        is_source = np.zeros(len(members), np.int8)
        if references is not None:
            is_source = (members >= references).astype(np.int8)
        mine = np.zeros(len(members), np.int64) if labels is None else labels[members]
        order = np.lexsort((members, mine, is_source, texts))
        members, mine, is_source = members[order], mine[order], is_source[order]
        new = np.ones(len(members), np.bool_)
        for values in (texts, mine, is_source):
            new[1:] &= values[1:] == values[:-1]
        new[1:] = ~new[1:]
        begins = np.flatnonzero(new)
        of_document = np.full(len(groups.of_document), -1, np.int64)
        of_document[members] = np.cumsum(new) - 1
        starts = np.append(begins, len(members))
        every = np.arange(len(groups) + 1)
        firsts = np.searchsorted(texts[begins], every)
        splits = None
        if references is not None:
            of_source = np.zeros(len(groups), np.int64)
            np.add.at(of_source, texts[begins], is_source[begins])
            splits = firsts[1:] - of_source
        kept_labels = None if labels is None else mine[begins]
        return cls(Groups(of_document, members, starts), firsts, splits, kept_labels)

    def __len__(self) -> int:
        """Count the cells."""
        return len(self.documents)

    def between(
        self, first: NDArray[np.int64], second: NDArray[np.int64], max_pairs: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """Give, in blocks, the cells of pairs of texts that pair: which pair, and two cells.

        The cell of the first text comes first.
        """
        for (left, left_end), (right, right_end) in self._opposite():
            begins, others = left[first], right[second]
            sizes = left_end[first] - begins, right_end[second] - others
            for which, i, j in blocks_between(*sizes, max_pairs):
                yield from self._apart(which, begins[which] + i, others[which] + j)

    def within(self, max_pairs: int) -> Iterator[Pairs]:
        """Give, in blocks, the cells of each text that pair with each other."""
        if self.splits is None:
            for which, i, j in blocks_within(np.diff(self.firsts), max_pairs):
                begins = self.firsts[which]
                for _, first, second in self._apart(which, begins + i, begins + j):
                    yield first, second
            return
        (left, left_end), (right, right_end) = next(self._opposite())
        for which, i, j in blocks_between(left_end - left, right_end - right, max_pairs):
            for _, first, second in self._apart(which, left[which] + i, right[which] + j):
                yield first, second

    def _opposite(self) -> Iterator[tuple[Pairs, Pairs]]:
        """Give the cells of one text, from and to, and those of another that may pair with them."""
        every = self.firsts[:-1], self.firsts[1:]
        if self.splits is None:
            yield every, every
            return
        references, source = (every[0], self.splits), (self.splits, every[1])
        yield references, source
        yield source, references

    def _apart(
        self, which: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """Leave out two cells of one group."""
        if self.labels is not None:
            apart = self.labels[first] != self.labels[second]
            which, first, second = which[apart], first[apart], second[apart]
        if len(which):
            yield which, first, second
