"""The most similar pair below the threshold: what a search came closest to."""

import itertools
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lookalike
import twins
from lookalike.job import compare
from lookalike.recipe import Nearest, metrics
from lookalike.results import Result
from made_documents import near_duplicates

SEEDS = range(6)


def similarities(texts: list[str]) -> dict[tuple[int, int], Fraction]:
    sets = [set(twins.words(twins.canonical(text))) for text in texts]
    return {
        (a, b): Fraction(len(sets[a] & sets[b]), max(1, len(sets[a] | sets[b])))
        for a, b in itertools.combinations(range(len(texts)), 2)
    }


def most_similar(texts: list[str], threshold: float) -> tuple[float, tuple[int, int]]:
    below = {pair: score for pair, score in similarities(texts).items() if float(score) < threshold}
    best = max(below.values())
    return float(best), min(pair for pair, score in below.items() if score == best)


@pytest.mark.usefixtures("small_is_compared_whole")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.95])
@pytest.mark.parametrize("run", [lookalike.find, lookalike.dedup])
def test_of_a_small_corpus_it_is_the_most_similar_of_all(run, threshold, seed):
    texts = near_duplicates(40, seed=seed)
    nearest = run(texts, shingle="words:1", threshold=threshold).summary.nearest
    assert nearest is not None
    similarity, pair = most_similar(texts, threshold)
    assert nearest.similarity == similarity
    assert similarities(texts)[nearest.a, nearest.b] == Fraction(similarity).limit_denominator(999)
    assert nearest.whole
    if len(set(map(twins.canonical, texts))) == len(texts):
        assert (nearest.a, nearest.b) == pair


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("options", [{}, {"bands": 30, "rows": 2}, {"cascade": "and:2 or:30"}])
def test_of_candidates_it_is_the_most_similar_that_was_compared(options, seed, monkeypatch):
    texts = near_duplicates(300, seed=seed)
    offered = []

    def note(self, first, second, similarity, offer=Nearest.offer):
        offered.extend(similarity.tolist())
        offer(self, first, second, similarity)

    monkeypatch.setattr(Nearest, "offer", note)
    result = lookalike.find(texts, shingle="words:1", threshold=0.7, **options)
    nearest = result.summary.nearest
    if nearest is None:
        assert not any(offered)
        return
    assert not nearest.whole
    assert nearest.similarity == max(offered) < 0.7
    assert similarities(texts)[nearest.a, nearest.b] == Fraction(
        nearest.similarity
    ).limit_denominator(9999)
    assert not {(nearest.a, nearest.b)} & {(row["a"], row["b"]) for row in result.pairs.to_pylist()}


def test_pieces_and_threads_of_any_number_give_the_same(monkeypatch):
    texts = near_duplicates(400, seed=1)
    found = set()
    for threads, size in itertools.product((1, 2), (3, 1 << 20)):
        monkeypatch.setattr("lookalike.score.jaccard.PIECE_BYTES", size)
        monkeypatch.setattr("lookalike.score.jaccard.PIECE_PAIRS", size)
        options: dict[str, Any] = {"shingle": "words:1", "threshold": 0.7, "threads": threads}
        found.add(lookalike.find(texts, bands=40, rows=2, **options).summary.nearest)
    assert len(found) == 1
    assert found != {None}


@pytest.mark.usefixtures("small_is_compared_whole")
@pytest.mark.parametrize("whole", [400, 0])
def test_with_the_cosine_too(whole, monkeypatch):
    monkeypatch.setattr(metrics, "WHOLE_DOCUMENTS", whole)
    vectors = np.random.default_rng(5).normal(size=(50, 6))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = {(a, b): unit[a] @ unit[b] for a, b in itertools.combinations(range(50), 2)}
    threshold = sorted(cosines.values())[-4] + 1e-6
    nearest = lookalike.find(vectors, metric="cosine", threshold=threshold).summary.nearest
    if not whole:
        # A join for this threshold meets hardly any pair below it.
        assert nearest is None or not nearest.whole
        return
    assert nearest is not None
    best = max((score, pair) for pair, score in cosines.items() if score < threshold)
    assert (nearest.a, nearest.b) == best[1]
    assert nearest.similarity == pytest.approx(best[0], abs=1e-6)


def test_of_fingerprints_the_distance_is_known():
    texts = near_duplicates(60, seed=4)
    result = lookalike.find(texts, simhash=3)
    nearest = result.summary.nearest
    assert nearest is not None
    prints = lookalike.sketch(texts, columns="simhash")["simhash"].to_pylist()
    assert nearest.bits == (prints[nearest.a] ^ prints[nearest.b]).bit_count() > 3


