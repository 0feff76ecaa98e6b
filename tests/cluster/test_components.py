from dataclasses import replace
from itertools import combinations, groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import lookalike.cluster.components
import twins
from lookalike.candidates.union_find import UnionFind
from lookalike.cluster.components import smallest_similarities, stars
from lookalike.kernels import components as kernels
from lookalike.kernels.jit import INTERPRETED
from lookalike.score.jaccard import Scored, estimate, verify_texts
from lookalike.sketches.minhash import sign_texts, similarity
from lookalike.text.shingles import Shingling
from made_documents import documents_of, rows_of

pytestmark = pytest.mark.kernels

BIGRAMS = Shingling("chars", 2)


@st.composite
def graphs(draw):
    """Scored pairs of up to 12 documents, few scores, so that many are equal."""
    documents = draw(st.integers(1, 12))
    every = list(combinations(range(documents), 2))
    pairs = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    scores = draw(
        st.lists(st.sampled_from([0.8, 0.8125, 0.9, 1.0]), min_size=len(pairs), max_size=len(pairs))
    )
    # Either end may come first.
    turned = [pair[::-1] if draw(st.booleans()) else pair for pair in pairs]
    return documents, turned, scores


def neighbours_of(pairs, scores):
    result = {}
    for (i, j), score in zip(pairs, scores, strict=True):
        result.setdefault(i, {})[j] = score
        result.setdefault(j, {})[i] = score
    return result


