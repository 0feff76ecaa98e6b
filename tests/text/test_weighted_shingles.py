from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike.text.weighted_shingles
import twins
import twins_cosine
from lookalike.base.errors import SettingsError
from lookalike.kernels import sets, weighted_shingles
from lookalike.kernels.jit import INTERPRETED
from lookalike.text.shingles import Shingling, ignoring
from lookalike.text.vectors import canonical_sparse
from lookalike.text.weighted_shingles import (
    Rarity,
    WeightedSets,
    Weighting,
    weighted_sets_of,
    weighted_sets_of_sparse,
)
from made_documents import documents_of

pytestmark = pytest.mark.kernels

# The interpreter's arithmetic warns of wrap-around on threads of its own.
THREADS = (1,) if INTERPRETED else (1, 2, 5)

# Few characters, so that shingles repeat; one to four bytes each, words and what parts them.
texts = st.text(st.sampled_from("aab b1é一二あ😀.\u0301"), max_size=40)
shinglings = st.builds(Shingling, st.sampled_from(["chars", "words"]), st.integers(1, 4))

VERSES = [
    "the quick brown fox jumps over the lazy dog",
    "the quick brown fox jumped over a lazy dog",
    "",
    "to be or not to be, that is the question: to be, to be, to be",
    "床前明月光 疑是地上霜 举头望明月 低头思故乡",
    "?!",
    "the dog, the fox and the question of the dog",
]


def hashes_of(text, shingling):
    hashes = twins.char_hashes if shingling.unit == "chars" else twins.word_hashes
    return hashes(text, shingling.size)


def rows_of(weighted_sets):
    """Take bags apart into lists of features and weights."""
    pairs = list(zip(weighted_sets.features.tolist(), weighted_sets.weights.tolist(), strict=True))
    ends = weighted_sets.offsets.tolist()
    return [pairs[start:end] for start, end in pairwise(ends)]


def equal(a, b):
    return (
        np.array_equal(a.features, b.features)
        and np.array_equal(a.weights, b.weights)
        and np.array_equal(a.offsets, b.offsets)
    )


def rarity_of(some, shingling, threads=1, parts=1):
    """Count the corpus of distinct texts, in one part or in several."""
    cut = [some[i::parts] for i in range(parts)]

    def each():
        return iter([documents_of(part) for part in cut])

    return Rarity.of(each, shingling, len(some), threads)


class TestTheKernel:
    @given(st.lists(texts, max_size=5), shinglings, st.data())
    def test_shingles_are_sorted_and_counted(self, some, shingling, data):
        every = sorted({h for text in some for h in hashes_of(text, shingling)})
        ignored = data.draw(st.sets(st.sampled_from(every), max_size=3)) if every else set()
        table = ignoring(np.array(sorted(ignored), np.uint64))
        shingling = Shingling(shingling.unit, shingling.size, ignored=table)
        documents = documents_of(some)
        rows = np.arange(len(some))[::-1].copy()
        room = int(documents.offsets[-1]) + 1
        out, counts = np.full(room, 5, np.uint64), np.full(room, 5.0)
        offsets = np.zeros(len(some) + 1, np.int64)
        sets.weighted_sets(
            *(documents.data, documents.offsets, rows, *shingling.arguments()),
            *(int(documents.lengths(rows).max(initial=0)) + 1, out, counts, offsets),
        )
        expected = [
            sorted(Counter(h for h in hashes_of(text, shingling) if h not in ignored).items())
            for text in reversed(some)
        ]
        assert rows_of(WeightedSets(out[: offsets[-1]], counts[: offsets[-1]], offsets)) == expected

    @given(st.lists(st.lists(st.floats(-1e6, 1e6), max_size=20), max_size=4))
    def test_squares_are_added_in_turn(self, rows):
        weights = np.array([w for row in rows for w in row], np.float64)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        out = np.full(len(rows), 5.0)
        weighted_shingles.squares(weights, offsets, out)
        expected = [twins_cosine.in_turn([w * w for w in row]) for row in rows]
        assert out.tolist() == expected
        weighted_sets = WeightedSets(np.zeros(len(weights), np.uint64), weights, offsets)
        assert weighted_sets.squares().tolist() == expected


