"""`lookalike index` as a user runs it: what goes where, in which shape, with which exit status."""

import csv
import io
import json
import re
import sqlite3
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

import lookalike
from source_files import BINARY, write_records

FERRY = "The ferry leaves at six in the morning, and the lemons go with it to the mainland."
BREAD = "Bread is flour and water, salt and time, and nobody has found a way around the time."
TRAM = "The last tram of the day is empty but for the driver and a dog that sleeps."
PAGES: list[dict[str, Any]] = [
    {"id": "ferry", "text": FERRY, "source": "web", "seen": "2026-01-02", "year": 2024},
    {"id": "bread", "text": BREAD, "source": "book", "seen": "2025-11-30", "year": 1999},
    {"id": "tram", "text": TRAM, "source": "web", "seen": "2025-03-04", "year": None},
]
NEAR_FERRY = FERRY.replace("six", "ten")
NEW = "Nobody in the village remembered who had planted the chestnut beside the old well."
HERE = Path()
SHINGLE = ("-s", "chars:4", "-t", "0.7")
METADATA = ("--metadata", "source", "--metadata", "seen", "--metadata", "year")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Let names be short, as those that a user types."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def docs():
    return write_records(HERE / "docs.jsonl", PAGES)


@pytest.fixture
def empty():
    """Give the name of an index without documents."""
    path = HERE / "pages.lookalike"
    lookalike.Index.create(path, shingle="chars:4", threshold=0.7).close()
    return path


@pytest.fixture
def pages(empty, docs):
    """Give the name of an index with three documents and their metadata."""
    with lookalike.Index(empty) as index:
        index.add_all(docs, metadata=["source", "seen", "year"])
    return empty


def done(answer):
    """Give what a command wrote that came to a good end."""
    status, output, errors = answer
    assert status == 0, errors
    assert output.startswith("{") or max(map(cell_len, output.split("\n"))) <= 80
    assert max(map(cell_len, errors.split("\n"))) <= 80
    return output, errors


def refused(answer, status=1):
    """Give the one line of a command that came to a bad end."""
    found, output, errors = answer
    assert (found, output) == (status, ""), errors
    assert re.fullmatch(r"lookalike: [^\n]+\n", errors)
    assert "a bug in Lookalike" not in errors
    return errors.removeprefix("lookalike: ").strip()


def ids_of(path):
    with lookalike.Index(path) as index:
        return [*index]


class TestCreate:
    def test_it_says_what_was_chosen_and_why(self, told, docs):
        path = HERE / "a.lookalike"
        output, errors = done(told("index", "create", path, "--like", docs))
        assert output == ""
        said = " ".join(errors.split())
        assert f"Created {path}" in said
        assert re.search(r"Score Jaccard of chars:\d shingles: the \w+", said)
        assert re.search(r"Plan \d+ bands of \d+ rows of chars:\d shingles", said)
        assert "(0.99 asked)" in said
        assert "among 1,000,000 documents" in said
        assert "Keeps documents too, compressed: scores are exact" in said
        assert ids_of(path) == []

    def test_it_gives_the_facts_to_a_program(self, told):
        path = HERE / "a.lookalike"
        given = ["-s", "words:2", "-t", "60%", "-n", "5000", "--no-text", "--json", "-q"]
        output, errors = done(told("index", "create", path, *given))
        facts = json.loads(output)
        assert errors == ""
        told_of = {name: facts[name] for name in ("shingle", "threshold", "planned_for")}
        assert told_of == {"shingle": "words:2", "threshold": 0.6, "planned_for": 5000}
        assert facts["keeps_text"] is False

    def test_an_index_without_texts_says_that_scores_are_estimated(self, told):
        _, errors = done(told("index", "create", HERE / "a.lookalike", "--no-text", *SHINGLE))
        assert "Keeps      sketches alone: scores are estimated" in errors

    def test_what_speaks_against_a_sample_is_said(self, told):
        records = [{"id": at, "text": "" if at % 3 else f"some text {at}"} for at in range(30)]
        sample = write_records(HERE / "docs.jsonl", records)
        _, errors = done(told("index", "create", HERE / "a.lookalike", "--like", sample))
        assert "Warning: 20 of 30 documents are empty" in errors

    def test_a_file_that_is_there_is_never_replaced(self, told, pages):
        line = refused(told("index", "create", pages, *SHINGLE))
        assert line == f"{pages} is there already: give another name, or remove it"
        assert len(ids_of(pages)) == 3

    def test_options_of_a_sample_need_one(self, told):
        line = refused(told("index", "create", HERE / "a.lookalike", "--lines"), 2)
        assert line == "--lines says how a sample is read: give one in --like"

    def test_one_may_be_made_like_another(self, told, pages):
        other = HERE / "other.lookalike"
        done(told("index", "create", other, "--like", pages))
        with lookalike.Index(pages) as one, lookalike.Index(other) as two:
            assert one.recipe == two.recipe
            assert len(two) == 0


