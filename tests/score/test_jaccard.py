from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike.score.jaccard
import twins
from lookalike.kernels.jit import INTERPRETED
from lookalike.score.jaccard import Scored, estimate, verify, verify_texts
from lookalike.text.shingles import Shingling, element_sets
from made_documents import documents_of, pairs_of, rows_of, sets_of, texts_of

pytestmark = pytest.mark.kernels

# Few elements, so that sets overlap, the two ends of the 64-bit words among them.
elements = st.sampled_from([0, 1, 2, 3, 5, 8, 2**32, 2**63, 2**64 - 2, 2**64 - 1])
sets_of_few = st.lists(st.sets(elements, max_size=10), min_size=1, max_size=6)


def overlapping(generator, size_first, size_second, shared):
    """Two sets of the given sizes with so many elements in common."""
    total = size_first + size_second - shared
    drawn = generator.permutation(4 * total)[:total] * 2**40
    first = drawn[:size_first]
    second = np.concatenate([drawn[:shared], drawn[size_first:]])
    return set(first.tolist()), set(second.tolist())


def expected_scores(sets, threshold):
    """By the definition, in fractions; a score is the number nearest to the fraction."""
    result = {}
    for i, j in combinations(range(len(sets)), 2):
        similarity = float(twins.jaccard(sets[i], sets[j]))
        if similarity >= threshold:
            inside = twins.containment(sets[i], sets[j]), twins.containment(sets[j], sets[i])
            result[i, j] = (similarity, *map(float, inside))
    return result


def scores(scored):
    columns = scored.similarity, scored.first_in_second, scored.second_in_first
    values = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(pairs_of(scored.first, scored.second), values, strict=True))


def all_pairs(sets):
    return rows_of(list(combinations(range(len(sets)), 2)))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=30))
def test_who_is_in_a_pair_is_the_same_by_marks_and_by_a_sort(pairs):
    first, second = rows_of(pairs)
    members = sorted({one for pair in pairs for one in pair})
    expected = [(members.index(a), members.index(b)) for a, b in pairs]
    for few in (0, 1 << 20):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(lookalike.score.jaccard, "DOCUMENTS_PER_PAIR", few)
            among, left, right = lookalike.score.jaccard._involved(first, second, 41)
        assert among.tolist() == members
        assert pairs_of(left, right) == expected
        assert among.dtype == left.dtype == right.dtype == np.int64


