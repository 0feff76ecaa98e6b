"""A store of dicts and lists: what each method of a store is to give."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.index.store import Block, Body, Document, Entries, Entry

WIDTH = 5


def laid_out(rows: Sequence[Entry], keys: NDArray[np.int64], of_key: NDArray[np.int64]) -> Entries:
    """Give entries in columns."""
    sketches = np.frombuffer(b"".join(row.sketch for row in rows), np.uint8)
    return Entries(
        [row.number for row in rows],
        [row.content for row in rows],
        sketches.reshape(len(rows), -1) if rows else np.empty((0, WIDTH), np.uint8),
        [row.length for row in rows],
        [row.empty for row in rows],
        [row.body for row in rows],
        keys,
        of_key,
    )


"""Bytes of a sketch."""


class StoreTwin:
    """The rows of an index, changed at once."""

    def __init__(self, facts: dict[str, str]) -> None:
        self.noted = dict(facts)
        self.entry: dict[int, Entry] = {}
        self.document: dict[str, Document] = {}
        self.pairs: set[tuple[int, int]] = set()
        self.crowd: list[Block] = []

    def copied(self) -> "StoreTwin":
        other = StoreTwin(self.noted)
        other.entry, other.document = dict(self.entry), dict(self.document)
        other.pairs, other.crowd = set(self.pairs), list(self.crowd)
        return other

    def fact(self, name: str) -> str | None:
        return self.noted.get(name)

    def facts(self, begin: str) -> dict[str, str]:
        return {name: text for name, text in self.noted.items() if name.startswith(begin)}

    def loose(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found = np.array([pair for pair in self.pairs if pair[0] in set(keys.tolist())], np.int64)
        return found.reshape(-1, 2)[:, 0], found.reshape(-1, 2)[:, 1]

    def blocks(self, keys: NDArray[np.int64]) -> Iterator[Block]:
        return iter([one for one in self.crowd if one.key in set(keys.tolist())])

    def sketches(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        found = self.entries(entries)
        sketches = [[*one.sketch] for one in found]
        width = WIDTH if found else 0
        return (
            np.array([one.number for one in found], np.int64),
            np.array(sketches, np.uint8).reshape(len(found), width),
        )

    def bodies(self, entries: NDArray[np.int64]) -> list[Body]:
        return [
            Body(one.number, one.content, one.length, one.body)
            for one in self.entries(entries)
            if one.body is not None
        ]

    def contents(self, contents: Sequence[bytes]) -> dict[bytes, int]:
        return {one.content: one.number for one in self.entry.values() if one.content in contents}

    def documents(self, ids: Sequence[str]) -> list[Document]:
        return [one for one in self.document.values() if one.id in ids]

    def documents_of(self, entries: NDArray[np.int64]) -> list[Document]:
        return [one for one in self.document.values() if one.entry in set(entries.tolist())]

    def next_documents(self, after: str | None, most: int) -> list[Document]:
        ids = sorted(self.document, key=str.encode)
        later = [name for name in ids if after is None or name.encode() > after.encode()]
        return [self.document[name] for name in later[:most]]

    def next_entries(self, after: int, most: int) -> list[Entry]:
        return [self.entry[number] for number in sorted(self.entry) if number > after][:most]

    def entries(self, numbers: NDArray[np.int64]) -> list[Entry]:
        return [one for one in self.entry.values() if one.number in set(numbers.tolist())]

    def counts(self) -> dict[str, int]:
        return {
            "documents": len(self.document),
            "entries": len(self.entry),
            "loose": len(self.pairs),
            "blocks": len(self.crowd),
            "bodies": sum(one.body is not None for one in self.entry.values()),
        }

    def largest_buckets(self, most: int) -> list[tuple[int, int]]:
        sizes: dict[int, int] = {}
        for key, _ in self.pairs:
            sizes[key] = sizes.get(key, 0) + 1
        for block in self.crowd:
            sizes[block.key] = sizes.get(block.key, 0) + len(block.entries)
        return sorted(sizes.items(), key=lambda one: (-one[1], one[0]))[:most]

    def set_fact(self, name: str, text: str | None) -> None:
        self.noted.pop(name, None)
        if text is not None:
            self.noted[name] = text

    def put_entries(self, entries: Entries) -> None:
        columns = entries.lengths, entries.empty, entries.bodies
        for number, content, sketch, *others in zip(
            entries.numbers, entries.contents, entries.sketches, *columns, strict=True
        ):
            self.entry[number] = Entry(number, content, bytes(sketch), *others)
        self.pairs.update(zip(entries.keys.tolist(), entries.of_key.tolist(), strict=True))

    def put_documents(self, documents: Sequence[Document]) -> None:
        self.document.update({one.id: one for one in documents})

    def drop_documents(self, ids: Sequence[str]) -> None:
        for name in ids:
            self.document.pop(name, None)

    def drop_unused(self, entries: NDArray[np.int64]) -> int:
        used = {one.entry for one in self.document.values()}
        gone = {*entries.tolist()} & {*self.entry} - used
        for number in gone:
            del self.entry[number]
        return len(gone)

    def take_loose(self, key: int) -> NDArray[np.int64]:
        taken = {pair for pair in self.pairs if pair[0] == key}
        self.pairs -= taken
        return np.array([entry for _, entry in taken], np.int64)

    def put_blocks(self, blocks: Sequence[Block]) -> None:
        self.crowd += blocks

    def sweep(self) -> None:
        self.pairs = {pair for pair in self.pairs if pair[1] in self.entry}
        swept, self.crowd = self.crowd, []
        for block in swept:
            left = np.array([number in self.entry for number in block.entries.tolist()], np.bool_)
            if left.any():
                self.crowd.append(Block(block.key, block.entries[left], block.sketches[left]))