class TestAdd:
    def test_it_counts_what_became_of_the_documents(self, told, empty, docs):
        output, errors = done(told("index", "add", empty, docs))
        assert output == ""
        assert "Added      3 documents\n" in errors
        more: list[dict[str, Any]] = [
            {"id": "ferry", "text": NEW},
            {"id": "copy", "text": BREAD},
            {"id": 7, "text": " "},
        ]
        again = write_records(HERE / "more.jsonl", more)
        said = " ".join(done(told("index", "add", empty, again))[1].split())
        assert "Added 3 documents, 1 in the place of one with the same id, 1 with a text" in said
        assert "Empty 1 of them, similar to nothing" in said
        assert ids_of(empty) == ["7", "bread", "copy", "ferry", "tram"]

    def test_it_gives_the_counts_to_a_program(self, told, pages, docs):
        output, errors = done(told("index", "add", pages, docs, "--json", "-q"))
        assert errors == ""
        counts = {"documents": 3, "replaced": 3, "identical": 3, "empty": 0, "similar": 0}
        assert json.loads(output) == {
            "index": str(pages),
            **counts,
            "skipped": {},
            "unread": [],
            "bad_count": 0,
            "bad": [],
        }

    def test_only_new_documents_may_be_added(self, told, pages):
        records = [
            {"id": "x", "text": NEAR_FERRY},
            {"id": "y", "text": NEW},
            {"id": "z", "text": NEW.replace("old", "deep")},
        ]
        more = write_records(HERE / "more.jsonl", records)
        _, errors = done(told("index", "add", pages, more, "--new-only", "--durable"))
        assert "Added      1 document\n" in errors
        assert "Similar    2 similar to one that was there before, not added\n" in errors
        assert ids_of(pages) == ["bread", "ferry", "tram", "y"]

    def test_what_was_not_read_is_named_and_counted(self, told, empty):
        folder = HERE / "folder"
        folder.mkdir()
        (folder / "a.txt").write_text(FERRY)
        (folder / "picture").write_bytes(BINARY)
        (folder / ".hidden").write_text("x")
        output, errors = done(told("index", "add", empty, folder, "--json"))
        assert "Skipped 2 files: 1 hidden, 1 binary: folder/picture, folder/.hidden.\n" in errors
        unread = {one["path"]: one["reason"] for one in json.loads(output)["unread"]}
        assert unread == {"folder/picture": "binary", "folder/.hidden": "hidden"}
        assert re.search(r"^Skipped    2 files: ", errors, re.MULTILINE)
        assert ids_of(empty) == ["a.txt"]

    def test_bad_records_are_skipped_when_asked_and_named(self, told, empty, docs):
        with docs.open("a") as file:
            file.write("{\n")
        assert "docs.jsonl:4 is not valid JSON" in refused(told("index", "add", empty, docs, "-q"))
        given = ["--skip-bad", "--json"]
        status, output, errors = told("index", "add", empty, docs, *given, columns=400)
        assert status == 0
        assert re.search(
            r"^Skipped, as asked: .*docs.jsonl:4 is not valid JSON", errors, re.MULTILINE
        )
        assert "Bad        1 skipped, as asked\n" in errors
        assert json.loads(output)["bad_count"] == 1

    def test_a_folder_without_a_document_is_an_error(self, told, empty):
        folder = HERE / "folder"
        folder.mkdir()
        (folder / "picture.png").write_bytes(BINARY)
        line = refused(told("index", "add", empty, folder, "-q"))
        assert line.startswith("folder holds no document that can be read")
        assert "1 binary (.png)" in line

    def test_metadata_that_no_document_has_is_said(self, told, empty, docs):
        _, errors = done(told("index", "add", empty, docs, "--metadata", "sauce", *METADATA))
        assert "No document has a value in column 'sauce', kept as metadata.\n" in errors
        assert errors.count("No document has") == 1

    def test_an_id_that_is_there_twice_is_refused(self, told, empty):
        twice = write_records(HERE / "twice.jsonl", [PAGES[0], PAGES[0]])
        line = refused(told("index", "add", empty, twice, "-q"))
        assert line.startswith("the id 'ferry' is there twice in the source")
        assert line.endswith("in --id, or use --id none")

    def test_lines_of_standard_input_are_added(self, told, empty):
        given = json.dumps({"id": 3, "text": FERRY}).encode()
        done(told("index", "add", empty, "-", "-q", given=given))
        assert ids_of(empty) == [3]


