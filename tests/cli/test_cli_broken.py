"""Input that cannot be read, through the program: one line, status 1, and nothing left behind."""

import gzip
import json
import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookalike.read import Corpus, streams
from source_files import as_lines, write_records

TEXTS = (
    "A lighthouse keeper wrote down the weather every evening for forty years",
    "Bread that has risen overnight in a cold kitchen tastes better than any other",
    "The last tram of the day is empty but for the driver and a sleeping dog",
    "Nobody in the village remembered who had planted the chestnut by the well",
)
GOOD = [{"id": f"g{at}", "text": text} for at, text in enumerate(TEXTS)]
LINES = as_lines(GOOD)


def truncated_gzip(folder):
    many = [{"id": at, "text": f"{text} {at}"} for at in range(2000) for text in TEXTS[:1]]
    (folder / "bad.jsonl.gz").write_bytes(gzip.compress(as_lines(many))[:-2000])
    return "bad.jsonl.gz is not whole: its gzip data breaks off or is damaged"


def bad_json(folder):
    lines = LINES.split(b"\n")
    lines[2] = lines[2][:-5]
    (folder / "bad.jsonl").write_bytes(b"\n".join(lines))
    return "bad.jsonl:3 is not valid JSON at column"


def parquet_without_text(folder):
    pq.write_table(pa.table({"id": ["p"], "prose": [TEXTS[0]]}), folder / "bad.parquet")
    return "no column is named text, content, body: say which holds the text"


def torn_parquet(folder):
    path = write_records(folder / "bad.parquet", GOOD)
    path.write_bytes(path.read_bytes()[:-20])
    return "bad.parquet"


def link_to_itself(folder):
    (folder / "bad.jsonl").symlink_to("bad.jsonl")
    return "bad.jsonl cannot be read: Too many levels of symbolic links"


def not_utf8(folder):
    (folder / "bad.jsonl").write_bytes(LINES.replace(b"kitchen", b"k\xfcche"))
    return "bad.jsonl:2 is not UTF-8 text at byte"


def text_not_utf8(folder):
    (folder / "bad.txt").write_bytes("\ufeffÜber".encode("utf-16-le")[:-1])
    return "bad.txt is not UTF-16 text at byte 9"


def short_record(folder):
    (folder / "bad.csv").write_text(f"id,text,rank\nx,{TEXTS[0]},1\ny\nz,{TEXTS[1]},3\n")
    return "bad.csv:2"


def record_without_text(folder):
    (folder / "bad.jsonl").write_bytes(LINES.replace(b'"text": "Bread', b'"prose": "Bread'))
    return "bad.jsonl:2 has no field 'text'"


def no_object(folder):
    (folder / "bad.jsonl").write_bytes(LINES + b"[1, 2]\n")
    return "bad.jsonl:5 is not a JSON object"


def a_number_for_a_text(folder):
    (folder / "bad.jsonl").write_bytes(LINES + b'{"id": "n", "text": 7}\n')
    return "bad.jsonl:5: field 'text' is a number, not text"


KINDS = [
    truncated_gzip,
    bad_json,
    parquet_without_text,
    torn_parquet,
    link_to_itself,
    not_utf8,
    text_not_utf8,
    short_record,
    record_without_text,
    no_object,
    a_number_for_a_text,
]


@pytest.fixture
def pile(tmp_path):
    """Give a folder with one good file; what is wrong with the other comes before or after it."""
    folder = tmp_path / "pile"
    write_records(folder / "good.jsonl", [{**record, "id": f"x{record['id']}"} for record in GOOD])
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refused(outcome, message):
    status, output, errors = outcome
    assert (status, output) == (1, "")
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert message in errors
    assert "a bug in Lookalike" not in errors


