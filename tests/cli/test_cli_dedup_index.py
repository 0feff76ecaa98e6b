"""`lookalike dedup` with an index: what is said, what is added, and what is refused."""

import json
from pathlib import Path

import pytest

from lookalike.index.index import Index

PAGES = {
    "monday": {"a": "one two three four five", "b": "six seven eight nine ten"},
    "tuesday": {"c": "one two three four six", "d": "some page that is new", "b": "quite another"},
}


@pytest.fixture
def days(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, pages in PAGES.items():
        lines = [
            json.dumps({"id": one, "text": text, "site": name[:3]}) for one, text in pages.items()
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    Index.create("pages.lookalike", threshold=0.5, shingle="words:2", bands=40, rows=1).close()


def ids_of(place="pages.lookalike"):
    with Index(place) as index:
        return sorted(index)


def test_each_day_is_cleaned_against_those_before(days, told):
    status, output, errors = told("dedup", "monday.jsonl", "--index", "pages.lookalike", "-o", "m")
    assert (status, output) == (0, "")
    assert "Added 2 documents to pages.lookalike." in errors
    assert "Index      0 removed for a document in pages.lookalike" in errors
    options = ("--index", "pages.lookalike", "-o", "t", "--metadata", "site")
    status, _, errors = told("dedup", "tuesday.jsonl", *options)
    assert status == 0
    assert "Kept       2, removed 1, in t" in errors
    assert "Index      1 removed for a document in pages.lookalike" in errors
    assert "Added 2 documents to pages.lookalike." in errors
    removed = json.loads(Path("t/removed.jsonl").read_text())
    assert removed == {"id": "c", "kept": "a", "similarity": 0.6, "kept_in": "index"}
    assert ids_of() == ["a", "b", "d"]
    with Index("pages.lookalike") as index:
        (found,) = index.query("quite another")
        assert (found.id, found.metadata) == ("b", {"site": "tue"})
    status, _, errors = told("dedup", "tuesday.jsonl", *options)
    assert (status, errors) == (0, "t already holds the result of this job.\n")


def test_a_dry_run_adds_nothing(days, told):
    told("dedup", "monday.jsonl", "--index", "pages.lookalike", "-o", "m")
    options = ("--index", "pages.lookalike", "--metadata", "site", "--dry-run")
    status, output, errors = told("dedup", "tuesday.jsonl", *options)
    assert status == 0
    assert "0.6000  c         a (index)" in output
    assert "Added" not in errors
    assert "Would keep 2, and remove 1" in errors
    assert ids_of() == ["a", "b"]


def test_only_what_is_given_must_agree_with_the_index(days, told):
    told("dedup", "monday.jsonl", "--index", "pages.lookalike", "-o", "m")
    against = ("dedup", "tuesday.jsonl", "--against", "pages.lookalike", "--dry-run", "--json")
    status, output, _ = told(*against)
    assert status == 0
    facts = json.loads(output)
    assert facts["settings"]["threshold"] == 0.5
    assert facts["counts"]["removed_for_index"] == 1
    assert facts["indexes"] == ["pages.lookalike"]
    status, output, _ = told(*against, "-t", "0.8", "--metric", "jaccard", "-s", "words:2")
    assert json.loads(output)["counts"]["removed_for_index"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--index", "no.lookalike"), "there is no index no.lookalike: make one by lookalike"),
        (("--metadata", "site"), "--metadata is kept by an index: name one by --index, or leave"),
        (
            ("--against", "pages.lookalike", "--shingle", "chars:5"),
            "--shingle chars:5 is not that of pages.lookalike, --shingle words:2: leave it out, or",
        ),
        (
            ("--against", "pages.lookalike", "-t", "0.3"),
            "--threshold 0.3 is below that of the index, 0.5",
        ),
        (
            ("--index", "pages.lookalike", "--bands", "3", "--rows", "2"),
            "pages.lookalike has 40 bands of 1 row: leave out --bands and --rows, or use another",
        ),
        (("--index", "pages.lookalike", "--groups", "site"), "leave out --groups, or the index"),
        (
            ("--index", "pages.lookalike", "--rule", "contained"),
            "an index finds what is similar, not what is contained: leave out --rule contained",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(days, told, options, message):
    before = ids_of()
    status, output, errors = told("dedup", "monday.jsonl", "-o", "clean", *options)
    assert status in (1, 2)
    assert not output
    assert message in errors
    assert errors.count("\n") == 1
    assert ids_of() == before


def test_find_refuses_an_index(days, told):
    status, _, errors = told("find", "monday.jsonl", "--against", "pages.lookalike")
    assert status != 0
    assert "--against of find is a corpus, and this an index: ask the index itself" in errors
