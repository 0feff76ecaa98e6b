"""The seconds of stages."""

import time

import pytest

from lookalike.base.timing import Seconds, began_at, call_began, timed, timed_items


def test_the_time_of_a_stage_is_without_that_of_stages_within_it():
    seconds: dict[str, float] = {"read": 1.0}
    begin = time.perf_counter()
    with timed(seconds, "write"):
        for _ in timed_items(iter([1, 2]), seconds, "sort"):
            time.sleep(0.001)
        with timed(seconds, "sort"):
            time.sleep(0.03)
    spent = time.perf_counter() - begin
    assert seconds["sort"] >= 0.03
    assert 0.002 <= seconds["write"] <= spent - 0.03
    assert sum(seconds.values()) <= 1.0 + spent


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give a clock that stands still until it is moved."""
    at = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: at[0])
    return at


def test_what_is_recorded_adds_up_to_the_total(now: list[float]) -> None:
    seconds = Seconds()
    seconds.called, seconds.began = 100.0, 101.5
    seconds |= {"read": 2.0, "write": 0.25}
    now[0] = 104.0
    expected = {"start": 1.5, "read": 2.0, "write": 0.25, "other": 0.25, "total": 4.0}
    assert seconds.recorded() == expected
    assert Seconds.of_record(expected) == {"read": 2.0, "write": 0.25}


def test_after_the_call_only_stages_count(now: list[float]) -> None:
    seconds = Seconds({"read": 2.0})
    seconds.called = seconds.began = 100.0
    now[0] = 103.0
    seconds.end()
    now[0] = 9000.0
    seconds["sort"] = 7.0
    parts = {"start": 0.0, "read": 2.0, "sort": 7.0, "other": 1.0}
    assert seconds.recorded() == parts | {"total": 10.0}


def test_a_call_of_a_command_counts_from_when_the_command_began(now: list[float]) -> None:
    began_at(90.0)
    assert call_began() == 90.0
    began_at(None)
    assert call_began() == 100.0
