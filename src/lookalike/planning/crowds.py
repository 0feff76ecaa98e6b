"""Which share of the meetings in buckets takes place in crowds, measured on a sample.

Documents that stand on one template fill a bucket together. An index packs such a bucket, and goes
through it in a small part of the time that as many rows of small buckets take. How alike two random
documents are does not tell the one from the other; the buckets of a sample do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from lookalike.planning.sampling import close_pairs
from lookalike.sketches import minhash
from lookalike.sketches.prefilter import PREFILTER_ROWS

if TYPE_CHECKING:
    from lookalike.text.normalise import Canonical
    from lookalike.text.shingles import Shingling

__all__ = ["CROWD_ROWS", "crowded_shares"]

CROWD_ROWS = 256
"""Documents above which a bucket is a crowd."""
FEWEST_SAMPLED = 3
"""Documents of a sample by which a bucket passes for a crowd, at the least: two meet by chance."""
MOST_ROWS, MOST_BANDS = 16, 16
"""Rows of a band up to which the share is measured, and bands that it is measured in."""


def crowded_shares(documents: Canonical, shingling: Shingling, expected: int) -> tuple[float, ...]:
    """Give the share of meetings that takes place in crowds, for bands of 1, 2, … rows.

    Of documents close to each other one counts: a page has as many near copies in a larger corpus,
    and they are no crowd there.
    """
    signatures, counts = minhash.sign_texts(documents, shingling, rows=PREFILTER_ROWS, seed=0)
    _, second, _ = close_pairs(signatures, counts == 0)
    counted = counts > 0
    counted[second] = False
    sampled = np.ascontiguousarray(signatures[counted])
    fewest = max(FEWEST_SAMPLED, math.ceil(CROWD_ROWS * len(documents) / max(expected, 1)))
    shares = []
    for rows in range(1, MOST_ROWS + 1):
        bands = min(PREFILTER_ROWS // rows, MOST_BANDS)
        met = crowded = 0
        for band in range(bands):
            mine = np.ascontiguousarray(sampled[:, band * rows : (band + 1) * rows])
            keys = mine.view(np.dtype((np.void, mine.dtype.itemsize * rows))).reshape(-1)
            _, sizes = np.unique(keys, return_counts=True)
            meetings = sizes * (sizes - 1)
            met += int(meetings.sum())
            crowded += int(meetings[sizes >= fewest].sum())
        shares.append(crowded / met if met else 0.0)
    return tuple(shares)
