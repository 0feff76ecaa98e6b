"""What runs in a process of Python that one task after the other has; without Spark itself."""

import gc
import sys
import types

import pytest

from lookalike.spark import tasks


@pytest.fixture
def frozen(monkeypatch):
    """Count how often what is loaded is kept out of the search for garbage."""
    calls: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append(1))
    monkeypatch.setattr(tasks, "_kept", set())
    return calls


def doubled(times, batches):
    for batch in batches:
        yield times * batch


def test_a_task_gives_what_its_function_gives(frozen):
    assert [*tasks.run(doubled, 3, [1, 2])] == [3, 6]


def test_what_is_loaded_is_kept_once_and_again_after_more_was_loaded(frozen, monkeypatch):
    [*tasks.run(doubled, 2, [1])]
    [*tasks.run(doubled, 2, [1])]
    assert len(frozen) == 1
    monkeypatch.setitem(sys.modules, "one_more", types.ModuleType("one_more"))
    [*tasks.run(doubled, 2, [1])]
    assert len(frozen) == 2


def test_nothing_is_kept_while_a_task_still_holds_its_rows(frozen):
    rows = tasks.run(doubled, 2, [1, 2])
    assert next(rows) == 2
    assert not frozen
