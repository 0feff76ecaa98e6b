"""Signatures to buckets to candidate pairs: locality-sensitive hashing.

A band of r rows is a bucket key; two documents with an equal key in at least one band are
candidates. That is the cascade `and:r or:b`; any other cascade of ANDs and ORs works as well.
Buckets are made a band at a time. Then the documents are taken in order, and each meets those
before it in its buckets: each candidate comes once, in blocks, and no list of all is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.base.columns import Column
from lookalike.base.errors import QuadraticError, SettingsError
from lookalike.base.threads import in_order
from lookalike.base.wording import setting
from lookalike.kernels import buckets as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.candidates.pairing import SideOrder
    from lookalike.planning.curves import Cascade

__all__ = ["BucketIndex", "Buckets", "Keys", "Layout", "band_keys", "candidates", "stored_keys"]

BLOCK_PAIRS = 1 << 20
"""Candidates that are held at a time."""
BLOCK_DOCUMENTS = 1 << 16
"""Documents whose keys stand together in a column, and that are taken at a time."""
LAST_STAMP = (1 << 32) - 1
MIN_PAIRS_LIMIT = 1_000_000_000
PAIRS_PER_DOCUMENT = 1000
"""Pairs in shared buckets that are worked off; the larger of the two bounds holds."""


def band_keys(signatures: NDArray[np.uint32], *, bands: int, rows: int) -> NDArray[np.uint64]:
    """Give the keys of all documents, a row a band: the same hash for all, buckets apart."""
    if bands * rows > signatures.shape[1]:
        raise SettingsError(
            f"{bands} bands of {rows} rows need signatures of {bands * rows} rows; "
            f"these have {signatures.shape[1]}"
        )
    keys = np.empty((bands, len(signatures)), np.uint64)
    kernels.band_keys(signatures, rows, keys)
    return keys


def stored_keys(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
    """Give band keys as a store has them, a row a document: short, and with their band in them."""
    found = np.empty(keys.shape[::-1], np.int64)
    kernels.stored_keys(keys, bits, found)
    return found


@dataclass(frozen=True)
class Layout:
    """A cascade as bands: the rows of each, and what must hold of their equality."""

    cascade: Cascade
    rows: int
    bands: int
    steps: tuple[tuple[str, int], ...]
    """The steps above the bands."""

    @classmethod
    def of(cls, cascade: Cascade) -> Layout:
        """Take the first AND for the rows of a band."""
        steps = list(cascade.steps)
        rows = steps.pop(0)[1] if steps and steps[0][0] == "and" else 1
        bands = int(np.prod([size for _, size in steps], dtype=np.int64))
        return cls(cascade, rows, bands, tuple(steps))

    @property
    def generators(self) -> list[int]:
        """The bands of which at least one is shared by every pair that passes the cascade.

        All parts of an AND must hold, so that the first stands for the rest; of an OR any may.
        """
        bands = np.zeros(1, np.int64)
        width = 1
        for name, size in self.steps:
            if name == "or":
                bands = (bands[None, :] + width * np.arange(size)[:, None]).ravel()
            width *= size
        found: list[int] = bands.tolist()
        return found

    @property
    def filtered(self) -> bool:
        """Whether a shared bucket is not enough to be a candidate."""
        return any(name == "and" for name, _ in self.steps)

    def holds(
        self, keys: NDArray[np.uint64], first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Tell for which pairs of documents the whole cascade holds."""
        operations = np.array(
            [kernels.AND if name == "and" else kernels.OR for name, _ in self.steps]
        )
        sizes = np.array([size for _, size in self.steps], np.int64)
        out = np.empty(len(first), np.bool_)
        kernels.holds(keys, first, second, operations.astype(np.int64), sizes, out)
        return out


class Keys:
    """The band keys of documents as they come, in a column: band after band of each 65,536."""

    def __init__(self, bands: int, column: Column) -> None:
        """Begin, or go on after the documents whose keys the column holds."""
        self.bands = bands
        self._column = column
        self._pending: list[NDArray[np.uint64]] = []
        self.written = len(column) // bands
        self._pending_documents = 0

    def __len__(self) -> int:
        """Count the documents."""
        return self.written + self._pending_documents

    def append(self, keys: NDArray[np.uint64]) -> None:
        """Add the keys of some documents, a row a band."""
        self._pending.append(keys)
        self._pending_documents += keys.shape[1]
        if self._pending_documents >= BLOCK_DOCUMENTS:
            joined = np.concatenate(self._pending, axis=1)
            whole = joined.shape[1] // BLOCK_DOCUMENTS * BLOCK_DOCUMENTS
            for start in range(0, whole, BLOCK_DOCUMENTS):
                self._column.append(joined[:, start : start + BLOCK_DOCUMENTS])
            self.written += whole
            self._pending = [joined[:, whole:]]
            self._pending_documents -= whole

    def finish(self) -> None:
        """Write the rest."""
        if self._pending_documents:
            self._column.append(np.concatenate(self._pending, axis=1))
            self.written += self._pending_documents
            self._pending, self._pending_documents = [], 0

    def band(self, number: int) -> NDArray[np.uint64]:
        """Give the keys of all documents in one band."""
        parts = [np.empty(0, np.uint64)]
        for start in range(0, self.written, BLOCK_DOCUMENTS):
            size = min(BLOCK_DOCUMENTS, self.written - start)
            at = start * self.bands + number * size
            parts.append(self._column.read(at, at + size))
        return np.concatenate(parts)

    def all(self) -> NDArray[np.uint64]:
        """Give the keys of all documents in all bands, a row a band."""
        rows = [self.band(number) for number in range(self.bands)]
        return np.stack(rows) if rows else np.empty((0, self.written), np.uint64)


