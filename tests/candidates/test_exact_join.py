from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lookalike.candidates.exact_join
import twins
import twins_cosine
from lookalike.base.errors import SettingsError
from lookalike.candidates.exact_join import (
    counted_candidates,
    exact_candidates,
    near_vectors,
    near_weighted_sets,
    similar_sets,
)
from lookalike.kernels import exact_join as kernels
from lookalike.kernels import weighted_shingles
from lookalike.kernels.jit import INTERPRETED
from lookalike.score.cosine import cosines_of_weighted_sets
from lookalike.score.jaccard import verify
from lookalike.text.weighted_shingles import WeightedSets
from made_documents import pairs_of, sets_of

pytestmark = pytest.mark.kernels

THRESHOLDS = (0.01, 0.1, 0.25, 0.3, 0.1 + 0.2, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.8, 0.9, 0.95, 1.0)

elements = st.sampled_from([0, 1, 2, 3, 5, 8, 13, 2**32, 2**63, 2**64 - 1])
sets_of_few = st.lists(st.sets(elements, max_size=10), max_size=8)


def candidates(sets, threshold, way=exact_candidates, **options):
    """The candidates as a list of pairs, so that a repeated one shows."""
    return [
        pair
        for first, second in way(sets_of(sets), threshold=threshold, **options)
        for pair in pairs_of(first, second)
    ]


def found(sets, threshold, way=exact_candidates, **options):
    """The verified pairs with their similarity."""
    laid_out = sets_of(sets)
    result = {}
    for first, second in way(laid_out, threshold=threshold, **options):
        scored = verify(laid_out, first, second, threshold=threshold)
        result.update(
            zip(pairs_of(scored.first, scored.second), scored.similarity.tolist(), strict=True)
        )
    return result


def brute_force(sets, threshold):
    every = {(i, j): twins.jaccard(sets[i], sets[j]) for i, j in combinations(range(len(sets)), 2)}
    return {pair: float(score) for pair, score in every.items() if float(score) >= threshold}


def family(generator, documents, largest):
    """Sets that are copies of a few, with some elements left out and some put in."""
    universe = [twins.mix(i) for i in range(4 * largest)]
    sets = []
    for _ in range(documents):
        if sets and generator.random() < 0.8:
            one = set(sets[generator.integers(len(sets))])
            change = generator.choice([0, 0.05, 0.2, 0.5])
            one = {element for element in one if generator.random() >= change / 2}
            added = generator.integers(0, len(universe), round(change / 2 * len(one)))
        else:
            one = set()
            added = generator.integers(0, len(universe), generator.integers(0, largest))
        sets.append(one | {universe[i] for i in added})
    return sets


