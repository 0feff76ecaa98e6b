"""Text in other encodings on the command line."""

from __future__ import annotations

import json

import pytest

GERMAN = "Die Größe der Öffnung ändert sich über die Jahre häufig, sagt man."


@pytest.fixture
def essays(tmp_path):
    folder = tmp_path / "essays"
    folder.mkdir()
    (folder / "new.txt").write_text(GERMAN, "utf-8")
    (folder / "old.txt").write_bytes(GERMAN.encode("latin-1"))
    return folder


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes(f'id,text\n1,"{GERMAN}"\n2,"{GERMAN}"\n'.encode("cp1252"))
    return path


def test_a_guess_is_said_and_the_text_is_the_same(told, essays):
    status, output, errors = told("find", essays, "--format", "jsonl", columns=1000)
    assert status == 0
    assert json.loads(output)["similarity"] == 1
    assert "old.txt: read as cp1252 (guessed)\n" in errors


def test_a_strict_reading_is_refused_in_one_line(told, essays):
    status, output, errors = told("find", essays, "--strict-encoding")
    assert (status, output, errors.count("\n")) == (1, "", 1)
    assert "old.txt is not UTF-8 text at byte 7: give --encoding cp1252 if that" in errors


def test_what_is_said_is_not_said_again(told, essays):
    status, _, errors = told("find", essays, "--encoding", "latin-1", "--strict-encoding")
    assert (status, "guessed" in errors) == (0, False)


@pytest.mark.parametrize("name", ["nosuch", "base64", "rot13", "\x1b[31m"])
def test_a_name_of_no_encoding_is_wrong_usage(told, essays, name):
    for command in ("find", "contained", "boilerplate", "sketch"):
        status, output, errors = told(command, essays, "--encoding", name)
        assert (status, output, errors.count("\n")) == (2, "", 1)
        assert "is no encoding of text that is known: use one as cp1252" in errors
        assert "\x1b" not in errors


def test_a_table_is_read_in_what_is_said_and_copied_as_it_is(told, table, tmp_path):
    status, _, errors = told("dedup", table, "-o", tmp_path / "clean")
    assert (status, errors.count("\n")) == (1, 1)
    assert "old.csv:1 is not UTF-8 text at byte" in errors
    assert "give --encoding cp1252 if that is its encoding" in errors
    assert not (tmp_path / "clean").exists()
    assert told("dedup", table, "-o", tmp_path / "clean", "--encoding", "cp1252")[0] == 0
    kept = (tmp_path / "clean" / "kept" / "old.csv").read_bytes()
    assert kept == f'id,text\n1,"{GERMAN}"\n'.encode("cp1252")


def test_learn_and_ignore_say_how_they_read(told, essays):
    status, output, _ = told("learn", essays / "old.txt", essays / "new.txt", columns=1000)
    assert status == 0
    # The name of the folder may be so long that a line ends within it.
    assert "old.txt:readascp1252(guessed)." in "".join(output.split())
    status, output, _ = told(
        "learn", essays / "old.txt", essays / "new.txt", "--encoding", "latin-1"
    )
    assert (status, "guessed" in output) == (0, False)
    status, _, errors = told("find", essays / "new.txt", "--ignore", essays / "old.txt")
    assert status == 0
    assert "".join(errors.split()).count("old.txt:readascp1252(guessed)") == 1