@pytest.mark.usefixtures("small_is_compared_whole")
def test_two_references_are_no_pair():
    common = "one two three four five six seven eight nine ten"
    against = [f"{common} eleven", f"{common} twelve"]
    texts = ["one two three four five and none of the rest", "altogether something else"]
    nearest = lookalike.dedup(texts, against=against, shingle="words:1", threshold=0.9).summary
    assert nearest.nearest is not None
    assert 0.2 < nearest.nearest.similarity < 0.5


WHOLE = "one two three four five six seven eight nine ten"
DRAFT = "one two three four five six and none of the rest"


@pytest.mark.usefixtures("small_is_compared_whole")
@pytest.mark.parametrize("run", [lookalike.find, lookalike.dedup])
@pytest.mark.parametrize("order", [*itertools.permutations(["draft", "final", "essay"])])
def test_of_identical_documents_it_names_one_of_another_group(run, order):
    made = {"draft": (DRAFT, "a"), "final": (WHOLE, "a"), "essay": (WHOLE, "b")}
    rows = [{"id": name, "text": made[name][0], "of": made[name][1]} for name in order]
    source = pa.Table.from_pylist([*rows, {"id": "else", "text": "altogether so", "of": "c"}])
    options = {"shingle": "words:1", "threshold": 0.8, "groups": "of"}
    nearest = run(source, **options).summary.nearest
    assert nearest is not None
    assert {nearest.a, nearest.b} == {"draft", "essay"}


@pytest.mark.usefixtures("small_is_compared_whole")
@pytest.mark.parametrize("groups", [None, "of"])
def test_across_two_corpora_it_names_one_of_each(groups):
    source = [("mine", DRAFT, "a"), ("copy", WHOLE, "b"), ("else", "altogether so", "c")]
    against = [("theirs", WHOLE, "a"), ("another", WHOLE, "d"), ("other", DRAFT, "b")]
    both = [
        pa.Table.from_pylist([dict(zip(("id", "text", "of"), row, strict=True)) for row in rows])
        for rows in (source, against)
    ]
    options = {"shingle": "words:1", "threshold": 0.8, "groups": groups}
    nearest = lookalike.find(both[0], against=both[1], **options).summary.nearest
    assert nearest is not None
    expected = {("mine", "theirs"), ("copy", "other")} if groups is None else {("mine", "another")}
    assert (nearest.a, nearest.b) in expected


@pytest.mark.usefixtures("small_is_compared_whole")
def test_where_nothing_is_shared_there_is_none():
    assert lookalike.find(["one two", "three four", ""], shingle="words:1").summary.nearest is None
    assert lookalike.find(["one"]).summary.nearest is None
    assert lookalike.find([]).summary.nearest is None


def test_it_is_in_the_record_and_comes_back_with_it(tmp_path):
    texts = near_duplicates(40, seed=2)
    for run in (lookalike.find, lookalike.dedup):
        out = tmp_path / run.__name__
        result = run(texts, out=out, threshold=0.95)
        nearest = result.summary.nearest
        assert nearest is not None
        assert result.record()["nearest"] == nearest.as_dict()
        assert Result.open(out).summary.nearest == nearest


class StoppedError(Exception):
    """Ends a job in its middle."""


@pytest.mark.parametrize("run", [lookalike.find, lookalike.dedup])
@pytest.mark.parametrize("bucketed", [False, True])
def test_a_job_that_was_stopped_comes_to_the_same(run, bucketed, tmp_path, monkeypatch):
    choice = random.Random(3)
    texts = near_duplicates(400, seed=3)
    choice.shuffle(texts)
    path = tmp_path / "docs.jsonl"
    lines = [f'{{"id": {at}, "text": "{text}"}}' for at, text in enumerate(texts)]
    path.write_text("\n".join(lines))
    monkeypatch.setattr(compare, "BLOCK_PAIRS", 5)
    monkeypatch.setattr("lookalike.candidates.buckets.BLOCK_DOCUMENTS", 50)
    monkeypatch.setattr("lookalike.cluster.thinning.BATCH_DOCUMENTS", 64)
    if bucketed:
        monkeypatch.setattr(compare, "find_near", lambda *_, **__: None)
    options = {"shingle": "words:1", "threshold": 0.8, "bands": 40, "rows": 2, "threads": 1}
    heard = []

    def progress(stage, done, total):
        if stage == "compare" and 0 < done < total:
            heard.append(done)
            if len(heard) == stop_after:
                raise StoppedError

    stop_after = None
    expected = run(path, **options, progress=progress).summary.nearest
    assert expected is not None
    # At the first checkpoint, and at the last, before which the pair was met.
    for stop_after in (1, len(heard)):
        heard = []
        work = tmp_path / f"work-{stop_after}"
        with pytest.raises(StoppedError):
            run(path, **options, work=work, progress=progress)
        assert run(path, **options, work=work).summary.nearest == expected