class Buckets(NamedTuple):
    """Which bucket each document is in, band by band, in the order in which they are taken."""

    table: Column
    """For each band the bucket of each document, or NO_BUCKET."""
    starts: NDArray[np.int64]
    """Where the members of each bucket begin, and the end of the last."""
    documents: int
    bands: int
    max_band_pairs: int
    """Pairs in the buckets of the band that has the most."""
    largest: int
    """Documents in the largest bucket."""

    @classmethod
    def of(
        cls,
        keys: Keys,
        layout: Layout,
        table: Column,
        *,
        empty: NDArray[np.bool_] | None = None,
        places: NDArray[np.int64] | None = None,
        across: SideOrder | None = None,
        threads: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> Buckets:
        """Make the buckets of the generating bands, one band after the other.

        `places` says at which place each document is taken, by default at its own, or as `across`
        says: then only pairs across two corpora count. Empty documents, which have no shingles, are
        in no bucket.
        """
        documents = len(keys)
        empty = np.zeros(documents, np.bool_) if empty is None else empty
        if across is not None:
            places = across.places
        places = np.arange(documents) if places is None else places
        sizes: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        number = max_band_pairs = largest = 0

        def ordered(band: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
            mine = keys.band(band)
            order = np.argsort(mine)
            return mine[order], order

        generators = layout.generators
        for done, (mine, order) in enumerate(in_order(ordered, generators, threads), 1):
            out = np.full(documents, kernels.NO_BUCKET, np.uint32)
            bucket_sizes = np.empty(documents // 2 + 1, np.int64)
            found = kernels.number_buckets(mine, order, empty, places, number, out, bucket_sizes)
            table.append(out)
            number += found
            if number >= kernels.NO_BUCKET:
                raise QuadraticError(
                    f"'{layout.cascade}' makes more than {number:,} buckets: use fewer bands"
                )
            sizes.append(bucket_sizes[:found].copy())
            pairs = _pairs(sizes[-1])
            if across is not None:
                for part in (out[: across.met], out[across.meeting :]):
                    shared = part[part != kernels.NO_BUCKET]
                    pairs -= _pairs(np.bincount(shared - np.uint32(number - found)))
            max_band_pairs = max(max_band_pairs, pairs)
            largest = max(largest, int(sizes[-1].max(initial=0)))
            if progress:
                progress(done, len(generators))
        starts = np.append(0, np.cumsum(np.concatenate(sizes)))
        return cls(table, starts, documents, len(generators), max_band_pairs, largest)

    def batch(self, start: int, stop: int) -> NDArray[np.uint32]:
        """Give the buckets of the documents at some places, a row a band."""
        rows = [
            self.table.read(band * self.documents + start, band * self.documents + stop)
            for band in range(self.bands)
        ]
        return np.stack(rows)


class BucketIndex:
    """Buckets as they fill: a document meets the members of its buckets and may become one."""

    def __init__(self, buckets: Buckets, *, block: int = BLOCK_PAIRS) -> None:
        """Begin with empty buckets."""
        self._starts = buckets.starts
        self._sizes = np.zeros(len(buckets.starts) - 1, np.uint32)
        self._slots = np.empty(int(buckets.starts[-1]), np.uint32)
        self._marks = np.zeros(buckets.documents, np.uint32)
        self._stamp = 1
        self._buffers = np.empty(block, np.int64), np.empty(block, np.int64)

    @property
    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
        return self._starts, self._sizes, self._slots

    def candidates(
        self,
        batch: NDArray[np.uint32],
        base: int,
        *,
        alive: NDArray[np.bool_] | None = None,
        least: int = 0,
        insert: bool,
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Give, in blocks, the places of members and of the documents that meet them.

        The documents at `base` and after, those `alive`, meet members at places from `least` on,
        each once, and with `insert` become members in turn.
        """
        alive = np.ones(batch.shape[1], np.bool_) if alive is None else alive
        if self._stamp + len(alive) > LAST_STAMP:
            self._marks[:] = 0
            self._stamp = 1
        stamp = self._stamp
        self._stamp += len(alive)
        state = np.zeros(3, np.int64)
        first, second = self._buffers
        while state[0] < len(alive):
            written = kernels.next_candidates(
                batch,
                base,
                alive,
                least,
                insert,
                *self._members,
                self._marks,
                stamp,
                state,
                first,
                second,
            )
            if written:
                yield first[:written].copy(), second[:written].copy()

    def insert(self, batch: NDArray[np.uint32], base: int, chosen: NDArray[np.bool_]) -> None:
        """Make some documents of a stretch members, without meeting anybody."""
        kernels.insert_members(batch, base, chosen, *self._members)

    def remove(self, batch: NDArray[np.uint32], base: int) -> None:
        """Take the documents of a stretch out again; none at later places may be in."""
        kernels.remove_members(batch, base, *self._members)


def candidates(
    signatures: NDArray[np.uint32],
    cascade: Cascade,
    *,
    max_pairs: int | None = None,
    threads: int = 1,
    block: int = BLOCK_PAIRS,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give the pairs of documents for which the cascade holds, each once, the smaller row first.

    Documents without shingles have equal signatures and shall not be among them.

    `max_pairs` bounds the pairs that the buckets of one band may hold (by default 1,000 a document
    and a billion at the least); above it, QuadraticError says what to change before any is
    compared.
    """
    layout = Layout.of(cascade)
    keys = Keys(layout.bands, Column(np.uint64))
    keys.append(band_keys(signatures, bands=layout.bands, rows=layout.rows))
    keys.finish()
    buckets = Buckets.of(keys, layout, Column(np.uint32), threads=threads)
    refuse_if_quadratic(buckets, cascade, max_pairs)
    yield from candidate_blocks(
        buckets, layout, keys.all() if layout.filtered else None, block=block
    )


def candidate_blocks(
    buckets: Buckets,
    layout: Layout,
    keys: NDArray[np.uint64] | None,
    *,
    start: int = 0,
    across: SideOrder | None = None,
    block: int = BLOCK_PAIRS,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give the candidates whose later document stands at `start` or after, in blocks.

    `keys` are those of all bands, where the cascade asks for more than a shared bucket. With
    `across` only candidates across two corpora are made; buckets must be in its order. `progress`
    is told, before a block, that all candidates of so many documents came before it.
    """
    index = BucketIndex(buckets, block=block)
    for base, stop, meets, is_met in _stretches(buckets.documents, across):
        met = min(stop, start) if meets else stop
        if met > base and is_met:
            index.insert(buckets.batch(base, met), base, np.ones(met - base, np.bool_))
        begin = max(base, met)
        if begin >= stop:
            continue
        if progress:
            progress(begin)
        for first, second in index.candidates(buckets.batch(begin, stop), begin, insert=is_met):
            if across is not None:
                first, second = across.order[first], across.order[second]
            if keys is not None:
                holding = layout.holds(keys, first, second)
                first, second = first[holding], second[holding]
            if len(first):
                yield first, second


def _stretches(documents: int, across: SideOrder | None) -> Iterator[tuple[int, int, bool, bool]]:
    """Give stretches of places; whether their documents meet others, and are met by later ones."""
    met, meeting = (0, documents) if across is None else (across.met, across.meeting)
    for begin, end, meets, is_met in (
        (0, met, False, True),
        (met, meeting, True, True),
        (meeting, documents, True, False),
    ):
        for base in range(begin, end, BLOCK_DOCUMENTS):
            yield base, min(base + BLOCK_DOCUMENTS, end), meets, is_met


def _pairs(sizes: NDArray[np.int64]) -> int:
    """Count the pairs in buckets of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())


def refuse_if_quadratic(buckets: Buckets, cascade: Cascade, max_pairs: int | None = None) -> None:
    """Refuse, before anything is compared, buckets that hold too many pairs."""
    documents, total = buckets.documents, buckets.max_band_pairs
    if max_pairs is None:
        max_pairs = max(MIN_PAIRS_LIMIT, PAIRS_PER_DOCUMENT * documents)
    if total > max_pairs:
        share = total / (documents * (documents - 1) / 2)
        raise QuadraticError(
            f"the cascade '{cascade}' puts {total:,} pairs of {documents:,} documents in the "
            f"buckets of one band ({share:.1%} of all, the largest bucket holds "
            f"{buckets.largest:,}), more than {max_pairs:,}: use a longer {setting('shingle')}, a "
            f"higher {setting('threshold')}, or a {setting('cascade')} that begins with a larger "
            "'and'"
        )
