"""The middle stage: texts to signatures to band keys, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike import minhash
from lookalike.band import TOGETHER, Keys, Layout, band_keys
from lookalike.shingle import PIECE
from lookalike.threads import in_order, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.pipeline.running import Running
    from lookalike.shingle import Shingling
    from lookalike.store import Column
    from lookalike.texts import Texts
    from lookalike.work import Work

__all__ = ["Sketches", "sketch"]

VECTOR = 32
"""Rows by which stored signatures grow: the compiled loop takes as many at a time."""


@dataclass(frozen=True)
class Sketches:
    """What banding needs to know of each distinct document."""

    layout: Layout
    keys: Keys
    bare: NDArray[np.bool_]
    """Whether a document has no shingle that counts."""
    signatures: Column | None
    rows: int
    """Of a stored signature."""

    def of(self, documents: NDArray[np.int64], rows: int) -> NDArray[np.uint32]:
        """Give so many rows of some documents' stored signatures."""
        if self.signatures is None:
            return np.empty((len(documents), 0), np.uint32)
        if self.signatures.path is None:
            stored: NDArray[np.uint32] = self.signatures.read().reshape(-1, self.rows)
            return np.ascontiguousarray(stored[documents, :rows])
        found = np.empty((len(documents), self.rows), np.uint32)
        for place, document in enumerate(documents.tolist()):
            self.signatures.read_into(found[place], document * self.rows)
        return np.ascontiguousarray(found[:, :rows])


def sketch(
    texts: Texts,
    chosen: NDArray[np.int64],
    shingling: Shingling,
    layout: Layout,
    work: Work,
    *,
    key: Any,
    rows: int,
    store: bool,
    seed: int,
    running: Running,
) -> Sketches:
    """Make the band keys of the chosen documents, or go on where the work folder says.

    `key` names all that decides a signature. With `store` the signatures are kept, at least `rows`
    of each; those kept under the same key are used again.
    """
    known = work.stage("sketch")
    needed = -(-rows // VECTOR) * VECTOR if store else 0
    if known.get("key") != key or known["stored"] < needed:
        known.clear()
        known.update(key=key, stored=needed, signed=False, cascade=None, banded=False)
    stored = known["stored"]
    if known["cascade"] != str(layout.cascade):
        work.store.drop("keys")
        known.update(
            cascade=str(layout.cascade), banded=False, signed=known["signed"] and stored > 0
        )
        if not known["signed"]:
            work.store.drop("bare", "signatures")
    keys = Keys(layout.bands, work.store.column("keys", np.uint64))
    bare = work.store.column("bare", np.uint8)
    signatures = work.store.column("signatures", np.uint32) if stored else None
    running.progress("sketch", keys.written, len(chosen))
    if known["signed"] and signatures is not None and not known["banded"]:
        for block in _stored(signatures, stored, keys.written, len(chosen)):
            keys.append(band_keys(block, bands=layout.bands, rows=layout.rows))
            running.progress("sketch", len(keys), len(chosen))
    elif not known["signed"]:
        # Keys are written in blocks; what stands behind the last block is made again.
        bare.clear(keys.written)
        if signatures is not None:
            signatures.clear(keys.written * stored)
        _sign(
            texts,
            chosen,
            shingling,
            layout,
            work,
            keys,
            bare,
            signatures,
            rows=stored or rows,
            seed=seed,
            running=running,
        )
    keys.finish()
    known.update(signed=True, banded=True)
    work.checkpoint()
    return Sketches(layout, keys, bare.read().astype(np.bool_), signatures, stored)


def _stored(signatures: Column, rows: int, begin: int, end: int) -> Iterator[NDArray[np.uint32]]:
    for start in range(begin, end, TOGETHER):
        stop = min(start + TOGETHER, end)
        yield signatures.read(start * rows, stop * rows).reshape(-1, rows)


def _sign(
    texts: Texts,
    chosen: NDArray[np.int64],
    shingling: Shingling,
    layout: Layout,
    work: Work,
    keys: Keys,
    bare: Column,
    signatures: Column | None,
    *,
    rows: int,
    seed: int,
    running: Running,
) -> None:
    begin = keys.written
    wanted = chosen[begin:]

    def sign(
        piece: slice,
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_], NDArray[np.uint32] | None]:
        part, mine = texts.part(wanted[piece])
        made, counts = minhash.sign_texts(part, shingling, rows=rows, seed=seed, chosen=mine)
        kept = made if signatures is not None else None
        return band_keys(made, bands=layout.bands, rows=layout.rows), counts == 0, kept

    written = keys.written
    for made, empty, kept in in_order(sign, pieces(texts.lengths(wanted), PIECE), running.threads):
        keys.append(made)
        bare.append(empty)
        if signatures is not None and kept is not None:
            signatures.append(kept)
        running.progress("sketch", len(keys), len(chosen))
        if keys.written > written:
            written = keys.written
            work.checkpoint()
