"""What can be an id, from every kind of source: numbers and strings, and nothing else."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike
from lookalike.base.errors import SourceError
from lookalike.read import open_corpus
from source_files import ids_and_texts, write_records

TEXTS = ["one text", "another"]
FLAGS = {"text": TEXTS, "flag": [True, False]}
MANY = "9" * 10_000


def parquet(tmp_path):
    path = tmp_path / "docs.parquet"
    pq.write_table(pa.table(FLAGS), path)
    return path


def nested_parquet(tmp_path):
    path = tmp_path / "docs.parquet"
    pq.write_table(pa.table({"text": TEXTS, "meta": [{"flag": True}, {"flag": False}]}), path)
    return path


def jsonl(tmp_path):
    return write_records(tmp_path / "docs.jsonl", pa.table(FLAGS).to_pylist())


MADE = {
    "Parquet": (parquet, "flag"),
    "a field of Parquet": (nested_parquet, "meta.flag"),
    "JSONL": (jsonl, "flag"),
    "Arrow": (lambda _: pa.table(FLAGS), "flag"),
    "pandas": (lambda _: pd.DataFrame(FLAGS), "flag"),
    "pandas of objects": (lambda _: pd.DataFrame(FLAGS, dtype=object), "flag"),
    "polars": (lambda _: pl.DataFrame(FLAGS), "flag"),
    "an index": (lambda _: pd.Series(TEXTS, index=[True, False]), None),
    "a dict": (lambda _: dict(zip([True, False], TEXTS, strict=True)), None),
    "a dict of NumPy": (lambda _: dict(zip(np.array([True, False]), TEXTS, strict=True)), None),
    "a dict of numbers too": (lambda _: {True: "one text", 2: "another"}, None),
}


@pytest.mark.parametrize(("make", "name"), MADE.values(), ids=MADE)
def test_true_and_false_are_no_ids(make, name, tmp_path):
    with pytest.raises(SourceError, match=r"numbers? or (a )?strings?") as raised:
        lookalike.find(make(tmp_path), id=name)
    assert "\n" not in str(raised.value)


def test_true_in_an_id_is_a_bad_record_among_others(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text('{"id": 1, "text": "a"}\n{"id": true, "text": "b"}\n{"id": 3, "text": "c"}\n')
    assert ids_and_texts(path, skip_bad=True) == [(1, "a"), (3, "c")]
    (batch,) = open_corpus([path], skip_bad=True).batches()
    assert batch.bad == (f"{path}:2: the id in 'id' is not a number or a string",)


def test_the_words_true_and_false_are_ids_as_others_in_csv(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text("id,text\nTrue,a\nfalse,b\n")
    assert ids_and_texts(path) == [("True", "a"), ("false", "b")]


class TestLongNumbers:
    """Whole numbers of more digits than Python reads."""

    def lines(self, tmp_path, *records):
        path = tmp_path / "docs.jsonl"
        path.write_text("".join(f"{record}\n" for record in records))
        return path

    @pytest.mark.parametrize("columns", [(), None], ids=["no column", "all columns"])
    @pytest.mark.parametrize("number", [MANY, f"-{MANY}", f'[1, {{"n": {MANY}}}]'])
    def test_one_in_a_field_that_is_not_used_does_not_matter(self, number, columns, tmp_path):
        first, second = f'{{"id": 1, "text": "a", "n": {number}}}', '{"id": 2, "text": "b"}'
        for records in ((first, second), (second, first)):
            path = self.lines(tmp_path, *records)
            found = [
                (i, text)
                for batch in open_corpus([path], columns=columns).batches()
                for i, text in zip(batch.ids.to_pylist(), batch.texts.to_pylist(), strict=True)
            ]
            assert sorted(found) == [(1, "a"), (2, "b")]

    def test_one_on_standard_input_does_not_matter(self, told):
        given = f'{{"text": "a b c", "n": {MANY}}}\n{{"text": "a b c"}}\n'.encode()
        status, output, errors = told("find", "-", "-q", "--format", "jsonl", given=given)
        assert (status, errors) == (0, "")
        assert json.loads(output)["similarity"] == 1.0

    @pytest.mark.parametrize(
        ("record", "options", "message"),
        [
            (f'{{"id": {MANY}, "text": "a"}}', {}, ":1: the id in 'id' is too large a number"),
            ('{"id": 1e999, "text": "a"}', {}, ":1: the id in 'id' is too large a number"),
            (f'{{"id": 1, "text": {MANY}}}', {}, ":1: field 'text' is a number, not text"),
            (f'{{"id": 1, "text": [{MANY}]}}', {}, ":1: field 'text' is a list, not text"),
            (
                f'{{"id": 1, "v": [1, {MANY}]}}',
                {"vector": "v", "metric": "cosine"},
                "holds a number that is not finite",
            ),
        ],
        ids=["id", "float id", "text", "tokens", "vector"],
    )
    def test_one_that_is_used_is_refused_in_words_of_our_own(
        self, record, options, message, tmp_path
    ):
        path = self.lines(tmp_path, record)
        with pytest.raises(SourceError, match=message) as raised:
            lookalike.find(path, **options)
        assert "sys." not in str(raised.value)
        assert len(str(raised.value)) < 500

    def test_the_largest_number_is_kept_by(self, tmp_path):
        records = [
            f'{{"id": {i}, "text": "a b c", "n": {n}}}' for i, n in enumerate([f"-{MANY}", 7, MANY])
        ]
        path = self.lines(tmp_path, *records)
        assert lookalike.dedup(path, keep="max:n").kept_ids.to_pylist() == [2]
        assert lookalike.dedup(path, keep="min:n").kept_ids.to_pylist() == [0]

    def test_one_as_a_key_is_refused(self):
        with pytest.raises(SourceError, match=r"an id has more than 4,300 digits: give it as a"):
            lookalike.find({10**5000: "a", 1: "b"})
