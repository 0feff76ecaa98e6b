"""The promises of the design kept with the cosine: each with a test that fails when broken."""

import itertools
import json
import math
import random
import subprocess
import sys
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import cosine_oracle as oracle
import lookalike
import twins
from lookalike.base.errors import QuadraticError, SettingsError
from lookalike.candidates import near_bands
from lookalike.job import compare
from lookalike.results.pairs import Sorter
from made_documents import place_of_texts
from source_files import write_records

pytestmark = pytest.mark.long

PARTS = ["har", "bour", "al", "ma", "nac", "gar", "den", "clo", "ri", "ver", "win", "ter"]
WORDS = [first + second for first in PARTS for second in PARTS]
EXACT = 1e-9
BANDED: dict[str, Any] = {"bands": 40, "rows": 8}
"""Bands as given, where it does not matter which: choosing them takes longer than all else."""


def some_texts(seed=7, originals=45):
    """Make texts with copies, edits of every weight and empty ones, in no order."""
    choice = random.Random(seed)
    texts = {}
    for i in range(originals):
        words = choice.choices(WORDS, k=choice.randint(15, 60))
        texts[f"original-{i:03}"] = " ".join(words)
        for j in range(choice.randint(0, 4)):
            edited = list(words)
            for _ in range(choice.choice([0, 0, 1, 2, 4, 8, 16])):
                edited[choice.randrange(len(edited))] = choice.choice(WORDS)
            texts[f"edit-{i:03}-{j}"] = "  ".join(edited).title()
    texts |= {"empty-1": "", "empty-2": " \n\t ", "short": "bread"}
    return shuffled(texts, seed)


def some_vectors(seed=5, originals=50, dimension=20):
    """Make vectors with neighbours, doubles and missing ones, in no order."""
    generator = np.random.default_rng(seed)
    rows = {}
    for i in range(originals):
        vector = generator.normal(size=dimension)
        rows[f"v{i:03}"] = vector.tolist()
        for j in range(generator.integers(0, 4)):
            noise = generator.normal(size=dimension) * generator.choice([0.05, 0.2, 0.5])
            rows[f"n{i:03}-{j}"] = (vector + noise).tolist()
        if i % 9 == 0:
            rows[f"d{i:03}"] = (2 * vector).tolist()
    rows |= {"m1": None, "m2": None}
    return shuffled(rows, seed)


def shuffled(documents, seed):
    names = list(documents)
    random.Random(seed).shuffle(names)
    return {name: documents[name] for name in names}


class Case:
    """Documents of a kind by name, how they are compared, and every cosine by brute force."""

    def __init__(self, documents, **options):
        self.documents = documents
        self.options = {"metric": "cosine", **options}
        self.is_text = "shingle" in options

    @cached_property
    def truth(self):
        if self.is_text:
            weights = self.options.get("weights", "counts")
            return oracle.text_pairs(self.documents, self.options["shingle"], weights, -2)
        there = {name: row for name, row in self.documents.items() if row is not None}
        return oracle.similar(oracle.unit_rows(np.array(list(there.values()))), list(there), -2)

    @cached_property
    def same(self):
        """What each document says; None where that is nothing."""
        if self.is_text:
            return {name: oracle.canonical(text) or None for name, text in self.documents.items()}
        found = dict.fromkeys(self.documents)
        there = [name for name in found if self.documents[name] is not None]
        rows = oracle.unit_rows(np.array([self.documents[name] for name in there]))
        return found | dict(zip(there, map(tuple, rows.tolist()), strict=True))

    @cached_property
    def bits(self):
        """The first bits of each document, None for an empty one."""
        how = {name: value for name, value in self.options.items() if name != "metric"}
        table = lookalike.sketch(self.documents, columns=["bits"], bits=2048, **how)
        return {
            row["id"]: row["bits"] and sum(word << 32 * i for i, word in enumerate(row["bits"]))
            for row in table.to_pylist()
        }

    def find(self, **more):
        return lookalike.find(self.documents, **self.options, **more)

    def dedup(self, **more):
        return lookalike.dedup(self.documents, **self.options, **more)


@pytest.fixture(autouse=True)
def few_slots(monkeypatch):
    """Count shingles in tables that fit so small a corpus, and in which more meet by chance."""
    monkeypatch.setattr("lookalike.text.document_frequencies.MAX_SLOT_BITS", 10)


