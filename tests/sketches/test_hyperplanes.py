import hashlib
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
import twins_cosine
from lookalike.base.errors import SettingsError
from lookalike.kernels import hyperplanes, sketch, weighted_shingles
from lookalike.kernels.jit import INTERPRETED, kernel, ones
from lookalike.sketches import hyperplanes as simhash
from lookalike.text.shingles import Shingling, ignoring
from lookalike.text.weighted_shingles import WeightedSets, Weighting
from made_documents import documents_of

pytestmark = pytest.mark.kernels

LAST = 2**64 - 1
LANES = hyperplanes.LANES
AROUND_LANES = (0, 1, LANES - 1, LANES, LANES + 1, 2 * LANES, 2 * LANES + 1)

seeds = st.sampled_from([0, 1, 2**63, LAST]) | st.integers(0, LAST)
words_of_64_bits = st.sampled_from([0, 1, 2**32, 2**63, LAST]) | st.integers(0, LAST)
# Few characters, so that shingles repeat; one to four bytes each, words and what parts them.
texts = st.text(st.sampled_from("aab b1é一二あ😀.\u0301"), max_size=40)
shinglings = st.builds(Shingling, st.sampled_from(["chars", "words"]), st.integers(1, 6))

VERSES = [
    "the quick brown fox jumps over the lazy dog",
    "the quick brown fox jumped over a lazy dog",
    "",
    "to be or not to be, that is the question: to be, to be, to be",
    "床前明月光 疑是地上霜 举头望明月 低头思故乡",
    "?!",
    "a",
]
PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]


@kernel
def count_ones(words, out):
    for i in range(len(words)):
        out[i] = ones(words[i])


def hashes_of(text, shingling):
    hashes = twins.char_hashes if shingling.unit == "chars" else twins.word_hashes
    return hashes(text, shingling.size)


def weighted_sets_of_pairs(rows):
    """Lay out lists of features and weights in the order they come in."""
    pairs = [pair for row in rows for pair in row]
    return WeightedSets(
        np.array([h for h, _ in pairs], np.uint64),
        np.array([w for _, w in pairs], np.float64),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
    )


def signs_of(vectors, turned, words):
    """Run the kernel on room that holds something else before."""
    out = np.full((len(vectors), words), 0xA5A5A5A5, np.uint32)
    hyperplanes.signs(vectors, np.array(turned, np.float32), out)
    return out.tolist()


def twin_signs(vectors, turned, words):
    return [
        twins_cosine.words_of_bits(twins_cosine.bits(one, turned, 32 * words))
        for one in vectors.tolist()
    ]


def turned_by(seed, size, blocks):
    return [
        [twins_cosine.flips(seed, size, block, turn) for turn in range(twins_cosine.ROUNDS)]
        for block in range(blocks)
    ]


def some_vectors(seed, count, dimension, kind):
    generator = np.random.default_rng(seed)
    if kind == "whole":  # sums of which are often 0
        return generator.integers(-2, 3, (count, dimension)).astype(np.float32)
    if kind == "tiny":
        return (generator.standard_normal((count, dimension)) * 1e-40).astype(np.float32)
    return generator.standard_normal((count, dimension)).astype(np.float32)


