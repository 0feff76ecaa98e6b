"""Whatever of an index is not what was put into it, a check of all of it says so."""

import random
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index_model import edited_texts
from lookalike import Checked, DamagedError, LookalikeError
from lookalike.index import checking, marks
from lookalike.index.index import Index
from store_places import in_threads

DISTINCT = {" ".join(text.lower().split()): text for text in edited_texts(5, 16)}
TEXTS: dict[int, str] = {**dict(enumerate(DISTINCT.values())), 100: "", 101: "x"}
RECIPE: dict[str, Any] = {"shingle": "chars:4", "threshold": 0.5, "bands": 8, "rows": 2}
COPY = 200
"""The id of a copy of document 2."""
GONE = range(0, 40, 7)


@pytest.fixture
def crowds(monkeypatch) -> None:
    monkeypatch.setattr("lookalike.index.crowded.CROWD_ROWS", 8)
    monkeypatch.setattr("lookalike.index.crowded.CHECKED_SHARE", 2)


def fields(id: int) -> dict[str, Any]:
    return {"place": id, "name": "x" * (id % 3)} if id % 5 else {}


def fill(index: Index) -> None:
    """Add, replace and remove, so that there are rows of what is gone, and blocks."""
    for id, text in TEXTS.items():
        index.add(id, text, fields(id))
    index.add(COPY, TEXTS[2], fields(COPY))
    index.add(101, "y")
    index.remove(GONE)
    with index._store.read() as reader:
        assert reader.counts()["blocks"] > 0


@pytest.fixture(params=["sqlite", "sqlite without text", "postgres", "postgres without text"])
def index(request, tmp_path, crowds):
    if request.param.startswith("postgres"):
        address = request.getfixturevalue("postgres").address()
    else:
        address = tmp_path / "pages.lookalike"
    with Index.create(address, **RECIPE, no_text="without" in request.param) as made:
        fill(made)
        yield made


def run(index: Index, statement: str, *values: Any) -> list[Any]:
    """Read or change rows as no command does."""
    store: Any = index._store
    with store.write() as writer:
        if store.on_server:
            done = writer._run(statement.replace("?", "%s"), *values)
        else:
            done = writer._run(statement, values)
        return [*done.fetchall()] if done.description else []


def entry_of(index: Index, id: int) -> int:
    with index._store.read() as reader:
        return reader.documents([str(id)])[0].entry


def told(checked: Checked) -> list[tuple[str, list[Any]]]:
    return [(one.what, sorted(one.ids)) for one in checked.faults]


def test_an_index_is_whole_after_it_was_changed_in_every_way(index):
    checked = index.check()
    assert checked.faults == []
    assert checked.whole
    assert checked.documents == len(index)
    assert checked.distinct == len(index) - 1
    index.compact()
    assert index.check().rows <= 8 * checked.distinct < checked.rows


def test_numbers_are_checked_some_at_a_time(index, monkeypatch):
    monkeypatch.setattr(checking, "NUMBERS", 7)
    monkeypatch.setattr(checking, "BATCH_ENTRIES", 3)
    whole = index.check()
    run(index, "DELETE FROM loose WHERE entry = ?", entry_of(index, 101))
    assert (whole.faults, told(index.check())) == (
        [],
        [("the rows of bands are not those", [101])],
    )


def flipped(data: bytes, place: int = 0) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


LOOSE_OF = "SELECT key FROM loose WHERE entry = ? ORDER BY key LIMIT 1"


def one_value(index: Index, select: str, *values: Any) -> Any:
    return run(index, select, *values)[0][0]


def change_row(index: Index, entry: int) -> None:
    key = one_value(index, LOOSE_OF, entry)
    run(index, "UPDATE loose SET key = key + 1 WHERE entry = ? AND key = ?", entry, key)


def change_blob(table: str, column: str, by: str) -> Callable[[Index, int], None]:
    def change(index: Index, entry: int) -> None:
        data = one_value(index, f"SELECT {column} FROM {table} WHERE {by} = ?", entry)
        run(index, f"UPDATE {table} SET {column} = ? WHERE {by} = ?", flipped(data, 3), entry)

    return change


def run_of(statement: str) -> Callable[[Index, int], None]:
    def change(index: Index, entry: int) -> None:
        run(index, statement, entry)

    return change


