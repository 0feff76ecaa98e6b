"""Pairs of groups laid out as pairs of documents, and sorted in any memory."""

from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base.columns import Column
from lookalike.candidates.identical import Groups
from lookalike.results.pairs import LINK, SORTED, Best, Links, Sorter, laid_out
from lookalike.score.jaccard import Scored
from made_documents import documents_of, pairs_of

scores = st.sampled_from([0.0, 0.1, 0.25, 0.8, 0.8125, np.nextafter(1, 0), 1.0])
ranks = st.sampled_from([0, 1, 2, 3, 7, 2**31, 2**32 - 2, 2**32 - 1])


@st.composite
def scored_pairs(draw):
    """Pairs of ranks, each once, with a score and two shares."""
    pairs = draw(st.lists(st.tuples(ranks, ranks), unique=True, max_size=25))
    return [(draw(scores), *pair, float(at), -float(at)) for at, pair in enumerate(pairs)]


def columns_of(rows):
    kinds = (np.float64, np.int64, np.int64, np.float64, np.float64)
    lists = list(zip(*rows, strict=True)) or [()] * 5
    return [np.array(values, kind) for values, kind in zip(lists, kinds, strict=True)]


def as_rows(blocks):
    """Undo what the sorter does to its records."""
    return [
        (
            float((~record["score"]).view(np.float64)),
            int(record["ranks"]) >> 32,
            int(record["ranks"]) & 0xFFFFFFFF,
            float(record["forward"]),
            float(record["backward"]),
        )
        for block in blocks
        for record in block
    ]