def targets(tmp_path):
    return [
        ["find"],
        ["find", "-o", tmp_path / "pairs.jsonl"],
        ["find", "-o", tmp_path / "pairs.csv", "--clusters", tmp_path / "clusters.csv"],
        ["contained", "-o", tmp_path / "pairs.parquet"],
        ["boilerplate", "-o", tmp_path / "passages.jsonl"],
        ["dedup", "--dry-run"],
        ["dedup", "-o", tmp_path / "clean"],
    ]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_cannot_be_read_is_one_line_and_leaves_nothing(kind, told, pile, tmp_path):
    message = kind(pile)
    for command, *more in targets(tmp_path):
        refused(told(command, pile, *more, "-q"), message)
        assert names(tmp_path) == ["pile"]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_with_skip_bad_the_rest_is_read_and_the_bad_named(kind, told, pile, tmp_path):
    message = kind(pile)
    out = tmp_path / "clean"
    status, output, errors = told("dedup", pile, "-o", out, "--skip-bad", columns=1000)
    assert (status, output) == (0, "")
    assert re.search(r"^Bad        [0-9,]+ skipped, as asked:$", errors, re.MULTILINE)
    assert message in errors
    run = json.loads((out / "run.json").read_bytes())
    assert run["counts"]["bad"] == len(run["bad"]) > 0
    assert message in run["bad"][0]
    assert (out / "kept" / "good.jsonl").exists()
    counts = run["counts"]
    assert counts["read"] >= 4
    assert counts["kept"] + counts["removed"] + counts["empty"] == counts["read"]


def test_after_mending_the_same_command_works(told, tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES + b"oops\n")
    command = "dedup", path, "-o", tmp_path / "clean", "-q"
    refused(told(*command), "docs.jsonl:5 is not valid JSON")
    path.write_bytes(LINES)
    assert told(*command) == (0, "", "")
    assert names(tmp_path) == ["clean", "docs.jsonl"]


@pytest.mark.parametrize("more", [["--skip-bad"], ["--text", "text"], ["-s", "words:2"]])
def test_after_a_refusal_other_settings_work(more, told, tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES + b'{"id": "n", "text": 7}\n')
    command = "dedup", path, "-o", tmp_path / "clean", "-q"
    refused(told(*command), "docs.jsonl:5")
    if "--skip-bad" not in more:
        path.write_bytes(LINES)
    assert told(*command, *more) == (0, "", "")


def test_a_folder_asked_for_serves_the_mended_source_after_a_refusal(told, tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES + b"oops\n")
    command = "dedup", path, "-o", tmp_path / "clean", "--work", tmp_path / "work", "-q"
    refused(told(*command), "docs.jsonl:5 is not valid JSON")
    assert names(tmp_path) == ["docs.jsonl"]
    path.write_bytes(LINES)
    assert told(*command) == (0, "", "")
    assert names(tmp_path) == ["clean", "docs.jsonl", "work"]


def test_ids_that_stand_twice_are_refused_with_both_places(told, tmp_path):
    path = write_records(tmp_path / "docs.jsonl", [*GOOD, GOOD[1]])
    for command, *more in targets(tmp_path):
        outcome = told(command, path, *more, "-q")
        refused(outcome, "id 'g1' appears twice")
        assert "docs.jsonl:2" in outcome[2]
        assert "docs.jsonl:5" in outcome[2]
        assert names(tmp_path) == ["docs.jsonl"]


def test_a_binary_file_is_refused_when_named_and_passed_by_in_a_folder(told, pile, tmp_path):
    path = pile / "photo.txt"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 10)
    refused(told("find", path, "-q"), "photo.txt is not text: it is binary, with a NUL")
    status, _, errors = told("find", pile)
    assert status == 0
    assert "Skipped    1 file: 1 binary" in errors


@pytest.mark.parametrize("name", ["b.txt", "b.jsonl", "b.csv.gz", "b.parquet"])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_file_that_vanishes_while_the_job_runs(name, skip_bad, told, pile, tmp_path, monkeypatch):
    path = pile / name
    path.write_text(TEXTS[0]) if name == "b.txt" else write_records(path, GOOD)
    batches = Corpus.batches

    def vanishing(*given, **named):
        path.unlink()
        return batches(*given, **named)

    monkeypatch.setattr(Corpus, "batches", vanishing)
    out = tmp_path / "clean"
    message = f"{path} cannot be read: it does not exist, or no longer"
    if skip_bad:
        assert told("dedup", pile, "-o", out, "--skip-bad", "-q") == (0, "", "")
        run = json.loads((out / "run.json").read_bytes())
        assert (run["counts"]["bad"], run["counts"]["read"]) == (1, 4)
        assert message in run["bad"][0]
    else:
        refused(told("dedup", pile, "-o", out, "-q"), message)
        assert names(tmp_path) == ["pile"]


