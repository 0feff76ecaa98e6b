"""Whether pairs of a known similarity become candidates as often as their S-curve says.

The curve is that of rows that agree independently. Rows of a block do so a little less than
that, which makes the true curve a little steeper: more of the pairs that it finds nearly always,
fewer of those that it finds rarely.

Seeds are fixed; a sound implementation passes bounds of four standard deviations 9,999 times in
10,000. The last test shows that the bounds would see a band with a row too many or too few.
"""

import math

import numpy as np
import pytest

from lookalike.candidates.buckets import candidates
from lookalike.planning.curves import Cascade
from lookalike.planning.recall import RowPath
from lookalike.sketches.minhash import sign_sets
from made_documents import random_pairs

pytestmark = pytest.mark.long

PAIRS = 4000
UNION = 40
SHARED = range(4, 40, 4)
"""Similarities from 0.1 to 0.9."""
BOUND = 4

CASCADES = ["and:1 or:8", "and:3 or:10", "and:5 or:20", "and:8 or:16", "and:6", "or:5"]
LONGER = ["and:4 or:4 and:2 or:2", "or:3 and:4 or:3 and:2", "and:2 or:4 and:3"]


def curve(spec, s):
    """The chance of a candidate, written out here a second time."""
    p = s
    for step in spec.split():
        kind, _, n = step.partition(":")
        p = p ** int(n) if kind == "and" else 1 - (1 - p) ** int(n)
    return p


def candidate_counts(spec):
    """How many of the pairs of each similarity become candidates."""
    cascade = Cascade.parse(spec)
    counts = []
    for shared in SHARED:
        sets, _ = random_pairs(np.random.default_rng(shared), PAIRS, UNION, shared)
        signatures = sign_sets(sets, rows=cascade.rows, seed=shared)
        counts.append(0)
        for first, second in candidates(signatures, cascade):
            mates = second - first == PAIRS
            counts[-1] += mates.sum()
            # Sets of two different pairs share nothing, and a row of 32 bits only by chance.
            assert (~mates).sum() < 10
    return counts


def deviations(counts, spec):
    """How many standard deviations each count lies from the curve."""
    result = []
    for count, shared in zip(counts, SHARED, strict=True):
        p = curve(spec, shared / UNION)
        spread = math.sqrt(PAIRS * p * (1 - p))
        # Where fewer than one in all is expected, or missed, one standard deviation is one pair.
        result.append((count - PAIRS * p) / max(spread, 1.0))
    return np.array(result)


@pytest.mark.parametrize("spec", CASCADES + LONGER)
def test_candidates_follow_the_s_curve(spec):
    scores = deviations(candidate_counts(spec), spec)
    assert np.abs(scores).max() < BOUND
    assert abs(scores.sum()) < BOUND * math.sqrt(len(scores))
    for shared in SHARED:
        assert math.isclose(
            curve(spec, shared / UNION),
            Cascade.parse(spec).probability(shared / UNION),
            rel_tol=1e-9,
            abs_tol=1e-12,
        )


def share_found(bands, rows, union, shared, pairs=4000, seeds=8):
    """The share of the pairs that agree on all rows of some band, and how many pairs there are."""
    found = 0
    for seed in range(seeds):
        sets, _ = random_pairs(np.random.default_rng([seed, union, shared]), pairs, union, shared)
        signatures = sign_sets(sets, rows=bands * rows, seed=seed)
        equal = signatures[:pairs] == signatures[pairs:]
        found += equal.reshape(pairs, bands, rows).all(axis=2).any(axis=1).sum()
    return found / (pairs * seeds), pairs * seeds


BANDS = [(12, 5), (20, 7), (18, 6), (32, 9)]


@pytest.mark.parametrize(("bands", "rows"), BANDS)
def test_no_more_are_missed_than_the_curve_says_where_it_finds_nearly_all(bands, rows):
    p = curve(f"and:{rows} or:{bands}", 0.8)
    assert p > 0.99
    missed = []
    for union in (5, 10, 40, 160, 1000):
        pairs = 1000 if union > 500 else 4000
        share, count = share_found(bands, rows, union, union * 4 // 5, pairs)
        missed.append((1 - share) / (1 - p))
        assert missed[-1] < 1 + BOUND * math.sqrt(p / (1 - p) / count)
    assert 0.5 < np.mean(missed) < 1
    # Sets as large as a block have the most to gain.
    assert max(missed[2:4]) < 0.9


@pytest.mark.parametrize(("bands", "rows"), BANDS)
@pytest.mark.parametrize("union", [20, 160])
def test_the_curve_is_steeper_as_draws_without_replacement_make_it(bands, rows, union):
    for tenths in range(2, 10):
        shared = union * tenths // 10
        p = RowPath.of_union(union, shared).chance(Cascade.banding(bands, rows)).found
        share, count = share_found(bands, rows, union, shared, seeds=4)
        error = max(math.sqrt(p * (1 - p) / count), 1 / count)
        assert abs(share - p) < BOUND * error
        assert abs(p - curve(f"and:{rows} or:{bands}", tenths / 10)) < 0.02


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ("and:3 or:10", "and:2 or:10"),
        ("and:3 or:10", "and:4 or:10"),
        ("and:5 or:20", "and:4 or:20"),
        ("and:5 or:20", "and:6 or:20"),
        ("and:8 or:16", "and:9 or:16"),
        ("and:4 or:4 and:2 or:2", "and:4 or:4 and:1 or:2"),
        ("and:4 or:4 and:2 or:2", "and:4 or:3 and:2 or:2"),
        ("and:4 or:4 and:2 or:2", "and:4 or:4 and:2 or:1"),
    ],
)
def test_the_bounds_would_see_a_step_off_by_one(spec, wrong):
    scores = deviations(candidate_counts(spec), wrong)
    seen = np.abs(scores).max() > BOUND or abs(scores.sum()) > BOUND * math.sqrt(len(scores))
    assert seen
