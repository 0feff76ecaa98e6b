"""What is no index, or is one no more, is refused in a line and never changed or answered from."""

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from index_model import edited_texts
from lookalike import LookalikeError, SettingsError, SourceError
from lookalike.index.index import Index
from lookalike.index.store import FORMAT

TEXTS = dict(enumerate(edited_texts(5, 12)))
RECIPE: dict[str, Any] = {"shingle": "chars:4", "threshold": 0.5, "bands": 8, "rows": 2}


@pytest.fixture
def path(tmp_path, monkeypatch) -> Path:
    """Give the file of an index with crowds, closed."""
    monkeypatch.setattr("lookalike.index.crowded.CROWD_ROWS", 8)
    monkeypatch.setattr("lookalike.index.crowded.CHECKED_SHARE", 2)
    path = tmp_path / "pages.lookalike"
    with Index.create(path, **RECIPE) as index:
        for id, text in TEXTS.items():
            index.add(id, text, {"length": len(text)})
        with index._store.read() as reader:
            assert reader.counts()["blocks"] > 0
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    return path


def refused(path: Path, match: str) -> None:
    with pytest.raises(LookalikeError, match=match) as error:
        Index(path)
    assert "\n" not in str(error.value)


def test_what_is_no_index_is_refused_and_left_as_it_is(tmp_path):
    text, empty, other = tmp_path / "a.txt", tmp_path / "empty", tmp_path / "other.db"
    text.write_text("a text\n" * 1000)
    empty.touch()
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE fact (name TEXT, text TEXT)")
    connection.commit()
    connection.close()
    before = {one: one.read_bytes() for one in (text, empty, other)}
    for one in before:
        refused(one, "is no index of Lookalike: give another file")
    refused(tmp_path, "there is no index")
    refused(tmp_path / "none.lookalike", "there is no index")
    assert {one: one.read_bytes() for one in tmp_path.iterdir()} == before


def set_header(path: Path, place: int, value: int) -> None:
    data = bytearray(path.read_bytes())
    data[place : place + 4] = value.to_bytes(4, "big")
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("version", "said"), [(FORMAT + 1, f"a newer format, {FORMAT + 1}"), (1, "an older format, 1")]
)
def test_another_format_is_refused_with_the_version_to_use(path, version, said):
    set_header(path, 60, version)
    refused(path, said)


def test_another_recipe_is_not_merged_and_no_index_is_merged_into_itself(path, tmp_path):
    with Index.create(tmp_path / "other.lookalike", **RECIPE | {"rows": 3}) as other:
        other.add(1, "a text")
        with pytest.raises(SettingsError, match="made by another recipe"):
            other.merge(path)
        assert list(other) == [1]
    with Index(path) as index, pytest.raises(SettingsError, match="named twice"):
        index.merge(path)


@pytest.mark.parametrize("fact", ["recipe", "chosen", "columns", "counter.entries"])
@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '"x"', "1e400", "x\n"])
def test_facts_that_were_changed_are_refused_in_a_line(path, fact, text):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE fact SET text = ? WHERE name = ?", (text, fact))
    connection.commit()
    connection.close()
    with pytest.raises(LookalikeError) as error:
        everything(path, lambda _asked, _found: None)
    assert "\n" not in str(error.value)


def test_a_recipe_whose_numbers_were_changed_is_refused(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE fact SET text = replace(text, 'chars:4', 'chars:5')")
    connection.commit()
    connection.close()
    refused(path, "recipe was changed")


def everything(path: Path, check: Callable[[int, list[Any]], None]) -> None:
    """Do all that can be done with an index; the first error of ours ends it."""
    with Index(path) as index:
        for id, text in TEXTS.items():
            check(id, [(one.id, one.similarity) for one in index.query(text)])
        index.info()
        list(index)
        index.export(path.with_name("out.parquet"))
        index.admit(1000, f"{TEXTS[0]} and more")
        index.add(3, f"{TEXTS[4]} and more")
        with Index.create(path.with_name(f"{random.random()}.lookalike"), like=path) as other:
            other.merge(index)
        index.remove(where="length > 100")
        index.compact()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_file_that_was_cut_off_is_refused_in_a_line(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(LookalikeError) as error:
        everything(path, lambda _asked, _found: None)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seed", range(12))
def test_bytes_that_were_changed_anywhere_never_end_in_a_traceback(path, seed):
    """Whatever is refused is so in a line; many changes are, and the rest are of no account."""
    choice = random.Random(seed)
    data = path.read_bytes()
    refusals = 0
    for _ in range(6):
        changed = bytearray(data)
        for _ in range(choice.choice([1, 1, 4, 30])):
            changed[choice.randrange(len(changed))] ^= choice.randrange(1, 256)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        path.write_bytes(changed)
        said = refusal(lambda: everything(path, lambda _asked, _found: None))
        assert "\n" not in said
        refusals += said != ""
    assert refusals


def refusal(work: Callable[[], Any]) -> str:
    """Give the error of ours that some work ends with, or nothing."""
    try:
        work()
    except LookalikeError as error:
        return str(error)
    return ""


def test_a_text_that_was_changed_is_never_answered_from(path):
    """Of each body one byte is changed: queries that read it say so, others answer as before."""
    with Index(path) as index:
        expected = {
            id: [(one.id, one.similarity) for one in index.query(text)]
            for id, text in TEXTS.items()
        }
    connection = sqlite3.connect(path)
    bodies = connection.execute("SELECT entry, body FROM body").fetchall()
    choice = random.Random(1)
    for entry, body in bodies:
        place = choice.randrange(len(body))
        changed = body[:place] + bytes([body[place] ^ 1 << choice.randrange(8)]) + body[place + 1 :]
        connection.execute("UPDATE body SET body = ? WHERE entry = ?", (changed, entry))
    connection.commit()
    connection.close()
    said = 0
    with Index(path) as index:
        for id, text in TEXTS.items():
            found: list[Any] = []
            error = refusal(lambda text=text, found=found: found.extend(index.query(text)))  # type: ignore[misc]
            assert not error or "a text in it is not what was added" in error
            # Those that are identical are told by their fingerprints.
            assert error or [(one.id, one.similarity) for one in found] == expected[id]
            said += error != ""
    assert said > len(TEXTS) / 2


@pytest.mark.parametrize("length", [-1, 0, 1, 2**31, 2**62, "x", b"x", 1.5])
def test_a_length_that_was_changed_is_said_to_be_damage(path, length):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE entry SET length = ?", (length,))
    connection.commit()
    connection.close()
    with Index(path) as index, pytest.raises(SourceError, match="damaged"):
        index.query(f"{TEXTS[0]} and")
