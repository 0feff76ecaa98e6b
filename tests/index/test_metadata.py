"""Metadata comes back as it was given, each field of one type, and sorted as time is."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base.errors import SourceError
from lookalike.index.filters import Filter
from lookalike.index.metadata import decode, encode, encode_rows, merged, types_of, values_of

zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones | st.just(UTC))
SCALARS: dict[str, st.SearchStrategy] = {
    "text": st.text(st.characters(exclude_categories=["Cs"])),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "date": st.dates(),
    "timestamp": moments,
}
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@st.composite
def typed_values(draw):
    types = draw(st.dictionaries(names, st.sampled_from(sorted(SCALARS)), max_size=5))
    return types, {name: draw(SCALARS[kind]) for name, kind in types.items()}


@given(typed_values())
def test_values_come_back_as_they_were_given(drawn):
    types, given = drawn
    values = values_of("a", given)
    assert types_of(values) == types
    again = decode(encode(values), types)
    assert again == given
    assert {name: type(one) for name, one in again.items()} == {
        name: type(one) for name, one in given.items()
    }
    for one in again.values():
        assert not isinstance(one, datetime) or one.utcoffset() == timedelta(0)


@given(typed_values())
def test_what_is_written_is_short_json_with_sorted_keys(drawn):
    _, given = drawn
    text = encode(values_of("a", given | {"missing": None, "too": math.nan}))
    if not given:
        assert text is None
        assert decode(None, {}) == {}
        return
    read = json.loads(text or "", parse_constant=pytest.fail)
    assert list(read) == sorted(given)
    assert text == encode(dict(reversed(values_of("a", given).items())))
    for name, one in given.items():
        if isinstance(one, (str, int, float)):
            assert read[name] == one
        else:
            assert isinstance(read[name], str)


@given(st.lists(moments, min_size=2))
def test_texts_of_timestamps_sort_as_time_does(given):
    texts = {one: encode(values_of("a", {"t": one})) for one in given}
    ordered = [texts[one] for one in sorted(given)]
    assert ordered == sorted(ordered)  # type: ignore[type-var]
    assert len({len(text or "") for text in ordered}) == 1


@given(st.lists(st.dates(), min_size=2))
def test_texts_of_dates_sort_as_time_does(given):
    ordered = [encode({"d": one}) for one in sorted(given)]
    assert ordered == sorted(ordered)  # type: ignore[type-var]


kinds = st.sampled_from(["integer", "number"]) | st.sampled_from(sorted(SCALARS))


@given(st.lists(st.dictionaries(st.sampled_from("abc"), kinds), max_size=6))
def test_types_are_joined_or_refused_by_what_there_is_of_a_field(documents):
    """Whatever the order, the types of a field are one, or whole numbers among numbers."""
    there: dict[str, set[str]] = {}
    for document in documents:
        for name, kind in document.items():
            there.setdefault(name, set()).add(kind)
    good = all(len(kinds) == 1 or kinds == {"integer", "number"} for kinds in there.values())
    for order in (documents, documents[::-1]):
        types: dict[str, str] = {}
        try:
            for number, document in enumerate(order):
                types = merged(types, document, number)
        except SourceError:
            assert not good
        else:
            assert good
            assert types == {
                name: "number" if len(kinds) == 2 else next(iter(kinds))
                for name, kinds in there.items()
            }


def test_what_differs_is_named():
    with pytest.raises(SourceError) as caught:
        merged({"year": "integer"}, {"year": "text"}, "page 7")
    assert str(caught.value) == (
        "the metadata 'year' of document 'page 7' is of the type text, and that of documents "
        "before it of the type integer: give all of them one type"
    )


def test_types_that_were_given_are_not_changed():
    types = {"n": "integer"}
    assert merged(types, {"n": "number", "m": "text"}, "a") == {"n": "number", "m": "text"}
    assert types == {"n": "integer"}


def test_whole_numbers_among_numbers_are_numbers():
    assert decode('{"n":5}', {"n": "number"}) == {"n": 5.0}
    assert isinstance(decode('{"n":5}', {"n": "number"})["n"], float)


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


BERLIN = timezone(timedelta(hours=1))
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (b"text \xc3\xa4", "text ä"),
        (np.str_("x"), "x"),
        (np.bytes_(b"x"), "x"),
        (np.int8(-5), -5),
        (np.uint64(5), 5),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.longdouble(0.5), 0.5),
        (np.True_, True),
        (Decimal("5"), 5),
        (Decimal("5E+2"), 500),
        (Decimal("5.00"), 5.0),
        (Decimal("1E+30"), 1e30),
        (np.datetime64("2026-01-01"), date(2026, 1, 1)),
        (np.datetime64("2026-01"), date(2026, 1, 1)),
        (np.datetime64("2026-01-01T12:00"), NOON),
        (np.datetime64("2026-01-01T12:00:00.000000999"), NOON),
        (pd.Timestamp("2026-01-01 12:00:00.000000999"), NOON),
        (pd.Timestamp("2026-01-01 13:00", tz="Europe/Berlin"), NOON),
        (datetime(2026, 1, 1, 12), NOON),
        (datetime(2026, 1, 1, 13, tzinfo=BERLIN), NOON),
        (date(2026, 1, 1), date(2026, 1, 1)),
        ("", ""),
        (0, 0),
        (False, False),
        (-0.0, -0.0),
    ],
)
def test_scalars_of_every_kind_are_taken(given, kept):
    found = values_of("a", {"x": given})["x"]
    assert found == kept
    assert type(found) is type(kept)
    assert str(found) == str(kept)
    assert decode(encode({"x": found}), types_of({"x": found})) == {"x": kept}


@pytest.mark.parametrize(
    "missing",
    [
        *(None, math.nan, np.nan, np.float32("nan"), Decimal("nan"), Decimal("snan")),
        *(pd.NA, pd.NaT, np.datetime64("NaT"), np.datetime64("NaT", "ns")),
    ],
    ids=repr,
)
def test_what_is_missing_is_left_out(missing):
    assert values_of("a", {"x": missing, "y": 1}) == {"y": 1}
    assert encode(values_of("a", {"x": missing})) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["x"], "is of the type list: give a text, a number"),
        ({"x": 1}, "is of the type dict"),
        ((), "is of the type tuple"),
        (np.array([1]), "is of the type ndarray"),
        (1j, "is of the type complex"),
        (time(12), "is of the type time"),
        (timedelta(1), "is of the type timedelta"),
        (np.timedelta64(1, "D"), "is of the type timedelta"),
        (pd.Timedelta(1), "is of the type Timedelta"),
        (b"\xff", "is no text in UTF-8"),
        ("\ud800", "is no Unicode text, it holds a lone surrogate"),
        (2**63, "is a whole number of more than 64 bits: give it as a text"),
        (np.uint64(2**64 - 1), "is a whole number of more than 64 bits"),
        (-(2**63) - 1, "is a whole number of more than 64 bits"),
        (Decimal(2**63), "is a whole number of more than 64 bits"),
        (Decimal("1E+999999"), "is an infinite number"),
        (math.inf, "is an infinite number: leave it out"),
        (Decimal("-Infinity"), "is an infinite number"),
        (datetime.min.replace(tzinfo=BERLIN), "is before the year 1 or after 9999"),
        (np.datetime64("20000-01-01"), "is before the year 1 or after 9999"),
    ],
)
def test_what_is_no_value_is_refused_with_its_place(given, said):
    with pytest.raises(SourceError) as caught:
        values_of("page 7", {"x": given})
    assert str(caught.value).startswith(f"the metadata 'x' of document 'page 7' {said}")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("name", [5, None, "\ud800"])
def test_the_name_of_a_field_is_a_text(name):
    with pytest.raises(SourceError, match=r"has a field .*: the name of a field is a text"):
        values_of("a", {name: 1})


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[1]", "5", '{"d":"x"}', '{"d":5}', '{"t":"x"}', '{"n":[1]}', '{"n":null}'),
        '{"n":{}}',
        '{"n":' * 100_000,
    ],
)
def test_damaged_metadata_is_refused(text):
    with pytest.raises(SourceError, match=r"the index is damaged, the metadata .* restore a copy"):
        decode(text, {"d": "date", "t": "timestamp", "n": "number"})


def test_fields_that_a_reader_does_not_know_yet_are_given_as_they_are():
    assert decode('{"a":1,"b":2.5,"c":"x"}', {"b": "integer"}) == {"a": 1, "b": 2.5, "c": "x"}


COLUMNS: dict[str, list[Any]] = {
    "text": ["x", None, "ä"],
    "integer": [1, None, -(2**63)],
    "number": [0.5, 2.0, None],
    "boolean": [True, None, False],
    "date": [date(2026, 1, 1), None, date(1, 1, 1)],
    "timestamp": [NOON, None, datetime(1900, 1, 1, 0, 0, 0, 1, tzinfo=UTC)],
}
WRITTEN = [encode({name: column[row] for name, column in COLUMNS.items()}) for row in range(3)]


@pytest.mark.parametrize(
    "columns",
    [
        COLUMNS,
        {name: pa.array(column) for name, column in COLUMNS.items()},
        {name: pa.chunked_array([column[:1], column[1:]]) for name, column in COLUMNS.items()},
        {name: pa.array(column).dictionary_encode() for name, column in COLUMNS.items()},
        COLUMNS | {"timestamp": pa.array(COLUMNS["timestamp"], pa.timestamp("ns", "Asia/Tokyo"))},
        COLUMNS | {"timestamp": pa.array(COLUMNS["timestamp"], pa.timestamp("ns"))},
        COLUMNS | {"number": pa.array(["0.50", "2.00", None]).cast(pa.decimal128(5, 2))},
        COLUMNS | {"number": np.array([0.5, 2, np.nan])},
        COLUMNS | {"text": pa.array([b"x", None, "ä".encode()])},
        COLUMNS | {"text": pa.array(COLUMNS["text"], pa.string_view())},
        COLUMNS | {"timestamp": pd.Series(COLUMNS["timestamp"])},
        COLUMNS | {"integer": pd.array(COLUMNS["integer"], "Int64")},
        COLUMNS | {"date": pa.array(COLUMNS["date"], pa.date64())},
        COLUMNS | {"all missing": pa.nulls(3)},
    ],
)
def test_columns_of_every_kind_are_written_alike(columns):
    written, types = encode_rows("abc", columns, {})
    assert written == WRITTEN
    assert types == {name: name for name in COLUMNS}


def test_columns_need_not_be():
    assert encode_rows("abc", {}, {"n": "text"}) == ([None] * 3, {"n": "text"})
    assert encode_rows([], {"n": []}, {}) == ([], {})


def test_types_of_columns_are_joined_with_those_before():
    assert encode_rows("ab", {"n": [None, 0.5]}, {"n": "integer", "m": "text"}) == (
        [None, '{"n":0.5}'],
        {"n": "number", "m": "text"},
    )
    with pytest.raises(SourceError, match="'n' of document 'b' is of the type text"):
        encode_rows("ab", {"n": [1, "x"]}, {})


@pytest.mark.parametrize(
    "given",
    [
        *(pa.array([2**61], pa.timestamp(unit)) for unit in ("s", "ms", "us")),
        pa.array([2**30], pa.date32()),
        pa.array([[1]]),
        pa.array([{"y": 1}]),
    ],
)
def test_columns_of_other_things_are_refused(given):
    with pytest.raises(SourceError, match=r"the metadata 'x' (has dates|of document 'a' is of)"):
        encode_rows("a", {"x": given}, {})


@given(typed_values())
def test_a_filter_finds_a_document_by_each_of_its_values(drawn):
    types, given = drawn
    kept = decode(encode(values_of("a", given)), types)
    for name, one in given.items():
        if isinstance(one, bool):
            literal = str(one).lower()
        elif isinstance(one, (int, float)):
            literal = repr(one)
        else:
            text = one if isinstance(one, str) else one.isoformat()
            literal = "'" + text.replace("'", "''") + "'"
        if name:
            said = '"' + name.replace('"', '""') + '"'
            for sign, held in (("=", True), ("!=", False)):
                asked = Filter.parse(f"{said} {sign} {literal}")
                asked.check(types)
                assert asked.holds(kept) is held