class TestSigns:
    @given(
        st.integers(0, 2**32),
        st.integers(0, 3) if INTERPRETED else st.sampled_from(AROUND_LANES),
        st.integers(1, 32),
        st.integers(1, 3),
        st.integers(1, 3),
        st.sampled_from(["normal", "whole", "tiny"]),
    )
    def test_bits_are_those_of_the_definition(self, seed, count, dimension, blocks, words, kind):
        vectors = some_vectors(seed, count, dimension, kind)
        turned = turned_by(seed, 32, blocks)
        words = min(words, blocks)
        assert signs_of(vectors, turned, words) == twin_signs(vectors, turned, words)

    @pytest.mark.parametrize("size", [32, 64, 128] if INTERPRETED else [32, 64, 128, 256, 512])
    def test_every_size_of_transform_does_each_step_once(self, size):
        vectors = some_vectors(size, 3, size - 5, "normal")
        turned = turned_by(7, size, 2)
        whole = 2 * size // 32
        for words in {1, size // 32, size // 32 + 1, whole - 1, whole}:
            assert signs_of(vectors, turned, words) == twin_signs(vectors, turned, words)

    @pytest.mark.parametrize("count", [1, LANES, LANES + 1] if INTERPRETED else AROUND_LANES)
    def test_a_vector_has_the_same_bits_whoever_stands_beside_it(self, count):
        turned = turned_by(3, 32, 2)
        vectors = some_vectors(4, count, 20, "normal")
        alone = [signs_of(one[None, :], turned, 2)[0] for one in vectors]
        assert signs_of(vectors, turned, 2) == alone

    def test_a_sum_of_zero_is_a_bit_of_one(self):
        assert signs_of(np.zeros((1, 5), np.float32), turned_by(0, 32, 1), 1) == [[2**32 - 1]]

    @pytest.mark.parametrize("dimension", [10, 2048] if INTERPRETED else [10, 2047, 2048, 2049])
    def test_sketches_of_vectors_are_those_of_the_definition(self, dimension):
        vectors = some_vectors(dimension, 2, dimension, "normal")
        size = twins_cosine.dense_size(dimension)
        assert simhash.transform_size(dimension) == size
        words = 3 if INTERPRETED else size // 32 + 3
        found = simhash.sketch_vectors(vectors, words=words, seed=LAST)
        assert found.dtype == np.uint32
        expected = [twins_cosine.sketch(one, size, 32 * words, LAST) for one in vectors.tolist()]
        assert found.tolist() == expected

    @pytest.mark.parametrize(
        ("dimension", "size"),
        [(1, 2048), (768, 2048), (2048, 2048), (2049, 4096), (4096, 4096), (5000, 8192)],
    )
    def test_the_transform_is_the_next_power_of_two_and_2048_at_least(self, dimension, size):
        assert simhash.transform_size(dimension) == twins_cosine.dense_size(dimension) == size


class TestBitKeys:
    @given(st.integers(0, 2**32), st.integers(1, 130), st.integers(1, 12), st.integers(0, 3))
    def test_keys_are_those_of_the_definition(self, seed, rows, width, count):
        generator = np.random.default_rng(seed)
        sketches = generator.integers(0, 2**32, (count, width), np.uint32)
        bands = 32 * width // rows
        out = np.full((bands, count), 7, np.uint64)
        hyperplanes.bit_keys(sketches, rows, out)
        bits = [twins_cosine.bits_of_words(one) for one in sketches.tolist()]
        expected = [
            [twins_cosine.bit_key(one[band * rows : (band + 1) * rows]) for one in bits]
            for band in range(bands)
        ]
        assert out.tolist() == expected

    @pytest.mark.parametrize("rows", range(1, 131))
    def test_every_number_of_rows_is_cut_at_the_right_bits(self, rows):
        sketches = np.random.default_rng(rows).integers(0, 2**32, (1, 9), np.uint32)
        bits = twins_cosine.bits_of_words(sketches[0].tolist())
        keys = simhash.bit_keys(sketches, bands=288 // rows, rows=rows)
        for band, key in enumerate(keys[:, 0].tolist()):
            assert key == twins_cosine.bit_key(bits[band * rows : (band + 1) * rows])

    def test_a_band_of_up_to_64_bits_is_its_own_key(self):
        sketches = np.array([[0xFFFFFFFF, 0x00000001, 0x80000000, 0x12345678]], np.uint32)
        assert simhash.bit_keys(sketches, bands=1, rows=33).tolist() == [[2**33 - 1]]
        assert simhash.bit_keys(sketches, bands=2, rows=64).tolist() == [
            [0x1FFFFFFFF],
            [0x1234567880000000],
        ]

    def test_bands_of_more_bits_than_there_are_are_refused(self):
        with pytest.raises(SettingsError, match="3 bands of 11 bits need sketches of 33 bits; the"):
            simhash.bit_keys(np.zeros((1, 1), np.uint32), bands=3, rows=11)


class TestDiffering:
    @given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 5), st.data())
    def test_bits_that_differ_are_counted_in_the_first_words_alone(self, seed, width, count, data):
        generator = np.random.default_rng(seed)
        sketches = generator.integers(0, 2**32, (count, width), np.uint32)
        words = data.draw(st.integers(0, width))
        first, second = generator.integers(0, count, (2, 10))
        out = np.full(10, 99, np.int64)
        hyperplanes.differing(sketches, words, first, second, out)
        bits = [twins_cosine.bits_of_words(one)[: 32 * words] for one in sketches.tolist()]
        assert out.tolist() == [
            sum(x != y for x, y in zip(bits[i], bits[j], strict=True))
            for i, j in zip(first, second, strict=True)
        ]

    def test_all_words_are_compared_unless_said_otherwise(self):
        sketches = np.array([[0, 0], [1, 2**32 - 1]], np.uint32)
        first, second = np.array([0, 0]), np.array([1, 0])
        assert simhash.differing(sketches, first, second).tolist() == [33, 0]
        assert simhash.differing(sketches, first, second, words=1).tolist() == [1, 0]

    @pytest.mark.parametrize("kind", [np.uint32, np.uint64])
    def test_ones_are_counted_in_words_of_both_sizes(self, kind):
        bits = 8 * kind().itemsize
        words = [0, 1, 2 ** (bits - 1), 2**bits - 1, *(twins.mix(i) % 2**bits for i in range(99))]
        out = np.empty(len(words), np.int64)
        count_ones(np.array(words, kind), out)
        assert out.tolist() == [bin(word).count("1") for word in words]

    def test_no_bit_apart_is_a_cosine_of_1_and_all_of_them_of_minus_1(self):
        found = simhash.cosine_at(np.array([0, 64, 128, 256]), 256)
        assert found.tolist() == pytest.approx([1, np.sqrt(0.5), 0, -1], abs=1e-15)


