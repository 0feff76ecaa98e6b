"""The cosine on real texts and on vectors, held against every pair compared by brute force."""

import functools
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import cosine_oracle as oracle
import lookalike
from lookalike.base.errors import SettingsError, SourceError
from source_files import write_records

pytestmark = pytest.mark.long

EXACT = 1e-9


class Case(NamedTuple):
    """Which documents of a corpus are compared, by what and from where on."""

    shingle: str
    threshold: float
    truth: str
    """A file of similar pairs, of which some are taken."""
    pairs: int
    others: int


CASES = {
    "articles": Case("chars:5", 0.6, "pairs-words3.tsv", 40, 30),
    "bible": Case("words:2", 0.5, "pairs-chars9.tsv", 50, 20),
    "licenses": Case("words:3", 0.7, "pairs-words3.tsv", 200, 200),
    "poetry": Case("chars:2", 0.6, "pairs-chars3.tsv", 200, 200),
}
EVERY = [(name, weights) for name in CASES for weights in oracle.WEIGHTS]


@functools.cache
def whole(folder: Path) -> dict[str, str]:
    lines = (folder / "docs.jsonl").read_text("utf-8").rstrip("\n").split("\n")
    return {record["id"]: record["text"] for record in map(json.loads, lines)}


@functools.cache
def some(folder: Path) -> dict[str, str]:
    """Take documents of similar pairs, spread over the file of them, and others."""
    case, texts = CASES[folder.name], whole(folder)
    lines = (folder / case.truth).read_text("utf-8").rstrip("\n").split("\n")
    chosen: dict[str, None] = {}
    for line in lines[:: max(1, len(lines) // case.pairs)]:
        chosen |= dict.fromkeys(line.split("\t")[:2])
    chosen |= dict.fromkeys(list(texts)[:: len(texts) // case.others])
    return {name: texts[name] for name in chosen}


@functools.cache
def truth(folder: Path, weights: str) -> oracle.Pairs:
    """Compare every two of those documents; far below the threshold too, for estimates."""
    case = CASES[folder.name]
    return oracle.text_pairs(some(folder), case.shingle, weights, case.threshold - 0.3)


def found(result: lookalike.FindResult) -> oracle.Pairs:
    return {(row["a"], row["b"]): row["similarity"] for row in result.pairs.to_pylist()}


def check_exact(pairs: oracle.Pairs, answers: oracle.Pairs, threshold: float) -> None:
    """Hold every pair that was found against its cosine, and that against the threshold."""
    for pair, similarity in pairs.items():
        assert similarity >= threshold - oracle.ROUNDING
        assert abs(similarity - answers[pair]) <= EXACT


def check_all(pairs: oracle.Pairs, answers: oracle.Pairs, threshold: float) -> None:
    """Miss no pair; one at the very threshold may stand on either side of it, by rounding."""
    check_exact(pairs, answers, threshold)
    missed = {pair for pair, cosine in answers.items() if cosine >= threshold} - pairs.keys()
    assert all(answers[pair] <= threshold + EXACT for pair in missed)


def apart(pairs: oracle.Pairs) -> oracle.Pairs:
    """Take pairs of which no two share a document, the least similar first.

    Whether one of them is missed says next to nothing of the others.
    """
    taken: oracle.Pairs = {}
    busy: set[object] = set()
    for pair in sorted(pairs, key=lambda pair: pairs[pair]):
        if not busy & set(pair):
            taken[pair] = pairs[pair]
            busy |= set(pair)
    return taken


def check_misses(results, answers: oracle.Pairs) -> None:
    """Hold the misses of several seeds against the plans' own probabilities.

    Of n pairs that are each missed with probability q, the number missed is the sum of n coins: its
    mean is the sum of the q, its variance that of q(1-q). Four deviations from it and a half are
    allowed, which chance exceeds once in 15,000 times.
    """
    mean = variance = missed = 0.0
    for result in results:
        plan = functools.cache(result.plan.probability)
        q = np.array([1 - plan(round(min(s, 1.0), 4)) for s in answers.values()])
        mean += q.sum()
        variance += (q * (1 - q)).sum()
        missed += len(answers.keys() - found(result).keys())
    assert abs(missed - mean) <= 4 * math.sqrt(variance) + 0.5


@pytest.fixture
def few_slots(monkeypatch):
    """Count shingles in tables that fit a small corpus."""
    monkeypatch.setattr("lookalike.text.document_frequencies.MAX_SLOT_BITS", 16)


@pytest.mark.usefixtures("few_slots")
class TestText:
    @pytest.mark.parametrize(("name", "weights"), EVERY)
    def test_recall_1_finds_every_pair_with_its_cosine(self, corpora, name, weights):
        case = CASES[name]
        options = {"shingle": case.shingle, "threshold": case.threshold, "weights": weights}
        result = lookalike.find(some(corpora / name), metric="cosine", recall=1, **options)
        answers = truth(corpora / name, weights)
        check_all(found(result), answers, case.threshold)
        assert result.pair_count >= 7
        assert set(result.pairs["score"].to_pylist()) == {"exact"}

    @pytest.mark.parametrize(("name", "weights"), EVERY[::3])
    def test_a_pair_found_by_hyperplanes_carries_its_cosine(self, corpora, name, weights):
        case = CASES[name]
        options = {"shingle": case.shingle, "threshold": case.threshold, "weights": weights}
        result = lookalike.find(some(corpora / name), metric="cosine", **options)
        answers = truth(corpora / name, weights)
        pairs = found(result)
        check_exact(pairs, answers, case.threshold)
        assert result.plan.probability(case.threshold) >= 0.99
        expected = sum(cosine >= case.threshold for cosine in answers.values())
        assert len(pairs) >= 0.98 * expected
        assert set(result.pairs["score"].to_pylist()) == {"exact"}
        assert result.summary.candidates - result.summary.rejected == len(result.links)

    @pytest.mark.parametrize(("weights", "recall"), [("counts", 0.99), ("tf-idf", 0.9)])
    def test_what_is_missed_is_what_the_plan_says(self, corpora, weights, recall):
        folder = corpora / "licenses"
        case = CASES["licenses"]
        answers = {
            pair: cosine
            for pair, cosine in truth(folder, weights).items()
            if cosine >= case.threshold
        }
        options = {"shingle": case.shingle, "threshold": case.threshold, "weights": weights}
        results = [
            lookalike.find(some(folder), metric="cosine", recall=recall, seed=seed, **options)
            for seed in range(5)
        ]
        alone = apart(answers)
        assert len(alone) > 100
        check_misses(results, alone)

    @pytest.mark.parametrize(("name", "weights"), list(zip(CASES, oracle.WEIGHTS, strict=True)))
    def test_estimates_are_labelled_and_near_the_cosine(self, corpora, name, weights):
        case = CASES[name]
        texts = some(corpora / name)
        options = {"shingle": case.shingle, "threshold": case.threshold, "weights": weights}
        result = lookalike.find(texts, metric="cosine", estimate=True, **options)
        answers = truth(corpora / name, weights)
        canonical = {key: oracle.canonical(text) for key, text in texts.items()}
        bits = result.plan.estimated
        assert bits >= 1024
        for row in result.pairs.to_pylist():
            assert row["similarity"] >= case.threshold
            a, b = row["a"], row["b"]
            if canonical[a] == canonical[b]:
                assert (row["similarity"], row["score"]) == (1.0, "exact")
                continue
            assert row["score"] == "estimated"
            # The share of bits that differ has the variance of coins; five deviations of it.
            angle = math.acos(min(1.0, answers[a, b]))
            share = angle / math.pi
            allowed = 5 * math.sqrt(share * (1 - share) / bits) * math.pi
            assert abs(math.acos(min(1.0, row["similarity"])) - angle) <= allowed
        assert result.pair_count >= 7

    def test_a_whole_corpus_is_answered_exactly(self, corpora):
        texts = whole(corpora / "licenses")
        answers = oracle.text_pairs(texts, "words:3", "counts", 0.79)
        options: dict[str, Any] = {"shingle": "words:3", "threshold": 0.8, "metric": "cosine"}
        source = corpora / "licenses" / "docs.jsonl"
        check_all(found(lookalike.find(source, recall=1, **options)), answers, 0.8)
        pairs = found(lookalike.find(source, **options))
        check_exact(pairs, answers, 0.8)
        expected = sum(cosine > 0.8 + EXACT for cosine in answers.values())
        assert len(pairs) >= 0.99 * expected
        assert expected > 20_000

    def test_clusters_are_the_connected_components_with_their_smallest_cosine(self, corpora):
        texts = some(corpora / "bible")
        answers = truth(corpora / "bible", "log")
        options: dict[str, Any] = {"shingle": "words:2", "weights": "log", "metric": "cosine"}
        result = lookalike.find(texts, recall=1, threshold=0.5, **options)
        clusters: dict[int, dict[str, tuple[int, float]]] = {}
        for row in result.clusters.to_pylist():
            members = clusters.setdefault(row["cluster"], {})
            members[row["id"]] = row["size"], row["similarity"]
        expected = oracle.components([pair for pair, s in answers.items() if s >= 0.5])
        assert {frozenset(members) for members in clusters.values()} == set(expected)
        for members in clusters.values():
            names = sorted(members)
            least = min(answers[a, b] for i, a in enumerate(names) for b in names[i + 1 :])
            for size, similarity in members.values():
                assert size == len(members)
                assert similarity == pytest.approx(least, abs=EXACT)

    @pytest.mark.parametrize("distance", [3, 6])
    def test_every_fingerprint_within_a_distance_is_found(self, corpora, distance):
        texts = whole(corpora / "licenses")
        options: dict[str, Any] = {"shingle": "words:3"}
        prints = lookalike.sketch(texts, columns=["simhash"], **options)["simhash"]
        there = np.flatnonzero(prints.is_valid().to_numpy())
        words = prints.drop_null().to_numpy()
        names = [list(texts)[place] for place in there]
        expected = set()
        for i, word in enumerate(words):
            near = np.flatnonzero(np.bitwise_count(words[i + 1 :] ^ word) <= distance)
            expected |= {tuple(sorted((names[i], names[i + 1 + j]))) for j in near}
        assert set(found(lookalike.find(texts, simhash=distance, **options))) == expected
        assert len(expected) > 500


def planted(seed: int, originals: int, dimension: int, cosines: list[float]) -> np.ndarray:
    """Make random vectors, and beside some of them one at a given cosine; of any length."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(originals, dimension))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    beside = []
    for unit, cosine in zip(units[: len(cosines)], cosines, strict=True):
        other = generator.normal(size=dimension)
        other -= (other @ unit) * unit
        sine = math.sqrt(max(0.0, 1 - cosine**2))
        beside.append(cosine * unit + sine * other / np.linalg.norm(other))
    made = np.concatenate([units, np.array(beside).reshape(-1, dimension)])
    return made * generator.uniform(0.01, 100, (len(made), 1))


@functools.cache
def neighbours() -> np.ndarray:
    """Make some hundred vectors with neighbours at every cosine, as 16-bit floats."""
    cosines = [*np.linspace(0.5, 0.999, 60), *[1.0] * 5]
    return planted(1, 140, 24, cosines).astype(np.float16)


BANDED: dict[str, Any] = {"metric": "cosine", "bands": 30, "rows": 6}
"""Bands as given, where it does not matter which: choosing them takes longer than all else."""


def by_row(result: lookalike.FindResult, row_of=lambda name: name) -> oracle.Pairs:
    """Give pairs by the rows of their vectors."""
    return {
        tuple(sorted((row_of(a), row_of(b)))): similarity
        for (a, b), similarity in found(result).items()
    }


def after_the_colon(name: str) -> int:
    return int(name.rpartition(":")[2]) - 1


class TestVectors:
    @pytest.mark.parametrize(
        ("kind", "dimension"), [("<f8", 64), ("<f4", 384), ("<f2", 100), ("<i2", 65)]
    )
    def test_recall_1_finds_every_pair_with_its_cosine(self, kind, dimension):
        vectors = planted(3, 2000, dimension, list(np.linspace(0.6, 1, 400)))
        vectors = (vectors * 300 if kind == "<i2" else vectors).astype(kind)
        vectors = vectors[np.abs(vectors).max(axis=1) > 0]
        answers = oracle.vector_pairs(vectors, 0.7)
        options: dict[str, Any] = {"threshold": 0.75, "metric": "cosine"}
        check_all(by_row(lookalike.find(vectors, recall=1, **options)), answers, 0.75)
        pairs = by_row(lookalike.find(vectors, **options))
        check_exact(pairs, answers, 0.75)
        expected = sum(cosine >= 0.75 for cosine in answers.values())
        assert expected > 200
        assert len(pairs) >= 0.98 * expected

    @pytest.mark.parametrize(("kind", "exact"), [(np.float32, 1e-12), (np.float64, 1e-6)])
    def test_numbers_of_32_bits_lose_nothing_and_others_nothing_that_is_seen(self, kind, exact):
        vectors = planted(4, 300, 50, list(np.linspace(0.6, 1, 200))).astype(kind)
        true = vectors.astype(np.float64)
        true /= np.linalg.norm(true, axis=1, keepdims=True)
        pairs = by_row(lookalike.find(vectors, metric="cosine"))
        assert len(pairs) > 80
        for (a, b), similarity in pairs.items():
            assert similarity == pytest.approx(true[a] @ true[b], abs=exact)

    @pytest.mark.parametrize(("threshold", "recall"), [(0.8, 0.99), (0.7, 0.9), (0.95, 0.5)])
    def test_pairs_at_the_threshold_are_found_with_the_recall_asked_for(self, threshold, recall):
        # A hair above it, so that rounding does not bring them below.
        cosines = [threshold + 1e-6] * 700
        vectors = planted(5, 1500, 96, cosines)
        pairs = {(place, 1500 + place): threshold for place in range(700)}
        options = {"threshold": threshold, "recall": recall, "metric": "cosine"}
        results = [lookalike.find(vectors, seed=seed, **options) for seed in range(4)]
        check_misses(results, pairs)
        share = np.mean([len(pairs.keys() & by_row(each).keys()) / 700 for each in results])
        assert share >= recall - 4 * math.sqrt(recall * (1 - recall) / 2800)

    def test_estimates_are_labelled_and_near(self):
        vectors = planted(6, 500, 64, list(np.linspace(0.6, 0.999, 300)))
        answers = oracle.vector_pairs(vectors, -1.0)
        result = lookalike.find(vectors, metric="cosine", estimate=True)
        rows = result.pairs.to_pylist()
        assert len(rows) > 100
        for row in rows:
            angle = math.acos(answers[row["a"], row["b"]])
            share = angle / math.pi
            allowed = 5 * math.sqrt(share * (1 - share) / result.plan.estimated) * math.pi
            assert abs(math.acos(row["similarity"]) - angle) <= allowed
            assert row["score"] == "estimated"

    def test_a_vector_and_its_double_are_identical(self):
        vectors = planted(7, 30, 40, [])
        both = np.concatenate([vectors, 2 * vectors, vectors / 1024])
        for source in (both, sparse.csr_array(both)):
            result = lookalike.find(source, metric="cosine", threshold=1.0)
            assert result.summary.identical == 60
            expected = {
                pair: 1.0
                for i in range(30)
                for pair in ((i, i + 30), (i, i + 60), (i + 30, i + 60))
            }
            assert by_row(result) == expected
            opposite = lookalike.find(-source[:30], metric="cosine", threshold=0.9)
            assert opposite.pair_count == 0
        # Three times it is the same direction but for the rounding of its numbers.
        thrice = np.concatenate([vectors, 3 * vectors])
        pairs = by_row(lookalike.find(thrice, metric="cosine", threshold=0.999999))
        assert set(pairs) == {(i, i + 30) for i in range(30)}

    def test_opposite_vectors_are_no_pair(self):
        vectors = planted(8, 50, 16, [])
        both = np.concatenate([vectors, -vectors])
        for options in ({}, {"recall": 1}, {"estimate": True}):
            pairs = by_row(lookalike.find(both, metric="cosine", threshold=0.5, **options))
            assert not {(i, i + 50) for i in range(50)} & pairs.keys()

    @pytest.mark.parametrize("recall", [1, 0.99])
    def test_a_sparse_matrix_gives_the_pairs_of_its_rows(self, recall):
        generator = np.random.default_rng(9)
        dense = generator.normal(size=(400, 300)) * (generator.random((400, 300)) < 0.05)
        dense[200:] = dense[:200] + 0.3 * dense[generator.permutation(200)]
        dense[:, 0] += 0.01
        rows = dense / np.linalg.norm(dense, axis=1, keepdims=True)
        answers = oracle.similar(rows, range(400), 0.5)
        options = {"metric": "cosine", "threshold": 0.7, "recall": recall}
        for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
            check_exact(by_row(lookalike.find(make(dense), **options)), answers, 0.7)
        thin = by_row(lookalike.find(sparse.csr_array(dense), **options))
        thick = by_row(lookalike.find(dense, **options))
        if recall == 1:
            check_all(thin, answers, 0.7)
            assert thin.keys() == thick.keys()
        assert len(thin) > 150
        for pair in thin.keys() & thick.keys():
            assert thin[pair] == pytest.approx(thick[pair], abs=1e-6)

    def test_floats_of_every_width_with_the_same_numbers_give_the_same_pairs(self):
        vectors = neighbours()
        expected = found(lookalike.find(vectors, **BANDED))
        assert len(expected) > 20
        for kind in (np.float32, np.float64, ">f4"):
            assert found(lookalike.find(vectors.astype(kind), **BANDED)) == expected
        assert found(lookalike.find(np.asfortranarray(vectors), **BANDED)) == expected

    def test_every_holder_of_the_same_vectors_gives_the_same_pairs(self, tmp_path):
        vectors = neighbours().astype(np.float32)
        lists = vectors.tolist()
        column = pa.array(lists, pa.list_(pa.float32()))
        fixed = pa.array(lists, pa.list_(pa.float64(), vectors.shape[1]))
        names = [f"v{place:03}" for place in range(len(lists))]
        expected = by_row(lookalike.find(vectors, **BANDED))
        alone = [
            *(lists, list(vectors), tuple(lists), dict(enumerate(lists)), column, fixed),
            pa.chunked_array([column[:50], column[50:]]),
            *(pd.Series(lists), pl.Series(lists), (row for row in lists)),
        ]
        for source in alone:
            assert by_row(lookalike.find(source, **BANDED)) == expected
        table = pa.table({"id": names, "v": column, "text": names})
        frames = [table, table.to_pandas(), pl.from_arrow(table)]
        for source in frames:
            result = lookalike.find(source, **BANDED, vector="v", id="id")
            assert by_row(result, names.index) == expected
        records = table.to_pylist()
        files = [write_records(tmp_path / f"a.{kind}", records) for kind in ("jsonl", "jsonl.zst")]
        pq.write_table(table, tmp_path / "a.parquet", row_group_size=17)
        for path in (*files, tmp_path / "a.parquet"):
            result = lookalike.find(path, **BANDED, vector="v")
            assert by_row(result, names.index) == expected
        np.save(tmp_path / "a.npy", vectors)
        result = lookalike.find(tmp_path / "a.npy", **BANDED)
        assert by_row(result, after_the_colon) == expected

    def test_two_files_of_vectors_are_one_corpus(self, tmp_path):
        vectors = neighbours().astype(np.float64)
        expected = by_row(lookalike.find(vectors, **BANDED))
        np.save(tmp_path / "a.npy", vectors[:70])
        np.save(tmp_path / "b.npy", vectors[70:].astype(np.float32))
        result = lookalike.find(str(tmp_path / "*.npy"), **BANDED)
        rows = by_row(result, lambda name: after_the_colon(name) + 70 * ("b.npy" in name))
        assert rows == expected

    def test_a_missing_vector_is_an_empty_document(self):
        lists = neighbours().astype(np.float64).tolist()
        expected = by_row(lookalike.find(lists, **BANDED))
        holed = [vector for row in lists for vector in (None, row)]
        result = lookalike.find(holed, **BANDED)
        assert by_row(result, lambda name: name // 2) == expected
        assert result.empty.to_pylist() == list(range(0, len(holed), 2))
        assert result.summary.empty == len(lists)
        nothing = lookalike.find([None, None], **BANDED)
        assert (nothing.pair_count, nothing.summary.empty) == (0, 2)

    @pytest.mark.parametrize(
        ("number", "message"),
        [
            (math.nan, "holds a number that is not finite"),
            (math.inf, "holds a number that is not finite"),
            (-math.inf, "holds a number that is not finite"),
            (None, "is zero and has no direction"),
        ],
    )
    @pytest.mark.parametrize("row", [40, 204])
    def test_a_vector_without_a_direction_is_refused_or_passed_over_by_name(
        self, number, message, row
    ):
        vectors = neighbours().astype(np.float64)
        bad = vectors.copy()
        bad[row, 3 if number is not None else slice(None)] = number or 0.0
        for source in (bad, bad.tolist(), dict(enumerate(bad.tolist()))):
            with pytest.raises(SourceError) as refused:
                lookalike.find(source, **BANDED)
            assert str(refused.value) == f"document {row} {message}: fix or remove it"
        result = lookalike.find(bad, **BANDED, skip_bad=True)
        assert (result.summary.bad_count, len(result.summary.bad)) == (1, 1)
        assert f"document {row} {message}" in result.summary.bad[0]
        rest = by_row(lookalike.find(vectors, **BANDED))
        assert by_row(result) == {pair: s for pair, s in rest.items() if row not in pair}
        assert any(row in pair for pair in rest)

    @pytest.mark.parametrize(
        ("number", "message"),
        [
            (math.nan, "holds a number that is not finite"),
            (math.inf, "holds a number that is not finite"),
            (-math.inf, "holds a number that is not finite"),
            (0.0, "is zero and has no direction"),
        ],
    )
    def test_a_sparse_row_without_a_direction_is_refused_or_passed_over_by_name(
        self, number, message
    ):
        rows = sparse.random_array((30, 20), density=0.3, rng=3).tolil()
        rows[4] = 0
        rows[4, 3] = number
        with pytest.raises(SourceError) as refused:
            lookalike.find(rows, **BANDED)
        assert str(refused.value) == f"document 4 {message}: fix or remove it"
        result = lookalike.find(rows, **BANDED, skip_bad=True)
        assert (result.summary.bad_count, result.summary.documents) == (1, 29)
        assert f"document 4 {message}" in result.summary.bad[0]

    def test_a_vector_of_another_length_is_refused_or_passed_over_by_name(self):
        lists = neighbours().astype(np.float64).tolist()
        lists[5] = lists[5][:9]
        message = "document 5 has 9 numbers, where the first has 24: fix or remove it"
        with pytest.raises(SourceError) as refused:
            lookalike.find(lists, **BANDED)
        assert str(refused.value) == message
        result = lookalike.find(lists, **BANDED, skip_bad=True)
        assert result.summary.bad == (message,)
        assert result.summary.documents == len(lists) - 1

    @pytest.mark.parametrize(
        "options",
        [
            {"shingle": "chars:5"},
            {"weights": "log"},
            {"ignore": "text"},
            {"max_df": 0.5},
            {"multiset": True},
            {"simhash": 3},
        ],
        ids=lambda options: next(iter(options)),
    )
    def test_what_is_for_text_is_refused(self, options):
        metric: dict[str, Any] = {} if "simhash" in options else {"metric": "cosine"}
        for source in (neighbours(), sparse.csr_array(neighbours().astype(np.float64))):
            with pytest.raises(SettingsError, match=r"^[^\n]+$"):
                lookalike.find(source, **options, **metric)

    def test_without_the_metric_it_is_said_what_to_do(self):
        for call in (lookalike.find, lookalike.dedup):
            with pytest.raises(SettingsError, match=r"^[^\n]* use metric='cosine'$"):
                call(neighbours())
        with pytest.raises(SettingsError, match=r"^[^\n]*vectors[^\n]*$"):
            lookalike.contained(neighbours())
