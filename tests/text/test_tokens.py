"""Documents that are lists of tokens: the sets and multisets that the twins define."""

from itertools import pairwise
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import twins
from lookalike.base.errors import SourceError
from lookalike.kernels.jit import INTERPRETED
from lookalike.sketches.minhash import sign_texts
from lookalike.text.normalise import Canonical
from lookalike.text.shingles import Shingling, element_sets, ignoring, shingle_hashes
from lookalike.text.tokens import canonical_tokens

pytestmark = pytest.mark.kernels

LISTS = pa.large_list(pa.large_string())

# A few that repeat, every length around the eight bytes of a chunk, and any others.
tokens = st.one_of(
    st.sampled_from(["", "a", "b", "é", "中文", "\x00", "\x00\x00"]),
    st.integers(1, 26).map(lambda n: "abcdefghijklmnopqrstuvwxyz"[:n]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
some_lists = st.lists(st.none() | st.lists(st.none() | tokens, max_size=12), max_size=6)


def bytes_of(documents: Canonical) -> list[bytes]:
    ends = documents.offsets.tolist()
    return [documents.data[a:b].tobytes() for a, b in pairwise(ends)]


def token_hashes(one: list[str | None] | None) -> list[int]:
    return [twins.token_hash(token) for token in one or [] if token is not None]


class TestCanonical:
    @given(some_lists, st.booleans())
    def test_any_lists_have_the_twins_bytes_and_fingerprints(self, lists, multiset):
        found = canonical_tokens(pa.array(lists, LISTS), multiset=multiset)
        expected = [twins.token_document(one, multiset) for one in lists]
        assert bytes_of(found) == expected
        assert [tuple(row) for row in found.fingerprints.tolist()] == [
            twins.content_fingerprint(one) for one in expected
        ]
        assert found.data.dtype == np.uint8
        assert found.offsets.dtype == np.int64

    @given(some_lists, st.booleans(), st.data())
    def test_a_slice_of_a_column_is_its_own_documents(self, lists, multiset, data):
        start = data.draw(st.integers(0, len(lists)))
        stop = data.draw(st.integers(start, len(lists)))
        whole = canonical_tokens(pa.array(lists, LISTS), multiset=multiset)
        part = canonical_tokens(pa.array(lists, LISTS)[start:stop], multiset=multiset)
        assert bytes_of(part) == bytes_of(whole)[start:stop]

    def test_what_lies_under_a_missing_list_is_left_out(self):
        offsets, values = pa.array([0, 1, 3, 4], pa.int64()), pa.array(list("abcd"))
        lists = pa.LargeListArray.from_arrays(
            offsets, values.cast(pa.large_string()), mask=pa.array([False, True, False])
        )
        found = canonical_tokens(lists, multiset=False)
        assert bytes_of(found) == [twins.token_document(one, False) for one in (["a"], [], ["d"])]

    @pytest.mark.parametrize(
        "kind",
        [
            pa.list_(pa.string()),
            pa.list_(pa.large_string()),
            pa.large_list(pa.field("element", pa.string())),
            pa.list_(pa.string(), 2),
            pa.list_(pa.dictionary(pa.int32(), pa.string())),
        ],
        ids=str,
    )
    def test_every_kind_of_list_of_strings_is_read(self, kind):
        lists = [["a", "b"], None, ["b", None]]
        found = canonical_tokens(pa.array(lists, kind), multiset=False)
        assert bytes_of(found) == [twins.token_document(one, False) for one in lists]

    def test_columns_of_nulls_and_no_rows_are_empty_documents(self):
        for column in (pa.nulls(2), pa.nulls(2, pa.list_(pa.null()))):
            assert bytes_of(canonical_tokens(column, multiset=True)) == [b"", b""]
        assert len(canonical_tokens(pa.array([], LISTS), multiset=False)) == 0

    @pytest.mark.parametrize("column", [["a b"], [1], [[1, 2]], [["a"]]])
    def test_a_column_of_anything_else_is_refused(self, column):
        nested = pa.array([column]) if column == [["a"]] else pa.array(column)
        with pytest.raises(SourceError, match="holds no tokens: give one of lists of strings"):
            canonical_tokens(nested, multiset=False)

    def test_many_tokens_are_sorted_and_distinct(self):
        rng = Random(11)
        names = [f"token {n}" for n in range(400)]
        lists = [rng.choices(names, k=300 if INTERPRETED else 5_000), ["a"] * 200, names]
        for multiset in (False, True):
            found = canonical_tokens(pa.array(lists, LISTS), multiset=multiset)
            assert bytes_of(found) == [twins.token_document(one, multiset) for one in lists]


class TestShingling:
    @given(some_lists, st.booleans())
    def test_lists_sets_and_signatures_are_the_twins(self, lists, multiset):
        found = canonical_tokens(pa.array(lists, LISTS), multiset=multiset)
        kind = Shingling.parse("tokens", multiset=multiset)
        hashes = [sorted(token_hashes(one)) for one in lists]
        if not multiset:
            hashes = [sorted(set(one)) for one in hashes]
        sets = [twins.elements(one, multiset) for one in hashes]
        listed = shingle_hashes(found, kind)
        assert [listed[row].tolist() for row in range(len(lists))] == hashes
        elements = element_sets(found, kind)
        assert [elements[row].tolist() for row in range(len(lists))] == [
            sorted(one) for one in sets
        ]
        signatures, counts = sign_texts(found, kind, rows=6, seed=2)
        assert counts.tolist() == [len(one) for one in hashes]
        assert signatures.tolist() == [twins.signature(one, 2, 6) for one in sets]

    def test_order_and_repeats_make_no_difference_to_a_set(self):
        lists = [["a", "b", "c"], ["c", "b", "a", "b"], ["a", "b"]]
        found = canonical_tokens(pa.array(lists, LISTS), multiset=False).fingerprints.tolist()
        assert found[0] == found[1] != found[2]

    def test_the_empty_token_is_one_that_can_be_ignored(self):
        found = canonical_tokens(pa.array([["", "a"], [""], ["a"]], LISTS), multiset=False)
        assert element_sets(found, Shingling.parse("tokens")).sizes().tolist() == [2, 1, 1]
        kind = Shingling("tokens", 1, ignored=ignoring(np.array([0], np.uint64)))
        assert element_sets(found, kind).sizes().tolist() == [1, 0, 1]


# Computed by a separate C program written from docs/hashing.md.
GOLDEN = {
    ("near duplicates", "abcdefgh"): (
        (0x224676A302E8ADDA, 0xEB137F214EBD0289),
        "d215d94d ed4490fd d9c87975 c81f24a8 c801ea7f c5b9d404 e03eed87 c9cd35fb",
    ),
    ("", "a", "诗", "red", "red", "the longest token of them all"): (
        (0x4F6068DD768EE879, 0x6952FECB8D7ECDEC),
        "c8b16f58 62cbc0ce c3160435 c031f7bc c6304516 b2a288b2 cf460044 c46d453f",
    ),
}


@pytest.mark.parametrize("tokens", GOLDEN)
def test_fingerprints_and_signatures_never_change(tokens):
    fingerprint, rows = GOLDEN[tokens]
    found = canonical_tokens(pa.array([list(tokens)], LISTS), multiset=False)
    assert tuple(found.fingerprints[0].tolist()) == fingerprint
    signatures, _ = sign_texts(found, Shingling.parse("tokens"), rows=8, seed=1)
    assert " ".join(f"{row:08x}" for row in signatures[0]) == rows
