"""The stated recall, for documents of every length: measured on thousands of pairs, by many seeds.

The rows are those of `python -m benchmarks.recall`; LOOKALIKE_GRID=large takes every size from 1 to
20 and beyond, every recall, and four times the pairs, for some hours.
"""

import math
import os

import numpy as np
import pytest
from benchmarks.recall import KINDS, Cell, Size, grid, measure

from lookalike.sketches import minhash

pytestmark = pytest.mark.long

LARGE = os.environ.get("LOOKALIKE_GRID") == "large"
ONE_ROW, ALL_ROWS = -5, -4
"""By how many standard errors a row, and all together, may fall short by chance."""


@pytest.mark.parametrize("name", KINDS)
def test_pairs_at_the_threshold_are_found_as_often_as_is_stated(name):
    kind = KINDS[name]
    rows = []
    for cell in grid(kind, large=LARGE):
        row = measure(kind, cell, large=LARGE)
        # Bands for a million typical documents are given, and stated anew for these.
        assert cell.for_many or row.stated >= row.recall
        assert row.score > ONE_ROW, row
        rows.append(row)
    assert sum(row.score for row in rows) / math.sqrt(len(rows)) > ALL_ROWS


@pytest.mark.parametrize("size", [Size(2, 1), Size(3, 2), Size(5, 1)])
@pytest.mark.parametrize("name", ["sets", "words"])
def test_the_grid_sees_a_prefilter_whose_bits_are_no_coin_tosses(name, size, monkeypatch):
    def lowest_bits(signatures):
        bits = (signatures[:, :128] & 3).reshape(-1, 8, 16) << 2 * np.arange(16, dtype=np.uint32)
        return np.bitwise_or.reduce(bits, axis=2).astype(np.uint32)

    monkeypatch.setattr(minhash, "checks", lowest_bits)
    row = measure(KINDS[name], Cell(size, 0.99, for_many=False), large=False)
    assert row.score < ONE_ROW
