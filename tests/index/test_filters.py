"""Filters hold as SQL says, and what is no filter is refused with its place."""

import math
import pickle
import sqlite3
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.base.errors import SettingsError
from lookalike.index.filters import MOST_CHARACTERS, Filter

TYPES = {
    "source": "text",
    "größe": "integer",
    "meta.share": "number",
    "and": "boolean",
    'a "day"': "date",
    "seen": "timestamp",
}
STAMP = "%Y-%m-%dT%H:%M:%S.%fZ"
days = st.dates(date(1999, 12, 30), date(2000, 1, 2))
moments = st.builds(
    lambda day, second: datetime(day.year, day.month, day.day, tzinfo=UTC) + second,
    days,
    st.sampled_from([timedelta(0), timedelta(microseconds=1), timedelta(hours=23)]),
)
VALUES: dict[str, st.SearchStrategy] = {
    "text": st.sampled_from(["", "a", "A", "it's", "ä", "\U0001f600", "\uffff", "1", "true"]),
    "integer": st.integers(-2, 2) | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63)]),
    "number": st.sampled_from([-1.5, -0.0, 0.5, 2.0, 2.0**53, 1e300, 1e-300]),
    "boolean": st.booleans(),
    "date": days,
    "timestamp": moments,
}
metadata = st.fixed_dictionaries(
    {}, optional={name: st.none() | VALUES[kind] for name, kind in TYPES.items()}
)


