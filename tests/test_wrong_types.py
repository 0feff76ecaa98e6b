"""Values of wrong types: whatever is given from Python is refused by name, on one line."""

import inspect
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike

TEXTS = ["some words here and there and more", "some words here and there and others"]
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "find": (lookalike.find, (TEXTS,)),
    "dedup": (lookalike.dedup, (TEXTS,)),
    "contained": (lookalike.contained, (TEXTS,)),
    "boilerplate": (lookalike.boilerplate, (TEXTS,)),
    "sketch": (lookalike.sketch, (TEXTS,)),
    "write_sketches": (lookalike.write_sketches, (TEXTS, io.BytesIO())),
    "compare": (lookalike.compare, tuple(TEXTS)),
    "plan": (lookalike.plan, ()),
    "lesson": (lookalike.lesson, (TEXTS,)),
    "matrix_lesson": (lookalike.matrix_lesson, ({"a": {"x"}, "b": {"y", "z"}},)),
}
WRONG = [object(), b"x", [None], {}, float("nan"), np.array([1, 2]), np.bool_(True), -1.5]
OPTIONS = [
    (name, option)
    for name, (function, given) in FUNCTIONS.items()
    for option in list(inspect.signature(function).parameters)[len(given) :]
]
TAKEN = {
    # What may be any source, or nothing, or has no wrong value of its kind.
    "against": ({}, [None]),
    "include": ({},),
    "exclude": ({},),
}


def is_taken(option, value):
    return any(
        value is one or value == one for one in TAKEN.get(option, ()) if type(value) is type(one)
    )


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_every_option_refuses_what_is_of_another_type_by_its_name(name, option):
    function, given = FUNCTIONS[name]
    for value in WRONG:
        if is_taken(option, value):
            continue
        with pytest.raises(lookalike.LookalikeError) as refused:
            function(*given, **{option: value})
        assert isinstance(refused.value, (ValueError, lookalike.SourceError)), value
        message = str(refused.value)
        assert "\n" not in message
        assert len(message) < 400
        if option != "against":
            assert option in message or "column" in message, message


@pytest.mark.parametrize("path", [None, 3, b"x", [], object(), 1.5, "a\0b"])
def test_what_names_no_file_is_refused(path, tmp_path):
    result = lookalike.find(TEXTS)
    for call in (
        lookalike.paths,
        lookalike.Result.open,
        lookalike.FindResult.open,
        result.write,
        result.write_clusters,
        lambda out: lookalike.write_sketches(TEXTS, out),
    ):
        with pytest.raises(lookalike.SettingsError, match=r"not a path|holds a NUL"):
            call(path)


@pytest.mark.parametrize("most", [None, -1, 1.5, "3", True, object()])
def test_first_rows_are_a_whole_number(most):
    with pytest.raises(lookalike.SettingsError, match=r"most=.*: use a whole number from 0"):
        lookalike.find(TEXTS).top(most)
    with pytest.raises(lookalike.SettingsError, match=r"most=.*: use a whole number from 0"):
        lookalike.contained(TEXTS).top(most)


def test_more_first_rows_than_there_are_is_all_of_them():
    five: Any = np.int64(5)
    assert len(lookalike.find(TEXTS, threshold=0.1).top(10**30)) == 1
    assert len(lookalike.find(TEXTS, threshold=0.1).top(five)) == 1


@pytest.mark.parametrize("value", [None, "0.5", b"x", float("nan"), 1.5, -2, True, [0.5], object()])
def test_a_plan_is_asked_about_similarities(value):
    plan: Any = lookalike.plan()
    for ask in (plan.probability, plan.chance, plan.candidate, plan.agreement, plan.errors):
        with pytest.raises(lookalike.SettingsError, match="is no similarity: use a number from 0"):
            ask(value)
    if not isinstance(value, (list, bool, float, int, str)):
        for ask in (plan.cascade.probability, plan.cascade.miss):
            with pytest.raises(lookalike.SettingsError, match="between 0 and 1"):
                ask(value)


def test_a_cosine_may_be_below_0():
    assert lookalike.plan(metric="cosine").probability(-0.5) < 1e-6


@pytest.mark.parametrize("spec", [None, 3, b"and:5", ["and:5"], {}])
def test_a_cascade_is_read_from_text(spec):
    with pytest.raises(lookalike.SettingsError, match="is not a step of a cascade"):
        lookalike.Cascade.parse(spec)


def test_numbers_of_numpy_are_numbers(tmp_path):
    plain = lookalike.plan(0.8, 0.95, documents=1000, background=0.1, shingles=50)
    numbers: Any = {
        "documents": np.int64(1000),
        "background": np.float64(0.1),
        "shingles": np.float64(50),
    }
    assert lookalike.plan(np.float64(0.8), np.float64(0.95), **numbers).as_dict() == plain.as_dict()
    numbers = {"signature": np.int32(64), "miss_weight": np.float32(0.5)}
    fitted = lookalike.plan(**numbers)
    assert fitted.sentence() == lookalike.plan(signature=64).sentence()
    numbers = {"threshold": np.float64(0.5), "bands": np.int64(5), "rows": np.int8(2)}
    found = lookalike.find(TEXTS, **numbers)
    assert found.settings == lookalike.find(TEXTS, threshold=0.5, bands=5, rows=2).settings
    rows: Any = np.int64(8)
    assert lookalike.sketch(TEXTS, rows=rows).equals(lookalike.sketch(TEXTS, rows=8))


def test_a_lesson_is_short_enough_to_read():
    options: list[Any] = [{"bands": 10**30}, {"rows": 10**9}, {"bands": 501, "rows": 2}]
    for given in options:
        with pytest.raises(lookalike.SettingsError, match="learn was asked for signatures of"):
            lookalike.lesson(TEXTS, **given)


def test_a_path_may_be_any_that_the_system_takes(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(TEXTS[0])
    both = lookalike.paths(tmp_path / "a.txt", str(tmp_path / "b.txt"))
    assert lookalike.find(both).summary.documents == 2
    assert isinstance(lookalike.paths(Path("x"))[0], str)
