"""What is stated of the whole path is what chance gives, counted here in another way."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.planning.curves import Cascade
from lookalike.planning.recall import BitPath, RowPath

TRIALS = 20_000
BOUND = 5


def agreeing_rows(union, shared, rows, random):
    """Throw elements into rows, three times; the least of each row decides, as documented.

    The number of an element in a throw is random; where nothing was thrown, any element decides.
    """
    agree = np.empty((TRIALS, rows), np.bool_)
    for begin in range(0, rows, 128):
        winner = np.full((TRIALS, 128), -1)
        for _ in range(3):
            place = random.integers(0, 128, (TRIALS, union))
            order = random.random((TRIALS, union)).argsort(axis=1)
            thrown = np.full((TRIALS, 128), -1)
            # Whoever is last in a random order stays.
            trial = np.arange(TRIALS)
            for turn in range(union):
                element = order[:, turn]
                thrown[trial, place[trial, element]] = element
            winner = np.where(winner < 0, thrown, winner)
        winner = np.where(winner < 0, random.integers(0, union, winner.shape), winner)
        agree[:, begin : begin + 128] = (winner < shared)[:, : rows - begin]
    return agree


def holds(cascade, agree):
    for kind, n in Cascade.parse(cascade).steps:
        parts = agree.reshape(TRIALS, -1, n)
        agree = parts.all(axis=2) if kind == "and" else parts.any(axis=2)
    return agree[:, 0]


@pytest.mark.parametrize(
    ("union", "shared", "cascade", "most"),
    [
        (2, 1, "and:4 or:30", 100),
        (3, 2, "and:3 or:8", 60),
        (3, 2, "and:7 or:37", None),  # a band of which some rows are in another block
        (5, 4, "and:4 or:10", 40),
        (10, 5, "and:2 or:5", 90),
        (20, 16, "and:5 or:12", 48),
        (30, 24, "and:9 or:16", 60),
        (40, 20, "and:2 or:4 and:3 or:3", None),
        (100, 80, "and:6 or:18", 44),
        (150, 60, "or:3 and:2", 70),
    ],
)
def test_the_whole_path_is_what_throwing_elements_into_rows_gives(union, shared, cascade, most):
    random = np.random.default_rng([union, shared])
    rows = max(Cascade.parse(cascade).rows, 128)
    agree = agreeing_rows(union, shared, rows, random)
    found = holds(cascade, agree[:, : Cascade.parse(cascade).rows])
    if most is not None:
        apart = 2 * np.count_nonzero(~agree[:, :128], axis=1)
        found &= random.binomial(apart, 0.5) <= most
    chance = RowPath.of_union(union, shared).chance(Cascade.parse(cascade), max_differing=most)
    error = math.sqrt(max(chance.found * chance.missed, 1 / TRIALS) / TRIALS)
    assert chance.found == pytest.approx(found.mean(), abs=BOUND * error)
    assert chance.found + chance.missed == pytest.approx(1)


@given(
    st.integers(1, 60),
    st.integers(1, 9),
    st.floats(0.05, 0.99),
)
def test_of_very_large_documents_the_bands_are_those_of_the_textbook(bands, rows, similarity):
    cascade = Cascade.banding(bands, rows)
    shared = round(similarity * 8000)
    path = RowPath.of_union(8000, shared)
    expected = 1 - (1 - (shared / 8000) ** rows) ** bands
    assert path.chance(cascade).found == pytest.approx(expected, abs=0.003)


@given(
    st.integers(1, 300),
    st.floats(0.1, 1),
    st.floats(0.1, 1),
    st.sampled_from(["and:1 or:1", "and:4 or:10", "and:3 or:60", "and:2 or:4 and:3 or:3"]),
    st.sampled_from([None, 40, 80]),
)
def test_documents_of_no_length_are_found_less_often_than_is_stated(
    union, similarity, share, cascade, most
):
    shared = math.ceil(max(similarity, share) * union - 1e-9)
    path = RowPath.of_union(union, shared)
    stated = RowPath(similarity).chance(Cascade.parse(cascade), max_differing=most)
    # Sizes above 64 are looked at in ranges, within which little changes.
    assert stated.found <= path.chance(Cascade.parse(cascade), max_differing=most).found + 1e-4


@pytest.mark.parametrize("path", [RowPath(0.8), RowPath(0.1), BitPath(0.8, size=4096, folded=True)])
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99, 0.9999, 0.999999])
def test_the_prefilter_takes_a_fifth_of_the_misses_and_no_more(path, recall):
    most = path.prefilter(recall)
    surely = Cascade.parse("or:100000") if isinstance(path, BitPath) else Cascade.parse("or:120")
    lost_by_bands = path.chance(surely).missed
    assert path.chance(surely, max_differing=most).missed <= (1 - recall) / 5 + lost_by_bands
    if most > 4:
        assert path.chance(surely, max_differing=most - 1).missed > (1 - recall) / 5


def test_an_estimate_must_reach_the_threshold_too():
    cascade = Cascade.banding(30, 3)
    random = np.random.default_rng(1)
    agree = agreeing_rows(20, 16, 256, random)
    found = holds(str(cascade), agree[:, :90])
    for rows, least in ((128, 103), (256, 205), (200, 160)):
        share = (found & (agree[:, :rows].sum(axis=1) >= least)).mean()
        stated = RowPath.of_union(20, 16).estimated(cascade, rows, least).found
        assert share - 0.02 < stated < share + BOUND * math.sqrt(0.25 / TRIALS)


def test_small_chances_of_a_miss_keep_their_digits():
    chance = RowPath(0.9).chance(Cascade.banding(60, 2))
    assert chance.missed == pytest.approx((1 - 0.81) ** 60, rel=1e-6)
    assert BitPath(0.9, size=4096, folded=False).chance(Cascade.banding(300, 2)).missed < 1e-100


@pytest.mark.parametrize("cosine", [0.3, 0.7, 0.95])
def test_two_features_that_meet_with_opposite_signs_move_the_angle_as_is_said(cosine):
    """Of two documents of the same two features, as unlike as that cosine."""
    half = math.acos(cosine) / 2
    first, second = (
        np.array([math.cos(a), math.sin(a)]) for a in (math.pi / 4 - half, math.pi / 4 + half)
    )
    met = np.array([[1, -0.25], [-0.25, 1]])
    moved = first @ met @ second / math.sqrt((first @ met @ first) * (second @ met @ second))
    assert moved == pytest.approx((cosine - 0.25) / (1 - 0.25 * cosine))
    for a in np.linspace(0, math.pi, 60):
        one, other = (np.array([math.cos(b), math.sin(b)]) for b in (a - half, a + half))
        between = one @ met @ other / math.sqrt((one @ met @ one) * (other @ met @ other))
        assert between >= moved - 1e-12
