"""`lookalike dedup` on real corpora, as a user runs it: what is kept, removed and written."""

import csv
import gzip
import io
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike
import twins
from lookalike.cli import main
from source_files import pack, unpack, write_records

REAL = ["licenses", "poetry", "articles"]
THRESHOLD = 0.7
BANDING = ("--bands", "30", "--rows", "5")


def state(path):
    """Give the bytes and the time of the last change of a file."""
    return path.read_bytes(), path.stat().st_mtime_ns


def lines_of(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def ids_of(path):
    return [record["id"] for record in lines_of(path)]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def shingles(text):
    """Give the 3-word shingles of a text, by the plain twin."""
    return twins.elements(twins.word_hashes(twins.canonical(text), 3), multiset=False)


def one_line(errors):
    return re.fullmatch(r"lookalike: [^\n]+\n", errors) and "a bug in Lookalike" not in errors


@pytest.fixture(scope="module", params=REAL)
def cleaned(request, corpora, tmp_path_factory):
    """Give a real corpus, its result by a banding that was given, and the state it was in."""
    source = corpora / request.param / "docs.jsonl"
    out = tmp_path_factory.mktemp(request.param) / "clean"
    before = state(source)
    command = ["dedup", source, "-o", out, "-s", "words:3", "-t", THRESHOLD, *BANDING, "-q"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["lookalike", *map(str, command)])
        with pytest.raises(SystemExit, check=lambda ended: not ended.code):
            main()
    return source, out, before


class TestRealCorpora:
    def test_kept_and_removed_and_empty_make_up_what_was_read(self, cleaned):
        source, out, _ = cleaned
        counts = json.loads((out / "run.json").read_bytes())["counts"]
        records = lines_of(source)
        kept = ids_of(out / "kept" / "docs.jsonl")
        removed = ids_of(out / "removed.jsonl")
        empty = sum(not record["text"].strip() for record in records)
        assert counts["read"] == len(records)
        assert counts["empty"] == empty
        assert counts["kept"] == len(kept) - empty
        assert counts["removed"] == len(removed) > 0
        assert counts["kept"] + counts["removed"] + counts["empty"] == counts["read"]
        assert Counter(kept + removed) == Counter(record["id"] for record in records)

    def test_every_removed_document_names_a_kept_one_that_is_as_similar_as_told(self, cleaned):
        source, out, _ = cleaned
        answers = {}
        for line in (source.parent / "pairs-words3.tsv").read_text("utf-8").split("\n")[:-1]:
            a, b, similarity = line.split("\t")
            answers[a, b] = answers[b, a] = float(similarity)
        kept = set(ids_of(out / "kept" / "docs.jsonl"))
        for record in lines_of(out / "removed.jsonl"):
            assert list(record) == ["id", "kept", "similarity", "kept_in"]
            assert record["id"] not in kept
            assert record["kept"] in kept
            assert record["similarity"] >= THRESHOLD
            told = answers[record["id"], record["kept"]]
            assert record["similarity"] == pytest.approx(told, abs=1e-6)

    def test_the_plain_twin_finds_the_same_similarities(self, cleaned):
        source, out, _ = cleaned
        texts = {record["id"]: record["text"] for record in lines_of(source)}
        removed = lines_of(out / "removed.jsonl")
        for record in removed[:: max(1, len(removed) // 10)]:
            both = shingles(texts[record["id"]]), shingles(texts[record["kept"]])
            assert record["similarity"] == float(twins.jaccard(*both))

    def test_kept_lines_are_those_of_the_input_byte_for_byte_in_order(self, cleaned):
        source, out, _ = cleaned
        removed = set(ids_of(out / "removed.jsonl"))
        expected = [
            line
            for line in source.read_bytes().split(b"\n")
            if line and json.loads(line)["id"] not in removed
        ]
        assert (out / "kept" / "docs.jsonl").read_bytes() == b"\n".join([*expected, b""])

    def test_the_result_of_dedup_has_nothing_to_remove(self, cleaned, told, tmp_path):
        _, out, _ = cleaned
        again = tmp_path / "again"
        kept = out / "kept" / "docs.jsonl"
        command = ["dedup", kept, "-o", again, "-s", "words:3", "-t", THRESHOLD, *BANDING, "-q"]
        assert told(*command) == (0, "", "")
        assert (again / "removed.jsonl").read_bytes() == b""
        assert (again / "kept" / "docs.jsonl").read_bytes() == kept.read_bytes()

    def test_the_input_is_untouched_and_nothing_hidden_stays(self, cleaned):
        source, out, before = cleaned
        assert state(source) == before
        assert names(out.parent) == ["clean"]
        assert names(out) == ["clusters.parquet", "kept", "removed.jsonl", "run.json"]

    def test_clusters_tell_what_the_removals_tell(self, cleaned):
        _, out, _ = cleaned
        members = pq.read_table(out / "clusters.parquet").to_pylist()
        kept = {row["cluster"]: row for row in members if row["kept"]}
        told = [
            {
                "id": row["id"],
                "kept": kept[row["cluster"]]["id"],
                "similarity": row["similarity"],
                "kept_in": kept[row["cluster"]]["corpus"],
            }
            for row in members
            if not row["kept"]
        ]
        by_id = sorted(told, key=lambda row: row["id"])
        assert by_id == lines_of(out / "removed.jsonl")
        sizes = Counter(row["cluster"] for row in members)
        assert all(row["size"] == sizes[row["cluster"]] for row in members)

    def test_the_record_of_the_run_says_how_it_was_made(self, cleaned):
        source, out, _ = cleaned
        run = json.loads((out / "run.json").read_bytes())
        settings = run["settings"]
        assert (settings["threshold"], settings["shingle"]) == (THRESHOLD, "words:3")
        assert (run["plan"]["bands"], run["plan"]["rows"]) == (30, 5)
        assert run["sources"][0][0] == str(source)
        assert run["against"] == []
        assert set(run["seconds"]) >= {"read", "sketch", "band", "compare", "write"}
        assert run["counts"]["candidates"] >= run["counts"]["rejected"] >= 0


BASE = (
    "The quick brown fox jumps over the lazy dog while seven wizards brew a potion of "
    "violets and the old miller counts his sacks of flour by the light of a candle"
)
OTHER = (
    "Ships that pass in the night speak to each other in passing, only a signal shown and "
    "a distant voice in the darkness, then silence and the sea again"
)
RECORDS = [
    {"id": "a1", "text": BASE, "rank": 2},
    {"id": "b1", "text": OTHER, "rank": 5},
    {"id": "a2", "text": f"{BASE} stub", "rank": 9},
    {"id": "e1", "text": "", "rank": 0},
    {"id": "a3", "text": f"{BASE} stub of wax", "rank": 1},
    {"id": "c1", "text": "Nothing like the others, at all, whatever one may say of it", "rank": 3},
    {"id": "b2", "text": OTHER, "rank": 7},
]
COMMON = ("-s", "chars:5", "-t", "0.8", "-q")
GONE = {"a2", "a3", "b2"}
"""What goes when the first stays."""


def kept_of(path):
    """Give the ids in a file of kept records, read by nothing of the package's."""
    if path.suffix == ".parquet":
        return pq.read_table(path)["id"].to_pylist()
    data = unpack(path.read_bytes(), path.name).decode()
    if ".jsonl" in path.name:
        return [json.loads(line)["id"] for line in data.split("\n") if line]
    delimiter = "\t" if ".tsv" in path.name else ","
    return [row["id"] for row in csv.DictReader(io.StringIO(data), delimiter=delimiter)]


class TestFormats:
    @pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
    def test_lines_are_kept_byte_for_byte(self, packing, told, tmp_path):
        # Blanks, escapes, an odd order of fields, a return before the end of a line.
        lines = [json.dumps(record).encode() + b"\n" for record in RECORDS]
        lines[0] = b'  {"rank":2.50,  "text" : ' + json.dumps(BASE).encode() + b', "id":"a1"} \r\n'
        lines[5] = lines[5].replace(b"Nothing", b"\\u004eothing")
        name = f"docs.jsonl{packing}"
        path = tmp_path / name
        path.write_bytes(pack(b"".join(lines), name))
        assert told("dedup", path, "-o", tmp_path / "clean", *COMMON) == (0, "", "")
        kept = unpack((tmp_path / "clean" / "kept" / name).read_bytes(), name)
        assert kept == lines[0] + lines[1] + lines[3] + lines[5]

    @pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.csv.zst", "d.tsv"])
    def test_records_of_tables_are_kept_byte_for_byte(self, name, told, tmp_path):
        mark = "\t" if "tsv" in name else ","
        rows = [
            f'{record["id"]}{mark}"{record["text"]}"{mark}{record["rank"]}\n' for record in RECORDS
        ]
        rows[5] = rows[5].replace("at all", 'at ""all""\nor\r\nnearly')
        path = tmp_path / name
        path.write_bytes(pack("".join([f"id{mark}text{mark}rank\r\n", *rows]).encode(), name))
        assert told("dedup", path, "-o", tmp_path / "clean", *COMMON) == (0, "", "")
        kept = unpack((tmp_path / "clean" / "kept" / name).read_bytes(), name).decode()
        assert kept == "".join([f"id{mark}text{mark}rank\r\n", rows[0], rows[1], rows[3], rows[5]])

    def test_parquet_keeps_schema_metadata_compression_and_order(self, told, tmp_path):
        table = pa.Table.from_pylist(RECORDS).cast(
            pa.schema(
                [
                    pa.field("id", pa.string(), metadata={"unit": "name"}),
                    pa.field("text", pa.large_string()),
                    pa.field("rank", pa.int16(), nullable=True),
                ],
                metadata={"made by": "hand"},
            )
        )
        path = tmp_path / "docs.parquet"
        pq.write_table(table, path, compression={"id": "zstd", "text": "gzip", "rank": "none"})
        assert told("dedup", path, "-o", tmp_path / "clean", *COMMON) == (0, "", "")
        copy = tmp_path / "clean" / "kept" / "docs.parquet"
        kept = pq.read_table(copy)
        assert kept.schema.equals(table.schema, check_metadata=True)
        assert kept.to_pylist() == [row for row in RECORDS if row["id"] not in GONE]
        chunks = [pq.ParquetFile(copy).metadata.row_group(0).column(i) for i in range(3)]
        assert [chunk.compression for chunk in chunks] == ["ZSTD", "GZIP", "UNCOMPRESSED"]

    def test_files_of_a_folder_are_copied_with_their_paths(self, told, tmp_path):
        source = tmp_path / "pile"
        (source / "deep" / "er").mkdir(parents=True)
        (source / "a.txt").write_bytes(BASE.encode() + b"\r\n")
        (source / "deep" / "b.md").write_bytes(b"\xef\xbb\xbf" + OTHER.encode())
        (source / "deep" / "er" / "copy.txt").write_text(BASE.upper())
        (source / "deep" / "er" / "c.html").write_text(f"<html><p>{OTHER}</p>")
        (source / "empty.txt").write_bytes(b"")
        write_records(source / "deep" / "d.jsonl.gz", [{"id": "x", "text": BASE}, RECORDS[5]])
        before = {path: state(path) for path in source.rglob("*") if path.is_file()}
        assert told("dedup", source, "-o", tmp_path / "clean", *COMMON) == (0, "", "")
        kept = tree(tmp_path / "clean" / "kept")
        inside = gzip.decompress(kept.pop("deep/d.jsonl.gz"))
        assert json.loads(inside) == RECORDS[5]
        whole = ["a.txt", "deep/b.md", "empty.txt"]
        assert kept == {name: (source / name).read_bytes() for name in whole}
        assert {path: state(path) for path in before} == before

    def test_a_list_is_of_the_kept_ids_in_order(self, told, tmp_path):
        path = write_records(tmp_path / "docs.jsonl", RECORDS)
        assert told("dedup", path, "-o", tmp_path / "clean", "--list", *COMMON) == (0, "", "")
        assert (tmp_path / "clean" / "kept.txt").read_text() == "a1\nb1\ne1\nc1\n"
        written = ["clusters.parquet", "kept.txt", "removed.jsonl", "run.json"]
        assert names(tmp_path / "clean") == written


@pytest.fixture
def docs(tmp_path):
    return write_records(tmp_path / "in" / "docs.jsonl", RECORDS)


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("first", {"a1", "b1"}),
        ("last", {"a3", "b2"}),
        ("longest", {"a3", "b1"}),
        ("shortest", {"a1", "b1"}),
        ("max:rank", {"a2", "b2"}),
        ("min:rank", {"a3", "b1"}),
    ],
)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_policies_choose_who_stays(policy, kept, kind, told, tmp_path):
    path = write_records(tmp_path / f"docs.{kind}", RECORDS)
    out = tmp_path / "clean"
    assert told("dedup", path, "-o", out, "--keep", policy, *COMMON) == (0, "", "")
    assert set(kept_of(out / "kept" / path.name)) == kept | {"e1", "c1"}
    removed = lines_of(out / "removed.jsonl")
    assert {row["id"] for row in removed} == {"a1", "a2", "a3", "b1", "b2"} - kept
    assert {row["kept"] for row in removed} == kept


@pytest.mark.parametrize("policy", ["first", "longest", "max:rank"])
def test_a_dry_run_prints_what_a_real_one_removes_and_writes_nothing(policy, told, docs, tmp_path):
    common = (*COMMON, "--keep", policy)
    status, output, errors = told("dedup", docs, "--dry-run", "--format", "jsonl", *common)
    assert (status, errors) == (0, "")
    assert names(tmp_path) == ["in"]
    assert names(docs.parent) == ["docs.jsonl"]
    assert told("dedup", docs, "-o", tmp_path / "clean", *common) == (0, "", "")
    assert output == (tmp_path / "clean" / "removed.jsonl").read_text()


def test_a_dry_run_shows_a_person_who_would_go_and_why(told, docs):
    status, output, errors = told("dedup", docs, "--dry-run", *COMMON[:-1])
    assert status == 0
    assert "3 documents would go" in output
    assert re.search(r"1\.0000\s+b2\s+b1\s", output)
    assert re.search(r"0\.9\d+\s+a2\s+a1\s", output)
    assert "Would keep 3 and 1 empty, and remove 3" in errors


class TestAgainst:
    REFERENCE = (
        {"id": "b1", "text": f"{BASE} stub"},
        {"id": "r2", "text": "Of no concern to anybody, this one, in the least"},
        {"id": "r3", "text": "Of no concern to anybody, this one, in the least!"},
    )

    @pytest.fixture
    def reference(self, tmp_path):
        return write_records(tmp_path / "reference" / "held.jsonl", self.REFERENCE)

    def test_what_is_like_a_reference_goes_and_the_reference_stays(
        self, told, docs, reference, tmp_path
    ):
        before = state(reference)
        out = tmp_path / "clean"
        command = ["dedup", docs, "--against", reference, "-o", out, *COMMON]
        assert told(*command) == (0, "", "")
        assert state(reference) == before
        assert names(reference.parent) == ["held.jsonl"]
        removed = lines_of(out / "removed.jsonl")
        # The id b1 is of a document here and of another there.
        assert [(r["id"], r["kept"], r["kept_in"]) for r in removed] == [
            ("a1", "b1", "reference"),
            ("a2", "b1", "reference"),
            ("a3", "b1", "reference"),
            ("b2", "b1", "source"),
        ]
        assert kept_of(out / "kept" / "docs.jsonl") == ["b1", "e1", "c1"]
        counts = json.loads((out / "run.json").read_bytes())["counts"]
        assert (counts["read"], counts["reference"]) == (7, 3)
        assert counts["kept"] + counts["removed"] + counts["empty"] == 7

    @pytest.mark.parametrize("policy", ["last", "longest", "max:rank"])
    def test_no_policy_prefers_a_document_to_the_reference(
        self, policy, told, docs, reference, tmp_path
    ):
        out = tmp_path / "clean"
        command = ["dedup", docs, "--against", reference, "-o", out, "--keep", policy, *COMMON]
        assert told(*command) == (0, "", "")
        named = {r["id"]: r["kept_in"] for r in lines_of(out / "removed.jsonl")}
        assert {name for name, where in named.items() if where == "reference"} == {"a1", "a2", "a3"}

    def test_python_and_the_files_say_the_same_of_each_corpus(
        self, told, docs, reference, tmp_path
    ):
        out = tmp_path / "clean"
        assert told("dedup", docs, "--against", reference, "-o", out, *COMMON) == (0, "", "")
        given: dict[str, Any] = {"shingle": "chars:5", "threshold": 0.8}
        result = lookalike.dedup(docs, against=reference, **given)
        assert result.removed.to_pylist() == lines_of(out / "removed.jsonl")
        assert result.clusters.equals(pq.read_table(out / "clusters.parquet"))
        run = json.loads((out / "run.json").read_bytes())
        assert [row[0] for row in run["sources"]] == [str(docs)]
        assert [row[0] for row in run["against"]] == [str(reference)]

    def test_one_id_in_both_corpora_is_told_apart_in_the_clusters(self, docs, reference):
        members = lookalike.dedup(docs, against=reference).clusters.to_pylist()
        shared = [(m["cluster"], m["corpus"], m["kept"]) for m in members if m["id"] == "b1"]
        assert shared == [(1, "reference", True), (2, "source", True)]

    def test_the_columns_are_the_same_without_a_reference(self, docs, reference, tmp_path):
        empty = write_records(tmp_path / "empty.jsonl", [])
        results = [lookalike.dedup(docs, against=other) for other in (None, empty, reference)]
        for name in ("removed", "clusters"):
            schemas = [getattr(result, name).schema for result in results]
            assert schemas[0].names == schemas[1].names == schemas[2].names
            assert schemas[0].types == schemas[1].types == schemas[2].types
        assert set(results[0].removed["kept_in"].to_pylist()) == {"source"}
        assert set(results[0].clusters["corpus"].to_pylist()) == {"source"}

    def test_a_dry_run_marks_what_is_kept_in_the_reference(self, told, docs, reference):
        _, output, _ = told("dedup", docs, "--against", reference, "--dry-run", *COMMON)
        assert re.search(r"a1\s+b1 \(reference\)", output)
        assert re.search(r"b2\s+b1\s*\n", output)

    def test_the_summary_counts_the_reference(self, told, docs, reference):
        arguments = ["dedup", docs, "--against", reference, "--dry-run", *COMMON[:-1]]
        _, _, errors = told(*arguments)
        assert "Against    3 reference documents" in errors

    def test_several_references_are_one(self, told, docs, reference, tmp_path):
        other = write_records(tmp_path / "other.jsonl", [{"id": "o", "text": OTHER}])
        out = tmp_path / "clean"
        command = ["dedup", docs, "--against", reference, "--against", other, "-o", out, *COMMON]
        assert told(*command) == (0, "", "")
        assert kept_of(out / "kept" / "docs.jsonl") == ["e1", "c1"]


def test_a_folder_that_is_not_empty_is_refused_and_left_alone(told, docs, tmp_path):
    out = tmp_path / "clean"
    out.mkdir()
    (out / "letter.txt").write_text("dear")
    status, output, errors = told("dedup", docs, "-o", out, *COMMON)
    assert (status, output) == (1, "")
    assert one_line(errors)
    assert f"{out} is not empty: name a folder that is new or empty" in errors
    assert tree(out) == {"letter.txt": b"dear"}
    assert names(tmp_path) == ["clean", "in"]


def test_an_empty_folder_is_filled(told, docs, tmp_path):
    (tmp_path / "clean").mkdir()
    assert told("dedup", docs, "-o", tmp_path / "clean", *COMMON) == (0, "", "")
    assert (tmp_path / "clean" / "run.json").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [("file", "is a file: name a folder"), ("gone/clean", "there is no folder")],
)
def test_a_target_that_can_be_no_folder_is_refused(name, message, told, docs, tmp_path):
    (tmp_path / "file").write_text("of another")
    status, output, errors = told("dedup", docs, "-o", tmp_path / name, *COMMON)
    assert (status, output) == (1, "")
    assert one_line(errors)
    assert message in errors
    assert names(tmp_path) == ["file", "in"]