numbers = st.integers(-(2**20), 2**20).map(float) | st.floats(-1e6, 1e6, width=32)
wide_numbers = numbers | st.floats(-1e6, 1e6)


def folded(rows, seed):
    weighted_sets = weighted_sets_of_pairs(rows)
    out = np.zeros((len(rows), twins_cosine.PLACES), np.float32)
    key = np.uint64(twins.mix(twins_cosine.stream(seed)))
    weighted_shingles.fold(
        weighted_sets.features, weighted_sets.weights, weighted_sets.offsets, key, out
    )
    return out.tolist()


def that_meet(seed, least):
    """Features that are folded into one place, as many as asked for or more."""
    key = twins.mix(twins_cosine.stream(seed))
    by_place = {}
    for h in range(8000):
        by_place.setdefault(twins.mix(h ^ key) >> 54, []).append(h)
    return next(meeting for meeting in by_place.values() if len(meeting) >= least)


class TestFolding:
    @given(st.lists(st.lists(st.tuples(words_of_64_bits, wide_numbers)), max_size=3), seeds)
    def test_weights_are_added_at_the_places_of_the_definition(self, rows, seed):
        assert folded(rows, seed) == [twins_cosine.fold(row, seed) for row in rows]

    @given(st.lists(st.floats(-1e8, 1e8), min_size=5, max_size=5))
    def test_what_meets_is_added_in_turn_in_32_bits(self, weights):
        meeting = list(zip(that_meet(3, 5), weights, strict=False))
        assert len(meeting) == 5
        assert folded([meeting], 3) == [twins_cosine.fold(meeting, 3)]

    @given(st.lists(texts, max_size=4), shinglings, seeds, st.data())
    def test_texts_are_folded_shingle_by_shingle(self, some, shingling, seed, data):
        ignored = ignored_in(some, shingling, data)
        shingling = Shingling(shingling.unit, shingling.size, ignored=ignoring_all(ignored))
        documents = documents_of(some)
        chosen = np.arange(len(some))[::-1].copy()
        out = np.zeros((len(some), twins_cosine.PLACES), np.float32)
        counts = np.full(len(some), -1, np.int64)
        key = np.uint64(twins.mix(twins_cosine.stream(seed)))
        room = int(documents.lengths(chosen).max(initial=0)) + 1
        sketch.fold_texts(
            *(documents.data, documents.offsets, chosen, *shingling.arguments(), key, room),
            *(out, counts),
        )
        left = [[h for h in hashes_of(t, shingling) if h not in ignored] for t in some[::-1]]
        assert counts.tolist() == [len(hashes) for hashes in left]
        expected = [twins_cosine.fold([(h, 1.0) for h in hashes], seed) for hashes in left]
        assert out.tolist() == expected

    @pytest.mark.skipif(INTERPRETED, reason="a transform of 4096 for each example")
    @given(st.lists(texts, min_size=1, max_size=4), shinglings, seeds)
    def test_texts_and_their_counted_shingles_have_the_same_sketches(self, some, shingling, seed):
        found, counts = simhash.sketch_texts(
            documents_of(some), shingling, Weighting("counts"), words=1, seed=seed
        )
        weighted_sets = [
            list(twins_cosine.weighted_set(hashes_of(t, shingling), "counts").items()) for t in some
        ]
        expected = simhash.sketch_weighted_sets(
            weighted_sets_of_pairs(weighted_sets), words=1, seed=seed
        )
        assert found.tolist() == expected.tolist()
        assert counts.tolist() == [len(hashes_of(t, shingling)) for t in some]