class TestSorter:
    @pytest.mark.parametrize("most", [0, 1, 2, 7, 1000])
    @pytest.mark.parametrize("in_a_file", [False, True])
    @given(rows=scored_pairs(), data=st.data())
    def test_any_pairs_come_sorted_and_none_is_lost(self, in_a_file, most, rows, data):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
        with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as folder:
            patched.setattr(
                "lookalike.results.pairs.BLOCK_PAIRS", data.draw(st.sampled_from([1, 3, 1000]))
            )
            path = Path(folder) / "sorted" if in_a_file else None
            sorter = Sorter(lambda: Column(SORTED, path), most)
            for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
                sorter.append(*columns_of(rows[start:stop]))
            found = as_rows(sorter.blocks())
        assert found == sorted(rows, key=lambda row: (-row[0], row[1], row[2]))

    def test_one_run_makes_no_column(self):
        def never():
            raise AssertionError("one run needs no column")

        sorter = Sorter(never, 100)
        sorter.append(*columns_of([(0.5, 1, 2, 0, 0), (0.9, 3, 4, 0, 0)]))
        assert [row[:3] for row in as_rows(sorter.blocks())] == [(0.9, 3, 4), (0.5, 1, 2)]
        assert list(Sorter(never, 100).blocks()) == []

    @pytest.mark.parametrize("most", [1, 3, 100])
    def test_blocks_stay_small(self, monkeypatch, most):
        monkeypatch.setattr("lookalike.results.pairs.BLOCK_PAIRS", 4)
        sorter = Sorter(lambda: Column(SORTED), most)
        generator = np.random.default_rng(3)
        for _ in range(20):
            scores, first, second = generator.random(3), *generator.integers(0, 99, (2, 3))
            sorter.append(scores, first, second, scores, scores)
        sizes = [len(block) for block in sorter.blocks()]
        assert sum(sizes) == 60
        # Of many runs, at least one pair each is held.
        assert max(sizes) <= max(4, 60 // most + 1)

    def test_the_numbers_that_belong_to_a_pair_stay_with_it(self):
        sorter = Sorter(lambda: Column(SORTED), 1)
        sorter.append(*columns_of([(0.5, 1, 2, 0.25, 0.75)]))
        sorter.append(*columns_of([(0.5, 0, 2, np.nan, 1.0)]))
        first, second = as_rows(sorter.blocks())
        assert first[:3] == (0.5, 0, 2)
        assert np.isnan(first[3])
        assert second == (0.5, 1, 2, 0.25, 0.75)


def links_of(rows, path=None):
    links = Links(Column(LINK, path))
    columns = [np.array(values) for values in zip(*rows, strict=True)]
    if columns:
        links.append(Scored(*columns[:2], *(column.astype(float) for column in columns[2:])))
    return links


class TestLinks:
    ROWS = ((0, 1, 0.9, 0.8, 0.7), (2, 1, 0.5, np.nan, np.nan), (2**32 - 1, 0, 1.0, 1.0, 1.0))

    @pytest.mark.parametrize("size", [1, 2, 3, 9])
    @pytest.mark.parametrize("in_a_file", [False, True])
    def test_they_come_back_in_the_order_they_came(self, tmp_path, size, in_a_file):
        path = tmp_path / "links" if in_a_file else None
        links = links_of(self.ROWS[:1], path)
        links.append(links_of(self.ROWS[1:]).all())
        assert len(links) == 3
        blocks = list(links.blocks(size))
        assert [len(block) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
        for whole in (links.all(), Scored.joined(blocks)):
            assert LINK.names
            for name, expected in zip(LINK.names, zip(*self.ROWS, strict=True), strict=True):
                np.testing.assert_array_equal(getattr(whole, name), expected)
            assert whole.first.dtype == whole.second.dtype == np.int64

    def test_others_go_on_with_those_of_a_column(self):
        column = Column(LINK)
        Links(column).append(links_of(self.ROWS[:2]).all())
        again = Links(column)
        again.append(links_of(self.ROWS[2:]).all())
        assert len(again) == 3
        assert len(Links(Column(LINK)).all()) == 0


TEXTS = "abcdefgh"


@st.composite
def linked_groups(draw):
    """Documents, some the same, and pairs of distinct ones with numbers of their own."""
    texts = draw(st.lists(st.sampled_from(["", *TEXTS[:4]]), max_size=14))
    groups = Groups.of(documents_of(texts))
    every = list(combinations(range(len(groups)), 2))
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    turned = [pair[::-1] if draw(st.booleans()) else pair for pair in pairs]
    rows = [(i, j, 0.5 + at / 100, at / 50, at / 60) for at, (i, j) in enumerate(turned)]
    return groups, rows


def members_of(groups, group):
    return groups.members[groups.starts[group] : groups.starts[group + 1]].tolist()


def as_dict(blocks):
    """Each pair of documents with its numbers; a pair that comes twice is told."""
    found = {}
    for block in blocks:
        columns = (block.similarity.tolist(), block.forward.tolist(), block.backward.tolist())
        for pair, *numbers in zip(pairs_of(block.first, block.second), *columns, strict=True):
            assert pair not in found
            found[pair] = (*numbers, block.same)
    return found


class TestLaidOut:
    @given(linked_groups(), st.sampled_from([1, 2, 3, 5, 1000]))
    def test_every_pair_of_documents_comes_once_however_large_the_groups(self, drawn, most):
        groups, rows = drawn
        expected = {}
        for i, j, *numbers in rows:
            for pair in product(members_of(groups, i), members_of(groups, j)):
                expected[pair] = (*numbers, False)
        for group in range(len(groups)):
            for pair in combinations(members_of(groups, group), 2):
                expected[pair] = (1.0, 1.0, 1.0, True)
        assert as_dict(laid_out(links_of(rows), groups, max_pairs=most)) == expected

    @pytest.mark.parametrize("most", [1, 7, 10, 63, 64, 1000])
    def test_two_huge_groups_are_split(self, most):
        groups = Groups.of(documents_of(["a"] * 9 + ["b"] * 7))
        blocks = list(laid_out(links_of([(0, 1, 0.9, 0.8, 0.7)]), groups, max_pairs=most))
        found = as_dict(blocks)
        assert len(found) == 63 + 36 + 21
        # Of a group, a member with all of the others is the least that is taken at a time.
        assert max(len(block.first) for block in blocks) <= max(most, 8)

    def test_some_members_may_stand_for_all(self):
        groups = Groups.of(documents_of(["a", "b", "a", "b", "a"]))
        members, starts = np.array([4, 2, 3]), np.array([0, 2, 3])
        found = as_dict(
            laid_out(links_of([(1, 0, 0.9, 0.8, 0.7)]), groups, members=members, starts=starts)
        )
        assert found == {
            (3, 4): (0.9, 0.8, 0.7, False),
            (3, 2): (0.9, 0.8, 0.7, False),
            (4, 2): (1.0, 1.0, 1.0, True),
        }

    def test_no_groups_make_no_pairs(self):
        groups = Groups.of(documents_of(["", ""]))
        assert list(laid_out(links_of([]), groups)) == []


@pytest.mark.parametrize("most", [0, 1, 7, 500])
def test_the_first_few_are_those_of_all_sorted_however_they_come(most):
    generator = np.random.default_rng(most)
    best, everything = Best(most), Sorter(lambda: Column(SORTED), 10_000)
    for size in (40, 0, 1, 90):
        # Few scores and few ranks, so that many are equal.
        score = generator.integers(0, 4, size) / 4
        first, second = generator.integers(0, 9, (2, size))
        for one in (best, everything):
            one.append(score, first, second, score, score)
    wanted = np.concatenate(list(everything.blocks()))[:most]
    assert best.records[["score", "ranks"]].tolist() == wanted[["score", "ranks"]].tolist()


def test_pairs_of_groups_stand_for_every_member_with_every_other():
    first, second = np.array([0, 0, 2]), np.array([1, 2, 3])
    ones = np.ones(3)
    links = Links(Column(LINK))
    links.append(Scored(first, second, ones, ones, ones))
    assert links.between(np.array([2, 3, 5, 1])) == 2 * 3 + 2 * 5 + 5 * 1
    assert links.between(np.array([1, 1, 1, 1])) == 3
