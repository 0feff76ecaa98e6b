"""What the shingle kernels are made of: words that wrap, remainders, rolling sums, a sort."""

from random import Random

import numba
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import twins
from lookalike.kernels import sets, words
from lookalike.kernels import shingles as kernels
from lookalike.kernels.jit import INTERPRETED, multiply_high, trailing_zeros
from lookalike.text.shingles import BASE, PRIME, Shingling, ignoring
from made_documents import callable_from_python

pytestmark = pytest.mark.kernels

WORD = 2**64

word_numbers = st.one_of(
    st.sampled_from([0, 1, 2**32, 2**61 - 2, 2**61 - 1, 2**61, 2**63, WORD - 1]),
    st.integers(0, WORD - 1),
)
digits_below_prime = st.one_of(
    st.sampled_from([0, 1, PRIME - 1, PRIME - 2, 2**60]), st.integers(0, PRIME - 1)
)

N = 300 if INTERPRETED else 3_000
SPREAD = [Random(seed).getrandbits(64) for seed in range(N)]
ADVERSARIES = {
    "all equal": [WORD - 1] * N,
    "all zero": [0] * N,
    "two values in turn": [5, WORD - 5] * (N // 2),
    "two neighbours in turn": [2**63 + 1, 2**63] * (N // 2),
    "sorted already": sorted(SPREAD),
    "sorted backwards": sorted(SPREAD, reverse=True),
    "one bucket, falling": [2**50 - i for i in range(N)],
    "one bucket, at random": [2**63 + x for x in Random(3).choices(range(2**40), k=N)],
    "last bucket": [WORD - 1 - x for x in Random(4).choices(range(1000), k=N)],
    "extremes": Random(5).choices([0, 1, 2**63 - 1, 2**63, WORD - 1], k=N),
}


@numba.njit
def upper_half(x, y):
    return multiply_high(x, y)


@numba.njit
def zeros_below(x):
    return trailing_zeros(x)


class TestArithmetic:
    def test_the_base_is_the_one_defined_and_small_enough_to_leave_sums_unreduced(self):
        assert (BASE, PRIME) == (twins.B, twins.P)
        assert BASE < 2**58
        worst, before = PRIME, 0
        while worst > before:
            leaving = PRIME + (PRIME - 1) ** 2 // 2**61
            before, worst = worst, PRIME + worst * BASE // 2**61 + leaving + PRIME - 1
        assert worst < WORD

    @given(st.lists(digits_below_prime, min_size=1, max_size=80), st.integers(1, 30))
    def test_windows_of_extreme_digits_roll_without_overflow(self, digits, k):
        self.check_windows(digits, k)

    @pytest.mark.parametrize("k", range(1, 31))
    def test_windows_of_the_largest_digits_roll_without_overflow(self, k):
        size = k + 60 if INTERPRETED else k + 500
        self.check_windows([PRIME - 1] * size, k)
        self.check_windows(Random(k).choices([0, PRIME - 1], k=size), k)

    def check_windows(self, digits, k):
        kind = Shingling("words", k)
        _, _, base, drop, *_ = kind.arguments()
        hashes = np.empty(len(digits) + 1, np.uint64)
        roll = callable_from_python(kernels._roll)
        count = roll(np.array(digits, np.uint64), len(digits), k, base, drop, hashes)
        expected = [twins.spread(twins.polynomial(one)) for one in twins.windows(digits, k)]
        assert hashes[:count].tolist() == expected

    @given(word_numbers, digits_below_prime)
    def test_products_equal_pythons_modulo_the_prime_and_keep_their_bound(self, x, y):
        bound = 2**61 + x * y // 2**61
        assume(bound < WORD)
        found = int(callable_from_python(kernels._multiply)(np.uint64(x), np.uint64(8 * y)))
        assert found % PRIME == x * y % PRIME
        assert found <= bound

    @given(word_numbers)
    def test_remainders_are_pythons(self, x):
        assert int(callable_from_python(words._reduce)(np.uint64(x))) == x % PRIME

    @given(word_numbers)
    def test_words_are_spread_as_the_definition_says_and_none_meets_another(self, x):
        found = int(callable_from_python(kernels._spread)(np.uint64(x)))
        assert found == twins.spread(x)
        undone = found ^ found >> 29 ^ found >> 58
        undone = undone * pow(0x94D049BB133111EB, -1, WORD) % WORD
        assert undone ^ undone >> 32 == x

    @given(word_numbers)
    def test_fingerprints_are_reduced_before_they_are_spread(self, x):
        hashes = np.array([x, x], np.uint64)
        assert callable_from_python(kernels._finish)(hashes, np.uint64(0), np.uint64(1)) == 1
        assert hashes.tolist() == [twins.spread(x % PRIME), x]

    @given(word_numbers, word_numbers)
    def test_the_upper_half_of_a_product_is_pythons(self, x, y):
        assert int(upper_half(np.uint64(x), np.uint64(y))) == x * y >> 64

    def test_trailing_zeros_are_counted_for_every_lowest_bit(self):
        for zeros in range(64):
            for above in (0, WORD - 1, 0xA5A5A5A5A5A5A5A5):
                word = (1 << zeros | above << (zeros + 1)) % WORD
                assert int(zeros_below(np.uint64(word))) == zeros


def test_windows_go_in_lanes_where_a_text_is_ascii_to_the_last_byte_and_long_enough():
    goes_in_lanes = callable_from_python(kernels._goes_in_lanes)
    for size, k in [*((size, 1) for size in range(60, 82)), (80, 9), (81, 9), (269, 30), (270, 30)]:
        for start in (0, 3):
            # What is around the text is not ASCII, and is not looked at.
            data = np.full(start + size + 9, 0xFF, np.uint8)
            first, last = np.uint64(start), np.uint64(start + size)
            data[start : start + size] = 0x7F
            assert goes_in_lanes(data, first, last, k) == (size >= 8 * max(k, 8) + k)
            for place in range(start, start + size):
                data[place] = 0x80
                assert not goes_in_lanes(data, first, last, k)
                data[place] = 0x7F


class TestSort:
    def check(self, values, room) -> None:
        given_values = np.array(values + [7] * (room - len(values)), np.uint64)
        scratch, histogram = np.empty(room, np.uint64), np.empty(sets.HISTOGRAM_SLOTS, np.int64)
        callable_from_python(sets._sort)(given_values, len(values), scratch, histogram)
        assert given_values.tolist() == sorted(values) + [7] * (room - len(values))

    @pytest.mark.parametrize("why", ADVERSARIES)
    def test_adversarial_values_are_sorted(self, why):
        self.check(ADVERSARIES[why], N + 1)

    @given(st.lists(word_numbers, max_size=70), st.integers(1, 300))
    def test_any_values_are_sorted_and_what_is_behind_them_stays(self, values, more):
        self.check(values, len(values) + more)


class TestIgnoring:
    """Tables that hashes are looked up in, 0 among them, though it marks a free slot."""

    def listed(self, table, values) -> list[bool]:
        is_listed = callable_from_python(kernels._is_listed)
        return [bool(is_listed(np.uint64(value), table)) for value in values]

    @given(st.sets(word_numbers, min_size=1, max_size=80), st.lists(word_numbers, max_size=20))
    def test_exactly_what_was_entered_is_found(self, entered, others):
        table = ignoring(np.array(sorted(entered), np.uint64))
        asked = [*entered, *others, 0]
        assert self.listed(table, asked) == [value in entered for value in asked]

    def test_values_that_want_the_same_slot_are_all_found(self):
        crowd = [(i << 32) + 5 for i in range(60)]
        table = ignoring(np.array(crowd, np.uint64))
        assert all(self.listed(table, crowd))
        assert not any(self.listed(table, [(i << 32) + 5 for i in range(60, 99)]))

    @pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 63, 64, 65])
    def test_a_table_is_a_power_of_two_at_most_half_full_and_one_word(self, count):
        table = ignoring(np.arange(1, count + 1, dtype=np.uint64))
        assert table is not None
        slots = len(table) - 1
        assert slots & (slots - 1) == 0
        assert 2 * count <= slots < 8 * count

    def test_repeats_are_entered_once_and_nothing_is_no_table(self):
        table = ignoring(np.array([9, 9, 9, 0, 0], np.uint64))
        assert table is not None
        assert sorted(table[:-1].tolist())[-2:] == [0, 9]
        assert self.listed(table, [9, 0, 1]) == [True, True, False]
        assert ignoring(np.empty(0, np.uint64)) is None


