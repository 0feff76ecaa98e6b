"""The promises of the design, each with a test that fails when it is broken."""

import itertools
import json
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike
import twins
from lookalike.job import compare
from lookalike.learn import textbook
from lookalike.results.pairs import LINK, Sorter
from made_documents import place_of_texts

pytestmark = pytest.mark.long

WORDS = """
    harbour almanac bread garden clock river winter market lantern ferry stone orchard letter
    window morning bridge copper violin thunder meadow pepper captain island candle wheel
""".split()  # noqa: SIM905 (a list of words reads best as words)


def corpus(seed: int = 7, originals: int = 60) -> dict[str, str]:
    """Make documents with copies, edits of every weight, quotations and empty ones."""
    choice = random.Random(seed)
    texts = {}
    for i in range(originals):
        words = choice.choices(WORDS, k=choice.randint(20, 120))
        texts[f"original-{i:03}"] = " ".join(words)
        for j in range(choice.randint(0, 4)):
            edited = list(words)
            for _ in range(choice.choice([0, 0, 1, 2, 4, 8, 16])):
                edited[choice.randrange(len(edited))] = choice.choice(WORDS)
            texts[f"edit-{i:03}-{j}"] = "  ".join(edited).title()
    texts |= {"empty-1": "", "empty-2": " \n\t ", "short": "bread"}
    names = list(texts)
    choice.shuffle(names)
    return {name: texts[name] for name in names}


def exact_pairs(texts: dict[str, str], k: int, threshold: float) -> dict[tuple[str, str], float]:
    """Compare every pair, by the slow twin."""
    sets = {
        name: twins.elements(twins.char_hashes(twins.canonical(text), k), multiset=False)
        for name, text in texts.items()
    }
    found = {}
    for a, b in itertools.combinations(sorted(texts), 2):
        similarity = float(twins.jaccard(sets[a], sets[b]))
        if similarity >= threshold:
            found[a, b] = similarity
    return found


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return corpus()


@pytest.fixture(scope="module")
def answers(texts) -> dict[tuple[str, str], float]:
    return exact_pairs(texts, 5, 0.0001)


def pairs_of(result: lookalike.FindResult) -> dict[tuple[Any, Any], float]:
    return {(row["a"], row["b"]): row["similarity"] for row in result.pairs.to_pylist()}


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95, 1.0])
def test_every_reported_pair_carries_its_exact_similarity(texts, answers, threshold):
    result = lookalike.find(texts, threshold=threshold, shingle="chars:5")
    for pair, similarity in pairs_of(result).items():
        assert similarity == answers[pair]
        assert similarity >= threshold
    assert set(result.pairs["score"].to_pylist()) <= {"exact"}


def test_candidates_below_the_threshold_are_rejected_and_counted(texts):
    result = lookalike.find(texts, threshold=0.8, shingle="chars:5", bands=50, rows=1)
    assert result.summary.rejected > 100
    assert result.summary.candidates == result.summary.rejected + len(result.links)
    assert min(pairs_of(result).values()) >= 0.8


def test_estimates_are_labelled_and_near_the_truth(texts, answers):
    result = lookalike.find(texts, threshold=0.5, shingle="chars:5", estimate=True)
    rows = result.pairs.to_pylist()
    identical = {"exact"}
    for row in rows:
        true = answers[row["a"], row["b"]]
        same = twins.canonical(texts[row["a"]]) == twins.canonical(texts[row["b"]])
        assert row["score"] == ("exact" if same else "estimated")
        assert abs(row["similarity"] - true) < 0.25
        identical |= {row["score"]}
    assert identical == {"exact", "estimated"}


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9])
def test_the_stated_recall_is_kept_over_many_seeds(texts, answers, threshold):
    near = {pair for pair, s in answers.items() if threshold <= s < threshold + 0.05}
    asked, found, total = 0.9, 0, 0
    for seed in range(30):
        result = lookalike.find(
            texts, threshold=threshold, recall=asked, shingle="chars:5", seed=seed
        )
        found += len(near & set(pairs_of(result)))
        total += len(near)
    assert total > 100
    # Three standard deviations of chance below what was asked for.
    assert found / total >= asked - 3 * (asked * (1 - asked) / total) ** 0.5


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.8, 1.0])
def test_recall_one_finds_every_pair_and_no_other(texts, answers, threshold):
    result = lookalike.find(texts, threshold=threshold, shingle="chars:5", recall=1)
    expected = {pair: s for pair, s in answers.items() if s >= threshold}
    assert pairs_of(result) == expected


