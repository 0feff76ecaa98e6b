import math
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
import twins_core
from lookalike.base.columns import Column
from lookalike.base.errors import QuadraticError, SettingsError
from lookalike.candidates.buckets import (
    BucketIndex,
    Buckets,
    Keys,
    Layout,
    band_keys,
    candidate_blocks,
    candidates,
)
from lookalike.kernels import buckets as kernels
from lookalike.kernels.jit import INTERPRETED
from lookalike.planning.curves import Cascade
from made_documents import pairs_of, rows_of

pytestmark = pytest.mark.kernels

MAX_ROWS = 64
BLOCKS = (1, 2, 7, 64)


@st.composite
def cascades(draw):
    """One to four steps, any kind first, any kind next, that need at most 64 rows together."""
    steps = []
    room = MAX_ROWS
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


NO_BUCKET = int(kernels.NO_BUCKET)


def keys_of(table, cuts=()):
    """Put keys, a row a band, into a column, a few documents at a time."""
    keys = Keys(len(table), Column(np.uint64))
    for part in np.split(np.array(table, np.uint64).reshape(len(table), -1), cuts, axis=1):
        keys.append(part)
    keys.finish()
    return keys


def buckets_of(table, **options):
    """Make the buckets of keys, each row a band of an OR."""
    layout = Layout.of(Cascade((("or", len(table)),)))
    return Buckets.of(keys_of(table), layout, Column(np.uint32), **options)


@st.composite
def key_tables(draw, most=9):
    """Keys of a few documents in a few bands, many of them equal."""
    documents, bands = draw(st.integers(0, most)), draw(st.integers(1, 4))
    key = st.sampled_from([0, 1, 2, 2**64 - 1])
    row = st.lists(key, min_size=documents, max_size=documents)
    return draw(st.lists(row, min_size=bands, max_size=bands))


class TestKeys:
    @given(key_tables(), st.integers(1, 4), st.data())
    def test_each_band_comes_back_whole_however_the_documents_came(self, table, together, data):
        documents = len(table[0])
        cuts = sorted(data.draw(st.lists(st.integers(0, documents), max_size=4)))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("lookalike.candidates.buckets.BLOCK_DOCUMENTS", together)
            keys = keys_of(table, cuts)
            assert len(keys) == keys.written == documents
            assert [keys.band(number).tolist() for number in range(len(table))] == table
            assert keys.all().tolist() == table

    def test_another_goes_on_after_the_last_whole_block(self, monkeypatch):
        monkeypatch.setattr("lookalike.candidates.buckets.BLOCK_DOCUMENTS", 4)
        table = np.arange(22, dtype=np.uint64).reshape(2, 11)
        column = Column(np.uint64)
        killed = Keys(2, column)
        killed.append(table[:, :7])
        assert (killed.written, len(killed)) == (4, 7)
        again = Keys(2, column)
        assert again.written == 4
        again.append(table[:, again.written :])
        again.finish()
        assert again.all().tolist() == table.tolist()


