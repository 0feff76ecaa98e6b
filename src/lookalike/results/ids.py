"""The ids of a corpus: numbers where all are whole numbers, else text."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.base.errors import SourceError
from lookalike.kernels import normalise as kernels
from lookalike.read.batches import repeated_id
from lookalike.text.documents import Strings

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lookalike.base.columns import Column, Columns

__all__ = ["IdWriter", "Ids", "JoinedIds"]

PIECE_IDS = 1 << 18
"""Ids that are read at a time."""
MAX_STRING_BYTES = (1 << 31) - 1
"""Bytes of text that Arrow's plain strings hold."""


class IdWriter:
    """Ids as they come, on their way to a column of bytes."""

    def __init__(self, store: Columns, name: str) -> None:
        """Write to two columns of a store, or go on there."""
        self._data = store.column(f"{name}.utf8", np.uint8)
        self._lengths = store.column(f"{name}.lengths", np.int32)

    def append(self, ids: pa.Array) -> None:
        """Add ids, of either type."""
        texts = ids.cast(pa.large_string())
        _, offsets, data = texts.buffers()
        if not len(texts) or data is None:
            self._lengths.append(np.zeros(len(texts), np.int32))
            return
        ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        self._data.append(np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].copy())
        self._lengths.append(np.diff(ends).astype(np.int32))

    def finish(self, *, whole: bool) -> Ids:
        """Give the ids that were written; they are numbers where all are."""
        return Ids(self._data, self._lengths, whole=whole)


def _counting_order(ids: pa.Array) -> pa.Array:
    """Sort numbers of any length that are written as text; of equal ones, by their text."""
    digits = pc.ascii_ltrim(ids, characters="0")
    keys = {"length": pc.binary_length(digits), "digits": digits, "text": ids}
    return pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])


class Ids(Strings):
    """The id of each document, read where it is needed."""

    def __init__(self, data: Column, lengths: Column, *, whole: bool) -> None:
        """Take the columns of an `IdWriter`."""
        super().__init__(data, np.append(0, np.cumsum(lengths.read(), dtype=np.int64)))
        self.whole = whole

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Give the ids of some documents, in the given order: int64 or strings."""
        data, offsets = self.gathered(rows)
        texts = pa.Array.from_buffers(
            pa.large_string(), len(rows), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        )
        if self.whole:
            return texts.cast(pa.int64())
        return texts.cast(pa.string()) if len(data) <= MAX_STRING_BYTES else texts

    @cached_property
    def counted(self) -> bool:
        """Whether all are text that is made of the digits 0 to 9."""
        if self.whole or not len(self) or (np.diff(self.offsets) == 0).any():
            return False
        return all(self._are_digits(start) for start in range(0, len(self), PIECE_IDS))

    def _are_digits(self, start: int) -> bool:
        data, _ = self.gathered(np.arange(start, min(start + PIECE_IDS, len(self))))
        return bool(((data >= ord("0")) & (data <= ord("9"))).all())

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give each of these documents the place of its id among theirs, sorted.

        Text that is made of digits sorts as people count, where all ids of the corpus are so.
        """
        ids = self.take(rows)
        order = _counting_order(ids) if self.counted else pc.array_sort_indices(ids)
        ranks = np.empty(len(rows), np.int64)
        ranks[order.to_numpy()] = np.arange(len(rows))
        return ranks

    def check_distinct(self, place: Callable[[int], str], begin: int, end: int) -> None:
        """Refuse ids that appear twice among the documents of a range, and name two places."""
        prints = np.empty(end - begin, np.uint64)
        for start in range(begin, end, PIECE_IDS):
            rows = np.arange(start, min(start + PIECE_IDS, end))
            data, offsets = self.gathered(rows)
            found = np.empty((len(rows), 2), np.uint64)
            kernels.fingerprints(data, offsets, found)
            prints[start - begin : start - begin + len(rows)] = found[:, 0]
        order = np.argsort(prints, kind="stable")
        same = np.flatnonzero(prints[order[1:]] == prints[order[:-1]])
        if not len(same):
            return
        # Equal fingerprints are nearly always equal ids; the ids themselves decide.
        among = np.unique(np.concatenate([order[same], order[same + 1]])) + begin
        seen: dict[object, int] = {}
        for row, name in zip(among.tolist(), self.take(among).to_pylist(), strict=True):
            if name in seen:
                if place(seen[name]) == place(row):
                    raise SourceError(f"{place(row)} is read twice: name each source once")
                raise repeated_id(name, place(seen[name]), place(row))
            seen[name] = row


class JoinedIds(Ids):
    """The ids of two corpora, one after the other; both are numbers, or both are text."""

    def __init__(self, first: Ids, second: Ids) -> None:
        """Take both."""
        self._parts = first, second
        self.whole = first.whole

    def __len__(self) -> int:
        """Count both."""
        return sum(map(len, self._parts))

    def take(self, rows: NDArray[np.int64]) -> pa.Array:
        """Give some ids, in the given order."""
        first, second = self._parts
        later = rows >= len(first)
        taken = [first.take(rows[~later]), second.take(rows[later] - len(first))]
        kind = next((part.type for part in taken if pa.types.is_large_string(part.type)), None)
        joined = pa.concat_arrays([part.cast(kind or part.type) for part in taken])
        places = np.empty(len(rows), np.int64)
        places[np.flatnonzero(~later)] = np.arange(len(taken[0]))
        places[np.flatnonzero(later)] = np.arange(len(taken[0]), len(rows))
        return joined.take(pa.array(places))

    @cached_property
    def counted(self) -> bool:
        """Whether all are text that is made of the digits 0 to 9."""
        return all(part.counted or not len(part) for part in self._parts)
