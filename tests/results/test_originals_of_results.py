"""A result gives documents again as their source has them."""

import json

import pytest

import lookalike

TEXTS = {"b": "The Ferry  leaves at six", "a": "the ferry leaves at six", "c": "Bread,\nand salt"}


@pytest.fixture
def path(tmp_path):
    lines = [
        {"id": name, "text": text, "n": place} for place, (name, text) in enumerate(TEXTS.items())
    ]
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("function", [lookalike.find, lookalike.dedup, lookalike.contained])
def test_documents_are_given_as_they_were_by_their_ids(function, path):
    for source in (path, TEXTS):
        result = function(source)
        found = result.originals(["c", "b", "c"]).to_pylist()
        assert [(row["id"], row["text"]) for row in found] == [
            (name, TEXTS[name]) for name in ("c", "b", "c")
        ]
    assert function(path).originals(["a"], columns=["n"]).to_pylist() == [
        {"id": "a", "text": TEXTS["a"], "n": 1}
    ]


def test_those_of_a_reference_are_not_mistaken_for_those_of_the_corpus(path):
    result = lookalike.dedup({"a": "something else"}, against=path)
    assert result.originals(["a"])["text"].to_pylist() == ["something else"]


def test_an_id_that_is_nowhere_is_named(path):
    with pytest.raises(lookalike.SourceError, match=r"no document 'z'"):
        lookalike.find(path).originals(["a", "z"])


def test_a_result_that_was_opened_again_says_where_they_are(path, tmp_path):
    lookalike.find(path, out=tmp_path / "found")
    with pytest.raises(lookalike.OutputError, match="opened again"):
        lookalike.Result.open(tmp_path / "found").originals(["a"])
