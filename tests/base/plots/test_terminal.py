"""Drawings in a terminal: within its width, and the same as those kept beside the tests."""

from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from lookalike import Cascade
from lookalike.base.plots.shapes import Histogram
from lookalike.base.plots.terminal import bar_lines, curve_key, curve_lines, plain

GOLDEN = Path(__file__).parent / "golden"
ONE = [Cascade.banding(20, 5).curve()]
THREE = [*ONE, Cascade.parse("and:4 or:4 and:4 or:4").curve(), Cascade.banding(50, 10).curve()]
COSINE = [Cascade.banding(100, 20).curve(metric="cosine")]
PAIRS = Histogram.of("pairs", [0.0, 0.03, 0.11, 0.5, 1.0], [90_000, 4e6, 1, 0.2, 12], bins=10)
DRAWINGS = {
    "one-80": lambda: plain(curve_lines(ONE, 80, threshold=0.7)),
    "three-60": lambda: plain(curve_lines(THREE, 60)),
    "three-50-ascii": lambda: plain(curve_lines(THREE, 50, ascii_only=True)),
    "cosine-72": lambda: plain(curve_lines(COSINE, 72, threshold=0.9)),
    "bars-60": lambda: "\n".join(bar_lines(PAIRS, 60)),
    "bars-40-ascii": lambda: "\n".join(bar_lines(PAIRS, 40, ascii_only=True)),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_the_one_that_is_kept(name):
    assert f"{DRAWINGS[name]()}\n" == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [24, 40, 79, 80])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_drawing_is_wider_than_it_may_be(width, ascii_only):
    for curves in (ONE, THREE, COSINE):
        drawn = plain(curve_lines(curves, width, ascii_only=ascii_only, threshold=1.0))
        assert max(map(cell_len, drawn.splitlines())) == width
        assert drawn.isascii() == ascii_only
    bars = bar_lines(PAIRS, width, ascii_only=ascii_only)
    assert max(map(cell_len, bars)) <= width
    # In the narrowest there is no space for bars.
    assert all(one.isascii() for one in bars) == (ascii_only or width == 24)


@pytest.mark.parametrize("spec", ["and:5 or:20", "and:60 or:3", "or:90", "and:9 or:9 and:9 or:9"])
def test_dots_are_those_nearest_to_the_curve(spec):
    cascade, width = Cascade.parse(spec), 77
    lines = plain(curve_lines([cascade.curve()], width + 5)).splitlines()[:13]
    rows = [line.ljust(width + 5)[5:] for line in lines]
    heights = np.full((13 * 4, width * 2), False)
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            bits = ord(sign) - 0x2800
            for dot, (down, right) in enumerate(
                [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1)]
            ):
                if 0 <= bits < 256 and bits >> dot & 1:
                    heights[row * 4 + down, column * 2 + right] = True
    for column in range(width * 2):
        drawn = np.flatnonzero(heights[:, column])
        expected = (1 - cascade.probability(column / (width * 2 - 1))) * (13 * 4 - 1)
        marked = any(row[column // 2] in "●○" for row in rows)
        assert marked or np.abs(drawn - expected).min() <= 0.75


def test_a_bin_with_pairs_has_a_bar_and_one_without_has_none():
    lines = bar_lines(PAIRS, 60)
    assert [line.endswith(("█", *"▏▎▍▌▋▊▉")) for line in lines] == [
        *(True, True, False, False, False, True, False, False, False, True)
    ]
    assert "<1" in lines[5]


def test_bars_begin_with_the_first_bin_that_has_pairs():
    found = Histogram.of("pairs", [0.81, 0.99], bins=10)
    assert [line.split("  ")[0] for line in bar_lines(found, 60)] == [
        "0.80 to 0.90",
        "0.90 to 1.00",
    ]
    none = Histogram.of("pairs", [], bins=10)
    assert len(bar_lines(none, 60)) == 10


def test_the_signs_of_a_drawing_are_explained():
    assert curve_key(ONE, threshold=0.7) == "● P = 1/2   ○ (1/b)^(1/r)   ┊ threshold 0.7"
    assert curve_key(ONE, ascii_only=True) == "O P = 1/2   o (1/b)^(1/r)"
    assert curve_key(THREE) == "A, B, C: P = 1/2"
    for ascii_only in (False, True):
        key = curve_key(ONE, ascii_only=ascii_only, threshold=0.7)
        drawn = plain(curve_lines(ONE, 80, ascii_only=ascii_only, threshold=0.7))
        assert all(part[0] in drawn for part in key.split("   "))