class TestWeights:
    @pytest.mark.parametrize("kind", ["counts", "binary"])
    @given(some=st.lists(texts, max_size=5), shingling=shinglings)
    def test_counts_and_ones_are_exact(self, kind, some, shingling):
        found = rows_of(weighted_sets_of(documents_of(some), shingling, Weighting(kind)))
        expected = [twins_cosine.weighted_set(hashes_of(text, shingling), kind) for text in some]
        assert found == [list(weighted_set.items()) for weighted_set in expected]

    @given(some=st.lists(texts, max_size=5), shingling=shinglings)
    def test_logarithms_of_counts_are_natural_ones(self, some, shingling):
        found = rows_of(weighted_sets_of(documents_of(some), shingling, Weighting("log")))
        for text, row in zip(some, found, strict=True):
            expected = twins_cosine.weighted_set(hashes_of(text, shingling), "log")
            assert [h for h, _ in row] == list(expected)
            assert [w for _, w in row] == pytest.approx(list(expected.values()), rel=1e-15)

    @pytest.mark.long
    @given(some=st.lists(texts, max_size=6, unique=True), shingling=shinglings)
    def test_rare_shingles_weigh_more_by_their_document_frequency(self, some, shingling):
        weighting = Weighting("tf-idf", rarity_of(some, shingling))
        found = rows_of(weighted_sets_of(documents_of(some), shingling, weighting))
        hashes = [hashes_of(text, shingling) for text in some]
        frequencies = twins_cosine.frequencies(hashes)
        for one, row in zip(hashes, found, strict=True):
            expected = twins_cosine.weighted_set(one, "tf-idf", len(some), frequencies)
            assert [h for h, _ in row] == list(expected)
            assert [w for _, w in row] == pytest.approx(list(expected.values()), rel=1e-15)

    def test_a_shingle_of_every_document_weighs_its_count_and_a_lone_one_more(self):
        shingling = Shingling("words", 1)
        some = ["a a b", "a c", "a"]
        weighting = Weighting("tf-idf", rarity_of(some, shingling))
        weighted_set = dict(rows_of(weighted_sets_of(documents_of(some), shingling, weighting))[0])
        a, b = twins.word_hashes("a b", 1)
        assert weighted_set == {a: 2.0, b: pytest.approx(np.log(4 / 2) + 1, rel=1e-15)}

    @pytest.mark.long
    def test_frequencies_are_the_same_for_every_thread_and_part(self):
        shingling = Shingling("chars", 2)
        some = [text for text in VERSES if text]
        features = np.array(sorted({h for t in some for h in hashes_of(t, shingling)}), np.uint64)
        expected = rarity_of(some, shingling)(features)
        assert len(set(expected.tolist())) > 2
        for threads in THREADS:
            for parts in (1, 2, 4):
                again = rarity_of(some, shingling, threads, parts)
                assert np.array_equal(again(features), expected)

    def test_unknown_weights_are_refused(self):
        with pytest.raises(SettingsError, match="weights='idf' is unknown: use counts, binary, "):
            Weighting("idf")

    def test_tf_idf_without_a_corpus_is_refused(self):
        with pytest.raises(SettingsError, match="tf-idf' weighs by a corpus: two texts alone have"):
            weighted_sets_of(documents_of(["ab"]), Shingling("chars", 1), Weighting("tf-idf"))


class TestPieces:
    @pytest.mark.parametrize("kind", twins_cosine.WEIGHTS)
    def test_rows_threads_and_pieces_change_nothing(self, kind, monkeypatch):
        shingling = Shingling("chars", 2)
        documents = documents_of(VERSES)
        rarity = rarity_of([text for text in VERSES if text], shingling)
        weighting = Weighting(kind, rarity if kind == "tf-idf" else None)
        whole = weighted_sets_of(documents, shingling, weighting)
        assert len(whole) == len(VERSES)
        for piece in (1, 50, 1 << 20):
            monkeypatch.setattr(lookalike.text.weighted_shingles, "PIECE_BYTES", piece)
            for threads in THREADS:
                assert equal(
                    weighted_sets_of(documents, shingling, weighting, threads=threads), whole
                )
                rows = np.array([4, 0, 0, 2, 6], np.int64)
                some = weighted_sets_of(documents, shingling, weighting, rows=rows, threads=threads)
                assert rows_of(some) == [rows_of(whole)[row] for row in rows]

    def test_no_documents_and_empty_ones_have_empty_weighted_sets(self):
        for some in ([], [""], ["", ""]):
            weighted_sets = weighted_sets_of(
                documents_of(some), Shingling("chars", 2), Weighting("log")
            )
            assert rows_of(weighted_sets) == [[] for _ in some]
            assert weighted_sets.squares().tolist() == [0] * len(some)

    def test_weighted_sets_are_joined_one_after_the_other(self):
        parts = [
            weighted_sets_of(documents_of(some), Shingling("chars", 2), Weighting("counts"))
            for some in (VERSES[:2], [], VERSES[2:])
        ]
        whole = weighted_sets_of(documents_of(VERSES), Shingling("chars", 2), Weighting("counts"))
        assert equal(WeightedSets.joined(parts), whole)
        assert equal(WeightedSets.joined(parts[:1]), parts[0])
        assert len(WeightedSets.joined([])) == 0
        assert whole.sizes().tolist() == [len(row) for row in rows_of(whole)]


class TestListedBags:
    ROWS = pa.array(
        [
            [{"index": 3, "value": 2.0}, {"index": 0, "value": -1.0}],
            None,
            [{"index": 7, "value": 0.75}],
            [{"index": index, "value": 1.0 + index} for index in range(4)],
        ],
        pa.large_list(pa.struct([("index", pa.int64()), ("value", pa.float64())])),
    )

    def test_a_sparse_row_is_taken_apart_into_the_features_and_numbers_it_was_made_of(self):
        documents = canonical_sparse(self.ROWS)
        found = rows_of(weighted_sets_of_sparse(documents))
        first = {twins.value(0, 3): 1.0, twins.value(0, 0): -0.5}
        assert found[0] == sorted(first.items())
        assert found[1] == []
        assert found[2] == [(twins.value(0, 7), 1.5)]

    def test_some_rows_are_those_rows_of_all(self):
        documents = canonical_sparse(self.ROWS)
        rows = np.array([3, 1, 0, 0], np.int64)
        whole = rows_of(weighted_sets_of_sparse(documents))
        assert rows_of(weighted_sets_of_sparse(documents, rows)) == [whole[row] for row in rows]
