"""Which of similar documents stays, and in which kind they come back."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lookalike
from lookalike.base.errors import SettingsError, SourceError
from lookalike.cluster.keep import column_of, priorities

SAME = "the quick brown fox jumps over the lazy dog"
TEXTS = [SAME, SAME.upper(), "something else altogether, of which there is one"]


def kept(table, keep):
    return lookalike.dedup(table, keep=keep).kept_ids.to_pylist()


def never():
    raise AssertionError("this policy does not need it")


def by(keep, ids, *, characters=never, column=never):
    """Give the ids in the order of a policy, which is given only what it should ask for."""
    places = np.argsort(np.argsort(ids))
    found = priorities(keep, len(ids), characters=characters, column=column, ranks=lambda: places)
    return [ids[row] for row in found]


@pytest.mark.parametrize(
    ("keep", "first"),
    [("first", "c"), ("last", "b"), ("longest", "a"), ("shortest", "b"), ("max:n", "a")],
)
def test_a_policy_says_which_of_the_same_stays(keep, first):
    table = pa.table(
        {"id": ["c", "a", "b"], "text": [f" {SAME}", f"  {SAME}", SAME], "n": [1, 3, 2]}
    )
    assert kept(table, keep) == [first]


def test_equals_go_by_id_and_not_by_place():
    for ids in (["x", "m", "y"], ["y", "x", "m"]):
        table = pa.table({"id": ids, "text": [SAME] * 3, "n": [7, 7, 7]})
        for keep in ("longest", "shortest", "max:n", "min:n"):
            assert kept(table, keep) == ["m"]


@pytest.mark.parametrize("missing", [None, math.nan])
@pytest.mark.parametrize("keep", ["max:n", "min:n"])
def test_documents_without_a_value_are_kept_last(missing, keep):
    numbers = [missing, 3.0, missing, 1.0, missing]
    table = pa.table({"id": [*range(5)], "text": [SAME] * 5, "n": pa.array(numbers, pa.float64())})
    expected = 1 if keep == "max:n" else 3
    assert kept(table, keep) == [expected]
    assert kept(table.to_pandas(), keep) == [expected]
    assert by(keep, [4, 3, 2, 1, 0], column=lambda: numbers)[2:] == [0, 2, 4]


def test_a_policy_asks_only_for_what_it_needs():
    ids = ["c", "a", "b"]
    assert priorities("first", 3, characters=never, column=never, ranks=never).tolist() == [0, 1, 2]
    assert priorities("last", 3, characters=never, column=never, ranks=never).tolist() == [2, 1, 0]
    sizes = np.array([7, 5, 7])
    assert by("longest", ids, characters=lambda: sizes) == ["b", "c", "a"]
    assert by("shortest", ids, characters=lambda: sizes) == ["a", "b", "c"]
    assert by("max:n", ids, column=lambda: [7, 5, 7]) == ["b", "c", "a"]
    assert by("min:n", ids, column=lambda: ["x", "xx", "x"]) == ["b", "c", "a"]


def test_whole_numbers_that_no_float_tells_apart_are_told_apart():
    assert by("max:n", ["a", "b"], column=lambda: [2**53, 2**53 + 1]) == ["b", "a"]


def test_no_documents_have_no_order():
    assert by("max:n", [], column=list) == []


def test_a_policy_names_the_column_that_it_needs():
    assert column_of("longest") is None
    assert column_of("max:a:b") == "a:b"
    for unknown in ("max", "best:n", "", "First", 3):
        with pytest.raises(SettingsError, match="is unknown: use first, last"):
            column_of(unknown)  # type: ignore[arg-type]


def test_policies_that_cannot_be_are_refused():
    with pytest.raises(SettingsError, match="keep='best' is unknown: use first, last"):
        lookalike.dedup(TEXTS, keep="best")
    with pytest.raises(SettingsError, match="keep='max:' is unknown"):
        lookalike.dedup(TEXTS, keep="max:")
    table = pa.table({"id": [1, 2], "text": TEXTS[:2]})
    with pytest.raises(SourceError, match="no column 'stars' to keep by: there are 'id'"):
        lookalike.dedup(table, keep="max:stars")
    with pytest.raises(SourceError, match="cannot be compared with each other"):
        by("max:n", [0, 1], column=lambda: [1, "x"])
    with pytest.raises(SourceError, match="no document has a value in column 'n'"):
        by("max:n", [0, 1], column=lambda: [None, math.nan])


@pytest.mark.parametrize(
    "source",
    [
        list(TEXTS),
        tuple(TEXTS),
        (text for text in TEXTS),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pd.Series(TEXTS),
        pl.Series(TEXTS),
        np.array(TEXTS),
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_what_is_kept_comes_back_as_it_was_given(source):
    found = lookalike.dedup(source).kept
    values = found.to_pylist() if isinstance(found, (pa.Array, pa.ChunkedArray)) else list(found)
    assert values == [TEXTS[0], TEXTS[2]]


def test_keys_of_a_dict_come_back_as_they_were():
    source = dict(zip([(1, 2), 3, "x"], TEXTS, strict=True))
    assert lookalike.dedup(source).kept == {(1, 2): TEXTS[0], "x": TEXTS[2]}
