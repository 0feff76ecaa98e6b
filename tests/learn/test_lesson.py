"""A lesson: its tables as data, and printed what the command shows."""

import inspect
from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lookalike
from lookalike.learn import textbook
from lookalike.settings import LessonOptions
from source_files import write_records

TEXTS = {
    "draft": "The ferry leaves at six, and the lemons go with it.",
    "final": "The ferry leaves at six and the lemons go with it!",
    "other": "Bread is flour, water, salt and time.",
}
TOKENS = {"S1": ["a", "d", "a"], "S2": ["c"], "S3": ["b", "d", "e"], "S4": ["a", "c", "d"]}


def share(one, other):
    """Give the Jaccard similarity of two sets, by counting."""
    both = sum(x in other for x in set(one))
    return both / (len(set(one)) + len(set(other)) - both)


class TestData:
    def test_every_table_is_there(self):
        taught = lookalike.lesson(TEXTS, shingle="chars:4", bands=5, rows=2, threshold=0.5, seed=3)
        cut = {
            name: [text[at : at + 4] for at in range(len(text) - 3)]
            for name, text in ((name, text.lower()) for name, text in TEXTS.items())
        }
        assert taught.shingles == cut
        assert [*taught.matrix.shingles] == sorted(set().union(*cut.values()))
        for name, shingles in cut.items():
            column = [int(row in shingles) for row in taught.matrix.shingles]
            assert [*taught.matrix.column(name)] == column
        assert sorted(taught.order) == [*range(1, len(taught.matrix.cells) + 1)]
        assert len(taught.functions) == 10
        numbered = {shingle: r for r, shingle in enumerate(taught.matrix.shingles, start=1)}
        for name, shingles in cut.items():
            rows = [numbered[shingle] for shingle in shingles]
            least = [min((h.a * row + h.b) % h.p for row in rows) for h in taught.functions]
            assert [*taught.signatures.columns[name]] == least
        assert [band.number for band in taught.bands] == [1, 2, 3, 4, 5]
        for pair in combinations(TEXTS, 2):
            exact = share(*(cut[name] for name in pair))
            assert taught.verification.similarities[pair] == pytest.approx(exact)
        assert set(taught.verification.pairs) <= set(taught.candidates)
        asked = taught.shingle, taught.rows, taught.threshold, taught.seed
        assert asked == ("chars:4", 2, 0.5, 3)

    def test_the_options_are_those_that_were_declared(self):
        keywords = dict(inspect.signature(lookalike.lesson).parameters)
        assert keywords.pop("source").default is None
        declared = {one.name: one.default for one in fields(LessonOptions)}
        assert {name: keyword.default for name, keyword in keywords.items()} == declared

    @pytest.mark.parametrize(
        "given",
        [
            [*TEXTS.values()],
            pa.array([*TEXTS.values()]),
            pa.table({"id": [0, 1, 2], "text": [*TEXTS.values()]}),
        ],
        ids=["list", "array", "table"],
    )
    def test_documents_are_given_as_to_find(self, given):
        taught = lookalike.lesson(given)
        assert [*taught.texts] == ["0", "1", "2"]
        assert [*taught.texts.values()] == [text.lower() for text in TEXTS.values()]

    def test_a_path_a_list_of_paths_and_columns_by_name(self, tmp_path):
        records = [{"name": name, "body": text} for name, text in TEXTS.items()]
        path = write_records(tmp_path / "texts.jsonl", records)
        found = lookalike.lesson(path, text="body", id="name")
        assert found == lookalike.lesson([path], text="body", id="name") == lookalike.lesson(TEXTS)

    def test_without_documents_a_sample_is_taken(self):
        assert len(lookalike.lesson().shingles) == 5