def as_bytes(result: lookalike.FindResult) -> bytes:
    tables = result.pairs, result.clusters
    return json.dumps([table.to_pylist() for table in tables]).encode()


def test_results_are_the_same_for_any_threads_pieces_and_order(texts, monkeypatch):
    expected = as_bytes(lookalike.find(texts, threads=1))
    for threads, piece, seed in [(2, 1 << 20, 1), (5, 300, 2), (1, 1, 3), (3, 5000, 4)]:
        for module in (
            "job.canonical_parts",
            "job.sketch",
            "text.shingles",
            "sketches.minhash",
            "candidates.identical",
        ):
            monkeypatch.setattr(f"lookalike.{module}.PIECE_BYTES", piece)
        monkeypatch.setattr("lookalike.score.jaccard.PIECE_PAIRS", 7 * threads)
        monkeypatch.setattr("lookalike.score.jaccard.PIECE_BYTES", 100 * piece)
        for module in ("candidates.buckets", "job.sketch"):
            monkeypatch.setattr(f"lookalike.{module}.BLOCK_DOCUMENTS", 50 * seed)
        names = list(texts)
        random.Random(seed).shuffle(names)
        shuffled = {name: texts[name] for name in names}
        assert as_bytes(lookalike.find(shuffled, threads=threads)) == expected


@pytest.mark.parametrize("block", [1, 3, 1000])
def test_results_are_the_same_for_any_block_of_candidates(texts, monkeypatch, block):
    expected = as_bytes(lookalike.find(texts, threshold=0.5))
    candidate_blocks = compare.candidate_blocks  # type: ignore[attr-defined]
    monkeypatch.setattr(
        compare,
        "candidate_blocks",
        lambda *given, **options: candidate_blocks(*given, **options, block=block),
    )
    assert as_bytes(lookalike.find(texts, threshold=0.5)) == expected


