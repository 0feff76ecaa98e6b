"""A pass over the whole corpus: which documents have stretches of the texts of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lookalike.base.string_columns import strings
from lookalike.reports.coverage import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lookalike.job.running import Progress
    from lookalike.reports.coverage import Covered
    from lookalike.reports.found import Key
    from lookalike.reports.sources import Sources
    from lookalike.reports.texts import ShownText
    from lookalike.text.normalise import Normalisation

__all__ = ["Scanned", "scan"]

MAX_SCANNED_BYTES = 1 << 29
"""Of sources in which stretches of the texts are looked for."""


@dataclass
class Scanned:
    """What stands of each text in other documents, which are places in `keys`."""

    keys: list[Key]
    covered: dict[Key, Covered] = field(default_factory=dict)
    all: bool = True
    """Whether the whole corpus was looked through."""

    def used(self, covered: Covered) -> set[int]:
        """Give the documents that are named for one text."""
        return {one.document for one in covered.stretches} | {one for one, _ in covered.shares}

    def named(self) -> set[Key]:
        """Give those that are named for any."""
        every = {place for one in self.covered.values() for place in self.used(one)}
        return {self.keys[place] for place in every}


def scan(
    sources: Sources,
    texts: Mapping[Key, ShownText],
    options: Normalisation,
    cluster: Mapping[Key, int],
    progress: Progress,
    *,
    whole: bool,
) -> Scanned:
    """Look for stretches of the texts in each other, and in all other documents.

    `whole` says that there are no others.
    """
    scanned = Scanned([*texts])
    if not texts:
        return scanned
    runs = Runs([*texts.values()], options)
    counted = _Counted(cluster)
    shown = strings([text.text for text in texts.values()])
    runs.look(shown, np.arange(len(texts)), counted.among(scanned.keys))
    if not whole:
        scanned.all = sources.size <= MAX_SCANNED_BYTES
    if not whole and scanned.all:
        for which, batch in sources.batches(partial(progress, "read (coverage)")):
            keys = [(which, name) for name in batch.ids.to_pylist()]
            rows = [row for row, key in enumerate(keys) if key not in texts]
            others = [keys[row] for row in rows]
            begin = len(scanned.keys)
            scanned.keys += others
            taken: pa.Array = batch.texts.take(pa.array(rows, pa.int64())).fill_null("")
            runs.look(taken, np.arange(begin, begin + len(others)), counted.among(others))
    found = runs.covered([*range(len(texts))], partial(progress, "coverage"))
    scanned.covered = dict(zip(texts, found, strict=True))
    return scanned


@dataclass
class _Counted:
    """Tells which documents count for boilerplate: the first that comes of each cluster."""

    cluster: Mapping[Key, int]
    seen: set[int] = field(default_factory=set)

    def among(self, keys: list[Key]) -> NDArray[np.bool_]:
        found = np.ones(len(keys), np.bool_)
        for place, key in enumerate(keys):
            number = self.cluster.get(key)
            found[place] = number is None or number not in self.seen
            if number is not None:
                self.seen.add(number)
        return found
