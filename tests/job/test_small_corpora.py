"""A corpus no larger than a sample is compared as a whole, and that is said."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import lookalike
import twins
from made_documents import near_duplicates

pytestmark = pytest.mark.usefixtures("small_is_compared_whole")


def shared(texts: list[str], threshold: Fraction) -> dict[tuple[int, int], float]:
    """Compare every two sets of words, as fractions."""
    sets = [set(twins.words(twins.canonical(text))) for text in texts]
    found = {}
    for a, b in itertools.combinations(range(len(texts)), 2):
        alike = Fraction(len(sets[a] & sets[b]), max(1, len(sets[a] | sets[b])))
        if alike >= threshold:
            found[a, b] = float(alike)
    return found


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50, 200])
@pytest.mark.parametrize("threshold", ["0.1", "0.8"])
def test_every_pair_is_found_whatever_the_recall(count, threshold):
    texts = near_duplicates(count, seed=count)
    result = lookalike.find(texts, shingle="words:1", threshold=float(threshold), recall=0.5)
    assert result.plan.origin == "small"
    assert result.plan.cascade is None
    assert result.plan.probability(float(threshold)) == 1
    assert {(row["a"], row["b"]): row["similarity"] for row in result.pairs.to_pylist()} == shared(
        texts, Fraction(threshold)
    )


def test_it_is_said():
    result = lookalike.find(["one text", "two texts", "two texts"])
    assert "all of the 2 distinct documents are compared" in result.plan.sentence()
    assert "every pair at or above 0.8 is found" in result.plan.sentence()


def test_the_result_is_that_of_recall_1():
    many = near_duplicates(120, seed=2)
    jobs: list[tuple[list[str], dict[str, Any]]] = [
        (many, {}),
        (many[:10], {"metric": "cosine", "threshold": 0.3}),
        (many, {"multiset": True, "shingle": "chars:3"}),
    ]
    for texts, options in jobs:
        small, exact = lookalike.find(texts, **options), lookalike.find(texts, recall=1, **options)
        assert small.pairs.to_pylist() == exact.pairs.to_pylist()
        assert small.clusters.to_pylist() == exact.clusters.to_pylist()
        kept = lookalike.dedup(texts, **options), lookalike.dedup(texts, recall=1, **options)
        assert kept[0].removed.to_pylist() == kept[1].removed.to_pylist()


def test_vectors_too():
    vectors = np.random.default_rng(1).normal(size=(60, 8))
    vectors[30:] = vectors[:30] + 0.1 * vectors[::-1][:30]
    result = lookalike.find(vectors, metric="cosine", threshold=0.9)
    assert result.plan.origin == "small"
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = {(a, b) for a, b in itertools.combinations(range(60), 2) if unit[a] @ unit[b] >= 0.9}
    assert {(row["a"], row["b"]) for row in result.pairs.to_pylist()} == expected


@pytest.mark.parametrize(
    "options", [{"bands": 20, "rows": 2}, {"cascade": "or:9"}, {"estimate": True}, {"simhash": 3}]
)
def test_what_was_asked_for_otherwise_is_done_otherwise(options):
    result = lookalike.find(near_duplicates(20, seed=1), **options)
    assert result.plan.origin != "small"
    assert result.plan.cascade is not None


def test_a_larger_corpus_is_sketched():
    many = [f"{text} {number}" for number, text in enumerate(near_duplicates(201, seed=3))]
    assert lookalike.find(many[:11], metric="cosine").plan.origin == "planned"
    assert lookalike.find(many[:10], metric="cosine").plan.origin == "small"
    assert lookalike.find(many).plan.origin == "planned"
    assert lookalike.find(many[:200]).plan.origin == "small"
    assert lookalike.find(near_duplicates(260, seed=3)).plan.origin == "planned"
    long = [text * 400 for text in near_duplicates(60, seed=3)]
    assert sum(map(len, long)) > 4 << 20
    assert lookalike.find(long, shingle="words:2").plan.origin == "planned"


def test_so_is_one_for_which_there_is_too_little_memory(monkeypatch):
    monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
    monkeypatch.setattr("lookalike.job.canonical_parts.MEMORY_PER_BYTE", {"text": 0})
    texts = near_duplicates(20, seed=1)
    assert lookalike.find(texts, memory=48 * len("".join(texts)) // 2).plan.origin == "planned"
