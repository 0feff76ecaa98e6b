"""Options that would do nothing: each is refused by its name, in Python and on the command line."""

import re
from typing import Any

import numpy as np
import pytest

import lookalike
from source_files import write_records

TEXTS = ["some words here and there", "some words here and there too"]
TOKENS = [["some", "words"], ["some", "words", "too"]]


@pytest.fixture
def sources(tmp_path):
    """Give sources of several kinds by name."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for at, text in enumerate(TEXTS):
        (folder / f"{at}.txt").write_text(text)
    records = [{"id": at, "text": text} for at, text in enumerate(TEXTS)]
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    return {
        "folder": folder,
        "file": folder / "0.txt",
        "lines": write_records(tmp_path / "r.jsonl", records),
        "table": write_records(tmp_path / "r.parquet", records),
        "vectors": tmp_path / "v.npy",
        "texts": TEXTS,
        "tokens": TOKENS,
        "array": np.eye(3),
    }


@pytest.mark.parametrize(
    ("source", "given", "message"),
    [
        ("folder", {"text": "body"}, "there is no file of records for text="),
        ("folder", {"id": "name"}, "there is no file of records for id="),
        ("folder", {"vector": "v", "metric": "cosine"}, "there is no file of records for vector="),
        ("folder", {"markup": "html"}, "there is no file of records for markup="),
        ("vectors", {"markup": "html", "metric": "cosine"}, "no file of records for markup="),
        ("folder", {"main_text": True}, "there is no page for main_text="),
        ("lines", {"delimiter": ";"}, "there is no .csv or .tsv file for delimiter="),
        ("lines", {"no_header": True}, "there is no .csv or .tsv file for no_header="),
        ("table", {"lines": True}, "there is no file of text for lines="),
        ("table", {"encoding": "cp1252"}, "there is no file of text for encoding="),
        ("table", {"strict_encoding": True}, "there is no file of text for strict_encoding="),
        ("texts", {"encoding": "cp1252"}, "there is no file of text for encoding="),
        ("vectors", {"encoding": "cp1252", "metric": "cosine"}, "no file of text for encoding="),
        ("lines", {"include": "*.txt"}, "there is no folder for include="),
        ("lines", {"exclude": ["*.txt"]}, "there is no folder for exclude="),
        ("file", {"all_files": True}, "there is no folder for all_files="),
        ("texts", {"include": "*.txt"}, "there is no folder for include="),
        ("vectors", {"normalise": "none", "metric": "cosine"}, "normalise= is for text"),
        ("array", {"normalise": "none", "metric": "cosine"}, "normalise= is for text"),
        ("tokens", {"normalise": "none"}, "normalise= is for text"),
        ("texts", {"simhash": 3, "threshold": 0.5}, "threshold= does nothing with simhash="),
        ("texts", {"simhash": 3, "recall": 0.5}, "recall= does nothing with simhash="),
        ("texts", {"simhash": 3, "seed": 5}, "seed= does nothing with simhash="),
        ("texts", {"format": "csv"}, "format= is of a file: name one by out="),
    ],
    ids=str,
)
def test_what_find_has_no_use_for_is_refused(sources, source, given, message):
    with pytest.raises(lookalike.SettingsError, match=re.escape(message)):
        lookalike.find(sources[source], **given)


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("folder", {"id": "none"}),
        ("folder", {"encoding": "cp1252", "strict_encoding": True}),
        ("folder", {"include": "*.txt", "exclude": "9.txt", "all_files": True}),
        ("lines", {"text": "text", "id": "id", "encoding": "cp1252"}),
        ("lines", {"markup": "html"}),
        ("table", {"markup": "html"}),
        ("texts", {"markup": "html"}),
        ("texts", {"simhash": 3, "weights": "log"}),
        ("tokens", {"normalise": "default"}),
        ("array", {"normalise": "default", "metric": "cosine"}),
    ],
    ids=str,
)
def test_what_it_has_a_use_for_is_taken(sources, source, given):
    assert lookalike.find(sources[source], **given).summary.documents


def test_an_encoding_serves_the_text_to_ignore(sources, tmp_path):
    (tmp_path / "ignored.txt").write_bytes("caf\xe9 and tea".encode("cp1252"))
    found = lookalike.find(sources["table"], ignore=tmp_path / "ignored.txt", encoding="cp1252")
    assert found.summary.documents == 2


def test_a_mixed_folder_has_a_use_for_what_serves_some_of_its_files(sources):
    write_records(sources["folder"] / "more.jsonl", [{"body": "some words"}])
    assert lookalike.find(sources["folder"], text="body", encoding="cp1252").summary.documents == 3


@pytest.mark.parametrize("name", ["list_only", "drop_unread", "annotate"])
def test_what_is_of_the_folder_of_dedup_is_refused_without_one(name):
    given: Any = {name: True}
    with pytest.raises(lookalike.SettingsError, match=f"{name}= is of what is written: name a fo"):
        lookalike.dedup(TEXTS, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": "simhash", "rows": 4}, "rows= is for minhash: name it in columns="),
        ({"columns": ["bits"], "rows": 4}, "rows= is for minhash: name it in columns="),
        ({"columns": "simhash", "multiset": True}, "multiset= is for minhash: name it"),
        ({"columns": "minhash", "bits": 64}, "bits= is for bits: name it in columns="),
        ({"bits": 64}, "bits= is for bits: name it in columns="),
        ({"columns": "minhash", "weights": "log"}, "weights= is for simhash and bits: name one"),
        ({"columns": "simhash", "seed": 7}, "seed= is for minhash and bits: name one in columns="),
    ],
    ids=str,
)
def test_what_is_of_sketches_that_are_not_made_is_refused(given, message):
    with pytest.raises(lookalike.SettingsError, match=re.escape(message)):
        lookalike.sketch(TEXTS, **given)


def test_sketches_of_vectors_have_no_rows():
    with pytest.raises(lookalike.SettingsError, match="rows= is for minhash"):
        lookalike.sketch(np.eye(3), rows=4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"encoding": "cp1252"}, "there is no file for encoding="),
        ({"strict_encoding": True}, "there is no file for strict_encoding="),
        ({"main_text": True}, "there is no page for main_text="),
    ],
)
def test_what_is_of_files_is_refused_where_texts_are_compared(given, message, tmp_path):
    with pytest.raises(lookalike.SettingsError, match=message):
        lookalike.compare("some words", "some words", **given)
    if "main_text" in given:
        (tmp_path / "a.txt").write_text("some words")
        with pytest.raises(lookalike.SettingsError, match=message):
            lookalike.compare(tmp_path / "a.txt", "some words", **given)


@pytest.mark.parametrize("given", [{"text": "body"}, {"id": "name"}, {"encoding": "cp1252"}])
def test_a_lesson_on_the_sample_has_no_fields_and_no_files(given):
    (name,) = given
    with pytest.raises(lookalike.SettingsError, match=f"{name}= is for documents of your own"):
        lookalike.lesson(**given)


def test_compare_as_json_has_every_passage_whole(told, sources):
    status, output, errors = told("compare", sources["file"], sources["file"], "--json", "--whole")
    assert (status, output) == (2, "")
    assert errors.startswith("lookalike: --whole does nothing with --json")


@pytest.mark.parametrize("arguments", [["--recall", "1"], ["--simhash", "3"]])
def test_explain_says_that_there_is_no_curve(told, sources, arguments):
    status, _, errors = told("find", sources["folder"], "--explain", *arguments)
    assert status == 0
    assert "There is no curve: every pair that is asked for is found.\n" in errors
    more = ["--rule", "contained", "--dry-run", "--explain"]
    assert "There is no curve" in told("dedup", sources["folder"], *more)[2]