class TestBuckets:
    @given(
        st.lists(st.tuples(st.sampled_from([0, 1, 5, 2**64 - 1]), st.booleans()), max_size=10),
        st.randoms(use_true_random=False),
        st.integers(0, 2**32 - 20),
    )
    def test_one_band_is_numbered_as_the_twin_does(self, drawn, chance, number):
        keys, empty = ([one[side] for one in drawn] for side in (0, 1))
        places = list(range(len(keys)))
        chance.shuffle(places)
        # Equal keys in any order.
        order = sorted(range(len(keys)), key=lambda i: (keys[i], places[i]))
        out, sizes = (
            np.full(len(keys), NO_BUCKET, np.uint32),
            np.zeros(len(keys) // 2 + 1, np.int64),
        )
        found = kernels.number_buckets(
            np.array(sorted(keys), np.uint64),
            np.array(order, np.int64),
            np.array(empty, np.bool_),
            np.array(places, np.int64),
            number,
            out,
            sizes,
        )
        expected, expected_sizes = twins_core.buckets(keys, empty, number)
        assert sizes[:found].tolist() == expected_sizes
        assert [None if out[place] == NO_BUCKET else out[place] for place in places] == expected

    @given(key_tables(), st.randoms(use_true_random=False), st.data())
    def test_they_are_those_of_every_band_at_the_places_of_the_documents(self, table, chance, data):
        documents = len(table[0])
        places = list(range(documents))
        chance.shuffle(places)
        empty = data.draw(st.lists(st.booleans(), min_size=documents, max_size=documents))
        found = buckets_of(
            table,
            empty=np.array(empty, np.bool_),
            places=np.array(places, np.int64),
            threads=data.draw(st.sampled_from([1, 2])),
        )
        sizes, rows = [], []
        for keys in table:
            row, more = twins_core.buckets(keys, empty, len(sizes))
            rows.append(row)
            sizes += more
        assert np.diff(found.starts).tolist() == sizes
        assert found.starts[0] == 0
        assert found.largest == max(sizes, default=0)
        assert (found.documents, found.bands) == (documents, len(table))
        for start, stop in [(0, documents), (documents // 3, documents // 2)]:
            batch = found.batch(start, stop)
            for band, row in enumerate(rows):
                mine = {places[i]: NO_BUCKET if b is None else b for i, b in enumerate(row)}
                assert batch[band].tolist() == [mine[place] for place in range(start, stop)]

    def test_the_pairs_of_the_fullest_band_are_counted(self):
        # 3 + 1 pairs in the first band, 10 in the second, none in the third.
        table = [[1, 1, 1, 2, 2, 3], [7, 7, 7, 7, 7, 8], [1, 2, 3, 4, 5, 6]]
        found = buckets_of(table)
        assert (found.max_band_pairs, found.largest) == (10, 5)

    def test_more_buckets_than_have_numbers_are_refused(self, monkeypatch):
        monkeypatch.setattr("lookalike.kernels.buckets.NO_BUCKET", np.uint32(3))
        with pytest.raises(QuadraticError, match="'or:2' makes more than 3 buckets: use fewer"):
            buckets_of([[1, 1, 2, 2], [1, 1, 2, 3]])


@st.composite
def visits(draw):
    """Documents in a few buckets, and a row of things that happen to stretches of them."""
    table = draw(key_tables(most=10))
    documents = len(table[0])
    steps = []
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, documents))
        stop = draw(st.integers(start, documents))
        chosen = draw(st.lists(st.booleans(), min_size=stop - start, max_size=stop - start))
        what = draw(st.sampled_from(["look up", "look up and insert", "insert", "remove"]))
        steps.append((what, start, stop, chosen, draw(st.integers(0, documents))))
    return table, steps


class TestBucketIndex:
    @given(visits(), st.integers(1, 5), st.sampled_from([12, 25, 2**32 - 1]))
    def test_whatever_happens_they_are_those_of_the_twin(self, drawn, block, last_stamp):
        table, steps = drawn
        buckets = buckets_of(table)
        whole = buckets.batch(0, buckets.documents)
        members = twins_core.Members(
            [[None if b == NO_BUCKET else b for b in column] for column in whole.T.tolist()]
        )
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("lookalike.candidates.buckets.LAST_STAMP", last_stamp)
            index = BucketIndex(buckets, block=block)
            inside = 0
            for what, start, stop, chosen, least in steps:
                if what == "remove":
                    # None at later places may be in.
                    last = max(stop, inside)
                    index.remove(buckets.batch(start, last), start)
                    members.remove(range(start, last))
                    inside = min(inside, start)
                    continue
                if what != "look up" and start < inside:
                    # Members enter in the order of their places, and once.
                    continue
                batch, places = buckets.batch(start, stop), range(start, stop)
                if what == "insert":
                    index.insert(batch, start, np.array(chosen, np.bool_))
                    members.insert(places, chosen)
                    inside = stop
                    continue
                insert = what == "look up and insert"
                blocks = list(
                    index.candidates(
                        batch,
                        start,
                        alive=np.array(chosen, np.bool_),
                        least=least,
                        insert=insert,
                    )
                )
                assert all(0 < len(first) <= block for first, _ in blocks)
                pairs = [pair for first, second in blocks for pair in pairs_of(first, second)]
                assert pairs == members.candidates(places, chosen, least=least, insert=insert)
                inside = stop if insert else inside

    @pytest.mark.parametrize("block", [1, 2, 3, 7, 100])
    def test_documents_with_many_buckets_in_common_meet_once(self, block):
        buckets = buckets_of([[1] * 6, [2] * 6, [3, 3, 3, 4, 4, 4], [5] * 6])
        met_ones = list(
            BucketIndex(buckets, block=block).candidates(buckets.batch(0, 6), 0, insert=True)
        )
        pairs = [pair for first, second in met_ones for pair in pairs_of(first, second)]
        assert sorted(pairs) == list(combinations(range(6), 2))

    @pytest.mark.parametrize("last_stamp", [3, 4, 7, 10])
    def test_no_meeting_is_lost_when_the_stamps_begin_anew(self, monkeypatch, last_stamp):
        monkeypatch.setattr("lookalike.candidates.buckets.LAST_STAMP", last_stamp)
        buckets = buckets_of([[1] * 4, [2] * 4])
        index = BucketIndex(buckets)
        index.insert(buckets.batch(0, 3), 0, np.ones(3, np.bool_))
        for idle in range(12):
            # Visits that mark nobody, so that old marks stand when their stamps come again.
            for _ in range(idle):
                assert list(index.candidates(buckets.batch(3, 4), 3, least=3, insert=False)) == []
            ((first, second),) = index.candidates(buckets.batch(3, 4), 3, insert=False)
            assert pairs_of(first, second) == [(2, 3), (1, 3), (0, 3)]

    def test_those_who_left_are_not_met_again(self):
        buckets = buckets_of([[1, 1, 1, 1]])
        index = BucketIndex(buckets)
        for _ in index.candidates(buckets.batch(0, 3), 0, insert=True):
            pass
        index.remove(buckets.batch(1, 3), 1)
        ((first, second),) = index.candidates(buckets.batch(3, 4), 3, insert=False)
        assert pairs_of(first, second) == [(0, 3)]

    def test_a_visit_that_is_broken_off_can_be_taken_back(self):
        buckets = buckets_of([[1] * 6])
        index = BucketIndex(buckets, block=1)
        batch = buckets.batch(0, 6)
        next(index.candidates(batch, 0, insert=True))
        index.remove(batch, 0)
        pairs = [p for block in index.candidates(batch, 0, insert=True) for p in pairs_of(*block)]
        assert sorted(pairs) == list(combinations(range(6), 2))

    @given(key_tables(), st.integers(0, 10), st.integers(1, 4), st.integers(1, 5))
    def test_from_a_place_on_the_pairs_of_those_before_are_left_out(
        self, table, start, together, block
    ):
        cascade = Cascade((("or", len(table)),))
        told = []
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("lookalike.candidates.buckets.BLOCK_DOCUMENTS", together)
            buckets = buckets_of(table)
            every, later = (
                [
                    pair
                    for first, second in candidate_blocks(
                        buckets, Layout.of(cascade), None, start=begin, block=block, progress=tell
                    )
                    for pair in pairs_of(first, second)
                ]
                for begin, tell in ((0, None), (start, told.append))
            )
        assert later == [(i, j) for i, j in every if j >= start]
        assert told == sorted(told)
        assert set(told) <= set(range(start, len(table[0])))

    @given(key_tables(), st.integers(1, 3))
    def test_all_candidates_of_the_documents_told_came_before(self, table, together):
        at = 0
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("lookalike.candidates.buckets.BLOCK_DOCUMENTS", together)

            def tell(documents):
                nonlocal at
                at = documents

            layout = Layout.of(Cascade((("or", len(table)),)))
            for _, second in candidate_blocks(
                buckets_of(table), layout, None, block=1, progress=tell
            ):
                assert second.min() >= at


class TestCascadesOnKeys:
    @given(cascades(), st.data())
    def test_they_hold_where_the_twin_says(self, steps, data):
        bands = math.prod(size for _, size in steps)
        key = st.sampled_from([0, 1, 2**64 - 1])
        rows = st.lists(key, min_size=bands, max_size=bands)
        documents = data.draw(st.lists(rows, min_size=2, max_size=4))
        pairs = list(combinations(range(len(documents)), 2))
        out = np.empty(len(pairs), np.bool_)
        kernels.holds(
            np.array(documents, np.uint64).T.copy(),
            *rows_of(pairs),
            np.array([{"and": kernels.AND, "or": kernels.OR}[name] for name, _ in steps]),
            np.array([size for _, size in steps]),
            out,
        )
        expected = [twins.cascade_holds(documents[i], documents[j], steps) for i, j in pairs]
        assert out.tolist() == expected

    @given(cascades(), st.data())
    def test_every_pair_that_passes_shares_a_generating_band(self, steps, data):
        layout = Layout.of(Cascade(tuple(steps)))
        assert layout.filtered == any(name == "and" for name, _ in layout.steps)
        equal = data.draw(st.sets(st.integers(0, layout.bands - 1)))
        other = [0 if band in equal else 1 for band in range(layout.bands)]
        above = list(layout.steps) or [("or", 1)]
        if twins.cascade_holds([0] * layout.bands, other, above):
            assert equal & set(layout.generators)


class TestQuadraticWork:
    def test_a_cascade_that_would_compare_every_pair_is_refused(self):
        signatures = np.zeros((100, 8), np.uint32)
        message = re.escape(
            "the cascade 'or:2 and:2 or:2' puts 4,950 pairs of 100 documents in the buckets of one "
            "band (100.0% of all, the largest bucket holds 100), more than 4,949: "
            "use a longer shingle=, a higher threshold=, or a cascade= that begins with a larger "
            "'and'"
        )
        with pytest.raises(QuadraticError, match=message):
            found(signatures, Cascade.parse("or:2 and:2 or:2"), max_pairs=4_949)
        assert len(found(signatures, Cascade.parse("or:2 and:2 or:2"), max_pairs=4_950)) == 4_950

    def test_it_is_refused_before_the_first_candidate(self):
        pairs = candidates(np.zeros((10, 4), np.uint32), Cascade.parse("or:4"), max_pairs=44)
        with pytest.raises(QuadraticError, match="the largest bucket holds 10"):
            next(pairs)

    def test_the_bound_itself_is_allowed(self):
        signatures = np.zeros((100, 8), np.uint32)
        assert len(found(signatures, Cascade.parse("or:2 and:2 or:2"), max_pairs=19_800)) == 4950

    def test_a_banding_of_distinct_signatures_is_never_refused(self):
        signatures = distinct_signatures(50 if INTERPRETED else 5000, 40)
        assert found(signatures, Cascade.banding(8, 5), max_pairs=0) == []
        assert found(signatures, Cascade.parse("and:4 or:4 and:2"), max_pairs=0) == []