class TestQuery:
    def test_a_text_is_answered_by_a_table_without_an_id(self, told, pages):
        output, errors = done(told("index", "query", pages, "--string", NEAR_FERRY))
        assert errors == ""
        assert output.startswith("1 similar document by Jaccard of chars:4 shingles\n")
        head, row = output.split("\n")[2], output.split("\n")[4]
        assert head.split() == ["similarity", "match", "seen", "source", "year"]
        assert row.split() == ["0.8481", "ferry", "2026-01-02", "web", "2024"]

    def test_a_document_may_come_by_standard_input(self, told, pages):
        expected = told("index", "query", pages, "--string", FERRY)
        for given in (f"{FERRY}\n".encode(), b"\xef\xbb\xbf" + FERRY.encode()):
            assert told("index", "query", pages, given=given) == expected
        utf16 = FERRY.encode("utf-16-le")
        answer = told("index", "query", pages, "--encoding", "utf-16-le", given=utf16)
        assert answer == expected

    def test_a_page_may_come_by_standard_input(self, told, pages):
        page = f"<html><body><h1></h1><p>{FERRY}</p></body></html>".encode()
        output, _ = done(told("index", "query", pages, "--markup", "html", given=page))
        assert "1.0000  ferry" in output

    def test_beside_it_a_dash_is_json_lines_as_everywhere(self, told, pages, docs):
        lines = docs.read_bytes()
        output, errors = done(told("index", "query", pages, "-", given=lines))
        assert output.startswith("3 similar documents to 3 of 3 by Jaccard of chars:4 shingles\n")
        assert output.split("\n")[2].split()[:3] == ["similarity", "document", "match"]
        assert "Read       3 documents\nFound      3 matches, of 3 documents\n" in errors

    def test_a_file_is_one_document_too(self, told, pages):
        path = HERE / "new.txt"
        path.write_text(NEAR_FERRY)
        output, errors = done(told("index", "query", pages, path))
        assert output == told("index", "query", pages, "--string", NEAR_FERRY)[1]
        assert "Read       1 document\nFound      1 match, of 1 document\n" in errors

    def test_nothing_found_is_said_in_words_and_is_no_error(self, told, pages):
        output, errors = done(told("index", "query", pages, "--string", NEW))
        assert output == ""
        assert " ".join(errors.split()) == (
            f"Nothing in {pages} is at least 0.7 similar to the document."
        )
        _, errors = done(told("index", "query", pages, "--string", NEAR_FERRY, "-t", "0.95"))
        assert "which answers from 0.7 on, is at least 0.95" in " ".join(errors.split())
        assert told("index", "query", pages, "--string", NEW, "-q") == (0, "", "")
        new = write_records(HERE / "new.jsonl", [{"id": 1, "text": NEW}, {"id": 2, "text": "x"}])
        _, errors = done(told("index", "query", pages, new))
        assert " is at least 0.7 similar to a document that was looked" in errors
        assert "Read       2 documents\nSeconds" in errors

    def test_an_empty_document_is_similar_to_nothing(self, told, pages):
        status, output, errors = told("index", "query", pages, given=b"")
        assert (status, output) == (0, "")
        assert errors.startswith("Nothing in ")

    def test_a_lower_threshold_is_refused_with_the_reason(self, told, pages):
        line = refused(told("index", "query", pages, "--string", NEW, "-t", "0.6"), 2)
        assert line.startswith("--threshold 0.6 is below that of the index, 0.7")

    def test_matches_are_chosen_by_number_and_by_metadata(self, told, pages):
        with lookalike.Index(pages) as index:
            index.add("draft", NEAR_FERRY, {"source": "book"})
        ask = ["index", "query", pages, "--string", FERRY, "--format", "jsonl"]
        both = [json.loads(line)["match"] for line in done(told(*ask))[0].splitlines()]
        assert both == ["ferry", "draft"]
        (one,) = done(told(*ask, "--top", "1"))[0].splitlines()
        assert json.loads(one)["match"] == "ferry"
        (one,) = done(told(*ask, "--where", "source = 'book'"))[0].splitlines()
        assert json.loads(one)["match"] == "draft"
        assert "asks for 'sauce'" in refused(told(*ask, "--where", "sauce = 1"), 2)

    def test_rows_for_programs_have_all_columns(self, told, pages, docs):
        row = {"match": "ferry", "similarity": 1.0, "score": "exact"}
        shares = {"query_in_match": 1.0, "match_in_query": 1.0}
        known = {"metadata.seen": "2026-01-02", "metadata.source": "web", "metadata.year": 2024}
        ask = ["index", "query", pages, "--string", FERRY]
        output, _ = done(told(*ask, "--format", "jsonl", "--containment"))
        assert json.loads(output) == {**row, **shares, **known}
        (line,) = csv.DictReader(io.StringIO(done(told(*ask, "--format", "csv"))[0]))
        assert line == {name: str(value) for name, value in {**row, **known}.items()}
        out = HERE / "found.parquet"
        _, errors = done(told("index", "query", pages, docs, "-o", out))
        assert f"Written    to {out}\n" in errors
        table = pq.read_table(out)
        assert table["id"].to_pylist() == table["match"].to_pylist() == ["ferry", "bread", "tram"]

    def test_what_was_not_read_is_named_beside_a_written_result(self, told, pages):
        folder, out = HERE / "new", HERE / "found.jsonl"
        folder.mkdir()
        (folder / "a.txt").write_text(FERRY)
        (folder / "b.bin").write_bytes(BINARY)
        (folder / "c.docx").write_bytes(b"PK and no more")
        status, _, _ = told("index", "query", pages, folder, "-o", out, "--skip-bad")
        assert status == 0
        lines = Path("found.jsonl.skipped.jsonl").read_text().splitlines()
        named = {line["path"]: line["reason"] for line in map(json.loads, lines)}
        assert named.keys() == {"new/b.bin", "new/c.docx"}
        assert named["new/b.bin"] == "binary"
        assert named["new/c.docx"].startswith("is a DOCX file that cannot be read")
        done(told("index", "query", pages, folder / "a.txt", "-o", out))
        assert not Path("found.jsonl.skipped.jsonl").exists()

    def test_dates_and_timestamps_are_written_as_they_are(self, told, empty):
        with lookalike.Index(empty) as index:
            moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
            index.add(1, FERRY, {"day": date(2026, 1, 2), "at": moment, "true": True})
        ask = ["index", "query", empty, "--string", FERRY]
        found = json.loads(done(told(*ask, "--format", "jsonl"))[0])
        assert found["metadata.day"] == "2026-01-02"
        assert found["metadata.at"] == "2026-01-02T03:04:05+00:00"
        (line,) = csv.DictReader(io.StringIO(done(told(*ask, "--format", "csv"))[0]))
        assert line["metadata.at"] == "2026-01-02T03:04:05+00:00"
        shown = done(told(*ask))[0].split("\n")[4].split()
        assert shown == ["1.0000", "1", "2026-01-02T03:04:05+00:00", "2026-01-02", "true"]
        facts = json.loads(done(told(*ask, "--json"))[0])
        assert facts["matches"][0]["metadata.day"] == "2026-01-02"

    def test_the_facts_are_given_to_a_program(self, told, pages, docs):
        output, errors = done(told("index", "query", pages, docs, "--json", "-q"))
        facts = json.loads(output)
        assert errors == ""
        counts = {"documents": 3, "similar": 3, "match_count": 3, "bad_count": 0}
        assert counts.items() <= facts.items()
        assert [row["match"] for row in facts["matches"]] == ["ferry", "bread", "tram"]

    def test_many_matches_are_shown_in_part(self, told, empty):
        with lookalike.Index(empty) as index:
            for at in range(25):
                index.add(f"copy-{at:02}", FERRY)
        output, _ = done(told("index", "query", empty, "--string", FERRY))
        assert output.startswith("25 similar documents by Jaccard of chars:4 shingles, the 20 most")
        assert len(re.findall("^    1.0000  copy-", output, re.MULTILINE)) == 20
        lines = done(told("index", "query", empty, "--string", FERRY, "--format", "jsonl"))[0]
        assert len(lines.splitlines()) == 25

    def test_wide_rows_are_shown_one_below_the_other_unbroken(self, told, empty, docs):
        name = "https://example.org/" + 12 * "a-long-path/"
        with lookalike.Index(empty) as index:
            index.add(name, FERRY, {"title": "The ferry", "year": 2024})
        status, output, _ = told("index", "query", empty, docs, "--containment")
        assert status == 0
        assert (
            f"similarity, document, and match below it\n\n 1.0000  ferry\n         {name}\n"
            in output
        )
        assert "of document 100.0%, of match 100.0%, title: The ferry, year: 2024\n" in output
        _, output, _ = told("index", "query", empty, docs, "--containment", columns=60)
        assert "of match 100.0%, title: The\n         ferry, year: 2024\n" in output

    def test_estimates_are_marked(self, told):
        path = HERE / "a.lookalike"
        with lookalike.Index.create(path, shingle="chars:4", no_text=True) as index:
            index.add("ferry", FERRY)
        output, _ = done(told("index", "query", path, "--string", FERRY))
        assert "~1.0000  ferry" in output

    @pytest.mark.parametrize(
        ("fail_on", "text", "status"),
        [("any", FERRY, 3), ("any", NEW, 0), ("2", FERRY, 0), ("100%", FERRY, 3)],
    )
    def test_what_is_found_may_be_a_failure(self, told, pages, fail_on, text, status):
        answer = told("index", "query", pages, "--string", text, "--fail-on", fail_on, "-q")
        assert answer[0] == status

    def test_one_thing_is_looked_for_at_a_time(self, told, pages, docs):
        line = refused(told("index", "query", pages, docs, "--string", "x"), 2)
        assert line == "--string is a document, and so is SOURCE: give one of them"
        assert "--lines" in refused(told("index", "query", pages, "--string", "x", "--lines"), 2)

    def test_standard_input_that_is_no_text_is_told_in_a_line(self, told, pages):
        line = refused(told("index", "query", pages, given=b"caf\xe9"))
        assert line.startswith(
            "standard input is not text in UTF-8 at byte 4: say in which it is by"
        )
        line = refused(told("index", "query", pages, "--encoding", "klingon", given=b"x"))
        assert line.startswith("--encoding klingon")

    def test_a_table_is_not_written_to_a_file(self, told, pages):
        ask = ["index", "query", pages, "--string", FERRY]
        assert "for the screen" in refused(told(*ask, "--format", "table", "-o", "x.csv"), 2)
        assert "is not known by its name" in refused(told(*ask, "-o", HERE / "x"), 2)
        assert refused(told(*ask, "-o", "/dev/full", "--format", "csv")) == (
            "/dev/full cannot be written: No space left on device"
        )

    def test_an_index_of_vectors_answers_vectors(self, told):
        path = HERE / "emb.lookalike"
        rows = [{"id": at, "emb": [1.0, at / 10, 0.0]} for at in range(3)]
        vectors = write_records(HERE / "emb.jsonl", rows)
        given = ["--vector", "emb", "--metric", "cosine", "-t", "0.9"]
        done(told("index", "create", path, "--like", vectors, *given, "-q"))
        done(told("index", "add", path, vectors, "--vector", "emb", "-q"))
        output, _ = done(told("index", "query", path, vectors, "--vector", "emb", "--top", "1"))
        assert "3 similar documents to 3 of 3 by cosine of 3-dimensional vectors" in output
        line = refused(told("index", "query", path, "--string", "x"), 2)
        assert line == f"{path} is an index of vectors: name a SOURCE that holds some"
        texts = write_records(HERE / "docs.jsonl", PAGES)
        line = refused(told("index", "add", path, texts, "-q"))
        assert line.endswith(
            "holds text where the index holds vectors: use one that was made for such documents"
        )


