from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike.errors import SettingsError
from lookalike.exact import exact_candidates
from lookalike.kernels.jit import INTERPRETED
from lookalike.verify import verify
from making import pairs_of, sets_of

pytestmark = pytest.mark.kernels

THRESHOLDS = (0.01, 0.1, 0.25, 0.3, 0.1 + 0.2, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.8, 0.9, 0.95, 1.0)

elements = st.sampled_from([0, 1, 2, 3, 5, 8, 13, 2**32, 2**63, 2**64 - 1])
sets_of_few = st.lists(st.sets(elements, max_size=10), max_size=8)


def candidates(sets, threshold, **options):
    """The candidates as a list of pairs, so that a repeated one shows."""
    return [
        pair
        for first, second in exact_candidates(sets_of(sets), threshold=threshold, **options)
        for pair in pairs_of(first, second)
    ]


def found(sets, threshold, **options):
    """The verified pairs with their similarity."""
    laid_out = sets_of(sets)
    result = {}
    for first, second in exact_candidates(laid_out, threshold=threshold, **options):
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
        with pytest.raises(SettingsError, match=rf"threshold {threshold} with recall 1: use one"):
            candidates([{1}, {2}], threshold)

    def test_the_caller_s_sets_are_not_changed(self):
        sets = sets_of([{3, 1}, {1, 2**64 - 1}, {2}])
        before = sets.elements.copy(), sets.offsets.copy()
        list(exact_candidates(sets, threshold=0.1))
        assert np.array_equal(sets.elements, before[0])
        assert np.array_equal(sets.offsets, before[1])