TINY = 1000
"""Bytes of memory in which nothing fits."""


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """Let jobs run in no memory, with temporary files in a folder of the test's own."""
    monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
    monkeypatch.setattr("lookalike.job.canonical_parts.MEMORY_PER_BYTE", {"text": 0})
    monkeypatch.setattr(
        "lookalike.results.documents.Sorter", lambda column, _run_pairs: Sorter(column, 7)
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def same_tables(result: lookalike.FindResult, expected: lookalike.FindResult) -> None:
    for name in ("pairs", "clusters", "containments"):
        assert getattr(result, name).equals(getattr(expected, name))
    assert result.empty.equals(expected.empty)
    assert result.top(9).equals(expected.top(9))
    # A chance pair that a sweep dismisses counts in each band that it meets in.
    found, known = result.summary, expected.summary
    assert found.candidates - found.dismissed == known.candidates - known.dismissed
    assert found.rejected - found.dismissed == known.rejected - known.dismissed


@pytest.mark.parametrize("options", [{}, {"estimate": True}, {"cascade": "or:4 and:2 or:6"}])
def test_results_are_the_same_where_nothing_fits_in_memory(texts, tiny, options):
    expected = lookalike.find(texts, threshold=0.5, **options)
    result = lookalike.find(texts, threshold=0.5, memory=TINY, **options)
    (folder,) = tiny.iterdir()
    assert place_of_texts(result) == folder / "read.texts"
    same_tables(result, expected)
    files = {file.name for file in tiny.rglob("*")}
    assert {"read.texts", "read.ids.utf8", "compare.links", "pairs"} <= files
    del result, expected
    assert not list(tiny.iterdir())


def test_links_that_grow_too_many_move_all_to_disk(texts, tiny):
    options: dict[str, Any] = {"threshold": 0.2, "shingle": "chars:3", "recall": 0.9}
    expected = lookalike.find(texts, **options)
    # The texts fit in a fourth of the memory; the links do not fit in an eighth.
    memory = 5 * sum(len(text) for text in texts.values())
    assert len(expected.links) * LINK.itemsize > memory // 8
    result = lookalike.find(texts, memory=memory, **options)
    assert place_of_texts(result).is_relative_to(tiny)
    same_tables(result, expected)


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_dedup_is_the_same_where_nothing_fits_in_memory(texts, tiny, keep):
    expected = lookalike.dedup(texts, threshold=0.5, keep=keep)
    result = lookalike.dedup(texts, threshold=0.5, keep=keep, memory=TINY)
    assert place_of_texts(result).is_relative_to(tiny)
    assert result.removed.equals(expected.removed)
    assert result.clusters.equals(expected.clusters)
    assert result.kept == expected.kept


def test_results_are_the_same_in_another_process(texts, tmp_path):
    source = tmp_path / "texts.json"
    source.write_text(json.dumps(texts))
    code = (
        "import json, sys, lookalike\n"
        "r = lookalike.find(json.load(open(sys.argv[1])), threads=1)\n"
        "print(json.dumps([r.pairs.to_pylist(), r.clusters.to_pylist()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(source)],
        env={"PYTHONHASHSEED": "12345", "PATH": ""},
        capture_output=True,
        check=True,
    )
    assert done.stdout.strip() == as_bytes(lookalike.find(texts))


KEEP = ["first", "last", "longest", "shortest"]


@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_nothing_is_lost_by_dedup(texts, answers, keep, threshold):
    before = dict(texts)
    result = lookalike.dedup(texts, keep=keep, threshold=threshold, shingle="chars:5")
    assert texts == before
    kept, removed = set(result.kept), result.removed.to_pylist()
    assert kept == set(result.kept_ids.to_pylist())
    assert kept | {row["id"] for row in removed} == set(texts)
    assert len(kept) + len(removed) == len(texts)
    for row in removed:
        assert row["kept"] in kept
        assert answers[tuple(sorted([row["id"], row["kept"]]))] == row["similarity"] >= threshold
    assert {"empty-1", "empty-2"} <= kept


@pytest.mark.parametrize("keep", ["longest", "shortest"])
def test_what_is_removed_does_not_depend_on_the_order_of_input(texts, keep):
    backwards = dict(reversed(texts.items()))
    removed = [lookalike.dedup(each, keep=keep).removed for each in (texts, backwards)]
    assert removed[0].equals(removed[1])


@pytest.mark.parametrize("keep", KEEP)
def test_every_cluster_keeps_one_and_every_component_at_least_one(texts, keep):
    result = lookalike.dedup(texts, keep=keep, threshold=0.6)
    found = lookalike.find(texts, threshold=0.6)
    kept = set(result.kept)
    stars, components = {}, {}
    for clusters, table in ((stars, result.clusters), (components, found.clusters)):
        for row in table.to_pylist():
            clusters.setdefault(row["cluster"], set()).add(row["id"])
        assert len(clusters) > 20
    assert {len(members & kept) for members in stars.values()} == {1}
    assert all(members & kept for members in components.values())


def test_dedup_of_its_own_output_removes_nothing(texts):
    options: dict[str, Any] = {"threshold": 0.7, "shingle": "chars:5", "bands": 20, "rows": 4}
    once = lookalike.dedup(texts, **options)
    twice = lookalike.dedup(once.kept, **options)
    assert len(twice.removed) == 0
    assert twice.kept == once.kept


def test_dedup_equals_the_greedy_twin(texts, answers):
    result = lookalike.dedup(texts, threshold=0.5, shingle="chars:5", recall=1, keep="longest")
    order = sorted(texts, key=lambda name: (-len(texts[name]), name))
    neighbours = {name: {} for name in texts}
    for (a, b), similarity in answers.items():
        if similarity >= 0.5:
            neighbours[a][b] = neighbours[b][a] = similarity
    kept, removed = twins.star(order, neighbours)
    assert set(result.kept) == set(kept)
    named = {row["id"]: (row["kept"], row["similarity"]) for row in result.removed.to_pylist()}
    assert {name: s for name, (_, s) in named.items()} == {n: s for n, (_, s) in removed.items()}
    assert named == removed


def test_clusters_are_the_connected_components_and_tell_their_weakest_link(texts, answers):
    result = lookalike.find(texts, threshold=0.6, shingle="chars:5", recall=1)
    names = sorted(texts)
    place = {name: i for i, name in enumerate(names)}
    links = [(place[a], place[b]) for (a, b), s in answers.items() if s >= 0.6]
    expected = {
        frozenset(names[i] for i in part)
        for part in twins.components(len(names), links)
        if len(part) > 1
    }
    members, facts = {}, {}
    for row in result.clusters.to_pylist():
        members.setdefault(row["cluster"], []).append(row["id"])
        facts[row["cluster"]] = row["size"], row["similarity"]
    assert {frozenset(each) for each in members.values()} == expected
    for number, each in members.items():
        weakest = min(answers.get(pair, 0.0) for pair in itertools.combinations(sorted(each), 2))
        assert facts[number] == (len(each), weakest)
    sizes = [facts[number][0] for number in sorted(facts)]
    assert sizes == sorted(sizes, reverse=True)
    assert sorted(facts) == list(range(1, len(facts) + 1))


TEXTS = st.lists(
    st.text(st.sampled_from("ab é中。 \n"), max_size=12) | st.sampled_from(["abab ab", "ABAB  ab"]),
    max_size=12,
)


@given(
    texts=TEXTS,
    k=st.integers(1, 4),
    unit=st.sampled_from(["chars", "words"]),
    multiset=st.booleans(),
    threshold=st.sampled_from([0.2, 1 / 3, 0.5, 0.75, 0.8, 1.0]),
)
def test_small_corpora_of_any_kind_are_answered_exactly(texts, k, unit, multiset, threshold):
    hashes = twins.char_hashes if unit == "chars" else twins.word_hashes
    sets = [twins.elements(hashes(twins.canonical(text), k), multiset) for text in texts]
    expected = {
        (a, b): float(twins.jaccard(sets[a], sets[b]))
        for a, b in itertools.combinations(range(len(texts)), 2)
        if sets[a] and sets[b] and float(twins.jaccard(sets[a], sets[b])) >= threshold
    }
    result = lookalike.find(
        texts, threshold=threshold, recall=1, shingle=f"{unit}:{k}", multiset=multiset
    )
    assert pairs_of(result) == expected
    assert result.pair_count == len(expected)
    assert result.empty.to_pylist() == [i for i, each in enumerate(sets) if not each]


def test_the_fast_path_says_what_the_textbook_says(sample_documents):
    texts = {
        path.relative_to(sample_documents).as_posix(): path.read_text()
        for path in sorted(sample_documents.rglob("*.*"))
    }
    for unit, k in (("chars", 5), ("words", 2)):
        sets = {
            name: textbook.shingle_set(textbook.canonical(text), k, unit)
            for name, text in texts.items()
        }
        matrix = textbook.CharacteristicMatrix.of(sets)
        expected = {}
        for a, b in itertools.combinations(sorted(texts), 2):
            if sets[a] and sets[b] and (similarity := matrix.jaccard(a, b)) >= 0.01:
                expected[a, b] = similarity
        result = lookalike.find(texts, threshold=0.01, recall=1, shingle=f"{unit}:{k}")
        assert pairs_of(result) == expected
        assert len(expected) > 10
