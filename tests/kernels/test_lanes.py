"""Eight windows that roll side by side: each hash is the one that a window has by itself."""

from collections import Counter
from random import Random

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike.kernels import lanes
from lookalike.kernels.jit import INTERPRETED
from lookalike.kernels.lanes import COLUMNS, LANES, bring_columns, roll_columns
from lookalike.sketches.minhash import sign_texts
from lookalike.text.shingles import BASE, PRIME, Shingling, element_sets, shingle_hashes
from lookalike.text.weighted_shingles import Weighting, weighted_sets_of
from made_documents import documents_of

pytestmark = pytest.mark.kernels

ASCII = "".join(map(chr, range(128)))
MOST = ASCII[-1]
EDGES = [n for times in range(4) for n in range(times * PRIME, times * PRIME + 5)]
EDGES += [2**63 - 1, PRIME - 1, 2 * PRIME - 1, 2**62 - 1, 2**61, 2**62]


@numba.njit
def bring(data, at, part, out, to):
    bring_columns(data, at, part, out, to)


@numba.njit
def roll(columns, k, count, base, drop, out):
    return roll_columns(columns, k, count, base, drop, out)


class TestColumns:
    @given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 30), st.randoms())
    def test_sixteen_digits_of_each_part_are_written_by_columns(self, at, part, to, random):
        size = at + (LANES - 1) * part + COLUMNS
        data = np.array([random.randrange(128) for _ in range(size)], np.uint8)
        out = np.full(to + LANES * COLUMNS + 3, 200, np.uint8)
        bring(data, np.uint64(at), np.uint64(part), out, np.uint64(to))
        expected = [
            data[at + lane * part + column] + 1
            for column in range(COLUMNS)
            for lane in range(LANES)
        ]
        assert out.tolist() == [200] * to + expected + [200] * 3


class TestRolling:
    @pytest.mark.parametrize("k", [1, 2, 3, 9, 40])
    @pytest.mark.parametrize("digits", [[128], [1], [1, 128], range(1, 129)])
    def test_windows_have_their_hashes_and_the_last_its_fingerprint(self, k, digits):
        count = 30
        random = Random(k)
        parts = [random.choices(digits, k=count + k - 1) for _ in range(LANES)]
        columns = np.zeros((2 * k + count - 1, LANES), np.uint8)
        columns[k:] = np.array(parts).T
        out = np.full((count + 1, LANES), 7, np.uint64)
        _, _, base, drop, *_ = Shingling("chars", k).arguments()
        last = roll(columns.reshape(-1), k, count, base, drop, out.reshape(-1))
        for lane, part in enumerate(parts):
            expected = [twins.spread(twins.polynomial(w)) for w in twins.windows(part, k)]
            assert out[:count, lane].tolist() == expected
        assert out[count].tolist() == [7] * LANES
        assert int(last) % PRIME == twins.polynomial(parts[-1][-k:])

    @given(st.one_of(st.integers(0, 2**63 - 1), st.sampled_from(EDGES)))
    def test_fingerprints_are_reduced_before_they_are_spread(self, x):
        (found,) = lanes.hashed(np.array([x], np.uint64)).tolist()
        assert found == twins.spread(x % PRIME)

    @given(
        st.one_of(st.integers(0, 2**63 - 1), st.sampled_from(EDGES)),
        st.one_of(st.integers(0, PRIME - 1), st.sampled_from([0, PRIME - 1])),
        *[st.sampled_from([0, 1, 127, 128])] * 2,
    )
    def test_a_step_is_the_polynomials_and_keeps_its_bound(self, x, drop, entering, leaving):
        words = [np.array([word], np.uint64) for word in (x, entering, leaving, 8 * BASE, 8 * drop)]
        base_and_drop = [lanes.Factor.of(word) for word in words[3:]]
        (found,) = lanes.rolled(words[0], words[1], words[2], *base_and_drop).tolist()
        assert found % PRIME == (x * BASE + entering + leaving * drop) % PRIME
        assert found < 2**63

    def test_sums_stay_below_what_the_rule_allows(self):
        # Each number that `rolled` is made of, at its largest.
        x, base, drop, digit = 2**63 - 1, 2**58 - 1, PRIME - 1, 2**8
        half, low, high = 2**31 - 1, 2**31 - 1, x >> 31
        mixed = high * half + low * (base >> 31) + digit * (drop >> 31)
        assert high < 2**32
        assert mixed < 2**64
        products = high * 2 * (base >> 31) + low * half + digit * half
        assert products + (mixed >> 30) + PRIME + digit < 2**63


