import math
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike.band import band_keys, candidates
from lookalike.curves import Cascade
from lookalike.errors import QuadraticError, SettingsError
from lookalike.kernels.jit import INTERPRETED
from making import pairs_of

pytestmark = pytest.mark.kernels

MOST_ROWS = 64
BLOCKS = (1, 2, 7, 64)


@st.composite
def cascades(draw):
    """One to four steps, any kind first, any kind next, that need at most 64 rows together."""
    steps = []
    room = MOST_ROWS
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, min(room, 8)))
        steps.append((draw(st.sampled_from(["and", "or"])), size))
        room //= size
    return steps


@st.composite
def signatures_of(draw, rows):
    """Signatures that often agree: few values, and rows copied from the signature before.

    Sometimes they are longer than what is compared.
    """
    documents = draw(st.integers(0, 7))
    columns = rows + draw(st.integers(0, 3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = draw(st.integers(1, 4))
    some = generator.integers(0, values, (documents, columns)).astype(np.uint32)
    for row in range(1, documents):
        same = generator.random(columns) < draw(st.sampled_from([0, 0.5, 0.9, 1]))
        some[row, same] = some[row - 1, same]
    return some


def cascades_with_signatures():
    return cascades().flatmap(
        lambda steps: st.tuples(st.just(steps), signatures_of(math.prod(n for _, n in steps)))
    )


def bandings_with_signatures():
    return st.tuples(st.integers(1, 8), st.integers(1, 8)).flatmap(
        lambda shape: st.tuples(st.just(shape), signatures_of(shape[0] * shape[1]))
    )


def found(signatures, cascade, **options):
    """The candidates as a list of pairs, so that a repeated one shows."""
    return [
        pair
        for first, second in candidates(signatures, cascade, **options)
        for pair in pairs_of(first, second)
    ]


def distinct_signatures(documents, rows):
    generator = np.random.default_rng(0)
    return generator.integers(0, 2**32, (documents, rows), np.uint32)


class TestBandKeys:
    @given(
        st.integers(1, 6),
        st.integers(1, 6),
        st.integers(0, 3),
        st.lists(
            st.lists(st.sampled_from([0, 1, 2**31, 2**32 - 1]), min_size=39, max_size=39),
            max_size=4,
        ),
    )
    def test_they_are_those_of_the_definition(self, bands, rows, spare, values):
        used = [one[: bands * rows + spare] for one in values]
        signatures = np.array(used, np.uint32).reshape(len(used), bands * rows + spare)
        keys = band_keys(signatures, bands=bands, rows=rows)
        assert keys.dtype == np.uint64
        assert keys.T.tolist() == [twins.band_keys(one, bands, rows) for one in used]

    def test_they_never_change(self):
        signatures = np.array([[1, 2, 3, 4, 5, 2**32 - 1]], np.uint32)
        assert band_keys(signatures, bands=2, rows=3)[:, 0].tolist() == [
            0x4AA971A6FCA0A1E7,
            0x54A3E03200985A06,
        ]

    def test_signatures_that_are_too_short_are_refused(self):
        wanted = "4 bands of 5 rows need signatures of 20 rows; these have 19"
        with pytest.raises(SettingsError, match=wanted):
            band_keys(distinct_signatures(2, 19), bands=4, rows=5)
        with pytest.raises(SettingsError, match=wanted):
            found(distinct_signatures(2, 19), Cascade.banding(4, 5))
        with pytest.raises(SettingsError, match="need signatures of 16 rows; these have 15"):
            found(distinct_signatures(2, 15), Cascade.parse("or:2 and:2 or:2 and:2"))


class TestAgainstTheTwins:
    @given(bandings_with_signatures(), st.sampled_from(BLOCKS))
    def test_a_banding_finds_the_pairs_that_share_a_band(self, banding, block):
        (bands, rows), signatures = banding
        pairs = found(signatures, Cascade.banding(bands, rows), block=block)
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == twins.candidates(signatures.tolist(), bands, rows)

    @given(cascades_with_signatures(), st.sampled_from(BLOCKS))
    def test_a_cascade_finds_the_pairs_for_which_it_holds(self, drawn, block):
        steps, signatures = drawn
        pairs = found(signatures, Cascade(tuple(steps)), block=block)
        rows = signatures.tolist()
        expected = {
            (i, j)
            for i, j in combinations(range(len(rows)), 2)
            if twins.cascade_holds(rows[i], rows[j], steps)
        }
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == expected

    @pytest.mark.parametrize(
        "spec",
        [
            "and:1",
            "or:1",
            "and:6",
            "or:6",
            "or:2 and:3",
            "and:2 or:3 and:2",
            "or:3 and:2 or:2 and:2",
            "and:2 or:2 and:2 or:3",
        ],
    )
    def test_every_kind_of_cascade_on_many_documents(self, spec):
        cascade = Cascade.parse(spec)
        generator = np.random.default_rng(3)
        documents = 20 if INTERPRETED else 120
        signatures = generator.integers(0, 3, (documents, cascade.rows)).astype(np.uint32)
        rows = signatures.tolist()
        expected = {
            (i, j)
            for i, j in combinations(range(documents), 2)
            if twins.cascade_holds(rows[i], rows[j], list(cascade.steps))
        }
        pairs = found(signatures, cascade)
        assert len(pairs) == len(set(pairs))
        assert set(pairs) == expected
        assert 0 < len(expected) < math.comb(documents, 2) or spec == "and:6"


class TestEachPairOnce:
    @pytest.mark.parametrize("spec", ["and:2 or:8", "and:2 or:2 and:2 or:2", "or:16", "and:16"])
    def test_52_identical_documents_are_all_1326_pairs(self, spec):
        signatures = np.tile(distinct_signatures(1, 16), (52, 1))
        pairs = found(signatures, Cascade.parse(spec), block=100)
        assert sorted(pairs) == list(combinations(range(52), 2))
        assert len(pairs) == 1326

    @pytest.mark.parametrize("spec", ["and:1 or:12", "or:3 and:2 or:2", "and:2 or:3 and:2"])
    def test_the_block_and_the_threads_change_nothing(self, spec):
        generator = np.random.default_rng(8)
        signatures = generator.integers(0, 3, (30, 12)).astype(np.uint32)
        expected = found(signatures, Cascade.parse(spec))
        assert len(expected) > 20
        for block in (1, 2, 7, len(expected), len(expected) + 1):
            blocks = list(candidates(signatures, Cascade.parse(spec), block=block, threads=3))
            assert all(0 < len(first) <= block for first, _ in blocks)
            again = [pair for first, second in blocks for pair in pairs_of(first, second)]
            assert again == expected

    def test_the_smaller_row_comes_first_and_no_document_meets_itself(self):
        generator = np.random.default_rng(9)
        signatures = generator.integers(0, 3, (60, 8)).astype(np.uint32)
        pairs = found(signatures, Cascade.banding(4, 2))
        assert len(pairs) > 100
        assert all(i < j for i, j in pairs)

    def test_the_order_of_the_documents_changes_only_their_names(self):
        generator = np.random.default_rng(10)
        signatures = generator.integers(0, 4, (40, 12)).astype(np.uint32)
        cascade = Cascade.parse("and:2 or:3 and:2")
        expected = set(found(signatures, cascade))
        order = generator.permutation(40)
        shuffled = found(signatures[order], cascade)
        assert {tuple(sorted((int(order[i]), int(order[j])))) for i, j in shuffled} == expected

    def test_the_caller_s_signatures_are_not_changed(self):
        signatures = np.random.default_rng(1).integers(0, 3, (20, 8)).astype(np.uint32)
        before = signatures.copy()
        found(signatures, Cascade.banding(4, 2))
        assert np.array_equal(signatures, before)

    @pytest.mark.parametrize("documents", [0, 1])
    @pytest.mark.parametrize("spec", ["and:2 or:4", "or:2 and:2", "and:4", "or:8"])
    def test_no_document_and_one_document_have_no_candidates(self, documents, spec):
        assert found(distinct_signatures(documents, 8), Cascade.parse(spec)) == []


class TestQuadraticWork:
    def test_a_cascade_that_would_compare_every_pair_is_refused(self):
        signatures = np.zeros((100, 8), np.uint32)
        message = re.escape(
            "the cascade 'or:2 and:2 or:2' puts 4,950 pairs of 100 documents in the buckets of one "
            "band (100.0% of all, the largest bucket holds 100), more than 4,949: "
            "use longer shingles, a higher threshold, or a cascade that begins with a larger 'and'"
        )
        with pytest.raises(QuadraticError, match=message):
            found(signatures, Cascade.parse("or:2 and:2 or:2"), most=4_949)
        assert len(found(signatures, Cascade.parse("or:2 and:2 or:2"), most=4_950)) == 4_950

    def test_it_is_refused_before_the_first_candidate(self):
        pairs = candidates(np.zeros((10, 4), np.uint32), Cascade.parse("or:4"), most=44)
        with pytest.raises(QuadraticError, match="the largest bucket holds 10"):
            next(pairs)

    def test_the_bound_itself_is_allowed(self):
        signatures = np.zeros((100, 8), np.uint32)
        assert len(found(signatures, Cascade.parse("or:2 and:2 or:2"), most=19_800)) == 4950

    def test_a_banding_of_distinct_signatures_is_never_refused(self):
        signatures = distinct_signatures(50 if INTERPRETED else 5000, 40)
        assert found(signatures, Cascade.banding(8, 5), most=0) == []
        assert found(signatures, Cascade.parse("and:4 or:4 and:2"), most=0) == []
