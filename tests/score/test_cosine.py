"""The exact cosine, and what a plan promises for it."""

import math
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import lookalike
import lookalike.score.cosine
import twins_cosine
from lookalike.base.errors import SettingsError
from lookalike.kernels import weighted_shingles
from lookalike.kernels.jit import INTERPRETED
from lookalike.planning.bandings import MAX_BITS
from lookalike.planning.plan import plan
from lookalike.planning.sampling import Background
from lookalike.score.cosine import (
    compare_vectors,
    compare_weighted_sets,
    cosines_of_vectors,
    cosines_of_weighted_sets,
)
from lookalike.sketches.prefilter import PREFILTER_BITS
from lookalike.text.shingles import Shingling
from lookalike.text.vectors import canonical_vectors
from lookalike.text.weighted_shingles import WeightedSets, Weighting, weighted_sets_of
from made_documents import documents_of, pairs_of, rows_of

# The interpreter's arithmetic warns of wrap-around on threads of its own.
THREADS = (1,) if INTERPRETED else (1, 2, 5)

features = st.sampled_from([0, 1, 2, 3, 5, 8, 13, 2**32, 2**63, 2**64 - 1])
whole_weights = st.integers(-9, 9).filter(bool).map(float)
weights = whole_weights | st.floats(-10, 10).filter(lambda weight: abs(weight) > 1e-3)


def dicts(values, most=8):
    return st.lists(st.dictionaries(features, values, max_size=10), min_size=2, max_size=most)


def weighted_sets_from(dicts):
    """Lay out bags given as weights by their features."""
    rows = [sorted(one.items()) for one in dicts]
    return WeightedSets(
        np.array([h for row in rows for h, _ in row], np.uint64),
        np.array([w for row in rows for _, w in row], np.float64),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
    )


def every_pair(count):
    return rows_of(list(combinations(range(count), 2)))


def scores(scored):
    pairs = pairs_of(scored.first, scored.second)
    return dict(zip(pairs, scored.similarity.tolist(), strict=True))


@pytest.mark.kernels
class TestProducts:
    @given(dicts(weights))
    def test_products_are_added_in_the_order_of_the_features(self, some):
        weighted_sets = weighted_sets_from(some)
        first, second = every_pair(len(some))
        out = np.full(len(first), 7.0)
        weighted_shingles.dots(
            weighted_sets.features, weighted_sets.weights, weighted_sets.offsets, first, second, out
        )
        assert out.tolist() == [
            twins_cosine.product_in_turn(some[i], some[j]) for i, j in pairs_of(first, second)
        ]