def as_sql(value):
    """Write a value as both a filter and SQLite read it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        value = value.strftime(STAMP)
    elif isinstance(value, date):
        value = value.isoformat()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


@st.composite
def fields_tested(draw):
    name = draw(st.sampled_from(sorted(TYPES)))
    kind = TYPES[name]
    values = VALUES["integer"] | VALUES["number"] if kind in ("integer", "number") else VALUES[kind]
    plain = name in ("source", "größe", "seen") and draw(st.booleans())
    said = name if plain else '"' + name.replace('"', '""') + '"'
    signs = ["=", "!=", "<>"] + ([] if kind == "boolean" else ["<", "<=", ">", ">="])
    way = draw(st.sampled_from(["compare", "in", "null"]))
    negated = draw(st.sampled_from(["", "not ", "NOT "]))
    if way == "compare":
        return f"{said}{draw(st.sampled_from(signs))}{as_sql(draw(values))}"
    if way == "null":
        return f"{said} is {negated}null"
    listed = draw(st.lists(values, min_size=1, max_size=3))
    return f"{said} {negated}in ({', '.join(map(as_sql, listed))})"


conditions = st.recursive(
    fields_tested(),
    lambda inner: st.one_of(
        inner.map("({})".format),
        inner.map("not {}".format),
        st.tuples(inner, inner).map(" and ".join),
        st.tuples(inner, inner).map("\n OR ".join),
    ),
    max_leaves=8,
)


def held_by_sqlite(text, values):
    connection = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in TYPES)
    connection.execute(f"CREATE TABLE document ({names})")
    row = [values.get(name) for name in TYPES]
    row = [one.strftime(STAMP) if isinstance(one, datetime) else one for one in row]
    row = [one.isoformat() if isinstance(one, date) else one for one in row]
    connection.execute("INSERT INTO document VALUES (?, ?, ?, ?, ?, ?)", row)
    found = connection.execute(f"SELECT count(*) FROM document WHERE {text}").fetchone()[0]
    connection.close()
    return bool(found)


@given(conditions, metadata)
def test_a_filter_holds_where_sqlite_says_so(text, values):
    parsed = Filter.parse(text)
    parsed.check(TYPES)
    assert parsed.holds(values) == held_by_sqlite(text, values)


@given(conditions, metadata)
def test_of_a_condition_and_its_contrary_one_holds_at_most(text, values):
    contrary = Filter.parse(f"not ({text})").holds(values)
    assert not (Filter.parse(text).holds(values) and contrary)
    if all(values.get(name) is not None for name in Filter.parse(text).names):
        assert Filter.parse(text).holds(values) or contrary


@pytest.mark.parametrize("negated", ["", "not "])
@pytest.mark.parametrize("joined", ["a = 1 and b = 1", "a = 1 or b = 1", "a in (1, 2)", "a = 1"])
def test_truth_has_three_values(joined, negated):
    for a in (0, 1, None):
        for b in (0, 1, None):
            values = {"source": a, "größe": b}
            text = f"{negated}({joined})".replace("a ", "source ").replace("b ", "größe ")
            assert Filter.parse(text).holds(values) == held_by_sqlite(text, values)


@given(conditions)
def test_a_filter_is_given_back_as_it_was_written(text):
    parsed = Filter.parse(text)
    assert str(parsed) == text
    assert parsed == Filter.parse(str(parsed)) == pickle.loads(pickle.dumps(parsed))
    assert hash(parsed) == hash(Filter.parse(text))
    assert parsed.names <= set(TYPES)
    assert parsed.names


@given(st.text(alphabet="ab ='\"()<>!,.1eE+-\n\u00a0ü¤not inull", max_size=30) | st.text())
def test_any_other_text_is_a_filter_or_refused_in_one_line(text):
    said = None
    try:
        Filter.parse(text).holds({"a": 1, "b": "b"})
    except SettingsError as error:
        said = str(error)
    assert said is None or (len(said.splitlines()) == 1 and "seen < '2026-01-01'" in said)


def test_the_names_are_the_fields():
    parsed = Filter.parse('source = \'x\' and (not "a ""day""" is null or meta.share in (1, 2))')
    assert parsed.names == {"source", 'a "day"', "meta.share"}


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", "at its end", "the name of a field is missing"),
        ("source", "at its end", "=, !=, <, <=, >, >=, in, not in or is is missing"),
        ("source = ", "at its end", "a value is missing"),
        ("  source  == 'x'", "at character 12, where \"= 'x'\"", "a value is missing"),
        ('source = "x"', "at character 10, where '\"x\"'", "texts are written in single quotes"),
        ("source = x", "at character 10, where 'x'", "texts are written in single quotes"),
        ("source = 'x", 'at character 10, where "\'x"', "a text in quotes does not end"),
        ("source = 'x''", "at character 10", "a text in quotes does not end"),
        ('"source = 1', "at character 1", "a name in quotes does not end"),
        ('"" = 1', "at character 1", "a name in quotes has no letters"),
        ("source = 'x' seen = 1", "at character 14, where 'seen = 1'", "a word like and"),
        ("source = 'x' &  n = 1", "at character 14, where '&  n = 1'", "no such sign"),
        ("source = 'x')", "at character 13, where ')'", "a word like and is missing"),
        ("(source = 'x'", "at its end", "a closing parenthesis is missing"),
        ("source not = 'x'", "at character 8", "in, not in or is is missing"),
        ("source in 'x'", "at character 11", "an opening parenthesis is missing"),
        ("source in ()", "at character 12", "a value is missing"),
        ("source in ('x' 'y')", "at character 16", "a comma or a closing parenthesis"),
        ("source = null", "at character 10, where 'null'", "is null tells what is missing"),
        ("source is 'x'", "at character 11", "null is missing"),
        ("good < true", "at character 8, where 'true'", "true and false have no order"),
        ("in = 1", "at character 1, where 'in = 1'", "written in double quotes"),
        ("1 = n", "at character 1", "the name of a field is missing"),
        ("n = 5x", "at character 5, where '5x'", "no such sign"),
        ("n = 1.2.3", "at character 5", "no such sign"),
        (f"n = {'9' * 5000}", "at character 5, where '9999", "too many digits"),
        ("source = 'x'; drop table document", "at character 13", "no such sign"),
        ("source = 'x' -- all", "at character 14", "no such sign"),
    ],
)
def test_what_is_no_filter_is_refused_with_its_place(text, place, what):
    with pytest.raises(SettingsError) as caught:
        Filter.parse(text)
    assert place in str(caught.value)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("one", "most"), [("(", 50), ("not ", 50), ("not(", 25)])
def test_conditions_within_conditions_have_a_bound(one, most):
    deep = one * most
    assert not Filter.parse(f"{deep}n = 1{')' * deep.count('(')}").holds({})
    for count in (most + 1, 20_000):
        with pytest.raises(SettingsError, match="more than 50 levels"):
            Filter.parse(one * count)