@pytest.mark.parametrize("name", ["in", "in/clean", "in/docs.jsonl"])
def test_a_target_within_what_is_read_is_refused(name, told, docs, tmp_path):
    status, output, errors = told("dedup", docs.parent, "-o", tmp_path / name, *COMMON)
    assert (status, output) == (1, "")
    assert one_line(errors)
    assert "are one inside the other" in errors
    assert names(docs.parent) == ["docs.jsonl"]
    assert names(tmp_path) == ["in"]


def test_the_same_command_again_says_that_it_is_done(told, docs, tmp_path):
    out = tmp_path / "clean"
    command = ["dedup", docs, "-o", out, *COMMON]
    assert told(*command) == (0, "", "")
    before = {path: state(path) for path in out.rglob("*") if path.is_file()}
    status, output, errors = told(*command[:-1])
    assert (status, output) == (0, "")
    assert " ".join(errors.split()) == f"{out} already holds the result of this job."
    assert {path: state(path) for path in out.rglob("*") if path.is_file()} == before
    assert names(tmp_path) == ["clean", "in"]


@pytest.mark.parametrize(
    "more", [["-t", "0.9"], ["--keep", "last"], ["--skip-bad"], ["--list"], ["--seed", "3"]]
)
def test_another_job_does_not_take_a_result_for_its_own(more, told, docs, tmp_path):
    out = tmp_path / "clean"
    assert told("dedup", docs, "-o", out, *COMMON) == (0, "", "")
    before = tree(out)
    status, output, errors = told("dedup", docs, "-o", out, *COMMON, *more)
    assert (status, output) == (1, "")
    assert one_line(errors)
    assert "is not empty" in errors
    assert tree(out) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a folder for the results with -o DIR, or use --dry-run"),
        (["-o", "clean", "--dry-run"], "-o DIR and --dry-run cannot be used together: give one"),
        (["--dry-run", "--list"], "--list is for -o DIR"),
        (["-o", "clean", "--format", "csv"], "--format is for --dry-run"),
        (["-o", "clean", "--keep", "best"], "--keep best is unknown"),
        (["-o", "clean", "--memory", "lots"], "--memory lots is not understood"),
        (["-o", "clean", "--memory", "1KB"], "memory 1KB is 1 KB: use 500.0 MB or more"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(arguments, message, told, docs, monkeypatch):
    monkeypatch.chdir(docs.parent)
    status, output, errors = told("dedup", docs, *arguments)
    assert (status, output) == (2, "")
    assert one_line(errors)
    assert message in errors
    assert names(docs.parent) == ["docs.jsonl"]


def test_standard_input_is_deduplicated_too(told, tmp_path):
    given = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
    out = tmp_path / "clean"
    assert told("dedup", "-", "-o", out, *COMMON, given=given) == (0, "", "")
    (kept,) = (out / "kept").iterdir()
    assert kept_of(Path(kept)) == ["a1", "b1", "e1", "c1"]
    assert names(tmp_path) == ["clean"]


def test_several_sources_keep_their_files_apart(told, tmp_path, monkeypatch):
    for name, records in (("one", RECORDS[:3]), ("two", RECORDS[3:])):
        write_records(tmp_path / name / "docs.jsonl", records)
    monkeypatch.chdir(tmp_path)
    assert told("dedup", "one/docs.jsonl", "two", "-o", "clean", *COMMON) == (0, "", "")
    assert sorted(tree(tmp_path / "clean" / "kept")) == ["one/docs.jsonl", "two/docs.jsonl"]
    assert kept_of(tmp_path / "clean" / "kept" / "two" / "docs.jsonl") == ["e1", "c1"]