class TestTexts:
    """Whole texts, as long as the windows need to go side by side, and a little shorter."""

    @pytest.mark.long
    @given(
        st.lists(st.tuples(st.integers(0, 330), st.randoms()), min_size=1, max_size=4),
        st.sampled_from([1, 2, 3, 9, 17]),
        st.sampled_from(["ab", "a b.", ASCII]),
    )
    def test_sets_multisets_and_weighted_sets_are_those_of_the_definition(self, sizes, k, alphabet):
        some = ["".join(r.choices(alphabet, k=size)) for size, r in sizes]
        documents = documents_of(some)
        expected = [twins.char_hashes(text, k) for text in some]
        assert [list(map(int, one)) for one in shingled(documents, k)] == expected
        for multiset in (False, True):
            sets = element_sets(documents, Shingling("chars", k, multiset))
            for row, hashes in enumerate(expected):
                assert set(sets[row].tolist()) == twins.elements(hashes, multiset)
        weighted_sets = weighted_sets_of(documents, Shingling("chars", k), Weighting("counts"))
        for row, hashes in enumerate(expected):
            begin, end = weighted_sets.offsets[row : row + 2]
            found = zip(
                weighted_sets.features[begin:end].tolist(),
                weighted_sets.weights[begin:end],
                strict=True,
            )
            assert dict(found) == Counter(hashes)

    @pytest.mark.parametrize("k", [1, 5, 9, 30])
    def test_every_length_about_the_limit_is_signed_as_defined(self, k):
        least = LANES * max(k, 8) + k
        texts = ["".join(Random(n).choices(ASCII, k=n)) for n in range(least - 2, least + 20)]
        texts += [MOST * (least + 9), MOST * (2 * least)]
        signatures, counts = sign_texts(documents_of(texts), Shingling("chars", k), rows=8, seed=3)
        for text, row, count in zip(texts, signatures.tolist(), counts.tolist(), strict=True):
            hashes = twins.char_hashes(text, k)
            assert row == twins.signature(set(hashes), 3, 8)
            assert count == len(hashes)


def shingled(documents, k):
    hashes = shingle_hashes(documents, Shingling("chars", k))
    return [hashes[row] for row in range(len(documents))]


@pytest.mark.skipif(INTERPRETED, reason="types are checked when kernels are compiled")
class TestTypes:
    def test_columns_are_contiguous_bytes_at_unsigned_places(self):
        data, zero = np.zeros(400, np.uint8), np.uint64(0)
        for wrong in (
            (data[::2], zero, zero, data, zero),
            (data.astype(np.int8), zero, zero, data, zero),
            (data, np.int64(0), zero, data, zero),
            (data, zero, np.int64(0), data, zero),
            (data, zero, zero, data[::2], zero),
            (data, zero, zero, data, np.int64(0)),
        ):
            with pytest.raises(numba.TypingError, match="contiguous bytes, at places of uint64"):
                bring(*wrong)

    def test_windows_roll_over_bytes_to_words(self):
        data, out, word = np.zeros(400, np.uint8), np.zeros(400, np.uint64), np.uint64(8)
        for wrong in (
            (data[::2], 1, 1, word, word, out),
            (data, 1, 1, word, word, out[::2]),
            (data, 1, 1, word, word, out.astype(np.int64)),
            (data, 1, 1, 8, word, out),
            (data, np.uint64(1), 1, word, word, out),
        ):
            with pytest.raises(numba.TypingError, match="contiguous bytes to uint64"):
                roll(*wrong)