@pytest.mark.kernels
class TestBags:
    @given(dicts(weights))
    def test_cosines_are_those_of_exact_fractions(self, some):
        found = scores(
            cosines_of_weighted_sets(weighted_sets_from(some), *every_pair(len(some)), threshold=-1)
        )
        assert found == {
            (i, j): pytest.approx(twins_cosine.cosine(some[i], some[j]), abs=1e-14)
            for i, j in combinations(range(len(some)), 2)
        }

    @given(dicts(weights), st.floats(-1, 1))
    def test_those_at_or_above_the_threshold_are_kept(self, some, threshold):
        pairs = every_pair(len(some))
        every = scores(cosines_of_weighted_sets(weighted_sets_from(some), *pairs, threshold=-1))
        found = scores(
            cosines_of_weighted_sets(weighted_sets_from(some), *pairs, threshold=threshold)
        )
        assert found == {pair: score for pair, score in every.items() if score >= threshold}

    @given(dicts(weights))
    def test_a_pair_has_the_same_score_both_ways(self, some):
        first, second = every_pair(len(some))
        there = cosines_of_weighted_sets(weighted_sets_from(some), first, second, threshold=-1)
        back = cosines_of_weighted_sets(weighted_sets_from(some), second, first, threshold=-1)
        assert there.similarity.tolist() == back.similarity.tolist()

    @given(st.dictionaries(features, weights, min_size=1), st.integers(-40, 40))
    def test_a_weighted_set_is_as_similar_as_can_be_to_itself_and_to_twice_it(self, one, power):
        times = {h: w * 2.0**power for h, w in one.items()}
        against = {h: -w for h, w in one.items()}
        weighted_sets = weighted_sets_from([one, one, times, against])
        found = cosines_of_weighted_sets(
            weighted_sets, *rows_of([(0, 0), (0, 1), (0, 2), (0, 3)]), threshold=-1
        )
        assert found.similarity.tolist() == [1, 1, 1, -1]

    @pytest.mark.parametrize(("shared", "size"), [(4, 5), (1, 2), (9, 10), (19, 20), (3, 10)])
    def test_the_decimal_that_a_user_writes_is_reached_at_every_size(self, shared, size):
        for times in (1, 2, 3, 10) if INTERPRETED else (1, 2, 3, 7, 10, 333, 1000):
            for weight in (1.0, 3.0, 0.5):
                one = dict.fromkeys(range(size * times), weight)
                start = (size - shared) * times
                other = dict.fromkeys(range(start, start + size * times), weight)
                found = scores(
                    cosines_of_weighted_sets(
                        weighted_sets_from([one, other]),
                        *rows_of([(0, 1)]),
                        threshold=shared / size,
                    )
                )
                assert found == {(0, 1): shared / size}

    def test_two_counts_at_3_4_5_are_exact(self):
        weighted_sets = weighted_sets_from([{1: 3.0, 2: 4.0}, {1: 1.0}, {2: 7.0}])
        found = scores(cosines_of_weighted_sets(weighted_sets, *every_pair(3), threshold=0))
        assert found == {(0, 1): 0.6, (0, 2): 0.8, (1, 2): 0}

    def test_an_empty_weighted_set_has_nothing_in_common_with_any(self):
        weighted_sets = weighted_sets_from([{}, {1: 1.0}, {}])
        found = cosines_of_weighted_sets(weighted_sets, *every_pair(3), threshold=-1)
        assert found.similarity.tolist() == [0, 0, 0]
        assert len(cosines_of_weighted_sets(weighted_sets, *every_pair(3), threshold=0.01)) == 0

    def test_no_pairs_are_none(self):
        assert (
            len(cosines_of_weighted_sets(weighted_sets_from([{1: 1.0}]), *rows_of([]), threshold=0))
            == 0
        )

    def test_threads_and_pieces_change_nothing(self, monkeypatch):
        generator = np.random.default_rng(1)
        some = [
            dict(zip(range(12), generator.standard_normal(12).tolist(), strict=True))
            for _ in range(9)
        ]
        pairs = every_pair(9)
        expected = cosines_of_weighted_sets(weighted_sets_from(some), *pairs, threshold=0)
        assert 0 < len(expected) < 36
        for piece in (1, 7, 36):
            monkeypatch.setattr(lookalike.score.cosine, "PIECE_PAIRS", piece)
            for threads in THREADS:
                again = cosines_of_weighted_sets(
                    weighted_sets_from(some), *pairs, threshold=0, threads=threads
                )
                assert scores(again) == scores(expected)

    def test_documents_are_compared_as_the_bags_they_are(self):
        some = ["to be or not to be", "not to be", "", "to be", "be it so"]
        shingling, weighting = Shingling("words", 1), Weighting("log")
        rows = np.array([4, 3, 1, 0], np.int64)

        def build(documents, mine, threads):
            return weighted_sets_of(documents, shingling, weighting, rows=mine, threads=threads)

        weighted_sets = weighted_sets_of(documents_of(some), shingling, weighting, rows=rows)
        expected = cosines_of_weighted_sets(weighted_sets, *every_pair(4), threshold=0.5)
        for threads in THREADS:
            found = compare_weighted_sets(
                documents_of(some), build, rows, *every_pair(4), threshold=0.5, threads=threads
            )
            assert scores(found) == scores(expected)
        assert 0 < len(expected) < 6


