"""Places inside large files from which they can be read on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lookalike.read.batches import Position

__all__ = ["Marks"]

MARK_BYTES = 1 << 20
"""Unpacked bytes between two marks, at the least: a few of their own for each."""


class Marks:
    """Positions that a reading passed, so that a record is reached without all before it."""

    def __init__(self, positions: Iterable[Sequence[int]] = ()) -> None:
        """Take positions that were known before."""
        self._of_shard: dict[int, list[tuple[int, int]]] = {}
        for number, start, before in positions:
            self.add((int(number), int(start), int(before)))

    def positions(self) -> list[Position]:
        """Give all, in order."""
        return [
            (number, *mark) for number in sorted(self._of_shard) for mark in self._of_shard[number]
        ]

    def add(self, position: Position) -> None:
        """Take a position, unless others are near or it is where a shard begins."""
        number, start, before = position
        known = self._of_shard.get(number, [])
        at = bisect_left(known, (start, before))
        since = start - (known[at - 1][0] if at else 0)
        until = known[at][0] - start if at < len(known) else MARK_BYTES
        if min(since, until) >= MARK_BYTES:
            self._of_shard.setdefault(number, known).insert(at, (start, before))

    def nearest(self, number: int, record: int) -> tuple[int, int]:
        """Give the last place at or before a record of a shard, and the records before it."""
        known = self._of_shard.get(number, [])
        at = bisect_right(known, record - 1, key=itemgetter(1))
        return known[at - 1] if at else (0, 0)