class TestRemove:
    def test_ids_that_were_not_there_are_named(self, told, pages):
        given = ["ferry", *(f"no-{at}" for at in range(7)), "ferry"]
        output, errors = done(told("index", "remove", pages, *given))
        assert output == ""
        assert errors == (
            "Removed    1 document\nNot there  7 ids: no-0, no-1, no-2, no-3, no-4, …\n"
        )
        assert ids_of(pages) == ["bread", "tram"]

    def test_a_condition_removes_all_that_meet_it(self, told, pages):
        where = "source = 'web' and seen < '2026-01-01'"
        assert (
            done(told("index", "remove", pages, "--where", where))[1] == "Removed    1 document\n"
        )
        assert ids_of(pages) == ["bread", "ferry"]

    @pytest.mark.parametrize("dash", [False, True])
    def test_ids_may_be_in_a_file(self, told, pages, dash):
        data = b"\xef\xbb\xbfferry\r\n\r\ntram\nno"
        (HERE / "ids.txt").write_bytes(data)
        listed = "-" if dash else HERE / "ids.txt"
        ask = ["index", "remove", pages, "--ids", listed, "--json", "--durable"]
        output, _ = done(told(*ask, given=data))
        assert json.loads(output) == {"index": str(pages), "removed": 2, "missing": ["no"]}
        assert ids_of(pages) == ["bread"]

    def test_it_must_be_said_which(self, told, pages):
        which = "ids, --ids FILE or --where CONDITION"
        assert refused(told("index", "remove", pages), 2) == f"say which documents: {which}"
        both = told("index", "remove", pages, "ferry", "--where", "year > 1")
        assert refused(both, 2) == f"give one of them: {which}"
        assert len(ids_of(pages)) == 3

    def test_a_file_that_cannot_be_read_removes_nothing(self, told, pages):
        line = refused(told("index", "remove", pages, "--ids", HERE / "no"))
        assert line == f"{HERE / 'no'} cannot be read: No such file or directory"
        (HERE / "ids").write_bytes(b"ferry\n\xff\n")
        line = refused(told("index", "remove", pages, "--ids", HERE / "ids"))
        assert line == f"{HERE / 'ids'} is not UTF-8 text: convert it, one id a line"
        assert len(ids_of(pages)) == 3


