"""The middle stage: documents to sketches to band keys, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.base.threads import in_order, pieces
from lookalike.candidates.buckets import TOGETHER, Keys, Layout
from lookalike.job.metrics import CHECK_WORDS
from lookalike.job.running import PIECE_BYTES
from lookalike.sketches import hyperplanes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.base.columns import Column
    from lookalike.job.metrics import Metric
    from lookalike.job.running import Running
    from lookalike.job.work_folder import Work
    from lookalike.text.documents import Texts

__all__ = ["Check", "Sketches", "sketch"]

MANY = 64
"""One in so many documents, from which on sketches are read in blocks, not one by one."""
KEY_BYTES = 12
"""Bytes of a document in one band: its key, and its bucket."""


@dataclass(frozen=True)
class Sketches:
    """What banding needs to know of each distinct document."""

    layout: Layout
    keys: Keys
    bare: NDArray[np.bool_]
    """Whether a document has no shingle that counts."""
    stored: Column | None
    """The first words of each sketch."""
    words: int
    """How many of each are stored."""
    checks: Column | None
    """The bits of each that are looked at before two documents are."""

    def of(self, documents: NDArray[np.int64], words: int) -> NDArray[np.uint32]:
        """Give so many words of some documents' sketches."""
        if self.stored is None:
            return np.empty((len(documents), 0), np.uint32)
        if self.stored.path is None:
            stored: NDArray[np.uint32] = self.stored.read().reshape(-1, self.words)
            return np.ascontiguousarray(stored[documents, :words])
        if MANY * len(documents) > len(self.bare):
            return self._picked(documents, words)
        found = np.empty((len(documents), self.words), np.uint32)
        for place, document in enumerate(documents.tolist()):
            self.stored.read_into(found[place], document * self.words)
        return np.ascontiguousarray(found[:, :words])

    def _picked(self, documents: NDArray[np.int64], words: int) -> NDArray[np.uint32]:
        """Read all sketches, a block at a time, and keep those of some documents."""
        found = np.empty((len(documents), words), np.uint32)
        start = 0
        for block in self._blocks():
            mine = np.flatnonzero((documents >= start) & (documents < start + len(block)))
            found[mine] = block[documents[mine] - start, :words]
            start += len(block)
        return found

    def _blocks(self) -> Iterator[NDArray[np.uint32]]:
        if self.stored is not None:
            yield from _blocks(self.stored, self.words, 0, len(self.bare))

    def all_checks(self) -> NDArray[np.uint32]:
        """Give the bits of all sketches that are looked at first."""
        if self.checks is None:
            return np.empty((len(self.bare), 0), np.uint32)
        found: NDArray[np.uint32] = self.checks.read().reshape(-1, CHECK_WORDS)
        return found


class Check:
    """Dismisses candidates whose sketches differ too much, before the documents are read."""

    def __init__(self, sketches: NDArray[np.uint32], most: int, threads: int) -> None:
        """Take the first words of all sketches, and the bits in which two may differ."""
        self._sketches = sketches
        self._most = most
        self._threads = threads

    def passing(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the candidates that are worth comparing."""

        def near(piece: slice) -> NDArray[np.bool_]:
            return hyperplanes.differing(self._sketches, first[piece], second[piece]) <= self._most

        cut = pieces(np.ones(len(first), np.int64), TOGETHER)
        found = [np.empty(0, np.bool_), *in_order(near, cut, self._threads)]
        kept = np.concatenate(found)
        return first[kept], second[kept]


def sketch(
    texts: Texts,
    chosen: NDArray[np.int64],
    metric: Metric,
    layout: Layout,
    work: Work,
    *,
    key: Any,
    rows: int,
    store: bool,
    running: Running,
) -> Sketches:
    """Make the band keys of the chosen documents, or go on where the work folder says.

    `key` names all that decides a sketch. With `store` the sketches are kept, at least `rows` of
    each; those kept under the same key are used again.
    """
    known = work.stage("sketch")
    needed = metric.stored(rows) if store else metric.always_stored
    if known.get("key") != key or known["stored"] < needed:
        known.clear()
        known.update(key=key, stored=needed, signed=False, cascade=None, banded=False)
    stored = known["stored"]
    banding = metric.banding(layout)
    if known["cascade"] != banding:
        work.store.drop("keys")
        whole = stored >= metric.words(layout.cascade.rows)
        known.update(cascade=banding, banded=False, signed=known["signed"] and whole)
        if not known["signed"]:
            work.store.drop("bare", "signatures", "checks")
    if not work.durable and len(chosen) * layout.bands * KEY_BYTES > running.memory // 4:
        work.make_room()
    keys = Keys(layout.bands, work.store.column("keys", np.uint64))
    bare = work.store.column("bare", np.uint8)
    signatures = work.store.column("signatures", np.uint32) if stored else None
    checks = work.store.column("checks", np.uint32) if metric.checked else None
    running.progress("sketch", keys.written, len(chosen))
    if known["signed"] and signatures is not None and not known["banded"]:
        for block in _blocks(signatures, stored, keys.written, len(chosen)):
            keys.append(metric.keys(block, layout))
            running.progress("sketch", len(keys), len(chosen))
    elif not known["signed"]:
        # Keys are written in blocks; what stands behind the last block is made again.
        bare.clear(keys.written)
        if signatures is not None:
            signatures.clear(keys.written * stored)
        if checks is not None:
            checks.clear(keys.written * CHECK_WORDS)
        making = max(metric.words(rows), stored)
        columns = bare, signatures, checks
        _sketch(texts, chosen, metric, layout, work, keys, *columns, stored, making, running)
    keys.finish()
    known.update(signed=True, banded=True)
    work.checkpoint()
    return Sketches(layout, keys, bare.read().astype(np.bool_), signatures, stored, checks)


def _blocks(stored: Column, words: int, begin: int, end: int) -> Iterator[NDArray[np.uint32]]:
    for start in range(begin, end, TOGETHER):
        stop = min(start + TOGETHER, end)
        yield stored.read(start * words, stop * words).reshape(-1, words)


def _sketch(
    texts: Texts,
    chosen: NDArray[np.int64],
    metric: Metric,
    layout: Layout,
    work: Work,
    keys: Keys,
    bare: Column,
    signatures: Column | None,
    checks: Column | None,
    stored: int,
    making: int,
    running: Running,
) -> None:
    wanted = chosen[keys.written :]

    def make(piece: slice) -> tuple[NDArray[Any], ...]:
        part, mine = texts.part(wanted[piece])
        made, empty = metric.sketch(part, mine, making)
        first = made[:, :0] if checks is None else metric.checks(made)
        return metric.keys(made, layout), empty, made[:, :stored], first

    written = keys.written
    cuts = pieces(texts.lengths(wanted), PIECE_BYTES)
    for made, empty, kept, first in in_order(make, cuts, running.threads):
        keys.append(made)
        bare.append(empty)
        if signatures is not None:
            signatures.append(kept)
        if checks is not None:
            checks.append(first)
        running.progress("sketch", len(keys), len(chosen))
        if keys.written > written:
            written = keys.written
            work.checkpoint()
