"""Every document that lies inside another: a quotation in a book, a page in its longer edition.

A set that has a share t of another's n elements misses at most n - tn of them, and so has some of
any few more than that. The rarest of each document are kept in an index, every document is looked
up in it, and who has enough of another's rarest is compared with it exactly. Which elements count
as rare decides how many are compared, never what is found.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from lookalike.base.errors import QuadraticError, SettingsError
from lookalike.base.threads import in_order, pieces
from lookalike.base.wording import setting
from lookalike.kernels import containment as kernels
from lookalike.text.shingles import element_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from lookalike.text.normalise import Canonical
    from lookalike.text.shingles import Sets, Shingling

__all__ = ["Contained", "contained"]

MAX_BLOCK_PAIRS = 1 << 19
"""Candidates that one thread compares at a time, at the most."""
BYTES_PER_CANDIDATE = 128
"""Memory of a candidate while it is compared."""
MAX_PIECE_BYTES = 1 << 21
"""Bytes of text that are read at a time, at the most."""
MEMORY_PER_BYTE = 32
"""Memory that a byte of text takes while its sets are at work, and those they are compared with."""
MARKS_PER_ENTRY = 16
"""Bits of the table that tells what is not in the index; one in so many passes by chance."""
BYTES_PER_ENTRY = 26
"""Memory of an entry of the index while it is sorted, and of its part of the directory."""
BYTES_PER_OWNER = 64
"""Memory of a document in the index, beside its entries."""
EXTRA_ELEMENTS = 3
"""Elements that are looked for, at the least, in what may contain a document."""
MIN_CANDIDATES_LIMIT = 50_000_000
CANDIDATES_PER_DOCUMENT = 1000
"""Candidates that are compared; the larger of the two bounds holds."""

R = TypeVar("R")


class _Texts(Protocol):
    """Canonical documents, in memory or elsewhere."""

    def __len__(self) -> int: ...

    def lengths(self, rows: NDArray[np.int64]) -> NDArray[np.int64]: ...

    def chosen(self, rows: NDArray[np.int64]) -> Canonical: ...


@dataclass(frozen=True)
class Contained:
    """Pairs of rows, of which the inner one lies in the outer one."""

    inner: NDArray[np.int64]
    outer: NDArray[np.int64]
    containment: NDArray[np.float64]
    """The share of the inner one's shingles that the outer one has."""
    similarity: NDArray[np.float64]
    inner_sizes: NDArray[np.int64]
    """How many shingles the inner one has."""
    outer_sizes: NDArray[np.int64]

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.inner)


