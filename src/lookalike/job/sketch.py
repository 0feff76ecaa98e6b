"""The middle stage: documents to sketches to band keys, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lookalike.base.threads import in_order, pieces
from lookalike.candidates.buckets import BLOCK_DOCUMENTS, Keys
from lookalike.job.running import PIECE_BYTES
from lookalike.recipe import PREFILTER_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.base.columns import Column
    from lookalike.candidates.buckets import Layout
    from lookalike.job.running import Running
    from lookalike.job.work_folder import Work
    from lookalike.recipe import Encoded, Recipe
    from lookalike.text.documents import Texts

__all__ = ["Sketches", "sketch"]

SCAN_ONE_IN = 64
"""One in so many documents, from which on sketches are read in blocks, not one by one."""
KEY_BYTES = 12
"""Bytes of a document in one band: its key, and its bucket."""


@dataclass(frozen=True)
class Sketches:
    """What banding needs to know of each distinct document."""

    layout: Layout
    keys: Keys
    empty: NDArray[np.bool_]
    """Whether a document has no shingle that counts."""
    stored: Column | None
    """The first words of each sketch."""
    words: int
    """How many of each are stored."""
    prefilter: Column | None
    """The bits of each that are looked at before two documents are."""

    def of(self, documents: NDArray[np.int64], words: int) -> NDArray[np.uint32]:
        """Give so many words of some documents' sketches."""
        if self.stored is None:
            return np.empty((len(documents), 0), np.uint32)
        if self.stored.path is None:
            stored: NDArray[np.uint32] = self.stored.read().reshape(-1, self.words)
            return np.ascontiguousarray(stored[documents, :words])
        if SCAN_ONE_IN * len(documents) > len(self.empty):
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
            yield from _blocks(self.stored, self.words, 0, len(self.empty))

    def prefilter_bits(self) -> NDArray[np.uint32]:
        """Give the bits of all sketches that are looked at first."""
        if self.prefilter is None:
            return np.empty((len(self.empty), 0), np.uint32)
        found: NDArray[np.uint32] = self.prefilter.read().reshape(-1, PREFILTER_WORDS)
        return found


def sketch(
    texts: Texts,
    chosen: NDArray[np.int64],
    recipe: Recipe,
    work: Work,
    *,
    store: bool,
    running: Running,
) -> Sketches:
    """Make the band keys of the chosen documents, or go on where the work folder says.

    With `store` the sketches are kept; those kept by a recipe that makes the same sketches, if
    long enough, are used again.
    """
    stage = work.stage("sketch")
    known = stage.known
    key, needed = recipe.sketching(), recipe.stored_words(kept=store)
    if known.get("key") != key or known["stored"] < needed:
        known.clear()
        known.update(key=key, stored=needed, signed=False, cascade=None, banded=False)
    stored, layout = known["stored"], recipe.layout
    banding = recipe.banding()
    if known["cascade"] != banding:
        stage.drop("keys")
        whole = stored >= recipe.key_words
        known.update(cascade=banding, banded=False, signed=known["signed"] and whole)
        if not known["signed"]:
            stage.drop("empty", "sketches", "prefilter")
    if not work.durable and len(chosen) * layout.bands * KEY_BYTES > running.memory // 4:
        work.spill()
    keys = Keys(layout.bands, stage.column("keys", np.uint64))
    empty = stage.column("empty", np.uint8)
    signatures = stage.column("sketches", np.uint32) if stored else None
    prefilter = stage.column("prefilter", np.uint32) if recipe.prefiltered else None
    running.progress("sketch", keys.written, len(chosen))
    if known["signed"] and signatures is not None and not known["banded"]:
        for block in _blocks(signatures, stored, keys.written, len(chosen)):
            keys.append(recipe.keys(block))
            running.progress("sketch", len(keys), len(chosen))
    elif not known["signed"]:
        # Keys are written in blocks; what stands behind the last block is made again.
        empty.clear(keys.written)
        if signatures is not None:
            signatures.clear(keys.written * stored)
        if prefilter is not None:
            prefilter.clear(keys.written * PREFILTER_WORDS)
        columns = empty, signatures, prefilter
        _sketch(texts, chosen, recipe, work, keys, *columns, stored, running)
    keys.finish()
    known.update(signed=True, banded=True)
    work.checkpoint()
    return Sketches(layout, keys, empty.read().astype(np.bool_), signatures, stored, prefilter)


def _blocks(stored: Column, words: int, begin: int, end: int) -> Iterator[NDArray[np.uint32]]:
    for start in range(begin, end, BLOCK_DOCUMENTS):
        stop = min(start + BLOCK_DOCUMENTS, end)
        yield stored.read(start * words, stop * words).reshape(-1, words)


def _sketch(
    texts: Texts,
    chosen: NDArray[np.int64],
    recipe: Recipe,
    work: Work,
    keys: Keys,
    empty: Column,
    signatures: Column | None,
    prefilter: Column | None,
    stored: int,
    running: Running,
) -> None:
    remaining = chosen[keys.written :]

    def make(piece: slice) -> Encoded:
        return recipe.encode(*texts.part(remaining[piece]), words=stored)

    written = keys.written
    cuts = pieces(texts.lengths(remaining), PIECE_BYTES)
    for encoded in in_order(make, cuts, running.threads):
        keys.append(encoded.keys)
        empty.append(encoded.empty)
        if signatures is not None:
            signatures.append(encoded.sketches[:, :stored])
        if prefilter is not None:
            prefilter.append(encoded.prefilter)
        running.progress("sketch", len(keys), len(chosen))
        if keys.written > written:
            written = keys.written
            work.checkpoint()