@pytest.fixture(scope="module")
def cases():
    return {
        "text": Case(some_texts(), shingle="chars:4"),
        "tf-idf": Case(some_texts(8), shingle="words:1", weights="tf-idf"),
        "vectors": Case(some_vectors()),
    }


@pytest.fixture(params=["text", "tf-idf", "vectors"])
def case(request, cases):
    return cases[request.param]


def pairs_of(result):
    return {(row["a"], row["b"]): row["similarity"] for row in result.pairs.to_pylist()}


def removed_of(result):
    return {row["id"]: (row["kept"], row["similarity"]) for row in result.removed.to_pylist()}


PATHS = ["near", "buckets"]


def note_the_path(monkeypatch):
    """Give what will tell by which way near pairs were found, or their documents thinned."""
    taken = []
    for name in ("near_links", "links_of", "thin"):
        original = getattr(compare, name)

        def noted(*given, name=name, original=original, **options):
            result = original(*given, **options)
            if result is not None:
                taken.append(name)
            return result

        monkeypatch.setattr(compare, name, noted)
    return taken


def take_the_path(monkeypatch, path):
    """Force the way, and give what will tell that it was taken."""
    if path == "near":
        monkeypatch.setattr("lookalike.job.dedup.PAIRS_PER_DOCUMENT", 1 << 30)
    else:
        monkeypatch.setattr(compare, "find_near", lambda *_given, **_options: None)
    return note_the_path(monkeypatch)


class TestVerified:
    @pytest.mark.parametrize("threshold", [0.6, 0.8, 1.0])
    def test_every_reported_pair_carries_its_exact_cosine(self, case, threshold):
        result = case.find(threshold=threshold)
        found = pairs_of(result)
        for pair, similarity in found.items():
            assert similarity == pytest.approx(case.truth[pair], abs=EXACT)
            assert similarity >= threshold - oracle.ROUNDING
        assert set(result.pairs["score"].to_pylist()) == {"exact"}
        expected = sum(cosine > threshold + EXACT for cosine in case.truth.values())
        assert len(found) >= 0.95 * expected

    @pytest.mark.parametrize("threshold", [0.05, 0.5, 0.8, 1.0])
    def test_recall_one_finds_every_pair_and_no_other(self, case, threshold):
        found = pairs_of(case.find(threshold=threshold, recall=1))
        for pair, similarity in found.items():
            assert similarity == pytest.approx(case.truth[pair], abs=EXACT)
        # One at the very threshold may stand on either side of it.
        assert min(found.values()) >= threshold - oracle.ROUNDING
        assert {pair for pair, s in case.truth.items() if s > threshold + EXACT} <= found.keys()

    @pytest.mark.parametrize("path", PATHS)
    @pytest.mark.parametrize(
        "banding",
        [
            {"bands": 10, "rows": 12},
            {"bands": 3, "rows": 70},
            {"bands": 1, "rows": 1},
            {"cascade": "and:6 or:2 and:2 or:4"},
            {"cascade": "or:3 and:9 or:2"},
        ],
        ids=lambda banding: " ".join(map(str, banding.values())),
    )
    def test_found_is_what_shares_a_band_and_is_near_and_similar(
        self, case, banding, path, monkeypatch
    ):
        taken = take_the_path(monkeypatch, path)
        result = case.find(threshold=0.7, **banding)
        if "cascade" in banding:
            steps = [part.split(":") for part in banding["cascade"].split()]
            steps = [(name, int(size)) for name, size in steps]
            assert taken == ["links_of"]
        else:
            steps = [("and", banding["rows"]), ("or", banding["bands"])]
            assert taken == ["near_links" if path == "near" else "links_of"]
        most = result.plan.most_differing
        expected = set()
        for pair, cosine in case.truth.items():
            a, b = (case.bits[name] for name in pair)
            if a is None or b is None or cosine < 0.7:
                continue
            near = ((a ^ b) % 2**256).bit_count() <= most and agrees(a ^ b, steps)
            if near or case.same[pair[0]] == case.same[pair[1]]:
                expected.add(pair)
        assert pairs_of(result).keys() == expected
        assert len(expected) > 15

    def test_both_ways_count_what_they_compared(self, case, monkeypatch):
        counts = []
        for path in PATHS:
            with monkeypatch.context() as patched:
                taken = take_the_path(patched, path)
                result = case.find(threshold=0.9, bands=30, rows=4)
                assert len(taken) == 1
            summary = result.summary
            assert summary.candidates - summary.rejected == len(result.links)
            assert summary.rejected >= summary.dismissed > 100
            counts.append((summary.candidates - summary.dismissed, len(result.links)))
        assert counts[0] == counts[1]
        assert counts[0][0] > counts[0][1]

    def test_estimates_are_labelled_and_near_the_truth(self, case):
        result = case.find(threshold=0.6, estimate=True, **BANDED)
        labels = set()
        for row in result.pairs.to_pylist():
            pair = row["a"], row["b"]
            same = case.same[pair[0]] == case.same[pair[1]]
            assert row["score"] == ("exact" if same else "estimated")
            assert abs(row["similarity"] - case.truth[pair]) < 0.15
            assert same <= (row["similarity"] == 1.0)
            labels.add(row["score"])
        assert labels == {"exact", "estimated"}

    def test_containments_are_not_known(self, case):
        table = case.find(threshold=0.9, **BANDED).containments
        known = [row for row in table.to_pylist() if row["a_in_b"] is not None]
        assert len(table) > len(known)
        for row in known:
            assert case.same[row["a"]] == case.same[row["b"]]

    def test_empty_documents_are_told_and_in_no_pair(self, case):
        result = case.find(threshold=0.01, recall=1)
        empty = sorted(name for name, said in case.same.items() if said is None)
        assert result.empty.to_pylist() == empty
        assert len(empty) == result.summary.empty == 2
        assert not set(empty) & {name for pair in pairs_of(result) for name in pair}

    def test_clusters_are_the_connected_components_and_tell_their_weakest_link(self, case):
        result = case.find(threshold=0.75, recall=1)
        expected = oracle.components(list(pairs_of(result)))
        members, facts = {}, {}
        for row in result.clusters.to_pylist():
            members.setdefault(row["cluster"], []).append(row["id"])
            facts[row["cluster"]] = row["size"], row["similarity"]
        assert {frozenset(each) for each in members.values()} == set(expected)
        for number, each in members.items():
            weakest = min(case.truth[pair] for pair in itertools.combinations(sorted(each), 2))
            assert facts[number] == (len(each), pytest.approx(weakest, abs=EXACT))
        assert len(members) > 3


