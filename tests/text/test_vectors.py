import math
import struct
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
import twins_cosine
from lookalike.base.errors import InvalidVectorError, SourceError
from lookalike.kernels import hyperplanes
from lookalike.text.vectors import canonical_sparse, canonical_vectors, dimension_of, matrix

pytestmark = pytest.mark.kernels

WIDE = pa.large_list(pa.float64())
NARROW = pa.large_list(pa.float32())
SPARSE = pa.large_list(pa.struct([("index", pa.int64()), ("value", pa.float64())]))
LARGEST = sys.float_info.max
SMALLEST = 5e-324

ordinary = st.floats(-1e3, 1e3)
extreme = st.floats(allow_nan=False, allow_infinity=False)
powers = st.integers(-1074, 1023).map(lambda power: math.ldexp(1.0, power))
# Just below a power of two, where a rounded logarithm is one too many.
below_powers = powers.map(lambda power: math.nextafter(power, 0))
finite = ordinary | extreme | powers | below_powers
usual = st.floats(-1e300, 1e300).filter(lambda number: number == 0 or abs(number) > 1e-300)
middling = ordinary.filter(lambda number: number == 0 or abs(number) > 1e-9)


def sparse_rows(rows):
    """Make an Arrow array of rows given as numbers by their columns."""
    listed = [
        None if row is None else [{"index": i, "value": value} for i, value in row.items()]
        for row in rows
    ]
    return pa.array(listed, SPARSE)


def documents(canonical):
    """Give the bytes of each document."""
    ends = canonical.offsets.tolist()
    data = canonical.data.tobytes()
    return [data[start:end] for start, end in pairwise(ends)]


def some_direction(numbers):
    return any(number != 0 for number in numbers)


class TestScaledVectors:
    @given(st.integers(1, 20).flatmap(lambda d: st.lists(usual, min_size=d, max_size=d)))
    def test_the_largest_number_is_brought_to_one_or_more_by_a_power_of_two(self, numbers):
        values = np.array([numbers])
        out, kinds = np.full((1, len(numbers)), 7, np.float32), np.full(1, 9, np.uint8)
        hyperplanes.scaled_vectors(values, out, kinds)
        if some_direction(numbers):
            assert kinds.tolist() == [0]
            assert out.tolist() == [twins_cosine.brought(numbers)]
        else:
            assert kinds.tolist() == [2]

    @given(st.lists(finite, min_size=1, max_size=9).filter(some_direction))
    def test_numbers_of_every_size_have_a_direction(self, numbers):
        (found,) = documents(canonical_vectors(pa.array([numbers], WIDE), len(numbers)))
        assert found == twins_cosine.dense_document(numbers)

    @pytest.mark.parametrize(
        "numbers",
        [
            [LARGEST, LARGEST, -LARGEST],
            [LARGEST, SMALLEST],
            [SMALLEST],
            [SMALLEST, -3 * SMALLEST],
            [2.0**-1023, 2.0**-1024],
            [2.0**-1022, SMALLEST],
            [1e-200, 1e-200],
            [1e200, 1e-200],
            [math.nextafter(2.0, 0), 1.0],
            [-0.0, 1.0],
        ],
    )
    def test_the_largest_and_the_smallest_numbers_neither_vanish_nor_overflow(self, numbers):
        (found,) = documents(canonical_vectors(pa.array([numbers], WIDE), len(numbers)))
        assert found == twins_cosine.dense_document(numbers)
        scaled = struct.unpack(f"<{len(numbers)}f", found)
        assert 1 <= max(map(abs, scaled)) <= 2

    @given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
    def test_numbers_of_32_bits_are_not_rounded(self, numbers):
        if not some_direction(numbers):
            return
        (found,) = documents(canonical_vectors(pa.array([numbers], WIDE), len(numbers)))
        shift = 1 - math.frexp(max(map(abs, numbers)))[1]
        for kept, number in zip(struct.unpack(f"<{len(numbers)}f", found), numbers, strict=True):
            exact = math.ldexp(number, shift)
            # What is a billion billion billion times smaller than the largest may vanish.
            assert kept == exact or abs(exact) < 2.0**-120

    @pytest.mark.parametrize(
        ("numbers", "kind"),
        [
            ([1.0, math.nan], 1),
            ([math.nan, math.nan], 1),
            ([math.inf, 1.0], 1),
            ([0.0, -math.inf], 1),
            ([0.0, -0.0], 2),
            ([SMALLEST, 0.0], 0),
        ],
    )
    def test_what_has_no_direction_is_told_apart(self, numbers, kind):
        out, kinds = np.empty((1, 2), np.float32), np.empty(1, np.uint8)
        with np.errstate(all="ignore"):
            hyperplanes.scaled_vectors(np.array([numbers]), out, kinds)
        assert kinds.tolist() == [kind]


