"""Records, streams, queries and datasets: tables of every library, given from Python."""

import sys
from types import ModuleType
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike
from lookalike.base.errors import SourceError
from lookalike.read import read

SAME = "a text that stands here twice, word for word"
TABLE = pa.table(
    {
        "id": ["x", "y", "z"],
        "text": [SAME, "another", SAME],
        "stars": [1, 2, 3],
        "page": list("pqr"),
    }
)
RECORDS = TABLE.to_pylist()


class Stream:
    """What is known by its Arrow stream alone."""

    def __init__(self, held: Any) -> None:
        self._held = held

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._held.__arrow_c_stream__(requested_schema)


class Interchanged:
    """What is known by the dataframe interchange protocol alone."""

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return TABLE.__dataframe__()


class Dataset:
    """A dataset as Hugging Face's: rows of a table, and which of them were selected."""

    def __init__(self, table: pa.Table, format: str | None = None) -> None:
        self.table, self.format = table, format

    def __len__(self) -> int:
        return self.table.num_rows

    def with_format(self, format: str) -> "Dataset":
        return Dataset(self.table, format)

    def __getitem__(self, rows: slice) -> pa.Table:
        assert self.format == "arrow"
        return self.table[rows]

    def select(self, rows: Any) -> "Dataset":
        return Dataset(self.table.take(pa.array(np.asarray(rows))))


class DatasetDict(dict[str, Dataset]):
    """Datasets by the names of the splits."""


Dataset.__module__ = "datasets.arrow_dataset"
DatasetDict.__module__ = "datasets.dataset_dict"

SOURCES = {
    "records": lambda: RECORDS,
    "a tuple of records": lambda: tuple(RECORDS),
    "records, one by one": lambda: iter(RECORDS),
    "a reader": lambda: TABLE.to_reader(max_chunksize=2),
    "a stream": lambda: Stream(TABLE),
    "interchange": Interchanged,
    "lazy": lambda: pl.LazyFrame(TABLE),
    "DuckDB": lambda: duckdb.sql("select * from TABLE_OF_TEST"),
    "a dataset": lambda: Dataset(TABLE),
}


@pytest.fixture(autouse=True)
def table_of_test():
    """Let DuckDB know the table."""
    duckdb.register("TABLE_OF_TEST", TABLE)


@pytest.fixture(params=SOURCES.values(), ids=list(SOURCES))
def make(request) -> Any:
    """Give what makes a source of the three documents."""
    return request.param


def test_columns_are_guessed_and_named_as_of_a_table(make):
    found = read(make())
    assert found.ids.to_pylist() == ["x", "y", "z"]
    assert found.texts.to_pylist() == [SAME, "another", SAME]
    named = read(make(), text="page", id="stars")
    assert named.ids.to_pylist() == [1, 2, 3]
    assert named.texts.to_pylist() == ["p", "q", "r"]
    with pytest.raises(SourceError, match="no column 'txet' for the text: there are 'id', 'text'"):
        read(make(), text="txet")


def test_the_kept_documents_come_back_and_are_chosen_by_a_column(make):
    result = lookalike.dedup(make(), keep="max:stars")
    assert result.kept_ids.to_pylist() == ["y", "z"]
    kept = result.kept
    if isinstance(kept, list):
        assert kept == RECORDS[1:]
        assert kept[0] is RECORDS[1]
    else:
        table = kept.table if isinstance(kept, Dataset) else pa.table(kept)
        assert table.to_pylist() == RECORDS[1:]


def test_all_kinds_of_sources_give_one_result(make):
    assert lookalike.find(make()).pairs.equals(lookalike.find(TABLE).pairs)


def test_kept_records_are_written(make, tmp_path):
    lookalike.dedup(make(), out=tmp_path / "clean")
    table = pq.read_table(tmp_path / "clean" / "kept" / "documents.parquet")
    assert table["id"].to_pylist() == ["x", "y"]
    assert table["stars"].to_pylist() == [1, 2]


@pytest.mark.parametrize("wrap", [Stream, lambda column: column], ids=["stream", "itself"])
def test_a_stream_of_one_column_is_a_column(wrap):
    column = pa.chunked_array([["one"], ["two", None]])
    assert read(wrap(column)).texts.to_pylist() == ["one", "two", None]


