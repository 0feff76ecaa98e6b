"""What an index keeps, and what it asks of the store that keeps it.

A store knows rows and transactions. It does not know what a sketch, a key or a document means: that
is the recipe's, and the same for every store.

- A **document** is an id with its metadata, and the entry that it is a copy of.
- An **entry** is a distinct document: the fingerprint of its content, its sketch, its body (the
  canonical document, compressed). Its number is never given to another, so that rows which name one
  that is gone mean nothing, and wait to be swept.
- A **bucket** is the entries with one band key: loose rows, a row each, and where there are many, a
  **crowd**: blocks that hold the numbers and the sketches of hundreds together.
- A **fact** is a name and a text: the recipe, and how far an addition has come.
- A **mark** is the checksum of a document's or an entry's row (`marks.py`), which the store writes
  beside it and gives back with it where all of it is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "FORMAT",
    "Block",
    "Body",
    "Document",
    "Entries",
    "Entry",
    "Reader",
    "Sought",
    "Store",
    "Turn",
    "Whole",
    "Writer",
]

Made = TypeVar("Made")
FORMAT = 3
"""Raised when the rows of a store change their meaning."""


class Document(NamedTuple):
    """An id, and what it stands for."""

    id: str
    entry: int
    metadata: str | None
    """An object of JSON; None where there is none."""
    run: int
    """Which addition brought it; 0 for one that came alone."""


class Entry(NamedTuple):
    """A distinct document as it is stored."""

    number: int
    content: bytes
    """The fingerprint of its canonical form, 16 bytes."""
    sketch: bytes
    length: int
    """Bytes of its canonical form."""
    empty: bool
    """It has nothing that counts, and is similar to nothing."""
    body: bytes | None
    """Its canonical form, compressed where that makes it shorter; None where texts are not kept."""


class Body(NamedTuple):
    """What an entry is compared by."""

    entry: int
    content: bytes
    length: int
    body: bytes


class Entries(NamedTuple):
    """Distinct documents on their way into a store, in columns: see `Entry` for what each is."""

    numbers: Sequence[int]
    contents: Sequence[bytes]
    sketches: NDArray[np.uint8]
    """A row an entry."""
    lengths: Sequence[int]
    empty: Sequence[bool]
    bodies: Sequence[bytes | None]
    keys: NDArray[np.int64]
    """The band keys of all of them, one after the other; of 48 bits with their sign."""
    of_key: NDArray[np.int64]
    """The entry that each key is of."""


class Block(NamedTuple):
    """A part of a crowd."""

    key: int
    entries: NDArray[np.int64]
    sketches: NDArray[np.uint8]
    """A row an entry."""


class Sought(NamedTuple):
    """What a look at a store, or a change of it, will ask for, as far as it is known before.

    A server is then asked once for all of it.
    """

    ids: Sequence[str]
    contents: Sequence[bytes]
    keys: NDArray[np.int64]
    facts: Sequence[str] = ()


class Reader(Protocol):
    """One look at a store, which nothing changes while it lasts."""

    def fact(self, name: str) -> str | None:
        """Give a fact; None where it was never noted."""

    def facts(self, begin: str) -> dict[str, str]:
        """Give all facts whose names begin so."""

    def loose(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the loose rows of buckets: their keys, and the entry of each."""

    def near(self, keys: NDArray[np.int64]) -> dict[int, bytes]:
        """Give the entries of the loose rows of a few buckets that there are, and their sketches.

        For a single document: in fewer steps than by `loose` and `sketches`.
        """

    def blocks(self, keys: NDArray[np.int64]) -> Iterator[Block]:
        """Give the blocks of the crowds among buckets."""

    def sketches(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Give the sketches of those entries that there are: their numbers, a row each."""

    def bodies(self, entries: NDArray[np.int64]) -> list[Body]:
        """Give the bodies of those entries that there are."""

    def contents(self, contents: Sequence[bytes]) -> dict[bytes, int]:
        """Give the entries that have these contents."""

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Give those documents that there are, in no order."""

    def documents_of(self, entries: NDArray[np.int64]) -> list[Document]:
        """Give the documents of entries, in no order."""

    def next_documents(self, after: str | None, most: int) -> list[Document]:
        """Give so many documents whose ids come after one, or the first, in the order of UTF-8."""

    def next_entries(self, after: int, most: int) -> list[Entry]:
        """Give so many entries whose numbers come after one, in their order."""

    def entries(self, numbers: NDArray[np.int64]) -> list[Entry]:
        """Give those entries that there are, in no order."""

    def counts(self) -> dict[str, int]:
        """Count documents, entries, loose rows, blocks, and bodies."""

    def bytes_by_part(self) -> dict[str, int]:
        """Tell how much room documents, entries, texts, bands and crowds take."""

    def largest_buckets(self, most: int) -> list[tuple[int, int]]:
        """Give the keys of the largest buckets, and their sizes; gone entries count."""


class Writer(Reader, Protocol):
    """A change of a store, that is done as a whole or not at all."""

    def set_fact(self, name: str, text: str | None) -> None:
        """Note a fact, or forget it."""

    def claim(
        self,
        contents: Sequence[bytes],
        others: Sequence[int],
        known: dict[bytes, int] | None = None,
    ) -> dict[bytes, int]:
        """Give the entries that have these contents, as may be `known` of this change.

        Nobody else removes them, nor those of the other numbers, until this change is done.
        """

    def count_up(self, name: str, by: int, *, gaps: bool = False) -> int:
        """Raise a counter, which begins at 0, and give what it was; what was given out is gone.

        With `gaps`, numbers may be left out: a server is not asked for each.
        """

    def put_entries(self, entries: Entries) -> None:
        """Add entries that are not there, and their loose rows."""

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Add documents, each in the place of one with its id."""

    def drop_documents(self, ids: Sequence[str]) -> None:
        """Remove documents."""

    def drop_unused(self, entries: NDArray[np.int64]) -> int:
        """Remove those entries, of some, that no document is a copy of; count them."""

    def take_loose(self, key: int) -> NDArray[np.int64]:
        """Remove the loose rows of a bucket, and give their entries."""

    def put_blocks(self, blocks: Sequence[Block]) -> None:
        """Add blocks to crowds."""

    def sweep(self) -> None:
        """Remove what names entries that are gone, of loose rows and of blocks."""


class Whole(Reader, Protocol):
    """One look at all of a store, some rows in memory at a time."""

    def faults(self) -> list[str]:
        """Tell what the database itself finds damaged, each in a few words."""

    def every_document(self) -> Iterator[tuple[Document, int | None]]:
        """Give all documents with their marks, which those of an older format do not have."""

    def every_entry(self, begin: int, end: int) -> Iterator[tuple[Entry, int | None]]:
        """Give the entries with numbers from one up to another, and their marks."""

    def every_loose(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Give all loose rows, some at a time: their keys, and the entry of each."""

    def every_block(self) -> Iterator[Block]:
        """Give all blocks."""

    def ids_of(self, entry: int, most: int) -> list[str]:
        """Give the ids of so many documents of an entry, the first ones."""


class Turn(Protocol):
    """The right to be the one job that adds to a store what it has decided about all of it."""

    def check(self) -> None:
        """Refuse to go on where it was lost."""

    def release(self) -> None:
        """Let another have it."""


class Store(Protocol):
    """Where an index is kept."""

    address: str
    """As a user gives it."""
    on_server: bool
    """Changes that have no lock in common are made side by side, and what is sought is best said
    at once; of a file both mean nothing."""

    def read(self, sought: Sought | None = None) -> AbstractContextManager[Reader]:
        """Look at the store as it is now."""

    def read_whole(self) -> AbstractContextManager[Whole]:
        """Look at all of the store as it is now."""

    def write(
        self, locks: NDArray[np.int64] | None = None, sought: Sought | None = None
    ) -> AbstractContextManager[Writer]:
        """Change the store.

        Of two changes with a lock in common, and of one without locks and any other, one begins
        when the other has ended. What is sought has to be under the locks.
        """

    def change(
        self,
        work: Callable[[Writer], Made],
        locks: NDArray[np.int64] | None = None,
        sought: Sought | None = None,
    ) -> Made:
        """Change the store by a function, and give what that gives.

        It is called again where a server has undone the change for the sake of another's.
        """

    def turn(self) -> Turn | None:
        """Give the right to be the one job; None while another has it."""

    def compact(self) -> None:
        """Give room back that nothing stands in any more."""

    def close(self) -> None:
        """Let go of it; all that was done is kept."""
