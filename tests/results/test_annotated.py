"""`dedup` that removes nothing: all documents, with what was decided of each beside it."""

import csv
import gzip
import io
import json
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import lookalike
from lookalike.base.errors import OutputError, SettingsError
from source_files import write_records

BASE = (
    "The quick brown fox jumps over the lazy dog while seven wizards brew a potion of "
    "violets and the old miller counts his sacks of flour by the light of a candle"
)
OTHER = "Ships that pass in the night speak to each other in passing, only a signal shown"
RECORDS: list[dict[str, Any]] = [
    {"id": "a1", "text": BASE, "rank": 2},
    {"id": "b1", "text": OTHER, "rank": 5},
    {"id": "a2", "text": f"{BASE} stub", "rank": 9},
    {"id": "e1", "text": "", "rank": 0},
    {"id": "a3", "text": f"{BASE} stub\nof wax", "rank": 1},
    {"id": "c1", "text": 'Nothing "like" the others, at all, whatever one may say', "rank": 3},
    {"id": "b2", "text": OTHER, "rank": 7},
]
GIVEN: dict[str, Any] = {"shingle": "chars:5", "threshold": 0.8}
ADDED = ("cluster", "cluster_size", "kept", "similarity")


def expected(result, score="similarity"):
    """What is known of each document, told from the other tables of a result."""
    removed = {row["id"]: row[score] for row in result.removed.to_pylist()}
    members = {row["id"]: row for row in result.clusters.to_pylist() if row["corpus"] == "source"}
    found = {}
    for record in RECORDS:
        name = record["id"]
        member = members.get(name, {"cluster": None, "size": 1})
        values = (member["cluster"], member["size"], name not in removed, removed.get(name))
        found[name] = dict(zip((*ADDED[:3], score), values, strict=True))
    return found


def read_back(path):
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    if path.suffix == ".orc":
        return orc.read_table(path).to_pylist()
    if path.suffix == ".arrow":
        return pa.ipc.open_file(path).read_all().to_pylist()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in data.decode("utf-8-sig").splitlines()]
    delimiter = "\t" if ".tsv" in path.name else ","
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=delimiter))
    kinds: dict[str, Any] = {"rank": int, **dict.fromkeys(ADDED, json.loads)}
    return [
        {k: (kinds.get(k, str)(v) if v or k == "text" else None) for k, v in row.items()}
        for row in rows
    ]


def test_columns_are_split_as_they_were_and_where_there_is_no_header_none_is_made(tmp_path):
    lines = [f"{one['id']};{one['text'].splitlines()[0]}" for one in RECORDS if one["text"]]
    for header, options in ((["id;text"], {}), ([], {"no_header": True, "text": "2", "id": "1"})):
        out = tmp_path / f"out{len(header)}"
        source = tmp_path / "docs.csv"
        source.write_text("\n".join([*header, *lines]) + "\n", encoding="cp1252")
        given: dict[str, Any] = {**GIVEN, **options, "delimiter": ";"}
        lookalike.dedup(source, out=out, annotate=True, **given).close()
        found = (out / "annotated" / "docs.csv").read_text().splitlines()
        assert found[: len(header)] == ["id;text;" + ";".join(ADDED)] * len(header)
        for line, before in zip(found[len(header) :], lines, strict=True):
            assert line.startswith(f"{before};")
            assert line.count(";") == before.count(";") + len(ADDED)


@pytest.mark.parametrize(
    "name",
    [
        "docs.jsonl",
        "docs.jsonl.gz",
        "docs.csv",
        "docs.tsv",
        "docs.parquet",
        "docs.csv.gz",
        "docs.arrow",
        "docs.orc",
    ],
)
def test_records_keep_their_fields_and_get_more(name, tmp_path):
    source = write_records(tmp_path / name, RECORDS)
    before = source.read_bytes()
    with lookalike.dedup(source, out=tmp_path / "out", annotate=True, **GIVEN) as result:
        decided = expected(result)
        assert {row["id"]: row for row in result.annotated.to_pylist()} == {
            key: {"id": key, **values} for key, values in decided.items()
        }
    found = read_back(tmp_path / "out" / "annotated" / name)
    assert [row["id"] for row in found] == [record["id"] for record in RECORDS]
    for row, record in zip(found, RECORDS, strict=True):
        assert row == {**record, **decided[record["id"]]}
        assert list(row) == [*record, *ADDED]
    assert source.read_bytes() == before
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["annotated", "clusters.parquet", "removed.jsonl", "run.json"]


def test_what_was_decided_is_right_in_numbers():
    rows = {row["id"]: row for row in lookalike.dedup(RECORDS, **GIVEN).annotated.to_pylist()}
    assert {
        name: (row["cluster"], row["cluster_size"], row["kept"]) for name, row in rows.items()
    } == {
        "a1": (1, 3, True),
        "a2": (1, 3, False),
        "a3": (1, 3, False),
        "b1": (2, 2, True),
        "b2": (2, 2, False),
        "c1": (None, 1, True),
        "e1": (None, 1, True),
    }
    assert rows["b2"]["similarity"] == 1
    assert 0.8 < rows["a3"]["similarity"] < rows["a2"]["similarity"] < 1
    assert rows["a1"]["similarity"] is rows["c1"]["similarity"] is None