def contained(
    texts: _Texts,
    shingling: Shingling,
    *,
    threshold: float,
    memory: int,
    threads: int = 1,
    max_candidates: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Contained]:
    """Give each pair of documents of which the outer has the threshold's share of the inner's set.

    The pairs come in blocks, each once and in one direction; two documents that lie in each other
    are two pairs. A document without shingles is in none. `memory` bounds the bytes that the work
    takes: with less of it, the texts are read more often.

    `max_candidates` bounds them (by default 1,000 a document and 50 million at the least); above
    it, QuadraticError says what to change. `progress` is told how much is done, and of how much.
    """
    if not 0 < threshold <= 1:
        raise SettingsError(
            f"{setting('containment', threshold)}: use a share above 0 and up to 1, as 0.9, or "
            "every document would be in every other"
        )
    if max_candidates is None:
        max_candidates = max(MIN_CANDIDATES_LIMIT, CANDIDATES_PER_DOCUMENT * len(texts))
    corpus = _Corpus(texts, shingling, memory // 2, threads, progress or _silent)
    counters = _count(corpus, memory // 4)
    candidates = 0
    for index in _slices(corpus, counters, threshold, memory // 4):
        for block in _look_up(corpus, index):
            candidates += block.compared
            if candidates > max_candidates:
                raise QuadraticError(
                    f"{setting('containment', threshold)}: more than {max_candidates:,} pairs of "
                    f"{len(texts):,} documents would have to be compared, for even the rarest "
                    f"{shingling} shingles of some are in about {index.commonest:,} documents: "
                    f"leave out what all of them repeat by {setting('max_df')} or "
                    f"{setting('ignore')}, use a longer {setting('shingle')}, or a higher "
                    f"{setting('containment')}"
                )
            if len(block.found):
                yield block.found


def _silent(_done: int, _total: int) -> None:
    """Report nothing."""


class _Corpus:
    """The documents, of which the sets are built piece by piece, on several threads."""

    def __init__(
        self,
        texts: _Texts,
        shingling: Shingling,
        memory: int,
        threads: int,
        progress: Callable[[int, int], None],
    ) -> None:
        share = memory // 2 // threads
        self.texts = texts
        self.shingling = shingling
        self.piece = max(1, min(MAX_PIECE_BYTES, share // MEMORY_PER_BYTE))
        self.block = max(1, min(MAX_BLOCK_PAIRS, share // BYTES_PER_CANDIDATE))
        self.threads = threads
        self.progress = progress
        self.lengths = texts.lengths(np.arange(len(texts), dtype=np.int64))

    def sets(self, rows: NDArray[np.int64]) -> Sets:
        return element_sets(self.texts.chosen(rows), self.shingling)

    def each(self, work: Callable[[NDArray[np.int64], Sets], R]) -> Iterator[R]:
        """Give what comes of each piece, in order."""

        def build(piece: slice) -> R:
            rows = np.arange(piece.start, piece.stop, dtype=np.int64)
            return work(rows, self.sets(rows))

        return in_order(build, pieces(self.lengths, self.piece), self.threads)


@dataclass(frozen=True)
class _Index:
    """The rarest elements of some documents, those from one row up to another.

    An entry is an element whose lowest `bits` gave way to the place of its document among
    `owners`; the few elements that become equal by that bring candidates, and lose none.
    """

    first: int
    stop: int
    entries: NDArray[np.uint64]
    bits: np.uint64
    starts: NDArray[np.int64]
    marks: NDArray[np.uint64]
    owners: NDArray[np.int64]
    needed: NDArray[np.int64]
    required: NDArray[np.int64]
    commonest: int

    @classmethod
    def of(cls, parts: list[_Part]) -> _Index:
        """Make one of neighbouring parts."""
        owners, needed, required, counts, entries = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("owners", "needed", "required", "counts", "elements")
        )
        bits = np.uint64(len(owners).bit_length())
        kernels.set_owners(entries, counts, bits)
        entries.sort()
        starts = np.empty(len(entries) + 2, np.int64)
        marks = np.zeros(len(entries) // (64 // MARKS_PER_ENTRY) + 1, np.uint64)
        kernels.directory(entries, bits, starts, marks)
        return cls(
            parts[0].first,
            parts[-1].stop,
            entries,
            bits,
            starts,
            marks,
            owners,
            needed,
            required,
            max(part.commonest for part in parts),
        )


@dataclass(frozen=True)
class _Part:
    """What a piece of the documents brings to an index."""

    first: int
    stop: int
    elements: NDArray[np.uint64]
    counts: NDArray[np.int64]
    owners: NDArray[np.int64]
    needed: NDArray[np.int64]
    required: NDArray[np.int64]
    commonest: int


def _count(corpus: _Corpus, memory: int) -> NDArray[np.uint16]:
    """Count in how many documents each element stands, or more where the room is small."""
    total = int(corpus.lengths.sum())
    counters = np.zeros(max(1, min(memory // 2, 4 * total)), np.uint16)
    # One thread at a time, so that no count is lost: an element counted once is taken to be alone.
    counting = threading.Lock()

    def work(rows: NDArray[np.int64], sets: Sets) -> int:
        with counting:
            kernels.count_elements(sets.elements, counters)
        return int(rows[-1]) + 1

    for done in corpus.each(work):
        corpus.progress(done, 2 * len(corpus.lengths))
    return counters


def _slices(
    corpus: _Corpus, counters: NDArray[np.uint16], threshold: float, memory: int
) -> Iterator[_Index]:
    """Index the documents, as many at a time as there is room for."""

    def work(rows: NDArray[np.int64], sets: Sets) -> _Part:
        offsets = np.zeros(len(rows) + 1, np.int64)
        elements = np.empty(len(sets.elements), np.uint64)
        needed, required = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        commonest = kernels.rarest(
            sets.elements,
            sets.offsets,
            counters,
            threshold,
            EXTRA_ELEMENTS,
            elements,
            offsets,
            needed,
            required,
        )
        counts = np.diff(offsets)
        some = np.flatnonzero(counts)
        return _Part(
            int(rows[0]),
            int(rows[-1]) + 1,
            elements[: offsets[-1]].copy(),
            counts[some],
            rows[some],
            needed[some],
            required[some],
            commonest,
        )

    parts: list[_Part] = []
    taken = 0
    for part in corpus.each(work):
        size = BYTES_PER_ENTRY * len(part.elements)
        size += (BYTES_PER_OWNER + 8 * corpus.threads) * len(part.owners)
        if parts and taken + size > memory:
            index = _Index.of(parts)
            parts, taken = [], 0
            yield index
        parts.append(part)
        taken += size
    if parts:
        yield _Index.of(parts)


def _look_up(corpus: _Corpus, index: _Index) -> Iterator[_Block]:
    """Look every document up in an index, and compare what it may contain."""
    documents = len(corpus.lengths)
    if len(index.owners):
        for first in corpus.each(partial(_search, corpus, index, 0)):
            block: _Block | None = first
            while block is not None:
                yield block
                share = (index.stop - index.first) * block.stop // documents
                corpus.progress(documents + index.first + share, 2 * documents)
                block = block.rest() if block.rest else None
    corpus.progress(documents + index.stop, 2 * documents)


@dataclass(frozen=True)
class _Block:
    """What was found in the documents up to a row, and where the piece has more, how to go on."""

    found: Contained
    compared: int
    stop: int
    rest: Callable[[], _Block] | None


def _search(
    corpus: _Corpus, index: _Index, start: int, rows: NDArray[np.int64], sets: Sets
) -> _Block:
    """Find what lies in the documents of a piece, from one of them on, as far as a block goes."""
    owners = len(index.owners)
    largest = int(sets.sizes().max(initial=0))
    inner = np.empty(corpus.block + owners, np.int32)
    outer = np.empty(corpus.block + owners, np.int32)
    compared, stop = kernels.look_up(
        sets.elements,
        sets.offsets,
        rows,
        start,
        index.entries,
        index.bits,
        index.starts,
        index.marks,
        index.owners,
        index.needed,
        index.required,
        np.zeros(owners, np.int32),
        np.empty(owners, np.int32),
        np.empty(largest + 1, np.uint64),
        np.empty(largest + 1, np.int64),
        inner,
        outer,
    )
    found = _compare(corpus, index, rows, sets, inner[:compared], outer[:compared])
    # The rest keeps the sets; without one they are let go, since blocks may wait for their turn.
    rest = partial(_search, corpus, index, stop, rows, sets) if stop < len(rows) else None
    return _Block(found, compared, int(rows[stop - 1]) + 1, rest)


def _compare(
    corpus: _Corpus,
    index: _Index,
    rows: NDArray[np.int64],
    outer_sets: Sets,
    inner: NDArray[np.int32],
    outer: NDArray[np.int32],
) -> Contained:
    """Count what candidates share, on sets of the inner ones that are built for it."""
    order = np.argsort(inner, kind="stable")
    inner, outer = inner[order], outer[order]
    involved, begins = np.unique(inner, return_index=True)
    begins = np.append(begins, len(inner))
    owners = index.owners[involved]
    needed = index.needed[inner]
    shared = np.empty(len(inner), np.int64)
    sizes = np.empty(len(inner), np.int64)
    for piece in pieces(corpus.lengths[owners], corpus.piece):
        pairs = slice(begins[piece.start], begins[piece.stop])
        sets = corpus.sets(owners[piece])
        places = np.searchsorted(involved[piece], inner[pairs])
        sizes[pairs] = sets.sizes()[places]
        kernels.shared(
            sets.elements,
            sets.offsets,
            places,
            outer_sets.elements,
            outer_sets.offsets,
            outer[pairs],
            needed[pairs],
            shared[pairs],
        )
    kept = np.flatnonzero(shared >= needed)
    inner, outer, shared, sizes = inner[kept], outer[kept], shared[kept], sizes[kept]
    outer_sizes = outer_sets.sizes()[outer]
    union = sizes + outer_sizes - shared
    shares = shared / sizes, shared / union
    return Contained(index.owners[inner], rows[outer], *shares, sizes, outer_sizes)
