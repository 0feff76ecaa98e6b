"""On real corpora with their exact answers: found with the promised recall, and nothing else."""

import math
import statistics
from pathlib import Path

import pytest

import lookalike

pytestmark = pytest.mark.long

LABELLED = [
    ("articles", "words:3", 0.1),
    ("articles", "chars:5", 0.3),
    ("bible", "words:3", 0.3),
    ("bible", "chars:9", 0.3),
    ("poetry", "chars:3", 0.3),
    ("poetry", "words:3", 0.3),
    ("licenses", "words:3", 0.7),
    ("licenses", "chars:5", 0.7),
]
THRESHOLDS = (0.3, 0.5, 0.7, 0.8, 0.9)
CASES = [
    (corpus, shingle, threshold)
    for corpus, shingle, least in LABELLED
    for threshold in THRESHOLDS
    if threshold >= least
]


def truth(folder: Path, shingle: str) -> dict[tuple[str, str], float]:
    name = f"pairs-{shingle.replace(':', '')}.tsv"
    rows = (line.split("\t") for line in (folder / name).read_text().splitlines())
    return {(a, b): float(similarity) for a, b, similarity in rows}


def found(result: lookalike.FindResult) -> dict[tuple[str, str], float]:
    return {(row["a"], row["b"]): row["similarity"] for row in result.pairs.to_pylist()}


def wanted(pairs: dict[tuple[str, str], float], threshold: float) -> set[tuple[str, str]]:
    # The answers are rounded to six digits: one at the very threshold may stand on either side.
    return {pair for pair, similarity in pairs.items() if similarity > threshold + 1e-6}


def expected_misses(result: lookalike.FindResult, similarities: list[float]) -> tuple[float, float]:
    """Give the plan's own expectation, and its deviation where pairs are missed one by one."""
    # Of thousands of similarities, those of three digits are counted once.
    chances = {s: 1 - result.plan.probability(s) for s in {round(s, 3) for s in similarities}}
    misses = [chances[round(s, 3)] for s in similarities]
    return sum(misses), math.sqrt(sum(m * (1 - m) for m in misses))


@pytest.mark.parametrize(("corpus", "shingle", "threshold"), CASES)
def test_true_pairs_are_found_with_the_promised_recall_and_no_others(
    corpora, corpus, shingle, threshold
):
    answers = truth(corpora / corpus, shingle)
    wished = wanted(answers, threshold)
    # Of a licence with hundreds of versions, pairs of the same two wordings are missed together:
    # over 40 seeds the mean is the plan's, but the deviation four times that of single pairs.
    # There the mean over some seeds is held to the plan, by the deviation between them.
    seeds = range(5) if corpus == "licenses" else (1,)
    counts = []
    for seed in seeds:
        result = lookalike.find(
            corpora / corpus / "docs.jsonl",
            shingle=shingle,
            threshold=threshold,
            recall=0.99,
            seed=seed,
        )
        pairs = found(result)
        for pair, similarity in pairs.items():
            assert similarity >= threshold
            assert similarity == pytest.approx(answers[pair], abs=1e-6)
        counts.append(len(wished - set(pairs)))
        assert counts[-1] <= max(0.01 * len(wished), 3)
        assert result.plan.probability(threshold) >= 0.99
    mean, deviation = expected_misses(result, [answers[pair] for pair in wished])
    if len(counts) > 1:
        deviation = max(deviation, statistics.stdev(counts)) / math.sqrt(len(counts))
    assert statistics.mean(counts) <= mean + 3 * deviation + 1


@pytest.mark.parametrize(("corpus", "shingle", "least"), LABELLED)
def test_the_exact_join_finds_every_pair(corpora, corpus, shingle, least):
    threshold = max(least, 0.5)
    answers = truth(corpora / corpus, shingle)
    result = lookalike.find(
        corpora / corpus / "docs.jsonl", shingle=shingle, threshold=threshold, recall=1
    )
    pairs = found(result)
    assert wanted(answers, threshold) <= set(pairs)
    assert {pair: pytest.approx(answers[pair], abs=1e-6) for pair in pairs} == pairs


def test_the_twenty_planted_copies_are_found_by_default(corpora):
    lines = (corpora / "articles" / "labels.tsv").read_text().splitlines()
    planted = {tuple(sorted(line.split("\t"))) for line in lines}
    result = lookalike.find(corpora / "articles" / "docs.jsonl")
    assert len(planted) == 20
    assert set(found(result)) == planted


def test_parallels_inside_one_translation_are_found(corpora):
    result = lookalike.find(corpora / "bible" / "docs.jsonl", shingle="words:3")
    assert ("ASV|2 Kings|19", "ASV|Isaiah|37") in found(result)


@pytest.mark.parametrize("corpus", ["articles", "bible", "poetry", "licenses"])
def test_every_removed_document_names_a_kept_one_that_is_similar(corpora, corpus):
    result = lookalike.dedup(corpora / corpus / "docs.jsonl", shingle="words:3", threshold=0.7)
    answers = truth(corpora / corpus, "words:3")
    kept = set(result.kept_ids.to_pylist())
    removed = result.removed.to_pylist()
    assert len(kept) + len(removed) == result.summary.documents
    for row in removed:
        assert row["id"] not in kept
        assert row["kept"] in kept
        pair = tuple(sorted([row["id"], row["kept"]]))
        assert row["similarity"] == pytest.approx(answers[pair], abs=1e-6)
        assert row["similarity"] >= 0.7


@pytest.mark.parametrize("seed", range(5))
def test_the_recall_holds_for_other_seeds(corpora, seed):
    answers = wanted(truth(corpora / "licenses", "words:3"), 0.8)
    source = corpora / "licenses" / "docs.jsonl"
    pairs = found(lookalike.find(source, shingle="words:3", seed=seed))
    assert len(answers & set(pairs)) >= 0.99 * len(answers)