class TestProducts:
    @given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 4))
    def test_products_are_summed_in_eight_places(self, seed, dimension, count):
        generator = np.random.default_rng(seed)
        vectors = generator.standard_normal((count, dimension)).astype(np.float32)
        first, second = generator.integers(0, count, (2, 6))
        out = np.full(6, 7.0)
        hyperplanes.dots(vectors, first, second, out)
        rows = vectors.tolist()
        assert out.tolist() == [
            twins_cosine.product_in_eights(rows[i], rows[j])
            for i, j in zip(first, second, strict=True)
        ]


class TestCanonicalVectors:
    def test_documents_are_little_endian_numbers_of_32_bits(self):
        found = canonical_vectors(pa.array([[3.0, 4.0], [-1.0, 0.0]], WIDE), 2)
        assert documents(found) == [struct.pack("<2f", 0.75, 1.0), struct.pack("<2f", -1.0, 0.0)]
        assert matrix(found, 2).tolist() == [[0.75, 1.0], [-1.0, 0.0]]

    @given(st.lists(middling, min_size=1, max_size=9).filter(some_direction), st.integers(-60, 60))
    def test_a_vector_and_four_times_it_are_the_same_bytes(self, numbers, power):
        times = [number * 2.0**power for number in numbers]
        pair = canonical_vectors(pa.array([numbers, times], WIDE), len(numbers))
        assert len(set(documents(pair))) == 1
        assert np.array_equal(pair.fingerprints[0], pair.fingerprints[1])

    def test_opposite_vectors_are_other_documents(self):
        one, other = documents(canonical_vectors(pa.array([[1.0, 2.0], [-1.0, -2.0]], WIDE), 2))
        assert one != other

    def test_a_null_is_an_empty_document(self):
        given = pa.array([None, [3.0, 4.0], None, [1.0, 0.0], None], WIDE)
        found = canonical_vectors(given, 2)
        assert found.offsets.tolist() == [0, 0, 8, 8, 16, 16]
        alone = canonical_vectors(pa.array([[3.0, 4.0], [1.0, 0.0]], WIDE), 2)
        assert np.array_equal(found.data, alone.data)
        assert len(canonical_vectors(pa.array([None, None], WIDE), 0)) == 2
        assert len(canonical_vectors(pa.array([], WIDE), 5)) == 0

    @given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=9).filter(some_direction))
    def test_narrow_and_wide_and_fixed_lists_of_the_same_numbers_are_the_same(self, numbers):
        kinds = [WIDE, NARROW, pa.list_(pa.float32()), pa.list_(pa.float64(), len(numbers))]
        found = [canonical_vectors(pa.array([numbers], kind), len(numbers)) for kind in kinds]
        assert len({documents(one)[0] for one in found}) == 1

    def test_a_slice_of_a_column_is_read_from_its_start(self):
        given = pa.array([[9.0, 9.0], None, [3.0, 4.0], [0.0, 2.0]], WIDE).slice(1, 2)
        assert documents(canonical_vectors(given, 2)) == [b"", struct.pack("<2f", 0.75, 1.0)]

    def test_all_that_are_wrong_are_told_at_once_and_in_order(self):
        rows = [[1.0, 2.0], [math.nan, 1.0], None, [1.0], [0.0, 0.0], [], [3.0, 4.0]]
        with pytest.raises(InvalidVectorError) as error:
            canonical_vectors(pa.array(rows, WIDE), 2)
        assert [row for row, _ in error.value.wrong] == [1, 3, 4, 5]

    def test_fingerprints_are_those_of_the_bytes(self):
        found = canonical_vectors(pa.array([[3.0, 4.0], None], WIDE), 2)
        expected = [twins.content_fingerprint(one) for one in documents(found)]
        assert [tuple(one) for one in found.fingerprints.tolist()] == expected

    def test_the_dimension_is_that_of_the_first_vector_that_is_there(self):
        assert dimension_of(pa.array([None, [1.0, 2.0], [1.0]], WIDE)) == 2
        assert dimension_of(pa.array([None], WIDE)) is None
        assert dimension_of(pa.array([], WIDE)) is None

    @pytest.mark.parametrize(
        ("rows", "row", "message"),
        [
            ([[1, 2], [3], [4, 5, 6]], 1, "vector 2 has 1 numbers, where the first has 2: fix"),
            ([[1, 2], None, [1, 2, 3]], 2, "vector 3 has 3 numbers, where the first has 2"),
            ([[1, 2], []], 1, "vector 2 has no numbers"),
            ([None, [1, 2], [3, math.nan]], 2, "vector 3 holds a number that is not finite: fix"),
            ([[1, 2], [math.inf, 0], [math.nan, 0]], 1, "vector 2 holds a number that is not"),
            ([[-math.inf, 2]], 0, "vector 1 holds a number that is not finite"),
            ([[1, 2], None, [0, -0.0], [0, 0]], 2, "vector 3 is zero and has no direction: fix"),
            ([[0, 0], [math.nan, 0]], 0, "vector 1 is zero"),
            ([[math.nan, 0], [0, 0]], 0, "vector 1 holds"),
            ([[math.nan, 0], [1]], 0, "vector 1 holds"),
            ([[1, 2], [0, 0], [1]], 1, "vector 2 is zero"),
        ],
    )
    def test_the_first_vector_that_is_wrong_is_named(self, rows, row, message):
        with pytest.raises(InvalidVectorError, match=message) as error:
            canonical_vectors(pa.array(rows, WIDE), 2)
        assert error.value.wrong[0][0] == row
        assert isinstance(error.value, SourceError)
        assert "\n" not in str(error.value)

    def test_vectors_of_no_numbers_are_refused(self):
        with pytest.raises(InvalidVectorError, match="vector 2 has no numbers: fix or remove it"):
            canonical_vectors(pa.array([None, [], []], WIDE), 0)