def ignored_in(some, shingling, data):
    """Some of the shingles of the texts."""
    every = sorted({h for text in some for h in hashes_of(text, shingling)})
    return data.draw(st.sets(st.sampled_from(every), max_size=3)) if every else set()


def ignoring_all(hashes):
    return ignoring(np.array(sorted(hashes), np.uint64))


class TestSketches:
    @pytest.mark.parametrize("kind", ["counts", "binary", "log"])
    def test_sketches_of_texts_are_those_of_the_definition(self, kind):
        shingling = Shingling("chars", 3)
        some = VERSES[:2] if INTERPRETED else VERSES
        words = 2 if INTERPRETED else 131
        found, _ = simhash.sketch_texts(
            documents_of(some), shingling, Weighting(kind), words=words, seed=5
        )
        for text, row in zip(some, found.tolist(), strict=True):
            weighted_set = twins_cosine.weighted_set(hashes_of(text, shingling), kind)
            vector = twins_cosine.fold(list(weighted_set.items()), 5)
            assert row == twins_cosine.sketch(vector, twins_cosine.PLACES, 32 * words, 5)

    @pytest.mark.skipif(INTERPRETED, reason="a transform of 4096 for each of many documents")
    @pytest.mark.parametrize("kind", ["counts", "binary"])
    def test_a_document_has_the_same_bits_in_every_company_and_at_every_length(self, kind):
        some = [" ".join(VERSES)[i : i + 40] for i in range(2 * simhash.BATCH_DOCUMENTS + 2)]
        documents, shingling = documents_of(some), Shingling("chars", 4)
        whole, counts = simhash.sketch_texts(
            documents, shingling, Weighting(kind), words=140, seed=9
        )
        for rows in ([0], [64], [65, 3, 127, 129], list(range(63, 130))):
            chosen = np.array(rows, np.int64)
            found, some_counts = simhash.sketch_texts(
                documents, shingling, Weighting(kind), words=3, seed=9, chosen=chosen
            )
            assert np.array_equal(found, whole[chosen, :3])
            assert np.array_equal(some_counts, counts[chosen])

    @pytest.mark.skipif(INTERPRETED, reason="a transform of 2048, twice")
    def test_a_longer_sketch_begins_with_the_shorter_one(self):
        vectors = some_vectors(1, 3, 50, "normal")
        longer = simhash.sketch_vectors(vectors, words=200, seed=4)
        for words in (1, 63, 64, 65, 129):
            shorter = simhash.sketch_vectors(vectors, words=words, seed=4)
            assert np.array_equal(shorter, longer[:, :words])

    @pytest.mark.skipif(INTERPRETED, reason="transforms of 2048")
    def test_other_seeds_give_other_bits(self):
        vectors = some_vectors(2, 1, 50, "normal")
        sketches = [simhash.sketch_vectors(vectors, words=8, seed=s) for s in (0, 1, 2**63, LAST)]
        for i, one in enumerate(sketches):
            for other in sketches[:i]:
                assert 80 < np.bitwise_count(one ^ other).sum() < 176

    def test_the_caller_s_vectors_are_not_changed(self):
        vectors = some_vectors(3, 2, 40, "normal")
        before = vectors.copy()
        hyperplanes.signs(vectors, np.ones((1, 3, 64), np.float32), np.empty((2, 2), np.uint32))
        assert np.array_equal(vectors, before)

    def test_no_documents_have_no_sketches(self):
        none = np.empty((0, 4), np.float32)
        assert simhash.sketch_vectors(none, words=2, seed=0).shape == (0, 2)
        assert simhash.sketch_weighted_sets(weighted_sets_of_pairs([]), words=2, seed=0).shape == (
            0,
            2,
        )
        found, counts = simhash.sketch_texts(
            documents_of([]), Shingling("chars", 2), Weighting("counts"), words=2, seed=0
        )
        assert found.shape == (0, 2)
        assert counts.shape == (0,)


