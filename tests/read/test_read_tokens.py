"""Lists of tokens in memory, of every make, are the documents that they are in a Parquet file."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike
from lookalike.base.errors import SourceError

DOCUMENTS = [
    ["a", "b", "c", "d"],
    ["d", "c", "b", "a"],
    ["a", "b", "c", "e"],
    None,
    [],
    ["a rose", "is a rose", "A rose"],
    ["a rose", "is a rose", "a rose"],
]
OPTIONS: dict[str, Any] = {"threshold": 0.5, "recall": 1}
COLUMN = pa.array(DOCUMENTS, pa.list_(pa.string()))
CUT = pa.array([["x"], *DOCUMENTS, ["y"]]).slice(1, len(DOCUMENTS))

IN_MEMORY = {
    "a list": DOCUMENTS,
    "a tuple of tuples": tuple(one if one is None else tuple(one) for one in DOCUMENTS),
    "a list of arrays": [one if one is None else np.array(one, np.str_) for one in DOCUMENTS],
    "a list of object arrays": [one if one is None else np.array(one, object) for one in DOCUMENTS],
    "a dict": dict(enumerate(DOCUMENTS)),
    "an array of lists": np.array([*DOCUMENTS], object),
    "Arrow": COLUMN,
    "Arrow, large": COLUMN.cast(pa.large_list(pa.large_string())),
    "Arrow, a slice": CUT,
    "Arrow, dictionaries": pa.array(DOCUMENTS, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
    "Arrow, views": COLUMN.cast(pa.list_(pa.string_view())),
    "Arrow, chunks": pa.chunked_array([COLUMN[:2], COLUMN[2:2], COLUMN[2:]]),
    "pandas": pd.Series(DOCUMENTS),
    "pandas of Arrow": pd.Series(DOCUMENTS, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
    "polars": pl.Series(DOCUMENTS),
    "polars, categories": pl.Series(DOCUMENTS, dtype=pl.List(pl.Categorical)),
}
TABLES = {
    "Arrow": pa.table({"key": range(len(DOCUMENTS)), "tokens": COLUMN}),
    "a batch": pa.record_batch({"key": range(len(DOCUMENTS)), "tokens": COLUMN}),
    "pandas": pd.DataFrame({"key": range(len(DOCUMENTS)), "tokens": DOCUMENTS}),
    "polars": pl.DataFrame({"key": range(len(DOCUMENTS)), "tokens": DOCUMENTS}),
    "lazy": pl.LazyFrame({"key": range(len(DOCUMENTS)), "tokens": DOCUMENTS}),
}


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokens") / "tokens.parquet"
    pq.write_table(TABLES["Arrow"], path)
    return path


def results(source, **columns):
    """Give what each call makes of documents of tokens."""
    dedup = lookalike.dedup(source, **OPTIONS, **columns)
    return [
        lookalike.find(source, **OPTIONS, **columns).pairs,
        lookalike.find(source, **OPTIONS, multiset=True, **columns).pairs,
        lookalike.find(source, threshold=0.5, metric="cosine", **columns).pairs,
        lookalike.contained(source, containment=0.6, **columns).pairs,
        lookalike.sketch(source, rows=4, **columns),
        dedup.removed,
        dedup.kept_ids,
    ]


@pytest.fixture(scope="module")
def expected(parquet):
    found = results(parquet, text="tokens", id="key")
    assert len(found[0]) == 4
    return found


@pytest.mark.parametrize("source", IN_MEMORY.values(), ids=IN_MEMORY)
def test_tokens_in_memory_are_those_of_a_file(source, expected):
    for found, wanted in zip(results(source), expected, strict=True):
        assert found.equals(wanted)


@pytest.mark.parametrize("source", TABLES.values(), ids=TABLES)
def test_a_column_of_tokens_of_a_table_is_that_of_a_file(source, expected):
    for found, wanted in zip(results(source, text="tokens", id="key"), expected, strict=True):
        assert found.equals(wanted)


def test_an_iterable_of_tokens_is_a_list_of_them():
    result = lookalike.dedup((one for one in DOCUMENTS[:3]), **OPTIONS)
    assert result.kept == [["a", "b", "c", "d"]]


def test_kept_tokens_come_in_the_kind_of_the_source():
    assert lookalike.dedup(DOCUMENTS, **OPTIONS).kept == [
        *(DOCUMENTS[0], None, [], DOCUMENTS[5]),
    ]
    assert lookalike.dedup(COLUMN, **OPTIONS).kept.equals(COLUMN.take([0, 3, 4, 5]))
    assert list(lookalike.dedup(IN_MEMORY["a dict"], **OPTIONS).kept) == [0, 3, 4, 5]
    assert lookalike.dedup(IN_MEMORY["pandas"], **OPTIONS).kept.index.tolist() == [0, 3, 4, 5]


def test_tokens_are_removed_against_tokens(parquet):
    new = [["a", "b", "c", "d", "x"], ["y"]]
    for reference in (DOCUMENTS, COLUMN):
        result = lookalike.dedup(new, against=reference, **OPTIONS)
        assert result.kept == [["y"]]
        assert result.removed["kept_in"].to_pylist() == ["reference"]
    with pytest.raises(SourceError, match="holds tokens where others before it hold text"):
        lookalike.dedup(new, against=["a text"])


def test_whole_numbers_among_strings_are_tokens_as_their_digits():
    for tokens in (["a", 1, np.int64(2)], [1, 2, "a"]):
        for source in ([tokens, ["a", "1", "2"]], pd.Series([tokens, ["a", "1", "2"]])):
            found = lookalike.find(source, **OPTIONS)
            assert found.pairs["similarity"].to_pylist() == [1.0]


def test_whole_numbers_in_a_column_named_as_the_text_are_tokens(tmp_path):
    table = pa.table({"text": [[1, 2, 3], [1, 2, 4], [10, 20]]})
    pq.write_table(table, tmp_path / "numbers.parquet")
    expected = lookalike.find(tmp_path, **OPTIONS).pairs["similarity"].to_pylist()
    assert expected == [0.5]
    frame = table.to_pandas()
    # Arrow makes no column of these.
    mixed = pd.DataFrame({"text": [(1, 2, 3), np.array([1, 2, 4]), [10, 2**64]]})
    for source in (table, frame, pl.from_arrow(table), mixed):
        found = lookalike.find(source, **OPTIONS)
        assert found.pairs["similarity"].to_pylist() == expected
        assert found.pairs.select(["a", "b"]).to_pylist() == [{"a": 0, "b": 1}]


@pytest.mark.parametrize(
    "vectors",
    [
        [[1, 2], [2, 4], [2, -1]],
        [(1.0, 2.0), (2.0, 4.0), (2.0, -1.0)],
        [np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array([2.0, -1.0])],
        np.array([[1, 2], [2, 4], [2, -1]]),
        pa.array([[1, 2], [2, 4], [2, -1]]),
        pd.Series([[1.0, 2.0], [2.0, 4.0], [2.0, -1.0]]),
    ],
    ids=["lists", "tuples", "arrays", "an array", "Arrow", "pandas"],
)
def test_lists_of_numbers_stay_vectors(vectors):
    pairs = lookalike.find(vectors, metric="cosine", threshold=0.9).pairs
    assert pairs.select(["a", "b"]).to_pylist() == [{"a": 0, "b": 1}]


BAD = {
    "a text among lists": ([["a"], "b"], "document 1 is of type str where others are lists"),
    "a list among texts": (["a", ["b"]], "document 1 is of type list, not text"),
    "a dict among lists": ({"x": ["a"], "y": {}}, "document 'y' is of type dict where others"),
    "None as a token": ([["a"], ["b", None]], "token 2 of document 1 is of type NoneType: give"),
    "a float as a token": ([["a", 1.5]], "token 2 of document 0 is of type float: give strings"),
    "true as a token": ([["a", True]], "token 2 of document 0 is of type bool"),
    "bytes as a token": ([["a", b"b"]], "token 2 of document 0 is of type bytes"),
    "floats before tokens": ([[1.5], ["a"]], "document 1 is not a vector"),
    "a list as a token": ([["a", ["b"]]], "token 2 of document 0 is of type list"),
    "a long number": ([["a", 10**5000]], "token 2 of document 0 has more than 4,300 digits"),
    "no Unicode": ([["a", "b\ud800"]], r"a token of document 0 holds a lone surrogate \(U\+D800"),
    "a square of strings": ([["a"], np.array([["b"]])], "document 1 is of type ndarray where"),
    "a null token of Arrow": (
        pa.array([["a"], ["b", None]]),
        "document 1 .* has a token",
    ),
    "a null token of a later chunk": (
        pa.chunked_array([[["a"], ["b"]], [["c"], [None, "d"]]]),
        "document 3 .* has a token",
    ),
    "a null token of polars": (
        pl.Series([["a"], ["b", None]]),
        "document 1 .* has a token",
    ),
    "a null token of pandas": (
        pd.Series([["a"], ["b", None]]),
        "document 1 .* has a token",
    ),
    "a mixture of pandas": (pd.Series([["a"], "b"]), "document 1 is of type str where others"),
    "paths": (["text", Path("a.txt")], "document 1 is of type PosixPath, not text"),
}


@pytest.mark.parametrize(("source", "message"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("call", [lookalike.find, lookalike.dedup], ids=["find", "dedup"])
def test_what_is_no_list_of_tokens_is_refused_by_its_place(call, source, message):
    with pytest.raises(SourceError, match=message) as raised:
        call(source)
    assert "\n" not in str(raised.value)


def test_two_lists_are_compared_by_their_tokens():
    assert lookalike.compare(["a", "b"], ["a", "c"]).similarity == 1 / 3