class TestNothingIsLost:
    @given(sets_of_few, st.sampled_from(THRESHOLDS) | st.floats(0, 1, exclude_min=True))
    def test_what_is_found_is_what_comparing_every_pair_finds(self, sets, threshold):
        assert found(sets, threshold) == brute_force(sets, threshold)

    @given(sets_of_few, st.data())
    def test_a_threshold_that_is_hit_exactly_is_reached(self, sets, data):
        fractions = {twins.jaccard(a, b) for a, b in combinations(sets, 2)} - {0}
        threshold = float(data.draw(st.sampled_from(sorted(fractions | {Fraction(1)}))))
        for hit in (threshold, float(np.nextafter(threshold, 0))):
            assert found(sets, hit) == brute_force(sets, hit)

    @pytest.mark.parametrize("threshold", THRESHOLDS)
    def test_families_of_copies_are_found_whole(self, threshold):
        documents, largest = (12, 20) if INTERPRETED else (80, 60)
        sets = family(np.random.default_rng(6), documents, largest)
        expected = brute_force(sets, threshold)
        assert expected
        assert found(sets, threshold) == expected
        assert found(sets, threshold, block=1) == expected

    @pytest.mark.parametrize(
        ("shared", "union"), [(4, 5), (1, 3), (2, 3), (3, 10), (9, 10), (19, 20), (99, 100)]
    )
    def test_the_decimal_that_a_user_writes_is_reached_at_every_size(self, shared, union):
        for times in (1, 2, 3, 10) if INTERPRETED else (1, 2, 3, 10, 333, 1000):
            both, all_ = shared * times, union * times
            for apart in {0, (all_ - both) // 2, all_ - both}:
                # What is shared comes last among the elements, as far from the prefix as can be.
                common = set(range(10**6, 10**6 + both))
                sets = [common | set(range(apart)), common | set(range(apart, all_ - both))]
                # Two more that hold all that the pair shares, so that the rest is rarer.
                sets += [set(common), set(common)]
                assert found(sets, shared / union)[0, 1] == shared / union

    def test_sets_that_are_equal_are_all_pairs(self):
        pairs = candidates([{1, 2, 3}] * 52, 1.0)
        assert sorted(pairs) == list(combinations(range(52), 2))
        assert len(found([{7}] * 20, 1.0)) == 190


class TestFewSetsAreCounted:
    @given(sets_of_few, st.sampled_from(THRESHOLDS) | st.floats(0, 1, exclude_min=True))
    def test_the_candidates_are_the_pairs_that_comparing_every_two_finds(self, sets, threshold):
        expected = brute_force(sets, threshold)
        assert found(sets, threshold, counted_candidates) == expected
        assert candidates(sets, threshold, counted_candidates) == sorted(expected)

    @given(sets_of_few, st.data())
    def test_a_threshold_that_is_hit_exactly_is_reached(self, sets, data):
        fractions = {twins.jaccard(a, b) for a, b in combinations(sets, 2)} - {0}
        threshold = float(data.draw(st.sampled_from(sorted(fractions | {Fraction(1)}))))
        for hit in (threshold, float(np.nextafter(threshold, 0))):
            assert found(sets, hit, counted_candidates) == brute_force(sets, hit)

    @given(sets_of_few, st.sampled_from(THRESHOLDS), st.randoms(use_true_random=False))
    def test_pairs_across_two_corpora_alone(self, sets, threshold, choice):
        sides = np.array([choice.choice([1, 2, 3]) for _ in sets], np.uint8)
        across = {
            pair: score
            for pair, score in brute_force(sets, threshold).items()
            if {sides[place] for place in pair} not in ({1}, {2})
        }
        for way in (exact_candidates, counted_candidates):
            assert found(sets, threshold, way, sides=sides) == across

    def test_more_sets_or_longer_ones_are_joined(self, monkeypatch):
        taken = []
        for name in ("counted_candidates", "exact_candidates"):
            monkeypatch.setattr(
                lookalike.candidates.exact_join,
                name,
                lambda *_, name=name, **__: taken.append(name),
            )
        few, many = sets_of([{1}] * 256), sets_of([{1}] * 257)
        similar_sets(few, threshold=0.5)
        similar_sets(many, threshold=0.5)
        monkeypatch.setattr(lookalike.candidates.exact_join, "MAX_COUNTED_ELEMENTS", 1000)
        similar_sets(few, threshold=0.5)
        assert taken == ["counted_candidates", "exact_candidates", "exact_candidates"]


class TestEachPairOnce:
    @given(sets_of_few, st.sampled_from(THRESHOLDS), st.sampled_from([1, 2, 7]))
    def test_the_smaller_row_comes_first_and_no_pair_comes_again(self, sets, threshold, block):
        pairs = candidates(sets, threshold, block=block)
        assert len(pairs) == len(set(pairs))
        assert all(i < j for i, j in pairs)
        assert all(sets[i] & sets[j] for i, j in pairs)
        assert set(pairs) == set(candidates(sets, threshold))

    def test_small_blocks_give_the_same_candidates(self):
        documents, largest = (12, 20) if INTERPRETED else (60, 60)
        sets = family(np.random.default_rng(2), documents, largest)
        expected = candidates(sets, 0.1)
        assert len(expected) > documents
        for block in (1, documents, documents + 1, 5 * documents, len(expected)):
            laid_out = sets_of(sets)
            blocks = list(exact_candidates(laid_out, threshold=0.1, block=block))
            assert all(len(first) <= max(block, documents) for first, _ in blocks)
            assert [p for first, second in blocks for p in pairs_of(first, second)] == expected

    def test_sets_that_share_too_little_are_mostly_not_looked_at(self):
        # One common element in each, and it is the last to be looked up.
        sets = [{10**9, *range(100 * i, 100 * i + 20)} for i in range(10)]
        assert candidates(sets, 0.8) == []


class TestEdges:
    def test_empty_sets_are_in_no_pair(self):
        assert candidates([set(), set(), {1}, set()], 0.01) == []
        assert found([set(), {1}, set(), {1}], 0.5) == {(1, 3): 1.0}

    @pytest.mark.parametrize("sets", [[], [{1, 2}], [set()]])
    def test_no_set_and_one_set_have_no_pairs(self, sets):
        assert candidates(sets, 0.5) == []

    @pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
    def test_a_threshold_at_which_every_pair_is_similar_is_refused(self, threshold):
        for way in (exact_candidates, counted_candidates):
            with pytest.raises(SettingsError, match=rf"{threshold} with recall=1: use one"):
                candidates([{1}, {2}], threshold, way)

    def test_the_caller_s_sets_are_not_changed(self):
        sets = sets_of([{3, 1}, {1, 2**64 - 1}, {2}])
        before = sets.elements.copy(), sets.offsets.copy()
        list(exact_candidates(sets, threshold=0.1))
        assert np.array_equal(sets.elements, before[0])
        assert np.array_equal(sets.offsets, before[1])


@st.composite
def joins(draw):
    """Give sets of ranks, each sorted, an order, and how much of each is looked up and kept."""
    sets = draw(st.lists(st.sets(st.integers(0, 12), max_size=8).map(sorted), max_size=8))
    order = draw(st.permutations(range(len(sets))))
    looked, kept = ([draw(st.integers(0, len(one))) for one in sets] for _ in range(2))
    least = draw(st.lists(st.integers(0, 6), min_size=len(sets), max_size=len(sets)))
    return sets, order, looked, kept, least


class TestTheJoin:
    @given(joins(), st.integers(0, 12))
    def test_candidates_come_as_they_do_by_lists_of_members(self, join, spare):
        sets, order, looked, kept, least = join
        ranks = np.array([rank for one in sets for rank in one], np.int64)
        offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        newest = np.full((1, 13), -1, np.int64)
        one_list = np.ones(len(sets), np.uint8)
        older, members = np.empty((2, len(ranks)), np.int64)
        marks = np.full(len(sets), -1, np.int64)
        state = np.zeros(2, np.int64)
        bounds = (np.array(one, np.int64) for one in (order, looked, kept, least))
        lists = (one_list, one_list, newest)
        arrays = (ranks, offsets, *bounds, *lists, older, members, marks, state)
        found = []
        # Room for one set at the least, so that the work is taken up again and again.
        first, second = np.empty((2, len(sets) + spare), np.int64)
        while state[0] < len(order):
            before = int(state[0])
            written = kernels.join(*arrays, first, second)
            found += pairs_of(first[:written], second[:written])
            assert state[0] > before
        assert found == twins_cosine.join(sets, order, looked, kept, least)
        assert state[1] == sum(kept)


weights = st.integers(-9, 9).filter(bool).map(float) | st.floats(-10, 10).filter(
    lambda weight: abs(weight) > 1e-3
)
dicts = st.lists(st.dictionaries(elements, weights, max_size=10), max_size=8)


def weighted_sets_from(dicts):
    """Lay out bags given as weights by their features."""
    rows = [sorted(one.items()) for one in dicts]
    return WeightedSets(
        np.array([h for row in rows for h, _ in row], np.uint64),
        np.array([w for row in rows for _, w in row], np.float64),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
    )


def near(dicts, threshold, **options):
    return [
        pair
        for first, second in near_weighted_sets(
            weighted_sets_from(dicts), threshold=threshold, **options
        )
        for pair in pairs_of(first, second)
    ]


def similar(dicts, threshold):
    """Compare every two: those whose exact cosine is at or above the threshold."""
    result = set()
    for i, j in combinations(range(len(dicts)), 2):
        a, b = dicts[i], dicts[j]
        product = sum(Fraction(a[h]) * Fraction(b[h]) for h in a.keys() & b.keys())
        squares = [sum(Fraction(w) ** 2 for w in one.values()) for one in (a, b)]
        if product > 0 and product**2 >= Fraction(threshold) ** 2 * squares[0] * squares[1]:
            result.add((i, j))
    return result


def weighted_family(generator, documents, largest):
    """Bags that are copies of a few, with some weights changed, left out and put in."""
    weighted_sets = []
    for _ in range(documents):
        one = (
            dict(weighted_sets[generator.integers(len(weighted_sets))])
            if weighted_sets and generator.random() < 0.8
            else {}
        )
        if not one:
            drawn = generator.integers(0, 4 * largest, generator.integers(1, largest))
            one = {twins.mix(int(i)): float(generator.normal()) for i in drawn}
        change = generator.choice([0, 0.02, 0.1, 0.5])
        one = {
            h: w if generator.random() >= change else float(generator.normal())
            for h, w in one.items()
            if generator.random() >= change / 2
        }
        weighted_sets.append(one)
    return weighted_sets


class TestNearBags:
    @given(
        st.lists(st.lists(st.integers(-20, 20).map(float), max_size=9), max_size=4),
        st.integers(1, 64).map(lambda share: share / 64),
    )
    @example([[1.0, 1.0], [2.0, -1.0, 1.0, 1.0, 1.0]], 0.5)
    def test_prefixes_leave_less_than_the_share_of_the_squares(self, rows, least):
        flat = np.array([w for row in rows for w in row], np.float64)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        out = np.full(len(rows), 99, np.int64)
        weighted_shingles.prefixes(flat, offsets, least, out)
        assert out.tolist() == [twins_cosine.prefix(row, least) for row in rows]

    @given(dicts, st.sampled_from(THRESHOLDS) | st.floats(1e-6, 1))
    def test_every_similar_pair_is_a_candidate_and_each_comes_once(self, some, threshold):
        pairs = near(some, threshold)
        assert similar(some, threshold) <= set(pairs)
        assert len(pairs) == len(set(pairs))
        assert all(i < j for i, j in pairs)
        assert all(some[i].keys() & some[j].keys() for i, j in pairs)

    @given(dicts, st.data())
    def test_a_threshold_that_is_hit_exactly_is_reached(self, some, data):
        every = {
            (i, j): twins_cosine.cosine(some[i], some[j])
            for i, j in combinations(range(len(some)), 2)
        }
        reached = [pair for pair, cosine in every.items() if cosine > 1e-6]
        if reached:
            pair = data.draw(st.sampled_from(reached))
            for hit in (every[pair], float(np.nextafter(every[pair], 0))):
                assert pair in near(some, min(hit, 1.0))

    @pytest.mark.parametrize(("shared", "size"), [(4, 5), (1, 2), (9, 10), (19, 20), (3, 10)])
    def test_the_decimal_that_a_user_writes_is_found_at_every_size(self, shared, size):
        for times in (1, 2, 3, 10) if INTERPRETED else (1, 2, 3, 10, 333):
            both, all_ = shared * times, size * times
            common = range(10**6, 10**6 + both)
            apart = all_ - both
            # What is shared is the commonest, and so the last that is looked up.
            sets = [
                [*common, *range(apart)],
                [*common, *range(apart, 2 * apart)],
                [*common],
                [*common],
            ]
            some = [dict.fromkeys(one, 1.0) for one in sets]
            weighted_sets = weighted_sets_from(some)
            scored = [
                cosines_of_weighted_sets(weighted_sets, first, second, threshold=shared / size)
                for first, second in near_weighted_sets(weighted_sets, threshold=shared / size)
            ]
            found = {
                pair: score
                for one in scored
                for pair, score in zip(
                    pairs_of(one.first, one.second), one.similarity.tolist(), strict=True
                )
            }
            assert found[0, 1] == shared / size

    @pytest.mark.parametrize("threshold", THRESHOLDS[2:])
    def test_families_of_copies_are_found_whole(self, threshold):
        documents, largest = (12, 20) if INTERPRETED else (40, 30)
        some = weighted_family(np.random.default_rng(8), documents, largest)
        expected = similar(some, threshold)
        assert expected
        pairs = near(some, threshold)
        assert expected <= set(pairs)
        assert near(some, threshold, block=1) == pairs

    def test_weighted_sets_that_share_too_little_are_mostly_not_looked_at(self):
        # One common feature of little weight in each, and it is the last to be looked up.
        some = [{10**9: 1.0, **dict.fromkeys(range(100 * i, 100 * i + 20), 1.0)} for i in range(10)]
        assert near(some, 0.8) == []
        assert len(near([{**one, 10**9: 99.0} for one in some], 0.8)) == 45

    def test_empty_weighted_sets_are_in_no_pair(self):
        assert near([{}, {}, {1: 1.0}, {}], 0.01) == []
        assert near([{}, {1: 1.0}, {}, {1: -1.0}, {1: 3.0}], 0.5) == [(1, 3), (3, 4), (1, 4)]
        assert near([], 0.5) == []

    @pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
    def test_a_threshold_at_which_every_pair_is_similar_is_refused(self, threshold):
        with pytest.raises(SettingsError, match=rf"threshold={threshold} with recall=1: use one"):
            near([{1: 1.0}, {2: 1.0}], threshold)


def unit_family(generator, count, dimension):
    """Vectors of length 1, many of them near another."""
    vectors = generator.standard_normal((count, dimension))
    for i in range(1, count):
        if generator.random() < 0.7:
            vectors[i] = vectors[generator.integers(i)]
            vectors[i] += generator.choice([0, 0.1, 0.5, 1]) * generator.standard_normal(dimension)
    return (vectors / np.linalg.norm(vectors, axis=1)[:, None]).astype(np.float32)


def near_pairs(vectors, threshold, **options):
    return [
        pair
        for first, second in near_vectors(vectors, threshold=threshold, **options)
        for pair in pairs_of(first, second)
    ]


class TestNearVectors:
    @pytest.mark.parametrize("tile", [1, 2, 7, 29, 30, 31, 1024])
    @pytest.mark.parametrize("threshold", [0.3, 0.7, 0.8, 0.95, 1.0])
    def test_every_similar_pair_is_found_once_whatever_the_tiles(
        self, monkeypatch, tile, threshold
    ):
        vectors = unit_family(np.random.default_rng(tile), 30, 20)
        monkeypatch.setattr(lookalike.candidates.exact_join, "TILE_VECTORS", tile)
        wide = vectors.astype(np.float64)
        products = wide @ wide.T
        pairs = near_pairs(vectors, threshold)
        assert len(pairs) == len(set(pairs))
        assert all(i < j for i, j in pairs)
        every = list(combinations(range(30), 2))
        expected = {(i, j) for i, j in every if products[i, j] >= threshold - 1e-7}
        assert expected
        assert expected <= set(pairs)
        assert all(products[i, j] > threshold - 2e-4 for i, j in pairs)

    @pytest.mark.parametrize("dimension", [1, 2, 384, 4096])
    def test_rounding_in_32_bits_loses_no_pair_at_the_very_threshold(self, dimension):
        vectors = unit_family(np.random.default_rng(dimension), 12, dimension)
        wide = vectors.astype(np.float64)
        for i, j in combinations(range(12), 2):
            threshold = float(wide[i] @ wide[j])
            if 0 < threshold <= 1:
                assert (i, j) in near_pairs(vectors, threshold)

    def test_progress_is_told_to_the_end(self, monkeypatch):
        monkeypatch.setattr(lookalike.candidates.exact_join, "TILE_VECTORS", 4)
        told = []
        vectors = unit_family(np.random.default_rng(1), 10, 5)
        near_pairs(vectors, 0.5, progress=lambda done, of: told.append((done, of)))
        assert told == [(4, 10), (8, 10), (10, 10)]

    @pytest.mark.parametrize("count", [0, 1])
    def test_no_vector_and_one_vector_have_no_pairs(self, count):
        assert near_pairs(np.ones((count, 1), np.float32), 0.5) == []

    @pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan")])
    def test_a_threshold_at_which_every_pair_is_similar_is_refused(self, threshold):
        with pytest.raises(SettingsError, match=rf"threshold={threshold} with recall=1: use one"):
            near_pairs(np.eye(3, dtype=np.float32), threshold)
