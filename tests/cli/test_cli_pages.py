"""`--markup` and `--main-text`: they decide what is read, and a work folder knows them."""

import json

import pytest

import lookalike
from source_files import write_records

TEXT = "the same words in the same order as those of another page, and a good many of them"
RECORDS = [
    {"id": "a", "text": f"<div class=one><p>{TEXT}</div>"},
    {"id": "b", "text": f"<section data-of='something else'><h2>{TEXT}</h2></section>"},
]


@pytest.fixture
def path(tmp_path):
    return write_records(tmp_path / "pages.jsonl", RECORDS)


@pytest.mark.parametrize("command", ["find", "contained", "boilerplate", "sketch"])
def test_every_command_that_reads_tables_takes_them(told, tmp_path, path, command):
    out = () if command == "boilerplate" else ("-o", tmp_path / "out.jsonl")
    status, _, errors = told(command, path, "--markup", "html", *out)
    assert status == 0, errors


def test_pages_are_compared_by_their_texts(told, path, tmp_path):
    _, output, _ = told("find", path, "--format", "jsonl", "-t", "0.95")
    assert not output
    _, output, _ = told("find", path, "--format", "jsonl", "-t", "0.95", "--markup", "html")
    assert json.loads(output)["similarity"] == 1
    status, _, _ = told("dedup", path, "--markup", "html", "-o", tmp_path / "clean")
    assert status == 0
    kept = (tmp_path / "clean" / "kept" / "pages.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == RECORDS[:1]
    with pytest.raises(lookalike.SettingsError, match="markup='md' is unknown"):
        lookalike.find(path, markup="md")


def test_a_work_folder_knows_them(told, path, tmp_path):
    pytest.importorskip("resiliparse")
    work = ("--work", tmp_path / "work")
    assert told("find", path, *work, "--markup", "html")[0] == 0
    assert told("find", path, *work, "--markup", "html")[0] == 0
    status, _, errors = told("find", path, *work)
    assert status != 0
    assert "--markup html then, no --markup now" in errors
    status, _, errors = told("find", path, *work, "--markup", "html", "--main-text")
    assert status != 0
    assert "no --main-text then, --main-text now" in errors
