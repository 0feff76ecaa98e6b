"""Which documents may be a pair: told of texts, of cells, and by who meets whom."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import twins
from lookalike.candidates.exact_join import exact_candidates, near_vectors
from lookalike.candidates.identical import Groups
from lookalike.candidates.pairing import Cells, Pairing, SideOrder
from made_documents import documents_of, pairs_of, sets_of

pytestmark = pytest.mark.kernels

elements = st.sampled_from([0, 1, 2, 3, 5, 8, 2**63])


@st.composite
def corpora(draw):
    """Texts, of which some are alike and some empty; how many are a reference; groups of some."""
    texts = draw(st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=9))
    references = draw(st.none() | st.integers(0, len(texts)))
    labels = None
    if draw(st.booleans()):
        labels = np.array([draw(st.integers(0, 2)) for _ in texts], np.int64)
    return texts, Pairing(references, labels)


def may_pair(pairing, one, other):
    """Whether two documents may be a pair, said plainly."""
    bound = pairing.references
    if bound is not None and (one < bound) == (other < bound):
        return False
    return pairing.labels is None or bool(pairing.labels[one] != pairing.labels[other])


def of_cell(cells, cell):
    groups = cells.documents
    return groups.members[groups.starts[cell] : groups.starts[cell + 1]].tolist()


@pytest.mark.parametrize("most", [1, 3, 1000])
@given(made=corpora())
def test_cells_lay_out_every_pair_that_may_be_one(most, made):
    texts, pairing = made
    assume(pairing.is_bounded)
    groups = Groups.of(documents_of(texts))
    cells = Cells.of(groups, pairing)
    assert sorted(cells.documents.members.tolist()) == [i for i, text in enumerate(texts) if text]
    for cell in range(len(cells)):
        for one in of_cell(cells, cell):
            assert cells.documents.of_document[one] == cell
    found = []
    for first, second in cells.within(most):
        found += pairs_of(first, second)
    every = np.array(list(combinations(range(len(groups)), 2)), np.int64).reshape(-1, 2)
    for which, first, second in cells.between(every[:, 0], every[:, 1], most):
        for pair, *ends in zip(which.tolist(), *(first.tolist(), second.tolist()), strict=True):
            assert [groups.of_document[of_cell(cells, one)[0]] for one in ends] == every[
                pair
            ].tolist()
            found.append(tuple(ends))
    documents = [
        frozenset((one, other))
        for left, right in found
        for one in of_cell(cells, left)
        for other in of_cell(cells, right)
    ]
    expected = {
        frozenset((one, other))
        for one, other in combinations(range(len(texts)), 2)
        if texts[one] and texts[other] and may_pair(pairing, one, other)
    }
    assert len(documents) == len(set(documents))
    assert set(documents) == expected


@given(made=corpora())
def test_texts_of_which_two_documents_may_be_a_pair_pass(made):
    texts, pairing = made
    groups = Groups.of(documents_of(texts))
    of_texts = pairing.of_texts(groups)
    every = np.array(list(combinations(range(len(groups)), 2)), np.int64).reshape(-1, 2)
    passing = set(pairs_of(*of_texts.passing(every[:, 0], every[:, 1])))
    for one, other in every.tolist():
        members = groups.members_of(one), groups.members_of(other)
        pairs = [pair for pair in product(*members) if may_pair(pairing, *pair)]
        assert ((one, other) in passing) == bool(pairs)
        first = pairing.first_pair(*members)
        assert (first is not None) == bool(pairs)
        if first is not None:
            assert first in pairs or first[::-1] in pairs
            # Across two corpora, that of the source comes first.
            assert pairing.references is None or first[0] >= pairing.references


@given(sides=st.lists(st.sampled_from([1, 2, 3]), max_size=8))
def test_in_their_order_texts_meet_those_of_the_other_corpus_alone(sides):
    given_sides = np.array(sides, np.uint8)
    across = SideOrder.of(given_sides)
    assert across.order[across.places].tolist() == list(range(len(sides)))
    met = set()
    for place in range(across.met, len(sides)):
        for before in range(min(place, across.meeting)):
            met.add(frozenset((int(across.order[before]), int(across.order[place]))))
    assert met == {
        frozenset(pair)
        for pair in combinations(range(len(sides)), 2)
        if {sides[pair[0]], sides[pair[1]]} not in ({1}, {2})
    }


@given(
    made=st.lists(st.tuples(st.sets(elements, max_size=6), st.sampled_from([1, 2, 3])), max_size=8),
    threshold=st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0]),
    block=st.sampled_from([1, 4, 1000]),
)
def test_the_exact_join_gives_pairs_across_alone_and_loses_none(made, threshold, block):
    sets, sides = [one for one, _ in made], [side for _, side in made]
    found = [
        pair
        for first, second in exact_candidates(
            sets_of(sets), threshold=threshold, sides=np.array(sides, np.uint8), block=block
        )
        for pair in pairs_of(first, second)
    ]
    across = {
        (i, j)
        for i, j in combinations(range(len(sets)), 2)
        if {sides[i], sides[j]} not in ({1}, {2})
    }
    assert len(found) == len(set(found))
    assert set(found) <= across
    similar = {(i, j) for i, j in across if float(twins.jaccard(sets[i], sets[j])) >= threshold}
    assert {(i, j) for i, j in similar if sets[i] and sets[j]} <= set(found)


@pytest.mark.parametrize("tile", [1, 3, 100])
def test_vectors_are_multiplied_across_alone(tile, monkeypatch):
    monkeypatch.setattr("lookalike.candidates.exact_join.TILE_VECTORS", tile)
    numbers = np.random.default_rng(1)
    vectors = numbers.normal(size=(14, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sides = numbers.integers(1, 4, 14).astype(np.uint8)
    found = [
        pair
        for first, second in near_vectors(vectors, threshold=0.5, sides=sides)
        for pair in pairs_of(first, second)
    ]
    expected = {
        (i, j)
        for i, j in combinations(range(14), 2)
        if vectors[i] @ vectors[j] >= 0.5 and {int(sides[i]), int(sides[j])} not in ({1}, {2})
    }
    assert sorted(found) == sorted(expected)
