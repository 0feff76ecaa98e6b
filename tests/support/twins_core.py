"""Slow twins of the buckets, in plain Python, that share no code with the package."""

from __future__ import annotations


def buckets(keys: list[int], empty: list[bool], number: int) -> tuple[list[int | None], list[int]]:
    """Number the buckets of one band by their keys; None is a document that shares none."""
    by_key: dict[int, list[int]] = {}
    for document, key in enumerate(keys):
        if not empty[document]:
            by_key.setdefault(key, []).append(document)
    found: list[int | None] = [None] * len(keys)
    sizes: list[int] = []
    for key in sorted(by_key):
        if len(by_key[key]) > 1:
            for document in by_key[key]:
                found[document] = number + len(sizes)
            sizes.append(len(by_key[key]))
    return found, sizes


class Members:
    """Buckets as lists of the places of their members."""

    def __init__(self, table: list[list[int | None]]) -> None:
        """Take for each place its bucket in each band, None where it stands alone."""
        self.table = table
        self.members: dict[int, list[int]] = {}

    def _buckets(self, place: int) -> list[list[int]]:
        return [
            self.members.setdefault(bucket, [])
            for bucket in self.table[place]
            if bucket is not None
        ]

    def candidates(
        self, places: range, alive: list[bool], *, least: int, insert: bool
    ) -> list[tuple[int, int]]:
        """Give who meets whom: band after band, the latest member first, nobody twice."""
        found = []
        for place, lives in zip(places, alive, strict=True):
            if not lives:
                continue
            seen: list[int] = []
            for bucket in self._buckets(place):
                seen += [
                    other for other in reversed(bucket) if other >= least and other not in seen
                ]
            found += [(other, place) for other in seen]
            if insert:
                self.insert(range(place, place + 1), [True])
        return found

    def insert(self, places: range, chosen: list[bool]) -> None:
        """Put documents into their buckets."""
        for place, taken in zip(places, chosen, strict=True):
            for bucket in self._buckets(place) if taken else []:
                bucket.append(place)

    def remove(self, places: range) -> None:
        """Take documents out."""
        for place in places:
            for bucket in self._buckets(place):
                while place in bucket:
                    bucket.remove(place)


def gathered(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Put spans of bytes, each with its start and its length, one after the other."""
    return b"".join(data[start : start + length] for start, length in spans)