class TestGolden:
    """Numbers that the twin computed once, and that may never change."""

    TEXT = (0xC10EAA5E, 0x3D6AB9C7)
    VECTOR = (0x422BE7A3, 0x0F84F111)
    FINGERPRINT = 0xCA26E74FF3612D7D
    DIGEST = "fa0583319660a850b26a4d917fa92e4d4d1964337e5f1f93adeb8b195baa2856"

    def test_the_sketch_of_a_text_stays_what_it_was(self):
        found, _ = simhash.sketch_texts(
            documents_of(VERSES[:1]), Shingling("chars", 5), Weighting("counts"), words=2, seed=42
        )
        assert found.tolist() == [list(self.TEXT)]

    def test_the_sketch_of_a_vector_stays_what_it_was(self):
        vectors = np.array([PRIMES], np.float32)
        found = simhash.sketch_vectors(vectors, words=2, seed=42)
        assert found.tolist() == [list(self.VECTOR)]

    def test_the_fingerprint_of_a_text_stays_what_it_was(self):
        found, _ = simhash.fingerprints(
            documents_of(VERSES[:1]), Shingling("chars", 5), Weighting("counts")
        )
        assert found.tolist() == [self.FINGERPRINT]

    @pytest.mark.skipif(INTERPRETED, reason="two blocks of 4096 for each")
    def test_the_bits_of_two_blocks_stay_what_they_were(self):
        found, _ = simhash.sketch_texts(
            documents_of(VERSES), Shingling("words", 2), Weighting("counts"), words=256, seed=1
        )
        assert hashlib.sha256(found.astype("<u4").tobytes()).hexdigest() == self.DIGEST


def prints(rows):
    weighted_sets = weighted_sets_of_pairs(rows)
    out = np.full(len(rows), 3, np.uint64)
    weighted_shingles.fingerprints(
        weighted_sets.features, weighted_sets.weights, weighted_sets.offsets, out
    )
    return out.tolist()


def fingerprints_of(some, shingling, kind="counts", chosen=None):
    return simhash.fingerprints(documents_of(some), shingling, Weighting(kind), chosen=chosen)


