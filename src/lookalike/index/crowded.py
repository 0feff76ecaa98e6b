"""Buckets that very many documents share: packed, so that a query goes through them quickly.

A loose row costs a query a step in the store and another to its sketch. A block has the numbers and
the sketches of hundreds of entries side by side: to go through a million takes some 40 MB and no
step for each. None is left out, so that no answer is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lookalike.index.store import Block
from lookalike.planning.crowds import CROWD_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lookalike.index.store import Entries, Writer
    from lookalike.recipe.stored_sketches import StoredSketches

__all__ = ["largest", "pack", "suspects"]

BLOCK_ENTRIES = 4096
"""Entries of a block, at the most."""
CHECKED_SHARE = 64
"""One in so many entries has its buckets counted: those that are crowded are met often."""
MOST_PACKED = 1000
"""Buckets that are packed at a time, of all that there are."""
SEEN_TOGETHER = 8
"""Entries that come together into one bucket for which it is counted in any case."""


def suspects(entries: Entries) -> NDArray[np.int64]:
    """Give the buckets, of those that entries came into, which may be crowded by now."""
    keys = entries.keys
    if len(entries.numbers) == 1:
        return keys[: 0 if entries.numbers[0] % CHECKED_SHARE else len(keys)]
    checked = keys[entries.of_key % CHECKED_SHARE == 0]
    distinct, many = np.unique(keys, return_counts=True)
    return np.unique(np.concatenate([distinct[many >= SEEN_TOGETHER], checked]))


def largest(writer: Writer) -> NDArray[np.int64]:
    """Give the largest buckets that may be crowded."""
    found = writer.largest_buckets(MOST_PACKED)
    return np.array([key for key, size in found if size > CROWD_ROWS], np.int64)


def pack(writer: Writer, keys: NDArray[np.int64], sketches: StoredSketches) -> None:
    """Pack those buckets that have many loose rows."""
    if not len(keys):
        return
    found, _ = writer.loose(keys)
    distinct, many = np.unique(found, return_counts=True)
    crowded = distinct[many > CROWD_ROWS]
    for key in crowded.tolist():
        entries, whole = writer.sketches(np.sort(writer.take_loose(key)))
        brief = sketches.brief(whole)
        cuts = range(0, len(entries), BLOCK_ENTRIES)
        writer.put_blocks(
            [
                Block(key, entries[cut : cut + BLOCK_ENTRIES], brief[cut : cut + BLOCK_ENTRIES])
                for cut in cuts
            ]
        )
