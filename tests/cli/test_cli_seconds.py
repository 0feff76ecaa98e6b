"""The seconds that a command says: they are those that passed, and add up as they are printed."""

import json
import re
import time
from decimal import Decimal

import pytest

from lookalike.base.wording import adding_up
from lookalike.cli.summary import seconds_text
from source_files import write_records


@pytest.mark.parametrize(
    ("stages", "start", "total", "written"),
    [
        ({"read": 0.24, "plan": 0.24}, 0.24, 0.74, "0.7: start 0.3, read 0.2, plan 0.2"),
        ({"read": 1.0}, 0.5, 2.0, "2.0: start 0.5, read 1.0, other 0.5"),
        ({"read": 1.0}, 0.0, 1.04, "1.0: start 0.0, read 1.0"),
        ({"read": 1.0, "sort": 0.26}, 0.26, 1.5, "1.5: start 0.3, read 1.0, sort 0.2"),
        ({}, 0.0, 0.0, "0.0: start 0.0"),
    ],
)
def test_what_is_of_no_stage_is_said_where_it_shows(stages, start, total, written):
    assert seconds_text(stages, start, total) == written


@pytest.mark.parametrize("digits", [0, 1, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
def test_parts_add_up_as_they_are_written(count, digits):
    parts = [(7919 * at % 104729) / 99991 for at in range(1, count + 1)]
    total, written = adding_up(parts, digits)
    assert sum(map(Decimal, written)) == Decimal(total)
    assert abs(float(total) - sum(parts)) <= 0.5001 * 10**-digits
    assert all(
        abs(float(one) - part) < 1.0001 * 10**-digits
        for one, part in zip(written, parts, strict=True)
    )


@pytest.mark.parametrize(
    "command",
    [
        ["find"],
        ["find", "--format", "jsonl"],
        ["dedup", "--dry-run"],
        ["contained"],
        ["boilerplate"],
        ["sketch"],
    ],
)
def test_the_stages_make_up_the_time_that_passed(command, told, tmp_path):
    records = [{"id": at, "text": f"some text of {at} words {at + 1}"} for at in range(30)]
    path = write_records(tmp_path / "docs.jsonl", records)
    told("plan")  # what loads once for all tests, and the first command, which begins with that
    begin = time.perf_counter()
    status, _, errors = told(*command, path, columns=300)
    passed = time.perf_counter() - begin
    assert status == 0
    (total, stages) = re.findall(r"^Seconds    ([0-9.]+): (.+)$", errors, re.MULTILINE)[0]
    parts = dict(part.split() for part in stages.split(", "))
    assert {"start", "read", "group", "plan"} <= set(parts)
    assert sum(map(Decimal, parts.values())) == Decimal(total)
    assert float(total) <= passed + 0.05
    # Half a second for what is said after it, on a machine that does much else.
    assert float(total) >= passed - 0.5


@pytest.mark.parametrize("command", ["find", "dedup", "contained", "boilerplate"])
def test_those_of_the_record_add_up_to_a_total(command, told, tmp_path):
    records = [{"id": at, "text": f"some text of {at} words {at + 1}"} for at in range(30)]
    path = write_records(tmp_path / "docs.jsonl", records)
    told("plan")
    begin = time.perf_counter()
    assert told(command, path, "-o", tmp_path / "out", "-q")[0] == 0
    passed = time.perf_counter() - begin
    seconds = json.loads((tmp_path / "out" / "run.json").read_bytes())["seconds"]
    total = seconds.pop("total")
    assert {"start", "read", "group", "plan", "write", "other"} <= set(seconds)
    assert sum(round(1000 * spent) for spent in seconds.values()) == round(1000 * total)
    assert passed - 0.5 <= total <= passed + 0.01