@pytest.mark.parametrize("documents", [0, 1, 2])
def test_few_documents(documents, tmp_path):
    source = write_records(tmp_path / "docs.csv", RECORDS[: documents or 1])
    if not documents:
        source.write_text("id,text,rank\r\n")
    lookalike.dedup(source, out=tmp_path / "out", annotate=True, **GIVEN).close()
    lines = (tmp_path / "out" / "annotated" / "docs.csv").read_bytes().splitlines()
    assert lines[0] == b"id,text,rank,cluster,cluster_size,kept,similarity"
    assert len(lines) == documents + 1


def test_lines_stay_as_they_were_but_for_what_is_added(tmp_path):
    source = tmp_path / "docs.jsonl"
    lines = [b'{"text":"a b c d e f",\t"z" : {} }\r\n', b"\n", b'{ "text": "x \\u00e9 }" } ']
    source.write_bytes(b"\xef\xbb\xbf" + b"".join(lines))
    lookalike.dedup(source, out=tmp_path / "out", annotate=True, id="none").close()
    added = b', "cluster": null, "cluster_size": 1, "kept": true, "similarity": null}'
    assert (tmp_path / "out" / "annotated" / "docs.jsonl").read_bytes() == (
        b'\xef\xbb\xbf{"text":"a b c d e f",\t"z" : {}' + added + b"\r\n"
        b'{ "text": "x \\u00e9 }"' + added + b" "
    )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["docs.jsonl", "docs.csv"])
def test_wide_characters(encoding, name, tmp_path):
    source = write_records(tmp_path / name, RECORDS)
    text = source.read_bytes().decode()
    source.write_bytes(("\ufeff" + text).encode(encoding))
    lookalike.dedup(source, out=tmp_path / "out", annotate=True, **GIVEN).close()
    made = (tmp_path / "out" / "annotated" / name).read_bytes()
    assert made.startswith("\ufeff".encode(encoding))
    assert made.decode(encoding).count("kept") == (1 if name == "docs.csv" else len(RECORDS))


