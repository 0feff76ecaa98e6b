"""Byte strings of a corpus, its texts and its ids, of which only those at work are in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.kernels import normalise as kernels
from lookalike.normalise import Canonical
from lookalike.threads import pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.store import Column

__all__ = ["Selection", "Strings", "Texts"]

GAP = 1 << 14
"""Bytes between two wanted strings up to which one long read is faster than two."""


class Strings:
    """Byte strings one after the other in a column."""

    def __init__(self, data: Column, offsets: NDArray[np.int64]) -> None:
        """Take the column of the bytes, and where each string begins and the last one ends."""
        self.data = data
        self.offsets = offsets

    def __len__(self) -> int:
        """Count the strings."""
        return len(self.offsets) - 1

    def lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the bytes of some strings."""
        return self.offsets[rows + 1] - self.offsets[rows]

    def gathered(
        self, rows: NDArray[np.int64], most: int | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Give the bytes of some strings, in the given order, and their offsets.

        With `most`, only the first so many bytes of each.
        """
        starts, lengths = self.offsets[rows], self.lengths(rows)
        if most is not None:
            lengths = np.minimum(lengths, most)
        offsets = np.append(0, np.cumsum(lengths))
        if self.data.path is None:
            source = self.data.read()
        else:
            source, starts = self._fetched(starts, lengths)
            if len(source) == offsets[-1] and np.array_equal(starts, offsets[:-1]):
                return source, offsets
        data = np.empty(int(offsets[-1]), np.uint8)
        kernels.gather(source, starts, offsets, data)
        return data, offsets

    def _fetched(
        self, starts: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Read spans of the file, neighbours at once; give the bytes and where each span begins."""
        order = np.argsort(starts, kind="stable")
        first = starts[order]
        last = np.maximum.accumulate(first + lengths[order])
        apart = np.ones(len(order), np.bool_)
        apart[1:] = first[1:] > last[:-1] + GAP
        runs = np.flatnonzero(apart)
        begins = first[runs]
        ends = last[np.append(runs[1:], len(order)) - 1] if len(runs) else begins
        places = np.append(0, np.cumsum(ends - begins))
        data = np.empty(int(places[-1]), np.uint8)
        for run in range(len(runs)):
            self.data.read_into(data[places[run] : places[run + 1]], int(begins[run]))
        run_of = np.cumsum(apart) - 1
        where = np.empty(len(order), np.int64)
        where[order] = places[run_of] + first - begins[run_of]
        return data, where


class Texts(Strings):
    """Canonical documents in a file, with the fingerprint of each."""

    def __init__(
        self, data: Column, offsets: NDArray[np.int64], fingerprints: NDArray[np.uint64]
    ) -> None:
        """Take the column of their bytes, where each begins, and their fingerprints."""
        super().__init__(data, offsets)
        self.fingerprints = fingerprints

    def chosen(self, rows: NDArray[np.int64], most: int | None = None) -> Canonical:
        """Give some of the documents, in the given order, or at most so many bytes of each."""
        return Canonical(*self.gathered(rows, most), self.fingerprints[rows])

    def part(self, rows: NDArray[np.int64]) -> tuple[Canonical, NDArray[np.int64]]:
        """Give documents among which the wanted ones are, and their rows there.

        What is in memory is not copied.
        """
        if self.data.path is None:
            return Canonical(self.data.read(), self.offsets, self.fingerprints), rows
        return self.chosen(rows), np.arange(len(rows))


class Selection:
    """Some documents of a corpus, as if they were all."""

    def __init__(self, texts: Texts, rows: NDArray[np.int64]) -> None:
        """Take the documents in these rows."""
        self._texts = texts
        self._rows = rows

    def __len__(self) -> int:
        """Count the documents."""
        return len(self._rows)

    def lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the bytes of some documents."""
        return self._texts.lengths(self._rows[rows])

    def chosen(self, rows: NDArray[np.int64]) -> Canonical:
        """Give some of the documents, in the given order."""
        return self._texts.chosen(self._rows[rows])

    def parts(self, most: int) -> Iterator[Canonical]:
        """Give all documents in pieces of at most so many bytes."""
        for piece in pieces(self._texts.lengths(self._rows), most):
            yield self._texts.chosen(self._rows[piece])
