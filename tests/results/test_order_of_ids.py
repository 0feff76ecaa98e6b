"""Ids of digits are in the order in which people count, wherever results go by id."""

import pytest

import lookalike

SAME = "a text of some words that stands here more than once"
OTHER = "quite another text, which has a copy as well as the first"
NAMES = ["10", "9", "2", "1"]


def corpus(tmp_path, names=NAMES):
    path = tmp_path / "docs.csv"
    texts = [SAME, SAME, OTHER, OTHER]
    lines = [f'{name},"{text}"' for name, text in zip(names, texts, strict=True)]
    path.write_text("id,text\n" + "\n".join(lines) + "\n")
    return path


def test_pairs_and_clusters_go_by_number(tmp_path):
    result = lookalike.find(corpus(tmp_path))
    pairs = [(pair["a"], pair["b"]) for pair in result.pairs.to_pylist()]
    assert pairs == [("1", "2"), ("9", "10")]
    assert result.clusters["id"].to_pylist() == ["1", "2", "9", "10"]


def test_documents_that_are_inside_others_go_by_number(tmp_path):
    pairs = lookalike.contained(corpus(tmp_path)).pairs.to_pylist()
    assert [(pair["part"], pair["whole"]) for pair in pairs] == [("1", "2"), ("9", "10")]


@pytest.mark.parametrize("keep", ["longest", "shortest"])
def test_ties_of_keep_policies_and_removed_documents_go_by_number(keep, tmp_path):
    result = lookalike.dedup(corpus(tmp_path), keep=keep)
    assert result.removed["id"].to_pylist() == ["2", "10"]
    assert result.removed["kept"].to_pylist() == ["1", "9"]
    assert result.clusters["id"].to_pylist() == ["1", "2", "9", "10"]


def test_empty_documents_go_by_number():
    assert lookalike.find({"10": "", "9": "", "1": "a"}).empty.to_pylist() == ["9", "10"]


def test_for_all_other_ids_nothing_changes(tmp_path):
    result = lookalike.find(corpus(tmp_path, ["a10", "a9", "a2", "a1"]))
    pairs = [(pair["a"], pair["b"]) for pair in result.pairs.to_pylist()]
    assert pairs == [("a1", "a2"), ("a10", "a9")]
    mixed = lookalike.find(corpus(tmp_path, ["10", "9", "2", "x"]))
    assert [(p["a"], p["b"]) for p in mixed.pairs.to_pylist()] == [("10", "9"), ("2", "x")]