def unit_rows(generator, count, dimension):
    vectors = generator.standard_normal((count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1)[:, None]).astype(np.float32)


def exact_cosine(a, b):
    """Of two lists of numbers, by fractions and one root."""
    indexed = [dict(enumerate(map(float, one))) for one in (a, b)]
    return twins_cosine.cosine(*indexed)


@pytest.mark.kernels
class TestVectors:
    @given(st.integers(0, 2**32), st.integers(1, 30), st.integers(2, 5))
    def test_cosines_are_those_of_exact_fractions(self, seed, dimension, count):
        vectors = unit_rows(np.random.default_rng(seed), count, dimension)
        found = scores(cosines_of_vectors(vectors, *every_pair(count), threshold=-1))
        assert found == {
            (i, j): pytest.approx(exact_cosine(vectors[i], vectors[j]), abs=1e-14)
            for i, j in combinations(range(count), 2)
        }

    def test_a_vector_is_as_similar_as_can_be_to_itself_and_a_pair_both_ways(self):
        vectors = unit_rows(np.random.default_rng(2), 20, 33)
        own = np.arange(20)
        assert (cosines_of_vectors(vectors, own, own, threshold=1).similarity == 1).all()
        first, second = every_pair(20)
        there = cosines_of_vectors(vectors, first, second, threshold=-1)
        back = cosines_of_vectors(vectors, second, first, threshold=-1)
        assert there.similarity.tolist() == back.similarity.tolist()

    def test_four_of_five_is_the_decimal_that_a_user_writes(self):
        values = [[1.0] * 5 + [0.0], [0.0] + [1.0] * 5]
        vectors = np.array(values, np.float32)
        assert scores(cosines_of_vectors(vectors, *rows_of([(0, 1)]), threshold=0.8)) == {
            (0, 1): 0.8
        }
        units = canonical_vectors(pa.array(values, pa.large_list(pa.float64())), 6)
        found = cosines_of_vectors(
            units.data.view(np.float32).reshape(2, 6), *rows_of([(0, 1)]), threshold=0.8
        )
        assert scores(found) == {(0, 1): 0.8}

    def test_documents_are_compared_as_the_vectors_they_are(self):
        vectors = unit_rows(np.random.default_rng(3), 6, 9)
        documents = canonical_vectors(pa.array(vectors.tolist(), pa.large_list(pa.float32())), 9)
        rows = np.array([5, 0, 2, 3], np.int64)
        expected = {
            (i, j): pytest.approx(exact_cosine(vectors[rows[i]], vectors[rows[j]]), abs=1e-6)
            for i, j in combinations(range(4), 2)
        }
        for threads in THREADS:
            found = compare_vectors(
                documents, 9, rows, *every_pair(4), threshold=-1, threads=threads
            )
            assert scores(found) == expected

    def test_places_say_where_the_vectors_stand(self):
        vectors = unit_rows(np.random.default_rng(4), 5, 9)
        places = np.array([3, 3, 0], np.int64)
        found = scores(cosines_of_vectors(vectors, *every_pair(3), threshold=-1, places=places))
        assert found[0, 1] == 1
        assert found[0, 2] == pytest.approx(exact_cosine(vectors[3], vectors[0]), abs=1e-14)


def agreement(cosine):
    return 1 - math.acos(cosine) / math.pi


def banded(cosine, bands, rows):
    if agreement(cosine) ** rows == 1:
        return 1.0
    return -math.expm1(bands * math.log1p(-(agreement(cosine) ** rows)))


def together(cosine, bands, rows, size):
    """Bands of bits by orthogonal hyperplanes, of which any two agree a little more rarely."""
    p = agreement(cosine)
    rarer = (1 - cosine**2) / (math.pi * p) ** 2 / size
    agree = p**rows * math.exp(-rarer * rows * (rows - 1) / 2)
    return 1.0 if agree == 1 else -math.expm1(bands * math.log1p(-agree))


