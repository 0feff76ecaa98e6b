"""Commands on files with Spark: the answer of the engine on one machine, and records kept whole."""

import csv
import json
import random
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import lookalike

THRESHOLD = 0.7


@pytest.fixture(scope="module")
def notices(corpora) -> list[dict[str, Any]]:
    """Give licence notices of which many are similar, in an order that is not that of their ids."""
    lines = (corpora / "licenses" / "docs.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines if "gpl-2.0" in line][:160]
    random.Random(1).shuffle(records)
    return records


@pytest.fixture
def on_spark(spark, told):
    """Run a command on the cluster of the tests."""

    def run(*arguments):
        return told(*arguments, "--engine", "spark", "-q")

    return run


def odd_line(record: dict[str, Any], number: int) -> str:
    """Write a record as no library would: its numbers, blanks and order of fields are its own."""
    text = json.dumps(record["text"], ensure_ascii=bool(number % 2))
    return f'{{ "z": {number}.10,"text":{text} , "id": "{record["id"]}", "none": null}}'


def lines_below(folder: Path) -> list[str]:
    return sorted(
        line for path in folder.rglob("part-*") for line in path.read_text().split("\n") if line
    )


def rows_below(folder: Path) -> list[dict[str, Any]]:
    table = ds.dataset(folder, format="parquet", exclude_invalid_files=True).to_table()
    return sorted(table.to_pylist(), key=str)


def test_lines_of_json_are_kept_to_the_byte_and_as_on_one_machine(
    notices, on_spark, tmp_path
) -> None:
    lines = [odd_line(record, number) for number, record in enumerate(notices)]
    source, out = tmp_path / "notices.jsonl", tmp_path / "out"
    source.write_text("\n".join([*lines[:5], "", *lines[5:]]) + "\n")
    status, output, errors = on_spark("dedup", source, "-o", out, "-t", THRESHOLD)
    assert (status, output, errors) == (0, "", "")
    expected = lookalike.dedup(source, threshold=THRESHOLD)
    kept = {json.loads(line)["id"] for line in lines_below(out / "kept")}
    assert kept == {*expected.kept_ids.to_pylist()}
    assert set(lines_below(out / "kept")) < {*lines}
    assert 0 < len(kept) < len(notices)
    assert rows_below(out / "removed") == sorted(expected.removed.to_pylist(), key=str)
    assert rows_below(out / "clusters") == sorted(expected.clusters.to_pylist(), key=str)
    record = json.loads((out / "run.json").read_text())
    assert record["engine"] == "spark"
    assert record["fingerprint"] == expected.settings.fingerprint()
    assert expected.plan is not None
    assert record["plan"] == expected.plan.as_dict()
    assert {name: record["counts"][name] for name in ("read", "kept", "removed", "empty")} == {
        name: expected.counts[name] for name in ("read", "kept", "removed", "empty")
    }
    assert record["seconds"]["total"] == pytest.approx(
        sum(spent for name, spent in record["seconds"].items() if name != "total"), abs=0.1
    )
    assert {path.name for path in tmp_path.iterdir()} == {"notices.jsonl", "out"}

    # The same job is there; another is not put in its place.
    status, _, errors = on_spark("dedup", source, "-o", out, "-t", THRESHOLD)
    assert (status, errors) == (0, "")
    status, _, errors = on_spark("dedup", source, "-o", out, "-t", 0.9)
    assert (status, errors.count("\n")) == (1, 1)
    assert "holds the result of another job" in errors
    source.write_text("\n".join(lines[1:]))
    status, _, errors = on_spark("dedup", source, "-o", out, "-t", THRESHOLD)
    assert status == 1


def test_annotated_lines_say_what_one_machine_says(notices, on_spark, tmp_path) -> None:
    lines = [odd_line(record, number) for number, record in enumerate(notices[:60])]
    source, out = tmp_path / "notices.jsonl", tmp_path / "out"
    source.write_text("\n".join(lines))
    status, _, errors = on_spark("dedup", source, "-o", out, "-t", 0.5, "--annotate")
    assert (status, errors) == (0, "")
    lookalike.dedup(source, threshold=0.5, out=tmp_path / "local", annotate=True)
    expected = (tmp_path / "local" / "annotated" / "notices.jsonl").read_text().splitlines()
    given = lines_below(out / "annotated")
    assert sorted(map(json.loads, given), key=str) == sorted(map(json.loads, expected), key=str)
    assert all(any(one.startswith(line[:-1]) for line in lines) for one in given)


def test_pairs_of_parquet_in_two_sources_are_those_of_one_machine(
    notices, on_spark, tmp_path
) -> None:
    for name, some in (("b", notices[:90]), ("a", notices[90:])):
        table = pa.Table.from_pylist(
            [
                {"number": number_of(one["id"]), "body": one["text"], "tags": [{"of": name}]}
                for one in some
            ]
        )
        pq.write_table(table, tmp_path / f"{name}.parquet")
    sources = [tmp_path / "b.parquet", tmp_path / "a.parquet"]
    asked = ["-t", THRESHOLD, "--text", "body", "--id", "number"]
    out = tmp_path / "pairs"
    status, _, errors = on_spark("find", *sources, *asked, "-o", out, "--format", "jsonl")
    assert (status, errors) == (0, "")
    given: dict[str, Any] = {"threshold": THRESHOLD, "text": "body", "id": "number"}
    expected = lookalike.find(lookalike.paths(*map(str, sources)), **given)
    found = [json.loads(line) for line in lines_below(out / "pairs")]
    assert sorted(found, key=str) == sorted(expected.pairs.to_pylist(), key=str)
    assert found
    found = [json.loads(line) for line in lines_below(out / "clusters")]
    assert sorted(found, key=str) == sorted(expected.clusters.to_pylist(), key=str)

    # Of a folder with parts by a column, all columns stay, and the parts.
    parts = tmp_path / "parts"
    for name in "ab":
        (parts / f"of={name}").mkdir(parents=True)
        (tmp_path / f"{name}.parquet").rename(parts / f"of={name}" / "part.parquet")
    status, _, errors = on_spark("dedup", parts, *asked, "-o", tmp_path / "out")
    assert (status, errors) == (0, "")
    kept = ds.dataset(tmp_path / "out" / "kept", partitioning="hive").to_table()
    every = {
        row["number"]: row for row in ds.dataset(parts, partitioning="hive").to_table().to_pylist()
    }
    local = lookalike.dedup(parts, **given)
    assert sorted(kept["number"].to_pylist()) == sorted(local.kept_ids.to_pylist())
    assert all(row == every[row["number"]] for row in kept.to_pylist())


def test_records_of_csv_are_kept_with_quotes_blanks_and_new_lines(on_spark, tmp_path) -> None:
    rows = [
        {"id": "1", "text": 'He said "no",\nand left  the house at once', "more": "  x "},
        {"id": "2", "text": 'He said "no",\nand left the house at once', "more": ""},
        {"id": "3", "text": "quite, another; text with commas", "more": 'a "b"'},
    ]
    source, out = tmp_path / "rows.csv", tmp_path / "out"
    with source.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "text", "more"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    status, _, errors = on_spark("dedup", source, "-o", out)
    assert (status, errors) == (0, "")
    kept = []
    for path in (out / "kept").glob("part-*.csv"):
        with path.open(newline="") as file:
            kept += list(csv.DictReader(file))
    assert sorted(kept, key=str) == [rows[0], rows[2]]


def test_at_a_store_the_record_comes_last_and_marks_a_finished_job(
    on_spark, spark_cluster, tmp_path
) -> None:
    lines = ['{"id": "a", "text": "a rose"}', '{"id": "b", "text": "A rose"}']
    (spark_cluster.store / "docs.jsonl").write_text("\n".join(lines))
    store = "viewfs://tests/store"
    given = ["dedup", f"{store}/docs.jsonl", "-o", f"{store}/out"]
    (spark_cluster.store / "out").mkdir()
    (spark_cluster.store / "out" / "half").write_text("of a job that failed")
    status, _, errors = on_spark(*given)
    assert status == 1
    assert "holds something, and no record of a finished job" in errors
    (spark_cluster.store / "out" / "half").unlink()
    (spark_cluster.store / "out").rmdir()
    status, _, errors = on_spark(*given)
    assert (status, errors) == (0, "")
    assert lines_below(spark_cluster.store / "out" / "kept") == lines[:1]
    (record,) = lines_below(spark_cluster.store / "out" / "run.json")
    assert json.loads(record)["counts"]["removed"] == 1
    changed = (spark_cluster.store / "out" / "run.json").stat().st_mtime_ns
    assert on_spark(*given)[0] == 0
    assert (spark_cluster.store / "out" / "run.json").stat().st_mtime_ns == changed
    assert on_spark(*given, "-t", "0.5")[0] == 1


def test_files_at_a_store_are_named_by_a_pattern_and_results_written_there(
    on_spark, spark_cluster
) -> None:
    texts = ["a rose is a rose", "A rose is a rose", "of the sea", "on the land", "of the  sea"]
    parts = spark_cluster.store / "parts"
    parts.mkdir()
    for name, ids in (("one", (0, 1, 2)), ("two", (3, 4))):
        table = pa.table({"id": ids, "text": [texts[number] for number in ids]})
        pq.write_table(table, parts / f"{name}.parquet")
    store = "viewfs://tests/store"
    status, _, errors = on_spark("find", f"{store}/parts/*.parquet", "-o", f"{store}/pairs")
    assert (status, errors) == (0, "")
    expected = lookalike.find(parts)
    assert len(expected.pairs) == 2
    assert rows_below(spark_cluster.store / "pairs" / "pairs") == expected.pairs.to_pylist()
    found = rows_below(spark_cluster.store / "pairs" / "clusters")
    assert found == sorted(expected.clusters.to_pylist(), key=str)


def number_of(name: str) -> int:
    """Make a number of a name, the same in every process."""
    return zlib.crc32(name.encode())


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        (
            ["find", "{jsonl}", "--text", "body"],
            1,
            "there is no column 'body' for the text: there are",
        ),
        (["find", "{repeated}"], 1, "id 1 appears in more than one row"),
        (["find", "{broken}"], 1, "a record cannot be read"),
        (
            ["find", "{folder}/nothing.jsonl"],
            1,
            "nothing.jsonl does not exist: name another source",
        ),
        (["find", "{jsonl}", "{csv}"], 1, "of several formats, csv and json: give those of one"),
        (["find", "{folder}"], 1, "Spark reads folders of .jsonl, .csv, .tsv or .parquet files"),
        (["find", "{csv}", "{other}"], 1, "other.csv has a column 'size' and"),
        (
            ["find", "gs://bucket/x.jsonl"],
            1,
            "Spark has no library for this store, org.apache.hadoop.fs.gs",
        ),
        (["find", "s3://bucket/x.jsonl"], 1, "Spark reads s3a:// with the library hadoop-aws"),
        (["dedup", "{jsonl}", "-o", "{folder}"], 1, "are one inside the other"),
        (["dedup", "{jsonl}", "-o", "{taken}"], 1, "is not empty: name a folder that is new"),
        (["find", "{jsonl}", "--recall", "1"], 2, "--recall 1 is not for Spark, as"),
        (["dedup", "{jsonl}", "-o", "{new}", "--rule", "contained"], 2, "is not for Spark, as"),
        (["find", "{jsonl}", "--work", "w"], 2, "--work is not for Spark: Spark keeps"),
        (["find", "{jsonl}", "--threads", "2"], 2, "--threads is not for Spark: cores are set by"),
        (["find", "{jsonl}", "--memory", "2GB"], 2, "--memory is not for Spark: memory is set by"),
        (
            ["find", "{jsonl}", "--spark-conf", "x"],
            2,
            "use a name and a value, as spark.executor.memory=8g",
        ),
        (["find", "{jsonl}", "--master", "moon"], 2, "--master moon: use local[4], spark://HOST"),
        (
            ["find", "{jsonl}", "--master", "spark://127.0.0.1:1"],
            1,
            "cannot be reached, connection",
        ),
        (["dedup", "{jsonl}", "--dry-run"], 2, "--dry-run is not for Spark"),
    ],
    ids=lambda given: " ".join(given[:4]) if isinstance(given, list) else "",
)
def test_what_cannot_be_is_said_in_a_line_and_leaves_nothing(
    given, status, said, on_spark, tmp_path
) -> None:
    folder, taken = tmp_path / "sources", tmp_path / "taken"
    folder.mkdir()
    taken.mkdir()
    (taken / "file").write_text("something")
    (folder / "docs.jsonl").write_text('{"id": 1, "text": "a rose"}\n{"id": 2, "text": "a rose"}\n')
    (folder / "repeated.jsonl").write_text('{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n')
    (folder / "broken.jsonl").write_text('{"id": 1, "text": "a"}\n{"id": 2, "text": \n')
    (folder / "docs.csv").write_text("id,text\n1,a rose\n")
    (folder / "other.csv").write_text("id,text,size\n1,a rose,6\n")
    places = {
        **{name: folder / f"{name}.jsonl" for name in ("repeated", "broken")},
        "jsonl": folder / "docs.jsonl",
        "csv": folder / "docs.csv",
        "other": folder / "other.csv",
        "folder": folder,
        "taken": taken,
        "new": tmp_path / "new",
    }
    before = sorted(tmp_path.rglob("*"))
    ended, output, errors = on_spark(*[one.format(**places) for one in given])
    assert said in errors
    assert (ended, output, errors.count("\n")) == (status, "", 1)
    assert sorted(tmp_path.rglob("*")) == before
