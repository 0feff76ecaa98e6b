"""No message is longer than a line or two, whatever ids, names and values the data holds."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from lookalike import LookalikeError, dedup, find, lesson
from lookalike.base.wording import QUOTED_CHARACTERS, quoted, shortened
from lookalike.read import open_corpus
from lookalike.read.files import one_line

LONG = "x" * 1_000_000
ODD = "\x1b[31m\u202e\n" * 100_000
MOST = 400


def refusal(call: Any) -> str:
    with pytest.raises(LookalikeError) as refused:
        call()
    for line in (str(refused.value), refused.value.for_command_line()):
        assert len(line) <= MOST, f"{len(line)} characters: {line[:200]}"
        assert line.isprintable()
    return str(refused.value)


def lines(*records: Any) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def separated(*rows: Any) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def parquet(**columns: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.fixture(params=[LONG, ODD], ids=["long", "odd"])
def value(request: pytest.FixtureRequest) -> str:
    return str(request.param)


FILES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "an id that appears twice": (
        "jsonl",
        lambda x: lines({"id": x, "text": "a"}, {"id": x, "text": "b"}),
        {},
    ),
    "an id in csv": ("csv", lambda x: separated(["id", "text"], [x, "a"], [x, "b"]), {}),
    "an id in parquet": ("parquet", lambda x: parquet(id=[x, x], text=["a", "b"]), {}),
    "an id that is an object": ("jsonl", lambda x: lines({"id": {x: x}, "text": "a"}), {}),
    "an id that is half a character": (
        "jsonl",
        lambda x: b'{"id": "\\ud800' + b"y" * 1_000_000 + b'", "text": "a"}',
        {},
    ),
    "a text that is a number": ("jsonl", lambda x: lines({"text": 7, x: x}), {"text": "text"}),
    "a text that is an object": ("jsonl", lambda x: lines({"text": {x: x}}), {"text": "text"}),
    "no text": ("jsonl", lambda x: lines({x: x}), {}),
    "no such text": ("jsonl", lambda x: lines({x: x}), {"text": "text"}),
    "many fields": (
        "jsonl",
        lambda x: lines({f"{n}{x[:1000]}": n for n in range(1000)}),
        {},
    ),
    "a field that goes": (
        "jsonl",
        lambda x: lines({"text": "a", "id": 1}, {x: x}),
        {},
    ),
    "no such column of csv": ("csv", lambda x: separated([x, "b"], ["a", "b"]), {}),
    "a column that was asked for": ("csv", lambda x: separated(["a"], ["b"]), {"text": LONG}),
    "a header that appears twice": (
        "csv",
        lambda x: separated([x, x], ["a", "b"]),
        {"text": LONG},
    ),
    "a header that appears twice and is odd": (
        "csv",
        lambda x: separated([x, x], ["a", "b"]),
        {"text": ODD},
    ),
    "too few fields": ("csv", lambda x: separated(["id", "text"], [x]), {}),
    "an id that is empty": (
        "csv",
        lambda x: separated([LONG, "text"], ["", "b"]),
        {"id": LONG},
    ),
    "json that breaks off": ("jsonl", lambda x: lines({"text": x})[:-3], {}),
    "json that is a list": ("jsonl", lambda x: lines([x]), {}),
    "json that is a string": ("jsonl", lines, {}),
    "json with a wrong escape": (
        "jsonl",
        lambda x: b'{"text": "\\q' + b"y" * 1_000_000 + b'"}',
        {},
    ),
    "a quote that is not closed": ("csv", lambda x: b'text\n"' + b"y" * 1_000_000, {}),
    "bytes that are no text": ("jsonl", lambda x: lines({"text": x}) + b"\xff", {}),
    "csv that is no text": ("csv", lambda x: separated(["text"], [x]) + b"\xff", {}),
    "parquet without a text": ("parquet", lambda x: parquet(**{x: [1]}), {}),
    "parquet of another type": (
        "parquet",
        lambda x: parquet(text=pa.array([{f"{n}{x[:500]}": 1 for n in range(100)}])),
        {},
    ),
    "a column of truths": (
        "parquet",
        lambda x: parquet(**{LONG: [True], "text": ["a"]}),
        {"id": LONG},
    ),
    "no parquet at all": ("parquet", lambda x: x.encode(), {}),
    "a vector that is text": (
        "jsonl",
        lambda x: lines({LONG: x}),
        {"vector": LONG},
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_what_is_wrong_with_a_file_is_said_in_a_line(tmp_path, case, value):
    kind, make, options = FILES[case]
    path = tmp_path / f"a.{kind}"
    path.write_bytes(make(value))
    vectors: dict[str, Any] = {"metric": "cosine"} if "vector" in options else {}
    refusal(lambda: find(path, **options, **vectors))
    corpus = open_corpus(path, skip_bad=True, **options)
    try:
        bad = [line for batch in corpus.batches() for line in (*batch.bad, *batch.notes)]
    except LookalikeError as error:
        bad = [str(error)]
    for line in bad:
        assert len(line) <= MOST


@pytest.mark.parametrize(
    "make",
    [
        lambda x: {x: 7},
        lambda x: {x: "a", (x,): "b", 7: 3},
        lambda x: {x: "\ud800"},
        lambda x: {x: ["a", 2.5]},
        lambda x: {x: ["a"], "b": "c"},
        lambda x: [{"text": "a", x: 1}, {x: 2}],
        lambda x: [{x: "a"}],
        lambda x: [{"id": x, "text": "a"}, {"id": x, "text": "b"}],
        lambda x: pa.table({x: [1]}),
        lambda x: pa.table({"text": ["a", "b"], "id": [x, x]}),
        lambda x: pd.DataFrame({x: [1]}),
        lambda x: pd.DataFrame({"text": ["a", "b"], "id": [x, x]}),
        lambda x: pl.DataFrame({x: [1]}),
        lambda x: pd.Series(["a", "b"], index=[x, x]),
        lambda x: pd.Series([7, 8], index=[x, "b"]),
        lambda x: np.array([[x]], object),
    ],
)
def test_what_is_wrong_with_documents_in_memory_is_said_in_a_line(make, value):
    refusal(lambda: find(make(value)))


def test_other_commands_say_it_in_a_line_too(tmp_path, value):
    table = pa.table({"text": ["a", "b"], "n": [value, "1"]})
    refusal(lambda: dedup(table, keep=f"max:{value}"))
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"text": "a", value: 1}, {"text": "b", value: "c"}))
    refusal(lambda: dedup(path, keep=f"max:{value}"))
    refusal(lambda: lesson({value: 7, "b": "c"}))


def test_what_is_chosen_is_said_in_a_line(tmp_path, value):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"text": "a", value: 1}))
    said: list[str] = []
    find(path, id=value, say=said.append)
    assert said
    assert max(map(len, said)) <= MOST


class TestQuoted:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            ("a", "'a'"),
            ("it's", '"it\'s"'),
            (7, "7"),
            (None, "None"),
            ("y" * 60, repr("y" * 60)),
            ("y" * 61, repr("y" * 60 + "…")),
            ("\x1b" * 61, repr("\x1b" * 15 + "…")),
            ("\n", r"'\n'"),
            (("y" * 99,), "('" + "y" * 58 + "…"),
        ],
    )
    def test_it_is_the_beginning(self, value, shown):
        assert quoted(value) == shown

    def test_a_number_of_any_length_is_quoted(self):
        assert len(quoted(10**5000)) <= QUOTED_CHARACTERS

    def test_what_is_not_quoted_is_cut_and_escaped_once(self):
        assert shortened("a\nb") == r"a\nb"
        assert shortened("y" * 99, 3) == "yyy…"

    def test_what_another_library_says_is_one_line_of_it(self):
        assert one_line(ValueError(f"a\n  b {LONG}")) == f"a b {'x' * 196}…"
        assert one_line(ValueError()) == "ValueError"