class TestPage:
    def test_printed_it_is_what_the_command_shows(self, told, tmp_path):
        assert f"{lookalike.lesson()}\n" == told("learn")[1]
        for name, text in TEXTS.items():
            (tmp_path / name).with_suffix(".txt").write_text(text)
        options: dict[str, Any] = {"shingle": "words:2", "bands": 4, "rows": 2, "threshold": 0.5}
        named = [part for name, value in options.items() for part in (f"--{name}", value)]
        taught = lookalike.lesson(tmp_path, **options)
        assert f"{taught!r}\n" == told("learn", tmp_path, *named)[1]
        assert str(taught) == repr(taught)
        assert "3 documents, shingles of 2 words, 4 bands of 2 rows" in repr(taught)

    def test_no_terminal_changes_it(self, monkeypatch):
        plain = repr(lookalike.lesson(TEXTS))
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "40")
        assert repr(lookalike.lesson(TEXTS)) == plain
        assert "\x1b" not in plain


class TestTokens:
    def test_lists_of_tokens_are_sets_as_they_are(self):
        taught = lookalike.lesson(TOKENS)
        assert taught.shingle == "tokens"
        assert taught.texts == {}
        assert taught.shingles == TOKENS
        assert taught.matrix == textbook.CharacteristicMatrix.of(
            {name: set(tokens) for name, tokens in TOKENS.items()}
        )
        assert taught.verification.similarities["S1", "S4"] == pytest.approx(2 / 3)

    def test_nothing_is_normalised(self):
        taught = lookalike.lesson([["A b", " c"], ["a b", "c"]])
        assert taught.matrix.shingles == (" c", "A b", "a b", "c")

    @pytest.mark.parametrize("kind", ["jsonl", "parquet"])
    def test_the_command_shows_them(self, told, tmp_path, kind):
        records = [{"id": name, "text": tokens} for name, tokens in TOKENS.items()]
        path = write_records(tmp_path / f"sets.{kind}", records)
        status, output, errors = told("learn", path)
        assert (status, errors) == (0, "")
        assert "4 documents, tokens, 6 bands of 3 rows" in output
        assert "1. Tokens\n" in output
        assert "row  token  d1  d2  d3  d4\n" in output
        assert "shingle" not in output
        assert "Canonical text" not in output

    def test_an_empty_list_and_none_are_nothing(self):
        taught = lookalike.lesson(pa.array([["a", "b"], [], None]))
        assert [*taught.shingles.values()] == [["a", "b"], [], []]
        assert "Empty, and so similar to nothing: d2 d3." in repr(taught)

    def test_a_shingle_is_refused_as_by_find(self):
        message = "lists of tokens, which are compared as they are: leave out shingle='chars:3'"
        with pytest.raises(lookalike.SettingsError, match=message):
            lookalike.lesson(TOKENS, shingle="chars:3")
        assert lookalike.lesson(TOKENS, shingle="tokens") == lookalike.lesson(TOKENS)
        with pytest.raises(lookalike.SettingsError, match="text, not lists of tokens"):
            lookalike.lesson(TEXTS, shingle="tokens")

    def test_many_long_tokens_are_refused_by_their_characters(self):
        with pytest.raises(lookalike.SettingsError, match="given 60,000 characters"):
            lookalike.lesson([["x" * 30_000], ["y" * 30_000]])


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (TEXTS, {"threshold": "0.8"}, "threshold='0.8' is not a number"),
        (TEXTS, {"bands": 2.5}, "bands=2.5: use a whole number"),
        (TEXTS, {"rows": 0}, "6 bands of 0 rows cannot be"),
        (TEXTS, {"shingle": "lines:2"}, "shingle='lines:2' is not understood"),
        (["one"], {}, "given 1 document and shows 2 to 8"),
    ],
)
def test_what_cannot_be_is_one_line(source, options, message):
    with pytest.raises(lookalike.SettingsError, match=message) as error:
        lookalike.lesson(source, **options)
    assert "\n" not in str(error.value)


def test_vectors_are_refused_in_one_line(told, tmp_path):
    np.save(tmp_path / "vectors.npy", np.eye(3))
    status, output, errors = told("learn", tmp_path / "vectors.npy")
    assert (status, output) == (1, "")
    assert errors.count("\n") == 1
    assert "learn was given vectors" in errors
