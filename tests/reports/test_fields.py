"""Dates of the input: what is read as one, and that what is none is said."""

import datetime as dt

import pytest

import lookalike
from lookalike.reports.building import build
from lookalike.reports.fields import date_text

pytestmark = pytest.mark.usefixtures("small_is_compared_whole")
EAST = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (dt.date(2024, 5, 17), "2024-05-17"),
        (dt.datetime(2024, 5, 17), "2024-05-17"),
        (dt.datetime(2024, 5, 17, 9, 30), "2024-05-17T09:30:00"),
        (dt.datetime(2024, 5, 17, 1, 30, tzinfo=EAST), "2024-05-16T23:30:00"),
        (2024, "2024"),
        ("2024", "2024"),
        (" 2024-05 ", "2024-05"),
        ("2024-05-17", "2024-05-17"),
        ("2024-05-17T09:30", "2024-05-17T09:30:00"),
        ("2024-05-17T01:30:00+02:00", "2024-05-16T23:30:00"),
        ("Fri, 17 May 2024 09:30:00 +0200", "2024-05-17T07:30:00"),
        ("2024-02-31", None),
        ("2024-13", None),
        ("last winter", None),
        (17, None),
        (True, None),
        (1.5, None),
    ],
)
def test_what_is_a_date_is_written_so_that_all_sort_as_text(value, text):
    assert date_text(value) == text


def test_what_cannot_be_read_as_a_date_is_counted_and_said():
    texts = ["one two three four five six", "one two three four five seven", "something else here"]
    dates = ["2024-05-17", "next week", "whenever"]
    rows = [{"text": text, "written": date} for text, date in zip(texts, dates, strict=True)]
    main = build(lookalike.find(rows, threshold=0.3), date="written").main
    assert sorted(map(str, main.documents.date)) == ["2024-05-17", "None", "None"]
    assert main.summary.left_out[-1] == (
        "2 values of the column 'written' could not be read as a date, as 'next week': write "
        "dates as 2024-05-17."
    )


def test_an_empty_label_is_none():
    rows = [{"text": f"one two three four {one}", "author": one} for one in ("ann", "", "bob")]
    assert build(lookalike.find(rows, threshold=0.1), label="author").main.documents.label == [
        "ann",
        None,
        "bob",
    ]
