"""Lists, dicts, columns and data frames to documents; files have a module of their own."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lookalike
from lookalike.base.errors import SourceError
from lookalike.read import read


def ids(source, **names):
    return read(source, **names).ids.to_pylist()


def texts(source, **names):
    return read(source, **names).texts.to_pylist()


@pytest.mark.parametrize(
    "source",
    [
        ["one", "two", None],
        ("one", "two", None),
        (each for each in ("one", "two", None)),
        np.array(["one", "two", None], dtype=object),
        pa.array(["one", "two", None]),
        pa.array(["one", "two", None], pa.large_string()),
        pa.array(["one", "two", None], pa.string_view()),
        pa.array(["one", "two", None]).dictionary_encode(),
        pa.array(["one", "two", None], pa.dictionary(pa.int8(), pa.large_string())),
        pa.array(["before", "one", "two", None, "after"]).slice(1, 3),
        pa.chunked_array([["one"], [], ["two", None]], pa.string()),
        pa.chunked_array([["one"], ["two", None]], pa.string_view()),
        pd.Series(["one", "two", None]),
        pd.Series(["one", "two", np.nan], dtype=object),
        pd.Series(["one", "two", None], dtype="category"),
        pl.Series(["one", "two", None]),
        pl.Series(["one", "two", None], dtype=pl.Categorical),
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_a_column_of_any_kind_gives_its_texts_with_their_places_as_ids(source):
    documents = read(source)
    assert documents.texts.to_pylist() == ["one", "two", None]
    assert documents.texts.type == pa.large_string()
    assert documents.ids.to_pylist() == [0, 1, 2]
    assert len(documents) == 3


@pytest.mark.parametrize(
    "source",
    [
        [],
        {},
        iter(()),
        pa.array([], pa.string()),
        pa.chunked_array([], pa.string()),
        pd.Series([], dtype=object),
        pl.Series([], dtype=pl.String),
        pa.table({"text": pa.array([], pa.string())}),
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_nothing_is_read_as_no_documents(source):
    documents = read(source)
    assert len(documents) == len(documents.ids) == 0
    assert documents.texts.type == pa.large_string()


def test_a_column_of_nulls_is_empty_documents():
    assert texts(pa.nulls(2)) == [None, None]
    assert texts([None, None]) == [None, None]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["b", "a"], ["b", "a"]),
        ([10, -2], [10, -2]),
        ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
        ([1, 2**63], ["1", str(2**63)]),
        ([1, "a"], ["1", "a"]),
        ([(1, 2), (1, 3)], ["(1, 2)", "(1, 3)"]),
        ([1.5, 2], ["1.5", "2"]),
        (["", "猫", "\u202eright to left"], ["", "猫", "\u202eright to left"]),
    ],
)
def test_keys_of_one_type_keep_it_and_others_become_text(keys, expected):
    assert ids(dict.fromkeys(keys, "text")) == expected


def test_whole_numbers_of_numpy_stay_numbers():
    assert ids({np.int64(3): "a", np.int64(4): "b"}) == [3, 4]


def test_a_number_and_the_same_number_as_text_are_one_id_and_refused():
    with pytest.raises(SourceError, match=r"id '1' appears twice, at key 1 and at key 2"):
        read({1: "a", "1": "b"})


def test_a_table_gives_its_text_and_id_columns_and_keeps_the_others():
    table = pa.table({"id": [7, 5], "text": ["one", "two"], "stars": [1.5, 2.5]})
    for source in (table, table.to_batches()[0], pl.DataFrame(table)):
        documents = read(source)
        assert documents.ids.to_pylist() == [7, 5]
        assert documents.texts.to_pylist() == ["one", "two"]
        assert list(documents.columns["stars"].to_pylist()) == [1.5, 2.5]


def test_columns_are_taken_by_the_name_given():
    table = pa.table({"id": [1, 2], "text": ["x", "y"], "key": ["k", "l"], "page": ["one", None]})
    for source in (table, pl.DataFrame(table), table.to_pandas()):
        documents = read(source, text="page", id="key")
        assert documents.ids.to_pylist() == ["k", "l"]
        assert documents.texts.to_pylist() == ["one", None]


def test_a_table_without_ids_counts_its_rows():
    assert ids(pa.table({"body": ["one", "two"]})) == [0, 1]


def test_a_column_that_is_not_there_is_refused_with_those_that_are():
    table = pa.table({"title": ["x"], "page": ["y"]})
    with pytest.raises(
        SourceError, match=r"no column is named text, content, body.*'title', 'page'"
    ):
        read(table)
    with pytest.raises(SourceError, match=r"no column 'txet' for the text: there are 'title'"):
        read(table, text="txet")
    with pytest.raises(SourceError, match=r"no column 'key' for the id"):
        read(table, text="page", id="key")


def test_a_pandas_object_without_a_column_of_ids_gives_its_index_as_ids():
    frame = pd.DataFrame({"key": [1, 2], "text": ["one", np.nan]}, index=["x", "y"])
    assert ids(frame) == ids(frame["text"]) == ["x", "y"]
    assert texts(frame) == texts(frame["text"]) == ["one", None]
    assert ids(pd.Series(["a", "b"], index=[30, 20])) == [30, 20]


def test_of_a_pandas_frame_a_column_of_ids_comes_before_the_index():
    frame = pd.DataFrame({"id": [7, 5], "text": ["one", "two"]}, index=["x", "y"])
    assert ids(frame) == ids(pl.DataFrame(frame)) == [7, 5]
    assert ids(frame.rename(columns={"id": "url"})) == [7, 5]
    assert lookalike.dedup(frame).kept.equals(frame)
    twice = pd.DataFrame([[1, 2, "one"]], columns=["id", "id", "text"])
    with pytest.raises(SourceError, match="there are 2 columns 'id'"):
        read(twice)


def test_columns_of_pandas_may_be_named_by_numbers():
    frame = pd.DataFrame([["x", "one", "first"], ["y", "two", "second"]])
    found = read(frame, text=1, id=0)  # type: ignore[arg-type]
    assert (found.ids.to_pylist(), found.texts.to_pylist()) == (["x", "y"], ["one", "two"])
    assert texts(frame, text=[1, 2]) == ["one\n\nfirst", "two\n\nsecond"]
    with pytest.raises(SourceError, match="no column 7 for the text: there are '0', '1', '2'"):
        texts(frame, text=7)
    with pytest.raises(SourceError, match="no column 7 for the text: there are 'a'"):
        texts([{"a": "one"}], text=7)


def test_an_index_of_pandas_is_a_list_of_texts():
    assert texts(pd.Index(["one", "two"])) == ["one", "two"]
    assert list(lookalike.dedup(pd.Index(["one text", "one text"])).kept) == ["one text"]


def test_a_pandas_frame_with_columns_that_are_no_text_is_read():
    frame = pd.DataFrame({"text": ["one", "two"], 0: [1, 2], "any": [1, "x"], "thing": [{}, 1j]})
    assert texts(frame) == ["one", "two"]


@pytest.mark.parametrize("column", [[5, None], ["x", None]])
def test_a_missing_id_is_refused_and_not_called_nan(column):
    frame = pd.DataFrame({"text": ["one", "two"], "key": column})
    for source in (pa.table({"text": ["one", "two"], "key": column}), frame):
        with pytest.raises(SourceError, match="row 2 has no id"):
            read(source, id="key")


@pytest.mark.parametrize(
    ("source", "where"),
    [
        (pa.table({"id": ["x", "y", "x"], "text": ["a", "b", "c"]}), "at row 1 and at row 3"),
        (pa.table({"id": [4, 4], "text": ["a", "b"]}), "id 4 appears twice, at row 1 and at row 2"),
        (pd.Series(["a", "b", "c"], index=[0, 1, 1]), "id 1 appears twice, at row 2 and at row 3"),
    ],
)
def test_ids_that_stand_twice_are_refused_with_both_places(source, where):
    with pytest.raises(SourceError, match=where):
        read(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (["one", 2], "document 1 is of type int, not text"),
        ({"x": "one", "y": ["two"]}, "document 'y' is of type list"),
        ([float("nan"), "one"], "document 0 is of type float"),
        (["one", b"two"], "document 1 is of type bytes"),
        ([b"\xff"], "document 0 is of type bytes"),
        (pa.array([1, 2]), "the column holds int64, not text"),
        (pa.array([b"one"], pa.binary(3)), "the column holds fixed_size_binary"),
        (pa.array([b"one", b"\xff"]), "document 1 of the column is not valid UTF-8"),
        (pa.table({"text": [1.5]}), "column 'text' holds double"),
        (pd.Series([1, 2], name="page"), "column 'page' holds int64"),
        (pd.Series(["one", 2]), "document 1 is of type int|row 2"),
        (pl.Series([True]), "holds bool"),
    ],
)
def test_what_is_no_text_is_refused_by_name(source, message):
    with pytest.raises(SourceError, match=message):
        read(source)


@pytest.mark.parametrize(
    "source",
    [
        ["fine", "a\ud800"],
        {"x": "a\udfff"},
        {"a\ud800": "x"},
        {1: "x", "a\ud800": "y"},
        pd.Series(["a\ud800"], dtype=object),
    ],
    ids=["list", "dict", "key", "mixed keys", "pandas"],
)
def test_a_lone_surrogate_is_refused(source):
    with pytest.raises(SourceError, match=r"lone surrogate \(U\+D[89A-F]"):
        read(source)


@pytest.mark.parametrize(
    "source", [None, 5, 1.5, object(), np.array("alone"), b"text", pl.col("a")]
)
def test_what_holds_no_documents_is_refused(source):
    with pytest.raises(SourceError, match=r"cannot be read from an? .*list or dict of texts"):
        read(source)


def test_a_set_is_refused_because_its_order_changes_from_run_to_run():
    with pytest.raises(SourceError, match="set"):
        read({"one", "two"})


def test_a_lazy_frame_is_collected():
    assert texts(pl.DataFrame({"text": ["one"]}).lazy()) == ["one"]


def test_a_dictionary_of_string_views_is_read():
    values = pa.array(["one", "two"], pa.string_view())
    assert texts(pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), values)) == [
        "two",
        "one",
        None,
    ]


def test_a_table_with_two_columns_of_one_name_is_read_or_refused():
    twice = pa.table([["one"], [1], [2]], names=["text", "x", "x"])
    assert texts(twice) == ["one"]
    texts_twice = pa.table([["one"], ["two"]], names=["text", "text"])
    with pytest.raises(SourceError, match="'text'"):
        read(texts_twice)


@pytest.mark.parametrize("source", [["one"], {"a": "one"}, pa.array(["one"]), pl.Series(["one"])])
def test_column_names_for_what_has_no_columns_are_refused(source):
    with pytest.raises(SourceError, match="text=, vector= and id= name columns"):
        read(source, text="body")


def test_a_text_mistaken_for_a_path_is_refused_as_one():
    for text in ("the quick brown fox", "the quick brown fox " * 30, "a\0b"):
        with pytest.raises(SourceError):
            read(text)