def differ_at_most(most, bits, cosine):
    """How likely two sketches differ in at most so many bits, term by term."""
    p = agreement(cosine)
    return math.fsum(math.comb(bits, k) * (1 - p) ** k * p ** (bits - k) for k in range(most + 1))


THRESHOLDS = st.floats(0.3, 0.999)
DENSE = Background(np.array([0.05]), 384.0, dense=True)


class TestPlan:
    @pytest.mark.long
    @given(THRESHOLDS, st.floats(0.5, 0.999), st.integers(0, 10**8))
    def test_a_pair_at_the_threshold_is_found_with_the_recall_asked_for(
        self, threshold, recall, documents
    ):
        chosen = plan(threshold, recall, documents=documents, metric="cosine")
        assert chosen.bands
        assert chosen.rows
        assert chosen.signature == chosen.bands * chosen.rows <= MAX_BITS
        assert banded(threshold, chosen.bands, chosen.rows) >= recall
        assert chosen.probability(threshold) >= recall

    @given(THRESHOLDS, st.floats(0, 1))
    def test_the_probability_is_that_of_the_formula(self, threshold, cosine):
        chosen = plan(threshold, background=DENSE, metric="cosine")
        passing = differ_at_most(chosen.most_differing, PREFILTER_BITS, cosine)
        expected = together(cosine, chosen.bands, chosen.rows, 2048) * passing
        assert chosen.probability(cosine) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        by_bands = banded(cosine, chosen.bands, chosen.rows)
        assert chosen.candidate(cosine) == pytest.approx(by_bands, abs=1e-12)

    @pytest.mark.parametrize("cosine", [0.3, 0.7, 0.9, 0.99])
    @pytest.mark.parametrize(("bands", "rows"), [(286, 18), (900, 12), (60, 17)])
    def test_features_that_meet_move_the_angle_of_a_pair_for_all_bits_alike(
        self, cosine, bands, rows
    ):
        chosen = plan(0.2, bands=bands, rows=rows, metric="cosine")
        random = np.random.default_rng(rows)
        means = []
        for share in (4, 16, 64):
            # So often that what they move has a variance of one in 4096.
            mean = share**2 / 8192
            met = (random.poisson(mean, 100_000) - random.poisson(mean, 100_000)) / share
            moved, often = np.unique((cosine + met) / (1 + met * cosine), return_counts=True)
            found = [
                together(one, bands, rows, 4096)
                * differ_at_most(chosen.most_differing, PREFILTER_BITS, one)
                for one in moved.tolist()
            ]
            means.append(float(np.dot(found, often) / often.sum()))
        assert chosen.probability(cosine) == pytest.approx(min(means), abs=2e-3)

    @pytest.mark.long
    def test_two_orthogonal_hyperplanes_agree_together_a_little_more_rarely(self):
        """By random ones of 16 dimensions, made orthogonal by hand."""
        random = np.random.default_rng(7)
        u, v = random.standard_normal((2, 1_500_000, 16))
        v -= (u * v).sum(axis=1)[:, None] / (u * u).sum(axis=1)[:, None] * u
        x, y = np.eye(16)[0], np.array([0.5, math.sqrt(0.75), *[0] * 14])
        both = ((u @ x > 0) == (u @ y > 0)) & ((v @ x > 0) == (v @ y > 0))
        p = agreement(0.5)
        expected = p * p - 0.75 / math.pi**2 / 16
        assert both.mean() == pytest.approx(expected, abs=5 * math.sqrt(0.25 / len(u)))
        assert p * p - expected > 10 * math.sqrt(0.25 / len(u))

    @pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.8, 0.9, 0.99, 0.999999, 1.0])
    def test_the_first_bits_rarely_dismiss_a_pair_at_the_threshold(self, threshold):
        chosen = plan(threshold, bands=20, rows=8, background=DENSE, metric="cosine")
        most = chosen.most_differing
        # A fifth of the hundredth that a recall of 0.99 allows to miss.
        assert 1 - differ_at_most(most, PREFILTER_BITS, threshold) <= 2e-3
        # One bit fewer would dismiss more; four are allowed for rounding.
        assert most == 4 or 1 - differ_at_most(most - 1, PREFILTER_BITS, threshold) > 2e-3

    @pytest.mark.parametrize("recall", [0.5, 0.9, 0.99, 0.999])
    @pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95])
    def test_more_similar_pairs_are_more_likely_found(self, threshold, recall):
        chosen = plan(threshold, recall, metric="cosine")
        found = [chosen.probability(cosine) for cosine in np.linspace(-1, 1, 201)]
        assert all(a <= b + 1e-12 for a, b in pairwise(found))
        assert found[0] == pytest.approx(0, abs=1e-12)
        assert found[-1] == 1

    def test_a_pair_found_as_often_as_missed_lies_at_half(self):
        chosen = plan(0.8, bands=30, rows=16, metric="cosine")
        assert banded(chosen.half, 30, 16) == pytest.approx(0.5, abs=1e-9)
        rule = (1 / 30) ** (1 / 16)
        assert chosen.rule_of_thumb == pytest.approx(math.cos(math.pi * (1 - rule)))

    def test_bands_and_rows_are_taken_as_given(self):
        chosen = plan(0.8, bands=100, rows=16, metric="cosine")
        assert (chosen.bands, chosen.rows, chosen.signature) == (100, 16, 1600)
        assert chosen.origin == "given"
        assert "100 bands of 16 bits, sketches of 1,600 bits" in chosen.sentence()

    def test_a_cascade_is_taken_as_given(self):
        given = "and:16 or:8 and:2 or:4"
        chosen = plan(0.8, cascade=given, background=DENSE, metric="cosine")
        rarer = 0.36 / (math.pi * agreement(0.8)) ** 2 / 2048
        band = agreement(0.8) ** 16 * math.exp(-rarer * 16 * 15 / 2)
        inner = (1 - (1 - band) ** 8) ** 2
        assert chosen.signature == 1024
        passing = differ_at_most(chosen.most_differing, PREFILTER_BITS, 0.8)
        assert chosen.probability(0.8) == pytest.approx((1 - (1 - inner) ** 4) * passing, rel=1e-9)

    def test_a_signature_of_so_many_bits_is_fitted_to_the_angle(self):
        chosen = plan(0.8, signature=512, metric="cosine")
        assert chosen.origin == "fitted"
        assert chosen.signature <= 512
        grid = np.linspace(0, 1, 20_001)

        def cost(rows):
            found = 1 - (1 - grid**rows) ** (512 // rows)
            wrong = np.where(grid >= agreement(0.8), 1 - found, found)
            return wrong.mean()

        costs = {rows: cost(rows) for rows in range(1, 65)}
        assert chosen.rows
        assert costs[chosen.rows] == pytest.approx(min(costs.values()), rel=1e-3)

    def test_recall_one_is_the_exact_join(self):
        chosen = plan(0.7, recall=1, metric="cosine")
        assert chosen.cascade is None
        assert [chosen.probability(s) for s in (0.69, 0.7)] == [0, 1]

    @pytest.mark.parametrize("cosine", [0.7, 0.8, 0.85, 0.95])
    def test_by_estimates_a_pair_must_also_be_estimated_at_the_threshold(self, cosine):
        given = plan(0.8, bands=30, rows=12, background=DENSE, metric="cosine")
        chosen = replace(given, estimated=512)
        most = 512 - math.ceil(512 * agreement(0.8))
        expected = together(cosine, 30, 12, 2048) * differ_at_most(most, 512, cosine)
        assert chosen.probability(cosine) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("distance", [0, 3, 16])
    def test_a_fingerprint_is_within_the_distance_as_often_as_its_64_bits_are(self, distance):
        chosen = replace(plan(0.8, bands=4, rows=16, metric="cosine"), distance=distance)
        for cosine in (0.5, 0.8, 0.99):
            expected = differ_at_most(distance, 64, cosine)
            assert chosen.probability(cosine) == pytest.approx(expected, rel=1e-9)

    def test_random_pairs_are_weighed_by_their_angle(self):
        background = Background(np.array([0.0, 0.5, 0.9]), 100.0)
        chosen = plan(0.8, bands=10, rows=4, documents=101, background=background, metric="cosine")
        below = [banded(cosine, 10, 4) for cosine in (0.0, 0.5)]
        assert chosen.false_candidates == pytest.approx(101 * 100 / 2 / 3 * sum(below))

    def test_of_random_pairs_few_are_not_dismissed_by_their_first_bits(self):
        background = Background(np.array([-0.2, 0.3, 0.7, 0.9]), 100.0)
        chosen = plan(0.8, bands=10, rows=4, documents=101, background=background, metric="cosine")
        most = chosen.most_differing
        below = [
            banded(s, 10, 4) * differ_at_most(most, PREFILTER_BITS, s) for s in (-0.2, 0.3, 0.7)
        ]
        assert chosen.false_comparisons == pytest.approx(101 * 100 / 2 / 4 * sum(below))

    def test_more_documents_make_stricter_bands(self):
        plans = [plan(documents=10**power, metric="cosine") for power in range(2, 10)]
        rows = [chosen.rows for chosen in plans if chosen.rows]
        assert len(rows) == len(plans)
        assert rows == sorted(rows)
        assert rows[0] < rows[-1]

    def test_a_jaccard_plan_is_what_it_was(self):
        assert plan(0.8).probability(0.8) == plan(0.8, metric="jaccard").probability(0.8)
        assert plan(0.8).agreement(0.8) == 0.8
        assert plan(0.8, metric="cosine").agreement(0.8) == pytest.approx(agreement(0.8))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"metric": "dice"}, "metric='dice' is unknown: use jaccard or cosine"),
            ({"metric": "cosine", "threshold": 0}, "every pair similar"),
            ({"metric": "cosine", "bands": 5}, "bands= and rows= go together"),
            ({"metric": "cosine", "signature": 0}, "signature=0"),
        ],
    )
    def test_what_cannot_be_planned_is_refused_in_one_line(self, arguments, message):
        with pytest.raises(SettingsError, match=message) as error:
            plan(**arguments)
        assert "\n" not in str(error.value)


