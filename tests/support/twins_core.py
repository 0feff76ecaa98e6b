"""Slow twins of the buckets, in plain Python, that share no code with the package."""

from __future__ import annotations


def buckets(keys: list[int], bare: list[bool], number: int) -> tuple[list[int | None], list[int]]:
    """Number the buckets of one band by their keys; None is a document that shares none."""
    by_key: dict[int, list[int]] = {}
    for document, key in enumerate(keys):
        if not bare[document]:
            by_key.setdefault(key, []).append(document)
    found: list[int | None] = [None] * len(keys)
    sizes: list[int] = []
    for key in sorted(by_key):
        if len(by_key[key]) > 1:
            for document in by_key[key]:
                found[document] = number + len(sizes)
            sizes.append(len(by_key[key]))
    return found, sizes


class Rooms:
    """Buckets as lists of the places of their members."""

    def __init__(self, table: list[list[int | None]]) -> None:
        """Take for each place its bucket in each band, None where it stands alone."""
        self.table = table
        self.members: dict[int, list[int]] = {}

    def _rooms(self, place: int) -> list[list[int]]:
        return [
            self.members.setdefault(bucket, [])
            for bucket in self.table[place]
            if bucket is not None
        ]

    def meet(
        self, places: range, alive: list[bool], *, least: int, insert: bool
    ) -> list[tuple[int, int]]:
        """Give who meets whom: band after band, the latest member first, nobody twice."""
        met = []
        for place, lives in zip(places, alive, strict=True):
            if not lives:
                continue
            seen: list[int] = []
            for room in self._rooms(place):
                seen += [other for other in reversed(room) if other >= least and other not in seen]
            met += [(other, place) for other in seen]
            if insert:
                self.enter(range(place, place + 1), [True])
        return met

    def enter(self, places: range, chosen: list[bool]) -> None:
        """Put documents into their buckets."""
        for place, taken in zip(places, chosen, strict=True):
            for room in self._rooms(place) if taken else []:
                room.append(place)

    def leave(self, places: range) -> None:
        """Take documents out."""
        for place in places:
            for room in self._rooms(place):
                while place in room:
                    room.remove(place)


def gathered(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Put spans of bytes, each with its start and its length, one after the other."""
    return b"".join(data[start : start + length] for start, length in spans)
