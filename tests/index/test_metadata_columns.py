"""A column of metadata that is not of its type: refused before anything is added, or counted."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

from lookalike import SourceError
from lookalike.index import bulk
from lookalike.index.index import Index

MANY = 120
BAD = 90
INTEGER_BEFORE = "of the type {}, and that of documents before it of the type integer: give all"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Give an index whose documents have whole numbers, to which few are added in one change."""
    monkeypatch.setattr(bulk, "BATCH_BYTES", 500)
    monkeypatch.setattr(bulk, "MAX_CHUNK_DOCUMENTS", 5)
    with Index.create(tmp_path / "a.lookalike", shingle="chars:4") as made:
        before = [f"{at} old bottles" for at in range(MANY)]
        made.add_all(table(range(MANY), pa.int64(), before), id="id", metadata=["n"])
        yield made


def table(numbers: Any, kind: pa.DataType, texts: list[str] | None = None) -> pa.Table:
    texts = texts or [f"{at} new bottles on shelf {at * at}" for at in range(MANY)]
    ids = [f"d{at:03}" for at in range(MANY)]
    return pa.table({"id": ids, "text": texts, "n": pa.array(numbers, kind)})


def held(index: Index, folder: Path) -> pa.Table:
    index.export(folder / "held.parquet")
    return pq.read_table(folder / "held.parquet")


def some_facts(index: Index) -> dict[str, str]:
    with index._store.read() as reader:
        return reader.facts("")


LATE_TEXT = [None] * BAD + ["x"] * (MANY - BAD)
WRITERS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "a.parquet": lambda rows, path: pq.write_table(rows, path, row_group_size=10),
    "a.orc": orc.write_table,
    "a.arrow": lambda rows, path: feather.write_feather(
        rows, str(path), chunksize=10, compression="uncompressed"
    ),
}


DECLARED = [
    (pa.string(), "text"),
    (pa.large_string(), "text"),
    (pa.bool_(), "boolean"),
    (pa.date32(), "date"),
    (pa.timestamp("us", "UTC"), "timestamp"),
]
OF_DICTIONARIES = [
    (name, pa.dictionary(pa.int32(), pa.string()), "text") for name in ("a.parquet", "a.arrow")
]


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [*((name, *declared) for name in WRITERS for declared in DECLARED), *OF_DICTIONARIES],
)
def test_a_file_that_declares_another_type_is_refused_before_anything_is_added(
    index, tmp_path, name, kind, said
):
    WRITERS[name](table([None] * MANY, kind), tmp_path / name)
    before, facts = held(index, tmp_path), some_facts(index)
    with pytest.raises(SourceError, match=INTEGER_BEFORE.format(said)) as caught:
        index.add_all(tmp_path / name, id="id", metadata=["n"])
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (held(index, tmp_path), some_facts(index)) == (before, facts)


def test_files_of_one_source_are_refused_where_they_declare_two_types(index, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(table(range(MANY), pa.int64()), folder / "1.parquet")
    pq.write_table(table(LATE_TEXT, pa.string()), folder / "2.parquet")
    before = held(index, tmp_path)
    with pytest.raises(SourceError, match=r"2\.parquet: the metadata 'n' is of the type text"):
        index.add_all(folder, metadata=["n"], id="id")
    assert held(index, tmp_path) == before


@pytest.mark.parametrize("kind", ["arrow", "pandas", "dictionary", "split in parts"])
def test_a_table_in_memory_is_refused_before_anything_is_added(index, tmp_path, kind):
    rows: Any = table(LATE_TEXT, pa.string())
    if kind == "pandas":
        rows = rows.to_pandas()
    elif kind == "dictionary":
        rows = rows.set_column(2, "n", rows["n"].dictionary_encode())
    elif kind == "split in parts":
        rows = pa.concat_tables([rows[:50], rows[50:]])
    before, facts = held(index, tmp_path), some_facts(index)
    with pytest.raises(SourceError, match=f"of document 'd{BAD:03}' is {INTEGER_BEFORE[:11]} text"):
        index.add_all(rows, id="id", metadata=["n"])
    assert (held(index, tmp_path), some_facts(index)) == (before, facts)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(9, 2)])
def test_numbers_of_every_kind_may_stand_among_whole_numbers(index, tmp_path, kind):
    pq.write_table(table([*range(MANY)], kind), tmp_path / "a.parquet")
    assert index.add_all(tmp_path / "a.parquet", id="id", metadata=["n"]).replaced == MANY


def test_columns_without_a_type_or_without_metadata_are_not_looked_at(index, tmp_path):
    pq.write_table(table([None] * MANY, pa.null()), tmp_path / "a.parquet")
    assert index.add_all(tmp_path / "a.parquet", id="id", metadata=["n"]).replaced == MANY
    pq.write_table(table(LATE_TEXT, pa.string()), tmp_path / "b.parquet")
    assert index.add_all(tmp_path / "b.parquet", id="id").replaced == MANY


def write_jsonl(rows: list[dict[str, Any]], path: Path) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["id", "text", "n"])
        writer.writeheader()
        writer.writerows(rows)


def test_rows_that_tell_their_types_late_end_an_addition_that_says_how_far_it_came(index, tmp_path):
    rows = table(range(MANY), pa.int64()).to_pylist()
    wrong = [*rows[:BAD], {**rows[BAD], "n": "x"}, *rows[BAD + 1 :]]
    path = tmp_path / "a.jsonl"
    write_jsonl(wrong, path)
    with pytest.raises(SourceError, match=INTEGER_BEFORE.format("text")) as caught:
        index.add_all(path, id="id", metadata=["n"])
    added = sum("new" in text for text in held(index, tmp_path)["text"].to_pylist())
    assert 0 < added < BAD
    told = f"; {added} documents before it were added, the others are when it runs again"
    assert str(caught.value).endswith(told)
    write_jsonl(rows, path)
    assert index.add_all(path, id="id", metadata=["n"]).replaced == MANY
    assert index.check().whole


def test_where_nothing_was_added_nothing_is_said_of_it(index, tmp_path):
    rows = table(range(MANY), pa.int64()).to_pylist()
    for write, path in ((write_csv, tmp_path / "a.csv"), (write_jsonl, tmp_path / "a.jsonl")):
        write([{**row, "n": f"x{row['n']}"} for row in rows], path)
        with pytest.raises(
            SourceError, match="of the type text, and that of documents before it"
        ) as caught:
            index.add_all(path, id="id", metadata=["n"])
        assert str(caught.value).endswith("give all of them one type")
    assert not any("new" in text for text in held(index, tmp_path)["text"].to_pylist())