class TestExactly:
    @given(sets_of_few, st.floats(0, 1, exclude_min=True))
    def test_pairs_at_or_above_any_threshold_are_reported_with_their_scores(self, sets, threshold):
        scored = verify(sets_of(sets), *all_pairs(sets), threshold=threshold)
        assert scores(scored) == expected_scores(sets, threshold)

    @given(sets_of_few, st.data())
    def test_a_threshold_that_is_hit_exactly_is_reached(self, sets, data):
        first, second = all_pairs(sets)
        fractions = {twins.jaccard(sets[i], sets[j]) for i, j in pairs_of(first, second)} - {0}
        threshold = float(data.draw(st.sampled_from(sorted(fractions | {Fraction(1)}))))
        for hit in (threshold, np.nextafter(threshold, 0), min(np.nextafter(threshold, 2), 1.0)):
            scored = verify(sets_of(sets), first, second, threshold=float(hit))
            assert scores(scored) == expected_scores(sets, hit)

    @pytest.mark.parametrize(
        ("shared", "union"), [(4, 5), (1, 3), (2, 3), (3, 10), (7, 10), (9, 10), (1, 100), (1, 1)]
    )
    @pytest.mark.parametrize("times", [1, 7, 30] if INTERPRETED else [1, 7, 64, 1000])
    def test_a_fraction_reaches_the_decimal_that_a_user_writes(self, shared, union, times):
        generator = np.random.default_rng(times)
        both, all_ = shared * times, union * times
        for apart in {0, (all_ - both) // 3, all_ - both}:
            pair = overlapping(generator, both + apart, all_ - apart, both)
            sets, rows = sets_of(pair), rows_of([(0, 1)])
            for reached in (shared / union, shared / union - 1e-7):
                scored = verify(sets, *rows, threshold=reached)
                assert scored.similarity.tolist() == [shared / union]
                assert scored.first_in_second.tolist() == [both / (both + apart)]
                assert scored.second_in_first.tolist() == [both / (all_ - apart)]
            assert not len(verify(sets, *rows, threshold=shared / union + 1e-7))

    def test_four_fifths_reach_0_8_and_not_a_little_more(self):
        sets, rows = sets_of([{1, 2, 3, 4}, {1, 2, 3, 4, 5}]), rows_of([(0, 1)])
        assert verify(sets, *rows, threshold=0.8).similarity.tolist() == [0.8]
        assert verify(sets, *rows, threshold=0.7999999).similarity.tolist() == [0.8]
        assert not len(verify(sets, *rows, threshold=0.8000001))
        # 0.1 + 0.2 is a little more than 3/10.
        sets = sets_of([{1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}])
        assert len(verify(sets, *rows, threshold=0.3)) == 1
        assert not len(verify(sets, *rows, threshold=0.1 + 0.2))

    @pytest.mark.parametrize(("size", "whole"), [(7, 25), (14, 25), (15, 29), (29, 35)])
    def test_a_part_of_a_set_is_found_at_its_share_although_the_product_rounds_up(
        self, size, whole
    ):
        assert size / whole * whole > size
        sets = sets_of([set(range(size)), set(range(whole))])
        scored = verify(sets, *rows_of([(0, 1)]), threshold=size / whole)
        assert scores(scored) == {(0, 1): (size / whole, 1.0, size / whole)}

    @pytest.mark.parametrize("threshold", [0.01, 1 / 3, 0.5, 0.8, 0.95, 1.0])
    def test_early_ends_of_long_comparisons_lose_nothing(self, threshold):
        generator = np.random.default_rng(17)
        largest, pairs = (150, 12) if INTERPRETED else (3000, 150)
        sets = []
        for _ in range(pairs):
            size_first, size_second = generator.integers(1, largest, 2)
            # Around what the threshold asks for, as far as the smaller set allows.
            about = round(threshold / (1 + threshold) * (size_first + size_second))
            shared = about + int(generator.integers(-2, 3))
            shared = min(max(shared, 0), size_first, size_second)
            sets += overlapping(generator, int(size_first), int(size_second), shared)
        rows = [(i, i + 1) for i in range(0, len(sets), 2)]
        scored = verify(sets_of(sets), *rows_of(rows), threshold=threshold)
        expected = {
            (i, j): float(twins.jaccard(sets[i], sets[j]))
            for i, j in rows
            if float(twins.jaccard(sets[i], sets[j])) >= threshold
        }
        assert {pair: score for pair, (score, *_) in scores(scored).items()} == expected

    def test_the_beginning_may_differ_when_the_rest_is_shared(self):
        # A hundred smaller elements on either side come before the first common one.
        first, second = set(range(0, 200, 2)), set(range(1, 201, 2))
        common = set(range(1000, 1800))
        sets = sets_of([first | common, second | common])
        assert verify(sets, *rows_of([(0, 1)]), threshold=0.8).similarity.tolist() == [0.8]
        assert not len(verify(sets, *rows_of([(0, 1)]), threshold=0.81))

    @pytest.mark.parametrize("threshold", [1e-9, 0.3, 0.5, 1.0])
    def test_an_empty_set_is_similar_to_nothing(self, threshold):
        sets = sets_of([set(), set(), {1}, {1, 2}])
        rows = rows_of([(0, 1), (0, 0), (0, 2), (2, 0), (3, 1)])
        assert not len(verify(sets, *rows, threshold=threshold))

    def test_a_set_is_wholly_similar_to_itself_and_to_its_equal(self):
        sets = sets_of([{5}, {1, 2, 3}, {1, 2, 3}])
        scored = verify(sets, *rows_of([(0, 0), (1, 1), (1, 2), (2, 1)]), threshold=1.0)
        assert len(scored) == 4
        for column in (scored.similarity, scored.first_in_second, scored.second_in_first):
            assert (column == 1.0).all()

    def test_at_threshold_0_sets_that_share_nothing_are_reported_too(self):
        sets = sets_of([{1}, {2, 3}, {3}])
        scored = verify(sets, *rows_of([(0, 1), (1, 2), (2, 0)]), threshold=0.0)
        assert scores(scored) == {(0, 1): (0, 0, 0), (1, 2): (0.5, 0.5, 1), (2, 0): (0, 0, 0)}


class TestEstimated:
    @given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 2**32 - 1))
    def test_the_score_is_the_share_of_equal_rows(self, rows, threshold, seed):
        signatures = np.random.default_rng(seed).integers(0, 2, (4, rows)).astype(np.uint32)
        scored = estimate(signatures, *all_pairs(signatures), threshold=threshold)
        expected = {}
        for i, j in combinations(range(4), 2):
            agreeing = sum(a == b for a, b in zip(signatures[i], signatures[j], strict=True))
            if float(Fraction(int(agreeing), rows)) >= threshold:
                expected[i, j] = float(Fraction(int(agreeing), rows))
        found = pairs_of(scored.first, scored.second)
        assert dict(zip(found, scored.similarity.tolist(), strict=True)) == expected
        assert np.isnan(scored.first_in_second).all()
        assert np.isnan(scored.second_in_first).all()

    def test_four_rows_of_five_reach_0_8(self):
        signatures = np.array([[1, 2, 3, 4, 5], [1, 2, 3, 4, 6]], np.uint32)
        assert estimate(signatures, *rows_of([(0, 1)]), threshold=0.8).similarity.tolist() == [0.8]
        assert not len(estimate(signatures, *rows_of([(0, 1)]), threshold=0.8000001))


