"""What names a setting: an option on the screen, an argument in Python and in files."""

import json

import pytest

import lookalike
from lookalike.base import wording
from source_files import write_records

BAD = "takes about 28 KB of memory, more than the 20 KB allowed: raise {}, or leave it out"
SPELLED = {"Python": BAD.format("memory="), "command line": BAD.format("--memory")}


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """Give documents of which one is too large for the memory that there is."""
    monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
    records = [{"id": at, "text": f"some words and the number {at}"} for at in range(3)]
    records.append({"id": "large", "text": 140 * "word "})
    return write_records(tmp_path / "docs.jsonl", records)


def test_an_error_names_an_option(told, docs):
    status, output, errors = told("find", docs, "--memory", "20000", "-q")
    assert (status, output) == (1, "")
    assert errors.endswith(f"{SPELLED['command line']}\n")
    with pytest.raises(lookalike.SourceError, match=SPELLED["Python"]):
        lookalike.find(docs, memory=20_000)


def test_a_line_on_what_was_passed_over_does_too_and_run_json_is_as_in_python(told, docs, tmp_path):
    out, work = tmp_path / "clean", tmp_path / "work"
    limits = ["--memory", "20000", "--skip-bad", "--work", work]
    status, _, errors = told("dedup", docs, "-o", out, *limits, columns=1000)
    assert status == 0
    assert SPELLED["command line"] in errors
    (bad,) = json.loads((out / "run.json").read_text())["bad"]
    assert bad.endswith(SPELLED["Python"])
    # What a folder of earlier work has to say is spelled by who reads it.
    kept = json.loads((work / "state.json").read_text())["stages"]["read"]["bad"]
    assert [*map(wording.in_python, kept)] == [bad]
    again = told("dedup", docs, "-o", tmp_path / "again", *limits, columns=1000)[2]
    assert "Resuming from the work" in again
    assert SPELLED["command line"] in again
    result = lookalike.dedup(docs, memory=20_000, skip_bad=True, work=work)
    assert result.summary.bad == (bad,)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_what_quotes_another_message_spells_it_too(told, tmp_path, kind):
    path = write_records(tmp_path / f"docs.{kind}", [{"page": "some words"}])
    which = "say which holds the text ({}) or a vector ({}); there are 'page'"
    status, _, errors = told("find", path, "-q")
    assert status == 1
    assert which.format("--text", "--vector") in errors
    with pytest.raises(lookalike.SourceError) as refused:
        lookalike.find(path)
    assert which.format("text=", "vector=") in str(refused.value)


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_record_that_a_quote_makes_too_long_does_too(told, tmp_path, skip_bad, monkeypatch):
    monkeypatch.setattr("lookalike.read.streams.MIN_RECORD_BYTES", 1 << 20)
    monkeypatch.setattr("lookalike.base.memory.MIN_BYTES", 0)
    path = tmp_path / "docs.csv"
    path.write_text('id,text\n1,some words\n2,"' + 400_000 * "word ")
    more = ["--skip-bad"] if skip_bad else ["-q"]
    status, _, errors = told("find", path, "--memory", "1000000", *more, columns=1000)
    assert status == (0 if skip_bad else 1)
    remedy = "raise --memory, split it or leave it out; the quote that opens in line 3 may lack"
    assert remedy in errors


def test_a_job_without_a_document_quotes_what_was_passed_over(told, docs):
    only = write_records(docs.with_name("only.jsonl"), [{"id": 1, "text": 140 * "word "}])
    status, _, errors = told("find", only, "--memory", "20000", "--skip-bad", "-q")
    assert status == 1
    assert "no document could be read; 1 skipped, the first: " in errors
    assert errors.endswith(f"{SPELLED['command line']}\n")


def test_warnings_are_spelled_by_who_says_them(told, tmp_path):
    records = [{"id": at, "text": "" if at % 3 else f"text {at}"} for at in range(30)]
    docs, out = write_records(tmp_path / "docs.jsonl", records), tmp_path / "clean"
    told_of = "20 of 30 documents are empty: if the text is in another column,"
    _, _, errors = told("dedup", docs, "-o", out, columns=1000)
    assert f"Warning: {told_of} --text names it.\n" in errors
    written = json.loads((out / "run.json").read_text())["warnings"]
    assert written == [f"{told_of} text= names it"]
    assert lookalike.find(docs).summary.warnings == (f"{told_of} text= names it",)


def test_doubts_on_clusters_are_spelled_as_in_python():
    texts = [" ".join(f"w{at}" for at in range(2 * n, 2 * n + 60)) for n in range(120)]
    (doubt,) = lookalike.find(texts, shingle="words:1").doubts
    assert doubt.endswith("or raise threshold=")
    assert wording.on_command_line(doubt).endswith("or raise --threshold")


@pytest.mark.parametrize("mark", [wording.OPEN, wording.CLOSE, wording.setting("memory")])
def test_a_name_that_holds_marks_is_told_on_one_line(told, tmp_path, mark):
    path = tmp_path / f"a{mark}.jsonl"
    path.write_text("{")
    status, _, errors = told("find", path, "-q")
    assert status == 1
    assert errors.count("\n") == 1
    assert errors.strip().isprintable()
    assert "is not valid JSON" in errors
    with pytest.raises(lookalike.SourceError, match="is not valid JSON"):
        lookalike.find(path)


def test_a_column_that_holds_marks_is_named(told, tmp_path):
    docs = write_records(tmp_path / "docs.jsonl", [{"id": 1, "text": "some words"}])
    for name in (wording.OPEN, wording.CLOSE + "memory", wording.setting("memory")):
        status, _, errors = told("find", docs, "--text", name, "-q")
        assert status == 1
        assert "there is no column" in errors
        status, _, errors = told("find", docs, "--shingle", name, "-q")
        assert status == 2
        assert "is not understood: use chars:K" in errors