def agrees(differing, steps):
    """Evaluate a cascade on the bits in which two sketches differ."""
    size = math.prod(n for _, n in steps)
    row = [differing >> place & 1 for place in range(size)]
    return twins.cascade_holds(row, [0] * size, steps)


class TestDeterministic:
    def as_bytes(self, result):
        return json.dumps([table.to_pylist() for table in (result.pairs, result.clusters)])

    def test_threads_pieces_and_order_change_nothing(self, case, monkeypatch):
        expected = self.as_bytes(case.find(threads=1, **BANDED))
        for threads, piece, seed in [(2, 1 << 20, 1), (3, 500, 2), (1, 90, 3)]:
            for module in (
                "job.canonical_parts",
                "job.sketch",
                "text.shingles",
                "text.weighted_shingles",
            ):
                monkeypatch.setattr(f"lookalike.{module}.PIECE_BYTES", piece)
            for module in ("score.jaccard", "score.cosine"):
                monkeypatch.setattr(f"lookalike.{module}.PIECE_PAIRS", 7 * threads)
            monkeypatch.setattr("lookalike.score.jaccard.PIECE_BYTES", 100 * piece)
            for module in ("candidates.buckets", "job.sketch"):
                monkeypatch.setattr(f"lookalike.{module}.BLOCK_DOCUMENTS", 50 * seed)
            monkeypatch.setattr("lookalike.sketches.hyperplanes.BATCH_DOCUMENTS", seed)
            monkeypatch.setattr(near_bands, "BLOCK_PAIRS", 10 * seed)
            monkeypatch.setattr(compare, "BLOCK_PAIRS", 150 * seed)
            other = Case(shuffled(case.documents, seed))
            other.options = case.options
            assert self.as_bytes(other.find(threads=threads, **BANDED)) == expected

    def test_the_plan_does_not_depend_on_threads_or_order(self, case):
        one = case.find(threads=1)
        other = Case(shuffled(case.documents, 4))
        other.options = case.options
        two = other.find(threads=3)
        assert one.plan.cascade == two.plan.cascade
        assert one.settings.fingerprint() == two.settings.fingerprint()
        assert self.as_bytes(one) == self.as_bytes(two)

    @pytest.mark.parametrize(
        "options", [{"recall": 1}, {"estimate": True, **BANDED}], ids=["recall", "estimate"]
    )
    def test_the_ways_of_comparing_do_not_depend_on_order(self, case, options, monkeypatch):
        expected = self.as_bytes(case.find(threshold=0.7, **options))
        monkeypatch.setattr("lookalike.candidates.exact_join.TILE_VECTORS", 7)
        other = Case(dict(reversed(case.documents.items())))
        other.options = case.options
        assert self.as_bytes(other.find(threshold=0.7, threads=1, **options)) == expected

    def test_both_ways_find_the_same(self, case, monkeypatch):
        found = []
        for path in PATHS:
            with monkeypatch.context() as patched:
                taken = take_the_path(patched, path)
                found.append(self.as_bytes(case.find(threshold=0.6, **BANDED)))
            assert taken == ["near_links" if path == "near" else "links_of"]
        assert found[0] == found[1]

    def test_another_process_finds_the_same(self, cases, tmp_path):
        for name, case in cases.items():
            (tmp_path / f"{name}.json").write_text(
                json.dumps([case.documents, {**case.options, **BANDED}])
            )
        code = (
            "import json, sys, lookalike\n"
            "for path in sys.argv[1:]:\n"
            "    documents, options = json.load(open(path))\n"
            "    r = lookalike.find(documents, threads=1, **options)\n"
            "    print(json.dumps([r.pairs.to_pylist(), r.clusters.to_pylist()]))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *(str(tmp_path / f"{name}.json") for name in cases)],
            env={"PYTHONHASHSEED": "12345", "PATH": ""},
            capture_output=True,
            check=True,
        )
        expected = [self.as_bytes(case.find(**BANDED)) for case in cases.values()]
        assert done.stdout.decode().splitlines() == expected

    def test_other_seeds_find_the_same_above_the_threshold_but_by_other_bits(self, case):
        results = [case.find(threshold=0.9, bands=60, rows=5, seed=seed) for seed in (1, 2)]
        assert pairs_of(results[0]) == pairs_of(results[1])
        assert results[0].summary.candidates != results[1].summary.candidates


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Let jobs run in no memory, with temporary files in a folder of the test's own."""
    monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
    monkeypatch.setattr("lookalike.job.canonical_parts.MEMORY_PER_BYTE", {"text": 0, "vectors": 0})
    monkeypatch.setattr(
        "lookalike.results.documents.Sorter", lambda column, _run_pairs: Sorter(column, 7)
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


class TestBounded:
    @pytest.mark.parametrize(
        ("options", "memory"),
        [
            *((BANDED, 1000), (BANDED, 30_000)),
            *(({"estimate": True, **BANDED}, 1000), ({"cascade": "and:4 or:2 and:2 or:8"}, 1000)),
        ],
        ids=["bands", "near bands", "estimate", "cascade"],
    )
    def test_results_are_the_same_where_nothing_fits_in_memory(
        self, case, tiny, options, memory, monkeypatch
    ):
        expected = case.find(threshold=0.8, **options)
        with monkeypatch.context() as patched:
            # In 1,000 bytes there is no room for pairs either; in 30,000 there is.
            patched.setattr(compare, "NEAR_BYTES_PER_PAIR", 1 if memory > 1000 else 200)
            taken = note_the_path(patched)
            result = case.find(threshold=0.8, memory=memory, **options)
        (folder,) = tiny.iterdir()
        assert taken == ["near_links" if memory > 1000 and options is BANDED else "links_of"]
        assert place_of_texts(result) == folder / "read.texts"
        for name in ("pairs", "clusters", "containments"):
            assert getattr(result, name).equals(getattr(expected, name))
        assert result.empty.equals(expected.empty)
        assert result.top(9).equals(expected.top(9))
        for each in (result, expected):
            assert each.summary.candidates - each.summary.rejected == len(expected.links)
        del result
        assert not folder.exists()

    @pytest.mark.parametrize(("keep", "path"), [("longest", "near"), ("first", "buckets")])
    def test_dedup_is_the_same_where_nothing_fits_in_memory(
        self, case, tiny, keep, path, monkeypatch
    ):
        expected = case.dedup(threshold=0.8, keep=keep, **BANDED)
        taken = take_the_path(monkeypatch, path)
        if path == "near":
            monkeypatch.setattr(compare, "NEAR_BYTES_PER_PAIR", 1)
            monkeypatch.setattr("lookalike.job.dedup.STAR_BYTES_PER_PAIR", 1)
        result = case.dedup(threshold=0.8, keep=keep, memory=30_000, **BANDED)
        assert taken == ["near_links" if path == "near" else "thin"]
        assert place_of_texts(result).is_relative_to(tiny)
        assert result.removed.equals(expected.removed)
        assert result.clusters.equals(expected.clusters)
        assert result.kept == expected.kept

    def test_recall_1_says_what_it_would_hold_in_memory(self, case, monkeypatch):
        monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
        with pytest.raises(
            SettingsError, match=r"^recall=1 holds every [^\n]+ raise memory=[^\n]+$"
        ):
            case.find(recall=1, memory=20_000)

    def template(self, kind, documents):
        """Make near copies of one document."""
        if kind == "text":
            sentence = "the harbour master wrote the heights of the tide in a ledger on every day"
            return [f"{sentence} {number:06}" for number in range(documents)]
        generator = np.random.default_rng(2)
        return generator.normal(size=32) + 0.02 * generator.normal(size=(documents, 32))

    @pytest.mark.parametrize("kind", ["text", "vectors"])
    def test_near_copies_of_one_document_make_work_in_proportion(self, kind, monkeypatch):
        counted_pairs = []
        kernels = near_bands.kernels  # type: ignore[attr-defined]
        search = kernels.near_in_buckets

        def counted(*given):
            state, before = given[-2], int(given[-2][2])
            written = search(*given)
            counted_pairs.append(int(state[2]) - before)
            return written

        monkeypatch.setattr(kernels, "near_in_buckets", counted)
        options: dict[str, Any] = {
            "metric": "cosine",
            "threshold": 0.8,
            "bands": 20,
            "rows": 4,
            "threads": 1,
        }
        if kind == "text":
            options["shingle"] = "words:2"
        taken = note_the_path(monkeypatch)
        counts = []
        for documents in (3000, 6000):
            counted_pairs.clear()
            result = lookalike.dedup(self.template(kind, documents), **options)
            assert len(result.kept) == 1
            assert result.summary.candidates <= 12 * documents
            counts.append(result.summary.candidates)
            # So many pairs that are near, and what one more room holds, are seen to be too many.
            assert sum(counted_pairs) <= 16 * documents + 2 * near_bands.BLOCK_PAIRS
        assert taken == ["thin", "thin"]
        assert counts[1] < 2.5 * counts[0]

    def test_no_bucket_is_dropped(self, monkeypatch):
        vectors = self.template("vectors", 400)
        expected = set(itertools.combinations(range(400), 2))
        for path in PATHS:
            with monkeypatch.context() as patched:
                take_the_path(patched, path)
                result = lookalike.find(vectors, metric="cosine", bands=6, rows=1)
            assert pairs_of(result).keys() == expected
        identical = lookalike.find(
            [[1.0, 2.0]] * 300 + [[2.0, 1.0]], metric="cosine", threshold=0.9
        )
        assert identical.pair_count == 300 * 299 // 2

    def test_buckets_that_are_too_full_are_refused_and_not_dropped(self, monkeypatch):
        monkeypatch.setattr("lookalike.candidates.buckets.MIN_PAIRS_LIMIT", 500)
        monkeypatch.setattr("lookalike.candidates.buckets.PAIRS_PER_DOCUMENT", 1)
        monkeypatch.setattr(compare, "MIN_PAIRS_LIMIT", 500)
        monkeypatch.setattr(compare, "PAIRS_PER_DOCUMENT", 1)
        vectors = np.random.default_rng(3).normal(size=(200, 8))
        options: dict[str, Any] = {"metric": "cosine", "threshold": 0.99, "bands": 1, "rows": 1}
        with pytest.raises(QuadraticError, match=r"^[^\n]+$"):
            lookalike.find(vectors, **options)
        assert len(lookalike.dedup(vectors, **options).kept) == 200


KEEP = ["first", "last", "longest", "shortest"]


def preferred(case, keep):
    """Sort the names by a policy, equals by name."""
    names = list(case.documents)
    if keep in ("first", "last"):
        return names if keep == "first" else names[::-1]
    sign = -1 if keep == "longest" else 1
    return sorted(names, key=lambda name: (sign * len(case.documents[name] or ""), name))


class TestNothingLost:
    @pytest.mark.parametrize(
        ("keep", "path"), list(zip(KEEP, ["near", "buckets"] * 2, strict=True))
    )
    def test_every_removed_document_names_a_kept_one_with_their_cosine(
        self, case, keep, path, monkeypatch
    ):
        before = dict(case.documents)
        taken = take_the_path(monkeypatch, path)
        result = case.dedup(keep=keep, threshold=0.8, **BANDED)
        assert taken == ["near_links" if path == "near" else "thin"]
        assert case.documents == before
        kept, removed = set(result.kept), removed_of(result)
        assert kept == set(result.kept_ids.to_pylist())
        assert kept | removed.keys() == case.documents.keys()
        assert len(kept) + len(removed) == len(case.documents)
        assert len(removed) > 20
        for name, (other, similarity) in removed.items():
            assert other in kept
            truth = case.truth[tuple(sorted([name, other]))]
            assert similarity == pytest.approx(truth, abs=EXACT)
            assert similarity >= 0.8 - oracle.ROUNDING
        empty = {name for name, said in case.same.items() if said is None}
        assert empty <= kept

    @pytest.mark.parametrize(
        ("keep", "threshold"), [("first", 0.6), ("last", 0.9), ("longest", 0.8), ("shortest", 0.7)]
    )
    def test_it_is_the_greedy_choice_among_all_pairs_by_every_path(
        self, case, keep, threshold, monkeypatch
    ):
        for path, banding in (("near", BANDED), ("buckets", BANDED), ("near", {"recall": 1})):
            with monkeypatch.context() as patched:
                take_the_path(patched, path)
                pairs = pairs_of(case.find(threshold=threshold, **banding))
                result = case.dedup(keep=keep, threshold=threshold, **banding)
            kept, removed = oracle.greedy(preferred(case, keep), case.same, pairs)
            assert set(result.kept) == kept
            assert removed_of(result) == removed

    @pytest.mark.parametrize("sizes", [(7, 2, 1), (16, 1, 0), (1, 1, 1)])
    def test_stretches_of_every_size_keep_the_same(self, case, sizes, monkeypatch):
        expected = case.dedup(threshold=0.7, **BANDED).removed
        for name, value in zip(
            ("BATCH_DOCUMENTS", "SMALL_BATCH_DOCUMENTS", "PAIRS_PER_DOCUMENT"), sizes, strict=True
        ):
            monkeypatch.setattr(f"lookalike.cluster.thinning.{name}", value)
        taken = take_the_path(monkeypatch, "buckets")
        assert case.dedup(threshold=0.7, **BANDED).removed.equals(expected)
        assert taken == ["thin"]

    def test_few_pairs_are_chosen_from_at_once_and_many_are_thinned(self, case, monkeypatch):
        taken = note_the_path(monkeypatch)
        found = []
        for few in (1000, 0):
            monkeypatch.setattr("lookalike.job.dedup.PAIRS_PER_DOCUMENT", few)
            found.append(case.dedup(threshold=0.7, **BANDED).removed)
        assert found[0].equals(found[1])
        assert taken == ["near_links", "thin"]

    @pytest.mark.parametrize("path", PATHS)
    def test_no_reference_is_removed_and_all_that_is_similar_to_one_goes(
        self, case, path, monkeypatch
    ):
        take_the_path(monkeypatch, path)
        names = list(case.documents)
        held = {f"r-{name}": case.documents[name] for name in names[::5]}
        rest = {name: case.documents[name] for name in names if name not in names[:20:5]}
        result = lookalike.dedup(rest, against=held, threshold=0.8, **BANDED, **case.options)
        together = Case({**held, **rest})
        together.options, together.is_text = case.options, case.is_text
        pairs = {
            pair: similarity
            for pair, similarity in pairs_of(together.find(threshold=0.8, **BANDED)).items()
            if not all(name in held for name in pair)
        }
        kept, removed = oracle.greedy(list(together.documents), together.same, pairs)
        assert set(result.kept) == kept - held.keys()
        gone = {name: named for name, named in removed.items() if name not in held}
        assert removed_of(result) == gone
        assert {name for name, _ in gone.values()} & held.keys()
        assert list(result.kept) == [name for name in rest if name in kept]

    def test_dedup_of_its_own_output_removes_nothing(self, cases):
        for name in ("text", "vectors"):
            once = cases[name].dedup(threshold=0.7, **BANDED)
            again = lookalike.dedup(once.kept, threshold=0.7, **BANDED, **cases[name].options)
            assert len(again.removed) == 0
            assert again.kept == once.kept

    def test_what_is_kept_comes_in_the_kind_of_the_source(self, cases):
        rows = [row for row in cases["vectors"].documents.values() if row is not None]
        array = np.array(rows)
        kept = lookalike.dedup(rows, metric="cosine", **BANDED).kept_rows
        assert 20 < len(kept) < len(rows)
        options: dict[str, Any] = {"metric": "cosine", **BANDED}
        assert lookalike.dedup(rows, **options).kept == [rows[row] for row in kept]
        found = lookalike.dedup(array.astype(np.float32), **options).kept
        assert found.dtype == np.float32
        assert np.array_equal(found, array[kept].astype(np.float32))
        table = pa.table({"id": range(len(rows)), "v": rows, "n": range(len(rows))})
        result = lookalike.dedup(table, vector="v", keep="max:n", **options)
        assert result.kept.equals(table.take(result.kept_rows))
        assert len(rows) - 1 in result.kept["n"].to_pylist()
        matrix = sparse.csr_array(array)
        result = lookalike.dedup(matrix, **options)
        assert np.array_equal(result.kept.toarray(), array[result.kept_rows])


def texts_and_how():
    """Draw a few short texts, and how they are shingled and weighed."""
    texts = st.lists(
        st.text(st.sampled_from("ab é中。 \n"), max_size=12)
        | st.sampled_from(["abab ab", "ABAB  ab", "ab ab ab b"]),
        max_size=10,
    )
    units = st.sampled_from(["chars", "words"])
    return st.tuples(texts, units, st.integers(1, 4), st.sampled_from([None, *oracle.WEIGHTS]))


class TestSmall:
    @given(drawn=texts_and_how(), threshold=st.sampled_from([0.2, 1 / 3, 0.5, 0.8, 1.0]))
    def test_corpora_of_any_kind_are_answered_exactly(self, drawn, threshold):
        texts, unit, k, weights = drawn
        how = f"{unit}:{k}"
        said = [oracle.canonical(text) for text in texts]
        weighted_sets = oracle.weigh(
            [oracle.shingles(text, how) for text in texts], weights or "counts", said
        )
        expected = {
            (a, b): 1.0 if said[a] == said[b] else oracle.cosine(weighted_sets[a], weighted_sets[b])
            for a, b in itertools.combinations(range(len(texts)), 2)
            if weighted_sets[a] and weighted_sets[b]
        }
        result = lookalike.find(
            texts, threshold=threshold, recall=1, metric="cosine", shingle=how, weights=weights
        )
        found = pairs_of(result)
        for pair, similarity in found.items():
            assert similarity == pytest.approx(expected[pair], abs=EXACT)
        # Of counts and ones the sums are exact: a pair at the very threshold is one.
        margin = EXACT if weights in ("log", "tf-idf") else 0
        assert {pair for pair, s in expected.items() if s >= threshold + margin} <= found.keys()
        assert all(expected[pair] >= threshold - EXACT for pair in found)
        assert result.empty.to_pylist() == [
            i for i, weighted_set in enumerate(weighted_sets) if not weighted_set
        ]

    @given(
        rows=st.lists(
            st.none() | st.lists(st.integers(-2, 3), min_size=3, max_size=3).filter(any), max_size=9
        ),
        threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    )
    def test_vectors_of_any_kind_are_answered_exactly(self, rows, threshold):
        there = [place for place, row in enumerate(rows) if row is not None]
        expected = {}
        if there:
            units = oracle.unit_rows(np.array([rows[place] for place in there]))
            expected = oracle.similar(units, there, -2)
        result = lookalike.find(rows, threshold=threshold, recall=1, metric="cosine")
        found = pairs_of(result)
        for pair, similarity in found.items():
            assert similarity == pytest.approx(expected[pair], abs=EXACT)
            assert similarity >= threshold - oracle.ROUNDING
        assert {pair for pair, s in expected.items() if s > threshold + EXACT} <= found.keys()
        assert result.empty.to_pylist() == [i for i, row in enumerate(rows) if row is None]

    @given(drawn=texts_and_how(), a=st.integers(0, 9), b=st.integers(0, 9))
    def test_two_texts_are_compared_exactly(self, drawn, a, b):
        texts, unit, k, weights = drawn
        first, second = (dict(enumerate(texts)).get(place, "ab b") for place in (a, b))
        how = f"{unit}:{k}"
        if weights == "tf-idf":
            with pytest.raises(SettingsError, match="two texts alone have none"):
                lookalike.compare(first, second, shingle=how, metric="cosine", weights=weights)
            return
        weighted_sets = oracle.weigh(
            [oracle.shingles(text, how) for text in (first, second)], weights or "counts"
        )
        found = lookalike.compare(first, second, shingle=how, metric="cosine", weights=weights)
        assert found.similarity == pytest.approx(oracle.cosine(*weighted_sets), abs=1e-12)
        assert found.shingles == tuple(map(len, weighted_sets))

    @pytest.mark.parametrize(
        ("source", "threshold"),
        [
            (["a b c d e", "a b c d f"], 0.8),
            (["a b", "b c"], 0.5),
            (["tea for two", "two for tea"], 1.0),
            ([[5, 0], [3, 4]], 0.6),
            ([[3, 4], [4, 3]], 0.96),
        ],
    )
    @pytest.mark.parametrize("options", [{"recall": 1}, {"bands": 600, "rows": 2}], ids=str)
    def test_a_pair_at_the_very_threshold_is_one(self, source, threshold, options):
        if isinstance(source[0], str):
            options = {"shingle": "words:1", **options}
        result = lookalike.find(source, metric="cosine", threshold=threshold, **options)
        assert pairs_of(result) == {(0, 1): pytest.approx(threshold, abs=oracle.ROUNDING)}
        above = min(1.0, threshold + 1e-6)
        result = lookalike.find(source, metric="cosine", threshold=above, **options)
        assert result.pair_count == (threshold == 1)

    def test_tokens_are_weighed_by_their_counts(self, tmp_path):
        tokens = [["a", "a", "b"], ["a", "b"], ["b", "a", "a"], [], ["A", "c"]]
        records = [{"id": place, "text": each} for place, each in enumerate(tokens)]
        path = write_records(tmp_path / "tokens.jsonl", records)
        weighted_sets = oracle.weigh(tokens, "counts")
        for weights, expected in (
            ("counts", oracle.cosine(weighted_sets[0], weighted_sets[1])),
            ("binary", 1.0),
        ):
            result = lookalike.find(path, metric="cosine", weights=weights, threshold=0.5, recall=1)
            similar = pytest.approx(expected, abs=EXACT)
            assert pairs_of(result) == {(0, 1): similar, (0, 2): 1.0, (1, 2): similar}
            assert result.empty.to_pylist() == [3]

    @pytest.mark.parametrize("source", [[], [""], ["one"], ["one", "one"], [None, None]])
    @pytest.mark.parametrize("options", [{}, {"recall": 1}, {"estimate": True}, BANDED])
    def test_next_to_nothing_is_answered(self, source, options):
        result = lookalike.find(source, metric="cosine", **options)
        assert result.pair_count == (source == ["one", "one"])
        kept = lookalike.dedup(source, metric="cosine", **BANDED).kept
        assert kept == (source if source != ["one", "one"] else ["one"])

    @pytest.mark.parametrize("rows", [0, 1, 2])
    @pytest.mark.parametrize("options", [{}, {"recall": 1}, {"estimate": True}, BANDED])
    def test_next_to_no_vectors_are_answered(self, rows, options):
        array = np.ones((rows, 3))
        for source in (array, sparse.csr_array(array)):
            result = lookalike.find(source, metric="cosine", **options)
            assert result.pair_count == (rows == 2)
            assert lookalike.dedup(source, metric="cosine", **BANDED).kept.shape[0] == min(rows, 1)

    def test_what_is_ignored_has_no_weight(self):
        texts = [
            "all rights reserved tea",
            "all rights reserved milk",
            "all rights reserved",
            "tea",
        ]
        options: dict[str, Any] = {
            "metric": "cosine",
            "shingle": "words:1",
            "threshold": 0.7,
            "recall": 1,
        }
        assert len(pairs_of(lookalike.find(texts, **options))) == 3
        for less in ({"ignore": "All rights reserved"}, {"max_df": 0.6}):
            assert pairs_of(lookalike.find(texts, **options, **less)) == {(0, 3): 1.0}