def test_many_blocks_of_records(tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.read.annotated_copies.PIECE_BYTES", 64)
    for name in ("docs.jsonl", "docs.csv"):
        source = write_records(tmp_path / name, RECORDS)
        out = tmp_path / name[5:]
        with lookalike.dedup(source, out=out, annotate=True, **GIVEN) as one:
            decided = expected(one)
        for row in read_back(out / "annotated" / name):
            assert {key: row[key] for key in ADDED} == decided[row["id"]]


def test_files_that_are_one_document_are_a_table(tmp_path):
    folder = tmp_path / "notes"
    for record in RECORDS:
        path = folder / record["id"][0] / f"{record['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record["text"])
    write_records(folder / "more.jsonl", [{"id": "m", "text": BASE}])
    with lookalike.dedup(folder, out=tmp_path / "out", annotate=True, **GIVEN) as result:
        known = {row["id"]: row for row in result.annotated.to_pylist()}
    rows = read_back(tmp_path / "out" / "annotated.jsonl")
    assert len(rows) == len(RECORDS)
    assert all(row == known[row["id"]] for row in rows)
    more = read_back(next((tmp_path / "out" / "annotated").rglob("more.jsonl")))
    assert [row["id"] for row in more] == ["m"]


def test_vectors_in_an_array_are_a_table(tmp_path):
    vectors = np.array([[1, 0], [1, 0.01], [0, 1]], np.float32)
    np.save(tmp_path / "v.npy", vectors)
    given: dict[str, Any] = {"metric": "cosine", "threshold": 0.9, "annotate": True}
    lookalike.dedup(tmp_path / "v.npy", out=tmp_path / "out", **given).close()
    rows = read_back(tmp_path / "out" / "annotated.jsonl")
    assert [row["kept"] for row in rows] == [True, False, True]


def test_documents_in_memory_are_a_table_with_their_columns(tmp_path):
    with lookalike.dedup(pa.Table.from_pylist(RECORDS), **GIVEN) as result:
        result.write(tmp_path / "out", annotate=True)
        decided = expected(result)
    for row in read_back(tmp_path / "out" / "annotated" / "documents.parquet"):
        assert {key: row[key] for key in ADDED} == decided[row["id"]]
        assert row["rank"] == next(one["rank"] for one in RECORDS if one["id"] == row["id"])


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.csv", "docs.parquet"])
def test_a_column_that_is_there_already_is_refused_and_the_work_is_not_lost(name, tmp_path):
    records = [{**record, "kept": "yes"} for record in RECORDS]
    source = write_records(tmp_path / name, records)
    out = tmp_path / "out"
    with pytest.raises(OutputError, match="has a column 'kept' already, which annotate= adds"):
        lookalike.dedup(source, out=out, annotate=True, **GIVEN)
    assert not out.exists()
    said: list[str] = []
    with lookalike.dedup(source, out=out, say=said.append, **GIVEN) as result:
        assert result.counts["removed"] == 3
    assert any("Resuming" in line for line in said)


def test_a_name_written_with_escapes_is_known(tmp_path):
    source = tmp_path / "docs.jsonl"
    source.write_text('{"text": "a b c", "k\\u0065pt": 1}\n')
    with pytest.raises(OutputError, match=r"docs.jsonl:1 has a column 'kept'"):
        lookalike.dedup(source, out=tmp_path / "out", annotate=True)
    source.write_text('{"text": "a b c", "inner": {"kept": 1}}\n')
    lookalike.dedup(source, out=tmp_path / "out2", annotate=True).close()


def test_a_column_in_memory_that_is_there_already_is_refused(tmp_path):
    result = lookalike.dedup([{"text": "a b c", "cluster": 1}])
    with pytest.raises(OutputError, match="has a column 'cluster' already"):
        result.write(tmp_path / "out", annotate=True)


def test_the_record_says_it_and_the_result_opens_again(tmp_path):
    source = write_records(tmp_path / "docs.jsonl", RECORDS)
    given: dict[str, Any] = {"out": tmp_path / "out", "annotate": True, **GIVEN}
    with lookalike.dedup(source, **given) as result:
        removed = result.removed.to_pylist()
    assert json.loads((tmp_path / "out" / "run.json").read_bytes())["annotated"] is True
    with lookalike.DedupResult.open(tmp_path / "out") as again:
        assert again.removed.to_pylist() == removed
        assert again.counts == result.counts
        with pytest.raises(OutputError, match="annotated"):
            _ = again.annotated
    # The same job again gives what is there; without the columns it is another.
    assert lookalike.dedup(source, **given).was_there
    with pytest.raises(OutputError):
        lookalike.dedup(source, **{**given, "annotate": False})


def test_records_that_could_not_be_read_are_passed_over(tmp_path):
    source = write_records(tmp_path / "docs.jsonl", RECORDS)
    lines = source.read_text().splitlines()
    source.write_text("\n".join([lines[0], "{broken", *lines[1:]]) + "\n")
    (tmp_path / "bad.jsonl").write_text("{worse\n")
    both = lookalike.paths(source, tmp_path / "bad.jsonl")
    given: dict[str, Any] = {"out": tmp_path / "out", "annotate": True, "skip_bad": True, **GIVEN}
    lookalike.dedup(both, **given).close()
    (made,) = (tmp_path / "out" / "annotated").rglob("*.jsonl")
    assert [row["id"] for row in read_back(made)] == [record["id"] for record in RECORDS]


def test_by_containment_the_share_is_named_so(tmp_path):
    source = write_records(tmp_path / "docs.csv", RECORDS)
    given: dict[str, Any] = {"shingle": "chars:5", "rule": "contained", "annotate": True}
    with lookalike.dedup(source, out=tmp_path / "out", **given) as result:
        decided = expected(result, "containment")
        assert {row["id"]: row["containment"] for row in result.annotated.to_pylist()} == {
            name: row["containment"] for name, row in decided.items()
        }
    head = (tmp_path / "out" / "annotated" / "docs.csv").read_text().splitlines()[0]
    assert head.endswith(",cluster,cluster_size,kept,containment")


def test_a_reference_is_not_written_and_counts_in_clusters(tmp_path):
    source = write_records(tmp_path / "docs.jsonl", RECORDS)
    reference = [{"id": "a1", "text": f"{BASE} end"}, {"id": "x", "text": "unlike all"}]
    given: dict[str, Any] = {"against": reference, "annotate": True, **GIVEN}
    with lookalike.dedup(source, out=tmp_path / "out", **given) as result:
        rows = read_back(tmp_path / "out" / "annotated" / "docs.jsonl")
        assert [row["id"] for row in rows] == [record["id"] for record in RECORDS]
        assert rows[0]["cluster_size"] == 4
        assert not rows[0]["kept"]
        assert {row["id"]: row["kept"] for row in result.annotated.to_pylist()} == {
            row["id"]: row["kept"] for row in rows
        }


def test_a_pickled_result_has_it_too():
    result = lookalike.dedup(RECORDS, **GIVEN)
    assert pickle.loads(pickle.dumps(result)).annotated.equals(result.annotated)


def test_what_it_cannot_be_joined_with_is_refused(tmp_path):
    for other in ("list_only", "drop_unread"):
        with pytest.raises(SettingsError, match="writes all documents"):
            lookalike.dedup(RECORDS, out=tmp_path / "out", annotate=True, **{other: True})  # type: ignore[arg-type]
