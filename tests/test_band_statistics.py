"""Whether pairs of a known similarity become candidates as often as their S-curve says.

Seeds are fixed; a sound implementation passes bounds of four standard deviations 9,999 times in
10,000. The last test shows that the bounds would see a band with a row too many or too few.
"""

import math

import numpy as np
import pytest

from lookalike.band import candidates
from lookalike.curves import Cascade
from lookalike.minhash import sign_sets
from making import random_pairs

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