def random_graph(seed, documents, pairs):
    generator = np.random.default_rng(seed)
    ends = np.unique(np.sort(generator.integers(0, documents, (pairs, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] < ends[:, 1]]
    scores = generator.choice([0.8, 0.9, 1.0], len(ends))
    return [tuple(pair) for pair in ends.tolist()], scores, generator.permutation(documents)


def links_of(scores):
    """Scored pairs in two blocks; containment is not looked at."""
    pairs, half = list(scores.items()), len(scores) // 2
    blocks = []
    for part in (pairs[:half], pairs[half:]):
        unknown = np.full(len(part), np.nan)
        values = np.array([score for _, score in part], float)
        blocks.append(Scored(*rows_of([pair for pair, _ in part]), values, unknown, unknown))
    return blocks


def as_lists(labels):
    found = {}
    for document, label in enumerate(labels.tolist()):
        found.setdefault(label, []).append(document)
    return sorted(found.values())


def components(documents, first, second):
    forest = UnionFind(documents)
    forest.unite(first, second)
    return forest.labels()


@given(st.lists(st.integers(-1, 6), min_size=1, max_size=20), st.data())
def test_items_of_a_label_stand_together_in_the_order_they_had(labels, data):
    labelled = [i for i, label in enumerate(labels) if label >= 0]
    some = st.lists(st.sampled_from(labelled), max_size=30) if labelled else st.just([])
    items = data.draw(some)
    order = np.full(len(items), -1)
    kernels.order_by_label(np.array(labels), np.array(items, np.int64), order)
    assert order.tolist() == sorted(range(len(items)), key=lambda j: labels[items[j]])


@given(graphs(), st.data())
def test_documents_of_a_component_are_put_one_after_the_other(graph, data):
    documents, pairs, _ = graph
    forest = UnionFind(documents)
    forest.unite(*rows_of(pairs))
    items = data.draw(st.lists(st.integers(0, documents - 1), max_size=30))
    order = forest.together(np.array(items, np.int64)).tolist()
    component = {
        one: at for at, some in enumerate(twins.components(documents, pairs)) for one in some
    }
    assert sorted(order) == list(range(len(items)))
    changes = [component[items[j]] for j in order]
    assert len(list(groupby(changes))) == len(set(changes))
    for a, b in pairwise(order):
        assert component[items[a]] != component[items[b]] or a < b


class TestComponents:
    @given(graphs())
    def test_they_are_those_of_a_plain_search(self, graph):
        documents, pairs, _ = graph
        labels = components(documents, *rows_of(pairs))
        assert labels.dtype == np.int64
        assert as_lists(labels) == twins.components(documents, pairs)

    def test_a_chain_is_one_and_a_document_by_itself_is_one_too(self):
        labels = components(6, *rows_of([(0, 1), (1, 2), (2, 3)]))
        assert as_lists(labels) == [[0, 1, 2, 3], [4], [5]]

    def test_numbers_run_from_0_without_gaps(self):
        labels = components(7, *rows_of([(5, 6), (0, 3)]))
        assert sorted(set(labels.tolist())) == list(range(5))

    def test_no_documents_have_none(self):
        assert components(0, *rows_of([])).tolist() == []
        assert components(1, *rows_of([])).tolist() == [0]

    def test_a_pair_given_many_times_still_joins(self):
        assert as_lists(components(3, *rows_of([(0, 2)] * 512))) == [[0, 2], [1]]

    @given(graphs(), st.integers(1, 5))
    def test_they_are_those_of_scipy_however_the_pairs_come(self, graph, block):
        documents, pairs, _ = graph
        forest = UnionFind(documents)
        for start in range(0, len(pairs), block):
            forest.unite(*rows_of(pairs[start : start + block]))
        first, second = rows_of(pairs)
        matrix = coo_array((np.ones(len(pairs)), (first, second)), (documents, documents))
        count, expected = connected_components(matrix, directed=False)
        labels = forest.labels()
        assert len(set(labels.tolist())) == count
        assert as_lists(labels) == as_lists(expected)

    @given(graphs())
    def test_trees_are_numbered_by_their_smallest_members(self, graph):
        documents, pairs, _ = graph
        parents, labels = np.arange(documents), np.empty(documents, np.int64)
        kernels.unite(parents, *rows_of(pairs))
        count = kernels.number_trees(parents, labels)
        expected = twins.components(documents, pairs)
        assert count == len(expected)
        for number, members in enumerate(expected):
            assert set(labels[members].tolist()) == {number}

    def test_labels_may_be_asked_for_between_pairs(self):
        forest = UnionFind(4)
        assert forest.labels().tolist() == [0, 1, 2, 3]
        forest.unite(*rows_of([(3, 1)]))
        assert forest.labels().tolist() == [0, 1, 2, 1]
        forest.unite(*rows_of([(3, 0)]))
        assert forest.labels().tolist() == [0, 0, 1, 0]

    def test_many_documents(self):
        pairs, _, _ = random_graph(3, 2000, 1500)
        assert as_lists(components(2000, *rows_of(pairs))) == twins.components(2000, pairs)


class TestStars:
    @given(graphs(), st.randoms(use_true_random=False))
    def test_they_are_those_of_the_definition(self, graph, chance):
        documents, pairs, scores = graph
        order = list(range(documents))
        chance.shuffle(order)
        found = stars(np.array(order), *rows_of(pairs), np.array(scores, float))
        kept, removed = twins.star(order, neighbours_of(pairs, scores))
        assert np.flatnonzero(found.kept).tolist() == sorted(kept)
        for document in range(documents):
            expected = removed.get(document, (document, 1.0))
            assert (found.nearest[document], found.similarity[document]) == expected

    @pytest.mark.parametrize("pairs", [30, 100, 400, 3000])
    def test_every_removed_document_names_a_preferred_kept_one_and_no_two_kept_are_neighbours(
        self, pairs
    ):
        documents = 60 if INTERPRETED else 300
        pairs, scores, order = random_graph(pairs, documents, pairs)
        found = stars(order, *rows_of(pairs), scores)
        neighbours = neighbours_of(pairs, scores.tolist())
        place = {int(document): at for at, document in enumerate(order)}
        for i, j in pairs:
            assert not (found.kept[i] and found.kept[j])
        for document in np.flatnonzero(~found.kept).tolist():
            near = int(found.nearest[document])
            assert found.kept[near]
            assert place[near] < place[document]
            assert neighbours[document][near] == found.similarity[document]
            assert found.similarity[document] == max(
                score
                for other, score in neighbours[document].items()
                if found.kept[other] and place[other] < place[document]
            )
        for component in twins.components(documents, pairs):
            assert found.kept[component].any()

    def test_the_first_in_the_order_is_always_kept(self):
        for seed in range(20):
            pairs, scores, order = random_graph(seed, 30, 100)
            assert stars(order, *rows_of(pairs), scores).kept[order[0]]

    def test_a_chain_loses_only_what_is_near_a_kept_one(self):
        # 0 and 2 are not alike: both stay, and 1 goes to the one that was preferred to it.
        found = stars(np.arange(3), *rows_of([(0, 1), (1, 2)]), np.array([0.8, 0.9]))
        assert found.kept.tolist() == [True, False, True]
        assert found.nearest.tolist() == [0, 0, 2]
        assert found.similarity.tolist() == [1.0, 0.8, 1.0]

    def test_of_two_that_were_preferred_the_nearer_is_named(self):
        found = stars(np.array([0, 2, 1]), *rows_of([(0, 1), (1, 2)]), np.array([0.8, 0.9]))
        assert found.kept.tolist() == [True, False, True]
        assert found.nearest.tolist() == [0, 2, 2]
        assert found.similarity.tolist() == [1.0, 0.9, 1.0]

    def test_equally_near_ones_are_told_apart_by_the_order(self):
        pairs, scores = rows_of([(0, 2), (1, 2)]), np.array([0.9, 0.9])
        assert stars(np.array([0, 1, 2]), *pairs, scores).nearest[2] == 0
        assert stars(np.array([1, 0, 2]), *pairs, scores).nearest[2] == 1

    def test_the_order_of_the_pairs_changes_nothing(self):
        pairs, scores, order = random_graph(8, 40, 150)
        expected = stars(order, *rows_of(pairs), scores)
        shuffled = np.random.default_rng(0).permutation(len(pairs))
        second, first = rows_of([pairs[i] for i in shuffled])
        again = stars(order, first, second, scores[shuffled])
        assert np.array_equal(again.kept, expected.kept)
        assert np.array_equal(again.nearest, expected.nearest)
        assert np.array_equal(again.similarity, expected.similarity)

    def test_without_pairs_every_document_is_kept(self):
        for documents in (0, 1, 5):
            found = stars(np.arange(documents), *rows_of([]), np.empty(0))
            assert found.kept.all()
            assert found.nearest.tolist() == list(range(documents))


def smallest(labels, links, documents, rows, signatures=None):
    """By the sets of two letters, or by signatures of the rows."""

    def compare(first, second):
        if signatures is not None:
            return estimate(signatures, first, second, threshold=0.0)
        return verify_texts(documents, BIGRAMS, rows, first, second, threshold=0.0)

    return smallest_similarities(labels, links, documents.fingerprints[rows, 0], compare)


class TestSmallestSimilarities:
    TEXTS = ("abcdef", "abcdeg", "abcdxy", "zzzz", "zzzzy", "night", "nacht", "alone", "same")

    @given(
        st.lists(st.integers(0, 3), min_size=1, max_size=9),
        st.permutations(range(len(TEXTS))),
        st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.1]),
    )
    def test_they_are_the_smallest_of_all_pairs_of_each_cluster(self, numbers, order, linked_from):
        # Numbered without gaps, as components are.
        names = sorted(set(numbers))
        labels = np.array([names.index(number) for number in numbers])
        rows = np.array(order[: len(labels)])
        sets = [set(twins.char_hashes(self.TEXTS[row], 2)) for row in rows]
        every = {
            (i, j): float(twins.jaccard(sets[i], sets[j]))
            for i, j in combinations(range(len(labels)), 2)
            if labels[i] == labels[j]
        }
        links = links_of({pair: score for pair, score in every.items() if score >= linked_from})
        documents = documents_of(list(self.TEXTS))
        found = smallest(labels, links, documents, rows)
        assert found.shape == (len(names),)
        for label in range(len(names)):
            within = (score for (i, _), score in every.items() if labels[i] == label)
            assert found[label] == min(within, default=1.0)

    def test_the_ends_of_a_chain_show(self):
        documents = documents_of(["abcdef", "abcdefgh", "cdefgh"])
        labels = np.zeros(3, np.int64)
        links = links_of({(0, 1): 5 / 7, (1, 2): 5 / 7})
        found = smallest(labels, links, documents, np.arange(3))
        assert found.tolist() == [3 / 7]

    def test_a_cluster_in_which_every_two_are_linked_is_not_compared_again(self):
        # Scores that no comparison would give.
        links = links_of({(0, 1): 0.9, (0, 2): 0.7, (1, 2): 0.8})
        labels = np.array([0, 0, 0, 1])
        documents = documents_of(["abcd", "efgh", "ijkl", "mnop"])
        found = smallest(labels, links, documents, np.arange(4))
        assert found.tolist() == [0.7, 1.0]

    def test_from_signatures_they_are_estimates(self):
        documents = documents_of(list(self.TEXTS))
        signatures, _ = sign_texts(documents, BIGRAMS, rows=40, seed=1)
        labels = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4])
        links = links_of({(0, 1): float(similarity(signatures[0], signatures[1]))})
        found = smallest(labels, links, documents, np.arange(9), signatures)
        for label in range(5):
            members = signatures[labels == label]
            every = (float(similarity(a, b)) for a, b in combinations(members, 2))
            assert found[label] == min(every, default=1.0)

    @pytest.mark.parametrize("estimated", [False, True])
    @pytest.mark.parametrize("linked", [False, True])
    def test_of_a_large_cluster_the_links_and_those_with_the_smallest_fingerprints_are_compared(
        self, monkeypatch, estimated, linked
    ):
        whole = 5 if INTERPRETED else lookalike.cluster.components.COMPARED_MEMBERS
        monkeypatch.setattr(lookalike.cluster.components, "COMPARED_MEMBERS", whole)
        # The same text again and again; one that differs, just inside the limit or just outside.
        for place in (whole - 1, whole):
            texts = ["abcd"] * (whole + 1)
            texts[0] = "abxy"
            # A second cluster, and one document by itself.
            documents = documents_of([*texts, "pq", "pr", "alone"])
            # Fingerprints that place the one that differs, which stands first.
            prints = np.arange(len(documents) * 2, dtype=np.uint64).reshape(-1, 2)
            prints[: whole + 1] = np.roll(prints[: whole + 1], -place, axis=0)
            documents = replace(documents, fingerprints=prints)
            labels = np.array([0] * (whole + 1) + [1, 1, 2])
            signatures, differing = None, 1 / 5
            if estimated:
                table, _ = sign_texts(documents, BIGRAMS, rows=64, seed=1)
                signatures, differing = table, float(similarity(table[0], table[1]))
            links = links_of({(0, 1): differing} if linked else {})
            rows = np.arange(len(labels))
            found = smallest(labels, links, documents, rows, signatures)
            seen = linked or place < whole
            assert found.tolist() == [differing if seen else 1.0, 0.0, 1.0]

    def test_the_order_of_a_large_cluster_changes_nothing(self, monkeypatch):
        monkeypatch.setattr(lookalike.cluster.components, "COMPARED_MEMBERS", 4)
        texts = [f"abcdefgh{letter * 3}" for letter in "pqrstuv"] + ["abcdxxxx", "wxyzabcd"]
        labels, links = np.zeros(len(texts), np.int64), links_of({})
        found = set()
        for seed in range(8):
            order = np.random.default_rng(seed).permutation(len(texts))
            documents = documents_of([texts[i] for i in order])
            rows = np.arange(len(texts))
            found.add(float(smallest(labels, links, documents, rows)[0]))
        assert len(found) == 1

    def test_however_many_pairs_are_compared_at_a_time(self, monkeypatch):
        documents = documents_of(list(self.TEXTS))
        labels = np.array([0, 1, 0, 2, 1, 0, 2, 1, 3])
        rows, links = np.arange(9), links_of({})
        expected = smallest(labels, links, documents, rows)
        for at_a_time in (1, 3, 4):
            monkeypatch.setattr(lookalike.cluster.components, "PIECE_PAIRS", at_a_time)
            again = smallest(labels, links, documents, rows)
            assert np.array_equal(again, expected)

    def test_no_documents_have_none(self):
        none, links = np.empty(0, np.int64), links_of({})
        assert smallest(none, links, documents_of([]), none).size == 0