class TestWhole:
    def test_indexes_of_one_making_are_merged(self, told, pages):
        shards = [HERE / "one.lookalike", HERE / "two.lookalike"]
        for shard, texts in zip(shards, ([FERRY, NEW], [BREAD]), strict=True):
            done(told("index", "create", shard, "--like", pages, "-q"))
            with lookalike.Index(shard) as index:
                for at, text in enumerate(texts):
                    index.add(f"{shard.stem}-{at}", text)
        output, errors = done(told("index", "merge", pages, *shards, "--json"))
        said = " ".join(errors.split())
        assert "Merged 2 indexes: 3 documents, 2 with a text that was there before" in said
        assert json.loads(output)["documents"] == 3
        assert len(ids_of(pages)) == 6

    def test_those_of_another_making_are_not(self, told, pages):
        other = HERE / "other.lookalike"
        lookalike.Index.create(other, shingle="words:2").close()
        line = refused(told("index", "merge", pages, other), 2)
        assert "was made by another recipe" in line
        assert "named twice" in refused(told("index", "merge", pages, pages), 2)

    def test_the_documents_are_exported(self, told, pages):
        out = HERE / "pages.parquet"
        output, errors = done(told("index", "export", pages, "-o", out, "--json"))
        assert "Exported   3 documents, in " in errors
        assert json.loads(output) == {"index": str(pages), "documents": 3, "out": str(out)}
        table = pq.read_table(out)
        assert table.column_names == ["id", "text", "seen", "source", "year"]
        assert table["id"].to_pylist() == ["bread", "ferry", "tram"]

    def test_an_export_is_parquet_and_a_copy_an_index(self, told, pages):
        line = refused(told("index", "export", pages, "-o", HERE / "x.csv"), 2)
        assert line.endswith("x.csv in .parquet")
        copy = HERE / "x.lookalike"
        line = refused(told("index", "export", pages, "-o", copy), 2)
        assert line.endswith(f"; lookalike index copy INDEX {copy} makes another index")
        nowhere = HERE / "no" / "x.parquet"
        assert "there is no folder" in refused(told("index", "export", pages, "-o", nowhere))

    def test_an_index_is_copied(self, told, pages):
        copy = HERE / "copy.lookalike"
        output, errors = done(told("index", "copy", pages, copy, "--json"))
        assert " ".join(errors.split()).startswith(f"Copied {pages} to {copy}, ")
        assert json.loads(output)["bytes"] == copy.stat().st_size
        assert ids_of(copy) == ids_of(pages)
        assert "is there already" in refused(told("index", "copy", pages, copy))

    def test_compacting_says_how_much_room_was_given_back(self, told, empty):
        with lookalike.Index(empty) as index:
            for at in range(300):
                index.add(at, f"{at} {NEW} {at * at}")
            index.remove(range(299))
        output, errors = done(told("index", "compact", empty, "--json"))
        facts = json.loads(output)
        assert facts["bytes"] == empty.stat().st_size < facts["bytes_before"]
        assert re.search(r"^Compacted  .* KB to .* KB, .* KB given back$", errors, re.MULTILINE)
        _, errors = done(told("index", "compact", empty))
        assert "nothing to give back" in errors
        assert ids_of(empty) == [299]

    def test_a_check_says_that_an_index_is_whole(self, told, pages):
        output, errors = done(told("index", "check", pages))
        assert output == ""
        whole = r"Whole +3 documents, 3 of them distinct, with \d+ rows of bands\nSeconds .*\n"
        assert re.fullmatch(whole, errors)
        output, errors = done(told("index", "check", pages, "--json", "-q"))
        facts = json.loads(output)
        assert (errors, facts.pop("rows") > 3) == ("", True)
        counts = {"documents": 3, "distinct": 3, "faults": []}
        assert facts == {"index": str(pages), "whole": True, **counts}

    def test_a_check_of_a_damaged_index_says_what_and_what_to_do_and_fails(self, told, pages):
        with sqlite3.connect(pages) as connection:
            entry = "(SELECT entry FROM document WHERE id = 'bread')"
            connection.execute(f"DELETE FROM loose WHERE entry = {entry}")
        connection.close()
        line = (
            f"{pages} is damaged, the rows of bands are not those of document 'bread': restore a "
            "copy of it, or remove these documents, whose ids it gives as JSON, compact it, and "
            "add them again"
        )
        assert refused(told("index", "check", pages)) == line
        status, output, errors = told("index", "check", pages, "--json", "-q")
        assert (status, errors) == (1, f"lookalike: {line}\n")
        fault = {"what": "the rows of bands are not those", "documents": 1, "ids": ["bread"]}
        assert json.loads(output)["faults"] == [fault]
        done(told("index", "remove", pages, "bread"))
        done(told("index", "compact", pages))
        done(told("index", "check", pages))

    def test_what_is_no_index_is_not_checked(self, told, docs):
        assert "is no index of Lookalike: give another" in refused(told("index", "check", docs))
        assert "there is no index" in refused(told("index", "check", "none.lookalike"))

    def test_info_says_what_it_is_made_by_holds_and_costs(self, told, pages):
        with lookalike.Index(pages) as index:
            index.add("copy", FERRY)
        output, errors = done(told("index", "info", pages))
        assert errors == ""
        said = " ".join(output.split())
        assert f"Index {pages}" in said
        for fact in (
            "Documents 4, 3 of them distinct",
            "Score Jaccard of chars:4 shingles",
            "Threshold 0.7 and above can be asked for",
            "Metadata seen (text), source (text), year (integer)",
            "ids and metadata",
            "Buckets the largest hold 1, 1, 1, 1, 1 distinct documents",
            "similarity candidate compared missed",
        ):
            assert fact in said
        assert re.search(r"A query looks at \d+ sketches \(\d+ KB\) at the worst", said)

    def test_info_is_as_quiet_as_ever(self, told, pages):
        assert done(told("index", "info", pages, "-q")) == done(told("index", "info", pages))

    def test_info_of_an_index_without_documents(self, told, empty):
        output, _ = done(told("index", "info", empty))
        assert "Documents  0, 0 of them distinct\n" in output
        assert "what takes room" not in output

    def test_info_warns_of_more_documents_than_were_planned_for(self, told):
        path = HERE / "a.lookalike"
        with lookalike.Index.create(path, shingle="chars:4", documents=1) as index:
            index.add_all([FERRY, BREAD])
            index.remove([0])
            index.add(2, TRAM)
        output, _ = done(told("index", "info", path))
        assert "Warning    there are more documents than the 1 that were planned" in output
        assert "Removed    1 removed document whose room" in output

    def test_info_gives_the_facts_to_a_program(self, told, pages):
        facts = json.loads(done(told("index", "info", pages, "--json"))[0])
        with lookalike.Index(pages) as index:
            assert facts == json.loads(json.dumps(index.info()))