columns = st.integers(0, 2**40)
rows_of_numbers = st.dictionaries(columns, usual.filter(bool), min_size=1, max_size=9)


class TestCanonicalSparse:
    @given(st.lists(st.none() | rows_of_numbers, max_size=4))
    def test_documents_are_features_and_numbers_in_the_order_of_the_features(self, rows):
        found = canonical_sparse(sparse_rows(rows))
        assert documents(found) == [twins_cosine.sparse_document(row or {}) for row in rows]
        expected = [twins.content_fingerprint(one) for one in documents(found)]
        assert [tuple(one) for one in found.fingerprints.tolist()] == expected

    @given(st.dictionaries(columns, finite.filter(bool), min_size=1, max_size=5))
    def test_numbers_of_every_size_are_scaled(self, row):
        (found,) = documents(canonical_sparse(sparse_rows([row])))
        assert found == twins_cosine.sparse_document(row)

    @given(
        st.dictionaries(columns, middling.filter(bool), min_size=1, max_size=9),
        st.integers(-60, 60),
    )
    def test_a_row_and_four_times_it_are_the_same_bytes(self, row, power):
        times = {i: number * 2.0**power for i, number in row.items()}
        assert len(set(documents(canonical_sparse(sparse_rows([row, times]))))) == 1

    @pytest.mark.parametrize("power", [1, 2, 3, 10, 100, -100])
    def test_a_row_just_below_a_power_of_two_is_scaled_as_every_other(self, power):
        row = {0: math.nextafter(1, 0), 3: 0.5}
        times = {i: number * 2.0**power for i, number in row.items()}
        one, other = documents(canonical_sparse(sparse_rows([row, times])))
        assert one == other == twins_cosine.sparse_document(row)

    def test_the_largest_number_is_from_1_to_2(self):
        found = canonical_sparse(sparse_rows([{0: 3.0, 1: -12.0}, {5: 0.7}]))
        assert sorted(found.data.view(np.float64)[1::2].tolist()) == [-1.5, 0.375, 1.4]

    def test_the_order_of_the_columns_does_not_matter(self):
        pair = canonical_sparse(sparse_rows([{1: 2.0, 7: 3.0}, {7: 3.0, 1: 2.0}]))
        assert len(set(documents(pair))) == 1

    def test_a_number_that_is_zero_is_left_out(self):
        pair = canonical_sparse(sparse_rows([{1: 2.0, 4: 0.0, 7: 3.0, 8: -0.0}, {1: 2.0, 7: 3.0}]))
        assert len(set(documents(pair))) == 1

    def test_a_null_is_an_empty_document(self):
        found = canonical_sparse(sparse_rows([None, {1: 2.0}, None]))
        assert found.offsets.tolist() == [0, 0, 16, 16]
        assert len(canonical_sparse(sparse_rows([]))) == 0

    def test_a_slice_of_a_column_is_read_from_its_start(self):
        given = sparse_rows([{9: 9.0}, None, {1: 2.0, 2: 1.0}, {3: 1.0}])
        assert documents(canonical_sparse(given.slice(1, 2))) == [
            b"",
            twins_cosine.sparse_document({1: 2.0, 2: 1.0}),
        ]

    @pytest.mark.parametrize(
        ("rows", "row", "message"),
        [
            ([{0: 1.0}, None, {3: math.nan}], 2, "vector 3 holds a number that is not finite"),
            ([{0: 1.0, 1: -math.inf}, {1: math.inf}], 0, "vector 1 holds a number"),
            ([{0: 1.0}, {0: 0.0}], 1, "vector 2 is zero and has no direction: fix or remove it"),
            ([{0: 1.0}, {}], 1, "vector 2 is zero"),
            ([{0: 1.0}, {}, {0: math.nan}], 1, "vector 2 is zero"),
            ([{0: math.nan}, {}], 0, "vector 1 holds"),
        ],
    )
    def test_the_first_row_that_is_wrong_is_named(self, rows, row, message):
        with pytest.raises(InvalidVectorError, match=message) as error:
            canonical_sparse(sparse_rows(rows))
        assert error.value.wrong[0][0] == row
        assert "\n" not in str(error.value)
