"""The seconds of stages."""

import time

from lookalike.base.timing import timed, timed_items


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