class TestServer:
    def test_an_index_on_a_server_is_the_same(self, told, postgres, docs, pages):
        address = postgres.address()
        done(told("index", "create", address, "--like", pages, "-q"))
        _, errors = done(told("index", "add", address, docs, *METADATA, "--durable"))
        assert "Added      3 documents\n" in errors
        ask = ["--string", NEAR_FERRY, "--where", "year > 2000"]
        assert told("index", "query", address, *ask) == told("index", "query", pages, *ask)
        facts = json.loads(done(told("index", "info", address, "--json"))[0])
        assert facts["documents"] == 3
        assert told("index", "info", address)[0] == 0
        assert "Whole      3 documents" in done(told("index", "check", address))[1]
        done(told("index", "export", address, "-o", "held.parquet", "-q"))
        assert pq.read_table("held.parquet")["id"].to_pylist() == ["bread", "ferry", "tram"]
        assert done(told("index", "remove", address, "tram"))[1] == "Removed    1 document\n"
        assert done(told("index", "compact", address, "--json", "-q"))[0]
        assert "is on a server" in refused(told("index", "copy", address, "copy.lookalike"), 2)
        done(told("index", "merge", address, pages, "-q"))
        assert ids_of(address) == ["bread", "ferry", "tram"]

    def test_a_password_is_shown_nowhere(self, told, docs, monkeypatch):
        monkeypatch.setattr("lookalike.index.postgres_connections.PAUSES", ())
        address = "postgresql://me:secret@localhost:1/none?index=pages"
        assert "secret" not in refused(told("index", "info", address))
        assert "secret" not in refused(told("index", "add", docs, address), 2)
