"""Results in a Python session: counted, shown in a line, pickled, watched and logged."""

import copy
import logging
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike
from lookalike import Result
from lookalike.base import progress
from lookalike.results import documents
from source_files import write_records

SAME = "a text of some words that stands here more than once"
TEXTS = {"a": SAME, "b": SAME, "c": f"{SAME} or so", "d": "something else", "e": ""}
COMMANDS: dict[str, Any] = {
    "find": lambda source, **more: lookalike.find(source, threshold=0.7, shingle="chars:5", **more),
    "dedup": lambda source, **more: lookalike.dedup(
        source, threshold=0.7, shingle="chars:5", **more
    ),
    "contained": lambda source, **more: lookalike.contained(source, shingle="chars:5", **more),
    "boilerplate": lookalike.boilerplate,
}
LINES = {
    "find": "<FindResult: 3 pairs in 5 documents, threshold 0.7, chars:5>",
    "dedup": "<DedupResult: 3 of 5 documents kept, threshold 0.7, chars:5>",
    "contained": "<ContainmentResult: 3 pairs in 5 documents, containment 0.9, chars:5>",
    "boilerplate": "<BoilerplateResult: 1 passage of 5 documents>",
}
LENGTHS = {"find": 3, "dedup": 3, "contained": 3, "boilerplate": 1}
TABLES = {
    "find": ("pairs", "containments", "clusters", "empty"),
    "dedup": ("removed", "clusters", "kept_ids", "empty"),
    "contained": ("pairs", "empty"),
    "boilerplate": ("passages", "empty"),
}


@pytest.fixture(params=COMMANDS)
def command(request):
    """Give the name of a command."""
    return request.param


def on_file(tmp_path):
    records = [{"id": name, "text": text} for name, text in TEXTS.items()]
    return write_records(tmp_path / "docs.jsonl", records)


def test_the_length_is_what_was_found(command, tmp_path):
    result = COMMANDS[command](TEXTS, out=tmp_path / "out")
    assert len(result) == len(Result.open(tmp_path / "out")) == LENGTHS[command]
    assert command != "dedup" or len(result.kept) == len(result)


def test_a_result_in_which_nothing_was_found_is_one_all_the_same():
    result = lookalike.find(["one text", "quite another"])
    assert len(result) == 0
    assert result


def test_a_result_is_shown_in_a_line(command, tmp_path):
    result = COMMANDS[command](TEXTS, out=tmp_path / "out")
    assert repr(result) == repr(Result.open(tmp_path / "out")) == LINES[command]
    result.close()
    assert repr(result) == LINES[command]


def test_other_ways_to_compare_are_shown_too():
    assert "simhash 3" in repr(lookalike.find(TEXTS, simhash=3))
    vectors = lookalike.find(np.eye(3), metric="cosine", threshold=0.95)
    assert repr(vectors) == "<FindResult: 0 pairs in 3 documents, threshold 0.95>"


@pytest.mark.parametrize("source", ["memory", "a file", "opened"])
def test_a_pickled_result_has_the_same_tables(command, source, tmp_path):
    result = COMMANDS[command](TEXTS if source == "memory" else on_file(tmp_path))
    names = TABLES[command]
    if source == "opened":
        result.write(tmp_path / "out")
        result = Result.open(tmp_path / "out")
        names = tuple(name for name in names if name not in ("kept_ids", "empty"))
    once = pickle.loads(pickle.dumps(result))
    for again in (once, pickle.loads(pickle.dumps(once)), copy.copy(result)):
        assert type(again) is type(result)
        assert repr(again) == LINES[command]
        for name in names:
            assert getattr(again, name).equals(getattr(result, name))
        assert again.settings == result.settings
        assert again.record()["counts"] == result.record()["counts"]
        again.close()


def test_a_pickled_result_needs_neither_its_job_nor_its_files(command, tmp_path):
    path = on_file(tmp_path)
    with COMMANDS[command](path) as result:
        stored = pickle.dumps(result)
        pairs = {name: getattr(result, name) for name in TABLES[command]}
    path.unlink()
    again = pickle.loads(stored)
    assert all(getattr(again, name).equals(table) for name, table in pairs.items())


def test_pairs_of_a_pickled_result_are_written_as_they_were(tmp_path):
    result = COMMANDS["find"](TEXTS)
    pickle.loads(pickle.dumps(result)).write(tmp_path / "out")
    opened: Any = Result.open(tmp_path / "out")
    assert opened.containments.equals(result.containments)


@pytest.mark.parametrize(
    "source", [TEXTS, [*TEXTS.values()], pl.DataFrame({"text": [*TEXTS.values()]})]
)
def test_kept_documents_of_memory_are_pickled_with_the_result(source):
    result = COMMANDS["dedup"](source)
    kept = pickle.loads(pickle.dumps(result)).kept
    assert kept.equals(result.kept) if isinstance(kept, pl.DataFrame) else kept == result.kept


def test_kept_documents_of_files_are_not_and_that_is_said(tmp_path):
    again = pickle.loads(pickle.dumps(COMMANDS["dedup"](on_file(tmp_path))))
    with pytest.raises(lookalike.OutputError, match="pickled holds no documents of files"):
        _ = again.kept


def test_more_pairs_than_fit_are_not_pickled(monkeypatch):
    result = COMMANDS["find"](TEXTS)
    monkeypatch.setattr(documents, "MAX_PAIRS", 2)
    with pytest.raises(lookalike.OutputError, match="3 similar pairs do not fit in memory"):
        pickle.dumps(result)


def test_progress_is_shown_on_standard_error_where_it_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.0)
    lookalike.find(TEXTS, progress=True)
    shown = capsys.readouterr()
    assert "read: 100%" in shown.err
    assert shown.out == ""
    for nobody in (None, False):
        lookalike.find(TEXTS, progress=nobody)
        assert capsys.readouterr().err == ""


def test_what_is_said_is_logged(tmp_path, caplog):
    path, said = on_file(tmp_path), []
    caplog.set_level(logging.INFO, "lookalike")
    lookalike.find(path, say=said.append)
    logged = [line.message for line in caplog.records if line.levelno == logging.INFO]
    assert logged == said
    assert any("the text is taken from 'text'" in line for line in logged)
    caplog.clear()
    lookalike.find(path)
    assert [line.message for line in caplog.records if line.levelno == logging.INFO] == said


def test_warnings_are_logged_once_each(caplog):
    result = lookalike.find(["one text", "", "", ""])
    assert len(result.summary.warnings) == 1
    logged = [line.message for line in caplog.records if line.levelno == logging.WARNING]
    assert logged == [str(line) for line in result.summary.warnings]


@pytest.mark.long
def test_without_a_log_nothing_is_printed():
    code = "import lookalike; lookalike.find(['one text', '', '', ''])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout + done.stderr == b""