class Counted(np.ndarray):
    """An array that counts how often it is written to."""

    writes = 0

    def __setitem__(self, place, value):
        Counted.writes += 1
        super().__setitem__(place, value)


def test_shingles_that_share_their_upper_bits_are_moved_a_bounded_number_of_times(monkeypatch):
    # By insertion alone, two values that alternate in one bucket take a quarter of n^2 moves.
    count = 4000
    crafted = np.tile(np.array([1 << 40, 7], np.uint64), count // 2)
    values = crafted.copy().view(Counted)
    monkeypatch.setattr(sets, "_radix_sort", lambda values, _count, _scratch: values.sort())
    sort = getattr(sets._sort, "py_func", sets._sort)
    Counted.writes = 0
    sort(values, count, np.empty(count, np.uint64), np.empty(sets.HISTOGRAM_SLOTS, np.int64))
    assert values.tolist() == sorted(crafted.tolist())
    assert Counted.writes <= 20 * count


@given(
    values=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=300),
    behind=st.integers(0, 3),
)
def test_a_crowded_bucket_is_sorted_by_its_bytes_and_what_is_behind_it_stays(values, behind):
    array = np.array(values + [1] * behind, np.uint64)
    callable_from_python(sets._radix_sort)(array, len(values), np.empty_like(array))
    assert array.tolist() == sorted(values) + [1] * behind
