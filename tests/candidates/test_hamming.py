from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
import twins_cosine
from lookalike.candidates import hamming
from lookalike.candidates.hamming import block_keys, block_masks, distances

DISTANCES = range(17)
PILES = (0, 1, 2, 1000, 10**6, 10**9)

words_of_64_bits = st.sampled_from([0, 1, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1)
places = st.integers(0, 63)


def meets(a, b, masks):
    """Whether two words share a key in at least one table."""
    keys = block_keys(np.array([a, b], np.uint64), masks)
    return bool((keys[:, 0] == keys[:, 1]).any())


def blocks_of(masks):
    """The bits that no mask tells apart, as numbers."""
    alike = {}
    for bit in range(64):
        membership = tuple(int(mask) >> bit & 1 for mask in masks)
        alike[membership] = alike.get(membership, 0) | 1 << bit
    return list(alike.values())


class TestNothingIsLost:
    @pytest.mark.parametrize("documents", PILES)
    @pytest.mark.parametrize("distance", DISTANCES)
    def test_any_so_many_bits_are_spared_by_a_mask(self, distance, documents):
        masks = block_masks(distance, documents)
        blocks = blocks_of(masks)
        # Bits that no mask tells apart stand or fall together: it is enough to try each choice of
        # blocks, and the most that can be hit, since a mask that spares them spares fewer.
        hit = min(distance, len(blocks))
        for chosen in combinations(blocks, hit):
            changed = sum(chosen)
            assert any(int(mask) & changed == 0 for mask in masks)

    @given(st.integers(0, 16), st.sampled_from(PILES), words_of_64_bits, st.data())
    def test_words_within_the_distance_share_a_key(self, distance, documents, word, data):
        changed = data.draw(st.sets(places, max_size=distance))
        other = word ^ sum(1 << bit for bit in changed)
        assert twins_cosine.distance(word, other) <= distance
        assert meets(word, other, block_masks(distance, documents))

    @pytest.mark.parametrize("documents", [2, 10, 1000])
    @pytest.mark.parametrize("distance", range(5))
    def test_every_two_short_words_within_the_distance_meet(self, distance, documents, monkeypatch):
        monkeypatch.setattr(hamming, "BITS", 8)
        masks = [int(mask) for mask in block_masks(distance, documents)]
        for a, b in product(range(256), repeat=2):
            if twins_cosine.distance(a, b) <= distance:
                assert any(a & mask == b & mask for mask in masks)


class TestMasks:
    @pytest.mark.parametrize("documents", PILES)
    @pytest.mark.parametrize("distance", DISTANCES)
    def test_all_bits_are_looked_at_and_no_table_is_there_twice(self, distance, documents):
        masks = [int(mask) for mask in block_masks(distance, documents)]
        covered = 0
        for mask in masks:
            assert 0 < mask < 2**64
            covered |= mask
        assert covered == 2**64 - 1
        assert len(set(masks)) == len(masks) <= hamming.MAX_TABLES

    def test_no_distance_is_one_table_of_all_bits(self):
        assert block_masks(0, 1000) == [2**64 - 1]

    def test_the_classic_tables_for_three_bits_are_four_blocks_of_sixteen(self):
        quarter = 2**16 - 1
        expected = {2**64 - 1 & ~(quarter << 16 * i) for i in range(4)}
        masks = {int(mask) for mask in hamming._masks(4, 1)}
        assert masks == expected
        assert {int(m) for m in hamming._masks(4, 3)} == {quarter << 16 * i for i in range(4)}

    @pytest.mark.parametrize("distance", [2, 3, 4, 5])
    def test_more_documents_make_keys_of_more_bits(self, distance):
        bits = [
            min(int(mask).bit_count() for mask in block_masks(distance, 10**power))
            for power in range(2, 10)
        ]
        assert bits == sorted(bits)
        assert bits[0] < bits[-1]

    @pytest.mark.parametrize("documents", PILES)
    @pytest.mark.parametrize("distance", DISTANCES)
    def test_no_other_number_of_blocks_costs_less(self, distance, documents):
        def cost(masks):
            met = sum(hamming.BIT_AGREEMENT ** int(mask).bit_count() for mask in masks)
            pairs = documents * (documents - 1) / 2
            tables = documents * hamming.TABLE_COST * len(masks)
            return tables + pairs * hamming.PAIR_COST * met

        chosen = cost(block_masks(distance, documents))
        for blocks in range(distance + 1, 65):
            others = hamming._masks(blocks, distance)
            if len(others) > hamming.MAX_TABLES:
                break
            assert chosen <= cost(others) * (1 + 1e-12)


class TestKeysAndDistances:
    @given(st.lists(words_of_64_bits, max_size=5), st.integers(0, 16))
    def test_a_key_is_what_the_mask_leaves_of_the_word(self, words, distance):
        masks = block_masks(distance, 1000)
        keys = block_keys(np.array(words, np.uint64), masks)
        assert keys.dtype == np.uint64
        assert keys.tolist() == [[word & int(mask) for word in words] for mask in masks]

    @given(st.lists(st.tuples(words_of_64_bits, words_of_64_bits), max_size=8))
    def test_distances_are_the_bits_that_differ(self, pairs):
        prints = np.array([word for pair in pairs for word in pair], np.uint64)
        first = np.arange(0, len(prints), 2)
        found = distances(prints, first, first + 1)
        assert found.dtype == np.int64
        assert found.tolist() == [twins_cosine.distance(a, b) for a, b in pairs]

    def test_a_pile_is_searched_whole(self):
        generator = np.random.default_rng(3)
        words = [twins.mix(i) for i in range(40)]
        words += [
            words[i] ^ sum(1 << int(bit) for bit in generator.choice(64, 1 + i % 6, replace=False))
            for i in range(40)
        ]
        prints = np.array(words, np.uint64)
        for distance in (0, 1, 3, 5, 6):
            keys = block_keys(prints, block_masks(distance, len(words)))
            first, second = np.triu_indices(len(words), 1)
            met = (keys[:, first] == keys[:, second]).any(axis=0)
            near = distances(prints, first, second) <= distance
            assert near.sum() >= sum(1 + i % 6 <= distance for i in range(40))
            assert not (near & ~met).any()
            assert met.sum() < len(first) / 2
