"""Byte strings of a corpus, its texts and its ids, of which only those at work are in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.threads import pieces
from lookalike.kernels import files
from lookalike.kernels import normalise as kernels
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.base.columns import Column

__all__ = ["Selection", "Strings", "Texts"]

GAP_BYTES = 1 << 10
"""Bytes between two strings that are read with them, sooner than each by itself."""
PREFETCH_BYTES = 1 << 33
"""Bytes of a file from which on the system hears beforehand what will be read: it may have had no
room to keep all of it, and a disk is asked for one string after the other else."""
MAX_READ_BYTES = 1 << 28
"""Bytes that are read in one go for this, at the most."""


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
        data = np.empty(int(offsets[-1]), np.uint8)
        if self.data.path is not None and len(rows):
            first, last = int(starts.min()), int((starts + lengths).max())
            if last - first <= min(2 * len(data) + GAP_BYTES * len(rows), MAX_READ_BYTES):
                # Near each other, they are read in one go.
                source = np.empty(last - first, np.uint8)
                self.data.read_into(source, first)
                if np.array_equal(starts[1:], starts[:-1] + lengths[:-1]):
                    return source, offsets
                kernels.gather(source, starts - first, offsets, data)
                return data, offsets
            self._read_spans(starts, offsets, data)
        else:
            kernels.gather(self.data.read(), starts, offsets, data)
        return data, offsets

    def _read_spans(
        self, starts: NDArray[np.int64], offsets: NDArray[np.int64], data: NDArray[np.uint8]
    ) -> None:
        done = 0
        if files.HAS_PREAD:
            self.data.flush()
            if files.CAN_PREFETCH and len(self.data) >= PREFETCH_BYTES:
                files.prefetch_spans(self.data.file, starts, offsets)
            done = files.read_spans(self.data.file, starts, offsets, data)
        for row in range(done, len(starts)):
            self.data.read_into(data[offsets[row] : offsets[row + 1]], int(starts[row]))


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

    def __init__(self, texts: Canonical | Texts, rows: NDArray[np.int64]) -> None:
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