def test_an_empty_stream_has_no_documents():
    assert len(read(Stream(TABLE[:0]))) == 0
    assert len(read(TABLE[:0].to_reader())) == 0


class TestRecords:
    """Lists of dicts."""

    def test_a_field_of_a_field_is_named_as_in_jsonl(self):
        records = [{"doc": {"key": 5, "text": "one"}}, {"doc": {"key": 6, "text": "two"}}]
        found = read(records, text="doc.text", id="doc.key")
        assert found.ids.to_pylist() == [5, 6]
        assert found.texts.to_pylist() == ["one", "two"]

    def test_tokens_and_vectors_are_read_too(self):
        assert read([{"text": ["a", 1]}, {"text": None}]).texts.to_pylist() == [["a", "1"], None]
        found = read([{"v": np.array([1.0, 2.0])}, {"v": [3, 4]}], vector="v")
        assert found.texts.to_pylist() == [[1.0, 2.0], [3.0, 4.0]]

    def test_without_ids_they_are_the_places(self):
        assert read([{"body": "one"}, {"body": "two"}]).ids.to_pylist() == [0, 1]

    @pytest.mark.parametrize(
        ("records", "message"),
        [
            ([{"text": "a"}, {"txet": "b"}], "row 2 has no field 'text': there are 'txet'"),
            ([{"id": 1, "text": "a"}, {"text": "b"}], "row 2 has no field 'id': there are 'text'"),
            ([{"text": "a"}, "b"], "row 2 is of type str where others are dicts"),
            ([None, {"text": "a"}], "row 1 is of type NoneType where others are dicts"),
            ([{"text": "a"}, {"text": 5}], "document 1 is of type int, not text"),
            ([{"id": 1, "text": "a"}] * 2, "id 1 appears twice, at row 1 and at row 2"),
            ([{}], "no column is named text"),
        ],
    )
    def test_what_is_wrong_is_said_in_a_line_with_its_row(self, records, message):
        with pytest.raises(SourceError, match=message) as raised:
            read(records)
        assert "\n" not in str(raised.value)


class TestSplits:
    """Several datasets by their names."""

    def splits(self):
        return DatasetDict(train=Dataset(TABLE), test=Dataset(TABLE.drop_columns("page")[1:]))

    def test_ids_are_those_of_splits_and_rows(self):
        found = read(self.splits())
        assert found.ids.to_pylist() == ["train:0", "train:1", "train:2", "test:0", "test:1"]
        assert found.texts.to_pylist() == [SAME, "another", SAME, "another", SAME]
        assert found.columns["page"].to_pylist() == ["p", "q", "r", None, None]

    def test_the_kept_documents_are_splits_again(self):
        kept = lookalike.dedup(self.splits()).kept
        assert isinstance(kept, DatasetDict)
        assert {name: split.table["id"].to_pylist() for name, split in kept.items()} == {
            "train": ["x", "y"],
            "test": [],
        }

    def test_a_column_of_ids_that_is_named_is_taken_if_they_differ(self):
        with pytest.raises(SourceError, match="id 'y' appears twice, at train:1 and at test:0"):
            read(self.splits(), id="id")
        halves = DatasetDict(a=Dataset(TABLE[:1]), b=Dataset(TABLE[1:]))
        assert read(halves, id="id").ids.to_pylist() == ["x", "y", "z"]

    def test_an_error_names_the_split(self):
        splits = DatasetDict(a=Dataset(TABLE), b=Dataset(TABLE.drop_columns("text")))
        with pytest.raises(SourceError, match="split 'b': no column is named text"):
            read(splits)

    def test_no_splits_are_no_documents(self):
        assert len(read(DatasetDict())) == 0


def test_other_libraries_are_not_loaded_to_tell_them():
    assert not isinstance(sys.modules.get("datasets"), ModuleType)


@pytest.mark.parametrize("source", [5, object(), b"bytes", pl.col("text")])
def test_what_cannot_be_a_source_is_named_with_what_can(source):
    with pytest.raises(SourceError) as raised:
        lookalike.find(source)
    message = str(raised.value)
    assert message.startswith(f"documents cannot be read from a {type(source).__name__}: give")
    for what in ("list of dicts", "polars", "DuckDB", "__arrow_c_stream__", "path"):
        assert what in message
    assert "\n" not in message
