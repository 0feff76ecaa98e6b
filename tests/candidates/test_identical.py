from dataclasses import replace
from itertools import combinations, pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.candidates.identical import Groups, pairs_between, pairs_within
from made_documents import documents_of, texts_of

pytestmark = pytest.mark.kernels

sizes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6)


def as_tuples(columns):
    return list(zip(*(column.tolist() for column in columns), strict=True))


class TestPairsOfMembers:
    @given(sizes)
    def test_between_two_groups_is_every_member_of_one_with_every_member_of_the_other(self, sizes):
        first, second = (np.array([pair[side] for pair in sizes], np.int64) for side in (0, 1))
        expected = [
            (which, i, j)
            for which, (one, other) in enumerate(sizes)
            for i, j in product(range(one), range(other))
        ]
        assert as_tuples(pairs_between(first, second)) == expected

    @given(st.lists(st.integers(0, 6), max_size=6))
    def test_within_a_group_is_every_two_members_once(self, sizes):
        expected = [
            (which, i, j)
            for which, size in enumerate(sizes)
            for i, j in combinations(range(size), 2)
        ]
        assert as_tuples(pairs_within(np.array(sizes, np.int64))) == expected

    def test_52_copies_are_1326_pairs(self):
        which, first, second = pairs_within(np.array([1, 52]))
        assert len(which) == 1326
        assert (which == 1).all()
        assert (first < second).all()


class TestGroups:
    @given(st.lists(st.sampled_from(["", "a", "b", "ab", "一", "a\x00", "a\x00\x00"]), max_size=12))
    def test_documents_are_together_when_their_texts_are_equal(self, texts):
        groups = Groups.of(documents_of(texts))
        for i, j in product(range(len(texts)), repeat=2):
            together = groups.of_document[i] == groups.of_document[j]
            assert together == (texts[i] == texts[j])
        assert [i for i, text in enumerate(texts) if not text] == np.flatnonzero(
            groups.of_document == -1
        ).tolist()
        assert len(groups) == len(set(texts) - {""})

    @given(st.lists(st.sampled_from(["", "a", "b", "ab", "一"]), max_size=12))
    def test_members_stand_group_by_group_in_the_order_of_the_source(self, texts):
        groups = Groups.of(documents_of(texts))
        assert groups.starts[0] == 0
        assert groups.starts[-1] == len(groups.members) == sum(text != "" for text in texts)
        for group in range(len(groups)):
            members = groups.members[groups.starts[group] : groups.starts[group + 1]].tolist()
            assert members == np.flatnonzero(groups.of_document == group).tolist()
            assert groups.representatives[group] == members[0]
            assert groups.sizes[group] == len(members) > 0

    @given(st.lists(st.sampled_from(["", "a", "b", "ab", "一"]), max_size=12))
    def test_groups_are_numbered_by_their_first_documents(self, texts):
        groups = Groups.of(documents_of(texts))
        distinct = list(dict.fromkeys(text for text in texts if text))
        assert [texts[row] for row in groups.representatives] == distinct
        assert groups.representatives.tolist() == [texts.index(text) for text in distinct]

    @given(st.lists(st.sampled_from(["", "a", "b", "ab", "abc"]), max_size=12), st.integers(1, 6))
    def test_they_are_the_same_from_a_file_and_in_pieces_of_any_size(self, texts, piece):
        expected = Groups.of(documents_of(texts))
        with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as folder:
            patched.setattr("lookalike.candidates.identical.PIECE_BYTES", piece)
            found = Groups.of(texts_of(texts, Path(folder) / "texts"))
        assert found.of_document.tolist() == expected.of_document.tolist()
        assert found.members.tolist() == expected.members.tolist()
        assert found.starts.tolist() == expected.starts.tolist()

    @pytest.mark.parametrize("texts", [[], ["", ""]])
    def test_nothing_but_empty_documents_make_no_groups(self, texts):
        groups = Groups.of(documents_of(texts))
        assert len(groups) == 0
        assert groups.of_document.tolist() == [-1] * len(texts)
        assert groups.representatives.size == groups.sizes.size == groups.members.size == 0


@given(st.lists(st.sampled_from(["", "a", "b", "ab", "abc", "一"]), max_size=60))
def test_a_half_of_a_fingerprint_that_many_share_brings_nothing_together(texts):
    documents = documents_of(texts)
    expected = Groups.of(documents)
    for half in (0, 1):
        prints = documents.fingerprints.copy()
        prints[:, half] %= 2
        found = Groups.of(replace(documents, fingerprints=prints))
        assert found.of_document.tolist() == expected.of_document.tolist()
        assert found.members.tolist() == expected.members.tolist()
        assert found.starts.tolist() == expected.starts.tolist()


def test_documents_that_only_share_a_fingerprint_are_not_called_identical():
    documents = documents_of(["one", "two", "one", "tw", "two", "six"])
    forged = replace(documents, fingerprints=np.ones_like(documents.fingerprints))
    groups = Groups.of(forged)
    alike = [groups.members[a:b].tolist() for a, b in pairwise(groups.starts)]
    assert alike == [[0, 2], [1], [3], [4], [5]]
    assert groups.of_document.tolist() == [0, 1, 0, 2, 3, 4]
