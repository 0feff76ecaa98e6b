"""One corpus compared with another: the pairs between the two, as the search of both would give."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

import lookalike
from compared_corpora import WAYS, components, texts_of
from lookalike.candidates import buckets as buckets_module
from lookalike.job import compare


def two_corpora(seed, first, second):
    """Two corpora that share some texts, and ids too."""
    texts = texts_of(seed, first + second)
    return dict(enumerate(texts[:first])), dict(enumerate(texts[first:]))


def pairs_across(a, b, **options):
    """The pairs between two corpora, of all pairs of both."""
    union = {f"a{name}": one for name, one in a.items()}
    union |= {f"b{name}": one for name, one in b.items()}
    found = {}
    with lookalike.find(union, **options) as result:
        for row in result.pairs.to_pylist():
            first, second = row["a"], row["b"]
            if first[0] != second[0]:
                pair = (first, second) if first[0] == "a" else (second, first)
                facts = {k: v for k, v in row.items() if k not in ("a", "b")}
                found[int(pair[0][1:]), int(pair[1][1:])] = facts
    return found


def found_across(a, b, **options):
    with lookalike.find(a, against=b, **options) as result:
        rows = result.pairs.to_pylist()
        assert len(rows) == result.pair_count
        top = [result.top(most).to_pylist() for most in (0, 1, 3)]
        assert top == [rows[:0], rows[:1], rows[:3]]
        clusters = result.clusters.to_pylist()
    found = {
        (row["a"], row["b"]): {k: v for k, v in row.items() if k not in ("a", "b")} for row in rows
    }
    assert len(found) == len(rows)
    assert [row["similarity"] for row in rows] == sorted(
        (row["similarity"] for row in rows), reverse=True
    )
    return found, clusters


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sizes", [(0, 0), (0, 2), (1, 0), (1, 1), (2, 1), (3, 3), (12, 30)])
def test_the_pairs_are_those_between_two_corpora_of_all_pairs_of_both(way, sizes):
    for seed in range(3):
        a, b = two_corpora(seed, *sizes)
        found, clusters = found_across(a, b, **WAYS[way])
        assert found == pairs_across(a, b, **WAYS[way])
        grouped: dict[int, set[tuple[str, int]]] = {}
        for row in clusters:
            grouped.setdefault(row["cluster"], set()).add((row["corpus"], row["id"]))
            assert row["size"] > 1
        assert {frozenset(one) for one in grouped.values()} == components(
            {(("source", x), ("reference", y)) for x, y in found}
        )


@pytest.mark.parametrize("way", ["planned", "bands", "cosine", "cosine by bands", "simhash"])
def test_many_documents_that_are_planned_for_are_compared_across(way, monkeypatch):
    monkeypatch.setattr(buckets_module, "BLOCK_DOCUMENTS", 32)
    a, b = two_corpora(7, 90, 220)
    found, _ = found_across(a, b, **WAYS[way])
    assert found == pairs_across(a, b, **WAYS[way])
    assert len(found) > 100


@pytest.mark.parametrize("options", [{"recall": 1}, {}, {"bands": 12, "rows": 8}])
def test_vectors_are_compared_across(options, monkeypatch):
    monkeypatch.setattr("lookalike.candidates.exact_join.TILE_VECTORS", 16)
    choice = np.random.default_rng(3)
    bases = choice.normal(size=(5, 8)).astype(np.float32)
    vectors = np.repeat(bases, 20, axis=0) + 0.2 * choice.normal(size=(100, 8)).astype(np.float32)
    vectors[3] = vectors[70]
    vectors = vectors[choice.permutation(100)]
    a, b = vectors[:35], vectors[35:]
    given = {"metric": "cosine", "threshold": 0.95, **options}
    with lookalike.find(vectors, **given) as both:
        expected = {
            (row["a"], row["b"] - 35): row["similarity"]
            for row in both.pairs.to_pylist()
            if row["a"] < 35 <= row["b"]
        }
    with lookalike.find(a, against=b, **given) as result:
        found = {(row["a"], row["b"]): row["similarity"] for row in result.pairs.to_pylist()}
    assert found == expected
    assert len(found) > 50


def jaccard(first, second):
    """The similarity of two texts by their words, in plain Python."""
    one, other = set(first.split()), set(second.split())
    return len(one & other) / len(one | other) if one or other else 0.0


@pytest.mark.parametrize("recall", [0.99, 1])
@pytest.mark.usefixtures("small_is_compared_whole")
def test_every_pair_and_no_other_by_brute_force(recall):
    for seed in range(20):
        a, b = two_corpora(seed, seed % 5, seed % 7)
        expected = {
            (x, y): score for x, y in product(a, b) if (score := jaccard(a[x], b[y])) >= 0.3
        }
        with lookalike.find(
            a, against=b, shingle="words:1", threshold=0.3, recall=recall
        ) as result:
            rows = result.pairs.to_pylist()
        assert {(row["a"], row["b"]): row["similarity"] for row in rows} == expected


@pytest.mark.parametrize("way", ["bands", "exact", "cosine", "estimate", "simhash"])
def test_documents_of_one_corpus_are_not_compared_with_each_other(way, monkeypatch):
    """Near-copies in one bucket cost as many comparisons as the other corpus has documents."""
    many = [f"one two three four five six seven eight nine ten {n % 300}" for n in range(600)]
    few = ["one two three four five six seven eight nine ten eleven", "another text altogether"]
    compared = []
    verified = compare._verified

    def counting(blocks, *given, **options):
        blocks = list(blocks)
        compared.append(sum(len(first) for first, _ in blocks))
        return verified(blocks, *given, **options)

    monkeypatch.setattr(compare, "_verified", counting)
    for a, b in ((few, many), (many, few)):
        compared.clear()
        with lookalike.find(a, against=b, **WAYS[way]) as result:
            assert result.summary.candidates <= 2 * 300
        assert compared
        assert sum(compared) <= 2 * 300


def test_buckets_are_refused_by_their_pairs_across_alone(monkeypatch):
    monkeypatch.setattr(buckets_module, "MIN_PAIRS_LIMIT", 1000)
    monkeypatch.setattr(buckets_module, "PAIRS_PER_DOCUMENT", 0)
    many = [f"one two three four five six seven eight nine ten {n}" for n in range(300)]
    few = ["one two three four five six seven eight nine ten eleven"]
    options: dict[str, Any] = {"shingle": "words:1", "bands": 20, "rows": 1}
    with lookalike.find(few, against=many, **options) as result:
        assert result.pair_count == 300
    with pytest.raises(lookalike.QuadraticError, match="buckets of one band"):
        lookalike.find([*many[:20], *few], against=many, **options)


def test_identical_documents_of_one_corpus_are_no_pair_and_no_cluster():
    with lookalike.find(["x y z", "p q"], against=["a b c", "a b c", "p q", "p q"]) as result:
        assert [(row["a"], row["b"]) for row in result.pairs.to_pylist()] == [(1, 2), (1, 3)]
        members = [(row["corpus"], row["id"]) for row in result.clusters.to_pylist()]
    assert sorted(members) == [("reference", 2), ("reference", 3), ("source", 1)]


def test_a_job_that_was_stopped_goes_on(tmp_path, monkeypatch):
    a, b = two_corpora(5, 30, 60)
    for name, corpus in (("a", a), ("b", b)):
        lines = [f'{{"id": {key}, "text": "{text}"}}\n' for key, text in corpus.items()]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    monkeypatch.setattr(buckets_module, "BLOCK_DOCUMENTS", 8)
    options = {**WAYS["bands"], "against": tmp_path / "b.jsonl", "work": tmp_path / "work"}
    spill, seen = compare.spill_if_large, []

    def stop(*given):
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt
        spill(*given)

    monkeypatch.setattr(compare, "spill_if_large", stop)
    with pytest.raises(KeyboardInterrupt):
        lookalike.find(tmp_path / "a.jsonl", **options)
    with lookalike.find(tmp_path / "a.jsonl", **options) as result:
        found = {(row["a"], row["b"]) for row in result.pairs.to_pylist()}
    assert found == set(pairs_across(a, b, **WAYS["bands"]))
    with pytest.raises(lookalike.OutputError, match="on other sources"):
        lookalike.find(tmp_path / "a.jsonl", **WAYS["bands"], work=tmp_path / "work")


def test_a_written_result_names_both_corpora_and_opens_again(tmp_path):
    a, b = two_corpora(5, 10, 20)
    with lookalike.find(a, against=b, **WAYS["planned"], out=tmp_path / "found") as result:
        pairs, clusters = result.pairs.to_pylist(), result.clusters.to_pylist()
    with lookalike.FindResult.open(tmp_path / "found") as again:
        assert again.pairs.to_pylist() == pairs
        assert again.clusters.to_pylist() == clusters
        assert again.record()["counts"]["reference"] == 20
    assert {row["corpus"] for row in clusters} == {"source", "reference"}


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {"shingle": "chars:3", "threshold": 0.5},
        {"shingle": "chars:3", "threshold": 0.5, "recall": 1},
        {"shingle": "chars:3", "metric": "cosine", "threshold": 0.7},
        {"shingle": "chars:3", "simhash": 6},
    ],
)
def test_a_real_corpus_in_two_halves(corpora, options):
    lines = (corpora / "poetry" / "docs.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines][:6000]
    a, b = dict(enumerate(texts[::3])), dict(enumerate(texts[1::3] + texts[2::3]))
    found, _ = found_across(a, b, **options)
    assert found == pairs_across(a, b, **options)
    assert found
