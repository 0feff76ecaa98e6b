"""Which distinct documents are similar to one that was seen before, in an index."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lookalike.base.threads import in_order, pieces
from lookalike.base.timing import timed
from lookalike.job.running import PIECE_BYTES
from lookalike.job.seen import LOOK_UP
from lookalike.results.ids import IdWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lookalike.job.job import Job
    from lookalike.job.seen import Best, Seen
    from lookalike.results.ids import Ids

__all__ = ["Matched", "look_up"]

BATCH_DOCUMENTS = 2048
"""Distinct documents that are looked up at a time."""
SAID = "look up"
"""The name of this stage on a screen."""


@dataclass(frozen=True)
class Matched:
    """Which distinct documents are similar to one that was seen, and which are left."""

    groups: NDArray[np.int64]
    """The similar ones, in order."""
    similarity: NDArray[np.float64]
    """Of each with the most similar that was seen."""
    named: NDArray[np.int64]
    """Which of `ids` that is."""
    ids: Ids = field(repr=False)
    left: NDArray[np.int64]
    """The others."""

    def of(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the place of distinct documents among the similar ones, -1 for one that is left."""
        places = np.searchsorted(self.groups, groups)
        inside = np.minimum(places, max(len(self.groups) - 1, 0))
        found = np.full(len(groups), -1, np.int64)
        if len(self.groups):
            similar = self.groups[inside] == groups
            found[similar] = inside[similar]
        return found


def look_up(job: Job, seen: Seen, first: int) -> Matched:
    """Ask for the distinct documents from the first on, or go on where the work folder says."""
    stage = job.work.stage(LOOK_UP)
    known, total = stage.known, len(job.groups)
    known.setdefault("next", first)
    groups, similarity = stage.column("groups", np.int64), stage.column("similarity", np.float64)
    of, ids = stage.column("index", np.int32), IdWriter(stage, "ids")
    progress = job.running.progress
    with timed(job.seconds, SAID):
        progress(SAID, known["next"] - first, total - first)
        for piece, best in _answers(job, seen, known["next"]):
            groups.append(np.array(best.rows, np.int64) + piece.start)
            similarity.append(np.array(best.similarity, np.float64))
            of.append(np.array(best.of, np.int32))
            ids.append(pa.array(best.ids, pa.large_string()))
            known["next"] = piece.stop
            stage.checkpoint()
            progress(SAID, piece.stop - first, total - first)
        if "whole" not in known:
            known["whole"] = job.collection.ids.whole and seen.whole_ids()
            stage.checkpoint()
    # Where some ids are text, all are.
    job.collection.ids.whole = known["whole"]
    found = ids.finish(whole=known["whole"])
    similar, left = groups.read(), np.ones(total, np.bool_)
    left[similar] = False
    named = _first_named(found, of.read())
    return Matched(similar, similarity.read(), named, found, np.flatnonzero(left))


def _answers(job: Job, seen: Seen, begin: int) -> Iterator[tuple[slice, Best]]:
    """Ask for distinct documents, some at a time."""
    rows = job.groups.representatives

    def asked(piece: slice) -> tuple[slice, Any]:
        return piece, seen.prepare(job.texts.chosen(rows[piece]))

    def cuts() -> Iterator[slice]:
        for piece in pieces(job.texts.lengths(rows[begin:]), PIECE_BYTES):
            for start in range(piece.start, piece.stop, BATCH_DOCUMENTS):
                yield slice(begin + start, begin + min(start + BATCH_DOCUMENTS, piece.stop))

    for piece, prepared in in_order(asked, cuts(), job.running.threads):
        yield piece, seen.ask(prepared)


def _first_named(ids: Ids, of: NDArray[np.int32]) -> NDArray[np.int64]:
    """Give for each of some documents of indexes the place where it is named first."""
    if not len(ids):
        return np.empty(0, np.int64)
    texts = ids.take(np.arange(len(ids))).dictionary_encode()
    codes = texts.indices.to_numpy().astype(np.int64) * (int(of.max()) + 1) + of
    _, firsts, place = np.unique(codes, return_index=True, return_inverse=True)
    named: NDArray[np.int64] = firsts[place]
    return named