@pytest.mark.parametrize("name", ["b.txt", "b.jsonl", "b.csv"])
def test_a_document_beyond_the_limit_is_refused_or_passed_over(
    name, told, pile, tmp_path, monkeypatch
):
    monkeypatch.setattr(streams, "RECORD_LIMIT_BYTES", 1 << 20)
    giant = {"id": "giant", "text": "long " * 300_000}
    path = pile / name
    path.write_text(giant["text"]) if name == "b.txt" else write_records(path, [*GOOD, giant])
    out = tmp_path / "clean"
    message = "is longer than 1 MB, the most that one document may be"
    refused(told("dedup", pile, "-o", out, "-q"), message)
    assert names(tmp_path) == ["pile"]
    assert told("dedup", pile, "-o", out, "--skip-bad", "-q") == (0, "", "")
    run = json.loads((out / "run.json").read_bytes())
    assert run["counts"]["bad"] == 1
    assert message in run["bad"][0]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_folder_that_may_not_be_read_is_refused_or_passed_over(told, pile, tmp_path):
    shut = pile / "shut"
    shut.mkdir()
    shut.chmod(0)
    try:
        refused(told("find", pile, "-q"), "shut cannot be read: Permission denied")
        status, _, errors = told("find", pile, "--skip-bad")
        assert status == 0
        assert "Bad        1 skipped, as asked" in errors
    finally:
        shut.chmod(0o700)


def test_folders_that_hold_each_other_by_links_are_read_once(told, pile):
    (pile / "up").symlink_to(pile, target_is_directory=True)
    status, _, errors = told("find", pile)
    assert status == 0
    assert "Read       4 documents" in errors
    assert "Skipped    1 file: 1 link to a folder" in errors


def test_a_link_to_a_file_that_is_gone_is_refused(told, pile, tmp_path):
    (pile / "bad.txt").symlink_to("gone.txt")
    refused(told("dedup", pile, "-o", tmp_path / "clean", "-q"), "bad.txt cannot be read")
    assert names(tmp_path) == ["pile"]


def test_where_everything_is_bad_nothing_is_written(told, tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b"oops\n" * 3)
    outcome = told("dedup", path, "-o", tmp_path / "clean", "--skip-bad", "-q")
    refused(outcome, "no document could be read; 3 skipped, the first: ")
    assert names(tmp_path) == ["docs.jsonl"]


def test_of_many_bad_records_a_few_are_named_and_all_are_counted(told, tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_bytes(LINES + b"oops\n" * 1200)
    out = tmp_path / "clean"
    status, _, errors = told("dedup", path, "-o", out, "--skip-bad")
    assert status == 0
    assert "Bad        1,200 skipped, as asked:" in errors
    assert "and 1,195 more" in errors
    assert " ".join(errors.split()).count("is not valid JSON") == 5
    run = json.loads((out / "run.json").read_bytes())
    assert (run["counts"]["bad"], len(run["bad"])) == (1200, 1000)


def test_an_ignored_text_that_cannot_be_read_is_refused(told, tmp_path):
    path = write_records(tmp_path / "docs.jsonl", GOOD)
    for command, *more in targets(tmp_path):
        if command == "boilerplate":
            continue
        refused(told(command, path, *more, "--ignore", tmp_path / "gone.txt", "-q"), "gone.txt")
        assert names(tmp_path) == ["docs.jsonl"]


@pytest.mark.parametrize("column", ["rank", "text.length"])
def test_a_column_to_keep_by_that_is_nowhere_is_refused(column, told, tmp_path):
    path = write_records(tmp_path / "docs.jsonl", GOOD)
    refused(
        told("dedup", path, "-o", tmp_path / "clean", "--keep", f"max:{column}", "-q"),
        f"no document has a value in column {column!r}",
    )
    assert names(tmp_path) == ["docs.jsonl"]


def test_texts_among_tokens_are_refused(told, tmp_path):
    write_records(tmp_path / "in" / "a.jsonl", [{"id": 1, "text": ["a", "b"]}])
    write_records(tmp_path / "in" / "b.jsonl", GOOD)
    refused(
        told("dedup", tmp_path / "in", "-o", tmp_path / "clean", "-q"),
        "compare documents of one kind at a time",
    )
    assert names(tmp_path) == ["in"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bands", "0", "--rows", "1"], "bands"),
        (["--bands", "3", "--rows", "100000"], "needs signatures of 300,000 rows"),
        (["--cascade", "and:x"], "and:x"),
        (["--shingle", "chrs:5"], "chrs:5"),
    ],
    ids=["bands", "rows", "cascade", "shingle"],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_read(
    options, message, told, tmp_path
):
    (tmp_path / "a.jsonl").write_text("no JSON at all\n")
    status, output, errors = told("find", tmp_path, *options)
    assert (status, output) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1
