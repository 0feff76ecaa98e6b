"""One document that is looked for: most callers bring one at a time, and wait for its answer.

What is done for many at once by arrays is done here by plain values, which for a few candidates
takes a third of the time. The answer is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.index.packed import damaged, unpacked
from lookalike.text.normalise import Canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from lookalike.index.asked import Asked
    from lookalike.index.store import Reader
    from lookalike.recipe.stored_sketches import StoredSketches

__all__ = ["BODIES", "Hit", "similar_to_one"]

BODIES = 128
"""Entries whose bodies are unpacked at a time."""


class Hit(NamedTuple):
    """An entry that a document is similar to."""

    row: int
    """Of the document, among those that were looked for."""
    entry: int
    similarity: float
    asked_in_entry: float
    """The share of the document's shingles that the entry has; NaN where it is not known."""
    entry_in_asked: float


def similar_to_one(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    *,
    threshold: float,
    address: str,
    known: Mapping[bytes, int] | None = None,
) -> list[Hit]:
    """Find the entries that are similar to the only document looked for, in no order.

    An identical one is told by its fingerprint, and is 1 alike without more.
    """
    if asked.stored.empty[0]:
        return []
    known = reader.contents(asked.contents) if known is None else known
    same = known.get(asked.contents[0])
    near = _near(reader, asked, sketches, threshold)
    near.pop(same, None)
    found = [] if same is None else [Hit(0, same, 1.0, 1.0, 1.0)]
    if not near:
        return found
    mine = asked.stored.sketches[0].tobytes()
    if any(len(sketch) != len(mine) for sketch in near.values()):
        raise damaged(address, "a sketch in it is not what was added")
    passing = sketches.judged_one(mine, near, threshold)
    if sketches.recipe.by_sketches:
        unknown = float("nan"), float("nan")
        return [*found, *(Hit(0, entry, one, *unknown) for entry, one in passing.items())]
    return [*found, *_compared(reader, asked, sketches, sorted(passing), threshold, address)]


def _near(
    reader: Reader, asked: Asked, sketches: StoredSketches, threshold: float
) -> dict[int | None, bytes]:
    """Give the entries in the buckets of a document, but for those that crowds dismiss."""
    keys = np.sort(asked.stored.keys[0])
    found: dict[int | None, bytes] = dict(reader.near(keys).items())
    crowded: list[NDArray[np.int64]] = []
    brief = None
    for block in reader.blocks(keys):
        if brief is None:
            brief = sketches.brief(asked.stored.sketches)
        passing = sketches.maybe_similar(brief, block.sketches, threshold)
        crowded.append(block.entries[passing])
    if crowded:
        numbers, rows = reader.sketches(np.unique(np.concatenate(crowded)))
        found.update(zip(numbers.tolist(), map(bytes, rows), strict=True))
    return found


def _compared(
    reader: Reader,
    asked: Asked,
    sketches: StoredSketches,
    entries: list[int],
    threshold: float,
    address: str,
) -> Iterator[Hit]:
    """Compare candidates exactly, some at a time."""
    for begin in range(0, len(entries), BODIES):
        bodies = reader.bodies(np.array(entries[begin : begin + BODIES], np.int64))
        if not bodies:
            continue
        documents = Canonical.joined([asked.documents, unpacked(bodies, address)])
        others = np.arange(1, len(documents))
        scored = sketches.recipe.score(
            documents, np.zeros(len(others), np.int64), others, threshold=threshold
        )
        for place, *scores in zip(
            scored.second.tolist(),
            scored.similarity.tolist(),
            scored.first_in_second.tolist(),
            scored.second_in_first.tolist(),
            strict=True,
        ):
            yield Hit(0, bodies[place - 1].entry, *scores)
