"""Near misses: which pairs they are, in which order, how many, and that nothing else is shown."""

from typing import Any

import pytest

import lookalike
from lookalike.reports import near_misses, second_search
from lookalike.reports.building import build

FIRST = 60
"""Words of a text of which others have some: a text with n of them has a similarity of n / 60."""


@pytest.fixture(autouse=True)
def few_are_compared_as_a_whole(small_is_compared_whole):
    """Let results be found as quickly as they are outside of the tests."""


def words(name, number):
    return " ".join(f"{name}{place}" for place in range(number))


def family(name, *shared):
    """Give a text, and others that have so many of its words and no others."""
    return {name: words(name, FIRST)} | {f"{name}-{n}": words(name, n) for n in shared}


def near_of(result, most_texts, **options):
    near = build(result, most_texts=most_texts, **options).main
    assert near.near_misses is not None
    listed, names = near.near_misses.pairs, near.documents.name
    pairs = [
        (*sorted((names[a], names[b])), similarity)
        for a, b, similarity in zip(listed.a, listed.b, listed.similarity, strict=True)
    ]
    return pairs, near.near_misses.what


WAYS = pytest.mark.parametrize("most_texts", [100, 1], ids=["compared", "searched again"])


@WAYS
def test_a_pair_at_the_threshold_is_none_and_one_just_below_is(most_texts):
    texts = family("a", 48) | family("b", 47) | family("c", 42) | family("d", 41)
    with lookalike.find(texts, threshold=0.8, shingle="words:1", recall=1) as found:
        assert found.pair_count == 1
        pairs, _ = near_of(found, most_texts)
    assert pairs == [("b", "b-47", pytest.approx(47 / 60)), ("c", "c-42", pytest.approx(42 / 60))]


@WAYS
def test_the_most_similar_come_first_and_how_many_there_are_is_said(most_texts, monkeypatch):
    for module in (near_misses, second_search):
        monkeypatch.setattr(module, "MAX_PAIRS", 2)
    texts = family("a", 43) | family("b", 47) | family("c", 42) | family("d", 45)
    with lookalike.find(texts, threshold=0.8, shingle="words:1", recall=1) as found:
        pairs, what = near_of(found, most_texts)
    assert [pair[:2] for pair in pairs] == [("b", "b-47"), ("d", "d-45")]
    assert what.endswith(" The 2 most similar of 4 are shown.")


@WAYS
def test_of_two_corpora_they_are_of_one_document_of_each(most_texts):
    texts = family("a", 45) | {"b": words("b", FIRST)}
    reference = family("x", 45) | {"b-45": words("b", 45)}
    options: dict[str, Any] = {"threshold": 0.8, "shingle": "words:1", "recall": 1}
    with lookalike.find(texts, against=reference, **options) as found:
        pairs, _ = near_of(found, most_texts)
    assert [pair[:2] for pair in pairs] == [("b", "b-45")]


def test_a_dedup_shows_none_within_its_reference():
    texts = {"b": words("b", FIRST)}
    reference = family("x", 45)
    with lookalike.dedup(texts, against=reference, threshold=0.8, shingle="words:1") as found:
        pairs, what = near_of(found, 1)
    assert pairs == []
    assert "Near misses are not shown" in what


def test_estimates_of_many_documents_have_none():
    texts = family("a", 45) | family("b", 47)
    options: dict[str, Any] = {
        "threshold": 0.8,
        "shingle": "words:1",
        "estimate": True,
        "bands": 20,
        "rows": 3,
    }
    with lookalike.find(texts, **options) as found:
        pairs, what = near_of(found, 1)
    assert pairs == []
    assert what == (
        "Near misses are not shown for estimated similarities. To see more pairs, search again and "
        "use a threshold of 0.7."
    )


def test_documents_that_came_later_are_in_none(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in (family("a", 50) | family("b")).items():
        (folder / f"{name}.txt").write_text(text)
    lookalike.find(folder, threshold=0.8, shingle="words:1", out=tmp_path / "found").close()
    (folder / "later.txt").write_text(words("b", 45))
    with lookalike.Result.open(tmp_path / "found") as found:
        pairs, _ = near_of(found, 1)
    assert pairs == []


@WAYS
def test_where_all_were_looked_for_and_none_is_it_is_said(most_texts):
    with lookalike.find(
        family("a", 50) | family("b", 20), threshold=0.8, shingle="words:1"
    ) as found:
        pairs, what = near_of(found, most_texts)
    assert pairs == []
    assert what.endswith(" There are none.")
    with lookalike.find(
        family("a", 50) | family("b", 45), threshold=0.8, shingle="words:1"
    ) as found:
        pairs, what = near_of(found, most_texts)
    assert len(pairs) == 1
    assert "none" not in what
