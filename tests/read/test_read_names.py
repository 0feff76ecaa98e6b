"""Which fields are the text and the id: guessed in any case, none at all, or several at once."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import lookalike
from lookalike.base.errors import SourceError
from lookalike.read import open_corpus, read, read_paths
from source_files import write_records


def jsonl(table, tmp_path):
    return write_records(tmp_path / "docs.jsonl", table.to_pylist())


def one_by_one(table, tmp_path):
    """Write JSON that Arrow does not read."""
    lines = [
        json.dumps(record | {"deep": [{"a": i}]}) for i, record in enumerate(table.to_pylist())
    ]
    (tmp_path / "docs.jsonl").write_text("\r\n\r\n".join(lines))
    return tmp_path / "docs.jsonl"


def parquet(table, tmp_path):
    pq.write_table(table, tmp_path / "docs.parquet")
    return tmp_path / "docs.parquet"


def csv(table, tmp_path):
    pyarrow.csv.write_csv(table, tmp_path / "docs.csv")
    return tmp_path / "docs.csv"


MADE = {
    "JSONL": jsonl,
    "JSONL, one by one": one_by_one,
    "Parquet": parquet,
    "CSV": csv,
    "Arrow": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(),
    "polars": lambda table, _: pl.DataFrame(table),
    "records": lambda table, _: table.to_pylist(),
}
FILES = ("JSONL", "JSONL, one by one", "Parquet", "CSV")


@pytest.fixture(params=MADE)
def make(request, tmp_path):
    """Give what makes a source of a table."""
    return lambda table: MADE[request.param](table, tmp_path)


@pytest.fixture(params=FILES)
def make_file(request, tmp_path):
    """Give what writes a table to a file."""
    return lambda table: MADE[request.param](table, tmp_path)


@pytest.mark.parametrize(("id", "text"), [("ID", "Text"), ("Url", "CONTENT"), ("Doc_Id", "Body")])
def test_names_are_guessed_in_any_case(make, id, text):
    found = read(make(pa.table({id: ["a", "b"], text: ["one", "two"]})))
    assert found.ids.to_pylist() == ["a", "b"]
    assert found.texts.to_pylist() == ["one", "two"]


def test_a_name_as_it_is_comes_before_one_in_another_case(make):
    table = pa.table({"Text": ["no"], "body": ["one"], "ID": ["no"], "url": ["a"]})
    found = read(make(table))
    assert (found.ids.to_pylist(), found.texts.to_pylist()) == (["a"], ["one"])


def test_what_was_named_must_be_written_so(make):
    with pytest.raises(SourceError, match="no column 'text' for the text: there are 'Text'"):
        read(make(pa.table({"Text": ["one"]})), text="text")


class TestNoIds:
    """The id `none`."""

    TABLE = pa.table({"id": ["x", "x"], "text": ["one", "two"]})

    def test_files_are_numbered_even_where_a_column_is_guessed(self, make_file):
        path = make_file(self.TABLE)
        with pytest.raises(
            SourceError, match=r"id 'x' appears twice.*file:row, by id='none'"
        ) as no:
            read(path)
        assert "as file:row, by --id none" in no.value.for_command_line()
        first, second = read(path, id="none").ids.to_pylist()
        assert first == f"{path.name}:1"
        assert second.startswith(f"{path.name}:")

    @pytest.mark.parametrize("kind", sorted(set(MADE) - set(FILES)))
    def test_in_memory_they_are_the_places(self, kind, tmp_path):
        source = MADE[kind](self.TABLE, tmp_path)
        with pytest.raises(SourceError, match=r"id 'x' appears twice.*id='none'"):
            read(source)
        assert read(source, id="none").ids.to_pylist() == [0, 1]

    def test_what_has_no_columns_is_read_as_ever(self, tmp_path):
        assert read(["one", "two"], id="none").ids.to_pylist() == [0, 1]
        np.save(tmp_path / "v.npy", np.eye(2))
        found = read(tmp_path / "v.npy", id="none")
        assert found.ids.to_pylist() == ["v.npy:1", "v.npy:2"]

    def test_of_pandas_they_are_the_index(self):
        frame = self.TABLE.to_pandas().set_index(pd.Index([7, 8]))
        assert read(frame, id="none").ids.to_pylist() == [7, 8]

    def test_ids_that_are_repeated_in_shards_are_refused_with_the_way_out(self, told, tmp_path):
        for name in ("a", "b"):
            write_records(tmp_path / f"{name}.jsonl", [{"id": 1, "text": "a text of some words"}])
        status, _, errors = told("find", str(tmp_path))
        assert status == 1
        assert "take places for ids, as file:row, by --id none" in errors
        status, output, _ = told("find", str(tmp_path), "--id", "none", "--format", "jsonl")
        assert status == 0
        pair = json.loads(output)
        assert (pair["a"], pair["b"]) == ("a.jsonl:1", "b.jsonl:1")


class TestSeveralTexts:
    """Fields that are joined."""

    TABLE = pa.table(
        {"id": ["a", "b", "c"], "title": ["One", "Two", ""], "body": ["first", "", "third"]}
    )
    JOINED = ("One\n\nfirst", "Two", "third")

    def test_they_are_joined_with_a_blank_line_between(self, make):
        source = make(self.TABLE)
        found = read(source, text=["title", "body"])
        assert found.texts.to_pylist() == [*self.JOINED]
        assert not {"title", "body"} & set(found.columns)
        assert read(source, text=("body", "title")).texts.to_pylist()[0] == "first\n\nOne"
        assert read(source, text=["body"]).texts.to_pylist() == ["first", "", "third"]

    def test_files_are_read_so_in_batches_and_again(self, make_file):
        corpus = open_corpus([make_file(self.TABLE)], text=["title", "body"])
        (batch,) = corpus.batches()
        assert batch.texts.to_pylist() == [*self.JOINED]
        again = corpus.originals(batch.shards, batch.records)
        assert again.texts.to_pylist() == [*self.JOINED]

    @pytest.mark.parametrize("kind", sorted(set(MADE) - {"CSV"}))
    def test_a_missing_one_is_left_out(self, kind, tmp_path):
        table = pa.table(
            {"title": pa.array([None, "Two", None]), "body": pa.array(["first", None, None])}
        )
        found = read(MADE[kind](table, tmp_path), text=["title", "body"])
        assert found.texts.to_pylist()[:2] == ["first", "Two"]
        assert not found.texts[2].as_py()

    def test_a_column_that_is_not_there_is_refused(self, make):
        with pytest.raises(SourceError, match="no column 'txet' for the text: there are"):
            read(make(self.TABLE), text=["title", "txet"])

    @pytest.mark.parametrize("kind", ["JSONL", "Parquet", "Arrow", "pandas", "records"])
    def test_tokens_are_not_joined(self, kind, tmp_path):
        source = MADE[kind](pa.table({"title": ["One"], "words": [["a", "b"]]}), tmp_path)
        with pytest.raises(SourceError, match=r"'words' (is a list, not text|holds no text)"):
            read(source, text=["title", "words"])

    def test_nested_fields_are_joined_too(self, tmp_path):
        records = [{"meta": {"title": "One"}, "doc": {"body": "first"}}]
        path = write_records(tmp_path / "docs.jsonl", records)
        for source in (records, path):
            found = read(source, text=["meta.title", "doc.body"])
            assert found.texts.to_pylist() == ["One\n\nfirst"]

    def test_commands_join_what_is_given_several_times(self, told, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        records = [
            {"id": i, "title": title, "body": "the same body of many words"}
            for i, title in enumerate(["One", "One", "A quite different title of other words"])
        ]
        write_records(tmp_path / "docs.jsonl", records)
        both = "--text", "title", "--text", "body"
        status, output, errors = told("find", "docs.jsonl", *both, "--format", "jsonl")
        assert status == 0
        assert "taken from 'title' and 'body'" in errors
        pairs = [json.loads(line) for line in output.splitlines()]
        assert pairs == lookalike.find("docs.jsonl", text=["title", "body"]).pairs.to_pylist()
        assert [(pair["a"], pair["b"]) for pair in pairs] == [(0, 1)]
        _, output, _ = told("find", "docs.jsonl", "--text", "body", "--format", "jsonl")
        assert len(output.splitlines()) == 3

    def test_a_work_folder_must_agree_with_them(self, tmp_path):
        path = write_records(tmp_path / "docs.jsonl", self.TABLE.to_pylist())
        work = tmp_path / "work"
        lookalike.find(path, text=["title", "body"], work=work)
        lookalike.find(path, text=("title", "body"), work=work, threshold=0.5)
        with pytest.raises(lookalike.OutputError):
            lookalike.find(path, text="body", work=work)

    def test_one_in_a_list_is_the_same_job(self, tmp_path):
        path = write_records(tmp_path / "docs.jsonl", self.TABLE.to_pylist())
        lookalike.find(path, text="body", work=tmp_path / "work")
        said: list[str] = []
        lookalike.find(path, text=["body"], work=tmp_path / "work", say=said.append)
        assert any(line.startswith("Resuming") for line in said)

    def test_paths_are_read_whole(self, make_file):
        found = read_paths([make_file(self.TABLE)], text=["title", "body"])
        assert found.texts.to_pylist() == [*self.JOINED]