ENTRY_MARK = "the sketch or the fingerprint is not that"
DOCUMENT_MARK = "the id or the metadata is not what was added"
ROWS = "the rows of bands are not those"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (run_of("DELETE FROM loose WHERE entry = ?"), ROWS),
        (change_row, ROWS),
        (run_of("INSERT INTO loose VALUES (77, ?)"), ROWS),
        (change_blob("entry", "sketch", "number"), ENTRY_MARK),
        (change_blob("entry", "content", "number"), ENTRY_MARK),
        (run_of("UPDATE entry SET sketch = substr(sketch, 2) WHERE number = ?"), ENTRY_MARK),
        (run_of("UPDATE entry SET length = length + 1 WHERE number = ?"), ENTRY_MARK),
        (run_of("UPDATE document SET metadata = '{\"n\":1}' WHERE entry = ?"), DOCUMENT_MARK),
        (run_of("UPDATE document SET metadata = NULL WHERE entry = ?"), DOCUMENT_MARK),
        (run_of("UPDATE document SET run = run + 1 WHERE entry = ?"), DOCUMENT_MARK),
    ],
)
def test_what_was_changed_is_told_with_the_document_and_what_was_said_repairs_it(
    index, change, what
):
    id = 32
    change(index, entry_of(index, id))
    checked = index.check()
    assert told(checked) == [(what, [id])]
    assert checked.told("x") == f"x is damaged, {what} of document {id}: {checking.REPAIR}"
    index.remove([id])
    index.compact()
    index.add(id, TEXTS[id], fields(id))
    assert index.check().faults == []
    assert index.query(TEXTS[id])[0].id == id


def test_all_copies_of_a_text_are_told(index):
    run(index, "DELETE FROM loose WHERE entry = ?", entry_of(index, 2))
    checked = index.check()
    assert (told(checked), checked.faults[0].count) == ([(ROWS, [2, COPY])], 2)
    assert f"{ROWS} of 2 documents, as 2: " in checked.told("x")


def test_a_text_that_is_not_there_or_another_is_told(tmp_path, crowds):
    with Index.create(tmp_path / "a.lookalike", **RECIPE) as index:
        fill(index)
        run(index, "DELETE FROM body WHERE entry = ?", entry_of(index, 32))
        change_blob("body", "body", "entry")(index, entry_of(index, 2))
        assert told(index.check()) == [
            ("the text is not that", [2, 32, COPY]),
            ("it has texts of no document, or documents without a text", []),
        ]


