"""What stands between buckets and texts: bits that dismiss, and the order in which pairs come."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import twins
from lookalike.base.randomness import mixed
from lookalike.kernels import jaccard, near_bands
from lookalike.kernels.jit import INTERPRETED
from lookalike.planning import sampling
from lookalike.planning.recall import RowPath
from lookalike.planning.sampling import Background
from lookalike.sketches import minhash, prefilter
from lookalike.text.shingles import Sets, Shingling
from made_documents import documents_of, texts_of

pytestmark = pytest.mark.kernels

rows_of_32_bits = st.lists(st.integers(0, 2**32 - 1), min_size=128, max_size=140)


@given(st.lists(rows_of_32_bits, max_size=3))
def test_two_bits_of_the_first_128_rows_are_mixed_from_the_whole_of_each(signatures):
    width = min(map(len, signatures), default=128)
    table = np.array([one[:width] for one in signatures], np.uint32).reshape(-1, width)
    assert minhash.checks(table).tolist() == [twins.prefilter_bits(one) for one in signatures]


@pytest.mark.parametrize("step", [1 << 8, 1 << 16, 4, 8, 16, 12])
def test_bits_of_two_elements_are_coin_tosses_whatever_their_difference(step):
    # By affine functions the lowest bits of all rows depend on the difference alone.
    generator = np.random.default_rng(step)
    pairs = 400 if not INTERPRETED else 4
    elements = generator.integers(0, 2**63, pairs, dtype=np.uint64)
    both = np.stack([elements, elements + np.uint64(step)], axis=1)
    differing = []
    for seed in range(3):
        single = minhash.sign_sets(
            Sets(both.ravel(), np.arange(2 * pairs + 1)), rows=128, seed=seed
        )
        bits = minhash.checks(single)
        differing.append(np.bitwise_count(bits[::2] ^ bits[1::2]).sum(axis=1, dtype=np.int64))
    deviation = (np.array(differing) - 128) / 8  # of 256 coins
    assert abs(deviation.mean()) < 5 / math.sqrt(3 * pairs)
    assert deviation.std() < 1.1 if pairs > 4 else 2


@given(
    st.lists(st.tuples(st.integers(0, 2**64 - 1) | st.integers(0, 5), st.booleans()), max_size=60)
)
@example([(3, False), (3, True), (3, False), (4, True)])
def test_all_that_share_a_key_are_found_in_order_and_no_bare_one(documents):
    keys = np.array([key for key, _ in documents], np.uint64)
    empty = np.array([is_empty for _, is_empty in documents], np.bool_)
    marks = np.zeros((2, near_bands.mark_words(len(keys))), np.uint64)
    out = np.empty(len(keys), np.uint32)
    found = out[: near_bands.may_share_key(keys, empty, marks, out)].tolist()
    often = Counter(key for key, is_empty in documents if not is_empty)
    shared = [i for i, (key, is_empty) in enumerate(documents) if not is_empty and often[key] > 1]
    assert found == sorted(set(found))
    assert set(shared) <= set(found)
    assert not empty[found].any()


def test_few_documents_that_are_alone_are_taken_for_sharing():
    keys = mixed(np.arange(100_000 if not INTERPRETED else 500, dtype=np.uint64))
    marks = np.zeros((2, near_bands.mark_words(len(keys))), np.uint64)
    out = np.empty(len(keys), np.uint32)
    found = near_bands.may_share_key(keys, np.zeros(len(keys), np.bool_), marks, out)
    assert found < len(keys) / 8


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30),
    st.integers(1, 30),
)
def test_pairs_are_cut_where_their_members_weigh_too_much(weights, pairs, most):
    pairs = [(a % len(weights), b % len(weights)) for a, b in pairs]
    expected, members = [], set()
    for place, pair in enumerate(pairs):
        if members and sum(weights[one] for one in members | set(pair)) > most:
            expected.append(place)
            members = set()
        members |= set(pair)
    if pairs:
        expected.append(len(pairs))
    first, second = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    ends = np.empty(len(pairs), np.int64)
    marks = np.zeros(len(weights), np.uint32)
    count = jaccard.cut(first, second, np.array(weights), most, marks, ends)
    assert ends[:count].tolist() == expected


@pytest.mark.parametrize("most", [0, 4, 40, 77, 128, 256])
@pytest.mark.parametrize("agreement", [0.0, 0.3, 0.5, 0.8, 0.97, 1.0])
def test_the_chance_to_pass_is_that_of_counting_every_way(most, agreement):
    by_bits = sum(
        math.comb(256, k) * (1 - agreement) ** k * agreement ** (256 - k) for k in range(most + 1)
    )
    by_rows = sum(
        math.comb(128, m)
        * (1 - agreement) ** m
        * agreement ** (128 - m)
        * sum(math.comb(2 * m, k) for k in range(min(most, 2 * m) + 1))
        / 4**m
        for m in range(129)
    )
    for metric, expected in (("cosine", by_bits), ("jaccard", by_rows)):
        found = prefilter.passing(metric, most, np.array([agreement]))
        assert found == pytest.approx([expected], abs=1e-9)


def test_signatures_of_pairs_at_the_threshold_pass_as_often_as_is_said():
    generator = np.random.default_rng(8)
    pairs, shared, own = 1500 if not INTERPRETED else 20, 160, 20
    elements = mixed(generator.integers(0, 2**63, (pairs, shared + 2 * own), dtype=np.uint64))
    first = np.sort(elements[:, : shared + own], axis=1)
    second = np.sort(np.delete(elements, np.s_[shared : shared + own], axis=1), axis=1)
    ends = np.arange(0, pairs * (shared + own) + 1, shared + own)
    bits = [
        minhash.checks(minhash.sign_sets(Sets(one.ravel(), ends), rows=128, seed=5))
        for one in (first, second)
    ]
    differing = np.bitwise_count(bits[0] ^ bits[1]).sum(axis=1)
    assert differing.mean() == pytest.approx(128 * 0.2, rel=0.02 if pairs > 20 else 0.3)
    assert (differing <= RowPath(0.8).prefilter(0.999)).mean() > 0.999


class TestClosePairs:
    def test_pairs_far_from_random_are_counted_with_their_similarity(self):
        generator = np.random.default_rng(3)
        texts = [" ".join(f"{n}w{i}" for i in range(200)) for n in range(12)]
        for n, replaced in enumerate((0, 20, 50)):
            words = texts[n].split()
            for place in generator.choice(200, replaced, replace=False):
                words[place] = f"other{place}"
            texts.append(" ".join([*words, "end"]))
        sample = documents_of(texts)
        known = Background(np.zeros(5), 200.0)
        found = sampling.with_close_pairs(known, sample, Shingling("words", 1))
        expected = [200 / 201, 180 / 221, 150 / 251]
        assert found.close_pairs == 15 * 14 // 2
        assert found.close is not None
        assert sorted(found.close, reverse=True) == pytest.approx(expected, abs=0.12)

    def test_they_stand_for_their_share_and_the_small_sample_for_the_rest(self):
        known = Background(
            np.array([0.0, 0.0, 0.1, 0.7]), 100.0, close=np.array([0.5, 0.9]), close_pairs=1000
        )
        points, shares = known.weighed()
        assert points.tolist() == [0.0, 0.1, 0.5, 0.9]
        assert shares.tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 1000, 1 / 1000])
        points, shares = Background(np.array([0.2, 0.2, 0.7]), 100.0).weighed()
        assert points.tolist() == [0.2, 0.7]
        assert shares.tolist() == pytest.approx([2 / 3, 1 / 3])

    def test_documents_without_shingles_are_in_no_pair(self):
        sample = documents_of(["", "one two three four", "one two three four five"])
        found = sampling.with_close_pairs(
            Background(np.zeros(1), 4.0), sample, Shingling("words", 1)
        )
        assert found.close_pairs == 1
        assert found.close is not None
        assert len(found.close) == 1

    @pytest.mark.parametrize(("documents", "chosen"), [(3, 3), (40, 5), (2000, 8), (9000, 10)])
    def test_the_larger_sample_grows_with_the_corpus_up_to_a_bound(
        self, documents, chosen, monkeypatch
    ):
        monkeypatch.setattr(sampling, "CLOSE_DOCUMENTS", 5)
        monkeypatch.setattr(sampling, "MAX_CLOSE_DOCUMENTS", 10)
        corpus = texts_of([str(number) for number in range(documents)])
        assert len(sampling.close_sample(corpus, np.arange(documents), documents)) == chosen