class TestAtTheVeryThreshold:
    @pytest.mark.parametrize("options", [{"recall": 1}, {"recall": 0.999999}])
    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
    def test_vectors_whose_cosine_is_the_threshold_are_a_pair(self, options, kind):
        for a, b, c in [(3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29)]:
            vectors = np.array([[a, b], [1, 0]], kind)
            found = lookalike.find(vectors, metric="cosine", threshold=a / c, **options)
            assert found.pairs["similarity"].to_pylist() == [pytest.approx(a / c, abs=1e-15)]

    @pytest.mark.parametrize("weights", ["counts", "binary", "log", "tf-idf"])
    @pytest.mark.parametrize("recall", [0.99, 1])
    def test_texts_of_one_direction_are_all_pairs_at_1(self, weights, recall):
        texts = ["rose lily oak " * times for times in (1, 2, 3, 5, 7)]
        given = {"metric": "cosine", "shingle": "words:1", "weights": weights}
        assert len(lookalike.find(texts, threshold=1, recall=recall, **given).pairs) == 10


def test_a_vector_may_be_named_beside_files_that_have_no_columns(tmp_path):
    vectors = np.random.default_rng(1).standard_normal((20, 4))
    np.save(tmp_path / "a.npy", vectors)
    parquet.write_table(pa.table({"v": pa.array(vectors.tolist())}), tmp_path / "b.parquet")
    given: dict[str, Any] = {"metric": "cosine", "threshold": 0.999, "vector": "v"}
    for one, other in (("a.npy", "b.parquet"), ("b.parquet", "a.npy")):
        found = lookalike.dedup(tmp_path / one, against=tmp_path / other, **given)
        assert len(found.removed) == 20