def test_a_filter_has_a_longest():
    for text in ("(" * 1_000_000, "n = 1 or " * 200_000, "'" * 1_000_000):
        with pytest.raises(SettingsError, match=r"characters is too long: at most 100,000"):
            Filter.parse(text)
    wide = "n = 1 or " * ((MOST_CHARACTERS - 5) // 9) + "n = 2"
    assert Filter.parse(wide).holds({"n": 2})


def test_a_filter_is_a_text():
    with pytest.raises(SettingsError, match="a filter is a text, not 5"):
        Filter.parse(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["n = 'x'", "n != 'x'", "not n = 'x'", "n in ('x')", "n = true"])
@pytest.mark.parametrize("value", [1, 1.0])
def test_a_number_beside_a_text_or_a_truth_never_holds(text, value):
    assert not Filter.parse(text).holds({"n": value})


@pytest.mark.parametrize("value", [None, math.nan])
@pytest.mark.parametrize("text", ["n = 1", "n != 1", "not n = 1", "n in (1)", "n not in (1)"])
def test_what_is_missing_meets_nothing_but_that(text, value):
    for values in ({}, {"n": value}):
        assert not Filter.parse(text).holds(values)
        assert Filter.parse("n is null").holds(values)
        assert not Filter.parse("n is not null").holds(values)
    assert Filter.parse("n is not null").holds({"n": 0})


EAST = timezone(timedelta(hours=14))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("seen = '2026-01-01T12:00:00Z'", datetime(2026, 1, 1, 12, tzinfo=UTC)),
        ("seen = '2026-01-01 12:00'", datetime(2026, 1, 1, 12, tzinfo=UTC)),
        ("seen = '2026-01-01 12:00'", datetime(2026, 1, 1, 12)),
        ("seen = '2026-01-01T14:00:00+02:00'", datetime(2026, 1, 1, 12, tzinfo=UTC)),
        ("seen < '2026-01-02'", datetime(2026, 1, 1, 23, tzinfo=UTC)),
        ("seen >= '2026-01-01'", datetime(2026, 1, 1, tzinfo=UTC)),
        ("seen < '2026-01-01T00:00:01'", date(2026, 1, 1)),
        ("seen < '9999-12-31T23:00:00-14:00'", datetime(9999, 12, 31, 23, tzinfo=UTC)),
        ("seen > '0001-01-01T01:00:00+14:00'", datetime(1, 1, 1, tzinfo=UTC)),
        ("seen < '0001-01-01'", datetime(1, 1, 1, tzinfo=EAST)),
    ],
)
def test_times_are_compared_as_moments(text, value):
    assert Filter.parse(text).holds({"seen": value})
    assert not Filter.parse(f"not {text}").holds({"seen": value})


def test_a_time_beside_what_is_none_never_holds():
    for text in ("seen = 'x'", "seen != 'x'", "seen > 5", "seen = true"):
        assert not Filter.parse(text).holds({"seen": date(2026, 1, 1)})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sorce = 'x'", "asks for 'sorce', and no document has such metadata: there are a "),
        ("source = 1", "compares 'source', of the type text, with 1: write a text in single"),
        ("source = 'x' or größe < 'x'", "'größe', of the type integer, with 'x': write a number"),
        ("größe = true", "'größe', of the type integer, with true: write a number"),
        ("meta.share in (1, 'x')", "'meta.share', of the type number, with 'x': write a number"),
        ('not "and" = 1', "'and', of the type boolean, with 1: write true or false"),
        (
            "seen < '31.1.2026'",
            "'seen', of the type timestamp, with '31.1.2026': write it as '2026",
        ),
        ("seen < 2026", "'seen', of the type timestamp, with 2026: write it as '2026-01-31'"),
    ],
)
def test_types_are_checked_where_they_are_known(text, said):
    with pytest.raises(SettingsError) as caught:
        Filter.parse(text).check(TYPES)
    assert said in str(caught.value)


def test_where_there_is_no_metadata_that_is_said():
    with pytest.raises(SettingsError, match="no document has such metadata: there is none"):
        Filter.parse("source is null").check({})