class TestTheSameWhateverTheWay:
    @pytest.mark.parametrize("threads", [1, 2, 5])
    @pytest.mark.parametrize("piece", [1, 3, 1 << 13])
    def test_any_threads_and_any_piece(self, monkeypatch, threads, piece):
        generator = np.random.default_rng(4)
        sets = [set(generator.integers(0, 30, 20).tolist()) for _ in range(12)]
        rows = all_pairs(sets)
        signatures = generator.integers(0, 2, (12, 10)).astype(np.uint32)
        expected = expected_scores(sets, 0.4)
        estimated = estimate(signatures, *rows, threshold=0.5)
        monkeypatch.setattr(lookalike.score.jaccard, "PIECE_PAIRS", piece)
        scored = verify(sets_of(sets), *rows, threshold=0.4, threads=threads)
        assert 0 < len(scored) < len(rows[0])
        assert scores(scored) == expected
        # As in the order of the candidates.
        assert pairs_of(scored.first, scored.second) == list(expected)
        again = estimate(signatures, *rows, threshold=0.5, threads=threads)
        assert pairs_of(again.first, again.second) == pairs_of(estimated.first, estimated.second)
        assert np.array_equal(again.similarity, estimated.similarity)

    def test_the_caller_s_arrays_are_not_changed(self):
        sets, rows = sets_of([{1, 2}, {2, 3}, set()]), rows_of([(0, 1), (1, 2)])
        before = [array.copy() for array in (sets.elements, sets.offsets, *rows)]
        verify(sets, *rows, threshold=0.2)
        for array, copy in zip((sets.elements, sets.offsets, *rows), before, strict=True):
            assert np.array_equal(array, copy)

    def test_no_candidates_give_no_pairs(self):
        nothing = rows_of([])
        assert len(verify(sets_of([{1}, {2}]), *nothing, threshold=0.5)) == 0
        assert len(estimate(np.zeros((2, 8), np.uint32), *nothing, threshold=0.5)) == 0
        assert len(verify(sets_of([]), *nothing, threshold=0.5)) == 0

    def test_parts_join_in_their_order(self):
        sets = sets_of([{1}, {1}, {1, 2}])
        parts = [verify(sets, *rows_of([pair]), threshold=0.5) for pair in [(1, 2), (0, 1)]]
        joined = Scored.joined(parts)
        assert scores(joined) == {(1, 2): (0.5, 1.0, 0.5), (0, 1): (1.0, 1.0, 1.0)}
        assert pairs_of(joined.first, joined.second) == [(1, 2), (0, 1)]
        assert len(Scored.joined([])) == 0


@pytest.mark.parametrize("in_a_file", [None, False, True])
@pytest.mark.parametrize("whole", [0, 1 << 26])
@pytest.mark.parametrize("threads", [1] if INTERPRETED else [1, 3])
def test_texts_compared_in_pieces_or_all_at_once_score_the_same(
    monkeypatch, tmp_path, whole, threads, in_a_file
):
    choice = np.random.default_rng(5)
    texts = [" ".join(choice.choice(list("abcdefgh"), 30)) for _ in range(60)]
    documents = documents_of(texts)
    shingling = Shingling("words", 2)
    rows = choice.permutation(60)[:40]
    first, second = np.triu_indices(40, 1)
    sets = element_sets(documents, shingling, rows=rows)
    expected = verify(sets, first, second, threshold=0.2)
    monkeypatch.setattr("lookalike.score.jaccard.WHOLE_BYTES", whole)
    monkeypatch.setattr("lookalike.score.jaccard.PIECE_BYTES", 500)
    where = tmp_path / "texts" if in_a_file else None
    held = documents if in_a_file is None else texts_of(texts, where)
    found = verify_texts(held, shingling, rows, first, second, threshold=0.2, threads=threads)
    assert len(found) > 100
    order = np.lexsort((found.second, found.first))
    for name in ("first", "second", "similarity", "first_in_second", "second_in_first"):
        assert getattr(found, name)[order].tolist() == getattr(expected, name).tolist()