def test_a_crowd_is_checked_with_its_sketches(index):
    block = one_value(index, "SELECT max(block) FROM crowd WHERE block > ?", 0)
    select = "SELECT {} FROM crowd WHERE block = ?"
    entries = np.frombuffer(one_value(index, select.format("entries"), block), "<i8")
    sketches = one_value(index, select.format("sketches"), block)
    with index._store.read() as reader:
        live = reader.sketches(entries)[0][0]
        ids = sorted(int(one.id) for one in reader.documents_of(np.array([live])))
    place = entries.tolist().index(int(live))
    changed = flipped(sketches, place * (len(sketches) // len(entries)))
    run(index, "UPDATE crowd SET sketches = ? WHERE block = ?", changed, block)
    assert told(index.check()) == [("a sketch in a crowd is not that", ids)]
    run(index, "UPDATE crowd SET sketches = ? WHERE block = ?", sketches, block)
    run(index, "UPDATE crowd SET key = key + 1 WHERE block = ?", block)
    assert {what for what, _ in told(index.check())} == {ROWS}
    run(index, "DELETE FROM crowd WHERE block = ?", block)
    assert ids[0] in index.check().faults[0].ids


def test_documents_and_contents_belong_together(index):
    run(index, "DELETE FROM document WHERE id = ?", "32")
    assert told(index.check()) == [("it has contents of no document", [])]
    assert "restore a copy of it, or make it again" in index.check().told("x")
    run(index, "DELETE FROM entry WHERE number = ?", entry_of(index, 33))
    assert ("the content is missing", [33]) in told(index.check())
    run(index, "UPDATE document SET entry = 100000 WHERE id = ?", "101")
    assert ("the content is missing", [33, 101]) in told(index.check())


UNFIT = "the metadata or the kind of the id does not fit"
ITSELF = "what it says of itself is not what was written"


@pytest.mark.parametrize(
    ("fact", "old", "new", "what"),
    [
        ("columns", '"text"', '"date"', UNFIT),
        ("columns", '"name"', '"nane"', UNFIT),
        ("columns", '"integer"', '"boolean"', UNFIT),
        ("columns", '{"whole_ids"', '{"whale_ids"', ITSELF),
        ("chosen", "or:8", "or:9", ITSELF),
        ("chosen", '"plan"', '"plain"', ITSELF),
        ("counter.runs", "1", "x", ITSELF),
    ],
)
def test_what_the_index_says_of_itself_has_to_fit_its_rows(index, fact, old, new, what):
    index.add_all(["a text that came with others"])
    run(index, "UPDATE fact SET text = replace(text, ?, ?) WHERE name = ?", old, new, fact)
    assert [one.what for one in check_anew(index).faults] == [what]


def check_anew(index: Index) -> Checked:
    """Check an index as it is opened again, if it can be."""
    try:
        with Index(index.address) as opened:
            return opened.check()
    except DamagedError:
        return index.check()


def test_entries_are_not_more_than_were_ever_added(index):
    run(index, "UPDATE fact SET text = '5' WHERE name = ?", "counter.entries")
    assert "it has more documents than the 5 that it says were ever added" in {
        what for what, _ in told(index.check())
    }


def test_rows_of_what_was_never_there_are_swept(index):
    run(index, "INSERT INTO loose VALUES (5, ?)", 10**6)
    checked = index.check()
    assert told(checked) == [(checking.STRAY, [])]
    assert checked.told("x").endswith(": compact it, which removes them")
    index.compact()
    assert index.check().whole


def answers(path: Path) -> Any:
    with Index(path, read_only=True) as index:
        matches = [index.query(text) for text in TEXTS.values()]
        return matches, [*index], index.query_all([*TEXTS.values()]).to_pylist()


@pytest.mark.parametrize(
    "options", [{}, {"no_text": True}, {"no_text": True, "metric": "cosine", "rows": 6}]
)
@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_were_changed_anywhere_are_found_or_of_no_account(
    tmp_path, crowds, options, seed
):
    path = tmp_path / "a.lookalike"
    with Index.create(path, **RECIPE | options) as index:
        fill(index)
    data, expected = path.read_bytes(), answers(path)
    choice = random.Random(seed)
    found = 0
    for _ in range(40):
        changed = bytearray(data)
        for _ in range(choice.choice([1, 1, 1, 4])):
            changed[choice.randrange(len(data))] ^= choice.randrange(1, 256)
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        path.write_bytes(changed)
        checked = check_file(path)
        if checked is None:
            found += 1
            continue
        if checked.whole:
            assert answers(path) == expected
            continue
        found += 1
        assert "\n" not in checked.told(str(path))
        if checked.told("x").endswith(checking.REPAIR):
            repair(path, checked)
            assert answers(path) == expected
    assert found > 10


def check_file(path: Path) -> Checked | None:
    """Check a file; None where it is refused as it is opened."""
    with suppress(LookalikeError), Index(path, read_only=True) as index:
        return index.check()
    return None


def repair(path: Path, checked: Checked) -> None:
    """Do what the check says."""
    ids = {int(id) for one in checked.faults for id in one.ids}
    with Index(path) as index:
        index.remove(ids)
        index.compact()
        for id in sorted(ids):
            text = {**TEXTS, 101: "y", COPY: TEXTS[2]}[id]
            index.add(id, text, {} if id == 101 else fields(id))
        assert index.check().faults == []


def test_an_index_is_whole_to_a_check_while_others_write(index):
    done = threading.Event()

    def write() -> None:
        with Index(index.address) as writer:
            try:
                for turn in range(12):
                    writer.add_all([f"{text} {turn}" for text in TEXTS.values()])
                    for id in range(300, 310):
                        writer.admit(id, f"a text of turn {turn * 977 + id * 7919}")
                    writer.remove(range(turn, 320, 3))
                    if turn % 4 == 3:
                        writer.compact()
            finally:
                done.set()

    def check() -> None:
        with Index(index.address, read_only=True) as reader:
            while not done.is_set():
                assert reader.check().faults == []

    in_threads(write, check)
    assert index.check().whole


def test_how_far_a_check_is_is_told(index, monkeypatch):
    monkeypatch.setattr(checking, "STEP", 10)
    told: list[tuple[str, int, int]] = []
    index.check(progress=lambda *report: told.append(report))
    stages, done, totals = zip(*told, strict=True)
    assert ({*stages}, len({*totals})) == ({"check"}, 1)
    assert (done[0], [*done]) == (0, sorted(done))
    assert totals[0] - 10 < done[-1] <= totals[0]


def test_a_sketch_is_checked_by_the_text_too(tmp_path, crowds):
    """A checksum tells that a sketch is what was written, not that this was right."""
    with Index.create(tmp_path / "a.lookalike", **RECIPE) as index:
        fill(index)
        with index._store.read() as reader:
            (one,) = reader.entries(np.array([entry_of(index, 101)]))
        other = flipped(one.sketch)
        mark = marks.of_entry(one.number, one.content, other, one.length, one.empty)
        change = "UPDATE entry SET sketch = ?, mark = ? WHERE number = ?"
        run(index, change, other, mark, one.number)
        assert ("the sketch is not that", [101]) in told(index.check())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        # What is read as the whole number that was there, and never found by it.
        ("UPDATE loose SET key = key + 0.5 WHERE key > 0", "a row of a band is no row of numbers"),
        # A text that looks like a number would become one.
        (
            "UPDATE sqlite_master SET sql = replace(sql, 'metadata TEXT', 'metadata TEYT')",
            "its tables are not as they were made",
        ),
    ],
)
def test_what_sqlite_takes_for_sound_is_looked_at_too(tmp_path, crowds, change, said):
    path = tmp_path / "a.lookalike"
    with Index.create(path, **RECIPE) as index:
        fill(index)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        assert connection.execute(change).rowcount > 0
    connection.close()
    with Index(path) as index:
        assert told(index.check()) == [(said, [])]