class TestFingerprints:
    @given(
        st.lists(
            st.lists(st.tuples(words_of_64_bits, st.integers(-(2**20), 2**20)), max_size=9),
            max_size=3,
        )
    )
    def test_bits_are_those_of_more_than_half_of_the_weight(self, rows):
        assert prints(rows) == [twins_cosine.fingerprint(row) for row in rows]

    @given(st.lists(st.tuples(words_of_64_bits, st.floats(0.5, 50)), min_size=1, max_size=9))
    def test_weights_of_all_digits_are_rounded_at_most_where_the_halves_are_equal(self, row):
        (found,) = prints([row])
        whole = sum(w for _, w in row)
        for bit in range(64):
            lead = 2 * sum(w for h, w in row if h >> bit & 1) - whole
            if abs(lead) > 1e-9 * whole:
                assert found >> bit & 1 == (lead > 0)

    @given(st.lists(texts, max_size=4), shinglings, st.data())
    def test_texts_are_counted_shingle_by_shingle(self, some, shingling, data):
        ignored = ignored_in(some, shingling, data)
        shingling = Shingling(shingling.unit, shingling.size, ignored=ignoring_all(ignored))
        found, counts = fingerprints_of(some, shingling)
        left = [[h for h in hashes_of(t, shingling) if h not in ignored] for t in some]
        assert counts.tolist() == [len(hashes) for hashes in left]
        expected = [twins_cosine.fingerprint([(h, 1) for h in hashes]) for hashes in left]
        assert found.tolist() == expected

    @pytest.mark.parametrize("length", [2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 31, 32, 33, 64, 257])
    def test_every_count_even_or_odd_is_halved_rightly(self, length):
        generator = np.random.default_rng(length)
        # Two characters, so that among few shingles halves are often equal.
        some = ["".join(generator.choice(["a", "b"], length + 1)) for _ in range(6)]
        found, counts = fingerprints_of(some, Shingling("chars", 2))
        hashes = [twins.char_hashes(text, 2) for text in some]
        assert counts.tolist() == [length] * 6
        assert found.tolist() == [twins_cosine.fingerprint([(h, 1) for h in one]) for one in hashes]

    def test_of_two_shingles_only_the_bits_of_both_are_set(self):
        one, other = twins.char_hashes("abc", 2)
        assert fingerprints_of(["abc"], Shingling("chars", 2))[0].tolist() == [one & other]

    def test_one_shingle_is_its_own_fingerprint(self):
        (one,) = twins.char_hashes("abc", 9)
        assert fingerprints_of(["abc"], Shingling("chars", 9))[0].tolist() == [one]

    def test_a_document_without_shingles_has_the_fingerprint_0(self):
        for kind in ("counts", "binary"):
            found, counts = fingerprints_of(["", "ab"], Shingling("chars", 2), kind)
            assert found[0] == 0
            assert counts.tolist() == [0, 1]

    @pytest.mark.parametrize("kind", ["binary", "log"])
    def test_weights_other_than_counts_are_weighed(self, kind):
        shingling = Shingling("chars", 1)
        found, counts = fingerprints_of(VERSES, shingling, kind)
        weighted_sets = [
            twins_cosine.weighted_set(hashes_of(text, shingling), kind) for text in VERSES
        ]
        assert found.tolist() == [
            twins_cosine.fingerprint(list(weighted_set.items())) for weighted_set in weighted_sets
        ]
        assert counts.tolist() == [len(weighted_set) for weighted_set in weighted_sets]

    @pytest.mark.parametrize("kind", ["counts", "log"])
    def test_chosen_documents_have_the_fingerprints_they_have_among_all(self, kind):
        chosen = np.array([4, 0, 3], np.int64)
        whole, counts = fingerprints_of(VERSES, Shingling("words", 1), kind)
        found, some_counts = fingerprints_of(VERSES, Shingling("words", 1), kind, chosen)
        assert np.array_equal(found, whole[chosen])
        assert np.array_equal(some_counts, counts[chosen])


@pytest.fixture(scope="module")
def peer():
    """Give another simhash, which takes the hashes of its features from a function.

    Weights are whole numbers from 1 to 255: of others it multiplies bytes, which run over or are
    refused, and a weight below 1 is counted in the whole but not in the parts. All features come
    with a weight, since one without takes that of the feature before it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return pytest.importorskip("simhash")


class TestAgainstAPeer:
    def value(self, peer, features):
        named = {str(h): weight for h, weight in features}

        def given_hash(name):
            return 0 if name == b"test" else int(name)

        return peer.Simhash(named, hashfunc=given_hash).value

    @given(
        rows=st.lists(
            st.dictionaries(words_of_64_bits, st.integers(1, 255), min_size=1, max_size=20),
            min_size=1,
            max_size=4,
        )
    )
    def test_weighted_features_have_the_fingerprint_that_it_computes(self, peer, rows):
        pairs = [sorted(row.items()) for row in rows]
        assert prints(pairs) == [self.value(peer, row) for row in pairs]

    def test_texts_have_the_fingerprints_that_it_computes(self, peer):
        for spec in ("chars:2", "chars:5", "words:1", "words:3"):
            shingling = Shingling.parse(spec)
            found, _ = fingerprints_of(VERSES, shingling)
            for text, mine in zip(VERSES, found.tolist(), strict=True):
                if text:
                    weighted_set = twins_cosine.weighted_set(hashes_of(text, shingling), "counts")
                    counted = [(h, int(count)) for h, count in weighted_set.items()]
                    assert mine == self.value(peer, counted)


def test_another_process_computes_the_same_sketches():
    program = (
        "import numpy as np;"
        "from lookalike.sketches import hyperplanes;"
        "vectors = np.array([[2, 3, 5]], np.float32);"
        "print(hyperplanes.sketch_vectors(vectors, words=1, seed=3)[0, 0])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "12345"},
        check=True,
        capture_output=True,
        text=True,
    )
    (expected,) = twins_cosine.sketch([2.0, 3.0, 5.0], 2048, 32, 3)
    assert ran.stdout == f"{expected}\n"
